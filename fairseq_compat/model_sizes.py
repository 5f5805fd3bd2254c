"""Refuses to build another model than a checkpoint has the parameters of.

fairseq 0.12.2 builds what the options in a checkpoint say, and only then looks at its parameters: for a billion layers,
it builds until there is no memory left. Whole numbers it takes for parameters, too.
"""

import functools
import pickle

#: How many times as many numbers as a checkpoint has may be allocated on the way to its model: some parameters are
#: replaced while it is built, as those that it shares are.
MOST_BUILT = 4


def repair(checkpoint_utils):
    """Let ``load_model_ensemble_and_task`` count what it builds, and look at what it has built from."""
    build = checkpoint_utils.load_model_ensemble_and_task

    @functools.wraps(build)
    def build_what_is_stored(filenames, *args, **kwargs):
        from torch.nn.modules.module import register_module_parameter_registration_hook

        load, sizes = checkpoint_utils.load_checkpoint_to_cpu, _Sizes()

        def load_and_count(path, *args, **kwargs):
            state = load(path, *args, **kwargs)
            sizes.add_stored(state["model"])
            return state

        checkpoint_utils.load_checkpoint_to_cpu = load_and_count
        counting = register_module_parameter_registration_hook(sizes.add_built)
        try:
            models, *rest = build(filenames, *args, **kwargs)
        finally:
            counting.remove()
            checkpoint_utils.load_checkpoint_to_cpu = load
        for model in models:
            for name, _ in model.named_parameters():
                if name in sizes.whole:
                    raise pickle.UnpicklingError(f"its parameter {name} has whole numbers: no trained model has")
        return models, *rest

    checkpoint_utils.load_model_ensemble_and_task = build_what_is_stored


class _Sizes:
    """What has been read from checkpoints, and built so far. An empty parameter counts, too."""

    def __init__(self):
        self.stored = self.built = 0
        self.whole = set()

    def add_stored(self, parameters):
        self.stored += sum(1 + value.numel() for value in parameters.values())
        self.whole |= {name for name, value in parameters.items() if not value.is_floating_point()}

    def add_built(self, _module, _name, parameter):
        self.built += 1 + parameter.numel()
        if self.built > MOST_BUILT * self.stored > 0:
            raise pickle.UnpicklingError(
                f"its options make a model of more than {self.built} numbers, and it has {self.stored}"
            )

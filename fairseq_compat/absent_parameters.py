"""Reports as shared what is one parameter, and not what is none.

fairseq 0.12.2 looks for parameters that stand in several places of a model, and takes the missing biases of linear
layers for one that all of them share: each training begins with a line for every bias that is not there.
"""


def repair(trainer):
    """Have ``fairseq.trainer`` list the names of each parameter that has several, as PyTorch knows them."""

    def catalog_shared_params(module):
        names: dict[object, list[str]] = {}
        for name, parameter in module.named_parameters(remove_duplicate=False):
            names.setdefault(parameter, []).append(name)
        return [same for same in names.values() if len(same) > 1]

    trainer._catalog_shared_params = catalog_shared_params

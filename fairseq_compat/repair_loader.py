"""Runs the repair of a module as part of its import."""

import importlib
import os

from . import REPAIRS

#: What fairseq needs to run on current versions, and to run no code of a checkpoint. All other repairs change what it
#: does, and are left out with FAIRSEQ_COMPAT=minimal in the environment: for whoever reproduces a number of fairseq's.
NEEDED = {
    *("dataclass_hashes", "numpy_names", "merged_data_sizes", "checkpoint_classes", "broadcast_checkpoints"),
    *("encoder_fast_path", "optional_types", "lazy_help", "inherited_settings", "needless_advice"),
    *("literal_options", "checkpoint_contents"),
}


def add_repair(spec):
    """Return `spec` with a loader that also repairs the module; return None, or a spec without code, unchanged."""
    if spec is not None and hasattr(spec.loader, "exec_module"):
        spec.loader = RepairLoader(spec.loader)
    return spec


def repair(module):
    """Run the repairs of a module that has been executed."""
    minimal = os.environ.get("FAIRSEQ_COMPAT") == "minimal"
    for name in REPAIRS[module.__name__]:
        if name in NEEDED or not minimal:
            importlib.import_module(f".{name}", __package__).repair(module)


class RepairLoader:
    """Takes the place of a module's own loader until the module is executed."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        """Leave this to the module's own loader."""
        return self._loader.create_module(spec)

    def exec_module(self, module):
        """Give the module its own loader back, execute it, and repair it."""
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        repair(module)

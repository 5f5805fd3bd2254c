"""A module as another module sees it: with further names, or some replaced, and nothing changed for everyone else."""

import types


class ModuleView(types.ModuleType):
    """A module, with `names` in front of its own."""

    def __init__(self, module, **names):
        super().__init__(module.__name__)
        self.__dict__.update(names, _module=module)

    def __getattr__(self, name):
        return getattr(self._module, name)

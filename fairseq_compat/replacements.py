"""What takes the place of a function of another module, declared above the function that does.

::

    @around("fairseq.trainer", "Trainer.get_train_iterator")
    def get_train_iterator(original, self, *args, **kwargs): ...

Each function is replaced once: what happens, and in which order, is what its replacement says from top to bottom.
"""

import functools
import inspect
import types

#: For each module, what is to be called with it once it has been executed.
CHANGES: dict[str, list] = {}


def after_import(*modules):
    """Have the function below called with each of these modules once it has been executed."""

    def declare(change):
        for name in modules:
            CHANGES.setdefault(name, []).append(change)
        return change

    return declare


def around(module, name):
    """Have the function below called in the place of another, which is its first argument.

    Args:
        module: that has the other function.
        name: of the other function; of a method, with its class: ``Trainer.load_checkpoint``.
    """

    def declare(replacement):
        def wrap(original):
            @functools.wraps(original)
            def call(*args, **kwargs):
                return replacement(original, *args, **kwargs)

            # fairseq looks for names of arguments, and does not look below a wrapper.
            call.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
            return call

        after_import(module)(lambda executed: _replace(executed, name, wrap))
        return replacement

    return declare


def in_place_of(module, name):
    """Have the function below take the place of another, which is not called any more."""

    def declare(replacement):
        after_import(module)(lambda executed: _replace(executed, name, lambda original: replacement))
        return replacement

    return declare


def _replace(module, name, make):
    """Put what `make` makes of a function in its place, as the same kind of method."""
    *outer, attribute = name.split(".")
    owner = functools.reduce(getattr, outer, module)
    original = inspect.getattr_static(owner, attribute)
    kind = type(original) if isinstance(original, (classmethod, staticmethod)) else None
    made = make(original.__func__ if kind else original)
    setattr(owner, attribute, kind(made) if kind else made)


class ModuleView(types.ModuleType):
    """A module as another one sees it: with `names` in front of its own, and nothing changed for everyone else."""

    def __init__(self, module, **names):
        super().__init__(module.__name__)
        self.__dict__.update(names, _module=module)

    def __getattr__(self, name):
        return getattr(self._module, name)

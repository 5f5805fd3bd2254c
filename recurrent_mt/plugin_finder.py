"""How the library finds the plug-in: the folder for fairseq's ``--user-dir``, and the tools in it."""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

#: What to do where fairseq is missing.
FAIRSEQ_MISSING = "this needs fairseq 0.12.2, which is not installed: the project's scripts/setup.sh installs it"


def find_plugin() -> Path:
    """The folder ``user_dir``: inside the library if installed from a wheel, next to it in a clone.

    Raises:
        FileNotFoundError: if it is in neither place.
    """
    library = Path(__file__).resolve().parent
    # fairseq puts the folder above user_dir on sys.path. In a wheel, that folder holds nothing else, so that no module
    # there hides another package's.
    places = library / "plugin" / "user_dir", library.parent / "user_dir"
    for folder in places:
        if (folder / "__init__.py").is_file():
            return folder
    raise FileNotFoundError(f"the plug-in is neither in {places[0]} nor in {places[1]}: reinstall the project")


def import_from_plugin(name: str, folder: str = "cli") -> ModuleType:
    """Imports the module ``user_dir.FOLDER.NAME``, under the name that fairseq uses for the plug-in.

    Raises:
        FileNotFoundError: if there is no plug-in.
        ModuleNotFoundError: if fairseq or something else that the module needs is not installed.
    """
    plugin = find_plugin()
    if find_spec("fairseq") is None:
        raise ModuleNotFoundError(FAIRSEQ_MISSING, name="fairseq")
    if str(plugin.parent) not in sys.path:
        sys.path.insert(0, str(plugin.parent))
    return importlib.import_module(f"{plugin.name}.{folder}.{name}")

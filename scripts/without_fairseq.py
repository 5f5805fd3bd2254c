"""Imported first, lets a script use the parts of this checkout's user_dir that need no fairseq, and start at once.

``user_dir/__init__.py`` would import fairseq and torch, which takes seconds and hundreds of megabytes a process.
"""

import sys
import types
from pathlib import Path

if "user_dir" not in sys.modules:
    _plugin = types.ModuleType("user_dir")
    _plugin.__path__ = [str(Path(__file__).resolve().parents[1] / "user_dir")]
    sys.modules["user_dir"] = _plugin

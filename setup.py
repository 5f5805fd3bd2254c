"""What goes into a wheel, and where the plug-in goes; everything else that pip needs is in pyproject.toml.

fairseq_compat is a distribution of its own, in its folder.
"""

from __future__ import annotations

import sys

from setuptools import find_packages, setup

PACKAGES = find_packages(include=[f"{name}{part}" for name in ("user_dir", "recurrent_mt") for part in ("", ".*")])
# A package_dir of this form makes the editable install one line in a .pth file. Without it
# setuptools writes a finder whose imports cost every Python process some 10 ms.
FOLDERS = {"": "."}
if "editable_wheel" not in sys.argv:
    # Installed, the plug-in is a part of the library: no environment gets a package called user_dir.
    PACKAGES = [f"recurrent_mt.plugin.{name}" if name.startswith("user_dir") else name for name in PACKAGES]
    FOLDERS["recurrent_mt.plugin.user_dir"] = "user_dir"

setup(
    packages=PACKAGES,
    package_data={
        "recurrent_mt": ["py.typed"],
        "recurrent_mt.demo": ["templates/*"],
        # What recurrent-mt build-kernels compiles.
        "recurrent_mt.kernels.native": ["*.cpp", "*.h"],
        "recurrent_mt.report": ["templates/*"],
        "recurrent_mt.data.synthetic.lexicon": ["*.tsv"],
    },
    package_dir=FOLDERS,
)

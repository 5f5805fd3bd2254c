"""Package metadata, where the plug-in goes, and the ``.pth`` file that installs the import hook of fairseq_compat."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

PACKAGES = find_packages(
    include=[f"{name}{part}" for name in ("user_dir", "recurrent_mt", "fairseq_compat") for part in ("", ".*")]
)
# A package_dir of this form makes the editable install one line in a .pth file. Without it
# setuptools writes a finder whose imports cost every Python process some 10 ms.
FOLDERS = {"": "."}
if "editable_wheel" not in sys.argv:
    # Installed, the plug-in is a part of the library: no environment gets a package called user_dir.
    PACKAGES = [f"recurrent_mt.plugin.{name}" if name.startswith("user_dir") else name for name in PACKAGES]
    FOLDERS["recurrent_mt.plugin.user_dir"] = "user_dir"


class BuildWithStartupHook(build_py):
    """Puts ``fairseq_compat.pth`` at the top of the wheel, where site-packages will be.

    Python executes the lines of such a file when it starts. setuptools has no option for one.
    """

    def run(self) -> None:
        """Build the modules, then write the hook."""
        super().run()
        if "fairseq_compat" not in PACKAGES:
            return
        # An editable wheel leaves build_lib out: its files are those found in install_lib.
        editable = self.editable_mode
        folder = self.get_finalized_command("install").install_lib if editable else self.build_lib
        hook = Path(folder, "fairseq_compat.pth")
        hook.parent.mkdir(parents=True, exist_ok=True)
        hook.write_text("import fairseq_compat; fairseq_compat.install()\n", encoding="ascii")


setup(
    name="fairseq-recurrent-mt",
    version="0.1.0",
    description="The recurrent encoder-decoders of 2014-15 for fairseq 0.12.2",
    license="MIT",
    python_requires=">=3.10",
    packages=PACKAGES,
    package_data={
        "recurrent_mt.report": ["templates/*"],
        "recurrent_mt.data.synthetic.lexicon": ["*.tsv"],
        "recurrent_mt.ratings": ["page/*"],
    },
    package_dir=FOLDERS,
    extras_require={"onnx": ["onnx", "onnxruntime"]},
    entry_points={"console_scripts": ["recurrent-mt = recurrent_mt.cli.command:main"]},
    cmdclass={"build_py": BuildWithStartupHook},
)

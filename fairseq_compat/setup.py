"""Package metadata, and the ``.pth`` file that installs the import hook when Python starts."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithStartupHook(build_py):
    """Puts ``fairseq_compat.pth`` at the top of the wheel, where site-packages will be.

    Python executes the lines of such a file when it starts. setuptools has no option for one.
    """

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Leave out this file: the package's folder is also the project's."""
        return [found for found in super().find_package_modules(package, package_dir) if found[1] != "setup"]

    def run(self) -> None:
        """Build the modules, then write the hook."""
        super().run()
        # An editable wheel leaves build_lib out: its files are those found in install_lib.
        folder = self.get_finalized_command("install").install_lib if self.editable_mode else self.build_lib
        hook = Path(folder, "fairseq_compat.pth")
        hook.parent.mkdir(parents=True, exist_ok=True)
        hook.write_text("import fairseq_compat; fairseq_compat.install()\n", encoding="ascii")


setup(
    name="fairseq-compat",
    version="0.1.0",
    description="Lets the unmodified fairseq 0.12.2 run on current Python, PyTorch, and numpy",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    python_requires=">=3.11",
    # What fairseq imports. Its own metadata asks for versions of hydra and omegaconf that no longer install.
    install_requires=[
        "bitarray",
        "hydra-core>=1.3,<1.4",
        "numpy>=1.26",
        "omegaconf>=2.3,<2.4",
        "regex",
        "sacrebleu>=1.4.12",
        "torch>=2.6",
        "tqdm",
    ],
    packages=["fairseq_compat", "fairseq_compat.repairs"],
    # A package_dir of the second form makes the editable install one line in a .pth file. With the first, setuptools
    # would write a finder whose imports cost every Python process some 10 ms.
    package_dir={"": ".."} if "editable_wheel" in sys.argv else {"fairseq_compat": "."},
    cmdclass={"build_py": BuildWithStartupHook},
)

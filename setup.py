"""Package metadata, where the plug-in goes, and the ``.pth`` file that installs the import hook of fairseq_compat."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
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


class BuildNativeKernels(build_ext):
    """Compiles ``recurrent_mt/kernels/native``, where that is possible: everything works without it, more slowly."""

    def run(self) -> None:
        """Compile against the PyTorch of this environment; say in one line why not, and go on."""
        try:
            super().run()
        except Exception as error:
            print(f"the native kernels are not built, everything runs on 'packed': {error}", file=sys.stderr)


def native_kernels() -> list[Extension]:
    """The library of native kernels, for the PyTorch of this environment; none where there is no PyTorch.

    Its file is named as :func:`recurrent_mt.kernels.native.library_name` says. The code chooses among instruction sets
    when it runs, so no flag names a processor; and no flag of fast mathematics may get to the linker, which would
    change the arithmetic of the whole process.
    """
    try:
        import torch
        from torch.utils import cpp_extension
    except ImportError:
        return []
    version = torch.__version__.partition("+")[0].replace(".", "_")
    folder = Path("recurrent_mt", "kernels", "native")
    return [
        Extension(
            f"recurrent_mt.kernels.native.torch_{version}",
            sources=sorted(str(path) for path in folder.glob("*.cpp")),
            depends=sorted(str(path) for path in folder.glob("*.h")),
            include_dirs=cpp_extension.include_paths(),
            library_dirs=cpp_extension.library_paths(),
            libraries=["c10", "torch_cpu", "torch"],
            extra_compile_args=["-std=c++20", "-O3", "-g0", "-fopenmp", "-fno-math-errno", "-fno-trapping-math"],
            language="c++",
        )
    ]


setup(
    name="fairseq-recurrent-mt",
    version="0.1.0",
    description="The recurrent encoder-decoders of 2014-15 for fairseq 0.12.2",
    license="MIT",
    python_requires=">=3.10",
    packages=PACKAGES,
    package_data={
        "recurrent_mt.report": ["templates/*", "templates/sections/*"],
        "recurrent_mt.data.synthetic.lexicon": ["*.tsv"],
        "recurrent_mt.ratings": ["page/*"],
    },
    package_dir=FOLDERS,
    entry_points={"console_scripts": ["recurrent-mt = recurrent_mt.cli.command:main"]},
    ext_modules=native_kernels(),
    cmdclass={"build_py": BuildWithStartupHook, "build_ext": BuildNativeKernels},
)

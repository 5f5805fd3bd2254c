"""Package metadata, and where the plug-in goes. fairseq_compat is a distribution of its own, in its folder."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

PACKAGES = find_packages(include=[f"{name}{part}" for name in ("user_dir", "recurrent_mt") for part in ("", ".*")])
# A package_dir of this form makes the editable install one line in a .pth file. Without it
# setuptools writes a finder whose imports cost every Python process some 10 ms.
FOLDERS = {"": "."}
if "editable_wheel" not in sys.argv:
    # Installed, the plug-in is a part of the library: no environment gets a package called user_dir.
    PACKAGES = [f"recurrent_mt.plugin.{name}" if name.startswith("user_dir") else name for name in PACKAGES]
    FOLDERS["recurrent_mt.plugin.user_dir"] = "user_dir"


class BuildNativeKernels(build_ext):
    """Compiles ``recurrent_mt/kernels/native``, where that is possible: everything works without it, more slowly."""

    def run(self) -> None:
        """Compile against the PyTorch of this environment; say in one line why not, and go on."""
        # Otherwise, setuptools compiles only what is newer than the library, and a copy may have the times of any day.
        self.force = True
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
    checksum = runpy.run_path(str(folder / "sources.py"))["checksum"]()
    # PyTorch's wheels up to 2.6 have the strings of old C++ compilers.
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    return [
        Extension(
            f"recurrent_mt.kernels.native.torch_{version}",
            sources=sorted(str(path) for path in folder.glob("*.cpp")),
            depends=sorted(str(path) for path in folder.glob("*.h")),
            include_dirs=cpp_extension.include_paths(),
            library_dirs=cpp_extension.library_paths(),
            libraries=["c10", "torch_cpu", "torch"],
            define_macros=[("SOURCES", f'"{checksum}"')],
            extra_compile_args=["-std=c++20", "-O3", "-g0", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", abi],
            language="c++",
        )
    ]


setup(
    name="fairseq-recurrent-mt",
    version="0.1.0",
    description="The recurrent encoder-decoders of 2014-15 for fairseq 0.12.2",
    license="MIT",
    python_requires=">=3.11",
    # What scores, analyses, and reports need. Models need fairseq and fairseq_compat as well.
    install_requires=[
        "jinja2>=3.1",
        "krippendorff>=0.8",
        "langcodes>=3.4",
        "matplotlib>=3.10",
        "nltk>=3.9",
        "numpy>=1.26",
        "pandas>=2.2,<3",
        "pydantic>=2.12",
        "PyYAML>=6",
        "sacrebleu>=2.4",
        "tabulate>=0.9",
    ],
    packages=PACKAGES,
    package_data={
        "recurrent_mt.demo": ["templates/*"],
        "recurrent_mt.pages": ["*.css"],
        "recurrent_mt.report": ["templates/*"],
        "recurrent_mt.data.synthetic.lexicon": ["*.tsv"],
        "recurrent_mt.ratings": ["page/*"],
    },
    package_dir=FOLDERS,
    extras_require={
        "onnx": ["onnx", "onnxruntime"],
        "demo": ["gradio>=6,<7"],
        "lesson": ["ipykernel", "nbclient", "notebook"],
    },
    entry_points={"console_scripts": ["recurrent-mt = recurrent_mt.cli.command:main"]},
    ext_modules=native_kernels(),
    cmdclass={"build_ext": BuildNativeKernels},
)

"""Compiles the kernels in C++ for this machine: what ``recurrent-mt build-kernels`` and ``scripts/setup.sh`` call."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from textwrap import shorten

import torch
from setuptools import Distribution, Extension
from torch.utils import cpp_extension

from . import library_name
from .sources import FOLDER, checksum


def build(folder: Path = FOLDER) -> Path:
    """Compiles the sources beside this file, and puts the library into a folder, in place of the one that is there.

    The environment variables CXX, CFLAGS, CXXFLAGS, and LDFLAGS count, as in the build of any extension of Python.

    Returns:
        The library, in the folder where :func:`.reason_unavailable` looks, unless another is named.

    Raises:
        OSError: if the folder cannot be written.
        RuntimeError: if there is no compiler, or it fails: it says on standard error why.
    """
    with tempfile.TemporaryDirectory() as scratch:
        project = Distribution({"name": "recurrent-mt-kernels", "ext_modules": [native_kernels()]})
        command = project.get_command_obj("build_ext")
        command.build_lib = command.build_temp = scratch
        command.ensure_finalized()
        (library,) = map(Path, command.get_outputs())
        # A library that has its name in that folder is whole.
        partial = folder / f"partial-{os.getpid()}-{library.name}"
        try:
            partial.touch()  # the compiler takes minutes: a folder that cannot be written is refused before
            compile_extension(project)
            shutil.copyfile(library, partial)
            partial.replace(folder / library.name)
        finally:
            partial.unlink(missing_ok=True)
    return folder / library.name


def compile_extension(project: Distribution) -> None:
    """Raises RuntimeError if there is no compiler, or it fails."""
    try:
        project.run_command("build_ext")
    except Exception as error:  # setuptools' own have no common class
        reason = shorten(str(error), 100)  # its whole command line, which begins with the compiler
        raise RuntimeError(f"the native kernels are not built, everything runs on 'packed': {reason}") from error


def native_kernels() -> Extension:
    """The library of native kernels, for the PyTorch of this environment.

    Its file is named as :func:`.library_name` says. The code chooses among instruction sets when it runs, so no flag
    names a processor; and no flag of fast mathematics may get to the linker, which would change the arithmetic of the
    whole process.
    """
    # PyTorch's wheels up to 2.6 have the strings of old C++ compilers.
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    return Extension(
        library_name(torch.__version__),
        sources=sorted(str(path) for path in FOLDER.glob("*.cpp")),
        include_dirs=cpp_extension.include_paths(),
        library_dirs=cpp_extension.library_paths(),
        libraries=["c10", "torch_cpu", "torch"],
        define_macros=[("SOURCES", f'"{checksum()}"')],
        extra_compile_args=["-std=c++20", "-O3", "-g0", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", abi],
        language="c++",
    )

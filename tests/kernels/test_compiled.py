"""Triton's kernels compile for a GPU, which need not be there. The interpreter accepts things that a compiler does
not."""

import importlib
import os
from importlib.util import find_spec

import pytest

from tests.kernels.test_grconv import arguments, run

pytestmark = pytest.mark.skipif(
    find_spec("triton") is None or os.environ.get("TRITON_INTERPRET") == "1",
    reason="needs triton, and no interpreter in its place",
)

#: Kernels by module, with their constants besides the type they compute in. Other arguments are pointers or SIZES.
LEVEL = "recurrent_mt.kernels.triton_level"
BLOCK = {"ROWS": 2, "COLUMNS": 1024}
ATTENTION = "recurrent_mt.kernels.triton_attention"
STEP, STEP_KERNELS = {"WIDTH": 1000, "BLOCK": 512}, ("reset", "update", "update_gradient", "reset_gradient")
KERNELS = {
    "level": (LEVEL, "level_kernel", {"WIDTH": 1000, "GATES": 1, "TANH": True, "AGAIN": False, **BLOCK}),
    "level_again": (LEVEL, "level_kernel", {"WIDTH": 1000, "GATES": 1, "TANH": True, "AGAIN": True, **BLOCK}),
    "level_gradient": (LEVEL, "gradient_kernel", {"WIDTH": 1000, "GATES": 1, "TANH": True, **BLOCK}),
    **{f"step_{name}": ("recurrent_mt.kernels.triton_gru", f"{name}_kernel", STEP) for name in STEP_KERNELS},
    **{
        f"{name}_{positions}": (ATTENTION, f"{name}_kernel", {width: 1000, "POSITIONS": positions, "COLUMNS": columns})
        for name, width in (("context", "VALUES"), ("energy_gradient", "KEYS"))
        for positions, columns in ((64, 32), (1024, 16))
    },
    "energy": (ATTENTION, "energy_kernel", {"KEYS": 1000, "ROWS": 4, "COLUMNS": 512}),
    "weight_gradient": (ATTENTION, "weight_gradient_kernel", {"VALUES": 2000, "ROWS": 4, "COLUMNS": 512}),
}
SIZES = {"count", "before", "first", "size_below", "parents_before", "numbers", "positions", "beam"}
POINTERS = {
    "left_leaves": "*i64",
    "parents": "*i64",
    "padding_mask": "*i1",
    "energies": "*fp32",
    "grad_weights": "*fp32",
    "grad_keys": "*fp32",
    "grad_score": "*fp32",
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_compiles_for_a_gpu(kernel, tmp_path, monkeypatch):
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    module, name, constants = KERNELS[kernel]
    function = getattr(importlib.import_module(module), name)
    constants = {**constants, "ACCUMULATOR": tl.float32}
    signature = {
        argument: "constexpr"
        if argument in constants
        else "i32"
        if argument in SIZES
        else POINTERS.get(argument, "*bf16")
        for argument in function.arg_names
    }
    source = ASTSource(function, signature, constants)
    compiled = compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
    assert compiled.asm["cubin"]


def test_compiled_kernels_refuse_the_cpu():
    counts, tensors = arguments([2], 3)
    with pytest.raises(ValueError, match=r"grconv as 'fused' needs a GPU, .* TRITON_INTERPRET=1"):
        run(counts)("fused", *tensors)

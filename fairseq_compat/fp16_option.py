"""Says in one sentence that ``--fp16`` needs a GPU, and what does not.

fairseq 0.12.2 asks PyTorch for the current GPU while it builds the optimizer: "Torch not compiled with CUDA enabled".
"""

import functools


def repair(fp16_optimizer):
    """Wrap the function of ``fairseq.optim.fp16_optimizer`` that copies all parameters into one tensor of a GPU."""
    mixin = fp16_optimizer._FP16OptimizerMixin
    build = mixin.build_fp32_params.__func__

    @functools.wraps(build)
    def build_on_a_gpu(cls, args, params, flatten=True):
        if flatten and not fp16_optimizer.torch.cuda.is_available():
            raise ValueError(
                "--fp16 needs a GPU, and PyTorch finds none: leave it out, or train in bfloat16, with --autocast "
                "bfloat16 (recurrent-mt's models) or --bf16 (all models); --amp runs without a GPU, but in float32"
            )
        return build(cls, args, params, flatten=flatten)

    mixin.build_fp32_params = classmethod(build_on_a_gpu)

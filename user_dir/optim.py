"""``fused_adam``: fairseq's Adam with all of an update in one operation of PyTorch, on a CPU as well."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.optim import FairseqOptimizer, register_optimizer
from fairseq.optim.adam import Adam, FairseqAdam, FairseqAdamConfig
from torch import Tensor

FORMATS = (torch.float32, torch.float64)
"""The number formats of parameters that are updated by one operation; others are left to fairseq's own steps."""


@dataclass
class FusedAdamConfig(FairseqAdamConfig):
    """The options of fairseq's ``adam``."""


@register_optimizer("fused_adam", dataclass=FusedAdamConfig)
class FairseqFusedAdam(FairseqAdam):
    """The same numbers as fairseq's ``adam`` up to rounding, from the same options.

    Checkpoints have the same state; fairseq continues training with the optimizer that it started with.
    """

    def __init__(self, cfg: FusedAdamConfig, params: Iterable[Tensor]) -> None:
        FairseqOptimizer.__init__(self, cfg)
        self._optimizer = FusedAdam(params, **self.optimizer_config)


class FusedAdam(Adam):
    """fairseq's Adam with one operation for all parameters of a format that have taken equally many steps.

    fairseq adds ε to √v̂ · √(1 − β₂ᵗ), PyTorch to √v̂, v̂ being the second moment without its bias; so PyTorch is given ε
    divided by that factor.
    """

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the parameters; all that need fairseq's own steps have them, and so do closures."""
        updated = (p for group in self.param_groups for p in group["params"] if p.grad is not None)
        if closure is not None or not all(map(_is_plain, updated)):
            return super().step(closure)
        for group in self.param_groups:
            alike: dict[tuple[Any, ...], list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    alike[self._state(parameter)["step"] + 1, parameter.dtype, parameter.device].append(parameter)
            for (number, *_), parameters in alike.items():
                self._update(parameters, number, group)
        return None

    def _state(self, parameter: Tensor) -> dict[str, Any]:
        state = self.state[parameter]
        if not state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        return state

    @torch.no_grad()
    def _update(self, parameters: list[Tensor], number: int, group: dict[str, Any]) -> None:
        states = [self.state[parameter] for parameter in parameters]
        for state in states:
            state["step"] = number
            for moment in ("exp_avg", "exp_avg_sq"):
                state[moment] = state[moment].to(parameters[0])
        beta1, beta2 = group["betas"]
        step = torch.tensor(float(number), device=parameters[0].device)
        torch._fused_adamw_(
            parameters,
            [parameter.grad for parameter in parameters if parameter.grad is not None],
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [step] * len(parameters),
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            weight_decay=group["weight_decay"],
            eps=group["eps"] / math.sqrt(1 - beta2**number),
            amsgrad=False,
            maximize=False,
        )


def _is_plain(parameter: Tensor) -> bool:
    grad = parameter.grad
    if grad is None or grad.is_sparse or grad.dtype != parameter.dtype or parameter.dtype not in FORMATS:
        return False
    # PyTorch's operation reads both from the first number to the last, whatever their strides.
    return parameter.is_contiguous() and grad.is_contiguous()

"""Optimizers; importing this package registers them with fairseq."""

from .fused_adam import FairseqFusedAdam

__all__ = ["FairseqFusedAdam"]

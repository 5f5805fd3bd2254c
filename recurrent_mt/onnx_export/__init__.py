"""Models as ONNX graphs, built operator by operator from their layers, for programs without PyTorch and fairseq."""

from .files import ExportedModel, export_model

__all__ = ["ExportedModel", "export_model"]

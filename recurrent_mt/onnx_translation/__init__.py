"""Translation with a model that ``recurrent-mt export`` has written: onnxruntime and numpy, no PyTorch, no fairseq.

from recurrent_mt.onnx_translation import OnnxModel, translate
model = OnnxModel("exported")
for hypotheses in translate(model, ["un homme dort"], beam=5):
    print(hypotheses[0].score, hypotheses[0].text(model))
"""

from .model import OnnxModel
from .search import Hypothesis, beam_search
from .translation import translate

__all__ = ["Hypothesis", "OnnxModel", "beam_search", "translate"]

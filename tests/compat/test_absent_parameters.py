"""What fairseq says at the start of a training about parameters in several places."""

from fairseq import trainer
from torch import nn


def test_shared_are_parameters_and_not_the_biases_that_layers_do_not_have():
    model = nn.ModuleDict({name: nn.Linear(3, 3, bias=name == "c") for name in "abc"})
    assert trainer._catalog_shared_params(model) == []
    model["b"].weight = model["c"].weight
    model["again"] = model["a"]
    assert trainer._catalog_shared_params(model) == [["a.weight", "again.weight"], ["b.weight", "c.weight"]]

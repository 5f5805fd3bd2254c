"""What tests of fairseq's trainer have in place of Hydra."""

import pytest
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from omegaconf import OmegaConf

from tests.training import ADAM, configuration_of, parse


@pytest.mark.parametrize(
    ("criterion", "flags"),
    [
        ("cross_entropy", ADAM),
        (
            "label_smoothed_cross_entropy",
            (
                *("--label-smoothing", "0.1", "--optimizer", "sgd", "--lr-scheduler", "inverse_sqrt"),
                *("--lr", "0.1,0.2", "--warmup-updates", "3", "--update-freq", "2,1", "--store-ema", "--amp"),
                "--save-dir",
                "a b",
            ),
        ),
    ],
)
def test_a_configuration_is_that_of_fairseq(criterion, flags):
    arguments = parse(criterion, flags)
    found, expected = (
        OmegaConf.to_container(make(arguments)) for make in (configuration_of, convert_namespace_to_omegaconf)
    )
    assert found == {name: value for name, value in expected.items() if value is not None}

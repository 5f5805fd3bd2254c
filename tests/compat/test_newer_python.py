"""What Python 3.14 changed and fairseq or hydra stumble over, tried on the Python that runs the tests."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import List, Optional, Union  # noqa: UP035 (what fairseq's dataclasses are written with)

import pytest
from fairseq.dataclass import FairseqDataclass
from fairseq.dataclass.utils import gen_parser_from_dataclass, interpret_dc_type
from hydra._internal import utils
from hydra._internal.hydra import Hydra

from fairseq_compat.lazy_help import leave_help_alone


def check_help(self, action):
    """The check of Python 3.14's argparse."""
    if action.help and hasattr(self, "_get_formatter"):
        try:
            self._get_formatter()._expand_help(action)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError("badly formed help string") from error


def add_and_check(self, *names, add=argparse.ArgumentParser.add_argument, **options):
    action = add(self, *names, **options)
    self._check_help(action)
    return action


def test_hydra_has_a_parser_where_help_is_checked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(utils, "argparse", argparse)
    if not hasattr(argparse.ArgumentParser, "_check_help"):
        monkeypatch.setattr(argparse.ArgumentParser, "_check_help", check_help, raising=False)
        monkeypatch.setattr(argparse.ArgumentParser, "add_argument", add_and_check)
    with pytest.raises(ValueError, match="badly formed help string"):
        utils.get_args_parser()
    leave_help_alone(utils)
    shown = Hydra.format_args_help(utils.get_args_parser())
    assert "Install or Uninstall shell completion" in shown and "Bash - Install" in shown


@dataclass
class Options(FairseqDataclass):
    number: int | None = field(default=None, metadata={"help": "a number"})


Options.__dataclass_fields__["number"].type = int | None


def test_an_optional_value_is_read_however_its_type_is_written():
    """On Python 3.14, ``Optional[int]`` is ``int | None``."""
    parser = argparse.ArgumentParser()
    gen_parser_from_dataclass(parser, Options())
    assert parser.parse_args(["--number", "3"]).number == 3


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (int | None, int),
        (None | str, str),
        (Optional[float], float),  # noqa: UP045
        (Union[int, None], int),  # noqa: UP007
        (List[int] | None, List[int]),  # noqa: UP006
        (int | str, int | str),
        (int, int),
    ],
)
def test_the_type_of_an_optional_value(written: object, meant: object):
    assert interpret_dc_type(written) == meant

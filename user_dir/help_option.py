"""Lets ``--help`` of the fairseq commands list the options of this plug-in.

fairseq 0.12.2 prints the help before it adds the options that depend on the model, the task, and so on, so it never
shows those of a plug-in, not even with ``--arch`` on the command line. Importing this module, as ``--user-dir`` does,
wraps ``fairseq.options.parse_args_and_arch``. Command lines that do not ask for help are parsed as usual.

The help then has the options of everything that the command line chooses, followed by a section for each part of the
plug-in that could have been chosen instead: each model if there is no ``--arch``, and each task, criterion, and scorer.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fairseq import options
from fairseq.dataclass import FairseqDataclass
from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.models import MODEL_DATACLASS_REGISTRY, MODEL_REGISTRY
from fairseq.registry import REGISTRIES
from fairseq.tasks import TASK_REGISTRY

from .models.config import EncoderDecoderConfig

HELP_FLAGS = ("-h", "--help")
ParserChange = Callable[[argparse.ArgumentParser], None]


def own_options(dataclass: type[FairseqDataclass] | None) -> list[str]:
    """The fields that a dataclass of this plug-in defines itself, not those it inherits; none for other classes."""
    return list(inspect.get_annotations(dataclass)) if dataclass is not None and _is_ours(dataclass) else []


def parts(chosen: argparse.Namespace) -> Iterator[tuple[str, type[FairseqDataclass] | None]]:
    """Yields title and options of each part of this plug-in that a command knows and its line does not choose.

    Args:
        chosen: what fairseq's parser reads from the command line before the parts add their own options.
    """
    if getattr(chosen, "arch", "") is None:
        yield "Every model of this plug-in:", EncoderDecoderConfig
        for name, dataclass in MODEL_DATACLASS_REGISTRY.items():
            if _is_ours(dataclass):
                yield f"--arch {name}: {_summary(name, MODEL_REGISTRY[name])}", dataclass
    registries = {"task": TASK_REGISTRY, **{name: parts["registry"] for name, parts in REGISTRIES.items()}}
    for flag, registry in registries.items():
        names: dict[type | None, list[str]] = {}
        for name, part in registry.items():
            if _is_ours(part) and getattr(chosen, flag, name) != name:
                names.setdefault(getattr(part, "__dataclass", None), []).append(name)
        for dataclass, alike in names.items():
            yield f"--{flag} {', '.join(alike)}: {_summary(alike[0], registry[alike[0]])}", dataclass


def _is_ours(part: type) -> bool:
    return part.__module__.partition(".")[0] == __package__


def _summary(name: str, part: type) -> str:
    """What the part is and where it comes from: the paragraph of the module's docstring about it, or the first one."""
    paragraphs = [" ".join(text.split()) for text in (sys.modules[part.__module__].__doc__ or "").split("\n\n")]
    about = next((text for text in paragraphs if text.startswith(f"``{name}``: ")), paragraphs[0])
    return about.rpartition("``: ")[2].replace("``", "")


def _section(title: str, dataclass: type[FairseqDataclass] | None) -> str:
    parser = argparse.ArgumentParser(usage=argparse.SUPPRESS, description=title, add_help=False)
    names = own_options(dataclass)
    if dataclass is not None and names:
        config: Any = dataclass()
        config._get_all_attributes = lambda: names
        gen_parser_from_dataclass(parser, config)
    return parser.format_help()


def _with_help(parse: Callable[..., Any]) -> Callable[..., Any]:
    """`parse`, a function of fairseq, except for command lines that ask for help."""

    @functools.wraps(parse)
    def parse_args_and_arch(
        parser: argparse.ArgumentParser,
        input_args: Sequence[str] | None = None,
        parse_known: bool = False,
        suppress_defaults: bool = False,
        modify_parser: ParserChange | None = None,
    ) -> Any:
        line = sys.argv[1:] if input_args is None else input_args
        rest = [word for word in line if word not in HELP_FLAGS]
        if len(rest) == len(line):
            return parse(parser, input_args, parse_known, suppress_defaults, modify_parser)
        chosen, _ = parser.parse_known_args(rest)
        calls = 0

        def print_help_at_last(parser: argparse.ArgumentParser) -> None:
            """Called by fairseq before and after it adds the options of what was chosen."""
            nonlocal calls
            calls += 1
            if modify_parser is not None:
                modify_parser(parser)
            if calls == 2 or _stops_fairseq(chosen):
                parser.print_help()
                for part in parts(chosen):
                    print("\n" + _section(*part), end="")
                parser.exit()

        return parse(parser, rest, modify_parser=print_help_at_last)

    return parse_args_and_arch


def _stops_fairseq(chosen: argparse.Namespace) -> bool:
    """Whether fairseq cannot add options to its parser because there is no model or task to take them from."""
    return any(getattr(chosen, flag, "") is None for flag in ("arch", "task"))


options.parse_args_and_arch = _with_help(options.parse_args_and_arch)

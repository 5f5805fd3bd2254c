"""Lets ``--help`` of the fairseq commands list the options of what is chosen: with ``--arch NAME``, and so on.

fairseq 0.12.2 prints the help before it adds the options that depend on the model, the task, and so on, so it never
shows those of a plug-in. Importing this module, as ``--user-dir`` does, wraps ``fairseq.options.parse_args_and_arch``.
Command lines that do not ask for help are parsed as usual.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from fairseq import options

HELP_FLAGS = ("-h", "--help")


def _with_help(parse: Callable[..., Any]) -> Callable[..., Any]:
    """`parse`, a function of fairseq, except for command lines that ask for help."""

    @functools.wraps(parse)
    def parse_args_and_arch(
        parser: argparse.ArgumentParser, input_args: Sequence[str] | None = None, *arguments: Any, **keywords: Any
    ) -> Any:
        line = sys.argv[1:] if input_args is None else input_args
        rest = [word for word in line if word not in HELP_FLAGS]
        chosen, _ = parser.parse_known_args(rest) if len(rest) < len(line) else (None, [])
        # Without a model or a task, fairseq cannot add options to its parser.
        if chosen is None or None in (getattr(chosen, "arch", ""), getattr(chosen, "task", "")):
            return parse(parser, input_args, *arguments, **keywords)
        calls = []

        def print_help_at_last(parser: argparse.ArgumentParser) -> None:
            """Called by fairseq before and after it adds the options of what was chosen."""
            calls.append(parser)
            if len(calls) == 2:
                parser.print_help()
                parser.exit()

        return parse(parser, rest, modify_parser=print_help_at_last)

    return parse_args_and_arch


options.parse_args_and_arch = _with_help(options.parse_args_and_arch)

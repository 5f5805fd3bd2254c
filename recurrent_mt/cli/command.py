"""Calls the tool named on the command line. Loads nothing else, so the list of tools appears at once."""

from __future__ import annotations

import importlib
import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib.util import find_spec
from io import TextIOWrapper
from types import ModuleType

from ..plugin_finder import import_from_plugin
from .tools import INDEX, RENAMED, TOOLS, Tool

#: Failures that a message explains: files, their contents, libraries. Anything else is a bug and shows a traceback.
EXPLAINED = (OSError, ValueError, RuntimeError, ModuleNotFoundError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a tool, or prints the list of tools.

    Args:
        arguments: the words of the command line; the process's own if None.

    Returns:
        The exit status: 0, 1 after a failure that the message explains, 2 if no tool is named, or the tool's own.

    Raises:
        SystemExit: after a tool's help, and with status 2 after options that it does not accept.
    """
    write_utf8()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words:
        print(list_tools(), end="", file=sys.stderr)
        return 2
    name = words[0]
    if name in ("-h", "--help"):
        print(list_tools(), end="")
        return 0
    if name not in TOOLS:
        print(f"error: {describe_unknown(name)}", file=sys.stderr)
        return 2
    try:
        module = load_module(name)
        parser = make_parser(TOOLS[name], module)
        # KEY=VALUE, or FLAGs after --, may come before and after options, where a tool says so.
        mixed = getattr(module, "OPTIONS_ANYWHERE", False)
        options = parser.parse_intermixed_args(words[1:]) if mixed else parser.parse_args(words[1:])
        return module.run(options) or 0
    except EXPLAINED as error:
        print(f"error: {explain(error)}", file=sys.stderr)
        return 1


def write_utf8() -> None:
    """Makes all text UTF-8, whatever the locale says: what this process prints, and what those that it starts do."""
    os.environ.pop("PYTHONIOENCODING", None)
    os.environ["PYTHONUTF8"] = "1"
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def load_module(name: str) -> ModuleType:
    """Imports the module of a tool, which is in this folder or in the plug-in's.

    Raises:
        ModuleNotFoundError: if the tool needs something that is not installed, such as fairseq.
    """
    module = name.replace("-", "_")
    if find_spec(f"{__package__}.{module}") is None:
        return import_from_plugin(module)
    return importlib.import_module(f"{__package__}.{module}")


def make_parser(tool: Tool, module: ModuleType) -> ArgumentParser:
    """The parser of a tool's options; it is an option itself, so that `run` can reject some with ``parser.error``."""
    parser = ArgumentParser(
        prog=f"recurrent-mt {tool.name}",
        description=module.__doc__,
        epilog=f"example:\n  {tool.example}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.set_defaults(parser=parser)
    module.configure(parser)
    return parser


def list_tools() -> str:
    """All tools by group, each with a summary and an example."""
    about = "Tools for recurrent machine translation; recurrent-mt TOOL --help lists the options of one."
    return f"usage: recurrent-mt TOOL …\n\n{about}\n\n{INDEX}"


def describe_unknown(name: str) -> str:
    """The message for a tool that does not exist, with the closest one that does."""
    if name in RENAMED:
        return f"{name} is now {RENAMED[name]}: see recurrent-mt {RENAMED[name]} --help"
    import difflib  # only here: it takes longer to load than everything else

    close = difflib.get_close_matches(name, TOOLS, n=1)
    return f"there is no tool {name!r}: " + (f"did you mean {close[0]}?" if close else "see recurrent-mt --help")


def explain(error: Exception) -> str:
    """The message; for a missing library, also where to get it."""
    if isinstance(error, ModuleNotFoundError) and str(error).startswith("No module named"):
        return f"{error}: install it, or everything in requirements.txt"
    return str(error)

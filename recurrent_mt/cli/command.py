"""The index of tools, and the call of the one named on the command line.

Nothing but that one is loaded, so the index appears at once.
"""

from __future__ import annotations

import importlib
import os
import shlex
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib.util import find_spec
from io import TextIOWrapper
from typing import Any, NamedTuple

from ..plugin_finder import import_from_plugin

#: By purpose: each tool's name and summary in one line, an example in the next. A tool is the module of the same name,
#: with underscores, in this folder or in the plug-in's.
INDEX = """\
Experiments:
  experiment           run an experiment: train, translate, compare, report
      recurrent-mt experiment configs/experiments/quickstart.yaml pair=zh-en --jobs 2
  train                train the system of a configuration file with fairseq-train
      recurrent-mt train configs/rnnsearch-50.yaml task.data=DATA pair=fr-en
  translate            translate raw text with a trained model, or with one in the box
      recurrent-mt translate RUN MODEL.pt <input.fr >output.en

Scores and reports:
  compare              compare translations, or systems with their costs: BLEU, chrF, TER, METEOR; paired tests
      recurrent-mt compare --reference test.en --system a=a.en --system b=b.en --paired randomization
  analyze              show where translation breaks: scores by length, unknown words, frequency
      recurrent-mt analyze runs/quickstart-fr-en --out analysis
  report               make one HTML page: tables, charts, and a browser of all sentences
      recurrent-mt report runs/quickstart-fr-en --out report.html
  beams                print BLEU, length, and speed by beam, and draw the curve
      recurrent-mt beams --system mine=FOLDER --reference test.en --target-lang en --out beams
  learning-curves      draw validation loss against updates; one line per system, the mean of its seeds
      recurrent-mt learning-curves --system lstm=1/train.log,2/train.log --out curves.svg
  hypotheses           write the translations in a fairseq-generate log
      recurrent-mt hypotheses test.log --out test.hypotheses

Trained models:
  demo                 type a sentence and watch models translate it in a local web page
      recurrent-mt demo
  align                draw soft alignments; measure their entropy and alignment error rate
      recurrent-mt align --log test.log --sentences 0 3 --out alignments
  structure            draw the gates of a grConv; score its trees against gold trees
      recurrent-mt structure --checkpoint MODEL.pt --data DATA --source test.fr --out structure
  translate-segmented  translate long sentences in pieces
      recurrent-mt translate-segmented --forward FR-EN.pt --inverse EN-FR.pt --data DATA --input test.fr --out OUT
  count-operations     count a model's arithmetic per target token
      recurrent-mt count-operations --checkpoint MODEL.pt --data DATA
  shortlist            list the target words that each source word can become, for a faster search
      recurrent-mt shortlist --checkpoint MODEL.pt --data DATA --source train.fr --target train.en --out FILE
  factorize            make a low-rank model from a trained one
      recurrent-mt factorize --checkpoint MODEL.pt --rank 64 --save-dir DIR
  import-groundhog     turn a model from the authors' released code into a fairseq checkpoint
      recurrent-mt import-groundhog --params FILE.npz --save-dir DIR
  average              average the parameters of checkpoints, or take their moving averages
      recurrent-mt average checkpoint8.pt checkpoint9.pt checkpoint10.pt --out averaged.pt
  export               write a model as ONNX, in 32 or 8 bits, to translate without fairseq and PyTorch
      recurrent-mt export MODEL.pt --data DATA --out FOLDER
  pack                 pack trained models into a box: a distribution that others install and translate with
      recurrent-mt pack pretrained/fr-en.yaml --run RUN --out pretrained/fr-en gru=gru/checkpoint_best.pt
  build-kernels        compile the kernels in C++, which models run on where they are
      recurrent-mt build-kernels
  user-dir             print the folder to pass to fairseq as --user-dir
      recurrent-mt user-dir

Data:
  get                  get parallel text: published corpora by name, or local files
      recurrent-mt get local mine/train --pair fr-en --out text
  clean                clean parallel text, and report what was dropped and why
      recurrent-mt clean --source raw.fr --target raw.en --source-lang fr --target-lang en --out clean --report clean.md
  select               select the sentence pairs most similar to a domain
      recurrent-mt select --source clean.fr --target clean.en --source-lang fr --target-lang en --in-domain news --words 20M --out selected --report selected.md
  data-report          report what a prepared corpus holds
      recurrent-mt data-report --prepared text --dictionaries data --source-lang fr --target-lang en --out report.md
  words                tokenize, detokenize, or normalize text
      recurrent-mt words split --language fr <RAW >WORDS
  sentencepiece        learn a SentencePiece model, or split text with one
      recurrent-mt sentencepiece train --size 4000 --model model train.fr train.en
  synthetic-corpus     make a synthetic corpus with gold trees and alignments
      recurrent-mt synthetic-corpus --pair fr-en --out corpus

Ratings:
  rate                 draw sentences for people to rate blindly, in Pearmut
      recurrent-mt rate --source test.fr --system a=a.en --system b=b.en --out campaign.json
  ratings              score systems from the annotations that Pearmut has
      recurrent-mt ratings annotations.json --out ratings

Used by the workflow:
  training             run one training of an experiment; keep its log, its peak memory, and how it ended
      recurrent-mt training FOLDER fairseq-train DATA --arch lstm
  outcome              write why a step of an experiment failed
      recurrent-mt outcome test.outcome --log test.search --status 1
  limit-lengths        copy the sentence pairs of lengths that models take
      recurrent-mt limit-lengths text/train --pair fr-en --max 100 --out prepared/train
"""  # noqa: E501 (lines of the terminal)
#: Failures that a message explains: files, their contents, libraries. Anything else is a bug and shows a traceback.
EXPLAINED = (OSError, ValueError, RuntimeError, ModuleNotFoundError)


class Tool(NamedTuple):
    """A subcommand: its name, what it does, and an example of a command line."""

    name: str
    summary: str
    example: str


def read_index(text: str) -> dict[str, Tool]:
    """The tools of an index by name."""
    tools = {}
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("  "):
            name, summary = line.split(maxsplit=1)
            tools[name] = Tool(name, summary, next(lines).strip())
    return tools


TOOLS = read_index(INDEX)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a tool, or prints the list of tools.

    Args:
        arguments: the words of the command line; the process's own if None.

    Returns:
        The exit status: 0, 1 after a failure that the message explains, 2 if no tool is named, or the tool's own.

    Raises:
        SystemExit: after a tool's help, and with status 2 after options that it does not accept.
        KeyboardInterrupt: where the tool was stopped.
    """
    write_utf8()
    # What this process starts by `python -m` would look for modules in the folder of the call, a stranger's perhaps.
    os.environ["PYTHONSAFEPATH"] = "1"
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
        code = load_tool(name)
        parser = make_parser(TOOLS[name], code)
        options = parse(parser, code, words[1:])
        options.command_line = shlex.join(["recurrent-mt", *words])
        return code.run(options) or 0
    except EXPLAINED as error:
        print(f"error: {explain(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        # No traceback for whoever stops a tool. Python itself ends by the signal, which stops a shell's loop, too.
        sys.excepthook = lambda *_: None
        raise


def parse(parser: ArgumentParser, code: Any, words: Sequence[str]) -> Namespace:
    """Parses a tool's words. KEY=VALUE and the like may come before and after options, where the tool says so."""
    if not getattr(code, "OPTIONS_ANYWHERE", False):
        return parser.parse_args(words)
    flags = getattr(code, "AFTER_DASHES", None)
    # argparse reads such words twice, and the second time has forgotten which came after --.
    place = words.index("--") if flags and "--" in words else len(words)
    options = parser.parse_intermixed_args(words[:place])
    if flags:
        setattr(options, flags, [*getattr(options, flags), *words[place + 1 :]])
    return options


def write_utf8() -> None:
    """Makes all text UTF-8, whatever the locale says: what this process prints, and what those that it starts do."""
    os.environ.pop("PYTHONIOENCODING", None)
    os.environ["PYTHONUTF8"] = "1"
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def load_tool(name: str) -> Any:
    """Imports what has the functions of a tool: a module in this folder or in the plug-in's.

    Raises:
        ModuleNotFoundError: if the tool needs something that is not installed, such as fairseq.
    """
    place = name.replace("-", "_")
    if find_spec(f"{__package__}.{place}") is None:
        return import_from_plugin(place)
    return importlib.import_module(f"{__package__}.{place}")


def make_parser(tool: Tool, code: Any) -> ArgumentParser:
    """The parser of a tool's options; it is an option itself, so that `run` can reject some with ``parser.error``."""
    parser = ArgumentParser(
        prog=f"recurrent-mt {tool.name}",
        description=code.__doc__,
        epilog=f"example:\n  {tool.example}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.set_defaults(parser=parser)
    code.configure(parser)
    return parser


def list_tools() -> str:
    """All tools by group, each with a summary and an example."""
    about = "Tools for recurrent machine translation; recurrent-mt TOOL --help lists the options of one."
    return f"usage: recurrent-mt TOOL …\n\n{about}\n\n{INDEX}"


def describe_unknown(name: str) -> str:
    """The message for a tool that does not exist, with the closest one that does."""
    import difflib  # only here: it takes longer to load than everything else

    close = difflib.get_close_matches(name, TOOLS, n=1)
    return f"there is no tool {name!r}: " + (f"did you mean {close[0]}?" if close else "see recurrent-mt --help")


def explain(error: Exception) -> str:
    """What a failed tool says; of a missing library, also where to get it."""
    if isinstance(error, ModuleNotFoundError) and str(error).startswith("No module named"):
        return f'{error}: docs/start/install.md says which pip install ".[…]" brings what this tool needs'
    return str(error)

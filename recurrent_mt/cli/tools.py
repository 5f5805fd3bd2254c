"""The list of tools: what ``recurrent-mt --help`` prints."""

from __future__ import annotations

from typing import NamedTuple


class Tool(NamedTuple):
    """A subcommand.

    Attributes:
        name: as on the command line; the module has the same name, with underscores.
        summary: what it does, in one line.
        example: a command line.
        needs_fairseq: whether the module is one of the plug-in's.
    """

    name: str
    summary: str
    example: str
    needs_fairseq: bool = False


class Group(NamedTuple):
    """Tools for one purpose."""

    title: str
    tools: tuple[Tool, ...]


GROUPS = (
    Group(
        "Experiments",
        (
            Tool(
                "experiment",
                "run an experiment: train, translate, compare, report",
                "recurrent-mt experiment configs/experiments/quickstart.yaml pair=zh-en --jobs 2",
            ),
            Tool(
                "train",
                "train the system of a configuration file with fairseq-train",
                "recurrent-mt train configs/rnnsearch-50.yaml task.data=DATA pair=fr-en",
            ),
            Tool(
                "translate",
                "translate raw text with a trained model",
                "recurrent-mt translate RUN MODEL.pt <input.fr >output.en",
            ),
        ),
    ),
    Group(
        "Scores and reports",
        (
            Tool(
                "score",
                "score translations: BLEU, chrF, TER, METEOR; intervals and paired tests",
                "recurrent-mt score --reference test.en --system a=a.en --system b=b.en --paired bootstrap",
            ),
            Tool(
                "score-run",
                "score translations of a run's test set",
                "recurrent-mt score-run runs/quickstart-fr-en mine=mine.en",
            ),
            Tool(
                "analyze",
                "show where translation breaks: scores by length, unknown words, frequency",
                "recurrent-mt analyze runs/quickstart-fr-en --out analysis",
            ),
            Tool(
                "report",
                "make one HTML page: tables, charts, and a browser of all sentences",
                "recurrent-mt report runs/quickstart-fr-en --out report.html",
            ),
            Tool(
                "compare",
                "print what the systems of a run score and what they cost",
                "recurrent-mt compare runs/baselines --models lstm,rnnsearch --seeds 1,2 --out table",
            ),
            Tool(
                "beams",
                "print BLEU, length, and speed by beam, and draw the curve",
                "recurrent-mt beams --system mine=FOLDER --reference test.en --target-lang en --out beams",
            ),
            Tool(
                "learning-curves",
                "draw validation loss against updates; one line a system, the mean of its seeds",
                "recurrent-mt learning-curves --system lstm=1/train.log,2/train.log --out curves.svg",
            ),
            Tool(
                "ablation-table",
                "print the table of an ablation and draw its plots",
                "recurrent-mt ablation-table RUN --name rank --systems base,rank-64 --baseline base --out table",
            ),
            Tool(
                "hypotheses",
                "write the translations in a fairseq-generate log",
                "recurrent-mt hypotheses test.log --out test.hypotheses",
            ),
        ),
    ),
    Group(
        "Trained models",
        (
            Tool(
                "demo",
                "type a sentence and watch models translate it, on a page of this machine",
                "recurrent-mt demo runs/quickstart-fr-en",
            ),
            Tool(
                "align",
                "draw soft alignments; measure their entropy and alignment error rate",
                "recurrent-mt align --log test.log --sentences 0 3 --out alignments",
            ),
            Tool(
                "structure",
                "draw the pyramids of a grConv; score its trees against gold trees",
                "recurrent-mt structure --checkpoint MODEL.pt --data DATA --source test.fr --out structure",
            ),
            Tool(
                "translate-segmented",
                "translate long sentences in pieces",
                "recurrent-mt translate-segmented --forward FR-EN.pt --inverse EN-FR.pt --data DATA "
                "--input test.fr --out OUT",
                needs_fairseq=True,
            ),
            Tool(
                "count-operations",
                "count a model's arithmetic per target token",
                "recurrent-mt count-operations --checkpoint MODEL.pt --data DATA",
                needs_fairseq=True,
            ),
            Tool(
                "factorize",
                "make a low-rank model from a trained one",
                "recurrent-mt factorize --checkpoint MODEL.pt --rank 64 --save-dir DIR",
                needs_fairseq=True,
            ),
            Tool(
                "import-groundhog",
                "turn a model from the authors' released code into a fairseq checkpoint",
                "recurrent-mt import-groundhog --params FILE.npz --save-dir DIR",
                needs_fairseq=True,
            ),
            Tool(
                "average",
                "average the parameters of checkpoints, or take their moving averages",
                "recurrent-mt average checkpoint8.pt checkpoint9.pt checkpoint10.pt --out averaged.pt",
                needs_fairseq=True,
            ),
            Tool(
                "export",
                "write a model as ONNX, in 32 or 8 bits",
                "recurrent-mt export MODEL.pt --data DATA --out FOLDER",
                needs_fairseq=True,
            ),
            Tool(
                "translate-onnx",
                "translate with an exported model, without fairseq and PyTorch",
                "recurrent-mt translate-onnx FOLDER --input test.fr --out test.en",
            ),
            Tool(
                "user-dir",
                "print the folder to pass to fairseq as --user-dir",
                "recurrent-mt user-dir",
            ),
        ),
    ),
    Group(
        "Data",
        (
            Tool(
                "get",
                "get parallel text: published corpora by name, or local files",
                "recurrent-mt get local mine/train --pair fr-en --out text",
            ),
            Tool(
                "clean",
                "clean parallel text, and report what was dropped and why",
                "recurrent-mt clean --source raw.fr --target raw.en --source-lang fr --target-lang en "
                "--out clean --report clean.md",
            ),
            Tool(
                "select",
                "select the sentence pairs most similar to a domain",
                "recurrent-mt select --source clean.fr --target clean.en --source-lang fr --target-lang en "
                "--in-domain news --words 20M --out selected --report selected.md",
            ),
            Tool(
                "data-report",
                "report what a prepared corpus holds",
                "recurrent-mt data-report --prepared text --dictionaries data --source-lang fr --target-lang en "
                "--out report.md",
            ),
            Tool(
                "words",
                "tokenize, detokenize, or normalize text",
                "recurrent-mt words split --language fr <RAW >WORDS",
            ),
            Tool(
                "sentencepiece",
                "learn a SentencePiece model, or split text with one",
                "recurrent-mt sentencepiece train --size 4000 --model model train.fr train.en",
            ),
            Tool(
                "synthetic-corpus",
                "make a synthetic corpus with gold trees and alignments",
                "recurrent-mt synthetic-corpus --pair fr-en --out corpus",
            ),
            Tool(
                "word-vectors",
                "train skip-gram vectors for --encoder-embed-path",
                "recurrent-mt word-vectors --text train.fr --dictionary data/dict.fr.txt --size 256 --out fr.vec",
            ),
        ),
    ),
    Group(
        "Ratings",
        (
            Tool(
                "rate",
                "make a page for blind rating of translations",
                "recurrent-mt rate --source test.fr --system a=a.en --system b=b.en --out page.html",
            ),
            Tool(
                "ratings",
                "score systems from the ratings that people send back",
                "recurrent-mt ratings anna.json ben.json --key page.html.key.json --out ratings",
            ),
        ),
    ),
    Group(
        "The workflow's own",
        (
            Tool(
                "choose-rate",
                "choose a learning rate by validation loss",
                "recurrent-mt choose-rate runs/rates/lstm --seed 1 --rates 1e-3,3e-4",
            ),
            Tool(
                "training",
                "run one training of an experiment; keep its log and its peak memory",
                "recurrent-mt training FOLDER fairseq-train DATA --arch lstm",
            ),
            Tool(
                "limit-lengths",
                "copy the sentence pairs of lengths that models take",
                "recurrent-mt limit-lengths text/train --pair fr-en --max 100 --out prepared/train",
            ),
        ),
    ),
)

TOOLS = {tool.name: tool for group in GROUPS for tool in group.tools}

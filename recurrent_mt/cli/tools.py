"""The index of tools, as ``recurrent-mt --help`` prints it, without loading any of them."""

from __future__ import annotations

import re
from typing import NamedTuple

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
      recurrent-mt compare --reference test.en --system a=a.en --system b=b.en --paired bootstrap
  analyze              show where translation breaks: scores by length, unknown words, frequency
      recurrent-mt analyze runs/quickstart-fr-en --out analysis
  report               make one HTML page: tables, charts, and a browser of all sentences
      recurrent-mt report runs/quickstart-fr-en --out report.html
  samples              show the translations with the best, the median, and the worst chrF
      recurrent-mt samples --source test.fr --reference test.en --system mine=mine.en
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
  factorize            make a low-rank model from a trained one
      recurrent-mt factorize --checkpoint MODEL.pt --rank 64 --save-dir DIR
  import-groundhog     turn a model from the authors' released code into a fairseq checkpoint
      recurrent-mt import-groundhog --params FILE.npz --save-dir DIR
  average              average the parameters of checkpoints, or take their moving averages
      recurrent-mt average checkpoint8.pt checkpoint9.pt checkpoint10.pt --out averaged.pt
  export               write a model as ONNX, in 32 or 8 bits
      recurrent-mt export MODEL.pt --data DATA --out FOLDER
  translate-onnx       translate with an exported model, without fairseq and PyTorch
      recurrent-mt translate-onnx FOLDER --input test.fr --out test.en
  pack                 pack trained models into a box: a distribution that others install and translate with
      recurrent-mt pack pretrained/fr-en.yaml --run RUN --out pretrained/fr-en gru=gru/checkpoint_best.pt
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
  word-vectors         train skip-gram vectors for --encoder-embed-path
      recurrent-mt word-vectors --text train.fr --dictionary data/dict.fr.txt --size 256 --out fr.vec

Ratings:
  rate                 make a page for blind rating of translations
      recurrent-mt rate --source test.fr --system a=a.en --system b=b.en --out page.html
  ratings              score systems from the ratings that people send back
      recurrent-mt ratings anna.json ben.json --key page.html.key.json --out ratings

Used by the workflow:
  choose-rate          choose a learning rate by validation loss
      recurrent-mt choose-rate runs/rates/lstm --seed 1 --rates 1e-3,3e-4
  training             run one training of an experiment; keep its log, its peak memory, and how it ended
      recurrent-mt training FOLDER fairseq-train DATA --arch lstm
  outcome              write why a step of an experiment failed
      recurrent-mt outcome test.outcome --log test.search --status 1
  limit-lengths        copy the sentence pairs of lengths that models take
      recurrent-mt limit-lengths text/train --pair fr-en --max 100 --out prepared/train
"""  # noqa: E501 (lines of the terminal)


class Tool(NamedTuple):
    """A subcommand: its name, what it does, and an example of a command line."""

    name: str
    summary: str
    example: str


#: Names of earlier versions -> the tool that does it now.
RENAMED = dict.fromkeys(("score", "score-run", "ablation-table"), "compare")

TOOLS = {name: Tool(name, *texts) for name, *texts in re.findall(r"^  (\S+) +(.+)\n {6}(.+)$", INDEX, re.MULTILINE)}

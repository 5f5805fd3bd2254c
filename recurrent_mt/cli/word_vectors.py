"""Trains skip-gram vectors on the text that a model is trained on, for --encoder-embed-path and --decoder-embed-path.

    recurrent-mt word-vectors --text train.fr --dictionary DATA/dict.fr.txt --size 256 --out fr.vec
    fairseq-train DATA --user-dir "$(recurrent-mt user-dir)" --encoder-embed-path fr.vec --encoder-embed-dim 256 …

Text is tokenized and segmented as for fairseq-preprocess. Words missing from the dictionary are <unk>, and every
sentence ends with </s>, so both have vectors. A dictionary word missing from the text has none; a model initializes it
randomly.

Two languages in one space, either by an orthogonal map on a seed lexicon, one "word translation" per line (Xing et al.
2015; Smith et al. 2017), or through shared subwords: text and dictionary of both, for --share-all-embeddings:

    recurrent-mt word-vectors --text train.en --out en.vec --map-to fr.vec --lexicon lexicon.en-fr …
    recurrent-mt word-vectors --text train.fr train.en --dictionary DATA/dict.fr.txt --out joint.vec …
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

from ..arguments import natural
from ..data.word_vectors import (
    UNKNOWN,
    TrainingText,
    WordVectors,
    apply_map,
    covered_pairs,
    fit_map,
    frequent_words,
    precision_at_one,
    read_lexicon,
    read_vectors,
    train_skip_gram,
    write_vectors,
)
from ..text_files import check_output_files, read_dictionary


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--text", type=Path, nargs="+", required=True, help="files, one sentence per line")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    words = parser.add_mutually_exclusive_group()
    words.add_argument("--dictionary", type=Path, help="dictionary of fairseq-preprocess: no other words get a vector")
    words.add_argument(
        "--min-count", type=int, default=5, help="without a dictionary, rarer words are <unk> (default: 5)"
    )
    parser.add_argument("--size", type=int, default=512, help="size of a vector, --encoder-embed-dim (default: 512)")
    parser.add_argument("--window", type=int, default=5, help="the most words on either side (default: 5)")
    parser.add_argument("--negatives", type=int, default=5, help="random words for each predicted one (default: 5)")
    parser.add_argument("--epochs", type=int, default=20, help="passes over the text (default: 20)")
    parser.add_argument("--seed", type=natural, default=1, help="the same seed gives the same vectors (default: 1)")
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        help="threads; with more than one, no two runs are alike, because threads write in no fixed order (default: 1)",
    )
    parser.add_argument("--map-to", type=Path, help="vectors of the other language, which are not changed")
    parser.add_argument("--lexicon", type=Path, help="words with translations, for --map-to")
    parser.add_argument("--test-lexicon", type=Path, help="other words, whose nearest neighbors are checked")


def run(options: argparse.Namespace) -> None:
    """Trains the vectors, maps them if asked to, and writes them."""
    if (options.map_to is None) != (options.lexicon is None):
        options.parser.error("--map-to and --lexicon need each other")
    if options.test_lexicon and not options.lexicon:
        options.parser.error("--test-lexicon needs --map-to and --lexicon")
    others = (options.dictionary, options.map_to, options.lexicon, options.test_lexicon)
    check_output_files([*options.text, *filter(None, others)], [options.out])
    # Report whatever is wrong with the other files before training.
    target = read_vectors(options.map_to) if options.map_to else None
    lexicons = [read_lexicon(path) if path else [] for path in (options.lexicon, options.test_lexicon)]
    if target is not None and target.size != options.size:
        raise ValueError(f"--size {options.size} cannot be mapped onto the {target.size} numbers of {options.map_to}")
    vectors = train_vectors(options)
    if target is not None:
        vectors = map_vectors(target, vectors, *lexicons)
    write_vectors(options.out, vectors)
    print(f"{options.out}: {len(vectors.words)} vectors of {vectors.size} numbers")


def train_vectors(options: argparse.Namespace) -> WordVectors:
    """The vectors of the text; prints how well the words cover it and how long training took.

    Raises:
        ValueError: if none of the words occurs.
    """
    dictionary = options.dictionary
    known = frozenset(read_dictionary(dictionary)) if dictionary else frequent_words(options.text, options.min_count)
    text = TrainingText(options.text, known)
    counts = Counter(word for sentence in text for word in sentence)
    missing = len(known - counts.keys())
    if missing == len(known):
        raise ValueError(f"no word of {dictionary} occurs in {', '.join(map(str, options.text))}")
    share = 100 * counts[UNKNOWN] / counts.total()
    print(f"{counts.total()} tokens, {share:.2f}% <unk>; {missing} of {len(known)} words do not occur", flush=True)
    start = time.monotonic()
    names = "size", "window", "negatives", "epochs", "seed", "workers"
    vectors = train_skip_gram(text, **{name: getattr(options, name) for name in names})
    print(f"trained in {time.monotonic() - start:.1f} s")
    return vectors


def map_vectors(
    target: WordVectors, vectors: WordVectors, lexicon: list[tuple[str, str]], test_lexicon: list[tuple[str, str]]
) -> WordVectors:
    """The vectors, mapped; says how much of the lexicons was of use."""
    pairs = covered_pairs(lexicon, vectors, target)
    result = apply_map(vectors, fit_map(pairs, vectors, target))
    print(f"mapped on {len(pairs)} pairs of the lexicon; {len(lexicon) - len(pairs)} have a word without a vector")
    if test_lexicon:
        held_out = covered_pairs(test_lexicon, result, target)
        precision = precision_at_one(held_out, result, target)
        words = len({word for word, _ in held_out})
        print(f"precision@1 on the test lexicon: {100 * precision:.1f}% of {words} words that have vectors")
    return result

"""recurrent-mt select as it is called, on a mixture of two made-up domains."""

import gzip
import json
import random
from functools import partial

import numpy as np
import pytest

from recurrent_mt.data import selection
from recurrent_mt.data.parallel_text import read_blocks
from recurrent_mt.data.selection import take_lowest
from tests.data.tools import read_lines, run, write_lines, write_pairs

LANGUAGES = ("--source-lang", "fr", "--target-lang", "en")
CLOSED = [("le", "the"), ("un", "a"), ("petit", "small"), ("grand", "big"), ("et", "and"), ("avec", "with")]
KITCHEN = [(f"plat{n}", f"dish{n}") for n in range(60)]
HARBOR = [(f"quai{n}", f"quay{n}") for n in range(60)]
BOTH = [(f"mot{n}", f"word{n}") for n in range(60)]


def domain(own, pairs, seed):
    """Sentences of words of one domain, of both, and of closed classes."""
    rng = random.Random(seed)
    lines = []
    for _ in range(pairs):
        words = [rng.choice(rng.choice((own, BOTH, CLOSED))) for _ in range(rng.randint(4, 12))]
        words[rng.randrange(len(words))] = rng.choice(own)
        lines.append(tuple(" ".join(word[side] for word in words) for side in (0, 1)))
    return lines


@pytest.fixture(scope="module")
def mixture(tmp_path_factory, request):
    """A tenth of the corpus is of the domain. It is read in two blocks."""
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(selection, "read_blocks", partial(read_blocks, size=2000))
    request.addfinalizer(monkeypatch.undo)
    folder = tmp_path_factory.mktemp("mixture")
    pairs = [*domain(KITCHEN, 300, 1), *domain(HARBOR, 2700, 2)]
    random.Random(0).shuffle(pairs)
    write_pairs(folder, "in", domain(KITCHEN, 400, 3))
    return folder, write_pairs(folder, "corpus", pairs), pairs


def select(out, mixture, *options, words=1500, check=True):
    folder, (source, target), _ = mixture
    files = ("--source", source, "--target", target, *LANGUAGES, "--in-domain", folder / "in", "--words", words)
    given = (*files, "--out", out, "--report", f"{out}.md", "--jobs", 1, *options)
    return run("select", *given, check=check)


@pytest.fixture(scope="module")
def selected(mixture):
    out = mixture[0] / "out" / "selected"
    return out, select(out, mixture)


def test_the_domain_is_found(mixture, selected):
    out, done = selected
    lines = read_lines(out.with_name("selected.fr"))
    kitchen = sum("plat" in line for line in lines)
    harbor = sum("quai" in line for line in lines)
    assert kitchen > 0.97 * len(lines) and harbor < 0.03 * len(lines)  # by chance: 0.1, 0.9
    assert f"{len(lines):,} of 3,000 pairs selected" in done.stdout


def test_words_are_filled_in_the_order_of_the_corpus(mixture, selected):
    out, _ = selected
    pairs = list(zip(read_lines(out.with_name("selected.fr")), read_lines(out.with_name("selected.en")), strict=True))
    words = sum(len(source.split()) for source, _ in pairs)
    assert 1500 <= words < 1512
    rest = iter(mixture[2])
    assert all(pair in rest for pair in pairs)  # a subsequence


def test_the_report(selected):
    out, _ = selected
    report = json.loads(out.with_name("selected.json").read_text())
    assert report["pairs"] == 3000 and report["in_domain_pairs"] == report["sampled_pairs"] == 400
    assert report["selected_pairs"] == len(read_lines(out.with_name("selected.fr")))
    assert report["mean_score_selected"] < report["highest_selected"] < report["mean_score_others"] + 5
    text = out.with_name("selected.md").read_text()
    assert "1,500 words of the source were asked for.\n" in text and "| corpus | 3,000 |" in text
    assert sorted(path.name for path in out.parent.iterdir()) == [
        f"selected.{end}" for end in ("en", "fr", "json", "md")
    ]


def test_the_same_of_a_compressed_corpus_in_two_processes(mixture, selected, tmp_path):
    folder, (source, target), pairs = mixture
    packed = tmp_path / "corpus.fr.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    select(tmp_path / "selected", (folder, (packed, target), pairs), "--jobs", 2, words="0.0015M")
    for ending in ("fr", "en", "md", "json"):
        expected = selected[0].with_name(f"selected.{ending}").read_bytes()
        assert (tmp_path / f"selected.{ending}").read_bytes() == expected


@pytest.mark.parametrize(("wanted", "digits"), [(500, 0), (40_000, 7)])
def test_the_lowest_scores_are_taken_and_the_earlier_of_equals(wanted, digits):
    rng = np.random.default_rng(wanted)
    scores = rng.normal(0, 3, 5000).round(digits).astype(np.float32)
    words = rng.integers(0, 20, 5000).astype(np.uint32)
    expected, filled = set(), 0
    for index in sorted(range(5000), key=lambda index: (scores[index], index)):
        if filled >= wanted:
            break
        expected.add(index)
        filled += int(words[index])
    assert set(np.flatnonzero(take_lowest(scores, words, wanted))) == expected


def test_more_words_than_there_are(mixture, tmp_path):
    done = select(tmp_path / "all", mixture, words="1G")
    assert "3,000 of 3,000 pairs selected" in done.stdout
    assert (tmp_path / "all.fr").read_bytes() == mixture[1][0].read_bytes()
    assert "The corpus has no more: all of it is selected." in (tmp_path / "all.md").read_text()


@pytest.mark.parametrize("words", ["0", "12T"])
def test_words_must_be_a_number(mixture, tmp_path, words):
    done = select(tmp_path / "selected", mixture, f"--words={words}", check=False)
    assert done.returncode == 2 and f"'{words}' is not a number of words" in done.stderr


def test_failures_are_named_and_leave_nothing(mixture, tmp_path):
    folder, files, pairs = mixture
    out = tmp_path / "out" / "selected"
    short = write_lines(tmp_path / "short.en", ["a"])
    done = select(out, (folder, (files[0], short), pairs), check=False)
    assert done.returncode == 1 and f"has 3000 lines and {short} has 1" in done.stderr
    done = select(out, (tmp_path, files, pairs), check=False)
    assert done.returncode == 1 and "there is no such file" in done.stderr
    write_pairs(tmp_path, "in", [("un deux trois", "one two three")])
    done = select(out, (tmp_path, files, pairs), check=False)
    assert done.returncode == 1 and "no word occurs 2 times in the in-domain text" in done.stderr
    assert not out.parent.exists() or not any(out.parent.iterdir())
    for inputs in ("corpus", "in"):
        done = select(folder / inputs, mixture, check=False)
        assert "would be overwritten" in done.stderr

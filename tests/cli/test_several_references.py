"""Several references of the same sentences: every tool scores with all, as sacrebleu does, and shows the first."""

import json

import pytest
import sacrebleu

from recurrent_mt.evaluation.analysis import analyze_files
from recurrent_mt.metrics import METRICS, statistics
from tests.commands import call

TEXTS = {
    "fr": ["un chien court dans le parc", "un chat noir dort sur le lit", "deux hommes rient très fort ici"],
    "en": ["a dog runs in the park", "a black cat sleeps on the bed", "two men laugh very loudly here"],
    "en2": ["the dog is running in the park", "the cat sleeps on the bed now", "here two men laugh out loud"],
    "mine": ["the dog runs in the park", "the cat sleeps on the bed", "two men laugh out loud here"],
}
REFERENCES = [TEXTS["en"], TEXTS["en2"]]
EXPECTED = {
    "BLEU": sacrebleu.corpus_bleu(TEXTS["mine"], REFERENCES).score,
    "chrF2": sacrebleu.corpus_chrf(TEXTS["mine"], REFERENCES).score,
    "TER": sacrebleu.corpus_ter(TEXTS["mine"], REFERENCES).score,
}


@pytest.fixture
def files(tmp_path):
    for name, lines in TEXTS.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def both(files):
    return "--reference", files / "en", "--reference", files / "en2", "--system", f"mine={files / 'mine'}"


def scores(file):
    content = json.loads(file.read_text())
    found = {one["metric"]: one["value"] for one in content["records"] if one["by"] == "all" and not one["seed"]}
    signatures = (content["test_sets"][0] if "test_sets" in content else content)["signatures"]
    assert all(signature.startswith("nrefs:2|") for signature in signatures.values())
    return {metric: found[metric] for metric in EXPECTED}


def test_compare_scores_with_all(files):
    done = call("compare", *both(files), "--out", files / "table")
    assert done.returncode == 0, done.stderr
    assert scores(files / "table.json") == EXPECTED
    assert EXPECTED["BLEU"] > 15 + sacrebleu.corpus_bleu(TEXTS["mine"], REFERENCES[1:]).score


def test_analyze_scores_with_all_and_counts_words_in_the_first(files):
    done = call("analyze", *both(files), "--source", files / "fr", "--resamples", 0, "--out", files / "a")
    assert done.returncode == 0, done.stderr
    assert scores(files / "a" / "analysis.json") == EXPECTED
    found = analyze_files([files / "en", files / "en2"], {"mine": files / "mine"})
    assert found.test_set.reference == TEXTS["en"] and [len(words) for words in found.test_set.reference_words] == [
        len(line.split()) for line in TEXTS["en"]
    ]
    expected = [sacrebleu.sentence_chrf(*pair).score for pair in zip(TEXTS["mine"], map(list, zip(*REFERENCES)))]
    assert found.sentence_scores["mine"] == pytest.approx(expected)


def test_meteor_takes_the_best_of_them():
    alone = [statistics("meteor", TEXTS["mine"], side).score_sentences() for side in REFERENCES]
    found = statistics("meteor", TEXTS["mine"], TEXTS["en"], further_references=[TEXTS["en2"]])
    assert found.score_sentences() == pytest.approx(list(map(max, *alone)))


@pytest.mark.parametrize("metric", METRICS)
def test_the_same_reference_twice_changes_no_score(metric):
    once = statistics(metric, TEXTS["mine"], TEXTS["en"]).score()
    twice = statistics(metric, TEXTS["mine"], TEXTS["en"], further_references=[TEXTS["en"]]).score()
    assert twice.value == once.value and twice.signature == once.signature.replace("nrefs:1", "nrefs:2")


def test_references_of_other_lengths_are_named(files):
    (files / "en2").write_text("one line\n")
    done = call("compare", *both(files))
    assert done.returncode == 1 and f"{files / 'en2'}: 1 lines, but" in done.stderr
    with pytest.raises(ValueError, match="3 hypotheses for 1 references"):
        statistics("bleu", TEXTS["mine"], TEXTS["en"], further_references=[["one"]])

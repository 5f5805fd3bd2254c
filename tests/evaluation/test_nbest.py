"""N-best lists: their reader, what can be reached by choosing from them, and files that do not belong together."""

import re
import statistics

import pytest

from recurrent_mt.evaluation.analysis import analyze
from recurrent_mt.evaluation.generate_log import (
    ListedHypothesis,
    collect_lists,
    read_detokenized_lists,
    read_generate_log,
)
from recurrent_mt.evaluation.nbest import score_lists
from recurrent_mt.evaluation.scores import Settings
from recurrent_mt.evaluation.tables import tables_as_text
from recurrent_mt.evaluation.translated_files import read_run_systems, read_runs
from recurrent_mt.metrics import score as corpus_score
from recurrent_mt.runs.folder import RunFolder
from recurrent_mt.text_files import FileError
from tests.evaluation.logs import generate_log, write
from tests.evaluation.test_analysis import make_run, write_lines
from tests.evaluation.test_sets import small

BEST = [f"best {number}" for number in range(3)]


def listed(*texts):
    return [ListedHypothesis(-float(rank), text) for rank, text in enumerate(texts)]


def read(path):
    return collect_lists(read_generate_log(path), path)


def test_each_sentence_has_its_hypotheses_with_scores_in_corpus_order(tmp_path):
    lists = read(write(tmp_path / "log", generate_log(translations=2)))
    assert [[(one.score, one.text) for one in hypotheses] for hypotheses in lists] == [
        [(-0.25, f"translation {number}, 0"), (-1.25, f"translation {number}, 1")] for number in range(3)
    ]


def test_lists_may_differ_in_length(tmp_path):
    lines = [line for line in generate_log(translations=2) if not re.match(r"[HDPA]-1\t.*(-1\.25|0-0)", line)]
    del lines[[line.startswith("P-1") for line in lines].index(True)]
    assert [len(one) for one in read(write(tmp_path / "log", lines))] == [2, 1, 2]


def test_a_log_of_single_translations_has_no_lists(tmp_path):
    assert read(write(tmp_path / "log", generate_log())) is None


def test_a_list_that_does_not_begin_with_its_best_is_named(tmp_path):
    lines = [line.replace("-1.25", "-0.125") if "-0\t" in line else line for line in generate_log(translations=2)]
    with pytest.raises(
        FileError, match=r"log, line 18: a hypothesis of sentence 0 has a score of -0\.125, but .* -0\.25"
    ):
        read(write(tmp_path / "log", lines))


@pytest.mark.parametrize("score", ["nan", "-inf", "1e999"])
def test_a_score_that_no_search_gives_is_named_with_its_line(tmp_path, score):
    lines = [line.replace("-1.25", score) if "-0\t" in line else line for line in generate_log(translations=2)]
    with pytest.raises(FileError, match=rf"log, line 18: a hypothesis of sentence 0 has a score of {float(score)}:"):
        read(write(tmp_path / "log", lines))


def test_a_hypothesis_that_is_not_whole_is_named_with_its_line(tmp_path):
    lines = generate_log(translations=2)
    lost = next(index for index, line in enumerate(lines) if line.startswith("D-0\t-1.25"))
    with pytest.raises(FileError, match=f"line {lost}: a translation of sentence 0 lacks its D or P line"):
        read(write(tmp_path / "log", lines[:lost] + lines[lost + 1 :]))


def detokenized(tmp_path, *, lines=None, translations=BEST):
    text = tmp_path / "test.nbest"
    write_lines(text, lines or [line for best in BEST for line in (best, "another")])
    return read_detokenized_lists(write(tmp_path / "log", generate_log(translations=2)), text, translations)


def test_detokenized_text_takes_the_scores_of_the_log(tmp_path):
    lists = detokenized(tmp_path)
    assert [[one.text for one in hypotheses] for hypotheses in lists] == [[best, "another"] for best in BEST]
    assert {tuple(one.score for one in hypotheses) for hypotheses in lists} == {(-0.25, -1.25)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lines": BEST}, r"test\.nbest: 3 lines, but .*log has 6 hypotheses"),
        ({"translations": BEST[:2]}, r"log: 3 sentences, but there are 2 translations"),
        (
            {"translations": [*BEST[:2], "x"]},
            r"test\.nbest, line 5: the best hypothesis of sentence 2 is not its trans",
        ),
    ],
)
def test_files_that_do_not_belong_together_are_named(tmp_path, changes, message):
    with pytest.raises(FileError, match=message):
        detokenized(tmp_path, **changes)


def score(lists, test_set):
    return score_lists("x", lists, test_set)


def reached_by(records):
    return {one.bucket: one.value for one in records if one.metric == "sentence chrF, best of n"}


def test_the_best_of_n_is_the_mean_of_the_best_sentences():
    test_set = small()
    lists = [listed("nothing here", reference, "worse") for reference in test_set.reference]
    lists[0] = listed(test_set.reference[0], "x")
    lists[1] = listed("no")
    records, sentence_scores = score(lists, test_set)
    first = [row[0] for row in sentence_scores]
    best = (100 + first[1] + 4 * 100) / 6
    expected = {"1": sum(first) / 6, "2": best, "3": best}
    assert reached_by(records) == pytest.approx(expected) and expected["1"] < expected["2"]
    others = {one.metric: one.value for one in records if one.bucket == "all"}
    assert others == {"hypotheses": (2 + 1 + 4 * 3) / 6, "first is best, %": pytest.approx(200 / 6)}
    assert [len(row) for row in sentence_scores] == [2, 1, 3, 3, 3, 3]
    assert sentence_scores[2][1] == pytest.approx(100)


def test_the_best_of_more_is_never_worse():
    """By chrF, the shorter one is the better one here, and by BLEU of the whole corpus the worse."""
    reference = "a small dog runs across the wide green field today"
    test_set = small(reference=[reference] * 6)
    lists = [
        listed("a small dog runs xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "asmall dogruns acrossthe widegreen fieldtoday")
    ] * 6
    records, (scores, *_) = score(lists, test_set)
    bleu = [corpus_score("bleu", [one.text] * 6, test_set.reference).value for one in lists[0]]
    assert scores[0] < scores[1] and bleu[0] > bleu[1]
    reached = reached_by(records)
    assert reached["1"] < reached["2"]


def test_of_equal_hypotheses_the_first_is_taken():
    test_set = small()
    lists = [listed(reference.upper(), reference) for reference in test_set.reference]
    blind = small(lowercase=True)
    assert score(lists, blind)[0][-1].value == 100
    assert score(lists, test_set)[0][-1].value == 0
    with pytest.raises(ValueError, match="5 n-best lists for 6 references"):
        score(lists[1:], test_set)


def keep_lists(run, system, *, others=("the cat", "zebra")):
    """n-best lists as the recipe leaves them: the translations of the first seed, then always the same others."""
    folder = run / "systems" / system / "seed-1"
    translations = (folder / "test.detokenized").read_text().splitlines()
    lines, texts = [], []
    for number, translation in enumerate(translations):
        for rank, text in enumerate([translation, *others]):
            lines += [f"H-{number}\t-{rank}.5\ttokens", f"D-{number}\t-{rank}.5\ttokens", f"P-{number}\t-0.5"]
            texts.append(text)
    write(folder / "test.log", [*lines, "Generate test with beam=3: BLEU4 = 1"])
    write_lines(folder / "test.nbest", texts)
    return folder


def test_a_run_folder_with_lists_has_them_in_its_study(tmp_path):
    run = make_run(tmp_path / "run")
    keep_lists(run, "forgetful")
    test_set, systems, _ = read_runs([run])
    assert [system.nbest is None for system in systems] == [False, True]
    assert [one.text for one in systems[0].nbest[3]] == [systems[0].translations["1"][3], "the cat", "zebra"]
    result = analyze(test_set, systems, settings=Settings(metrics=("bleu",), detailed=(), resamples=0))
    assert list(result.hypothesis_scores) == ["forgetful"]
    first_seed = statistics.mean(row[0] for row in result.hypothesis_scores["forgetful"])
    text = tables_as_text(result.list_tables())
    rows = [line.split() for line in text.splitlines() if line.startswith("forgetful")]
    assert rows[-1][1:3] == ["3.0", f"{first_seed:.2f}"]
    assert "Sentence chrF of the best in the n-best lists" in text


def test_two_runs_keep_their_lists_under_their_new_names(tmp_path):
    runs = [make_run(tmp_path / name) for name in ("one", "two")]
    keep_lists(runs[1], "perfect")
    _, systems, _ = read_runs(runs)
    assert [system.name for system in systems if system.nbest] == ["two/perfect"]


def test_lists_of_another_translation_are_refused(tmp_path):
    run = make_run(tmp_path / "run")
    folder = keep_lists(run, "perfect")
    write_lines(folder / "test.detokenized", ["a cat"] * 30)
    with pytest.raises(FileError, match=r"perfect/seed-1/test\.nbest, line 4: .*made from another log"):
        read_run_systems(RunFolder(run))

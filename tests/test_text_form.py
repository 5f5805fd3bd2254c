"""How text becomes tokens and back is known in one place, and read once from a run folder."""

import re

import pytest

from recurrent_mt.runs.experiment import PROJECT, Experiment, read_experiment
from recurrent_mt.runs.folder import RunFolder
from recurrent_mt.runs.plan import make_plan
from recurrent_mt.runs.view import record_options
from recurrent_mt.text_files import FileError
from recurrent_mt.text_form import MOST_LEARNED, TextForm, read_text_form

#: The class, the pieces it is made of, and the tool that learns SentencePiece's.
KNOWING = {"recurrent_mt/text_form.py", "recurrent_mt/subwords.py", "recurrent_mt/cli/sentencepiece.py"}


#: A kind of segmentation, or fairseq's option for it, named in code.
MENTION = re.compile(r'"(--)?(remove-)?(bpe|sentencepiece)"|import sentencepiece')


def test_few_know_what_a_segmentation_is():
    files = [path for part in ("recurrent_mt", "user_dir") for path in (PROJECT / part).rglob("*.py")]
    assert {str(path.relative_to(PROJECT)) for path in files if MENTION.search(path.read_text())} == KNOWING
    rules = (PROJECT / "workflow").rglob("*.smk")
    assert not any(re.search(r"\b(bpe|sentencepiece)\b", path.read_text()) for path in rules)


def record(**changes):
    lines = {"SOURCE_LANG": "fr", "TARGET_LANG": "en", "SEGMENTATION": "bpe:4000", "TOKENIZER": "moses"}
    return lines | {"LOWERCASE": "", "TRUECASED": ""} | changes


@pytest.mark.parametrize("changes", [{}, {"SEGMENTATION": "word:9", "TOKENIZER": "none", "TRUECASED": "yes"}])
def test_a_form_is_what_is_recorded_of_it(changes):
    assert TextForm.from_record(record(**changes), "").record() == record(**changes)


@pytest.mark.parametrize("read", [RunFolder, read_text_form])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SEGMENTATION bpe:a", "options, line 1: no recipe writes this: SEGMENTATION bpe:a"),
        ("SEGMENTATION word:9\nLOWERCASE no", "options, line 2: no recipe writes this: LOWERCASE no"),
        ("SEGMENTATION word:9", "it has no line SOURCE_LANG, TARGET_LANG"),
    ],
)
def test_every_reader_of_a_run_folder_refuses_the_same(tmp_path, read, text, said):
    (tmp_path / "options").write_text(f"{text}\n")
    with pytest.raises(FileError, match=said):
        read(tmp_path)


def test_a_run_folder_of_before_tokenizers_were_an_option_opens(tmp_path):
    (tmp_path / "options").write_text("SOURCE_LANG fr\nTARGET_LANG en\nSEGMENTATION bpe:4000\nchecksum train.fr 1234\n")
    form = RunFolder(tmp_path).form
    assert form == TextForm(tmp_path, "fr", "en", "bpe", "moses", lowercase=False, truecased=False, size=4000)
    assert form.splits_words and form.merge_flags == ["--remove-bpe"]


@pytest.mark.parametrize(
    ("changes", "corpus", "lines"),
    [
        ([], "word-4000-af5e4c12", ["SEGMENTATION word:4000", "TOKENIZER none", "TRUECASED yes"]),
        (
            ["segmentation=sentencepiece:70"],
            "sentencepiece-70-06516a07",
            ["SEGMENTATION sentencepiece:70", "TOKENIZER moses", "TRUECASED "],
        ),
    ],
)
def test_a_corpus_keeps_its_name(changes, corpus, lines):
    """Another name would train everything again that is there."""
    plan = make_plan("quickstart", read_experiment(PROJECT / "configs/experiments/quickstart.yaml", changes))
    ((name, described),) = plan.corpora.items()
    assert name == corpus
    assert set(lines) <= set(record_options(plan, described).splitlines())


def test_what_models_read_is_put_together_again(tmp_path):
    (tmp_path / "text").mkdir()
    (tmp_path / "text/segmentation.model").write_text("#version: 0.2\nl e</w>\n")
    form = TextForm(tmp_path, "fr", "en", "bpe", "moses", lowercase=True, truecased=False)
    pieces = form.read("Le  dos, l'eau.", "fr")
    assert pieces == "le d@@ o@@ s , l@@ &@@ a@@ p@@ o@@ s@@ ; e@@ a@@ u ."
    assert form.merge(pieces.split()) == ["le", "dos", ",", "l&apos;", "eau", "."]
    assert form.join("it 's <unk> .") == "it's ⁇."
    pieces = TextForm(tmp_path, "fr", "en", "sentencepiece", "none", lowercase=False, truecased=False)
    assert pieces.join(" ".join(pieces.merge(["▁", "▁the", "▁man", "▁"]))) == "the man", "as fairseq joins them"


def test_text_that_was_segmented_already_is_read_with_one_warning(tmp_path, caplog):
    (tmp_path / "text").mkdir()
    (tmp_path / "text/segmentation.model").write_text("#version: 0.2\nl e</w>\n")
    form = TextForm(tmp_path, "fr", "en", "bpe", "moses", lowercase=False, truecased=False)
    form.read("l'eau, x@y.fr @ 3 @@2", "fr")
    assert not caplog.records
    for _ in range(2):
        form.read("le d@@ o@@ s", "fr")
    (warning,) = caplog.records
    assert warning.getMessage().startswith("the word d@@ ends in @@") and "give raw text" in warning.getMessage()


def test_what_a_model_has_not_learned_to_read_is_named(tmp_path):
    for folder, name, text in (
        ("text", "segmentation.model", "#version: 0.2\nl e</w>\n"),
        ("data", "dict.fr.txt", "le 99\nd@@ 5\no@@ 4\ns 3\n. 2\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
    form = TextForm(tmp_path, "fr", "en", "bpe", "moses", lowercase=False, truecased=False)
    assert not any(map(form.unfamiliar, [form.read("le dos.", "fr"), ""]))
    for sentence, why in (
        ("le dos R&D", "R is new to the model"),
        ("le \N{GRINNING FACE}.", "\N{GRINNING FACE} is new to the model"),
        ("le " * (MOST_LEARNED + 1), "251 tokens, and it has learned from 250 at most"),
        ("dos " * 8, "unlike what it has learned from: names, or another language?"),
        ("le " * 20, None),
    ):
        assert form.unfamiliar(form.read(sentence, "fr")) == why
    # Of a dictionary of words, everybody knows that it is not all of them.
    words = TextForm(tmp_path, "fr", "en", "word", "moses", lowercase=False, truecased=False)
    assert words.unfamiliar("z") is None
    assert Experiment.model_fields["max_length"].default == MOST_LEARNED


@pytest.mark.parametrize(
    ("language", "segmentation", "pieces", "marked"),
    [
        ("zh", "sentencepiece", "▁我们 去 看 </s>", "▁我们 ▁去 ▁看 </s>"),
        ("zh", "sentencepiece", "▁ 中国 人 ▁ABC", "▁ 中国 ▁人 ▁ABC"),
        ("fr", "sentencepiece", "▁je su is </s>", "▁je su is </s>"),
        ("zh", "bpe", "我@@ 们 去", "我@@ 们 去"),
    ],
)
def test_without_spaces_each_piece_of_raw_text_is_a_word_for_people(language, segmentation, pieces, marked):
    form = TextForm("", language, "en", segmentation, "none", lowercase=False, truecased=False)
    assert form.mark_words(pieces.split(), language) == marked.split()

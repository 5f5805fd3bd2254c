"""Where the workflow takes text from and what it makes of it, and what the commands on the way are told."""

from dataclasses import replace

import pytest

from recurrent_mt.runs.corpus import Corpus, ExtraTest

LANGUAGES = ("fr", "en")
SPLITS = ["train", "valid", "test"]
RECORD = {"SOURCE_LANG": "fr", "TARGET_LANG": "en", "SEGMENTATION": "bpe:100"}
LOCAL = Corpus(
    id="bpe-100-x",
    languages=LANGUAGES,
    source="files",
    splits=SPLITS,
    shards=1,
    lengths={"train": 50, "valid": 50, "test": None},
    checksums={f"{split}.{side}": f"{split}-{side}" for split in SPLITS for side in LANGUAGES},
    record=RECORD,
    extra={"more-1": ExtraTest("more", "more-1", "/other/more", {"fr": "3c", "en": "4d"})},
    files={split: {side: f"/text/{split}.{side}" for side in LANGUAGES} for split in SPLITS},
    reference="/raw/test",
)
SETS = {
    "train": {"europarl": None, "news_commentary-1": None, "added-own": "/my text/own"},
    "valid": {"dev": None},
    "test": {"test-a": None, "test-b": None},
}
COLLECTED = replace(
    LOCAL,
    source="collected",
    shards=2,
    splits=[*SPLITS, "test1"],
    sets=SETS,
    cleaning=True,
    checksums={"added-own.fr": "1a", "added-own.en": "2b"},
    sources="known",
)


def test_text_is_taken_from_where_it_is_and_a_local_one_must_be_what_it_was():
    local, collected = LOCAL, COLLECTED
    assert local.source_file("text", "train", "fr") == "/text/train.fr"
    assert local.reference_file("text", "test", "en") == "/raw/test.en"
    assert collected.source_file("text", "train", "fr") == "corpora/bpe-100-x/clean/cleaned/train.fr"
    assert collected.reference_file("text", "test1", "en") == "corpora/bpe-100-x/clean/held-out/test1.en"
    for corpus in (local, collected):
        place = "extra/more-1"
        assert corpus.source_file(place, "test", "fr") == corpus.reference_file(place, "test", "fr") == "/other/more.fr"
        assert corpus.is_local(place)
        assert corpus.unchanged_flags(place, "test", "en") == "--unchanged 4d /other/more.en"
    assert (local.is_local("text"), collected.is_local("text")) == (True, False)
    assert local.unchanged_flags("text", "train", "fr") == "--unchanged train-fr /text/train.fr"
    assert collected.unchanged_flags("text", "train", "fr") == ""


@pytest.mark.parametrize(
    ("cleaning", "words", "folder", "reports"),
    [
        (True, None, "cleaned", ["cleaned"]),
        (False, None, "joined", []),
        (True, "1M", "selected", ["cleaned", "selected"]),
        (False, "1M", "selected", ["selected"]),
    ],
)
def test_published_text_goes_through_the_steps_that_are_asked_for(cleaning, words, folder, reports):
    corpus = replace(COLLECTED, cleaning=cleaning, select_words=words)
    assert corpus.training_text == folder
    assert corpus.cleaned_text == ("cleaned" if cleaning else "joined")
    assert corpus.cleaning_reports == [f"corpora/bpe-100-x/clean/{step}/REPORT.md" for step in reports]


def test_a_local_text_is_copied_and_a_published_one_downloaded():
    corpus = COLLECTED
    assert corpus.get_command("added-own") == "local '/my text/own' --unchanged 1a 2b"
    assert corpus.get_inputs("added-own") == [] and corpus.downloads("added-own") == 0 < corpus.downloads("dev")
    published = "published dev --sources known --downloads downloads"
    assert corpus.get_command("dev") == published and corpus.get_inputs("dev") == ["known"]
    near = replace(corpus, mirror="http://near")
    assert near.get_command("dev") == f"{published} --mirror http://near"


def test_texts_are_joined_to_splits():
    corpus = COLLECTED
    raw = "corpora/bpe-100-x/raw"
    names = ("europarl", "news_commentary-1", "added-own")
    assert corpus.training_texts("en") == [f"{raw}/{name}/text.en" for name in names]
    held_out = {"valid": "dev", "test": "test-a", "test1": "test-b"}
    for split, name in held_out.items():
        assert corpus.held_out_texts(split, "fr") == [f"{raw}/{name}/text.fr"]
    prefixes = [f"corpora/bpe-100-x/clean/held-out/{split}" for split in held_out]
    assert corpus.held_out_prefixes == [*prefixes, "corpora/bpe-100-x/extra/more-1/raw/test"]
    assert corpus.in_domain == ["corpora/bpe-100-x/clean/held-out/valid", f"{raw}/news_commentary-1/text"]


def test_each_shard_has_training_text_and_the_first_one_everything_else():
    whole, parts = LOCAL, COLLECTED
    data = "corpora/bpe-100-x/data"
    assert whole.dictionary_folder == data and parts.dictionary_folder == f"{data}/shard0"
    assert len(whole.binarized) == len(set(whole.binarized)) == 3 * 2 * 2 + 2
    assert f"{data}/train.fr-en.fr.bin" in whole.binarized and f"{data}/dict.en.txt" in whole.binarized
    assert len(parts.shard_files(0)) == 4 * 2 * 2 + 2 and len(parts.shard_files(1)) == 2 * 2 + 2
    assert parts.binarized == [*parts.shard_files(0), *parts.shard_files(1)]
    prepared = "corpora/bpe-100-x/text/prepared"
    assert parts.held_out_flags() == f"--validpref {prepared}/valid --testpref {prepared}/test,{prepared}/test1"
    assert parts.prepared(["test1"]) == [f"{prepared}/test1.fr", f"{prepared}/test1.en"]

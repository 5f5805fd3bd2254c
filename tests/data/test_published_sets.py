"""Corpora that mtdata knows, from a server on loopback that has small files in the same layouts."""

import gzip

import pytest

from recurrent_mt.data.published_sets import PublishedSet, fetch, load, look_up, save, sentence_pairs
from recurrent_mt.runs.experiment import PROJECT, read_experiment
from tests.commands import call
from tests.data.published import PUBLISHED, pack, publish, text_file

pytest.importorskip("mtdata")


def get(corpus, server, tmp_path, languages):
    file = fetch(corpus, tmp_path / "downloads", mirror=server.url("mirror"))
    return list(sentence_pairs(corpus, file, languages))


@pytest.mark.parametrize("kind", PUBLISHED)
def test_every_layout(kind, server, tmp_path):
    corpus, languages, expected = publish(kind, server.folder / "mirror")
    assert get(corpus, server, tmp_path, languages) == expected
    swapped = [(target, source) for source, target in expected]
    assert get(corpus, server, tmp_path, languages[::-1]) == swapped
    assert len(server.requests) == 1
    assert not list((tmp_path / "downloads").rglob("*.unpacked"))


def test_what_an_archive_lacks_is_named(server, tmp_path):
    corpus, languages, _ = publish("tgz", server.folder / "mirror")
    other = PublishedSet(corpus.identifier, corpus.url, ["a.fr", "*.en"], corpus.format, None)
    with pytest.raises(ValueError, match=r"has no file a\.fr"):
        get(other, server, tmp_path, languages)


def test_other_languages_are_refused(server, tmp_path):
    corpus, _, _ = publish("tgz", server.folder / "mirror")
    with pytest.raises(ValueError, match="is not a corpus of de and en"):
        get(corpus, server, tmp_path, ("de", "en"))


def test_sides_of_other_lengths_are_refused(server, tmp_path):
    corpus, languages, _ = publish("tgz", server.folder / "mirror", missing=1)
    with pytest.raises(ValueError, match="unequal number of segments"):
        get(corpus, server, tmp_path, languages)


def test_kept_as_json(tmp_path):
    sets = [publish(kind, tmp_path)[0] for kind in PUBLISHED]
    save(sets, tmp_path / "sources.json")
    assert [load(tmp_path / "sources.json", one.identifier) for one in sets] == sets
    with pytest.raises(ValueError, match="no corpus Statmt-nothing"):
        load(tmp_path / "sources.json", "Statmt-nothing-1-fra-eng")


def test_one_corpus_of_those_that_were_found_is_got(server, tmp_path):
    corpus, _, _ = publish("tgz", server.folder / "mirror")
    save([corpus], tmp_path / "sources.json")
    files = ("--sources", tmp_path / "sources.json", "--downloads", tmp_path, "--out", tmp_path / "out")
    mirror = server.url("mirror")
    done = call("get", "published", corpus.identifier, *files, "--mirror", mirror, "--pair", "fr-en")
    assert done.returncode == 0 and sorted(path.name for path in (tmp_path / "out").iterdir()) == ["text.en", "text.fr"]


@pytest.mark.slow
def test_mtdata_knows_what_the_recipes_ask_for():
    """Each looked up in mtdata's own index."""
    identifiers = []
    for name, languages in (("wmt-fr-en", {"eng", "fra"}), ("wmt-zh-en", {"eng", "zho"})):
        experiment = read_experiment(PROJECT / "configs" / "experiments" / f"{name}.yaml")
        found = [corpus["id"] for corpus in experiment.published]
        assert len(found) >= 6
        assert all(set(identifier.split("-")[-2:]) == languages for identifier in found)
        identifiers += found
    sets = look_up(identifiers)
    assert [one.identifier for one in sets] == identifiers
    assert all(one.url.startswith("http") for one in sets)
    with pytest.raises(ValueError, match="mtdata knows no corpus Statmt-nothing-1-fra-eng"):
        look_up(["Statmt-nothing-1-fra-eng"])


def write_file(server, name, content, form):
    path = server.folder / "mirror" / "data.statmt.org" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return PublishedSet("Statmt-t-1-fra-eng", f"http://data.statmt.org/{name}", None, form, None)


def write_table(server, content):
    return write_file(server, "t.tsv.gz", gzip.compress(content, mtime=0), "tsv.gz")


def test_a_carriage_return_ends_no_line_of_compressed_text(server, tmp_path):
    corpus = write_table(server, b"un\tone\ndeux\rbis\ttwo\ntrois\tthree\n")
    pairs = get(corpus, server, tmp_path, ("fr", "en"))
    assert [pair[1] for pair in pairs] == ["one", "two", "three"] and pairs[2] == ("trois", "three")


def test_a_line_without_a_column_is_named(server, tmp_path):
    corpus = write_table(server, b"un\tone\ndeux\n")
    with pytest.raises(ValueError, match="Statmt-t-1-fra-eng: after 1 pairs: list index out of range"):
        get(corpus, server, tmp_path, ("fr", "en"))


@pytest.mark.parametrize("form", ["tmx.gz", "wmt21xml", "opus_xces"])
def test_forms_of_which_mtdata_loses_text_are_refused(form):
    with pytest.raises(ValueError, match=f"x-y-1-fra-eng: text in {form} is not read here: write it to two files"):
        PublishedSet("x-y-1-fra-eng", "http://near/x", None, form, None)


@pytest.mark.parametrize(
    ("segment", "read"),
    [('<seg id="3">Phrase\n3.</seg>', 29), ("<seg id=3>Phrase 3.</seg>", 29), ('<seg id="3">a</seg> <seg id="x">', 30)],
)
def test_segments_of_sgm_that_would_be_skipped_are_counted(segment, read, server, tmp_path):
    corpus, languages, _ = publish("sgm", server.folder / "mirror")
    (archive,) = server.folder.rglob("*.tgz")
    sides = {name: text_file([f"Phrase {number}." for number in range(1, 31)], "sgm") for name in corpus.members}
    source = corpus.members[0]
    sides[source] = sides[source].replace(b'<seg id="3">Phrase 3.</seg>', segment.encode())
    pack(archive, sides)
    count = 29 + segment.count("<seg")
    with pytest.raises(ValueError, match=rf"of the {count} segments of {source}, only {read} are on a line"):
        get(corpus, server, tmp_path, languages)

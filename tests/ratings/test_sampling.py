from collections import Counter

import pytest

from recurrent_mt.ratings.campaign import make_campaign
from recurrent_mt.ratings.sampling import RatedTexts, sample_screens

SENTENCES = 30


def make_corpus(count=3):
    """All sentences and translations differ from one another in every word."""
    systems = {name: [f"{name}{i} a{i} b{i} c{i} d{i} e{i} f{i} g{i} ." for i in range(SENTENCES)] for name in "xyz"}
    return RatedTexts(
        [f"source{i} un deux trois ." for i in range(SENTENCES)],
        [f"reference{i} one two three ." for i in range(SENTENCES)],
        {name: systems[name] for name in "xyz"[:count]},
    )


def sample(mode="side-by-side", sentences=12, *, corpus=None, **options):
    """The screens of the first annotator."""
    return sample_screens(corpus or make_corpus(), mode, sentences, **options)[0]


def test_one_screen_a_sentence_side_by_side():
    screens = sample()
    assert len({screen.sentence for screen in screens}) == len(screens) == 12
    corpus = make_corpus()
    for screen in screens:
        assert screen.source == corpus.source[screen.sentence - 1]
        assert screen.reference == corpus.reference[screen.sentence - 1]
        shown = {each.systems: each.text for each in screen.translations}
        assert shown == {(name,): lines[screen.sentence - 1] for name, lines in corpus.systems.items()}


def test_one_screen_a_translation_in_direct_assessment():
    screens = sample("direct")
    assert len({(screen.sentence, screen.translations[0].systems) for screen in screens}) == len(screens) == 36
    assert all(len(screen.translations) == 1 for screen in screens)


def test_the_seed_decides():
    assert sample(seed=3) == sample(seed=3) != sample(seed=4)


def test_annotators_see_the_same_screens_in_different_orders():
    first, second = sample_screens(make_corpus(), "direct", 12, annotators=2)
    assert first != second and set(first) == set(second)


def test_equal_translations_are_rated_once():
    corpus = RatedTexts(
        ["s one"] * 4, None, {"x": ["same words"] * 4, "y": ["other words"] * 4, "z": ["same words "] * 4}
    )
    (screen, *_) = sample(sentences=4, corpus=corpus)
    assert [(each.text, each.systems) for each in screen.translations] == [
        ("same words", ("x", "z")),
        ("other words", ("y",)),
    ]


def test_blank_sentences_are_not_drawn():
    corpus = make_corpus()
    corpus.source[3] = "  "
    corpus.reference[7] = ""
    screens = sample(sentences=SENTENCES - 2, corpus=corpus)
    assert {screen.sentence for screen in screens} == set(range(1, SENTENCES + 1)) - {4, 8}
    with pytest.raises(ValueError, match="29 sentences cannot be drawn: only 28 have a source and a reference that"):
        sample(sentences=SENTENCES - 1, corpus=corpus)


@pytest.mark.parametrize(("count", "message"), [(0, "0 sentences cannot be drawn"), (31, "31 .*: only 30 have")])
def test_what_cannot_be_sampled(count, message):
    with pytest.raises(ValueError, match=message):
        sample_screens(make_corpus(), "direct", count)


def test_a_campaign_is_what_pearmut_reads():
    """Its keys and types, and what it stores with the answers for `recurrent-mt ratings`."""
    corpus = RatedTexts(["un"], ["one"], {"x": ["a b c"], "y": ["a b c"], "z": ["d e f"]})
    tasks = sample_screens(corpus, "side-by-side", 1, annotators=2)
    campaign = make_campaign("mine", "side-by-side", tasks)
    document = {
        "item_id": "1",
        "src": "un",
        "ref": "one",
        "tgt": {"x = y": "a b c", "z": "d e f"},
        "rated": {"x = y": {"systems": ("x", "y")}, "z": {"systems": ("z",)}},
    }
    # A task an annotator, a document a screen, an item a document.
    assert campaign["data"] == [[[document]], [[document]]] and campaign["campaign_id"].startswith("mine-")
    info = campaign["info"]
    assert (info["assignment"], info["protocol"], info["users"]) == ("task-based", "DA", 2)
    assert info["sliders"] == [{"name": name, "min": 1, "max": 5, "step": 1} for name in ("adequacy", "fluency")]
    assert info["instructions"].startswith("On the left: the source and a reference translation.")


def test_text_is_never_markup():
    """Pearmut shows what begins like ``<img `` as HTML, and some tags anywhere."""
    planted = "<img src=x onerror=alert(1)> a <b>word</b>, 1 <2"
    corpus = RatedTexts([planted], [planted], {"x": [planted]})
    campaign = make_campaign("mine", "direct", sample_screens(corpus, "direct", 1))
    (((item,),),) = campaign["data"]
    assert [item["src"], item["ref"], item["tgt"]["x"]] == ["< img src=x onerror=alert(1)> a < b>word< /b>, 1 <2"] * 3


def test_without_sliders_of_its_own_a_campaign_has_pearmuts_from_0_to_100():
    corpus = RatedTexts(None, ["one"] * 2, {"x": ["a b c", "d e f"]})
    campaign = make_campaign("mine", "direct", sample_screens(corpus, "direct", 2))
    assert "sliders" not in campaign["info"]
    assert "On the left: a reference translation." in campaign["info"]["instructions"]
    items = [item for document in campaign["data"][0] for item in document]
    assert Counter(name for item in items for name in item["tgt"]) == {"x": 2}
    assert not any("src" in item for item in items)


@pytest.mark.parametrize(
    ("source", "reference", "systems", "message"),
    [
        (None, None, {"x": ["a"]}, "give the source, the reference, or both"),
        (["a"], ["a", "b"], {"x": ["a"]}, "source has 1, reference has 2, system x has 1"),
        (["a"], None, {"x": ["a"], "y": []}, "source has 1, system x has 1, system y has 0"),
        (["a"], None, {"12": ["a"]}, "system 12: a name that is a number, or has .* cannot be rated"),
        (["a"], None, {'the "best"': ["a"]}, 'system the "best": a name that is a number, or has ", &, <, or " = "'),
        (["a"], None, {"a": ["a"], "b": ["a"], "a = b": ["b"]}, "system a = b: a name .* cannot be rated"),
    ],
)
def test_what_cannot_be_rated(source, reference, systems, message):
    with pytest.raises(ValueError, match=message):
        RatedTexts(source, reference, systems)

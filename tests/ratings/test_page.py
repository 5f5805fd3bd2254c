import json
import re

import pytest

from recurrent_mt.ratings.sampling import RatedTexts, Sample, sample_screens
from recurrent_mt.ratings.study import RatingStudy, render_key, render_page
from tests.pages import Outline
from tests.ratings.studies import make_corpus, make_study

PLANTED = "</script><script>document.title='broken'</script><img src=x onerror=\"alert(1)\">&amp;{{data}}\\u003c'"


def planted_study():
    count = 12
    systems = {
        f"x{PLANTED}": [f"{PLANTED} a{i} b c" for i in range(count)],
        "y": [f"y{i} d{i} e{i} f" for i in range(count)],
    }
    corpus = RatedTexts([f"{i} {PLANTED}" for i in range(count)], [f"{PLANTED} {i}" for i in range(count)], systems)
    screens = sample_screens(corpus, Sample("side-by-side", count, repeats=2, degraded=2))
    return RatingStudy("side-by-side", tuple(systems), screens, 1, PLANTED, PLANTED, PLANTED)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_text_from_data_makes_no_elements():
    clean, planted = Outline(render_page(make_study())), Outline(render_page(planted_study()))
    assert [tag for tag, _ in planted.elements] == [tag for tag, _ in clean.elements]
    scripts = [[attributes for tag, attributes in one.elements if tag == "script"] for one in (clean, planted)]
    assert scripts[0] == scripts[1]


def test_text_from_data_arrives_unchanged():
    study = planted_study()
    assert data_of(render_page(study)) == json.loads(json.dumps(study.page_data()))
    assert data_of(render_page(study))["title"] == PLANTED


@pytest.mark.parametrize("mode", ["side-by-side", "direct"])
def test_the_page_tells_neither_systems_nor_controls(mode):
    corpus = make_corpus(sentences=30)
    names = {"alpha-system": "x", "beta-system": "y"}
    corpus = RatedTexts(corpus.source, None, {name: corpus.systems[letter] for name, letter in names.items()})
    page = render_page(make_study(mode, corpus=corpus))
    assert "-system" not in page
    keys = set()
    for screen in data_of(page)["screens"]:
        keys |= set(screen)
        for item in screen["items"]:
            assert set(item) == {"id", "text"}
    assert keys == {"source", "reference", "items"}


def test_the_key_tells_them():
    study = make_study(repeats=2, degraded=3)
    key = json.loads(render_key(study))
    assert key["page"] == study.page_data()["page"]
    for screen in study.screens:
        for item in screen.items:
            entry = key["items"][item.identifier]
            assert entry["sentence"] == screen.sentence
            assert (tuple(entry["systems"]), entry["kind"], entry["original"]) == (
                item.systems,
                item.kind,
                item.original,
            )


def test_the_checksum_is_of_the_content():
    assert make_study().page_data()["page"] == make_study().page_data()["page"]
    others = [make_study(seed=2), make_study(title="Other"), make_study("direct"), make_study(sentences=11)]
    assert len({study.page_data()["page"] for study in [make_study(), *others]}) == 5

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from recurrent_mt.ratings.sampling import Corpus, Sample, sample_screens
from recurrent_mt.ratings.study import RatingStudy, render_key, render_page
from tests.ratings.studies import make_corpus, make_study

PLANTED = "</script><script>document.title='broken'</script><img src=x onerror=\"alert(1)\">&amp;{{data}}\\u003c'"


class Outline(HTMLParser):
    """Elements with their attributes, and the text of scripts and styles, as a browser would see them."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        tag = self.elements[-1][0] if self.elements else ""
        if tag in ("script", "style"):
            self.texts.setdefault(tag, []).append(data)

    def scripts(self):
        return [attributes for tag, attributes in self.elements if tag == "script"]


def planted_study():
    count = 12
    systems = {
        f"x{PLANTED}": [f"{PLANTED} a{i} b c" for i in range(count)],
        "y": [f"y{i} d{i} e{i} f" for i in range(count)],
    }
    corpus = Corpus([f"{i} {PLANTED}" for i in range(count)], [f"{PLANTED} {i}" for i in range(count)], systems)
    screens = sample_screens(corpus, Sample("side-by-side", count, repeats=2, degraded=2))
    return RatingStudy("side-by-side", tuple(systems), screens, 1, PLANTED, PLANTED, PLANTED)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def script_of(page):
    return re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)[1]


def test_text_from_data_makes_no_elements():
    clean, planted = Outline(render_page(make_study())), Outline(render_page(planted_study()))
    assert [tag for tag, _ in planted.elements] == [tag for tag, _ in clean.elements]
    assert planted.scripts() == clean.scripts()


def test_text_from_data_arrives_unchanged():
    study = planted_study()
    assert data_of(render_page(study)) == json.loads(json.dumps(study.page_data()))
    assert data_of(render_page(study))["title"] == PLANTED


@pytest.mark.parametrize("mode", ["side-by-side", "direct"])
def test_the_page_tells_neither_systems_nor_controls(mode):
    corpus = make_corpus(sentences=30)
    names = {"alpha-system": "x", "beta-system": "y"}
    corpus = Corpus(corpus.source, None, {name: corpus.systems[letter] for name, letter in names.items()})
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


def test_the_policy_allows_the_pages_own_scripts_and_style_only():
    page = render_page(make_study())
    outline = Outline(page)
    (policy,) = [a["content"] for tag, a in outline.elements if tag == "meta" and "http-equiv" in a]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert [attributes["type"] for attributes in outline.scripts()] == ["application/json", "module"]
    for text, rule in [(script_of(page), "script-src"), (outline.texts["style"][0], "style-src")]:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in rules[rule].split()


def test_nothing_is_loaded_from_elsewhere():
    page = render_page(make_study())
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(", page)
    sources = [a.get("src") or a.get("href") for _, a in Outline(page).elements if "src" in a or "href" in a]
    assert sources == ["data:,"]


def test_scripts_write_text_only():
    script = script_of(render_page(make_study()))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script)

"""What the page answers, asked without a browser."""

import http.client
import os
import unicodedata
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from recurrent_mt.demo.fragments import describe, name_gates, render_cards, render_cuts, render_forced
from recurrent_mt.evaluation.figures import COLORS
from recurrent_mt.translation.loading import load_checkpoint
from recurrent_mt.translation.model import Cut, Model, ScoredWord
from tests.checkpoints.checkpoints import small_checkpoint
from tests.demo.conftest import PROXIES


def translate(demo, text, own=""):
    return list(demo.translate(text, own, beam=2, length_penalty=1, count=1))


@pytest.mark.parametrize("text", ["", "\ufeff \u200d\u00ad"], ids=ascii)
def test_a_sentence_without_words_gets_one_sentence(demo, text):
    first = '<p class="notice" role="status">Type a sentence first.</p>\n'
    assert translate(demo, text) == [[first, "", "", "", ""]]
    assert demo.force(text, "t1") == first
    assert demo.force("s1", text) == first.replace("sentence", "translation")


def test_translations_are_shown_before_anything_is_drawn_and_what_is_to_come_has_a_placeholder(demo):
    pending = [['class="to-come"' in part for part in parts] for parts in translate(demo, "s1 s2")]
    assert pending == [[False, True, True, True, True], [False, False, False, False, True], [False] * 5]


@pytest.mark.parametrize(
    ("text", "own", "scored"),
    [("s1 s2 s3", "", "t2"), ("s1 s2 s3", "t4", "t4"), ("s1 s2", "t4", "t4"), ("s1 s2", "t1 t2", "")],
)
def test_a_translation_of_ones_own_is_scored_with_the_sentence_unless_it_is_anothers_reference(demo, text, own, scored):
    *_, (*_, forced, _) = translate(demo, text, own)
    assert f'<th dir="auto">{scored}</th>' in forced if scored else forced == ""


def test_what_a_model_has_not_learned_to_read_is_said_above_the_translations(demo):
    class Wary(Model):
        def unfamiliar(self, text):
            return "s<1> is new to the model" if "s<1>" in text else None

    attentive, pyramid = demo.systems
    one, both = ([Wary(**vars(attentive)), pyramid], [Wary(**vars(model)) for model in demo.systems])
    for systems, named in ((one, "attentive: "), (both, "")):
        for text, count in (("s1 s<1>", 1), ("s1", 0)):
            cards = next(replace(demo, systems=systems).translate(text, "", 2, 1, 1))[0]
            line = f'<p class="notice" role="status">{named}s&lt;1&gt; is new to the model. That'
            assert cards.count(line) == count and "attentive</h3>" in cards


def test_each_model_says_that_a_sentence_is_too_long_for_it(demo):
    """Where each is named, no sentence is that of all, and the page is shown."""
    *_, (cards, *_) = translate(demo, "s1 " * 1100)
    for model in demo.systems:
        assert f"{model.name} takes " in cards


def test_each_model_is_said_to_be_what_it_is(systems, tmp_path):
    small_checkpoint(tmp_path, "grconv_encoder", grconv_dilated=True, encoder_hidden_size=6)
    dilated = load_checkpoint("dilated", tmp_path / "checkpoint.pt")
    attention = "for each word that it writes, attention chooses where to look."
    assert describe(systems["attentive"], True) == f"Keeps a vector for each word; {attention}"
    assert describe(dilated, True) == f"Joins words into ever longer windows; {attention}"
    assert describe(systems["fixed"], False).startswith("Reads the whole sentence into one vector")
    assert describe(systems["pyramid"], False).startswith("Joins neighboring words, level by level, until")
    assert describe(replace(dilated, summary="What the box says."), True) == "What the box says."
    shown = [[systems["fixed"], systems["pyramid"]], [dilated], [dilated, systems["pyramid"]]]
    assert [name_gates(models) for models in shown] == ["Pyramid", "Windows", "Gates"]


def test_models_that_cut_otherwise_have_figures_of_their_own():
    answers = {
        "long": "Sentences of up to 80 tokens are cut; this has 95.",
        "words": [Cut(1, "l'", "a", -1.0), Cut(2, "l' homme", "the man", -1.0)],
        "pieces": [Cut(1, "l'homme", "the man", -2.0)],
    }
    page = render_cuts(answers)
    assert "long: Sentences of up to 80 tokens" in page and page.count("<svg") == 2
    for place, name in enumerate(answers):
        if name != "long":
            assert f'style="background: {COLORS[place]}"></span>{name}: the translations' in page


@pytest.mark.parametrize(("words", "said"), [(24, "the first word, the first two"), (25, "evenly spread")])
def test_a_page_of_cuts_says_where_a_sentence_is_cut(demo, words, said):
    page = render_cuts({"pyramid": demo.systems[1].cut("s1 " * words, beam=1)})
    assert f"Each model translates {'some of' if words > 24 else ''}" in page and said in page


def test_of_words_that_a_model_does_not_know_nothing_else_is_claimed():
    """The number is that of any such word: neither probable nor disputed."""
    texts = ("no", "zyzzyva", "sure")
    known = {"one": (True, True, True), "two": (True, False, True)}
    values = {"one": (-1.0, -9.0, -1.0), "two": (-1.0, -0.5, -5.0)}
    words = {name: list(map(ScoredWord, texts, values[name], [""] * 3, known[name])) for name in known}
    first, unknown, disputed = render_forced(words).split("<tr")[2:5]
    assert 'class="unknown"' not in first + disputed and "disputed" not in first + unknown and "disputed" in disputed
    assert '<td style="--p: 0.002">-9.0000</td>' in unknown
    assert """<td><span class="unknown" title="not in the model's dictionary">-0.5000</span></td>""" in unknown


def test_chrf_is_the_projects(demo):
    """It compares text in NFC."""
    reading = demo.systems[0].read("s1", beam=2, count=1)
    hypothesis = reading.hypotheses[0]._replace(text="é" * 5)
    readings = {"attentive": reading._replace(hypotheses=[hypothesis])}
    page = render_cards(demo.systems[:1], readings, unicodedata.normalize("NFD", "é" * 5))
    assert "chrF <b>100.0</b>" in page


def test_a_pyramid_is_drawn_whatever_the_length_of_the_translation(demo, monkeypatch):
    (system,) = (one for one in demo.systems if one.name == "pyramid")
    found = system.translator.translate("s1 s2", beam=1, length_penalty=1, count=1)
    longer = [found[0]._replace(tokens=["t1"] * 100)]
    monkeypatch.setattr(system.translator, "translate", lambda *_, **__: longer)
    assert system.read("s1 s2", beam=1, length_penalty=1, count=1).gates.words == ("s1", "s2")


def test_a_text_that_is_much_too_long_is_refused_before_it_is_split(demo, monkeypatch):
    for system in demo.systems:
        monkeypatch.setitem(vars(system), "text", None)
    (refusal, *rest) = translate(demo, "é" * 400_000)
    notice = "This has 400,000 characters; a sentence may have 10,000. Shorten it."
    assert refusal[0] == f'<p class="notice" role="status">{notice}</p>\n' and rest == []


def ask(address, method="GET", path="/", body=None, **headers):
    """The status and the text that the server answers."""
    where = urlsplit(address)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_the_page_is_answered_under_its_own_names_alone(address):
    port = urlsplit(address).port
    for name in ("127.0.0.1", "localhost", "[::1]"):
        assert ask(address, host=f"{name}:{port}")[0] == 200
    for name in ("attacker.example", "127.0.0.1.attacker.example", "8.8.8.8", ""):
        status, text = ask(address, host=f"{name}:{port}")
        assert (status, text) == (
            403,
            f"This page is not at {name}:{port}: open it at the address that recurrent-mt demo has printed.\n",
        )


def test_other_pages_are_not_answered(address):
    own = address.rstrip("/")
    assert ask(address, origin=own)[0] == 200
    for origin in ("http://attacker.example", "null", own.replace("127.0.0.1", "localhost"), "http://127.0.0.1:1"):
        for method, path in (("GET", "/"), ("POST", "/gradio_api/queue/join"), ("OPTIONS", "/gradio_api/queue/join")):
            assert ask(address, method, path, "{}", origin=origin) == (
                403,
                f"This page answers no questions of {origin}.\n",
            )


def test_no_file_is_taken(address):
    assert ask(address, "POST", "/gradio_api/upload?upload_id=1", b"x" * 100) == (
        405,
        "This page takes sentences, and no files.\n",
    )


def test_where_others_may_ask_any_name_will_do(module):
    from recurrent_mt.demo.guard import Guard

    for is_open in (False, True):
        scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"lab.example:7860")]}
        assert (Guard(None, is_open=is_open).refuse(scope) is None) is is_open


def test_proxies_are_hidden_while_the_page_is_served_and_stay(module, address, monkeypatch, proxies):
    """The module was imported behind them, and the page is served behind them."""
    proxies(monkeypatch)
    assert ask(address)[0] == 200
    with module.no_proxies():
        assert [name for name in os.environ if name.lower().endswith("_proxy")] == []
    assert {name: os.environ[name] for name in PROXIES} == PROXIES

"""The page as a reader has it: the sentence browser, phone, dark, paper."""

import dataclasses
import re
from functools import cache

import pytest

from recurrent_mt.evaluation.translated_files import System
from recurrent_mt.report.attachments import Figure
from recurrent_mt.report.page import render_page
from tests.browser import complaints, prefer, requested_addresses, resize
from tests.evaluation.test_sets import forgetful, perfect, small
from tests.report.reports import (
    FEW_CHARTS,
    NO_TRAINING,
    PLANTED,
    page_data,
    planted_page,
    planted_report,
    small_analysis,
    small_page,
    small_report,
    svg,
    write_page,
)
from tests.waiting import wait_until

pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select


def open_page(browser, path):
    """Opens a page; its script has run when this returns."""
    browser.get(path.as_uri())


@pytest.fixture
def page(browser, tmp_path):
    """A small report, open."""
    path = tmp_path / "report.html"
    path.write_text(small_page(), encoding="utf-8")
    open_page(browser, path)
    return path


def all_of(browser, selector):
    return browser.find_elements(By.CSS_SELECTOR, selector)


def one(browser, selector):
    (found,) = all_of(browser, selector)
    return found


def control(browser, name):
    return one(browser, f".controls [name={name}]")


def choose(browser, name, text):
    Select(control(browser, name)).select_by_visible_text(text)


def numbers(browser):
    """The sentences on the screen, counted from 0."""
    script = "return [...document.querySelectorAll('.cards .sentence')].map(card => Number(card.dataset.number))"
    return browser.execute_script(script)


def found(browser):
    return one(browser, ".found").text


def test_the_page_opens_clean(browser, page):
    assert complaints(browser) == []
    assert requested_addresses(browser) == []
    charts = all_of(browser, ".chart svg")
    assert len(charts) == 9
    assert all(chart.size["width"] > 300 and chart.size["height"] > 150 for chart in charts)
    assert len(all_of(browser, ".cards .sentence")) == 25
    assert found(browser) == "Sentences 1–25 of 30"


def test_a_table_is_saved_as_a_file_without_a_network(browser, page):
    link = all_of(browser, "a[download$='.csv']")[0]
    browser.execute_script("arguments[0].click()", link)
    file = browser.downloads / link.get_attribute("download")
    wait_until(file.is_file)
    assert file.read_text(encoding="utf-8").startswith("System,seeds")
    assert complaints(browser) == [] and requested_addresses(browser) == []


def test_search_looks_into_any_text(browser, page):
    search = control(browser, "search")
    search.send_keys("GRAY")
    assert numbers(browser) == [3, 9, 15, 21, 27]
    assert found(browser) == "Sentences 1–5 of 5 that match, 30 in all"
    search.clear()
    search.send_keys("zebra")
    assert found(browser) == "None of the 30 sentences matches."


def test_the_legend_switches_systems_everywhere(browser, page):
    drawn = all_of(browser, ".chart [data-system='0']")
    assert len(drawn) > 10 and all(one.is_displayed() for one in all_of(browser, ".chart [data-system$='-line']"))
    switch, _ = all_of(browser, ".legend button")
    assert switch.text == "forgetful" and switch.get_attribute("aria-pressed") == "true"
    switch.send_keys(Keys.SPACE)
    assert switch.get_attribute("aria-pressed") == "false"
    assert not any(one.is_displayed() for one in drawn)
    # A chart's own legend, too.
    named = [one.text for one in all_of(browser, ".chart text") if one.is_displayed()]
    assert "perfect" in named and "forgetful" not in named
    assert all(one.get_attribute("hidden") is None for one in all_of(browser, ".chart [data-system='1']"))
    names = all_of(browser, "table .system, summary .system, .cards .system")
    assert {name.text for name in names if name.is_displayed()} == {"perfect"}
    script = """return [...document.querySelectorAll("#section-Sentence-length table")].map(table =>
        new Set([...table.rows].map(row => [...row.cells].filter(cell => !cell.hidden).length)).size)"""
    assert set(browser.execute_script(script)) == {1}, "rows of one width"
    switch.send_keys(Keys.SPACE)
    assert all(one.get_attribute("hidden") is None for one in drawn)


def test_sentences_are_sorted_by_any_column(browser, page):
    sentences = page_data(page.read_text())["sentences"]
    differences = [mine - base for mine, base in zip(sentences["scores"][1], sentences["scores"][0])]
    columns = {
        "position in the test set": (range(30), False),
        "reference length": (sentences["referenceLengths"], True),
        "chrF of perfect minus forgetful": (differences, True),
        "chrF, best minus worst system": (list(map(abs, differences)), True),
    }
    for name, (keys, descending) in columns.items():
        choose(browser, "order", name)
        assert Select(control(browser, "direction")).first_selected_option.text == (
            "descending" if descending else "ascending"
        )
        shown = [keys[number] for number in numbers(browser)]
        assert shown == sorted(keys, reverse=descending)[:25], name
        choose(browser, "direction", "ascending" if descending else "descending")
        shown = [keys[number] for number in numbers(browser)]
        assert shown == sorted(keys, reverse=not descending)[:25], name


def test_pages_are_turned(browser, page):
    back, forth = one(browser, ".pager[aria-label='Pages, above']").find_elements(By.TAG_NAME, "button")
    assert not back.is_enabled()
    forth.send_keys(Keys.ENTER)
    assert numbers(browser) == list(range(25, 30)) and found(browser) == "Sentences 26–30 of 30"
    assert back.is_enabled() and not forth.is_enabled()
    control(browser, "search").send_keys("a")
    assert found(browser).startswith("Sentences 1–2"), "a new search begins at its first page"


def marks(card):
    return [(mark.get_attribute("class"), mark.text) for mark in card.find_elements(By.TAG_NAME, "mark")]


@pytest.fixture
def words(browser, tmp_path):
    """Two systems with words that are wrong, missing, and out of place; Chinese has no spaces."""
    reference = ["the old dog barks today .", "一个红色的帽子"]
    other = ["today the old cat barks", "一个蓝色的帽子"]
    sides = {name: [text.split() for text in reference] for name in ("source_words", "reference_words")}
    test_set = small(source=reference, reference=reference, **sides)
    systems = [System("a", {"1": other}), System("b", {"1": reference})]
    analysis = small_analysis(systems=systems, settings=FEW_CHARTS, **vars(test_set))
    open_page(browser, write_page(tmp_path, small_report(analysis=analysis, training=NO_TRAINING, attachments=[])))
    return all_of(browser, ".cards .sentence")


def test_words_that_differ_are_marked(browser, words):
    assert marks(words[0]) == [("moved", "today"), ("extra", "cat")]
    assert marks(words[1]) == [("extra", "蓝")]
    choose(browser, "compareWith", "a")
    card = all_of(browser, ".cards .sentence")[0]
    assert marks(card) == [("extra", "dog"), ("moved", "today"), ("extra", ".")] * 2, "the reference and system b"
    choose(browser, "compareWith", "nothing")
    assert all_of(browser, ".cards mark") == []
    _, example = all_of(browser, "#section-Largest-differences .sentence")
    assert {name.text for name in example.find_elements(By.CLASS_NAME, "system")} == {"a", "b"}
    assert ("extra", "cat") in marks(example)


def test_planted_markup_is_shown_as_text(browser, tmp_path):
    report = planted_report()
    (tmp_path / "report.html").write_text(planted_page(), encoding="utf-8")
    open_page(browser, tmp_path / "report.html")
    assert browser.title == PLANTED
    assert all_of(browser, "main b, main script, main img:not([src^='data:image/svg'])") == []
    card = all_of(browser, ".cards .sentence")[0]
    texts = [text.text for text in card.find_elements(By.CLASS_NAME, "text")]
    assert texts == [
        report.analysis.test_set.source[0],
        report.analysis.test_set.reference[0],
        report.analysis.systems[0].translations["1"][0],
        report.analysis.systems[1].translations["1"][0],
    ]
    assert all_of(browser, ".legend button")[0].text == f"a{PLANTED}"
    control(browser, "search").send_keys("<IMG")
    assert len(numbers(browser)) == 25
    assert complaints(browser) == []
    assert requested_addresses(browser) == []


@cache
def wide_page():
    """A page with wide tables and a wide drawing."""
    test_set = small(copies=5)
    names = ["a_system_with_a_rather_long_name-and-options", *(f"system_{letter}" for letter in "bcdef")]
    attachments = [Figure("Alignments", "wide", svg(width=1500))]
    analysis = small_analysis(systems=[perfect(test_set, name) for name in names], settings=FEW_CHARTS)
    return render_page(small_report(analysis=analysis, attachments=attachments))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_tables_but_not_the_page(browser, tmp_path, scheme):
    resize(browser, 390, 800)
    prefer(browser, scheme)
    (tmp_path / "report.html").write_text(wide_page(), encoding="utf-8")
    open_page(browser, tmp_path / "report.html")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    wide = [box for box in all_of(browser, ".scroll") if int(box.get_property("scrollWidth")) > box.size["width"]]
    assert wide and all(box.get_attribute("tabindex") == "0" for box in wide)
    body = one(browser, "body")
    ground, text = (body.value_of_css_property(name) for name in ("background-color", "color"))
    assert (brightness(ground) > brightness(text)) == (scheme == "light")
    assert complaints(browser) == []


def test_long_names_of_systems_break_where_they_must(browser, tmp_path):
    """The names that an ablation gives its systems."""
    test_set = small(copies=5)
    common = "gru_encoder+dropout=0.3+decoder_attention=additive+encoder_layers=2+label_smoothing=0.1"
    made = forgetful(test_set), perfect(test_set)
    systems = [dataclasses.replace(one, name=f"{common}+{one.name}") for one in made]
    analysis = small_analysis(systems=systems, settings=FEW_CHARTS)
    path = write_page(tmp_path, small_report(analysis=analysis, training=NO_TRAINING, attachments=[]))
    for width in (390, 1300):
        resize(browser, width, 900)
        open_page(browser, path)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        beyond, over = browser.execute_script(
            "const shown = [...document.querySelectorAll('main *')].filter(one => !one.closest('.scroll'));"
            "const beyond = shown.filter(one => one.getBoundingClientRect().right > innerWidth).length;"
            "const terms = [...document.querySelectorAll('.sentence dt')].filter(one => one.querySelector('.system'));"
            "const over = terms.filter(one => one.scrollWidth > one.clientWidth + 1).length;"
            "return [beyond, terms.length ? over : 'no terms']"
        )
        assert (beyond, over) == (0, 0)


def brightness(color):
    """Of ``rgba(R, G, B, A)``."""
    return sum(float(part) for part in re.findall(r"[\d.]+", color)[:3])


def test_text_from_the_right_runs_from_the_right(browser, tmp_path):
    arabic = ["رجل يرتدي قبعة برتقالية"] * 3
    test_set = small(source=arabic, reference=arabic, source_words=[["a"]] * 3, reference_words=[["a"]] * 3)
    systems = [System("a", {"1": ["a man"] * 3}), System("b", {"1": arabic})]
    analysis = small_analysis(systems=systems, settings=FEW_CHARTS, **vars(test_set))
    open_page(browser, write_page(tmp_path, small_report(analysis=analysis, training=NO_TRAINING, attachments=[])))
    card = all_of(browser, ".cards .sentence")[0]
    directions = [text.value_of_css_property("direction") for text in card.find_elements(By.CLASS_NAME, "text")]
    assert directions == ["rtl", "rtl", "ltr", "rtl"]


def test_paper_has_everything_but_controls(browser, page):
    fold = one(browser, "details")
    browser.execute_script("arguments[0].open = false", fold)
    assert len(browser.execute_cdp_cmd("Page.printToPDF", {})["data"]) > 10_000
    assert fold.get_attribute("open") is not None
    resize(browser, 718, 1000)  # A4 without margins
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not any(one.is_displayed() for one in all_of(browser, ".controls, .legend, .contents, [download]"))
        assert all(chart.is_displayed() for chart in all_of(browser, ".chart svg"))
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 718
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_of_many_sentences_only_one_page_is_in_the_document(browser, tmp_path):
    analysis = small_analysis(copies=200, settings=dataclasses.replace(FEW_CHARTS, resamples=0))
    open_page(browser, write_page(tmp_path, small_report(analysis=analysis)))
    assert found(browser) == "Sentences 1–25 of 1,200"
    assert len(all_of(browser, ".cards dd.text")) == 25 * 4
    control(browser, "search").send_keys("gray")
    assert found(browser) == "Sentences 1–25 of 200 that match, 1,200 in all"

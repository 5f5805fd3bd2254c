import base64
import dataclasses
import hashlib
import html
import re
import warnings
from xml.etree import ElementTree

import pandas
import pytest

from recurrent_mt.evaluation.analysis import analyze
from recurrent_mt.evaluation.scores import Settings
from recurrent_mt.evaluation.tables import score_cell, select, table_as_csv, table_as_latex
from recurrent_mt.evaluation.translated_files import UnknownWords
from recurrent_mt.report.attachments import Figure, Printout
from recurrent_mt.report.page import render_page
from tests.evaluation.test_sets import forgetful, perfect, small
from tests.pages import Outline
from tests.report.reports import (
    FEW_CHARTS,
    NO_TRAINING,
    PLANTED,
    TRAINING,
    page_data,
    planted_page,
    report_of_few_charts,
    small_analysis,
    small_page,
    small_report,
    svg,
    two_systems,
)

SECTIONS = [
    "Result",
    "What was compared",
    "Training",
    "Scores",
    "Sentence length",
    "Unknown words",
    "Words by frequency",
    "Repetitions and omissions",
    "Largest differences",
    "N-grams",
    "Alignments",
    "Structure",
    "How it was counted",
    "All sentences",
]
#: What groups are called on the page, where that is not what records have.
PRINTED = {"both length": "length of both sides"}


@pytest.fixture(scope="module")
def report():
    return small_report()


@pytest.fixture(scope="module")
def page():
    return small_page()


def test_groups_that_are_called_like_a_system_are_not_its():
    test_set = small(copies=5)
    analysis = small_analysis(systems=[perfect(test_set, "1")], settings=FEW_CHARTS)
    page = render_page(small_report(analysis=analysis, training=NO_TRAINING, attachments=[]))
    rows = re.findall(r'<tr([^>]*)><th scope="row">(.*?)</th>', page)
    marks = {(mark, "swatch" in name) for mark, name in rows if ">1<" in name}
    assert marks == {(' data-system="0"', True), ("", False)}


def test_characters_that_no_font_here_has_are_left_to_the_page():
    test_set = small(copies=5)
    systems = [dataclasses.replace(perfect(test_set), name="\N{OCTOPUS}")]
    report = report_of_few_charts(analysis=small_analysis(systems=systems, settings=FEW_CHARTS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = render_page(report)
    assert re.search("<text[^>]*>\N{OCTOPUS}</text>", page)


def headings(page):
    return re.findall(r'<h2 dir="auto" id="([^"]+)-heading">([^<]*)</h2>', page)


def plain(cell):
    """A cell as the tables for a terminal have it, where a star comes last."""
    return f"{cell.replace('*', '')}*" if "*" in cell else cell


def test_every_section_is_there_and_in_the_contents(page):
    assert [title for _, title in headings(page)] == SECTIONS
    links = re.findall(r'<a dir="auto" href="#([^"]+)">', page)
    assert links == [identifier for identifier, _ in headings(page)]
    identifiers = [attributes["id"] for _, attributes in Outline(page).elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers)) and set(links) <= set(identifiers)


def test_titles_of_attachments_take_no_part_of_the_page_its_name():
    titles = ["Data", "data", "Content", "Scores", "All sentences", "Sentence browser", "é", "É-"]
    page = render_page(report_of_few_charts(attachments=[Printout(title, "One", "two") for title in titles]))
    identifiers = [attributes["id"] for _, attributes in Outline(page).elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    assert {"data", "content", "section-Scores", "attached-Scores", "section-All-sentences"} <= set(identifiers)
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(identifiers)


def test_sections_without_content_are_not_shown():
    test_set = small(copies=3, source=[], source_words=[])
    counted = analyze(test_set, [perfect(test_set)], settings=Settings(metrics=("chrf",), detailed=(), resamples=0))
    page = render_page(small_report(analysis=counted, training=NO_TRAINING, attachments=[]))
    assert [title for _, title in headings(page)] == [
        *SECTIONS[:2],
        "Scores",
        "Repetitions and omissions",
        *SECTIONS[-2:],
    ]
    assert "1 system on 18 sentences" in page


def test_tables_say_what_the_analysis_says(report, page):
    tables = Outline(page).tables
    records = report.analysis.records
    scores = {row[0].strip(): row for row in tables["Scores on the whole test set"][1:]}
    for index, metric in enumerate(report.analysis.signatures):
        for record in select(records, metric=metric, by="all").itertuples():
            assert plain(scores[record.system][index + 1]) == str(score_cell(record))
    for by in ("source length", "reference length", "both length", "unknown words", "unknown words, either"):
        header, *rows = tables[f"chrF2 by {PRINTED.get(by, by)}"]
        found = {name.strip(): cells for name, *cells in rows}
        for record in select(records, metric="chrF2", by=by).itertuples():
            if record.n:
                assert plain(found[record.bucket][header.index(record.system) - 1]) == str(score_cell(record))
    assert tables["Training and speed"][1][1:] == ["1,234,567", "1,500", "66.7", "3.250", "1,050", "–", "–"]


def test_sentences_have_the_scores_of_the_analysis(report, page):
    data, analysis = page_data(page), report.analysis
    assert data["sentences"]["scores"] == [analysis.sentence_scores[name] for name in data["systems"]]


def test_every_chart_has_a_title_a_description_and_a_line_for_each_system(page):
    drawings = [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
    assert len(drawings) == 9
    for drawing in drawings:
        title, description, *_ = drawing
        assert (title.tag, description.tag) == ("title", "desc") and title.text and "forgetful" in description.text
        assert drawing.get("role") == "img"
        assert drawing.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        # Only the first system has dictionaries.
        systems = {"0"} if "unknown words" in title.text else {"0", "1"}
        assert {one.get("data-system") for one in drawing.iter()} == {None, *systems}
    titles = {drawing[0].text for drawing in drawings}
    assert {"chrF2 by source length", "F-measure of words by frequency in training"} <= titles
    assert {"chrF2 of all sentences and by length", "Validation loss by updates"} <= titles


def test_charts_share_no_identifier_and_refer_to_their_own(page):
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    identifiers = [re.findall(r'\bid="([^"]+)"', drawing) for drawing in drawings]
    everywhere = [identifier for found in identifiers for identifier in found]
    assert len(everywhere) == len(set(everywhere))
    for drawing, own in zip(drawings, identifiers, strict=True):
        references = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', drawing)
        assert references and {one or other for one, other in references} <= set(own)


def test_groups_without_sentences_are_left_out(page):
    tables = Outline(page).tables
    assert tables["chrF2 by reference length"][-1][:2] == ["over 6", "5"]
    assert [row[0] for row in tables["chrF2 by unknown words, reference"]] == ["unknown words, reference", "0"]


def test_of_groups_that_not_all_systems_have_each_score_is_in_its_own_column(monkeypatch):
    """Systems with dictionaries of their own have unknown words of their own."""
    monkeypatch.setattr("recurrent_mt.report.page.draw_charts", lambda *_: iter(()))
    test_set = small(copies=5)
    none = [0] * len(test_set)
    few = dataclasses.replace(forgetful(test_set, "few"), unknown=UnknownWords(none, none))
    some = [number % 2 for number in range(len(test_set))]
    many = dataclasses.replace(forgetful(test_set, "many"), unknown=UnknownWords(some, none))
    tables = Outline(render_page(small_report(analysis=small_analysis(systems=[few, many])))).tables
    header, *rows = tables["chrF2 by unknown words, source"]
    cells = {name.strip(): row for name, *row in rows}
    assert header[1:] == ["few", "many"]
    assert cells["1"][0] == "– [0]" and cells["1"][1].endswith(" [15]")
    assert cells["0"][0].endswith(" [30]") and cells["0"][1].endswith(" [15]")


def test_the_best_of_each_column_is_marked(page):
    (table,) = re.findall(r"<caption[^>]*>Scores on the whole test set</caption>(.*?)</table>", page, re.DOTALL)
    best = re.findall(r"<td><strong>([\d.]+)</strong>", table)
    assert best == ["100.00", "100.00", "0.00"]
    assert "Bold: the best of each column." in page


def test_tables_can_be_read_aloud(page):
    outline = Outline(page)
    headers = [attributes for tag, attributes in outline.elements if tag == "th"]
    assert {attributes["scope"] for attributes in headers} == {"row", "col"}
    assert [tag for tag, _ in outline.elements].count("caption") == [tag for tag, _ in outline.elements].count("table")


def test_what_decides_the_numbers_is_told(page):
    for metric in two_systems().signatures.values():
        assert metric in page
    for text in ("20 resamples", "seed 12345", "n − 1 to n + 2 words", "fewer than 5 sentences", "means over seeds"):
        assert text in page


def test_text_from_data_makes_no_elements():
    plain = report_of_few_charts(attachments=[Figure("Alignments", "One", svg()), Printout("Structure", "One", "Two")])
    kinds = [{tag for tag, _ in Outline(page).elements} for page in (render_page(plain), planted_page())]
    assert kinds[1] <= kinds[0]
    page = planted_page()
    outline = Outline(page)
    scripts = [attributes for tag, attributes in outline.elements if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {"type": "module"}]
    assert not [attributes for _, attributes in outline.elements if "onerror" in attributes]
    assert page_data(page)["systems"] == [f"a{PLANTED}", "b"]
    assert page_data(page)["sentences"]["source"][0].endswith(PLANTED)
    assert any(PLANTED in text for text in outline.texts)


def test_the_page_begins_with_what_came_out_and_says_of_what(page):
    first, second, third = (
        page.index(text) for text in ("perfect is ahead of forgetful by", "<svg", "made of &lt;this&gt;")
    )
    assert first < second < third < page.index("Differences in chrF2")


def test_the_order_of_systems_is_the_same_everywhere():
    both = pandas.concat([TRAINING.assign(system=name) for name in ("perfect", "forgetful")])
    tables = Outline(render_page(report_of_few_charts(training=both))).tables
    for caption in ("Systems", "Training and speed", "Scores on the whole test set"):
        assert [row[0].strip() for row in tables[caption][1:]] == ["forgetful", "perfect"]


def test_tables_can_be_taken_along(report, page):
    links = {
        attributes["download"]: attributes["href"]
        for tag, attributes in Outline(page).elements
        if "download" in attributes
    }
    table = report.analysis.tables()["Sentence length"][0]
    for name, text in (("tex", table_as_latex(table)), ("csv", table_as_csv(table))):
        kind, _, content = links[f"chrf2-by-source-length.{name}"].partition(";base64,")
        assert kind.startswith("data:text/") and base64.b64decode(content).decode() == text


def test_examples_are_short_medium_and_long(report, page):
    examples = re.findall(r'data-sentence="(\d+)">\s*<figcaption dir="auto">(.*?)</figcaption>', page)
    titles = [f"{length} source words, better than forgetful" for length in ("1–3", "over 3")]
    assert [title.partition(":")[0] for _, title in examples] == titles, "none is worse"
    scores = report.analysis.sentence_scores
    for sentence, title in examples:
        perfect, forgetful = (scores[name][int(sentence)] for name in ("perfect", "forgetful"))
        assert title.endswith(f": chrF +{perfect - forgetful:.1f}")


def test_ngrams_are_of_each_system_and_the_baseline(page):
    tables = Outline(page).tables
    header, *rows = tables["perfect more often than forgetful"]
    assert header == ["n-gram", "perfect", "forgetful", "in references"] and len(rows) == 10
    assert all(int(mine) > int(other) for _, mine, other, _ in rows)
    assert tables["forgetful more often than perfect"] == [["n-gram", "forgetful", "perfect", "in references"]]


def test_figures_are_documents_apart(page):
    outline = Outline(page)
    images = [attributes for tag, attributes in outline.elements if tag == "img"]
    assert [image["alt"] for image in images] == ["Sentence 1", "Tree"]
    prefix = "data:image/svg+xml;base64,"
    assert base64.b64decode(images[0]["src"].removeprefix(prefix)).decode() == svg()


def test_a_printed_table_is_shown_as_it_is_and_escaped():
    page = render_page(
        report_of_few_charts(attachments=[Printout("Structure", "F1", "left  <b>1.0</b>\nright   2.0\n")])
    )
    assert ">left  &lt;b&gt;1.0&lt;/b&gt;\nright   2.0\n</pre>" in page
    assert ">Structure</h2>" in page


def test_the_policy_allows_the_pages_own_script_and_style_only(page):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules.pop("default-src") == "'none'" and rules.pop("img-src", "data:") == "data:"
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)[1]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    for rule, text in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules.pop(rule) == f"'sha256-{digest}'"
    assert set(rules.values()) == {"'none'"}
    scripts = [attributes["type"] for tag, attributes in Outline(page).elements if tag == "script"]
    assert scripts == ["application/json", "module"]


def test_nothing_is_loaded_from_elsewhere(page):
    outline = Outline(page)
    loaded = [a.get("src") or a.get("href") for _, a in outline.elements if "src" in a or "href" in a]
    assert all(address.startswith(("data:", "#")) for address in loaded)
    assert not re.search(r"@import|url\((?!#)", page)


def test_scripts_write_text_only(page):
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)[1]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script)

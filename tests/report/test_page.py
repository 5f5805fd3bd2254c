import base64
import hashlib
import re

import pytest

from recurrent_mt.evaluation.analysis import analyze
from recurrent_mt.evaluation.records import make_frame, select_records
from recurrent_mt.evaluation.score_tables import score_cell
from recurrent_mt.evaluation.scores import Settings
from recurrent_mt.report.page import render_page
from recurrent_mt.report.report import Figure, Printout
from tests.evaluation.test_sets import perfect, small
from tests.report.reports import (
    PLANTED,
    Outline,
    page_data,
    planted_report,
    small_analysis,
    small_report,
    svg,
)

SECTIONS = [
    "What was compared, and how",
    "Scores",
    "Sentence length",
    "Unknown words",
    "Words by frequency",
    "Too much and too little",
    "N-best lists",
    "Training",
    "Greatest differences",
    "Alignments",
    "Structure",
    "All sentences",
]


@pytest.fixture(scope="module")
def report():
    return small_report()


@pytest.fixture(scope="module")
def page(report):
    return render_page(report)


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


def test_sections_without_content_are_left_out():
    test_set = small(copies=3, source=[], source_words=[])
    counted = analyze(test_set, [perfect(test_set)], settings=Settings(metrics=("chrf",), detailed=(), resamples=0))
    page = render_page(small_report(analysis=counted, training=make_frame([]), figures=[]))
    assert [title for _, title in headings(page)] == [SECTIONS[0], "Scores", "Too much and too little", "All sentences"]
    assert "1 system on 18 sentences" in page


def test_tables_say_what_the_analysis_says(report, page):
    tables = Outline(page).tables
    records = report.analysis.records
    scores = {row[0].strip(): row for row in tables["Scores on the whole test set"][1:]}
    for index, metric in enumerate(report.analysis.signatures):
        for record in select_records(records, metric=metric, by="all"):
            assert plain(scores[record.system][index + 1]) == str(score_cell(record))
    for by in ("source length", "unknown words, either", "unknown words"):
        header, *rows = tables[f"chrF2 by {by}"]
        found = {name.strip(): cells for name, *cells in rows}
        for record in select_records(records, metric="chrF2", by=by):
            if not record.n:
                assert found[record.bucket] == ["0", "no sentences"]
            else:
                assert plain(found[record.bucket][header.index(record.system) - 1]) == str(score_cell(record))
    assert tables["Training and speed"][1][1:] == ["1,234,567", "1,500", "66.7", "3.250", "1,050", "–", "–"]


def test_the_charts_have_the_numbers_of_the_analysis(report, page):
    data, records = page_data(page), report.analysis.records
    charts = {chart["identifier"]: chart for chart in data["charts"]}
    for side in ("source", "reference", "both"):
        chart = charts[f"chrf2-along-{side}-length"]
        for series in chart["series"]:
            name = data["systems"][series["system"]]
            points = select_records(records, metric="chrF2", by=f"along {side} length", system=name)
            assert chart["places"] == [int(point.bucket) for point in points]
            assert series["marks"] == [[point.value, point.low, point.high, point.n] for point in points]
    words = charts["f-measure-of-words-by-frequency-in-training"]
    assert words["labels"] == ["never seen", "1", "2–4"]
    expected = select_records(records, metric="F-measure of words, %", system=data["systems"][0])
    assert [mark[3] for mark in words["series"][0]["marks"]] == [one.n for one in expected[:3]]
    assert data["sentences"]["scores"] == [report.analysis.sentence_scores[name] for name in data["systems"]]
    places = {attributes.get("data-chart") for _, attributes in Outline(page).elements} - {None}
    assert places == set(charts)


def test_n_best_lists_are_scored_and_stand_beside_their_scores(report, page):
    rows = Outline(page).tables["BLEU of the best in the n-best lists"]
    assert rows[0] == ["System", "hypotheses", "first", "best of 2", "best of 3", "first is best, %"]
    found = select_records(report.analysis.records, by="n-best list")
    values = {one.bucket if one.metric == "BLEU, best of n" else one.metric: one.value for one in found}
    reached = [f"{values[depth]:.2f}" for depth in "123"]
    assert rows[1:] == [["forgetful", "3.0", *reached, f"{values['first is best, %']:.1f}"]]
    lists, none = page_data(page)["sentences"]["nbest"]
    assert none == [] and len(lists) == 30
    assert [text for _, _, text in lists[2]] == ["the black", "red", "the black dog"]
    assert [score for score, _, _ in lists[2]] == [-0.25, -0.5, -0.75]
    scores = report.analysis.hypothesis_scores["forgetful"]
    assert [chrf for _, chrf, _ in lists[2]] == pytest.approx(scores[2], abs=0.005)
    assert lists[2][0][1] == pytest.approx(report.analysis.sentence_scores["forgetful"][2], abs=0.005)


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, False), (4, "The lists themselves of the first 4 sentences, with"), (30, "themselves, with")],
)
def test_a_page_carries_lists_of_as_many_sentences_as_it_says(count, said):
    page = render_page(small_report(listed_sentences=count))
    assert len(page_data(page)["sentences"]["nbest"][0]) == count
    assert said in page if said else "The lists themselves" not in page
    assert "best of 3" in page


def test_groups_without_sentences_say_so(page):
    tables = Outline(page).tables
    assert tables["chrF2 by reference length"][-1][:2] == ["over 6", "5"]
    assert tables["chrF2 by unknown words, reference"][-1] == ["2 or more", "0", "no sentences"]
    assert "No sentences with 1, 2 or more." in page


def test_the_best_of_each_column_is_marked(page):
    (table,) = re.findall(r"<caption>Scores on the whole test set</caption>(.*?)</table>", page, re.DOTALL)
    best = re.findall(r'<td class="best"><strong>([\d.]+)</strong>', table)
    assert best == ["100.00", "100.00", "0.00"]
    assert "Bold: the best of its column." in page


def test_tables_can_be_read_aloud(page):
    outline = Outline(page)
    headers = [attributes for tag, attributes in outline.elements if tag == "th"]
    assert {attributes["scope"] for attributes in headers} == {"row", "col"}
    assert [tag for tag, _ in outline.elements].count("caption") == [tag for tag, _ in outline.elements].count("table")


def test_what_decides_the_numbers_is_told(page):
    for metric in small_analysis().signatures.values():
        assert metric in page
    for text in ("20 resamples", "seed 12345", "n − 1 to n + 2 words", "fewer than 5 sentences", "means over seeds"):
        assert text in page


def test_text_from_data_makes_no_elements():
    kinds = [{tag for tag, _ in Outline(render_page(one)).elements} for one in (small_report(), planted_report())]
    assert kinds[1] <= kinds[0]
    page = render_page(planted_report())
    outline = Outline(page)
    scripts = [attributes for tag, attributes in outline.elements if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {"type": "module"}]
    assert not [attributes for _, attributes in outline.elements if "onerror" in attributes]
    assert page_data(page)["systems"] == [f"a{PLANTED}", "b"]
    assert page_data(page)["sentences"]["source"][0].endswith(PLANTED)
    assert any(PLANTED in text for text in outline.texts)


def test_the_policy_allows_the_pages_own_script_and_style_only(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules.pop("default-src") == "'none'" and rules.pop("img-src") == "data:"
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)[1]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    for rule, text in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules.pop(rule) == f"'sha256-{digest}'"
    assert set(rules.values()) == {"'none'"}


def test_nothing_is_loaded_from_elsewhere(page):
    outline = Outline(page)
    loaded = [a.get("src") or a.get("href") for _, a in outline.elements if "src" in a or "href" in a]
    assert all(address.startswith(("data:", "#")) for address in loaded)
    assert not re.search(r"@import|url\(", page)


def test_scripts_write_text_only(page):
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)[1]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script)


def test_figures_are_documents_apart(page):
    outline = Outline(page)
    images = [attributes for tag, attributes in outline.elements if tag == "img"]
    assert [image["alt"] for image in images] == ["Sentence 1", "Tree"]
    prefix = "data:image/svg+xml;base64,"
    assert base64.b64decode(images[0]["src"].removeprefix(prefix)).decode() == svg()
    assert "Darker: less" in page


@pytest.mark.parametrize(
    ("text", "message"),
    [("<svg", "figure 'one' is not well-formed XML"), ("<html/>", "figure 'one' is no SVG: its outermost element")],
)
def test_what_is_no_drawing_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        Figure("Alignments", "one", "", text)


def test_a_printed_table_is_shown_as_it_is_and_escaped():
    page = render_page(small_report(figures=[Printout("Structure", "F1", "left  <b>1.0</b>\nright   2.0\n")]))
    assert ">left  &lt;b&gt;1.0&lt;/b&gt;\nright   2.0\n</pre>" in page
    assert ">Structure</h2>" in page

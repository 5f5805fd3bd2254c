import base64
import dataclasses
import re
import warnings
from xml.etree import ElementTree

import pandas
import pytest

from recurrent_mt.evaluation.analysis import analyze
from recurrent_mt.evaluation.figures import save_figure
from recurrent_mt.evaluation.plots import draw
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
    "Alignments",
    "Structure",
    "How it was counted",
    "All sentences",
]
#: Of examples.
LENGTHS = ("1–3 source words", "over 3 source words")
#: What groups are called on the page, where that is not what records have.
PRINTED = {"both length": "length of both sides"}


@pytest.fixture(scope="module")
def report():
    return small_report()


@pytest.fixture(scope="module")
def page():
    return small_page()


def test_only_systems_have_colors_whatever_they_are_called():
    test_set = small(copies=5)
    names = ("System", "words in references", "seeds", "1")
    systems = [dataclasses.replace(perfect(test_set), name=name) for name in names]
    page = render_page(report_of_few_charts(analysis=small_analysis(systems=systems, settings=FEW_CHARTS)))
    heads, bodies = (re.findall(f"<{part}>(.*?)</{part}>", page, re.DOTALL) for part in ("thead", "tbody"))
    colored = {
        caption: ([text.count("swatch") for text in re.findall("<th.*?</th>", head)], re.findall("<th.*?</th>", body))
        for caption, head, body in zip(re.findall(r"<caption[^>]*>(.*?)</caption>", page), heads, bodies, strict=True)
    }
    columns, rows = colored["Systems"]
    assert columns == [0] * 2 and [row.count("swatch") for row in rows] == [1] * 4
    columns, rows = colored["F-measure of words, in percent"]
    assert columns == [0, 0, 1, 1, 1, 1] and any(">1<" in row for row in rows)
    assert [row.count("swatch") for row in rows] == [0] * len(rows)


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
            if not record.n:
                (cells,) = [cells for name, cells in found.items() if record.bucket in name.split(", ")]
                assert cells == ["0", "no sentences"]
            else:
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


def test_figures_on_disk_have_the_lines_of_the_page(report, page, tmp_path):
    (drawing,) = re.findall(r'<svg[^>]*aria-labelledby="chrf2-by-source-length-title.*?</svg>', page, re.DOTALL)
    written = draw(report.analysis, "chrf2-by-source-length")
    save_figure(written, tmp_path / "first.svg")
    save_figure(draw(report.analysis, "chrf2-by-source-length"), tmp_path / "again" / "first.svg")
    text = (tmp_path / "first.svg").read_text()
    assert text == (tmp_path / "again" / "first.svg").read_text()
    lines = {
        re.sub(r"\s", "", re.search(r'system-0-line".*?<path d="([^"]+)"', one, re.DOTALL)[1])
        for one in (drawing, text)
    }
    # Both axes of the page end where the highest of its charts does.
    assert len({line.count("L") for line in lines}) == 1


def test_groups_without_sentences_say_so(page):
    tables = Outline(page).tables
    assert tables["chrF2 by reference length"][-1][:2] == ["over 6", "5"]
    assert tables["chrF2 by unknown words, reference"][-1] == ["1, 2 or more", "0", "no sentences"]


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


def test_examples_are_short_medium_and_long_and_ngrams_follow(page):
    start = page.index('<section class="card" id="section-Largest-differences"')
    section = Outline(page[start : page.index("</section>", start)])
    titles = [" ".join(text.split()) for text in section.texts if "source words" in text]
    assert titles == [f"{length}, {how} than" for length in LENGTHS for how in ("better", "worse")]
    header, *rows = section.tables["perfect more often than forgetful"]
    assert header == ["n-gram", "perfect", "forgetful", "in references"] and len(rows) == 10
    assert all(int(mine) > int(other) for _, mine, other, _ in rows)
    assert section.tables["forgetful more often than perfect"] == [["n-gram", "forgetful", "perfect", "in references"]]


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

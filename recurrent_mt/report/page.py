"""A report: its parts in order with their charts, and all of it as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib.figure
import pandas
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from ..evaluation.analysis import FREQUENCY, LENGTH, UNKNOWN_WORDS, Analysis, split_lowercase
from ..evaluation.figures import COLORS, using_settings
from ..evaluation.findings import PAIRS, compare_pairs, main_metric, pair_table, write_headline
from ..evaluation.plots import HEIGHT, WIDTH, draw_overview, list_plots
from ..evaluation.scores import CURVE_RESAMPLES, by_length, countable_sides
from ..evaluation.tables import (
    FEWEST,
    INTERVAL,
    PAIRED_TEST,
    SIGNIFICANT,
    Cell,
    Table,
    format_number,
    make_frame,
    select,
    table_as_csv,
    table_as_latex,
)
from ..evaluation.training import BY_TRAINING, PARAMETERS, cost_table, draw_learning_curves
from ..evaluation.words import choose_ngrams, compare_ngrams, ngram_table
from ..metrics import SEED
from .attachments import Attachment, Figure, Printout, Results, join_tables, write_address

#: What refers to an identifier: a link or a clip path.
REFERENCE = re.compile(r"(^|url\()#")
#: Identifier of an artist that belongs to a system.
SYSTEM = re.compile(r"system-(\d+)-")
#: What could end a script element or, in JavaScript's older eyes, a line.
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
#: Template of sections of other commands' figures and tables.
ATTACHED = "attachments"
#: Sections with charts that are no analysis'.
RESULT, TRAINING = "Result", "Training"
DIFFERENCE_NOTE = (
    "Of short, medium, and long sentences: the one on which a system is furthest above {baseline} by chrF, and the one "
    "on which it is furthest below. All sentences can be sorted by the same difference."
)
#: N-grams of each kind.
NGRAMS = 10
NGRAM_NOTE = (
    "Words in a row that one system has more often than the other where the reference has them, too. Those that only "
    "one of them has, and often, come first (the smoothed share of compare-mt, Neubig et al. 2019); case is ignored."
)
#: What the numbers of a section count; formatted with what its words are.
COUNTED = {
    "Scores": "Each score is of all sentences together, as of one text.",
    LENGTH: "Each score is of the sentences with so many words; words are {words}.",
    UNKNOWN_WORDS: "Each score is of the sentences with so many words that a system's dictionary lacks.",
    FREQUENCY: "How well words are translated, by how often the training text has them.",
    "Repetitions and omissions": "Words of all translations, counted one by one, beside those of the references.",
}


@dataclass(frozen=True)
class Report:
    """An analysis and what is shown with it."""

    analysis: Analysis  # systems and what was counted of them; a system's place decides its order and color
    title: str  # heading of the page
    #: what is known of where all this comes from, by what it is: corpus, settings, versions, date, command
    facts: Mapping[str, str] = field(default_factory=dict)
    #: records of the trainings whose logs are at hand
    training: pandas.DataFrame = field(default_factory=lambda: make_frame([]))
    #: by system, see `read_learning_curves`
    curves: Mapping[str, pandas.DataFrame] = field(default_factory=dict)
    #: figures and tables of other commands, in the order in which they are shown; sections follow the first of each
    attachments: Sequence[Attachment] = ()


@dataclass(frozen=True)
class Chart:
    """A figure of the page."""

    title: str  # what it shows
    svg: Markup  # the drawing


@dataclass(frozen=True)
class Section:
    """A part of the page that the contents list names."""

    title: str  # its heading
    lead: Sequence[str] = ()  # sentences below it
    charts: Sequence[Chart] = ()  # shown first, side by side
    tables: Sequence[Table] = ()  # shown below them
    template: str = ""  # macro of ``page.html.j2`` for what else it has; empty if nothing
    values: Mapping[str, Any] = field(default_factory=dict)  # for the macro

    @property
    def identifier(self) -> str:
        """What links point to: no other section's, nor that of another part of the page, whatever the title.

        Characters that addresses lack are spelled as code points.
        """
        letters = (
            letter if letter.isascii() and letter.isalnum() else "-" if letter == " " else f"_{ord(letter):x}_"
            for letter in self.title
        )
        return f"{'attached' if self.template == ATTACHED else 'section'}-{''.join(letters)}"


def list_sections(report: Report) -> Iterator[Section]:
    """Every part that there is something to show in: first what came out, then of what, then the details."""
    analysis = report.analysis
    metric, pairs = main_metric(analysis), {name: compare_pairs(analysis, name) for name in analysis.signatures}
    yield Section(RESULT, write_headline(analysis, pairs[metric], metric), list(draw_charts(report, RESULT)))
    yield Section("What was compared", tables=[system_table(analysis)], template="facts")
    if not report.training.empty:
        tables = [training_table(report.training, analysis.names)]
        yield Section(TRAINING, charts=list(draw_charts(report, TRAINING)), tables=tables)
    for title, tables in analysis.tables().items():
        # Signatures are part of the method.
        tables = [replace(table, signatures=()) for table in tables]
        if title == "Scores" and analysis.systems[1:]:
            tables += [pair_table(found, name, analysis.names) for name, found in pairs.items()]
        lead = COUNTED[title].format(words=analysis.test_set.words)
        yield Section(title, [lead], list(draw_charts(report, title)), tables)
    if analysis.systems[1:]:
        note = DIFFERENCE_NOTE.format(baseline=analysis.baseline)
        examples = {"examples": list(list_examples(analysis))}
        yield Section("Largest differences", [note], template="differences", values=examples)
        yield Section("N-grams", [NGRAM_NOTE], tables=list(list_ngrams(analysis)))
    yield from list_attachments(report.attachments)
    yield Section("How it was counted", template="method")
    yield Section("All sentences", template="browser", values=list_controls(analysis))


def system_table(analysis: Analysis) -> Table:
    """Lists the systems in a table, the baseline first."""
    known = any(system.vocabulary_sizes for system in analysis.systems)
    rows = []
    for system in analysis.systems:
        sizes = (system.vocabulary_sizes or (None, None)) if known else ()
        rows.append([Cell(str(len(system.translations))), *(Cell(format_number(size, ",")) for size in sizes)])
    header = ["System", "seeds", *(["source vocabulary", "target vocabulary"] if known else [])]
    note = f"{analysis.baseline} is the baseline: stars and differences compare with it."
    return Table("Systems", header, analysis.names, rows, [note] if len(rows) > 1 else [])


def training_table(records: pandas.DataFrame, names: Sequence[str]) -> Table:
    """How the systems were trained, and how fast, in the order of their names."""
    found = select(records, by=BY_TRAINING, metric=PARAMETERS)
    table = cost_table(records, sorted(found["system"], key=list(names).index))
    notes = [*table.notes, "Compare speeds only if they were measured on one machine."]
    if seeds := [f"{one.system}: {one.n}" for one in found[found["n"] > 1].itertuples()]:
        notes.append(f"Means over seeds, except of memory ({', '.join(seeds)}).")
    return replace(table, caption="Training and speed", notes=notes)


def list_examples(analysis: Analysis) -> Iterator[tuple[str, list[tuple[str, int, float]]]]:
    """Where each system differs most from the baseline: by length, a sentence either way and by how much."""
    side, limits = countable_sides(analysis.test_set)[0], analysis.settings.limits
    # Short, medium, long: an example in each of the tables' groups would be too many to read.
    groups = by_length(analysis.test_set, side, sorted({limits[0], limits[(len(limits) - 1) // 2]})).buckets
    for name in analysis.names[1:]:
        yield (
            name,
            [
                (f"{label} {side} words, {how} than {analysis.baseline}", sentence, difference)
                for label, sentences in groups.items()
                for how, found in zip(("better", "worse"), analysis.find_differences(name, 1, sentences))
                for sentence, difference in found.items()
            ],
        )


def list_ngrams(analysis: Analysis) -> Iterator[Table]:
    """What each system gets right more often than the baseline, and the other way around."""
    baseline, *others = (list(split_lowercase(system.first_seed, analysis.test_set)) for system in analysis.systems)
    references = list(split_lowercase(analysis.test_set.reference, analysis.test_set))
    for name, words in zip(analysis.names[1:], others):
        for one, other, pair in (
            (words, baseline, (name, analysis.baseline)),
            (baseline, words, (analysis.baseline, name)),
        ):
            yield ngram_table(choose_ngrams(compare_ngrams(one, other, references), NGRAMS), *pair)


def list_attachments(attachments: Sequence[Attachment]) -> Iterator[Section]:
    """A section for each heading: tables and text first, then drawings side by side."""
    for title in dict.fromkeys(one.section for one in attachments):
        members = [one for one in attachments if one.section == title]
        tables = join_tables([table for one in members if isinstance(one, Results) for table in one.tables])
        values = {
            "figures": [one for one in members if isinstance(one, Figure)],
            "printouts": [one for one in members if isinstance(one, Printout)],
        }
        yield Section(title, tables=tables, template=ATTACHED, values=values)


def draw_charts(report: Report, section: str) -> Iterator[Chart]:
    """The figures of a section; those of one metric share a scale, so that they compare at a glance."""
    analysis = report.analysis
    records, window, everyone = analysis.records, analysis.settings.window, ", ".join(analysis.names)
    if section == RESULT:
        title = f"{main_metric(analysis)} of all sentences and by length"
        yield Chart(title, write_svg(draw_overview(records, main_metric(analysis)), title, f"Scores of {everyone}."))
    if section == TRAINING and any(len(curve) > 1 for curve in report.curves.values()):
        figure = draw_learning_curves(report.curves, names=analysis.names)
        figure.set_size_inches(WIDTH, HEIGHT)
        title, text = "Validation loss by updates", f"Learning curves of {', '.join(report.curves)}."
        yield Chart(title, write_svg(figure, title, text))
    plots = [plot for plot in list_plots(records) if plot.section == section]
    figures = [plot.draw(records, window) for plot in plots]
    for plot, figure in zip(plots, figures):
        highest = max(other.axes[0].get_ylim()[1] for one, other in zip(plots, figures) if one.metric == plot.metric)
        figure.axes[0].set_ylim(0, highest)
        systems = ", ".join(select(records, metric=plot.metric, by=plot.by)["system"].unique())
        yield Chart(plot.title, write_svg(figure, plot.title, f"Scores of {systems}."))


def write_svg(figure: matplotlib.figure.Figure, title: str, description: str) -> Markup:
    """A figure as an SVG element.

    Text stays text, in the page's font. All identifiers begin with the title, so that no two figures of a page share
    one; ``data-system`` tells the page's script whose a line is. Style attributes become presentation attributes, which
    the page's content security policy need not allow.
    """
    name, buffer = make_identifier(title), StringIO()
    with using_settings({"svg.fonttype": "none", "svg.hashsalt": name}), warnings.catch_warnings():
        # The page's fonts need not be matplotlib's.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in root.iter():
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
        parent.tag = parent.tag.rpartition("}")[2]
        parent.attrib = make_own(parent.attrib, f"{name}-")
    label, text = f"{name}-title", f"{name}-text"
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-labelledby": f"{label} {text}"}
    for tag, identifier, words in (("desc", text, description), ("title", label, title)):
        child = ElementTree.Element(tag, {"id": identifier})
        child.text = words
        root.insert(0, child)
    return Markup(ElementTree.tostring(root, encoding="unicode", method="html"))


def make_own(attributes: dict[str, str], prefix: str) -> dict[str, str]:
    """Attributes of an element, its identifiers and references with a prefix and its style spelled out."""
    found: dict[str, str] = {}
    for key, value in attributes.items():
        key = key.rpartition("}")[2]
        if key == "style":
            declarations = (part.split(":", 1) for part in value.split(";") if ":" in part)
            found |= {name.strip(): text.strip() for name, text in declarations if name.strip() != "font-family"}
        elif key == "id":
            found[key] = prefix + value
            if match := SYSTEM.match(value):
                found["data-system"] = match[1]
        else:
            found[key] = REFERENCE.sub(rf"\1#{prefix}", value)
    return found


def make_identifier(text: str) -> str:
    """A name for an element; empty for text of letters that addresses lack."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def list_controls(analysis: Analysis) -> dict[str, Any]:
    """What the controls of the sentence browser offer, as pairs of value and text."""
    systems = [(str(index), system.name) for index, system in enumerate(analysis.systems)]
    sides = [*([("source", "source")] if analysis.test_set.source else []), ("reference", "reference")]
    orders = [("number", "position in the test set"), *((f"length:{side}", f"{side} length") for side, _ in sides)]
    orders += [(f"score:{index}", f"chrF of {name}") for index, name in systems]
    orders += [(f"difference:{index}", f"chrF of {name} minus {systems[0][1]}") for index, name in systems[1:]]
    orders += [("spread", "chrF, best minus worst system")] if len(systems) > 1 else []
    return {"systems": systems, "orders": orders}


def collect_data(analysis: Analysis) -> dict[str, Any]:
    """What the page's script works on: numbers unrounded."""
    test_set = analysis.test_set
    return {
        "systems": analysis.names,
        "lowercase": test_set.lowercase,
        "sentences": {
            "source": list(test_set.source),
            "reference": list(test_set.reference),
            "sourceLengths": list(map(len, test_set.source_words)),
            "referenceLengths": list(map(len, test_set.reference_words)),
            "translations": [list(system.first_seed) for system in analysis.systems],
            "scores": [list(analysis.sentence_scores[name]) for name in analysis.names],
        },
    }


def render_page(report: Report) -> str:
    """Renders the report as one HTML page that loads nothing and runs no script but its own.

    Text from data is escaped by the template, or is in JSON in an element that is never executed; the script writes it
    as text content only. A content security policy names style and script by their checksums and allows nothing else:
    no network, and no script or style that came with the data.
    """
    folder = Path(__file__).parent / "templates"
    colors = [f".series-{index} {{ --series: {color}; }}" for index, color in enumerate(COLORS)]
    style = "\n".join([*colors, (folder / "style.css").read_text(encoding="utf-8")])
    script = (folder / "page.js").read_text(encoding="utf-8")
    return load_template(folder / "page.html.j2").render(
        policy=write_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        data=write_json(collect_data(report.analysis)),
        title=report.title,
        report=report,
        analysis=report.analysis,
        systems=report.analysis.names,
        sections=list(list_sections(report)),
        colors=len(COLORS),
        list_longest_details=list_longest_details,
        list_downloads=list_downloads,
        constants={
            "SEED": SEED,
            "CURVE_RESAMPLES": CURVE_RESAMPLES,
            "FEWEST": FEWEST,
            "INTERVAL": INTERVAL,
            "PAIRED_TEST": PAIRED_TEST,
            "SIGNIFICANT": SIGNIFICANT,
            "PAIRS": PAIRS,
        },
    )


def load_template(file: Path) -> Template:
    """A template that escapes what it is given, and fails where something is missing."""
    environment = Environment(
        loader=FileSystemLoader(file.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(file.name)


def write_policy(style: str, script: str) -> str:
    """The content security policy: this style and script, images inside the page, nothing else."""
    style_hash, script_hash = (
        base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") for text in (style, script)
    )
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; "
        "base-uri 'none'; form-action 'none'"
    )


def write_json(data: object) -> Markup:
    """JSON for a script element: nothing in it can end the element, open a comment or break a line."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(ESCAPES))


def list_downloads(table: Table) -> Iterator[tuple[str, str, str]]:
    """The table in other forms: the form's name, a file's name, and the address of its content."""
    name = make_identifier(table.caption) or "table"
    yield "LaTeX", f"{name}.tex", write_address("text/plain;charset=utf-8", table_as_latex(table))
    yield "CSV", f"{name}.csv", write_address("text/csv;charset=utf-8", table_as_csv(table))


def list_longest_details(table: Table) -> list[str]:
    """The longest detail in each column of a table."""
    return [max((cell.detail for cell in column), key=len) for column in zip(*table.rows, strict=True)]

"""Small reports for the tests of the page."""

import dataclasses
import json
import re
from functools import cache

import pandas

from recurrent_mt.evaluation.analysis import analyze
from recurrent_mt.evaluation.scores import Settings
from recurrent_mt.evaluation.tables import Record, make_frame
from recurrent_mt.evaluation.training import BY_TRAINING, PARAMETERS, SECONDS, UPDATES, VALID_LOSS, WORDS
from recurrent_mt.evaluation.translated_files import System
from recurrent_mt.report.attachments import Figure, Printout
from recurrent_mt.report.page import Report, render_page
from tests.evaluation.test_sets import forgetful, perfect, small

SETTINGS = Settings(
    metrics=("bleu", "chrf", "ter"), detailed=("chrf",), resamples=20, limits=(3, 6), most_unknown=2, window=4, fewest=5
)
#: With one chart in place of seven, whose drawing takes most of the time of a page.
FEW_CHARTS = dataclasses.replace(SETTINGS, detailed=())
TRAINING_TEXT = ["the cat sleeps", "the dog sees the cat"]
FACTS = {PARAMETERS: 1234567, UPDATES: 1500.0, VALID_LOSS: 3.25, SECONDS: 4000.0, WORDS: 1050.4}
TRAINING = make_frame(Record("forgetful", metric, value, by=BY_TRAINING, n=2) for metric, value in FACTS.items())
CURVE = pandas.DataFrame({"1": [3.5, 3.25]}, index=[750, 1500])
NO_TRAINING = make_frame([])
PLANTED = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\"> <b>&amp;"


def svg(*, color="red", inside="", width=300):
    """A drawing with the identifier that every other one has too."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="100"><defs><clipPath id="p1">'
        f'<rect width="80" height="80"/></clipPath></defs>{inside}<style>* {{ opacity: 0.9 }}</style>'
        f'<rect width="{width}" height="100" fill="{color}" clip-path="url(#p1)"/></svg>'
    )


def small_analysis(copies=5, systems=None, settings=SETTINGS, **changes):
    """Two systems, one of them with two seeds and dictionaries, counted in every way."""
    test_set = small(copies, **changes)
    systems = systems or [forgetful(test_set), perfect(test_set)]
    return analyze(test_set, systems, settings=settings, training_text=TRAINING_TEXT)


@cache
def two_systems(*, few_charts=False):
    """The small analysis, counted once for all tests."""
    return small_analysis(settings=FEW_CHARTS if few_charts else SETTINGS)


def small_report(*, analysis=None, **changes):
    """A report with something in every section."""
    values = {
        "analysis": analysis or two_systems(),
        "title": "Small report",
        "facts": {"Corpus": "made of <this>"},
        "training": TRAINING,
        "curves": {"forgetful": CURVE, "perfect": CURVE},
        "attachments": [
            Figure("Alignments", "Sentence 1", svg()),
            Figure("Structure", "Tree", svg()),
        ],
    }
    report = Report(**{**values, **changes})
    # Of systems of other names, no training is known.
    names = report.analysis.names
    training = report.training[report.training["system"].isin(names)]
    curves = {name: curve for name, curve in report.curves.items() if name in names}
    return dataclasses.replace(report, training=training, curves=curves)


def report_of_few_charts(**changes):
    """A small report for tests that do not look at charts and the tables below them."""
    return small_report(**{"analysis": two_systems(few_charts=True), **changes})


@cache
def small_page():
    """The page of a small report; drawing its figures takes most of the time of a test."""
    return render_page(small_report())


def planted_report():
    """A report in which every text that comes from data tries to become an element."""
    test_set = small(copies=5)
    texts = [f"{text} {PLANTED}" for text in test_set.reference]
    planted = small_analysis(
        systems=[
            System(f"a{PLANTED}", {"1": texts}),
            System("b", {"1": list(test_set.reference)}),
        ],
        source=[f"{text} {PLANTED}" for text in test_set.source],
        reference=texts,
        words=PLANTED,
    )
    attachments = [
        Figure(f"Alignments {PLANTED}", PLANTED, svg()),
        Printout("Structure", PLANTED, PLANTED),
    ]
    return small_report(analysis=planted, title=PLANTED, training=NO_TRAINING, attachments=attachments)


@cache
def planted_page():
    return render_page(planted_report())


def page_data(page):
    """The JSON that a page carries."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def write_page(folder, report):
    """Renders a report into a file."""
    path = folder / "report.html"
    path.write_text(render_page(report), encoding="utf-8")
    return path

"""The pages that the site has beyond the files of docs/; mkdocs itself looks whether links lead somewhere."""

import re
import runpy
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pytest

from recurrent_mt.cli.command import TOOLS
from recurrent_mt.runs.experiment import Experiment
from user_dir.models.config import EncoderDecoderConfig

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site():
    return SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "site_pages.py")))


@pytest.fixture(scope="module")
def pages(site):
    return {name: "\n".join(lines) for name, lines in site.made_pages().items()}


def test_every_tool_and_option_is_on_a_page(pages):
    assert re.findall(r"^### ([\w-]+)$", pages["tools"], re.MULTILINE) == list(TOOLS)
    assert pages["tools"].count("\nusage: recurrent-mt ") == len(TOOLS)
    assert set(Experiment.model_fields) == set(re.findall(r"^\| `(\w+)` \|", pages["experiments"], re.MULTILINE))
    options = set(re.findall(r"^\| `--([\w-]+)` \| \S", pages["options"], re.MULTILINE))
    assert {name.replace("_", "-") for name in EncoderDecoderConfig.__annotations__} < options
    assert {"grconv-dilated", "shrinking-beam", "shortlist", "label-smoothing", "scoring-tokenize"} < options


def test_the_page_of_the_python_interface_names_what_there_is(site):
    for name in chain(*site.INTERFACE.values()):
        module, _, last = name.rpartition(".")
        assert re.search(rf"^(def|class) {last}\b", (ROOT / f"{module.replace('.', '/')}.py").read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    ("link", "page", "found"),
    [
        ("compare.md", "guides/analyze.md", "guides/compare.md"),
        ("../demo.png", "start/demo.md", "demo.png"),
        ("../../configs/README.md", "guides/papers.md", "repository/configs/README.md"),
        ("../../configs", "guides/papers.md", "repository/configs/README.md"),
        ("../../recurrent_mt/numerics.py", "guides/compare.md", "repository/recurrent_mt/numerics.py.md"),
        ("docs/why/papers.md", "repository/README.md", "why/papers.md"),
        ("recommended-small.yaml", "repository/configs/README.md", "repository/configs/recommended-small.yaml.md"),
    ],
)
def test_links_lead_to_pages_of_the_site(site, link, page, found):
    assert site.find_page(link, page) == found
    assert (ROOT / site.place_in_project(found)).is_file()


def test_links_elsewhere_and_anchors_stay(site):
    page = SimpleNamespace(file=SimpleNamespace(src_uri="guides/gpu.md"))
    text = "[a](https://a.org/b) [b](#c) [d](../../CONTRIBUTING.md#tests)"
    shown = "[a](https://a.org/b) [b](#c) [d](../repository/CONTRIBUTING.md#tests)"
    assert site.on_page_markdown(text, page, None, None) == shown


def test_help_is_shown_as_it_is(site):
    assert site.escape("a_b <c> | *d*") == r"a\_b \<c\> \| \*d\*"
    assert site.name_anchor("What `--x` does, and why", "-") == "what---x-does-and-why"


def test_an_anchor_that_the_script_of_the_theme_cannot_find_is_a_warning(site, caplog):
    site.name_anchor("Add a tool", "-")
    assert caplog.messages == []
    assert site.name_anchor("6. Add a tool", "-") == "6-add-a-tool"
    assert "'6. Add a tool' begins with a digit" in caplog.text


def test_the_drawing_of_the_workflow_has_rules_that_there_are():
    files = [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    rules = " ".join(file.read_text(encoding="utf-8").replace("_", " ") for file in files)
    drawing = (ROOT / "docs" / "figures" / "quickstart-workflow.svg").read_text(encoding="utf-8")
    names = re.findall(r"<text [^>]*>([^<]+)</text>", drawing)
    assert len(names) > 10 and not [name for name in names if not re.search(rf"\b(rule|as) {name}\b", rules)]

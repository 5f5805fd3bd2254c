"""Links between the pages of the documentation lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for page in ROOT.rglob("*.md")
    if not {".venv", ".git", "build", "runs"} & set(page.relative_to(ROOT).parts) and ".pytest_cache" not in page.parts
)


def name_anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(name_anchor, headings), link


def test_the_drawing_of_the_workflow_has_rules_that_there_are():
    files = [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    rules = " ".join(file.read_text(encoding="utf-8").replace("_", " ") for file in files)
    drawing = (ROOT / "docs" / "figures" / "quickstart-workflow.svg").read_text(encoding="utf-8")
    names = re.findall(r"<text [^>]*>([^<]+)</text>", drawing)
    assert len(names) > 10 and not [name for name in names if not re.search(rf"\b(rule|as) {name}\b", rules)]

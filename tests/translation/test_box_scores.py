"""The models in boxes translate test sets with the BLEU that their pages give."""

import re
from collections.abc import Iterator

import pytest
import sacrebleu

from tests.commands import REPOSITORY, run
from tests.data.tools import SHARED

#: The files of each test set, and which of their lines it has.
TESTS = {
    "newstest2013": ("wmt-fr-en/newstest2013", slice(None)),
    "europarl-valid": ("europarl-v7-fr-en/dev", slice(1000)),
    "europarl-test": ("europarl-v7-fr-en/dev", slice(-1000, None)),
    "tatoeba-dev": ("tatoeba-fr-en/dev", slice(None)),
    "tatoeba-valid": ("zh-en-train/tatoeba-zh-en/dev", slice(536)),
    "tatoeba-test": ("zh-en-train/tatoeba-zh-en/dev", slice(-500, None)),
    "python-docs": ("zh-en-train/python-docs-zh-en/dev", slice(None)),
}


def read_scores() -> Iterator[tuple[str, str, str, str]]:
    """Box, model, test set, and BLEU, from the table of each box's page."""
    for box in ("fr-en", "zh-en"):
        page = (REPOSITORY / "pretrained" / box / "README.md").read_text()
        table = page[page.index("| model |") :].partition("\n\n")[0]
        head, _, *rows = (line.strip("| ") for line in table.splitlines())
        tests = [title.removeprefix("BLEU, ") for title in map(str.strip, head.split("|"))]
        for row in rows:
            name, *values = map(str.strip, row.split("|"))
            model = "onnx" if "ONNX" in name else re.match(r"\[(\w+)\]", name)[1]
            yield from ((box, model, test, value) for test, value in zip(tests[3:], values[2:], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("box", "model", "test", "score"), [*read_scores()])
def test_a_model_has_the_bleu_of_its_page(box, model, test, score):
    name, lines = TESTS[test]
    if not (SHARED / f"{name}.en").exists():
        pytest.skip("needs ../shared/data")
    sources, references = ((SHARED / f"{name}.{one}").read_text().splitlines()[lines] for one in box.split("-"))
    done = run("recurrent-mt", "translate", box, model, text="".join(f"{line}\n" for line in sources))
    assert done.returncode == 0, done.stderr
    assert f"{sacrebleu.corpus_bleu(done.stdout.splitlines(), [references]).score:.1f}" == score

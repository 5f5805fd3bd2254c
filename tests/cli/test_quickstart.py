"""The quickstart from text to report with a tiny model, in folders with spaces, and the same call again."""

import re

from recurrent_mt.metrics import score
from tests.cli.recipes import TINY, command, copy, experiment, needs_tools, run, values, write_corpus
from tests.commands import warm_environment

#: It has alignments to draw as well as trees.
MODEL = "grconv_encoder-additive"


def trained(out):
    """Everything that has been trained and translated, and when."""
    return {path: path.stat().st_mtime_ns for path in (out / "trainings").rglob("*") if path.is_file()}


@needs_tools
def test_a_quickstart_ends_in_a_table_and_a_report_and_a_second_call_does_what_is_new(tmp_path):
    corpus, out = write_corpus(tmp_path / "my corpus"), tmp_path / "my run"
    options = {**TINY, "corpus": corpus, "segmentation": "word:40", "systems": MODEL, "baseline": MODEL, "out": out}
    options |= {"tokenizer": "none", "updates": 4}
    said = run(command("quickstart.sh", **options), VENV=str(warm_environment()))
    assert values(out, "updates") == {MODEL: 4}
    assert all(value > 100e6 for value in values(out, "peak memory, bytes").values())
    bleu = values(out, "BLEU", seed="1")
    references = (corpus / "test.en").read_text().splitlines()
    translations = (out / "systems" / MODEL / "seed-1" / "test.detokenized").read_text().splitlines()
    assert bleu == {MODEL: score("bleu", translations, references).value}
    assert MODEL in (out / "table.txt").read_text()
    assert (out / "table.txt").read_text() in said and f"The report: {out}/report.html" in said
    assert f"recurrent-mt demo '{out}'" in said
    page = (out / "report.html").read_text(encoding="utf-8")
    words = "Sentence length", "Unknown words", "Words by frequency"
    for heading in ("Scores", *words, "Alignments", "Structure", "Training"):
        assert f">{heading}</h2>" in page, heading
    assert page.count("data:image/svg+xml") == len(list(out.glob("figures/*/*/*.svg"))) > 0

    # The same text in another place is not read again.
    corpus = options["corpus"] = corpus.rename(tmp_path / "moved")
    made = trained(out)
    again = experiment("quickstart.yaml", "--jobs", 2, **options)
    assert "Training" not in again.replace((out / "table.txt").read_text(), "") and trained(out) == made
    assert (out / "table.txt").read_text() in again
    planned = experiment("quickstart.yaml", "--dry-run", **options)
    learned, planned = planned.splitlines()
    assert "/train has 1 of the 10 pairs of " in learned and planned == "Everything is there: nothing is left to do."

    # What a call had begun to try again, and was stopped.
    (training,) = out.glob("trainings/*/seed-1/outcome")
    training.rename(tmp_path / "kept")
    planned = experiment("quickstart.yaml", "--dry-run", **options)
    assert planned.count(" fairseq-train ") == 1 and planned.count("fairseq-generate ") == 1
    (tmp_path / "kept").rename(training)

    changed = copy(corpus, tmp_path / "changed")
    (changed / "train.fr").write_text((changed / "train.fr").read_text().replace("chien", "chat"))
    assert "== Reading train.fr" in experiment("quickstart.yaml", "--dry-run", **{**options, "corpus": changed})

    for gold in ("test.fr-en.align", "test.fr.ptb"):
        (corpus / gold).touch()
    planned = experiment("quickstart.yaml", "--dry-run", **options)
    drawn = dict(re.findall(r"recurrent-mt (\S+) .* (--gold|--trees) ", planned))
    assert drawn == {"align": "--gold", "structure": "--trees"}
    assert planned.count("  $ ") == 3 and "recurrent-mt report " in planned

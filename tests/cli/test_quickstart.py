"""The quickstart from text to report with two tiny models, and the same call again."""

from recurrent_mt.metrics import score
from tests.cli.recipes import command, needs_tools, run, tiny, values, write_corpus

MODELS = ["grconv_encoder-none", "gru_encoder-additive"]


@needs_tools
def test_a_quickstart_ends_in_a_table_and_a_report_and_a_second_call_trains_and_translates_nothing(tmp_path):
    corpus, out = write_corpus(tmp_path / "corpus"), tmp_path / "quickstart"
    options = {"corpus": corpus, "segmentation": "word:40", "models": ",".join(MODELS), "out": out}
    line = command("quickstart.sh", *tiny(), "--tokenizer", "none", "--updates", 4, **options)
    said = run(line, timeout=1200)
    assert values(out, "updates") == dict.fromkeys(MODELS, 4)
    bleu = values(out, "BLEU", seed="1")
    references = (corpus / "test.en").read_text().splitlines()
    for name in MODELS:
        translations = (out / "systems" / name / "seed-1" / "test.detokenized").read_text().splitlines()
        assert bleu[name] == score("bleu", translations, references).value
        assert name in (out / "table.txt").read_text()
    assert (out / "table.txt").read_text() in said
    page = (out / "report.html").read_text(encoding="utf-8")
    for heading in ("Scores", "Alignments", "Structure", "Training"):
        assert f">{heading}</h2>" in page, heading

    made = {path: path.stat().st_mtime_ns for path in (out / "systems").rglob("*") if path.suffix != ".errors"}
    again = run(line, timeout=1200)
    assert "bin/fairseq" not in again and (out / "table.txt").read_text() in again
    assert made == {path: path.stat().st_mtime_ns for path in made}

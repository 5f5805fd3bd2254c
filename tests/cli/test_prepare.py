"""The recipes from text to binarized data: what they leave behind, that they can be killed at any moment, and what
follows."""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from recurrent_mt.data.synthetic.writing import write_corpus
from recurrent_mt.runs import launcher
from tests.cli.recipes import ROOT, command, environment, experiment, needs_tools, run
from tests.commands import command_line
from tests.data.published import CHINESE, pack, text_file
from tests.data.server import serve
from tests.once import build_once

pytestmark = needs_tools
SIZES = {"train": 300, "valid": 20, "test": 20}
#: What is made, and not how: those folders of a run folder.
MADE = ("raw", "clean", "text", "data")


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    def build(folder):
        for pair in ("fr-en", "zh-en"):
            write_corpus(folder / pair, pair, SIZES, 1, max_words=10)
        return folder

    return build_once(tmp_path_factory, "corpora", build)


def prepare(name, *arguments, **options):
    return command(f"prepare_{name.replace('-', '_')}.sh", *arguments, **{"cleaning": "false", **options})


def checksums(folder):
    """Of all that was made, wherever it was made."""
    found = {}
    for place in MADE:
        for path in (folder / place).resolve().rglob("*"):
            if path.is_file() and path.name != "preprocess.log":
                name = f"{place}/{path.relative_to((folder / place).resolve())}"
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.fixture(scope="module")
def prepared(corpora, tmp_path_factory):
    """The data of an undisturbed run, and its output."""

    def build(folder):
        out = folder / "data"
        options = {"cleaning": "false", "corpus": corpora / "fr-en", "segmentation": "bpe:100"}
        return out, experiment("wmt-fr-en.yaml", **options, out=out)

    return build_once(tmp_path_factory, "undisturbed", build)


def test_prepared_data_has_every_split_its_dictionaries_and_a_report(prepared, corpora):
    out, text = prepared
    assert {path.name for path in out.iterdir() if path.is_dir()} >= {"clean", "data", "raw", "text"}
    for split in ("train", "valid", "test"):
        for language in ("fr", "en"):
            assert (out / "data" / f"{split}.fr-en.{language}.bin").exists()
    assert (out / "text" / "raw" / "test.en").read_text() == (corpora / "fr-en" / "test.en").read_text()
    report = (out / "data" / "REPORT.md").read_text()
    assert "| train | fr | 300 |" in report and "| test | en | 20 |" in report
    assert "SEGMENTATION bpe:100" in (out / "options").read_text().splitlines()
    assert not list(out.rglob("*.partial*"))
    assert f"fairseq-train {out}/data --source-lang fr --target-lang en" in text
    known = {line.split()[0] for line in (out / "data" / "dict.en.txt").read_text().splitlines()}
    trained = set((out / "text" / "prepared" / "train.en").read_text().split())
    assert trained == {token for token in known if not token.startswith("madeupword")}


def test_after_a_call_with_other_options_the_same_text_elsewhere_is_not_read_again(
    prepared, corpora, tmp_path, monkeypatch
):
    out = Path(shutil.copytree(prepared[0], tmp_path / "data", symlinks=True))
    before, first = checksums(out), (out / "data").resolve()
    files = {path: path.stat().st_mtime_ns for path in (out / "corpora").rglob("*") if path.is_file()}
    options = {"cleaning": "false", "out": out}
    with monkeypatch.context() as patch:
        # As if it had been stopped at once.
        patch.setattr(launcher, "run_workflow", lambda *_, **__: 0)
        experiment("wmt-fr-en.yaml", corpus=corpora / "fr-en", segmentation="word:50", **options)
    assert (out / "data").resolve() != first
    moved = shutil.copytree(corpora / "fr-en", tmp_path / "moved")
    text = experiment("wmt-fr-en.yaml", corpus=moved, segmentation="bpe:100", **options)
    assert not re.search(r"^\[\d", text, re.MULTILINE) and f"The data is in {out}/data" in text
    assert (out / "data").resolve() == first and checksums(out) == before
    assert {path: path.stat().st_mtime_ns for path in files} == files


def test_a_dry_run_of_preparation_shows_sizes_and_writes_nothing_in_a_folder_named_after_its_text(corpora, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    before = set(ROOT.glob("runs/*"))
    text = experiment("wmt-fr-en.yaml", "--dry-run", size="full", select_words="348M")
    assert "OPUS-giga_fren-v2-eng-fra                22,519,904 pairs,  2702 MB" in text
    assert "Together 41.1 million pairs to train on" in text
    assert "--in-domain" in text and "--words 348M --jobs 1 --out" in text
    assert f", to {ROOT}/runs/data-fr-en-full\n" in text
    text = experiment("wmt-zh-en.yaml", "--dry-run", corpus=corpora / "zh-en", pair="en-zh", shards=2)
    size = (corpora / "zh-en" / "train.zh").stat().st_size
    assert f"train.zh {size:>10} bytes" in text
    assert "Binarizing shard 1" in text
    assert f", to {ROOT}/runs/data-en-zh-zh-en\n" in text
    assert set(ROOT.glob("runs/*")) == before


@pytest.mark.slow
@pytest.mark.parametrize("segmentation", ["word:200", "bpe:100", "sentencepiece:900"])
def test_chinese_data_in_shards_share_dictionaries_and_divide_the_sentences(segmentation, corpora, tmp_path):
    pytest.importorskip("jieba")
    out = tmp_path / "data"
    options = {"corpus": corpora / "zh-en", "test": "test,valid", "pair": "en-zh", "shards": 2, "out": out}
    text = run(prepare("zh-en", **options, segmentation=segmentation))
    assert f"fairseq-train {out}/data/shard0:{out}/data/shard1 --source-lang en --target-lang zh" in text
    assert (out / "data" / "shard0" / "test1.en-zh.zh.bin").exists()
    dictionaries = [(out / "data" / f"shard{number}" / "dict.zh.txt").read_bytes() for number in (0, 1)]
    assert dictionaries[0] == dictionaries[1]
    shards = [(out / "text" / "shards" / str(number) / "train.zh").read_text().splitlines() for number in (0, 1)]
    whole = (out / "text" / "prepared" / "train.zh").read_text().splitlines()
    assert (shards[0], shards[1]) == (whole[0::2], whole[1::2])


@pytest.mark.slow
def test_small_data_arrive_whole_over_a_broken_connection(tmp_path):
    """Everything that --size small asks for, through a connection that is cut and a file that is damaged at first."""
    pytest.importorskip("mtdata")
    (tmp_path / "served").mkdir()
    publish_wmt(tmp_path / "served" / "mirror")
    out = tmp_path / "data"
    with serve(tmp_path / "served") as server:
        line = prepare("zh-en", mirror=server.url("mirror"), segmentation="sentencepiece:80", out=out)
        (archive,) = (tmp_path / "served").rglob("dev.tgz")
        whole = archive.read_bytes()
        archive.write_bytes(whole[: len(whole) // 2])
        server.cuts = [100]
        message = run(line, succeeds=False)
        assert "dev.tgz: what came is refused" in message and "cut off or damaged" in message
        (first, _), second = server.requests[:2]
        assert second == (first, 100)
        archive.write_bytes(whole)
        server.requests.clear()
        text = run(line)
    assert "Getting Statmt-news_commentary_wmt18-13-zho-eng" not in text
    # One archive has the development set and both test sets.
    assert [Path(path).name for path, _ in server.requests] == ["dev.tgz"]
    assert (out / "text" / "raw" / "test1.zh").read_text().splitlines() == [source for source, _ in CHINESE]
    assert not re.search(r"^\[\d", run(line), re.MULTILINE)


def publish_wmt(folder):
    """The two archives of the small Chinese-English data."""
    path = folder / "data.statmt.org" / "wmt18" / "translation-task" / "training-parallel-nc-v13.tgz"
    path.parent.mkdir(parents=True)
    sides = [[f"{pair[side]} {number}" for number in range(4) for pair in CHINESE] for side in (0, 1)]
    names = [f"training-parallel-nc-v13/news-commentary-v13.zh-en.{language}" for language in ("zh", "en")]
    pack(path, dict(zip(names, (text_file(side, "txt") for side in sides))))
    dev = {}
    for name in ("newsdev2017", "newstest2017", "newstest2018"):
        for side, ending in enumerate(("src.zh", "ref.en")):
            dev[f"dev/{name}-zhen-{ending}.sgm"] = text_file([pair[side] for pair in CHINESE], "sgm")
    path = folder / "data.statmt.org" / "wmt20" / "translation-task" / "dev.tgz"
    path.parent.mkdir(parents=True)
    pack(path, dev)


@pytest.fixture(scope="module")
def trained(prepared, tmp_path_factory):
    """A tiny model, trained by two processes on the prepared data."""
    out, _ = prepared
    save = tmp_path_factory.mktemp("model")
    text = run(
        [
            *command("train.sh", "--processes", 2, ROOT / "configs/rnnsearch-30-small.yaml"),
            *(f"task.data={out / 'data'}", "pair=fr-en", "optimization.max_update=4", f"checkpoint.save_dir={save}"),
            *("model.encoder_hidden_size=16", "model.decoder_hidden_size=16", "model.encoder_embed_dim=16"),
            *("model.decoder_embed_dim=16", "model.decoder_out_embed_dim=16", "model.decoder_output_rank=8"),
            *("--", "--no-progress-bar"),
        ]
    )
    assert "torchrun --standalone --nproc_per_node 2" in text and "--distributed-backend gloo" in text
    return save / "checkpoint_last.pt"


@pytest.mark.slow
def test_translate_keeps_the_order_and_number_of_lines(prepared, trained, corpora):
    """Order and number of lines stay, empty lines too; the command is fairseq-interactive."""
    out, _ = prepared
    sentences = (corpora / "fr-en" / "test.fr").read_text().splitlines()[:6]
    # Alone in its batch, a sentence is translated up to its own greatest length, wherever it stands.
    line = command_line("recurrent-mt", "translate", "--beam", 2, "--buffer-size", 4, out, trained)

    def translate(text, *flags, passed_on=()):
        words = [*line, *flags, "--", "--batch-size", "1", *passed_on]
        return subprocess.run(words, env=environment(), input=text, capture_output=True, text=True)

    one_by_one = [translate(sentence + "\n").stdout for sentence in sentences[:3]]
    assert len(set(one_by_one)) > 1
    together = translate("\n".join(["", *sentences, "  ", ""]))
    assert together.returncode == 0, together.stderr
    assert "fairseq-interactive " in together.stderr
    translations = together.stdout.split("\n")
    assert len(translations) == 9 and translations[0] == translations[7] == translations[8] == ""
    assert [f"{text}\n" for text in translations[1:4]] == one_by_one
    assert translate("\n\n").stdout == "\n\n"
    refused = translate("mot " * 200, passed_on=("--max-source-positions", "100"))
    assert refused.returncode == 1 and "line 1: fairseq-interactive failed with status 1" in refused.stderr
    assert "fairseq-interactive" in translate("", "--dry-run").stderr

"""recurrent-mt clean as it is called."""

import gzip
import json
import lzma
import os
import random
import signal
import subprocess
import sys

import pytest

from tests.commands import command_line
from tests.data.tools import read_lines, run, write_lines, write_pairs
from tests.waiting import wait_until

LANGUAGES = ("--source-lang", "fr", "--target-lang", "en")
NAMES = ["encoding", "empty", "too long", "identical", "held out", "length ratio", "non-letters", "markup"]
NAMES += ["wrong language", "misaligned", "duplicate"]


def corpus(pairs, seed=0):
    """Good pairs, all different."""
    rng = random.Random(seed)
    subjects = [("Le chat", "The cat"), ("Le vieux marin", "The old sailor"), ("Ma voisine", "My neighbor")]
    verbs = [("regarde", "is watching"), ("achète", "is buying"), ("dessine", "is drawing")]
    objects = [("une maison", "a house"), ("un bateau rouge", "a red boat"), ("les montagnes", "the mountains")]
    lines = []
    for number in range(pairs):
        parts = [rng.choice(part) for part in (subjects, verbs, objects)]
        french, english = (" ".join(part[side] for part in parts) for side in (0, 1))
        lines.append((f"{french} près du numéro {number}.", f"{english} near number {number}."))
    return lines


def clean(out, source, target, *options, check=True):
    files = ("--source", *source, "--target", *target, *LANGUAGES)
    given = (*files, "--out", out, "--report", f"{out}.md", "--jobs", 1, *options)
    done = run("clean", *given, check=check)
    return done, (json.loads(out.with_name(f"{out.name}.json").read_text()) if done.returncode == 0 else None)


BAD = {
    "empty": [("", "Nothing."), ("\u200b \u00a0", "Nothing.")],
    "too long": [("mot " * 101, "word " * 90)],
    "identical": [("OK", "ok")],
    "held out": [("Une phrase de test.", "One of the train set."), ("Une autre.", "A test sentence.")],
    "length ratio": [("Oui.", "This has nothing whatever to do with the other side.")],
    "non-letters": [("1 234 567", "1 234 567 890")],
    "markup": [("<br> Voir <b>ici</b>", "See here")],
    "wrong language": [("Dies ist ein deutscher Satz, der hier nichts zu suchen hat.", "This sentence is German.")],
    "misaligned": [("Le chat regarde une maison près du numéro dix.", "A cat " + "mewed-and-mewed-and-mewed " * 12)],
}


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """A good corpus in two files with bad pairs among them, and a held-out set."""
    folder = tmp_path_factory.mktemp("messy")
    good = corpus(2_200)
    bad = [(name, pair) for name, pairs in BAD.items() for pair in pairs]
    pairs = [
        *good[:600],
        *(pair for _, pair in bad),
        *good[600:],
        *good[:40],
        ("LE CHAT", "The cat"),
        ("le chat", "THE CAT"),
    ]
    first, second = write_pairs(folder, "a", pairs[:2_000]), write_pairs(folder, "b", pairs[2_000:])
    content = second[0].read_bytes().split(b"\n")
    content[4] = b"caf\xe9 cass\xe9"
    second[0].write_bytes(b"\n".join(content))
    write_pairs(folder, "test", [("une phrase de  TEST.", "A test sentence.")])
    return folder, first, second


@pytest.fixture(scope="module")
def cleaned(messy):
    folder, first, second = messy
    out = folder / "out" / "clean"
    done, report = clean(out, (first[0], second[0]), (first[1], second[1]), "--exclude", folder / "test")
    return out, done, report


def test_each_rule_drops_what_it_should(cleaned):
    _, done, report = cleaned
    assert [rule["name"] for rule in report["rules"]] == NAMES
    dropped = {rule["name"]: rule["dropped"] for rule in report["rules"]}
    assert dropped == {**{name: len(pairs) for name, pairs in BAD.items()}, "encoding": 1, "duplicate": 41}
    assert f"{report['kept']:,} of {report['seen']:,} pairs kept" in done.stdout
    seen = report["seen"]
    for rule in report["rules"]:
        assert rule["seen"] == seen and rule["seen"] == rule["dropped"] + rule["kept"]
        seen = rule["kept"]
        assert sum(file["dropped"][rule["name"]] for file in report["files"]) == rule["dropped"]
    assert seen == report["kept"]
    assert [file["seen"] for file in report["files"]] == [2_000, report["seen"] - 2_000]


def test_good_pairs_stay_in_order(messy, cleaned):
    out = cleaned[0]
    pairs = list(zip(read_lines(out.with_name("clean.fr")), read_lines(out.with_name("clean.en")), strict=True))
    good = [pair for number, pair in enumerate(corpus(2_200)) if number != 2_004 - sum(map(len, BAD.values()))]
    assert pairs == [*good, ("LE CHAT", "The cat")]
    assert sorted(path.name for path in out.parent.iterdir()) == ["clean.en", "clean.fr", "clean.json", "clean.md"]


def test_the_report_says_what_went_and_where(cleaned):
    out, _, report = cleaned
    folder = out.parents[1]
    assert report["examples"]["encoding"][0]["place"] == f"{folder}/b.fr:5"
    text = out.with_name("clean.md").read_text()
    assert "| too long | 2,250 | 1 | 0.04% | 2,249 |" in text and "max_words = 100" in text
    assert f"- empty ({folder}/a.fr:601):\n  - (nothing)\n  - `Nothing.`" in text
    assert "sources = 1, targets = 1" in text


def test_neither_jobs_nor_compression_make_a_difference(messy, cleaned, tmp_path):
    folder, *inputs = messy
    targets = []
    for (_, target), (ending, module) in zip(inputs, ((".gz", gzip), (".xz", lzma))):
        targets.append(tmp_path / f"{target.name}{ending}")
        targets[-1].write_bytes(module.compress(target.read_bytes()))
    out = tmp_path / "clean"
    clean(out, [source for source, _ in inputs], targets, "--exclude", folder / "test", "--jobs", 3)
    for ending in ("fr", "en", "md", "json"):
        expected = cleaned[0].with_name(f"clean.{ending}").read_text()
        assert out.with_name(f"clean.{ending}").read_text() == expected, ending


def failure(tmp_path, pairs, *options):
    source, target = write_pairs(tmp_path / "in", "text", pairs)
    done, _ = clean(tmp_path / "out" / "clean", [source], [target], *options, check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").iterdir())
    return done.stderr


def test_failures_are_named_and_leave_nothing(tmp_path):
    assert "no pair is left of 1 (encoding 0, empty 1, " in failure(tmp_path, [("", "a")])
    assert "there is no such file" in failure(tmp_path, [("a", "b")], "--exclude", tmp_path / "valid")
    assert "unknown language code 'xx'" in failure(tmp_path, [("a", "b")], "--target-lang", "xx")
    assert "give two languages" in failure(tmp_path, [("a", "b")], "--target-lang", "fr")


def test_files_that_are_cut_off_or_unequal_leave_nothing(tmp_path):
    source = write_lines(tmp_path / "text.fr", [f"Bonjour {n}" for n in range(9999)])
    short, cut = write_lines(tmp_path / "text.en", ["a"] * 4), tmp_path / "text.en.gz"
    cut.write_bytes(gzip.compress(source.read_bytes())[:-20])
    said = {short: f"{source} has 9999 lines and {short} has 4", cut: f"{cut}: the file is cut off or damaged"}
    for target, message in said.items():
        done, _ = clean(tmp_path / "out" / "clean", [source], [target], "--jobs", 2, check=False)
        assert done.returncode == 1 and f"error: {message}" in done.stderr and "Traceback" not in done.stderr
        assert not any((tmp_path / "out").iterdir())


def test_no_input_is_overwritten(tmp_path):
    source, target = write_pairs(tmp_path, "text", [("Bonjour", "Hello")])
    held, _ = write_pairs(tmp_path, "held", [("Merci", "Thanks")])
    for out, *others in (("text",), ("out", "--exclude", "held", "--report", "held.fr")):
        given = (word if word.startswith("--") else tmp_path / word for word in others)
        done, _ = clean(tmp_path / out, [source], [target], *given, check=False)
        assert "would be overwritten" in done.stderr and "choose another --" in done.stderr
    assert read_lines(source) == ["Bonjour"] and read_lines(held) == ["Merci"] and not (tmp_path / "out.en").exists()


def child_processes(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(child) for child in listed.split()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes with ps")
def test_killed_in_the_middle(tmp_path):
    """Nothing that looks finished is left, no process goes on, and the next run is as if nothing had been."""
    source, target = write_pairs(tmp_path / "in", "text", corpus(20_000))
    out = tmp_path / "out" / "clean"
    files = ("--source", source, "--target", target, *LANGUAGES, "--out", out, "--report", f"{out}.md", "--jobs", 2)
    process = subprocess.Popen(command_line("recurrent-mt", "clean", *files), stderr=subprocess.DEVNULL)
    survivors = out.with_name(".clean.partial") / "survivors.source"
    wait_until(lambda: survivors.exists() and survivors.stat().st_size, process, pause=0.01)
    children = child_processes(process.pid)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert {path.suffix for path in out.parent.iterdir()} == {".partial"}
    wait_until(lambda: not any(os.path.exists(f"/proc/{child}") for child in children))
    clean(out, [source], [target], "--jobs", 2)
    assert len(read_lines(out.with_name("clean.fr"))) == 20_000
    assert not out.with_name(".clean.partial").exists()

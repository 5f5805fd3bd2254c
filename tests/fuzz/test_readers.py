"""Damaged and made-up files: every reader gives a right answer or an error that names the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.readers import READERS

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import strategies  # noqa: E402

#: Inputs a reader in the fast test, and in the slow one: with these readers, more than ten thousand.
FEW, MANY = 10, 750

#: What breaks parsers: numbers of all kinds, brackets, the words of the formats themselves, bytes that are no text.
TOKENS = [
    *b"nan -inf 1e999 -1 0 1_0 \xd9\xa3 0x1f 1.2.3 , { } ] \" ' \\ud800 null true {} []".split(),
    *(b"9" * 30, b"9" * 5000, b"[" * 3000, b"(" * 3000, b'{"a":' * 2000),
    *(b"S-0\t", b"H-1\t", b"D-0\tnan\t", b"P-0\t", b"A-9\t", b"T-99999999999\t"),
    *(b'"num_updates": "x"', b'"loss": null'),
    *(b"!!python/object/apply:os.getcwd []", b"&a [*a]", b"<<: 3", b"? [a]\n", b"!!bool x", b"!!timestamp x"),
    *(b"2014-99-99", b"user-dir: /x", b"fp16: --user-dir=/x", b'"a\\nb"', b"{a: 1}", b": ", b"- "),
    *(b"\n", b"\r", b"\t", b" ", b"\xe2\x80\xa8", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"PK\x03\x04", b"\x1f\x8b"),
    *(b"<script>", b"../../x", b"#fairseq:overwrite"),
]


@strategies.composite
def damaged(draw, seeds):
    """One of the good files with a few pieces overwritten, inserted, removed, doubled or cut off."""
    content = bytearray(draw(strategies.sampled_from(seeds)))
    for _ in range(draw(strategies.integers(1, 4))):
        line_starts = [0, *(index + 1 for index, byte in enumerate(content) if byte == 10)]
        start = draw(strategies.integers(0, len(content)) | strategies.sampled_from(line_starts))
        end = min(len(content), start + draw(strategies.sampled_from([0, 0, 1, 3, 10, 80])))
        kind = draw(strategies.sampled_from(["token", "token", "bytes", "remove", "double", "cut"]))
        if kind == "cut":
            del content[start:]
        elif kind == "double":
            content[start:start] = content[start:end]
        else:
            pieces = {"token": strategies.sampled_from(TOKENS), "bytes": strategies.binary(max_size=5)}
            content[start:end] = draw(pieces.get(kind, strategies.just(b"")))
    return bytes(content)


def attack(name: str, folder: Path, count: int) -> None:
    reader = READERS[name]
    path = folder / f"attacked{reader.suffix}"
    for seed in reader.seeds:
        path.write_bytes(seed)
        reader.read(path)
    answers = {"right answer": 0, "clear error": 0}

    @hypothesis.settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(damaged(reader.seeds))
    def one_input(content):
        path.write_bytes(content)
        try:
            reader.read(path)
            answers["right answer"] += 1
        except ValueError as error:
            assert path.name in str(error), f"the file is not named: {error!r}"
            answers["clear error"] += 1

    one_input()
    print(name, answers)
    assert answers["clear error"], "nothing was damaged"


@pytest.mark.parametrize("name", READERS)
def test_a_reader_answers_a_few_damaged_inputs_or_names_the_file(name, tmp_path):
    attack(name, tmp_path, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_readers_answer_ten_thousand_damaged_inputs_or_name_the_file(name, tmp_path):
    assert MANY * len(READERS) >= 10_000
    attack(name, tmp_path, MANY)

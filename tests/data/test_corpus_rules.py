import numpy as np
import pytest

from recurrent_mt.data import corpus_rules
from recurrent_mt.data.corpus_rules import CORPUS_RULES, RECORD, LengthModel, fit_lengths, mark_duplicates, pair_record

MISALIGNED = CORPUS_RULES[0]


def write_records(path, hashes, source=None, target=None):
    records = np.zeros(len(hashes), RECORD)
    records["hash"] = hashes
    records["source"] = 1 if source is None else source
    records["target"] = 1 if target is None else target
    records.tofile(path)
    return path


@pytest.mark.parametrize("bucket_pairs", [1 << 19, 1000, 37])
def test_the_first_of_several_stays(tmp_path, monkeypatch, bucket_pairs):
    monkeypatch.setattr(corpus_rules, "_CHUNK", 700)
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 4000, 5000).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    gone = rng.random(5000) < 0.1
    verdicts = np.where(gone, 1, 0).astype(np.uint8)
    mark_duplicates(write_records(tmp_path / "records", hashes), verdicts, 2, bucket_pairs=bucket_pairs)
    seen, expected = set(), []
    for key, dropped in zip(hashes.tolist(), gone, strict=True):
        expected.append(1 if dropped else 2 if key in seen else 0)
        seen |= set() if dropped else {key}
    assert verdicts.tolist() == expected
    assert [path.name for path in tmp_path.iterdir()] == ["records"]


def test_records_of_pairs():
    key, source, target = pair_record("L'été", "SUMMER")
    assert (source, target) == (7, 6)
    assert pair_record("l'ÉTÉ", "summer")[0] == key
    others = {pair_record(*pair)[0] for pair in (("été", "summer"), ("L'été ", "summer"), ("summer", "L'été"))}
    assert len(others | {key}) == 4


def lengths(pairs, seed=0):
    rng = np.random.default_rng(seed)
    source = rng.integers(20, 300, pairs)
    return source, np.maximum(1, (1.2 * source + rng.normal(0, 2.5, pairs) * np.sqrt(source)).round()).astype(int)


def test_the_length_model_finds_what_made_the_lengths():
    source, target = lengths(20_000)
    target[::10] = 900  # a tenth is misaligned
    model = LengthModel.fit(source, target)
    assert model.ratio == pytest.approx(1.2, rel=0.03)
    assert model.variance**0.5 == pytest.approx(2.5, rel=0.2)
    deviations = model.deviations(np.array([100, 100, 100]), np.array([120, 145, 95]))
    assert deviations[0] < 0.5 and deviations[1] == pytest.approx(deviations[2], rel=0.3)


def test_a_sample_at_equal_distances(tmp_path, monkeypatch):
    source, target = lengths(5000)
    path = write_records(tmp_path / "records", np.arange(5000), source, target)
    monkeypatch.setattr(corpus_rules, "_CHUNK", 701)
    for sample, step in ((5000, 1), (1000, 5), (999, 6)):
        assert fit_lengths(path, 5000, sample) == LengthModel.fit(source[::step], target[::step])


def test_misaligned_lines_are_marked(tmp_path):
    source, target = lengths(3000)
    bad = np.zeros(3000, bool)
    bad[::100] = True
    target[bad] = 12 * source[bad]
    verdicts = np.zeros(3000, np.uint8)
    verdicts[0] = 7
    MISALIGNED(write_records(tmp_path / "records", np.arange(3000), source, target), verdicts, 1)
    assert verdicts[0] == 7
    assert verdicts[1:].tolist() == bad[1:].astype(int).tolist()


def test_few_pairs_tell_no_deviation(tmp_path):
    verdicts = np.zeros(3, np.uint8)
    MISALIGNED(write_records(tmp_path / "records", [1, 2, 3], [50, 50, 5], [50, 50, 500]), verdicts, 1)
    assert not verdicts.any()


def test_all_of_one_length(tmp_path):
    """Where all pairs have the very same ratio, none of them is dropped, and one far from it is."""
    target = np.full(2000, 50)
    target[3] = 300
    verdicts = np.zeros(2000, np.uint8)
    MISALIGNED(write_records(tmp_path / "records", np.arange(2000), np.full(2000, 50), target), verdicts, 1)
    assert np.flatnonzero(verdicts).tolist() == [3]

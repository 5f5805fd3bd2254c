"""What Snakemake and the tools find in their environment."""

import os

import pytest

from recurrent_mt.experiments.engine import find_home


@pytest.mark.parametrize("home", ["/dev/null/none", None])
def test_caches_are_in_the_run_folder_where_there_is_no_home_to_write_to(home, tmp_path, monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR"):
        monkeypatch.delenv(name, raising=False)
    if home:
        monkeypatch.setenv("HOME", home)
    else:
        # Of a user without an entry among the machine's users, ~ stays as it is.
        monkeypatch.setattr("os.path.expanduser", lambda path: path)
    cache = f"{tmp_path}/.cache"
    expected = {"XDG_CACHE_HOME": cache, "MPLCONFIGDIR": f"{cache}/matplotlib"} | ({} if home else {"HOME": cache})
    assert find_home(tmp_path) == expected


def test_caches_stay_where_they_are_if_they_can_be_written_but_on_a_cluster(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    monkeypatch.setenv("MPLCONFIGDIR", "/elsewhere")
    assert find_home(tmp_path) == {}
    # Other machines may have no home folder.
    cache = f"{tmp_path}/.cache"
    assert find_home(tmp_path, shared=True) == {"XDG_CACHE_HOME": cache, "MPLCONFIGDIR": "/elsewhere"}


def test_a_user_without_a_name_has_a_number(tmp_path, monkeypatch):
    def getuser():
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("getpass.getuser", getuser)
    assert find_home(tmp_path) == {"USER": str(os.getuid())}

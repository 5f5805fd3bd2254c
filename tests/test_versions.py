"""What made a result: the commit in a clone, with a mark where files were changed, and the versions of libraries."""

import subprocess
from importlib.metadata import version

from recurrent_mt.runs.outcomes import summarize_versions
from recurrent_mt.versions import PROJECT, describe_commit, describe_versions, find_version


def git(folder, *words):
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    done = subprocess.run(["git", "-C", folder, *identity, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_clone_is_named_by_its_commit_and_marked_where_files_are_changed(tmp_path):
    git(tmp_path, "init")
    (tmp_path / "file").write_text("as it was\n")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "--message", "first")
    commit = git(tmp_path, "rev-parse", "--short", "HEAD")
    assert describe_commit(tmp_path) == commit
    (tmp_path / "file").write_text("changed\n")
    assert describe_commit(tmp_path) == f"{commit}-dirty"


def test_a_folder_within_somebody_elses_clone_is_none(tmp_path):
    git(tmp_path, "init")
    (tmp_path / "environment").mkdir()
    assert describe_commit(tmp_path / "environment") is None


def test_a_clone_that_git_does_not_read_has_the_version_of_the_package(tmp_path):
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert describe_commit(tmp_path) is None


def test_the_line_has_the_libraries_that_are_installed():
    code = describe_commit(PROJECT) or version("fairseq-recurrent-mt")
    libraries = ", ".join(f"{name} {version(name)}" for name in ("torch", "fairseq", "sacrebleu"))
    assert describe_versions() == f"recurrent-mt {code}, {libraries}"
    assert find_version("no-such-distribution") is None


def test_versions_are_one_line_which_names_trainings_where_they_differ():
    assert summarize_versions({}) == ""
    assert summarize_versions({"a": {1: "x", 2: "x"}, "b": {1: "x"}}) == "x"
    assert summarize_versions({"a": {1: "x", 2: "y"}, "b": {1: "x"}}) == "x (a 1, b 1); y (a 2)"

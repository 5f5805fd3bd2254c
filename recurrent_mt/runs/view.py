"""The browsable view of an experiment's results: links from a run folder, and from ``results/ID``, to what was made."""

from __future__ import annotations

import os
from pathlib import Path

from ..text_files import FileError
from .corpus import Corpus
from .folder import CHECKPOINTS, OUTCOME, PEAK_MEMORY, SYSTEMS, TRAIN_LOG, seed_folder
from .plan import WITHOUT_EFFECT, Plan, given_options


def run_folders(plan: Plan) -> dict[str, str]:
    """Corpus to the folder that has the results with it: one for all, or of an ablation one for each segmentation."""
    return {
        name: f"{plan.results}/{corpus.form.name}" if plan.ablation else plan.results
        for name, corpus in plan.corpora.items()
    }


def record_options(plan: Plan, corpus: Corpus) -> str:
    """The file ``options`` of a run folder: how its text is read and joined again, and everything else."""
    others = {
        key.upper(): ",".join(map(str, value)) if isinstance(value, (list, dict)) else value
        for key, value in given_options(plan.experiment).items()
        if key.upper() not in corpus.record and key not in ("pair", "published", "flags", *WITHOUT_EFFECT)
    }
    lines = {**corpus.record, **others}.items()
    return "".join(f"{name} {'' if value is None else value}\n" for name, value in lines)


def lay_out_results(plan: Plan, out: Path) -> None:
    """Makes ``results/ID``. Links may lead nowhere until the workflow has made what they are for."""
    for name, place in run_folders(plan).items():
        corpus, folder = plan.corpora[name], out / place
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "options").write_text(record_options(plan, corpus), encoding="utf-8")
        inside = {"text": "text", "data": "data", "raw": "raw", "clean": "clean"}
        inside |= {f"extra/{test.name}": f"extra/{test.id}" for test in corpus.extra.values()}
        for shown, made in inside.items():
            link(folder / shown, out / corpus.folder / made)
        if corpus.source == "synthetic":
            link(folder / "corpus", (out / corpus.reference).parent)
        for system, seed in plan.trainings:
            if system.corpus.id == name:
                target = out / plan.translation_folder(system, seed)
                link(Path(seed_folder(folder / SYSTEMS / system.name, seed)), target)
                for made in (CHECKPOINTS, TRAIN_LOG, PEAK_MEMORY, OUTCOME):
                    link(target / made, target.parent / made)


def link(place: Path, target: Path) -> None:
    """A relative link, so that the whole folder can be moved.

    Raises:
        FileError: if something else is in its place.
    """
    if place.exists() and not place.is_symlink():
        raise FileError(
            place,
            "a link to results must be here and none is, as after a copy that does not keep links: copy the whole "
            "folder with cp -a, rsync -a, or tar, name another one with out=DIR, or move this away",
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    relative = Path(os.path.relpath(target, place.parent))
    if place.is_symlink() and place.readlink() == relative:
        return
    place.unlink(missing_ok=True)
    place.symlink_to(relative)


def show_results(results: str, out: Path) -> None:
    """Links everything of the latest results, ``results/ID``, into the run folder itself.

    Raises:
        FileError: naming what is in the way.
    """
    for place in out.iterdir():
        if place.is_symlink() and str(place.readlink()).startswith("results/"):
            place.unlink()
    for place in sorted((out / results).iterdir()):
        if place.exists():
            link(out / place.name, place)

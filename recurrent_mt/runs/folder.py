"""The layout of a run folder, which stands here and nowhere else.

    options                          how text became tokens, and all other options of the experiment
    text/  data/  extra/             the text on its way to tokens, what fairseq-preprocess made of it, more test sets
    systems/NAME/seed-N/             one training of a system, and its translations, in which are
        checkpoints/checkpoint_best.pt
        train.log  peak-memory  outcome
        test.log  test.detokenized  test.outcome
    figures/  beams/  table.json  report.html

An experiment makes links of these: `plan.py` says where they lead. A box has some of it.
"""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

from ..text_files import FileError, dictionary_folder, read_lines
from ..text_form import read_text_form

#: In the folder of a training: its parameters, its log, the bytes that its largest process held, and how it ended.
CHECKPOINTS = "checkpoints"
BEST = f"{CHECKPOINTS}/checkpoint_best.pt"
TRAIN_LOG = "train.log"
PEAK_MEMORY = "peak-memory"
OUTCOME = "outcome"
#: In the folder of its translations: those of the test set.
TRANSLATED = "test.detokenized"
#: The folders of systems.
SYSTEMS = "systems"
#: The tables of a comparison, without their ending, and the report.
TABLE, REPORT = "table", "report.html"
#: The parameters of a system; formatted with its name and a seed.
PARAMETERS = f"{SYSTEMS}/{{}}/seed-{{}}/{BEST}"
#: What a report is made of. Folders may be links: as ``**``, none would be followed.
REPORTED = (
    *("options", "text/*", "text/*/*", "data/dict.*", "data/shard0/dict.*"),
    *(f"{SYSTEMS}/*/seed-*/*", "figures/*/*/*", "beams/beams.*"),
)


def seed_folder(place: str | PathLike[str], seed: object) -> str:
    """The folder of one training; ``seed`` may be a wildcard."""
    return f"{place}/seed-{seed}"


def seed_of(folder: Path) -> int:
    """The seed of a folder ``seed-N``.

    Raises:
        FileError: if the folder has another name, as a copy has that was put aside.
    """
    if match := re.fullmatch(r"seed-([0-9]{1,18})", folder.name):
        return int(match[1])
    raise FileError(folder, "expected a folder seed-N: move it out of the system's folder")


def seed_folders(system: Path, name: str = "") -> list[Path]:
    """The folders of a system's trainings, or of those that have a file of that name, in the order of their seeds.

    Raises:
        FileError: as `seed_of`.
    """
    return sorted((folder for folder in system.glob("seed-*") if (folder / name).exists()), key=seed_of)


def find_systems(run: Path) -> dict[str, Path]:
    """The trained systems of a run folder by name, each with its first seed's checkpoint.

    Raises:
        FileError: as `seed_of`.
    """
    found = {system.name: seed_folders(system, BEST) for system in sorted((run / SYSTEMS).glob("*"))}
    return {name: folders[0] / BEST for name, folders in found.items() if folders}


def names_of(checkpoint: Path) -> list[str]:
    """What a checkpoint of a run folder may be called: its system, and that with its seed; none outside of one."""
    if not checkpoint.match(PARAMETERS.format("*", "*")):
        return []
    system, seed = checkpoint.absolute().parts[-4:-2]
    return [system, f"{system}, {seed.replace('-', ' ')}"]


class RunFolder:
    """What was made of one corpus with one set of options.

    Attributes:
        path: the folder.
        form: of its text, as the recipe recorded it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        """Reads the form of its text.

        Raises:
            FileError: if this is no run folder.
        """
        self.path = Path(path)
        self.form = read_text_form(path)

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target."""
        return self.form.source, self.form.target

    @property
    def baseline(self) -> str:
        """The system that the experiment compares the others with; empty if it names none."""
        return self.options.get("BASELINE", "")

    @property
    def options(self) -> dict[str, str]:
        """The experiment's, under the names that they have in the file; without those that are empty."""
        named = (line.partition(" ") for _, line in read_lines(self.path / "options"))
        return {name: value for name, _, value in named if value}

    def text(self, step: str, split: str) -> list[Path]:
        """Both sides of a split at a step of its preparation: input, words, segmented, prepared, or raw."""
        return [self.path / "text" / step / f"{split}.{language}" for language in self.languages]

    def reference(self, extra: str = "", step: str = "raw") -> Path:
        """What translations are scored against: of the test set, or of a further one."""
        place = self.path / "extra" / extra if extra else self.path / "text"
        return place / step / f"test.{self.languages[1]}"

    @property
    def dictionaries(self) -> list[Path]:
        """fairseq's, of the source and of the target."""
        folder = dictionary_folder(self.path / "data")
        return [folder / f"dict.{language}.txt" for language in self.languages]

    def system(self, name: str) -> Path:
        """The folder of a system."""
        return self.path / SYSTEMS / name

    @property
    def systems(self) -> list[Path]:
        """The folders of all systems, in the order of their names."""
        return sorted((self.path / SYSTEMS).glob("*"))

"""The files that the workflow makes of a corpus of the plan, and what it tells the commands that make them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..text_form import TextForm

#: The endings of what fairseq-preprocess writes.
BINARY = ("bin", "idx")


@dataclass(frozen=True)
class CorpusFiles:
    """One text with one segmentation: raw, prepared, and binarized.

    A ``place`` is ``text``, or ``extra/ID`` of a further test set. The test sets are called test, test1, and so on, as
    fairseq calls them.

    Attributes:
        name: of its folder in ``corpora``.
        entry: of the plan.
        languages: source and target.
        extra: id to entry of the plan of each further test set.
    """

    name: str
    entry: Mapping[str, Any]
    languages: tuple[str, str]
    extra: Mapping[str, Mapping[str, Any]]

    @property
    def folder(self) -> str:
        return f"corpora/{self.name}"

    @property
    def splits(self) -> list[str]:
        return list(self.entry["splits"])

    @property
    def tests(self) -> list[str]:
        return self.splits[2:]

    @property
    def held_out(self) -> list[str]:
        """All splits but the training text."""
        return [split for split in self.splits if split != "train"]

    @property
    def shards(self) -> int:
        return int(self.entry["shards"])

    @cached_property
    def form(self) -> TextForm:
        """How its text becomes tokens, and text again."""
        return TextForm.from_record(self.entry["form"], self.folder)

    def both_sides(self, prefix: str) -> list[str]:
        return [f"{prefix}.{language}" for language in self.languages]

    # Where text is taken from.

    def source(self, place: str, split: str, language: str) -> str:
        """The file from which the text of a split is taken."""
        if place != "text":
            return f"{self.extra[place.removeprefix('extra/')]['prefix']}.{language}"
        if self.entry["source"] == "collected":
            step = self.training_text if split == "train" else "held-out"
            return f"{self.folder}/clean/{step}/{split}.{language}"
        return str(self.entry["files"][split][language])

    def reference(self, place: str, split: str, language: str) -> str:
        """The file of an unchanged test set, on which scores are computed."""
        if place != "text" or self.entry["source"] == "collected":
            return self.source(place, split, language)
        return str(self.entry["raw"][language])

    def is_local(self, place: str) -> bool:
        """Whether no rule makes a text.

        Its checksum is in the name of what is made of it, so the same text in another place is not read again.
        """
        return place != "text" or self.entry["source"] == "files"

    def unchanged_flags(self, place: str, split: str, language: str) -> str:
        """What `recurrent-mt words copy` is told of a local text: the checksum from the name of what is made of it."""
        if not self.is_local(place):
            return ""
        if place == "text":
            expected = self.entry["checksums"][f"{split}.{language}"]
        else:
            expected = self.extra[place.removeprefix("extra/")]["checksums"][language]
        return f"--unchanged {expected} {shlex.quote(self.source(place, split, language))}"

    # Published text, or local text in its place.

    def sets(self, *roles: str) -> list[str]:
        """The names of the texts that are train, valid, or test."""
        return [name for role in roles for name in self.entry["sets"][role]]

    def prefix_of(self, name: str) -> str | None:
        """Where a local text is; None for a published one."""
        found: str | None = next(texts[name] for texts in self.entry["sets"].values() if name in texts)
        return found

    def download_inputs(self, name: str, sources: str, checksums: str | None) -> list[str]:
        """What a download depends on: with checksums, what is there already must have them, too."""
        return [] if self.prefix_of(name) else [sources, *([checksums] if checksums else [])]

    def get_command(self, name: str, sources: str, mirror: str | None, checksums: str | None) -> str:
        """What follows `recurrent-mt get`: it copies a local text, or downloads a published one."""
        if prefix := self.prefix_of(name):
            expected = " ".join(self.entry["checksums"][f"{name}.{language}"] for language in self.languages)
            return f"local {shlex.quote(prefix)} --unchanged {expected}"
        flags = f" --mirror {mirror}" if mirror else ""
        flags += f" --checksums {shlex.quote(checksums)}" if checksums else ""
        return f"published {name} --sources {sources} --downloads downloads{flags}"

    def training_texts(self, language: str) -> list[str]:
        """One side of the texts to train on."""
        return [f"{self.folder}/raw/{name}/text.{language}" for name in self.sets("train")]

    def held_out_texts(self, split: str, language: str) -> list[str]:
        """One side of the texts that make up a development or test set."""
        sets = self.sets("valid" if split == "valid" else "test")
        names = sets if split == "valid" else [sets[int(split.removeprefix("test") or 0)]]
        return [f"{self.folder}/raw/{name}/text.{language}" for name in names]

    def held_out_prefixes(self) -> list[str]:
        """The texts of which no sentence is in the training text."""
        extra = [f"{self.folder}/extra/{test}/raw/test" for test in self.extra]
        return [*(f"{self.folder}/clean/held-out/{split}" for split in self.held_out), *extra]

    @property
    def cleaned_text(self) -> str:
        """The folder of the text from which words are selected."""
        return "cleaned" if self.entry["cleaning"] else "joined"

    @property
    def training_text(self) -> str:
        """The folder of the text to train on."""
        return "selected" if self.entry["select_words"] else self.cleaned_text

    @property
    def in_domain(self) -> list[str]:
        """Prefixes of what selected text is to be like: the development set and the news commentary."""
        news = [name for name in self.sets("train") if "news_commentary" in name]
        return [f"{self.folder}/clean/held-out/valid", *(f"{self.folder}/raw/{name}/text" for name in news)]

    @property
    def cleaning_reports(self) -> list[str]:
        steps = ["cleaned"] * bool(self.entry["cleaning"]) + ["selected"] * bool(self.entry["select_words"])
        return [f"{self.folder}/clean/{step}/REPORT.md" for step in steps]

    # From raw text to tokens.

    @property
    def segmentation_text(self) -> list[str]:
        """What a segmentation is learned from."""
        if self.form.learns_from_one_file:
            return [f"{self.folder}/text/both-sides"]
        return self.both_sides(f"{self.folder}/text/words/train")

    def tokens(self, place: str, split: str) -> str:
        """The prefix of what models read: words, or their parts."""
        return f"{self.folder}/{place}/{'segmented' if self.form.scheme else 'words'}/{split}"

    def length_flags(self, split: str) -> str:
        """What `recurrent-mt limit-lengths` is told: no sentence of a test set is left out."""
        most = self.entry["lengths"][split]
        flags = [] if most is None else [f"--max {most}"]
        return " ".join([*flags, *["--refuse"] * split.startswith("test")])

    def prepared(self, splits: Sequence[str]) -> list[str]:
        return [file for split in splits for file in self.both_sides(f"{self.folder}/text/prepared/{split}")]

    # fairseq's binary form.

    def held_out_flags(self) -> str:
        """What fairseq-preprocess is told of the development and test sets."""
        prepared = f"{self.folder}/text/prepared"
        return f"--validpref {prepared}/valid --testpref {','.join(f'{prepared}/{split}' for split in self.tests)}"

    def binary_text(self, folder: str, splits: Sequence[str]) -> list[str]:
        """What fairseq-preprocess writes for the text of some splits."""
        pair = "-".join(self.languages)
        return [
            f"{folder}/{split}.{pair}.{side}.{ending}"
            for split in splits
            for side in self.languages
            for ending in BINARY
        ]

    def dictionaries(self, folder: str) -> list[str]:
        return [f"{folder}/dict.{language}.txt" for language in self.languages]

    def shard_files(self, shard: int) -> list[str]:
        """What fairseq-preprocess writes for one shard; the first has the development and test sets, too."""
        folder = f"{self.folder}/data/shard{shard}"
        return [*self.binary_text(folder, ["train"] if shard else self.splits), *self.dictionaries(folder)]

    @property
    def binarized(self) -> list[str]:
        if self.shards == 1:
            folder = f"{self.folder}/data"
            return [*self.binary_text(folder, self.splits), *self.dictionaries(folder)]
        return [file for shard in range(self.shards) for file in self.shard_files(shard)]

    @property
    def dictionary_folder(self) -> str:
        """The part of the binarized data that has the dictionaries, and the development and test sets."""
        return f"{self.folder}/data" + "/shard0" * (self.shards > 1)

    def translated_data(self, name: str) -> list[str]:
        """The binarized files that a search reads: of the test set, or of ``extra-ID``."""
        if not name.startswith("extra-"):
            return self.binarized
        return self.binary_text(f"{self.folder}/extra/{name.removeprefix('extra-')}/data", ["test"])


def corpora_of(plan: Mapping[str, Any]) -> dict[str, CorpusFiles]:
    """All corpora of a plan, by their names."""
    source, target = plan["languages"]
    extra = {test["id"]: test for test in plan["extra_tests"].values()}
    return {name: CorpusFiles(name, entry, (source, target), extra) for name, entry in plan["corpora"].items()}

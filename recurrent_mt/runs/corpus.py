"""A corpus of the plan: the files that the workflow makes of it, and what the commands that make them are told."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..text_form import TextForm

#: The endings of what fairseq-preprocess writes.
BINARY = ("bin", "idx")


@dataclass(frozen=True)
class ExtraTest:
    """A further test set."""

    name: str  # as it was given
    id: str  # the name, and what tells its text from another of that name
    prefix: str  # where the text is
    checksums: dict[str, str]  # of its sides, by language


@dataclass(frozen=True)
class Corpus:
    """One text with one segmentation: raw, prepared, and binarized.

    A ``place`` is ``text``, or ``extra/ID`` of a further test set. The test sets are called test, test1, and so on, as
    fairseq calls them.
    """

    id: str  # the name of its folder in ``corpora``, made of everything that decides what the data are
    languages: tuple[str, str]  # source and target
    source: str  # ``synthetic``, ``files``, or ``collected``: published text, or local text in its place
    splits: list[str]  # train, valid, and the test sets
    shards: int  # parts of the training data
    lengths: dict[str, int | None]  # of each split, tokens on a side at most; None without a limit
    checksums: dict[str, str]  # of local files
    record: dict[str, str]  # the form of its text, as a run folder has it
    extra: dict[str, ExtraTest] = field(default_factory=dict)  # further test sets by their ids
    #: of text that is not collected, split and language to file
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    reference: str = ""  # the prefix of the test set as people write it; of text that is not collected
    #: of collected text, for train, valid, and test, the name of each text and its prefix, None where it is published
    sets: dict[str, dict[str, str | None]] = field(default_factory=dict)
    cleaning: bool = False  # whether collected text is cleaned
    select_words: str | None = None  # how many words are selected of collected text
    sources: str = ""  # the file that says where published text is
    mirror: str | None = None  # of its sites, if it is downloaded from one
    #: the run folder and the checkpoint that translate the training text, if any do
    teacher: list[str] = field(default_factory=list)

    @property
    def folder(self) -> str:
        return f"corpora/{self.id}"

    @property
    def tests(self) -> list[str]:
        return self.splits[2:]

    @property
    def held_out(self) -> list[str]:
        """All splits but the training text."""
        return [split for split in self.splits if split != "train"]

    @cached_property
    def form(self) -> TextForm:
        """How its text becomes tokens, and text again."""
        return TextForm.from_record(self.record, self.folder)

    def both_sides(self, prefix: str) -> list[str]:
        return [f"{prefix}.{language}" for language in self.languages]

    # Where text is taken from.

    def source_file(self, place: str, split: str, language: str) -> str:
        """The file from which the text of a split is taken."""
        if self.is_distilled(place, split, language):
            return f"{self.folder}/text/distilled/{split}.{language}"
        if place != "text":
            return f"{self.extra[place.removeprefix('extra/')].prefix}.{language}"
        if self.source == "collected":
            step = self.training_text if split == "train" else "held-out"
            return f"{self.folder}/clean/{step}/{split}.{language}"
        return self.files[split][language]

    def reference_file(self, place: str, split: str, language: str) -> str:
        """The file of an unchanged test set, on which scores are computed."""
        if place != "text" or self.source == "collected":
            return self.source_file(place, split, language)
        return f"{self.reference}.{language}"

    def made_source(self, place: str, split: str, language: str) -> list[str]:
        """The text of a split, where a rule makes it."""
        made = self.is_distilled(place, split, language) or not self.is_local(place)
        return [self.source_file(place, split, language)] if made else []

    def made_reference(self, place: str, split: str, language: str) -> list[str]:
        """An unchanged test set, where a rule makes it."""
        return [] if self.is_local(place) else [self.reference_file(place, split, language)]

    def is_distilled(self, place: str, split: str, language: str) -> bool:
        """Whether a text is a teacher's translation."""
        return bool(self.teacher) and (place, split, language) == ("text", "train", self.languages[1])

    def is_local(self, place: str) -> bool:
        """Whether no rule makes a text.

        Its checksum is in the name of what is made of it, so the same text in another place is not read again.
        """
        return place != "text" or self.source == "files"

    def unchanged_flags(self, place: str, split: str, language: str) -> str:
        """What `recurrent-mt words copy` is told of a local text: the checksum from the name of what is made of it."""
        if self.is_distilled(place, split, language) or not self.is_local(place):
            return ""
        if place == "text":
            expected = self.checksums[f"{split}.{language}"]
        else:
            expected = self.extra[place.removeprefix("extra/")].checksums[language]
        return f"--unchanged {expected} {shlex.quote(self.source_file(place, split, language))}"

    # Published text, or local text in its place.

    def prefix_of(self, name: str) -> str | None:
        """Where a local text is; None for a published one."""
        return next(texts[name] for texts in self.sets.values() if name in texts)

    def downloads(self, name: str) -> int:
        """How many downloads getting a text is: a local text may be copied meanwhile."""
        return 0 if self.prefix_of(name) else 1

    def get_inputs(self, name: str) -> list[str]:
        """What a download depends on."""
        return [] if self.prefix_of(name) else [self.sources]

    def get_command(self, name: str) -> str:
        """What follows `recurrent-mt get`: it copies a local text, or downloads a published one."""
        if prefix := self.prefix_of(name):
            expected = " ".join(self.checksums[f"{name}.{language}"] for language in self.languages)
            return f"local {shlex.quote(prefix)} --unchanged {expected}"
        flags = f" --mirror {self.mirror}" if self.mirror else ""
        return f"published {name} --sources {self.sources} --downloads downloads{flags}"

    def training_texts(self, language: str) -> list[str]:
        """One side of the texts to train on."""
        return [f"{self.folder}/raw/{name}/text.{language}" for name in self.sets["train"]]

    def held_out_texts(self, split: str, language: str) -> list[str]:
        """One side of the texts that make up a development or test set."""
        names = list(self.sets["valid" if split == "valid" else "test"])
        if split != "valid":
            names = [names[int(split.removeprefix("test") or 0)]]
        return [f"{self.folder}/raw/{name}/text.{language}" for name in names]

    @property
    def held_out_prefixes(self) -> list[str]:
        """The texts of which no sentence is in the training text."""
        extra = [f"{self.folder}/extra/{test}/raw/test" for test in self.extra]
        return [*(f"{self.folder}/clean/held-out/{split}" for split in self.held_out), *extra]

    @property
    def held_out_files(self) -> list[str]:
        return [file for prefix in self.held_out_prefixes for file in self.both_sides(prefix)]

    @property
    def cleaned_text(self) -> str:
        """The folder of the text from which words are selected."""
        return "cleaned" if self.cleaning else "joined"

    @property
    def training_text(self) -> str:
        """The folder of the text to train on."""
        return "selected" if self.select_words else self.cleaned_text

    @property
    def in_domain(self) -> list[str]:
        """Prefixes of what selected text is to be like: the development set and the news commentary."""
        news = [name for name in self.sets["train"] if "news_commentary" in name]
        return [f"{self.folder}/clean/held-out/valid", *(f"{self.folder}/raw/{name}/text" for name in news)]

    @property
    def in_domain_files(self) -> list[str]:
        return [file for prefix in self.in_domain for file in self.both_sides(prefix)]

    def cleaned_side(self, language: str) -> str:
        """One side of the text from which words are selected."""
        return f"{self.folder}/clean/{self.cleaned_text}/train.{language}"

    @property
    def cleaning_reports(self) -> list[str]:
        steps = {"cleaned": self.cleaning, "selected": self.select_words}
        return [f"{self.folder}/clean/{step}/REPORT.md" for step, done in steps.items() if done]

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
        flags = [] if self.lengths[split] is None else [f"--max {self.lengths[split]}"]
        return " ".join([*flags, "--refuse"] if split.startswith("test") else flags)

    def token_files(self, place: str, split: str) -> list[str]:
        """Both sides of what models read."""
        return self.both_sides(self.tokens(place, split))

    def prepared(self, splits: Sequence[str] | None = None) -> list[str]:
        """Both sides of some splits, or of all, in lengths that models take."""
        return [
            file for split in splits or self.splits for file in self.both_sides(f"{self.folder}/text/prepared/{split}")
        ]

    def prepared_test(self, language: str) -> str:
        """One side of the test set, in what models read."""
        return f"{self.folder}/text/prepared/test.{language}"

    @property
    def raw_tests(self) -> list[str]:
        """Both sides of the test sets as people write them."""
        return [file for split in self.tests for file in self.both_sides(f"{self.folder}/text/raw/{split}")]

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
        folder = self.data_folders[shard]
        return [*self.binary_text(folder, ["train"] if shard else self.splits), *self.dictionaries(folder)]

    @property
    def binarized(self) -> list[str]:
        return [file for shard in range(self.shards) for file in self.shard_files(shard)]

    @property
    def dictionary_folder(self) -> str:
        """The part of the binarized data that has the dictionaries, and the development and test sets."""
        return self.data_folders[0]

    @property
    def data_folders(self) -> list[str]:
        """The parts of the binarized data, of which fairseq-train reads one an epoch."""
        folder = f"{self.folder}/data"
        return [folder] if self.shards == 1 else [f"{folder}/shard{shard}" for shard in range(self.shards)]

    @property
    def test_dictionaries(self) -> list[str]:
        """The dictionaries that further test sets are binarized with."""
        return self.dictionaries(self.dictionary_folder)

    # Translations, which are called test, test-without-unknown, or extra-ID.

    def translated_folder(self, name: str) -> str:
        """The folder of the binarized text that a search reads."""
        if name.startswith("extra-"):
            return f"{self.folder}/extra/{name.removeprefix('extra-')}/data"
        return self.dictionary_folder

    def translated_data(self, name: str) -> list[str]:
        """The binarized files that a search reads."""
        if name.startswith("extra-"):
            return self.binary_text(self.translated_folder(name), ["test"])
        return self.binarized

    def translated_set(self, name: str) -> str:
        """What people call the text of a search."""
        if name.startswith("extra-"):
            return f"the test set {self.extra[name.removeprefix('extra-')].name}"
        return "the test set" if name == "test" else "the test set, <unk> forbidden,"

    def gold_file(self, ending: str) -> str | None:
        """Gold links or trees of the test set: the synthetic corpus has them, another may; None without.

        They are of the words that the text comes with, which only text that nothing splits still has.
        """
        if self.source == "collected" or self.form.splits_words or not self.form.has_words:
            return None
        file = f"{self.reference}.{ending}"
        return file if self.source == "synthetic" or Path(file).exists() else None

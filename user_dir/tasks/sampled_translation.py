"""``sampled_translation``: fairseq's translation task with subwords that are drawn anew in each epoch."""

import logging
import random
from codecs import BOM_UTF8
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from fairseq.data import BaseWrapperDataset, Dictionary, LanguagePairDataset
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from omegaconf import II
from torch import Tensor, nn

from recurrent_mt.characters import has_escaped_character

from ..models.encoder_decoder import check_alignments
from .published_translation import refuse_validation

logger = logging.getLogger(__name__)


class BPEDropout:
    """Leaves out each merge of a sentence's words with some probability: Provilkov et al. (2020), "BPE-Dropout".

    A subword that was merged in all of the training text is not in its dictionary, and is split further.

    Args:
        codes: subword-nmt's file of merges.
        dropout: the probability.
        dictionary: what a model reads or writes; no other subwords are drawn.

    Raises:
        ValueError: if there is no such file, or if it is another or damaged.
    """

    def __init__(self, codes: Path, dropout: float, dictionary: Dictionary) -> None:
        from subword_nmt.apply_bpe import BPE

        self._dictionary, self._dropout = dictionary, dropout
        if not codes.is_file():
            raise ValueError(f"--sample-subwords: there is no file {codes}")
        if not codes.read_bytes().removeprefix(BOM_UTF8).startswith(b"#version"):
            raise ValueError(f"--sample-subwords: {codes} holds no codes of subword-nmt, which begin with #version")
        try:
            with open(codes, encoding="utf-8-sig") as file:  # as in `load_bpe`
                self._bpe = BPE(file, vocab=set(dictionary.symbols))
                # That of another keeps what was drawn last in its cache.
                self._whole = BPE(file)
        except (SystemExit, ValueError) as error:  # subword-nmt ends the process, after a line that names the bad one
            raise ValueError(f"--sample-subwords: {codes} is a damaged file of subword-nmt's codes") from error

    def join(self, subwords: list[str]) -> str:
        """The text of a sentence without special symbols."""
        return " ".join(subwords).replace("@@ ", "").removesuffix("@@")

    def split(self, text: str, seed: int) -> list[str]:
        """Draws a segmentation of a text with a seed."""
        state = random.getstate()
        random.seed(seed)
        try:
            return self._bpe.segment_tokens(text.split(), dropout=self._dropout)
        finally:
            random.setstate(state)

    def resample(self, tokens: Tensor, seed: int) -> Tensor:
        """Another segmentation of a sentence's tokens (T,).

        Special symbols and protected words stay, and so do the subwords of a word with an ``<unk>`` in it, which cannot
        be joined. So does what would have an ``<unk>`` afterwards.
        """
        numbers: list[int] = []
        between: list[int] = []

        def finish() -> None:
            if between:
                text = self.join([self._dictionary[token] for token in between])
                drawn = [self._dictionary.index(piece) for piece in self.split(text, seed + len(numbers))]
                numbers.extend(between if self._dictionary.unk() in drawn else drawn)
                between.clear()

        for word in self._words(tokens.tolist()):
            special = min(word) < self._dictionary.nspecial
            if special or self._is_protected([self._dictionary[token] for token in word]):
                finish()
                numbers.extend(word)
            else:
                between.extend(word)
        finish()
        return tokens.new_tensor(numbers)

    def _is_protected(self, word: list[str]) -> bool:
        """Whether Moses has escaped a character of it, or it has fewer subwords than the merges make of it.

        No piece of an escape means anything. Of the others, subword-nmt was told to keep them whole
        (``--glossaries``).
        """
        text = self.join(word)
        return has_escaped_character(text) or len(word) < len(self._whole.segment_tokens([text]))

    def _words(self, tokens: list[int]) -> list[list[int]]:
        """The tokens of each word; a special symbol is one by itself, and after an ``<unk>``, another begins."""
        dictionary = self._dictionary
        apart = set(range(dictionary.nspecial)) - {dictionary.unk()}
        words: list[list[int]] = []
        for token in tokens:
            is_apart = not words or token in apart or words[-1][-1] in apart
            if is_apart or not dictionary[words[-1][-1]].endswith("@@"):
                words.append([])
            words[-1].append(token)
        return words


class SampledSubwordsDataset(BaseWrapperDataset):
    """Pairs whose subwords are drawn anew in each epoch, from the seed, the epoch, and the pair's number.

    Batches are planned with the lengths of the segmentation on disk, the one with the fewest subwords as a rule: a
    sampled batch may have more tokens than ``--max-tokens``.

    Args:
        dataset: of pairs.
        source: for the source.
        target: for the target.
        seed: ``--seed``.
    """

    def __init__(self, dataset: LanguagePairDataset, *, source: BPEDropout, target: BPEDropout, seed: int) -> None:
        super().__init__(dataset)
        self._source, self._target, self._seed = source, target, seed
        # Shared, as fairseq's workers live on from one epoch to the next.
        self._epoch = torch.ones((), dtype=torch.long).share_memory_()

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Returns the pair with both sides split again."""
        pair = dict(self.dataset[index])
        seed = hash((self._seed, int(self._epoch), int(index)))
        pair["source"] = self._source.resample(pair["source"], seed)
        pair["target"] = self._target.resample(pair["target"], seed + 1)
        return pair

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        self._epoch.fill_(epoch)


@dataclass
class SampledTranslationConfig(TranslationConfig):
    """Options of the task, besides those of ``translation``."""

    sample_subwords: str = field(
        default="",
        metadata={
            "help": "split the training text anew in each epoch with this file: subword-nmt's codes (Provilkov et al. "
            "2020); two files, source first, are separated by a comma"
        },
    )
    subword_dropout: float = field(
        default=0.1,
        metadata={
            "help": "probability of leaving out a merge (Provilkov et al. 2020: 0.1)",
        },
    )
    seed: int = II("common.seed")


@register_task("sampled_translation", dataclass=SampledTranslationConfig)
class SampledTranslationTask(TranslationTask):
    """Translation; only what is trained on is sampled, as only fairseq's trainer passes a ``data_selector``."""

    def load_dataset(self, split: str, epoch: int = 1, combine: bool = False, **kwargs: Any) -> None:
        """Loads a split.

        Raises:
            ValueError: if a file is missing or of another kind, if there are not one or two of them, or if an option
                asks for what is not done: dropout without a file, or what counts the subwords on disk, as alignments
                and a limit to a source do.
        """
        was_loaded = self.datasets.get(split)
        super().load_dataset(split, epoch=epoch, combine=combine, **kwargs)
        if split != self.cfg.train_subset or "data_selector" not in kwargs:
            return
        refuse_validation(split, was_loaded)
        if not self.cfg.sample_subwords:
            if self.cfg.subword_dropout != SampledTranslationConfig.subword_dropout:
                raise ValueError(f"--subword-dropout {self.cfg.subword_dropout} needs --sample-subwords")
            logger.warning("nothing is sampled without --sample-subwords: this is --task translation")
            return
        if self.cfg.load_alignments:
            raise ValueError("--load-alignments does not work with --sample-subwords: it counts the subwords on disk")
        if self.cfg.truncate_source:
            # A word that is cut there would be drawn as another word: "hom@@" as "hom".
            raise ValueError(
                "--truncate-source does not work with --sample-subwords: it counts the subwords on disk. Leave it out, "
                "or binarize shorter sources"
            )
        files = self.cfg.sample_subwords.split(",")
        if len(files) > 2 or not 0 <= self.cfg.subword_dropout <= 1:
            raise ValueError(
                "--sample-subwords takes one file or two, and --subword-dropout a number from 0 to 1, not "
                f"{self.cfg.sample_subwords} and {self.cfg.subword_dropout}"
            )
        source, target = (
            BPEDropout(Path(file), self.cfg.subword_dropout, dictionary)
            for file, dictionary in zip((files[0], files[-1]), (self.src_dict, self.tgt_dict), strict=True)
        )
        self.datasets[split] = SampledSubwordsDataset(
            self.datasets[split], source=source, target=target, seed=self.cfg.seed
        )

    def build_generator(self, models: list[nn.Module], args: Any, seq_gen_cls: Any = None, **kwargs: Any) -> Any:
        """The generator of fairseq.

        Raises:
            ValueError: if alignments are asked of models without attention.
        """
        if getattr(args, "print_alignment", None):
            check_alignments(models)
        return super().build_generator(models, args, seq_gen_cls=seq_gen_cls, **kwargs)

"""Spans translated and scored by fairseq's models, many at a time."""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from fairseq import tasks, utils
from fairseq.tasks.translation import TranslationTask
from omegaconf import DictConfig, OmegaConf
from torch import Tensor, nn

from ..checkpoints.checkpoint import knows, load_ensemble, make_batches, token_ids
from .segmentation import Candidate, Words

#: A translation has at most this many times as many words as its source, counting the end of both, as in the authors'
#: code.
LONGEST_TRANSLATION = 3


@dataclass(frozen=True)
class Ensemble:
    """A trained model, or an ensemble.

    Attributes:
        task: which has the dictionaries.
        models: one or several.
        max_sentences: the most in a batch that is searched.
        max_tokens: the most in any batch, on its longer side, padding included.
    """

    task: TranslationTask
    models: list[nn.Module]
    max_sentences: int = 128
    max_tokens: int = 4000

    def batches(self, sources: Sequence[Tensor], targets: Sequence[Tensor] | None = None) -> Iterator[dict[str, Any]]:
        """Yields fairseq's batches on the models' device; with targets, their tokens alone limit their size."""
        for batch in make_batches(
            self.task,
            sources,
            targets,
            max_tokens=self.max_tokens,
            max_sentences=None if targets else self.max_sentences,
            left_pad_source=self.task.cfg.left_pad_source,
        ):
            yield utils.move_to_cuda(batch) if next(self.models[0].parameters()).is_cuda else batch


def load_system(path: str, data: str, *, shrinking_beam: bool = False, cpu: bool = False, **limits: int) -> Ensemble:
    """Loads a checkpoint of a translation model.

    Args:
        path: the checkpoint, or several separated by colons, which then form an ensemble.
        data: folder with the dictionaries ``dict.LANG.txt``.
        shrinking_beam: search as the papers' released code does, see `tasks.ShrinkingBeam`.
        cpu: do not use the GPU.
        **limits: of batches, see `Ensemble`.

    Raises:
        ValueError: if a file is missing, or no translation model, or if the dictionaries are not the ones that it was
            trained with.
    """
    # fairseq's beamable matrix products would need the search's beam in the model, and no beam in the scorer.
    models, config, task = load_ensemble(utils.split_paths(path), data, no_beamable_mm=True)
    if not isinstance(task, TranslationTask):
        raise ValueError(f"{path}: a model of the task {config.task._name}, not a translation model")
    for model in models:
        model.prepare_for_inference_(config)
        if torch.cuda.is_available() and not cpu:
            model.cuda()
    return Ensemble(_published_task(config.task, shrinking_beam), models, **limits)


def _published_task(config: DictConfig, shrinking_beam: bool) -> TranslationTask:
    """This project's translation task with the settings of the task that the model was trained with."""
    known = tasks.TASK_DATACLASS_REGISTRY["published_translation"].__dataclass_fields__
    settings = {str(name): config[name] for name in config if name in known}
    search = {"_name": "published_translation", "shrinking_beam": shrinking_beam}
    return tasks.setup_task(OmegaConf.create({**settings, **search}))


def check_inverse(forward: Ensemble, inverse: Ensemble) -> None:
    """Makes sure that one system translates in the opposite direction of the other.

    Raises:
        ValueError: if the languages are not swapped, naming both pairs.
    """
    there, back = forward.task.cfg, inverse.task.cfg
    if (there.source_lang, there.target_lang) != (back.target_lang, back.source_lang):
        raise ValueError(
            f"the forward model is {there.source_lang}-{there.target_lang}, so the inverse one must be "
            f"{there.target_lang}-{there.source_lang}, not {back.source_lang}-{back.target_lang}; a checkpoint "
            "that was trained without -s and -t takes the languages of its data files: give --inverse-data"
        )


class ForwardTranslator:
    """The forward model's candidates for spans.

    Spans of the same length are searched together: none is padded, and no span's candidates depend on other spans.

    Args:
        system: the model.
        beam: the beam of fairseq's search, or the initial places of the shrinking one.
        count: how many candidates are kept per span.
        unknown_penalty: fairseq's --unkpen; infinity forbids unknown words.
    """

    def __init__(self, system: Ensemble, *, beam: int = 10, count: int = 10, unknown_penalty: float = 0.0) -> None:
        self.system = system
        self.count = count
        # fairseq counts the end of the source, but not that of the translation.
        arguments = argparse.Namespace(
            beam=beam, max_len_a=LONGEST_TRANSLATION, max_len_b=-1, unkpen=unknown_penalty, unnormalized=True
        )
        self.generator = system.task.build_generator(system.models, arguments)

    def is_unknown(self, word: str) -> bool:
        """Whether a word, or a subword of it, is in no dictionary."""
        return not all(knows(self.system.task.source_dictionary, token) for token in word.split())

    def candidates(self, spans: Sequence[Words]) -> list[list[Candidate]]:
        """The best translations of each span, cheapest first; none if the search found no end."""
        task = self.system.task
        found: list[list[Candidate]] = [[] for _ in spans]
        encoded = token_ids([" ".join(span) for span in spans], task.source_dictionary)
        by_length = defaultdict(list)
        for position, tokens in enumerate(encoded):
            by_length[len(tokens)].append(position)
        for _, positions in sorted(by_length.items()):
            chosen = [encoded[position] for position in positions]
            for batch in self.system.batches(chosen):
                beams = task.inference_step(self.generator, self.system.models, batch)
                for row, beam in zip(batch["id"].tolist(), beams, strict=True):
                    found[positions[row]] = self._best(beam)
        return found

    def _best(self, beam: list[dict[str, Any]]) -> list[Candidate]:
        dictionary = self.system.task.target_dictionary
        candidates = []
        for hypothesis in beam:
            cost = -hypothesis["positional_scores"].double().sum().item()
            if math.isfinite(cost):
                words = tuple(dictionary[token] for token in hypothesis["tokens"].tolist() if token != dictionary.eos())
                candidates.append(Candidate(words, cost))
        return sorted(candidates, key=lambda candidate: (candidate.forward_cost, candidate.words))[: self.count]


class InverseScorer:
    """A model's scores of given translations.

    fairseq's scorer counts the end of a sentence once; the authors' code let its scorer see it twice, on both sides.
    """

    def __init__(self, system: Ensemble) -> None:
        self.system = system
        self.scorer = system.task.build_generator(system.models, argparse.Namespace(score_reference=True))

    def costs(self, pairs: Sequence[tuple[Words, Words]]) -> list[float]:
        """−log q(target | source) of each pair (source, target), counting the end of the target."""
        task = self.system.task
        sources = token_ids([" ".join(source) for source, _ in pairs], task.source_dictionary)
        targets = token_ids([" ".join(target) for _, target in pairs], task.target_dictionary)
        result = [math.nan] * len(pairs)
        for batch in self.system.batches(sources, targets):
            scored = self.scorer.generate(self.system.models, batch)
            for row, (hypothesis,) in zip(batch["id"].tolist(), scored, strict=True):
                result[row] = -hypothesis["positional_scores"].double().sum().item()
        return result


def translate_spans(
    spans: Sequence[Words], forward: ForwardTranslator, inverse: InverseScorer | None = None
) -> list[list[Candidate]]:
    """The forward model's candidates for each span, cheapest first, with the inverse model's costs if there is one."""
    found = forward.candidates(spans)
    if inverse is None:
        return found
    costs = iter(inverse.costs([(candidate.words, span) for span, beam in zip(spans, found) for candidate in beam]))
    return [[replace(candidate, inverse_cost=next(costs)) for candidate in beam] for beam in found]

"""Adds the optional parts of a clause: negation, modality, adverbs, places and times."""

from __future__ import annotations

from ..lexicon import sample_adverbs, sample_times, sample_verbs
from ..meaning import Action, Clause, Quality
from .nominals import HUMAN, NominalComposer

_LIVING = ("person", "animal")
_PAST_YEARS, _FUTURE_YEARS = (1850, 2020), (2035, 2090)


class AdjunctComposer(NominalComposer):
    """Draws the optional parts of clauses."""

    def adjust_tense(self, clause: Clause) -> None:
        """Turns the progressive of a state, or of what happens in a moment, into the simple tense."""
        action = clause.predicate
        if clause.stative or (isinstance(action, Action) and not action.verb.progressive):
            clause.tense = {"progressive": "present", "past_progressive": "past"}.get(clause.tense, clause.tense)

    def negate(self, clause: Clause) -> None:
        """Negates one clause in seven, where the predicate allows it."""
        action = clause.predicate if isinstance(clause.predicate, Action) else None
        if action and (action.complement or (clause.modal and clause.modal.en == "must")):
            return
        clause.negated = self._rng.happens(0.14)
        if clause.negated and isinstance(clause.predicate, Quality):
            clause.predicate.modifier.degree = None

    def add_adjuncts(self, clause: Clause, kind: str, budget: int) -> None:
        """Adds adjuncts to a clause.

        Args:
            clause: with subject and predicate.
            kind: the class of nouns of its subject.
            budget: about how many words the predicate may take in all.
        """
        action = clause.predicate if isinstance(clause.predicate, Action) else None
        active = action is not None and not action.passive and action.complement is None
        if active and kind in _LIVING and not clause.tense.endswith("progressive") and self._rng.happens(0.12):
            modals = sample_verbs(("modal",), kind, None)
            clause.modal = modals.draw(self._rng) if modals else None
        self.negate(clause)
        self._add_frequency(clause)
        if active and kind in _LIVING and not clause.stative:
            self._add_circumstances(clause, kind, budget)
        if budget >= 3 and self._rng.happens(0.22):
            self._add_time(clause)

    def _add_frequency(self, clause: Clause) -> None:
        denied_event = clause.negated and clause.tense == "past" and not clause.stative
        compared = isinstance(clause.predicate, Quality) and clause.predicate.standard
        clausal = isinstance(clause.predicate, Action) and clause.predicate.complement
        excluded = denied_event or compared or clausal or clause.modal or clause.tense.endswith("progressive")
        if not excluded and self._rng.happens(0.1):
            clause.frequency = sample_adverbs("frequency", clause.negated).draw(self._rng)

    def _add_circumstances(self, clause: Clause, kind: str, budget: int) -> None:
        rng, verb = self._rng, clause.predicate.verb  # type: ignore[union-attr]  # called for actions
        if not clause.negated and rng.happens(0.16):
            clause.manner = sample_adverbs("manner", False).draw(rng)
        if verb.frame in ("oblique", "dative") or verb.etre or budget < 4 or clause.gap:
            return
        intransitive = verb.frame == "intransitive"
        if rng.happens(0.6 if intransitive else 0.16):
            clause.location = self.location(max(3, budget - 2) if intransitive else 3)
        elif kind == "person" and rng.happens(0.12):
            clause.companion = self.nominal(HUMAN, 2)

    def _add_time(self, clause: Clause) -> None:
        rng = self._rng
        if clause.frequency or (clause.tense == "past" and clause.stative and clause.negated):
            return
        if clause.tense in ("past", "future") and rng.happens(0.22):
            clause.time = rng.integer(*(_PAST_YEARS if clause.tense == "past" else _FUTURE_YEARS))
        else:
            sampler = sample_times(clause.tense)
            clause.time = sampler.draw(rng) if sampler else None
        clause.time_first = not clause.gap and clause.time is not None and rng.happens(0.4)

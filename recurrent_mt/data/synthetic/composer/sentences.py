"""Composes sentences of about a given number of words."""

from __future__ import annotations

from ..meaning import Clause, Compound, Coordination, Name, NounPhrase, Pronoun
from ..sampling import Weighted
from .clauses import ClauseComposer, noun_class

_CONNECTIVES = Weighted(["and", "but", "so", "because", "when", "if", "while"], [24, 18, 9, 16, 13, 11, 9])
_ANY_TENSE = ("and", "but", "so", "because")
_SHORTEST_COMPOUND = 9


class SentenceComposer(ClauseComposer):
    """Draws the meanings of sentences."""

    def sentence(self, budget: int) -> Clause | Compound:
        """Returns a statement or a question of about so many words."""
        if budget <= 14 and self._rng.happens(0.07):
            clause = self.clause(max(2, budget - 3))
            clause.time_first, clause.asked = False, True
            return clause
        return self._body(budget - 1)

    def _body(self, budget: int, tense: str = "", connectives: tuple[str, ...] = ()) -> Clause | Compound:
        """Returns a clause or several joined; the main clause is in the tense, if one is given."""
        surplus = budget - _SHORTEST_COMPOUND
        if surplus < 0 or not self._rng.happens(min(0.97, 0.22 + surplus * 0.05)):
            return self.clause(budget, tense=tense)
        connective = self._rng.pick(connectives) if connectives else _CONNECTIVES.draw(self._rng)
        if connective in _ANY_TENSE:
            tenses = (tense, tense if connective in ("and", "but") else "")
        elif connective == "if":
            tenses = self._rng.pick([("future", "present"), ("present", "present")])
        elif connective == "when":
            tenses = self._rng.pick([("past", "past"), ("present", "present"), ("future", "future")])
        else:
            tenses = self._rng.pick([("past", "past_progressive"), ("present", "progressive")])
        share = int(budget * (0.35 + 0.3 * self._rng.random()))
        first = self._body(max(3, budget - share - 1), tenses[0], _ANY_TENSE)
        return self._join(connective, first, max(3, share), tenses[1])

    def _join(self, connective: str, first: Clause | Compound, budget: int, tense: str) -> Compound:
        """Adds a second clause, half of the time about the subject of the first, told by a pronoun."""
        known = first.subject if isinstance(first, Clause) else None
        subordinate = connective not in ("and", "but", "so")
        fronted = False
        second: Clause | Compound
        if isinstance(known, (NounPhrase, Name, Coordination)) and self._rng.happens(0.5):
            pronoun = Pronoun(3, known.plural, known.gender, known.human)
            second = self.clause(budget, tense=tense, subject=pronoun, subject_class=noun_class(known))
        else:
            second = self._body(budget, tense, ("and", "but") if subordinate else _ANY_TENSE)
            fronted = connective in ("when", "if", "while") and self._rng.happens(0.5)
        if subordinate:
            next(second.clauses()).time_first = False
        if connective == "when":
            for clause in second.clauses():
                clause.after_when = True
        return Compound(connective, first, second, fronted)

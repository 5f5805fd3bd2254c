"""French word forms: plurals, feminines, conjugation, elision and contraction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .tree import Anchor, Node

if TYPE_CHECKING:
    from .meaning import Adjective

_IRREGULAR = Path(__file__).parent / "lexicon" / "irregular_verbs.tsv"
_IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
_FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
_PRESENT = {
    "er": ("e", "es", "e", "ons", "ez", "ent"),
    "ir": ("is", "is", "it", "issons", "issez", "issent"),
    "re": ("s", "s", "", "ons", "ez", "ent"),
}
_PARTICIPLE = {"er": "é", "ir": "i", "re": "u"}
_VOWELS = frozenset("aàâæeéèêëiîïoôœuùûyhAÀÂÆEÉÈÊËIÎÏOÔŒUÙÛYH")
_ASPIRATED = ("héros", "hibou", "hérisson", "haricot", "haïku", "hangar", "huit", "onze")


def begins_with_vowel(token: str) -> bool:
    """Whether words elide before the token; an aspirated h, *huit* and *onze* forbid it."""
    return token[0] in _VOWELS and not token.startswith(_ASPIRATED)


def contract(node: Node, preposition: str, anchor: Anchor) -> bool:
    """Fuses *de* or *à* with the definite article that begins the phrase, *du*, *aux*; returns whether one does."""
    leaves = node.leaves()
    article, following = next(leaves), next(leaves, None)
    if article.label != "DET" or article.token not in ("le", "les") or following is None:
        return False
    if article.token == "le" and begins_with_vowel(following.token):
        return False
    plural = article.token == "les"
    article.token = {"de": "des" if plural else "du", "à": "aux" if plural else "au"}[preposition]
    article.label, article.liaison, article.anchors = "ADP", None, (*article.anchors, anchor)
    return True


def regular_plural(word: str) -> str:
    """Returns the plural of a noun or a masculine adjective."""
    if word[-1] in "sxz":
        return word
    if word.endswith("al"):
        return word[:-1] + "ux"
    if word.endswith(("au", "eu")) and word != "bleu":
        return word + "x"
    return word + "s"


def regular_feminine(adjective: str) -> str:
    """Returns the feminine singular of an adjective."""
    for ending, feminine in (
        ("e", "e"),
        ("eux", "euse"),
        ("if", "ive"),
        ("er", "ère"),
        ("el", "elle"),
        ("ien", "ienne"),
        ("on", "onne"),
        ("et", "ète"),
        ("os", "osse"),
        ("as", "asse"),
    ):
        if adjective.endswith(ending) and adjective not in ("gris",):
            return adjective[: len(adjective) - len(ending)] + feminine
    return adjective + "e"


@cache
def adjective_form(adjective: Adjective, gender: str, plural: bool) -> str:
    """Returns the form of an adjective that agrees with gender ``m`` or ``f`` and number."""
    if gender == "f":
        return adjective.feminine + "s" * plural
    return regular_plural(adjective.fr) if plural else adjective.fr


def participle_form(participle: str, gender: str, plural: bool) -> str:
    """Returns a past participle that agrees with gender and number."""
    stem = "du" if participle == "dû" and (gender == "f" or plural) else participle
    stem += "e" if gender == "f" else ""
    return stem if not plural or stem.endswith("s") else stem + "s"


@dataclass(frozen=True)
class Conjugation:
    """The forms of one French verb: six of each tense, and the past participle, masculine singular."""

    present: tuple[str, ...]
    imperfect: tuple[str, ...]
    future: tuple[str, ...]
    participle: str

    def form(self, tense: str, person: int, plural: bool) -> str:
        """Returns the finite form of a person (1 to 3) in the ``present``, ``imperfect`` or ``future``."""
        return getattr(self, tense)[person - 1 + 3 * plural]


@cache
def conjugation(infinitive: str) -> Conjugation:
    """Returns the conjugation of a verb, made once.

    Raises:
        ValueError: it is irregular and not in the table.
    """
    if irregular := _irregular_verbs().get(infinitive):
        present = irregular[1:7]
        participle, future_stem, imperfect_stem = [*irregular[7:], ""][:3]
    else:
        stem, group = infinitive[:-2], infinitive[-2:]
        if group not in _PRESENT:
            raise ValueError(f"cannot conjugate {infinitive!r}: add it to {_IRREGULAR.name}")
        present = [_before_ending(stem, group, ending) + ending for ending in _PRESENT[group]]
        participle = stem + _PARTICIPLE[group]
        future_stem = {"er": _before_ending(stem, "er", "er") + "er", "ir": infinitive, "re": stem + "r"}[group]
        imperfect_stem = ""
    # nous mangeons: je mangeais, nous mangions; nous commençons: je commençais, nous commencions
    stem = imperfect_stem or present[3][:-3]
    before_i = stem[:-1] + "c" if stem.endswith("ç") else stem[:-1] if infinitive.endswith("ger") else stem
    imperfect = [(before_i if ending[0] == "i" else stem) + ending for ending in _IMPERFECT]
    future = [future_stem + ending for ending in _FUTURE]
    return Conjugation(tuple(present), tuple(imperfect), tuple(future), participle)


@cache
def _irregular_verbs() -> dict[str, list[str]]:
    lines = _IRREGULAR.read_text(encoding="utf-8").splitlines()[1:]
    return {line.split("\t")[0]: line.split("\t") for line in lines}


def _before_ending(stem: str, group: str, ending: str) -> str:
    """Returns the stem spelled as the ending asks: *mangeons*, *préfère*, *appelle*."""
    if group != "er":
        return stem
    if ending == "ons" and stem.endswith("g"):
        return stem + "e"
    if ending == "ons" and stem.endswith("c"):
        return stem[:-1] + "ç"
    silent = ending in ("e", "es", "ent")
    if silent and len(stem) > 2 and stem[-2] == "é" and stem[-1] not in "aeiouy":
        return stem[:-2] + "è" + stem[-1]
    if (silent or ending == "er") and len(stem) > 2 and stem[-2] == "e" and stem[-1] in "lstnvmr":
        if stem in ("appel", "jet"):
            return stem + stem[-1]
        return stem[:-2] + "è" + stem[-1]
    if (silent or ending == "er") and stem.endswith(("oy", "uy")):
        return stem[:-1] + "i"
    return stem

"""English inflection: plurals, verb forms, comparatives."""

from __future__ import annotations

import re
from functools import cache

_DOUBLED = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]$")
_STRESSED_END = ("begin", "forget", "prefer")
_CONSONANT_START = ("uni", "eu", "use", "one", "Uni", "Eu")
_VOWEL_START = ("hour", "honest", "heir")


def begins_with_vowel(token: str) -> bool:
    """Whether *a* becomes *an* before the token."""
    return token.startswith(_VOWEL_START) or (token[0] in "aeiouAEIOU" and not token.startswith(_CONSONANT_START))


def regular_plural(noun: str) -> str:
    """Returns the regular plural of a noun, which is also the third person of a verb."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return noun[:-1] + "ies"
    return noun + "s"


def _before_vowel(verb: str) -> str:
    """Returns a stem before -ed, -er and -ing: its last letter may be dropped or doubled."""
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1]
    return verb + verb[-1] if _DOUBLED.match(verb) or verb in _STRESSED_END else verb


def regular_participle(verb: str) -> str:
    """Returns the regular past and past participle of a verb."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return (verb if verb.endswith("ee") else _before_vowel(verb)) + ("d" if verb.endswith("ee") else "ed")


@cache
def third_person(verb: str) -> str:
    """Returns the third person singular of the present."""
    irregular = {"have": "has", "go": "goes", "do": "does"}
    return irregular.get(verb) or regular_plural(verb)


@cache
def gerund(verb: str) -> str:
    """Returns the form in -ing."""
    return verb[:-2] + "ying" if verb.endswith("ie") else _before_vowel(verb) + "ing"


def be_form(tense: str, person: int, plural: bool) -> str:
    """Returns the form of *be* in the ``present`` or ``past``."""
    if plural or person == 2:
        return "are" if tense == "present" else "were"
    if tense == "past":
        return "was"
    return "am" if person == 1 else "is"


@cache
def comparative(adjective: str, irregular: str | None) -> tuple[str, ...]:
    """Returns the words of the comparative: (*bigger*,) or (*more*, *difficult*)."""
    if irregular:
        return (irregular,)
    syllables = len(re.findall(r"[aeiouy]+", adjective[:-1] if adjective.endswith("e") else adjective))
    if adjective.endswith("y") and syllables == 2:
        return (adjective[:-1] + "ier",)
    if syllables == 1 and adjective not in ("ill", "pleased", "tired"):
        return (_before_vowel(adjective) + "er",)
    return ("more", adjective)

"""Reads the tables of words (``*.tsv``, one header line) into entries, most frequent words first."""

from __future__ import annotations

import csv
from pathlib import Path

from ..english_morphology import regular_participle, regular_plural
from ..french_morphology import regular_feminine
from ..french_morphology import regular_plural as french_plural
from .entries import Adjective, Noun, TimeExpression, Verb

_GROUPS = {
    "living": "person animal",
    "artifact": "thing device furniture text clothing vehicle",
    "locale": "building place",
    "anything": "person animal food drink thing device furniture text show clothing vehicle building place "
    "plant idea event",
}


def rows(name: str) -> list[dict[str, str]]:
    """Returns the rows of a table as dictionaries; cells missing at the end of a line are empty."""
    with (Path(__file__).parent / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE, restval=""))


def noun_classes(text: str) -> frozenset[str]:
    """Returns the noun classes that ``a|b`` names, groups such as ``living`` spelled out; ``-`` is none."""
    names = [] if text in ("", "-") else text.split("|")
    return frozenset(word for name in names for word in _GROUPS.get(name, name).split())


def _options(text: str) -> dict[str, str]:
    pairs = (word.partition("=") for word in text.split())
    return {name: value for name, _, value in pairs}


def read_nouns() -> list[Noun]:
    """Reads nouns.tsv; English is ``singular`` or ``singular/plural``."""
    nouns = []
    for row in rows("nouns"):
        options = _options(row["options"])
        singular, _, plural = row["en"].partition("/")
        nouns.append(
            Noun(
                noun_class=row["class"],
                fr=row["fr"],
                fr_plural=options.get("pl", french_plural(row["fr"])),
                gender=row["gender"],
                en=singular,
                en_plural=plural or regular_plural(singular),
                zh=row["zh"],
                measure=row["measure"],
                mass="mass" in options,
            )
        )
    return nouns


def read_verbs() -> list[Verb]:
    """Reads verbs.tsv: ``~`` joins a particle, ``+`` a preposition; ``_`` is where a Chinese object goes."""
    verbs = []
    for row in rows("verbs"):
        options = _options(row["options"])
        fr, _, fr_preposition = row["fr"].partition("+")
        words, _, en_preposition = row["en"].partition("+")
        forms, _, particle = words.partition("~")
        en, past, participle = [*forms.split("/"), "", ""][:3]
        before, _, after = (part.split() for part in row["zh"].partition("_"))
        verb_is_last = bool(after) and after[-1] not in ("里", "上")
        verbs.append(
            Verb(
                frame=row["frame"],
                fr=fr,
                fr_preposition=fr_preposition,
                etre="être" in options,
                en=en,
                en_past=past or regular_participle(en),
                en_participle=participle or regular_participle(en),
                en_particle=particle,
                en_preposition=en_preposition,
                zh=after[-1] if verb_is_last else before[0],
                zh_before=tuple(before),
                zh_after=tuple(after),
                subjects=noun_classes(row["subject"]),
                objects=noun_classes(row["object"]),
                only=options.get("only", ""),
                stative="stative" in options,
                passive=row["frame"] == "transitive" and not {"nopassive", "stative"} & set(options),
                progressive=not {"stative", "event"} & set(options),
            )
        )
    return verbs


def read_adjectives() -> list[Adjective]:
    """Reads adjectives.tsv; English is ``positive`` or ``positive/comparative``."""
    adjectives = []
    for row in rows("adjectives"):
        options = _options(row["options"])
        positive, _, comparative = row["en"].partition("/")
        adjectives.append(
            Adjective(
                fr=row["fr"],
                feminine=options.get("feminine") or regular_feminine(row["fr"]),
                liaison=options.get("liaison"),
                comparative=options.get("comparative"),
                en=positive,
                en_comparative=comparative or None,
                zh=row["zh"],
                before=row["position"] == "before",
                classes=noun_classes(row["classes"]),
                relational="relational" in options,
                predicative="predicative" in options,
            )
        )
    return adjectives


def read_times() -> list[TimeExpression]:
    """Reads times.tsv, whose words are ``token/part of speech/key…``."""

    def words(text: str) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        parts = (word.split("/") for word in text.split())
        return tuple((token, label, tuple(keys)) for token, label, *keys in parts)

    return [
        TimeExpression(words(row["fr"]), words(row["en"]), words(row["zh"]), frozenset(row["tenses"].split("|")))
        for row in rows("times")
    ]

"""The report of a cleaning, as Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .corpus_rules import CorpusRule
from .markdown import quoted, table
from .rules import Rule
from .tally import Tally


class RuleText(NamedTuple):
    """What a report says about a rule.

    Attributes:
        name: of the rule.
        reason: why it drops a pair.
        parameters: values by names; of sets of lines, their sizes.
    """

    name: str
    reason: str
    parameters: dict[str, Any]

    @classmethod
    def of(cls, rule: Rule | CorpusRule) -> RuleText:
        """The text of a rule, whose fields are its parameters."""
        parameters = {
            name: len(value) if isinstance(value, frozenset) else value
            for name, value in vars(rule).items()
            if not name.startswith("_")
        }
        return cls(rule.name, rule.reason, parameters)


def as_json(out: Path, tally: Tally, rules: Sequence[RuleText]) -> str:
    """Numbers of the report."""
    files = range(len(tally.files))
    content = {
        "out": out.name,
        "seen": sum(tally.seen),
        "kept": sum(map(tally.kept, files)),
        "normalized": sum(tally.normalized),
        "rules": [
            {
                **rule._asdict(),
                "seen": tally.seen_by(index),
                "dropped": tally.dropped_by(index),
                "kept": tally.seen_by(index) - tally.dropped_by(index),
            }
            for index, rule in enumerate(rules)
        ],
        "files": [
            {
                "source": name,
                "seen": tally.seen[file],
                "kept": tally.kept(file),
                "normalized": tally.normalized[file],
                "dropped": dict(zip(tally.rules, tally.dropped[file], strict=True)),
            }
            for file, name in enumerate(tally.files)
        ],
        "not_utf8": {path: {"lines": count, "first": first} for path, (count, first) in tally.broken.items()},
        "examples": {rule: [example._asdict() for example in found] for rule, found in tally.examples.items()},
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def as_markdown(out: Path, tally: Tally, rules: Sequence[RuleText]) -> str:
    """The report to read."""
    seen, kept = sum(tally.seen), sum(map(tally.kept, range(len(tally.files))))
    parts = [
        f"# Cleaning of {out.name}",
        f"Of {seen:,} pairs {kept:,} are kept ({kept / seen:.2%}). Normalisation changed {sum(tally.normalized):,}.",
        "## Rules, in the order in which they are tried",
        table(
            ("rule", "seen", "dropped", "of seen", "kept", "why", "parameters"),
            [_rule_row(index, rule, tally) for index, rule in enumerate(rules)],
        ),
        "## Files",
        table(
            ("source file", "seen", *tally.rules, "kept"),
            [
                (f"`{name}`", *(f"{count:,}" for count in (tally.seen[file], *tally.dropped[file], tally.kept(file))))
                for file, name in enumerate(tally.files)
            ],
        ),
    ]
    if tally.broken:
        parts += ["## Lines that are not UTF-8", _broken(tally)]
    if any(tally.examples.values()):
        parts += ["## The first pairs dropped", _examples(tally)]
    return "\n\n".join(parts) + "\n"


def _rule_row(index: int, rule: RuleText, tally: Tally) -> tuple[str, ...]:
    seen, dropped = tally.seen_by(index), tally.dropped_by(index)
    share = f"{dropped / seen:.2%}" if seen else "–"
    parameters = ", ".join(f"{name} = {value}" for name, value in rule.parameters.items())
    return (rule.name, f"{seen:,}", f"{dropped:,}", share, f"{seen - dropped:,}", rule.reason, parameters)


def _broken(tally: Tally) -> str:
    return "\n".join(
        f"- `{path}`: {count:,}, line{'s' * (len(first) > 1)} {', '.join(map(str, first))}"
        + (" …" if count > len(first) else "")
        for path, (count, first) in tally.broken.items()
    )


def _examples(tally: Tally) -> str:
    lines = []
    for rule, examples in tally.examples.items():
        for example in examples:
            place = f" ({example.place})" if example.place else ""
            lines.append(f"- {rule}{place}:\n  - {quoted(example.source)}\n  - {quoted(example.target)}")
    return "\n".join(lines)

"""The parts of the page as HTML. All text from people and models is escaped, by the templates alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from matplotlib.figure import Figure

from ..evaluation.alignment_figures import draw_heat_map
from ..evaluation.figures import COLORS
from ..evaluation.structure.gate_figures import draw_sentence
from ..evaluation.structure.gates import WindowGates
from ..metrics import score
from ..report.page import load_template, write_svg
from ..translation.figures import draw_cuts, group_cuts
from ..translation.model import LONGEST_DRAWN, Cut, Model, Reading, ScoredWord

TEMPLATES = Path(__file__).parent / "templates"
#: Bits: from here on, models disagree about a word. One finds it eight times as probable as another.
DISAGREEMENT = 3.0

_FRAGMENTS = load_template(TEMPLATES / "fragments.html.j2")


class Drawing(NamedTuple):
    """A figure in the page; ``system`` counts from 0, ``points`` is its natural width."""

    title: str
    svg: Markup
    system: int = 0
    points: float = 0


def render(name: str, **values: object) -> str:
    """Renders a part of the page: a macro of ``fragments.html.j2`` with its arguments."""
    module = _FRAGMENTS.make_module({"colors": COLORS, "longest": LONGEST_DRAWN})
    return str(getattr(module, name)(**values))


def describe(system: Model, has_attention: bool) -> str:
    """What a model is, in a sentence for those who do not know the field: its box's, or one that its kind has."""
    if system.summary:
        return system.summary
    model = system.translator
    joins = "Joins words into ever longer windows" if model.has_windows else "Joins neighboring words, level by level"
    if has_attention:
        keeps = joins if model.has_gates else "Keeps a vector for each word"
        return f"{keeps}; for each word that it writes, attention chooses where to look."
    if model.has_gates:
        return f"{joins}, until the sentence is one vector; writes the translation from that alone."
    return "Reads the whole sentence into one vector, and writes the translation from that alone."


def name_gates(systems: Sequence[Model]) -> str:
    """What the drawings of the grConvs' gates show."""
    models = [system.translator for system in systems if system.translator.has_gates]
    kinds = {"Windows" if model.has_windows else "Pyramid" for model in models}
    return kinds.pop() if len(kinds) == 1 else "Gates"


def render_cards(
    systems: Sequence[Model],
    readings: Mapping[str, Reading | str],
    reference: str | None,
    *,
    lowercase: bool = False,
) -> str:
    """The translations side by side.

    Args:
        systems: the models.
        readings: of each system, or what went wrong.
        reference: to score with, if the sentence has one.
        lowercase: whether chrF ignores case.
    """
    cards = []
    for system in systems:
        reading = readings[system.name]
        problem = reading if isinstance(reading, str) else None
        weights, chrf, summary = "", None, ""
        if not isinstance(reading, str):
            summary = describe(system, reading.has_attention)
            if reading.alignment is not None:
                weights = json.dumps(reading.alignment.weights.round(3).tolist())
            if reference is not None:
                chrf = score("chrf", [reading.hypotheses[0].text], [reference], lowercase=lowercase).value
        facts = {"name": system.name, "summary": summary, "problem": problem}
        cards.append({**facts, "reading": reading, "weights": weights, "chrf": chrf})
    return render("cards", cards=cards, reference=reference)


def render_alignments(readings: Mapping[str, Reading | str]) -> str:
    """The heat maps of the models with attention; the others are named."""
    drawings, without = [], []
    for number, (name, reading) in enumerate(readings.items()):
        if isinstance(reading, str):
            continue
        if not reading.has_attention:
            without.append(name)
        if reading.alignment is not None:
            drawings.append(_draw(draw_heat_map(reading.alignment), f"Alignment of {name}", number))
    return render("drawings", drawings=drawings, without=without, kinds={"Alignment"})


def render_gates(readings: Mapping[str, Reading | str]) -> str:
    """The pyramids of gates, each with the tree that it implies, and the windows of dilated grConvs."""
    drawings, kinds = [], set()
    for number, (name, reading) in enumerate(readings.items()):
        if not isinstance(reading, str) and reading.gates is not None:
            kind = "Windows" if isinstance(reading.gates, WindowGates) else "Pyramid"
            kinds.add(kind)
            drawings.append(_draw(draw_sentence(reading.gates), f"{kind} of {name}", number))
    return render("drawings", drawings=drawings, without=[], kinds=kinds)


def _draw(figure: Figure, title: str, system: int) -> Drawing:
    svg = write_svg(figure, f"{title} {system}", title)
    return Drawing(title, svg, system, 72 * figure.get_figwidth())


def render_cuts(answers: Mapping[str, Sequence[Cut] | str]) -> str:
    """How sure each model is of its translation of the first words, along their number."""
    problems = {name: found for name, found in answers.items() if isinstance(found, str)}
    cuts = {name: found for name, found in answers.items() if not isinstance(found, str)}
    if not cuts:
        return render("notice", text=next(iter(problems.values())))
    drawings = []
    # Models that split the sentence in other ways have figures of their own.
    for number, group in enumerate(group_cuts(cuts)):
        figure = draw_cuts(group, list(answers))
        title = f"Certainty along the sentence: {', '.join(group)}"
        svg = write_svg(figure, f"Certainty {number}", "Log-probabilities of cuts")
        drawings.append(Drawing(title, svg, points=72 * figure.get_figwidth()))
    systems = [(number, name, cuts[name]) for number, name in enumerate(answers) if name in cuts]
    spread = any(len(found) < found[-1].words for found in cuts.values())
    return render("cuts", drawings=drawings, systems=systems, problems=problems, spread=spread)


def render_forced(forced: Mapping[str, Sequence[ScoredWord] | str]) -> str:
    """A given translation word by word, one column a model; words on which they disagree are marked.

    Models cannot disagree on a word that they do not know: what they score is not the word.
    """
    problems = {name: found for name, found in forced.items() if isinstance(found, str)}
    scored = {name: found for name, found in forced.items() if not isinstance(found, str)}
    # Models that split the sentence in other ways have tables of their own.
    tables: dict[tuple[str, ...], dict[str, Sequence[ScoredWord]]] = {}
    for name, found in scored.items():
        tables.setdefault(tuple(word.text for word in found), {})[name] = found
    groups = []
    for systems in tables.values():
        rows = list(zip(*systems.values()))
        known = [[word.log_probability for word in row if word.known] for row in rows]
        marks = [max(row, default=0.0) - min(row, default=0.0) >= DISAGREEMENT for row in known]
        sums = [sum(word.log_probability for word in found) for found in systems.values()]
        groups.append({"names": list(systems), "rows": list(zip(rows, marks)), "sums": sums})
    return render("forced", groups=groups, problems=problems)

"""What decides the numbers of a page, in words."""

from __future__ import annotations

from ..evaluation.analysis import Analysis
from ..evaluation.score_tables import SIGNIFICANT, list_signatures
from ..evaluation.scores import CURVE_RESAMPLES, FEWEST, Settings
from ..metrics.sentence_statistics import SEED
from .report import Report


def describe_method(report: Report) -> dict[str, list[str]]:
    """Each term and what there is to say of it."""
    analysis = report.analysis
    return {
        "Test set": [describe_test_set(analysis)],
        "Metrics": list_signatures(analysis.signatures),
        "Intervals and tests": [describe_resampling(analysis.settings, analysis.baseline)],
        "Length": [describe_windows(analysis.settings)],
        "Sentences": [describe_sentence_scores(analysis)],
    }


def describe_test_set(analysis: Analysis) -> str:
    """Size, language, casing, and what a word is."""
    test_set = analysis.test_set
    language = f", target language {test_set.target_language}" if test_set.target_language else ""
    case = "case is ignored" if test_set.lowercase else "case matters"
    return f"{len(test_set):,} sentences{language}; {case}; words are {test_set.words}."


def describe_resampling(settings: Settings, baseline: str) -> str:
    """Where intervals and stars come from."""
    if not settings.resamples:
        return "None were requested."
    return (
        f"95% bootstrap intervals over sentences, {settings.resamples:,} resamples "
        f"({min(settings.resamples, CURVE_RESAMPLES):,} for each point along length), seed {SEED}. "
        f"A star marks a difference from {baseline}: paired bootstrap (Koehn 2004), two-sided, p < {SIGNIFICANT}. "
        f"Groups of fewer than {FEWEST} sentences get neither an interval nor a test."
    )


def describe_windows(settings: Settings) -> str:
    """What a point of a curve covers."""
    before, after = (settings.window - 1) // 2, settings.window // 2
    return (
        f"The point of a curve at n words covers sentences of n − {before} to n + {after} words (a window of "
        f"{settings.window}, as in Cho et al. 2014b); points with fewer than {settings.fewest} sentences are left out."
    )


def describe_sentence_scores(analysis: Analysis) -> str:
    """What single sentences are scored with."""
    text = "Single sentences are scored with chrF: BLEU of one sentence says little."
    if any(len(system.translations) > 1 for system in analysis.systems):
        text += (
            " Scores of the whole test set and of groups are means over seeds; sentences, words by frequency, and "
            "repeated and missing content are those of the first seed."
        )
    return text

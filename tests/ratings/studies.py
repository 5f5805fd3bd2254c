"""Small studies, and the files that annotators would export from their pages."""

import json

from recurrent_mt.ratings.ratings import read_key, read_ratings
from recurrent_mt.ratings.sampling import RatedTexts, Sample, sample_screens
from recurrent_mt.ratings.study import KEY_FORMAT, MODES, RATINGS_FORMAT, RatingStudy

SENTENCES = 30


def make_corpus(systems=3, sentences=SENTENCES, *, source=True, reference=True):
    """All sentences and translations differ from one another in every word."""
    return RatedTexts(
        [f"source{i} un deux trois ." for i in range(sentences)] if source else None,
        [f"reference{i} one two three ." for i in range(sentences)] if reference else None,
        {
            name: [f"{name}{i} a{i} b{i} c{i} d{i} e{i} f{i} g{i} ." for i in range(sentences)]
            for name in "xyzuvw"[:systems]
        },
    )


def make_study(mode="side-by-side", *, systems=3, sentences=12, title="Rating", corpus=None, **options):
    corpus = corpus or make_corpus(systems)
    screens = sample_screens(corpus, Sample(mode, sentences, **options))
    return RatingStudy(mode, tuple(corpus.systems), screens, options.get("seed", 1), title)


def export(study, rate, annotator="Annotator 1"):
    """What the page exports; `rate` gives an item's rating on a scale."""
    return {
        "format": RATINGS_FORMAT,
        "page": study.page_data()["page"],
        "mode": study.mode,
        "annotator": annotator,
        "exported_at": "2026-01-01T00:00:00.000Z",
        "ratings": [
            {
                "item": item.identifier,
                **{scale.name: rate(item, scale) for scale in MODES[study.mode]},
                "rated_at": f"2026-01-01T00:{screen.number:02}:00.000Z {annotator}",
                "screen_seconds": 1.5 * screen.number,
            }
            for screen in study.screens
            for item in screen.items
        ],
    }


def write(path, data):
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def key_of(study, folder):
    return read_key(write(folder / "page.html.key.json", study.key()))


def ratings_of(study, folder, rate, annotator="Annotator 1"):
    path = write(folder / f"{annotator}.json", export(study, rate, annotator))
    return read_ratings(path, key_of(study, folder), allow_unrated=True)


def bare_key(items, mode="direct", systems=("x", "y")):
    """A key by hand: identifier -> (sentence, systems, kind, original)."""
    names = ("sentence", "systems", "kind", "original")
    entries = {identifier: dict(zip(names, values, strict=True)) for identifier, values in items.items()}
    return {"format": KEY_FORMAT, "page": "0123", "mode": mode, "seed": 1, "systems": list(systems), "items": entries}

"""Golden numbers of this code, recorded with the version in `recurrent_mt.numerics` that they are of.

After a version has been raised, ``python -m tests.golden_numbers`` records them anew. It refuses to record other
numbers with the same version.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from subword_nmt.learn_bpe import learn_bpe

from recurrent_mt import numerics
from recurrent_mt.data.rules import SentencePair, pair_rules
from recurrent_mt.data.synthetic import generate
from recurrent_mt.evaluation.analysis import analyze
from recurrent_mt.evaluation.scores import Settings
from recurrent_mt.evaluation.translated_files import System, TestSet
from recurrent_mt.metrics import METRICS, split_words
from recurrent_mt.text_form import TextForm
from tests.commands import call
from tests.models.building import ARCHITECTURES, build, sample
from tests.training import trainer

RECORD = Path(__file__).with_name("golden_numbers.json")
#: Processors and versions of PyTorch round differently; a loss that differs by more is another one.
TOLERANCE = 1e-2
BATCH = sample([6, 4, 1], [7, 5, 2])
SENTENCES = {
    "fr": ["L’été, c'est « bon » : 3,5 % de plus !", "Le Parlement l'a-t-il adopté aujourd'hui ?"],
    "en": ['Mr. Smith\'s "best" offer: $3.50 (cash) & a half...', "They don't know it, do they?"],
    "de": ["Die „Straße“ ist – am 3. Mai – gesperrt; z. B. für Lkw."],
    "zh": ["我们在2017年有3.5%的增长，对吗？", "iPhone手机的价格是USD 999.99元(含税)"],
}
PAIRS = [
    ("Le chat dort sur le vieux tapis rouge.", "The cat is sleeping on the old red carpet."),
    ("Le chat dort.", "The cat is sleeping on the old red carpet, and nobody in the house dares to wake it up."),
    ("www.example.org/page", "See www.example.org/page"),
    ("12 345,67 - 89", "12,345.67 - 89"),
    ("Das ist ein deutscher Satz und gehört ganz sicher nicht hierher.", "This is a sentence that belongs here."),
]


def measure_training() -> dict[str, list[float]]:
    """Bits a word of a tiny model of each encoder, with its defaults: as it starts, and after five updates."""
    flags = ("--optimizer", "fused_adam", "--lr", "0.03", "--clip-norm", "1", "--label-smoothing", "0.1")
    measured = {}
    for architecture in ARCHITECTURES:
        for attention in ("none", "additive"):
            model = build(architecture, decoder_attention=attention)
            for parameter in model.parameters():
                parameter.data *= 3  # with weights near zero, all models are alike
            training = trainer(model, "chunked_cross_entropy", *flags)
            losses = [training.train_step([BATCH])["loss"] for _ in range(6)]
            measured[f"{architecture}, {attention}"] = [losses[0], losses[-1]]
    return measured


def measure_text() -> dict[str, Any]:
    """Words and pieces of a few sentences, and the rules by which pairs are dropped."""
    measured: dict[str, Any] = {}
    for language, sentences in SENTENCES.items():
        for tokenizer in ("moses", "none"):
            form = form_of("", "word:1", tokenizer, language)
            measured[f"{language}, {tokenizer}"] = [form.read(text, language) for text in sentences]
    for kind in ("bpe", "sentencepiece"):
        with TemporaryDirectory() as folder:
            form = form_of(folder, f"{kind}:60", "moses", "fr")
            learn_pieces(form, [text for _ in range(5) for text in (*SENTENCES["fr"], *SENTENCES["en"])])
            measured[kind] = [form.read(text, "fr") for text in SENTENCES["fr"]]
    nothing: frozenset[str] = frozenset()
    rules = pair_rules(("fr", "en"), (nothing, nothing), max_words=100, max_ratio=2.0, language_check=True)
    pairs = [SentencePair(source, target, ("fr", "en")) for source, target in PAIRS]
    measured["dropped by"] = [next((rule.name for rule in rules if rule(pair)), None) for pair in pairs]
    return measured


def measure_synthetic() -> dict[str, Any]:
    """The synthetic corpora."""
    measured: dict[str, Any] = {}
    for pair in ("fr-en", "zh-en"):
        content = hashlib.sha256()
        for example in generate(pair, {"test": 200}, seed=1):
            lines = (example.source_text, example.target_text, str(example.source_tree), str(example.alignment))
            content.update("\n".join(lines).encode())
        measured[pair] = content.hexdigest()[:16]
    return measured


def measure_scores() -> dict[str, Any]:
    """Scores, intervals, and p-values of two systems, whole and in groups, in languages that are scored differently."""
    measured: dict[str, Any] = {}
    texts = {"fr": SENTENCES["fr"], "zh": SENTENCES["zh"], "tr": ["IŞIK, hava ve SU gerekli", "ılık bir İzmir akşamı"]}
    for language, (one, other) in texts.items():
        sentences = [f"{one if number % 3 else other} {number % 7}" for number in range(40)]
        words = split_words(sentences, language)
        test_set = TestSet(sentences, language, True, sentences, words, words)
        first = [text[: -1 - place % 11] for place, text in enumerate(sentences)]
        second = [text[place % 5 :].lower() for place, text in enumerate(sentences)]
        systems = [System("a", {"1": first, "2": second}), System("b", {"1": second})]
        found = analyze(test_set, systems, settings=Settings(tuple(METRICS), resamples=50, limits=(5, 10)))
        for row in found.records.itertuples():
            numbers = [f"{number:.3f}" for number in (row.value, row.low, row.high, row.p) if number == number]
            measured.setdefault(f"{language}, {row.metric}, {row.by}", []).extend(numbers)
    return {key: " ".join(numbers) for key, numbers in measured.items()}


def form_of(folder: str, segmentation: str, tokenizer: str, language: str) -> TextForm:
    """A text in this language and in English."""
    record = {"SOURCE_LANG": language, "TARGET_LANG": "en", "SEGMENTATION": segmentation, "TOKENIZER": tokenizer}
    return TextForm.from_record(record, folder)


def learn_pieces(form: TextForm, lines: list[str]) -> None:
    """Learns the merges or pieces of a text's form as the workflow does."""
    form.model.parent.mkdir()
    text = form.folder / "lines"
    text.write_text("".join(f"{form.split(line, 'fr')}\n" for line in lines), encoding="utf-8")
    if form.segmentation == "sentencepiece":
        done = call("sentencepiece", "train", "--size", form.size, "--model", form.model, text)
        assert done.returncode == 0, done.stderr
        return
    with text.open(encoding="utf-8") as source, form.model.open("w", encoding="utf-8") as codes:
        learn_bpe(source, codes, form.size)


def measure() -> dict[str, Any]:
    """What is recorded: each kind of numbers with its version."""
    return {
        "text": {"version": numerics.TEXT, "numbers": measure_text()},
        "synthetic": {"version": numerics.SYNTHETIC, "numbers": measure_synthetic()},
        "training": {"version": numerics.TRAINING, "numbers": measure_training()},
        "scores": {"version": numerics.SCORES, "numbers": measure_scores()},
    }


def is_same(found: Any, recorded: Any) -> bool:
    """Whether numbers are what was recorded, but for rounding."""
    if isinstance(recorded, dict):
        return found.keys() == recorded.keys() and all(is_same(found[key], recorded[key]) for key in recorded)
    if isinstance(recorded, list):
        return len(found) == len(recorded) and all(map(is_same, found, recorded))
    return math.isclose(found, recorded, abs_tol=TOLERANCE) if isinstance(recorded, float) else found == recorded


if __name__ == "__main__":
    recorded, measured = json.loads(RECORD.read_text(encoding="utf-8")), measure()
    for kind, of_kind in measured.items():
        same = is_same(of_kind["numbers"], recorded[kind]["numbers"])
        if of_kind["version"] == recorded[kind]["version"] and not same:
            sys.exit(f"the numbers of {kind} have changed: raise {kind.upper()} in recurrent_mt/numerics.py")
    RECORD.write_text(f"{json.dumps(measured, indent=1, ensure_ascii=False)}\n", encoding="utf-8")

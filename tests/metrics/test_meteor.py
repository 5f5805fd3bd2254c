import sys
from types import SimpleNamespace

import nltk
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.corpus.util import LazyCorpusLoader
from nltk.translate.meteor_score import meteor_score, single_meteor_score
from sacrebleu import __version__ as sacrebleu_version
from sacrebleu.metrics import BLEU

from recurrent_mt import meteor as module
from recurrent_mt.meteor import METEOR, NoSynonyms
from recurrent_mt.metrics import score
from tests.metrics.translations import references, translations

REFERENCES = references()
HYPOTHESES = translations(REFERENCES, errors=0.4)
EXACT_AND_STEM = NoSynonyms()


@pytest.fixture(autouse=True)
def without_wordnet(monkeypatch):
    monkeypatch.setattr(module, "nltk_wordnet", LazyCorpusLoader("wordnet-that-nobody-has", WordNetCorpusReader, None))


class Lexicon:
    """Two sets of synonyms, in the form of WordNet's reader."""

    SETS = (("house", "home"), ("quick", "fast", "at_once"))

    def synsets(self, word):
        return [self.synset(words) for words in self.SETS if word in words]

    def ensure_loaded(self):
        pass

    def get_version(self):
        return "3.0"

    @staticmethod
    def synset(words):
        return SimpleNamespace(lemmas=lambda: [SimpleNamespace(name=lambda word=word: word) for word in words])


def tokens(text, tokenize="13a"):
    return BLEU(tokenize=tokenize).tokenizer(text).split()


def nltk_score(hypothesis, reference, *, tokenize="13a", synonyms=EXACT_AND_STEM):
    words = tokens(reference, tokenize), tokens(hypothesis, tokenize)
    return 100 * single_meteor_score(*words, wordnet=synonyms)


PAIRS = [
    ("The dogs ran quickly, 3.5 km!", "A dog runs quickly: 3.5 km."),
    ("The cat, the cat and the cat.", "the cat and the other cat"),
    ("c b a", "a b c"),
    ("Running HOUSES", "runs house"),
    ("nothing at all", "shared here"),
    *zip(HYPOTHESES, REFERENCES),
]


@pytest.mark.parametrize(("hypothesis", "reference"), PAIRS)
def test_a_sentence_has_the_score_of_nltk(hypothesis, reference):
    metric = METEOR()
    expected = nltk_score(hypothesis, reference)
    assert metric.sentence_score(hypothesis, [reference]).score == expected
    assert metric.corpus_score([hypothesis], [[reference]]).score == expected


def test_the_synonym_stage_is_that_of_nltk(monkeypatch):
    pair = "a quick way home", "the fast way to the house"
    scores = [METEOR().sentence_score(pair[0], [pair[1]]).score]
    monkeypatch.setattr(module, "nltk_wordnet", Lexicon())
    scores.append(METEOR().sentence_score(pair[0], [pair[1]]).score)
    assert scores == [nltk_score(*pair, synonyms=synonyms) for synonyms in (EXACT_AND_STEM, Lexicon())]
    assert scores[0] < scores[1]


def test_chinese_is_scored_by_characters():
    pair = "两只狗跑得很快！", "两只狗在快跑！"
    expected = nltk_score(*pair, tokenize="zh")
    assert score("meteor", *([text] for text in pair), target_language="zh").value == expected
    assert 0 < expected < 100
    assert score("meteor", *([text] for text in pair)).value == 0


def test_a_corpus_is_scored_from_sums_and_not_by_the_mean():
    # Three of four words match in one chunk; both words in two chunks; none.
    hypotheses, references = ["a b c x", "b a", "q"], ["a b c", "a b", "r s"]
    metric = METEOR()
    result = metric.corpus_score(hypotheses, [references])
    precision, recall, penalty = 5 / 7, 5 / 7, 0.5 * (3 / 5) ** 3
    expected = 100 * (1 - penalty) * precision * recall / (0.9 * precision + 0.1 * recall)
    assert result.score == pytest.approx(expected)
    assert str(result).endswith(" (P = 71.4 R = 71.4 penalty = 0.108)")
    sentences = [metric.sentence_score(*pair).score for pair in zip(hypotheses, zip(references))]
    assert result.score != pytest.approx(sum(sentences) / 3, abs=1)


def test_the_best_of_several_references_counts():
    texts = ["the dog runs", "a small red house", "dogs run in the park"]
    result = METEOR().sentence_score("the small red house", texts)
    assert result.score == 100 * meteor_score(
        list(map(tokens, texts)), tokens("the small red house"), wordnet=EXACT_AND_STEM
    )


def test_case_is_ignored_and_the_signature_says_so():
    result = score("meteor", ["THE HOUSE"], ["the house"], lowercase=False)
    assert result == score("meteor", ["the house"], ["The house"], lowercase=True)
    assert "|case:lc|" in result.signature


def test_the_signature_of_meteor_has_its_settings():
    result = score("meteor", HYPOTHESES, REFERENCES, tokenize="intl", resamples=5)
    assert result.signature == (
        "nrefs:1|bs:5|seed:12345|case:lc|tok:intl|stages:exact+stem[porter]|alpha:0.9|beta:3.0|gamma:0.5"
        f"|sacrebleu:{sacrebleu_version}|version:nltk-{nltk.__version__}"
    )


def test_an_installed_wordnet_is_a_stage_of_its_own(monkeypatch):
    monkeypatch.setattr(module, "nltk_wordnet", Lexicon())
    result = score("meteor", ["quick"], ["fast"])
    assert "|stages:exact+stem[porter]+synonym[wordnet-3.0]|" in result.signature
    assert result.value == 50


def test_the_signature_of_meteor_has_a_short_form():
    metric = METEOR()
    metric.corpus_score(["a b"], [["a b"]])
    assert "|c:lc|tok:13a|st:exact+stem[porter]|" in metric.get_signature().format(short=True)


def test_meteor_prints_its_signature_and_its_parts():
    text = str(score("meteor", ["the red house"], ["the red house"]))
    assert text.startswith("METEOR|nrefs:1|case:lc|tok:13a|stages:exact+stem[porter]")
    assert text.endswith(" = 98.15 (P = 100.0 R = 100.0 penalty = 0.019)")


def test_without_nltk_only_meteor_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    monkeypatch.delitem(sys.modules, "recurrent_mt.meteor")
    with pytest.raises(ModuleNotFoundError, match="meteor needs nltk: pip install nltk=="):
        score("meteor", ["a"], ["a"])
    assert score("ter", ["a"], ["a"]).value == 0

"""Small test sets and systems for the tests of the analysis."""

from recurrent_mt.evaluation.translated_files import System, TestSet, UnknownWords

SENTENCES = [
    ("un chat", "a cat"),
    ("un chien dort", "a dog sleeps"),
    ("le chat noir voit le chien", "the black cat sees the dog"),
    ("le chien noir voit le petit chat gris", "the black dog sees the small gray cat"),
    ("rouge", "red"),
    ("le chat", "the big black cat"),
]


def small(copies=1, **changes):
    """A test set of short sentences, `copies` times over."""
    source, reference = (list(side) * copies for side in zip(*SENTENCES, strict=True))
    values = {
        "source": source,
        "reference": reference,
        "source_words": [sentence.split() for sentence in source],
        "reference_words": [sentence.split() for sentence in reference],
        "target_language": "en",
        "lowercase": False,
        "words": "tokens",
    }
    return TestSet(**{**values, **changes})


def perfect(test_set, name="perfect"):
    """A system that knows the references."""
    return System(name, {"1": list(test_set.reference)})


def forgetful(test_set, name="forgetful", seeds=2):
    """A system that loses the words from the third on, and says something else with another seed."""
    translations = {}
    for seed in range(1, seeds + 1):
        texts = [" ".join(sentence.split()[: 1 + seed]) for sentence in test_set.reference]
        translations[str(seed)] = texts
    unknown = UnknownWords([len(text) % 3 for text in test_set.source], [0] * len(test_set))
    return System(name, translations, unknown, (10, 12))

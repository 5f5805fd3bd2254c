"""A perfect translation scores 100: references as hypotheses, through everything that a recipe does to text.

References are split into words, the words into what models read, both are joined again by fairseq and by the recipe's
detokenizer, and the result is scored against the references as they came. Moses does not put all text together as it
was: of its words, what is asked for is what its own round trip gives, and no less.
"""

import os
import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest
import sacremoses
from fairseq.data.data_utils import post_process
from hypothesis import given, settings
from hypothesis import strategies as st
from subword_nmt.learn_bpe import learn_bpe

from recurrent_mt.characters import normalize
from recurrent_mt.cli.sentencepiece import train
from recurrent_mt.data.synthetic.writing import write_corpus
from recurrent_mt.languages import base_language, has_spaces, is_chinese
from recurrent_mt.metrics import score
from recurrent_mt.text_files import read_sentences
from recurrent_mt.text_form import TextForm
from tests.once import build_once

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
FRENCH = "L’été où l'on a vu « cela » : qu’en dit-on ? C'est 5 % — ou 3,5 €… aujourd'hui !"
ENGLISH = "He didn't say \"I can't\", he said: “it’s John's (and Mary’s) 1,000 – or 2.5% – co-op.”"
CHINESE = "他说：“我喜欢《红楼梦》，你呢？”（２０２０年）共100多人…… 买了iPhone手机、３台。"
#: Language to sentences whose words, punctuation and characters Hypothesis mixes.
SENTENCES = {
    **{"fr": FRENCH, "fr_CA": FRENCH, "en": ENGLISH, "en_GB": ENGLISH, "zh": CHINESE},
    "zh_TW": "他說：「我喜歡《紅樓夢》，你呢？」共100多人……買了iPhone手機、３台。",
    "pt_BR": "Não é só “isso”: o João disse-lhe que custa R$ 3,50, às 8h; dê-me mais ações!",
    "de": "Er sagte: „Das ist’s!“ – und »das« auch; z. B. 3,5 % der Straßen, d.h. überall.",
    "vi": "Ông ấy nói: “Tôi thích đọc ‘Truyện Kiều’, còn bạn?” – 3,5 tỷ đồng; thế à?",
    "ja": "彼は「『源氏物語』が好きだ。」と言った：３．５％、ｱｲｳ、カタカナー・iPhoneを買った！",
}
#: The same text as different people's files have it.
FORMS = {
    "NFC": lambda lines: "\n".join(unicodedata.normalize("NFC", line) for line in lines) + "\n",
    "NFD": lambda lines: "\n".join(unicodedata.normalize("NFD", line) for line in lines) + "\n",
    "CRLF": lambda lines: "\r\n".join(lines) + "\r\n",
    "BOM": lambda lines: "\ufeff" + "\n".join(lines) + "\n",
}
#: Of each path; more with HYPOTHESIS_MAX_EXAMPLES=1000.
EXAMPLES = int(os.environ.get("HYPOTHESIS_MAX_EXAMPLES", "10"))
SEGMENTATIONS = ("word", "bpe", "sentencepiece")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Run folders, each with subwords learned from the sentences above."""

    def build(folder):
        lines = [line for line in SENTENCES.values() for _ in range(5)]
        (folder / "text").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        for kind in ("bpe", "sentencepiece"):
            (folder / kind / "text").mkdir(parents=True)
        with (folder / "bpe/text/segmentation.model").open("w", encoding="utf-8") as codes:
            learn_bpe([f"{line}\n" for line in lines], codes, 200)
        train([str(folder / "text")], str(folder / "sentencepiece/text/segmentation.model"), 400)
        return folder

    return build_once(tmp_path_factory, "subwords", build)


def form_of(models, language, segmentation, tokenizer, lowercase=False):
    return TextForm(models / segmentation, language, language, segmentation, tokenizer, lowercase, truecased=False)


@cache
def prepared(form):
    """One form for all that are equal: it loads its models once."""
    return form


def translate_perfectly(form, lines):
    """The references through a recipe, as a model that makes no mistake would translate."""
    form = prepared(form)
    symbol = {"word": None, "bpe": "@@ ", "sentencepiece": "sentencepiece"}[form.segmentation]
    return [form.join(post_process(form.segment(form.split(line, form.target)), symbol)) for line in lines]


#: Letters in place of apostrophes.
LETTERS = {"'": "ꞌ", "’": "ꝏ"}


@cache
def moses(code):
    return sacremoses.MosesTokenizer(lang=code), sacremoses.MosesDetokenizer(lang=code)


#: Signs that Moses does not know, and what it makes of the sentences above besides.
MARKS = re.compile("[„‚“‘”’]")
MADE_BY_MOSES = {
    "pt_BR": {"R$ 3,50": "R $3,50"},
    "de": {"»das«": "» das «", "3,5 %": "3,5%"},
}


def moses_round_trip(language, line, made):
    """Moses' own, but for apostrophes within words: without rules for them, it has to take them for letters.

    Of lines with typographic quotation marks, it is what was ``made``, as long as no character but spaces has changed.
    The sentences above come back exactly.
    """
    code, text = base_language(language), normalize(line)
    if line == SENTENCES[language]:
        for before, after in MADE_BY_MOSES.get(language, {}).items():
            text = text.replace(before, after)
        return text
    tokenizer, detokenizer = moses(code)
    if code not in ("en", "fr", "it"):
        text = re.sub(r"(?<=[^\W_])['’](?=[^\W\d_])", lambda sign: LETTERS[sign[0]], text)
    is_marked = MARKS.search(text)
    text = detokenizer.detokenize(tokenizer.tokenize(text))
    text = text.replace(LETTERS["'"], "'").replace(LETTERS["’"], "’")
    if is_marked and text.replace(" ", "").lower() == made.replace(" ", "").lower():
        return made
    return text


def scores(hypotheses, references, language, lowercase=False):
    options = {"target_language": language, "lowercase": lowercase}
    return [score(metric, hypotheses, references, **options).value for metric in ("bleu", "ter", "chrf")]


def check_perfect(form, references, *, is_scored=True):
    """What the recipe gives back is the reference, or Moses' version of it; if it is not scored, it has to be equal."""
    hypotheses = translate_perfectly(form, references)
    best = references
    if form.splits_words and not is_chinese(form.target):
        best = [moses_round_trip(form.target, line, made) for line, made in zip(references, hypotheses, strict=True)]
        # Moses may join words in lower case in another way; BLEU below says whether that matters.
        assert form.lowercase or hypotheses == best
    if not is_scored and hypotheses == best:
        return None
    found = scores(hypotheses, references, form.target, form.lowercase)
    perfect = [100, 0, 100]
    if best is not references:
        # The same text has the same scores; TER takes long.
        perfect = found if hypotheses == best else scores(best, references, form.target, form.lowercase)
    assert found == pytest.approx(perfect)
    return found


def paths():
    """Every way from text to text that a language has."""
    ways = [(kind, tokenizer) for kind in ("word", "bpe") for tokenizer in ("moses", "none")]
    for language in SENTENCES:
        for kind, tokenizer in [*ways, ("sentencepiece", "moses")]:
            splits = tokenizer == "moses" and kind != "sentencepiece"
            if has_spaces(language) or is_chinese(language) or not splits:
                yield pytest.param(language, kind, tokenizer, id=f"{language}-{kind}-{tokenizer}")


@pytest.mark.parametrize(("language", "segmentation", "tokenizer"), list(paths()))
def test_chosen_text_in_every_form(models, tmp_path, language, segmentation, tokenizer):
    for form, write in FORMS.items():
        file = tmp_path / form
        file.write_bytes(write([SENTENCES[language]] * 2).encode())
        references = read_sentences(file)
        for lowercase in (False, True):
            check_perfect(form_of(models, language, segmentation, tokenizer, lowercase), references)


def sentences(language):
    """Lines of a language's words, characters and punctuation in any order, with spaces in any place."""
    pieces = [*SENTENCES[language].split(), *SENTENCES[language], *" @&<|[_\u00a0\u200b", "@-@"]
    line = st.lists(st.sampled_from(pieces), min_size=4, max_size=20).map(" ".join)
    close = st.lists(st.sampled_from(pieces), min_size=4, max_size=20).map("".join)
    return st.lists(st.one_of(line, close), min_size=3, max_size=6)


@pytest.mark.parametrize(
    ("language", "segmentation", "tokenizer"), [path for path in paths() if path.values[0] not in ("fr_CA", "en_GB")]
)
def test_any_text(models, language, segmentation, tokenizer):
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(sentences(language))
    def check(lines):
        references = [*lines, SENTENCES[language]]
        check_perfect(form_of(models, language, segmentation, tokenizer), references, is_scored=False)

    check()


#: File of real text to its language.
REAL = {
    **{f"multi30k/test_2016_flickr.{language}": language for language in ("fr", "en")},
    **{f"wmt-fr-en/newstest2013.{language}": language for language in ("fr", "en")},
    "wmt-zh-en/newstest2017.zh": "zh",
}


# News has what captions have, and more.
@pytest.mark.parametrize("segmentation", SEGMENTATIONS)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name.startswith("multi30k") else ()) for name in REAL]
)
def test_real_text(models, name, segmentation):
    if not (SHARED / name).exists():
        pytest.skip("needs the corpora of ../shared")
    references = read_sentences(SHARED / name)[:100]
    bleu, ter, _ = check_perfect(form_of(models, REAL[name], segmentation, "moses"), references)
    print(f"{name}, {segmentation}: {bleu:.2f} BLEU, {ter:.2f} TER")
    # Moses takes French's spaces away before ? and ! and »: to TER, those are other words.
    assert bleu > 99.8 and ter < 5


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("pair", ["fr-en", "zh-en"])
def test_given_words_in_true_case(pair, lowercase, tmp_path):
    """The synthetic corpus comes with its words, in true case, and with raw text."""
    write_corpus(tmp_path, pair, {"train": 1, "valid": 1, "test": 300}, 1)
    references = read_sentences(tmp_path / "test.en")
    words = [line.lower() if lowercase else line for line in read_sentences(tmp_path / "test.tgt")]
    form = TextForm(tmp_path, pair[:2], "en", "word", "none", lowercase, truecased=True)
    hypotheses = [form.join(line) for line in words]
    assert scores(hypotheses, references, "en", lowercase) == pytest.approx([100, 0, 100])

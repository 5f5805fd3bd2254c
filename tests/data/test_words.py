"""Words separated and put together again: what comes back exactly, and how much of real text."""

import marshal
import sys
import tempfile
from pathlib import Path

import pytest
import sacremoses

from recurrent_mt.characters import normalize
from recurrent_mt.cli.words import choose_function, require_whole_words
from recurrent_mt.data.rules import is_other_language, require_known
from recurrent_mt.data.words import (
    count_words,
    join_at_apostrophes,
    load_chinese_words,
    lowercase_tokens,
    make_known_word_splitter,
    make_tokenizer,
)
from recurrent_mt.text_files import FileError
from recurrent_mt.text_form import TextForm
from tests.commands import call, run


@pytest.fixture(scope="module")
def chinese(tmp_path_factory):
    """Read where jieba by itself would take words from a file that anybody may have written."""
    folder = tmp_path_factory.mktemp("temporary")
    (folder / "jieba.cache").write_bytes(marshal.dumps(({"北京": 1}, 1)))
    load_chinese_words.cache_clear()
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        return make_tokenizer("zh")


def test_chinese_words_are_those_of_jiebas_own_dictionary(chinese):
    assert chinese.tokenize("北京大学的研究") == "北京大学 的 研究"


def test_chinese_words_are_read_once_for_all_models(chinese, monkeypatch):
    monkeypatch.setattr(sys.modules["jieba"].Tokenizer, "gen_pfdict", None)
    assert make_tokenizer("zh").tokenize("北京大学的研究") == chinese.tokenize("北京大学的研究")


def test_moses_is_that_of_the_library():
    sentences = ["L’été, c'est « bon » !", "Mr. Smith paid $3.50 (cash) & left...", "", "a|b [c] <d>"]
    for language in ("fr", "en"):
        moses, ours = sacremoses.MosesTokenizer(language), make_tokenizer(language)
        assert [ours.tokenize(line) for line in sentences] == [
            moses.tokenize(line, return_str=True) for line in sentences
        ]


@pytest.mark.parametrize(
    "text",
    [
        "我们在2017年有3.5%的增长，对吗？",
        "他说：“好！”然后……走了——再见。",
        "iPhone手机的价格是USD 999.99元(含税)",
        "「引号」、《书名》·名字　".strip(),
        "𠮷野家",
        "",
    ],
)
def test_chinese_comes_back_exactly(chinese, text):
    text = normalize(text)
    words = chinese.tokenize(text)
    assert words.replace(" ", "") == text.replace(" ", "")
    assert chinese.detokenize(words) == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ar", "قال، ثم نام؛ هل هذا صحيح؟ «نعم»."),
        ("fa", "نسخهٔ ۲٫۰ با ۹۹٪ و ۱٬۰۰۰"),
        ("hy", "Արդյո՞ք «սա» գիրք է։ Այո՛, գիրք է՝ կարմիր․․․"),
        ("hi", 'यह किताब है। क्या सच है? "हाँ"।'),
        ("am", "ሰላም። እንዴት፣ «ነህ»፧"),
        ("hi", "डॉ॰ सिंह आए। प॰पू॰ महाराज॥"),
        ("el", "Είπε «ναι»· και έφυγε."),
        ("es", "Dijo: «sí». «¿Y tú?», preguntó."),
        ("dv", "ކިހިނެއް؟ އާ، ނޫން."),
        ("nqo", "ߒ ߓߘߊ߫߸ ߞߊ߲߹"),
        ("mn_Mong", "ᠮᠣᠩᠭᠣᠯ᠂ ᠪᠢᠴᠢᠭ᠃"),
        ("en", "“Brazil’s ‘Iron Lady’ isn’t,” he said. “It’s 5 o’clock; the workers’ rights.” (“x”)"),
        ("en", "L’Oréal in the ’90s, ‘x’ “‘Yes’” well.”"),
        ("fr", "L’été, aujourd’hui, « l’eau » d’“ici” et d’« ici »."),
        ("it", "L’uomo, un po’ di “acqua”."),
        ("de", "Er sagte: „Ja, ‚nein‘“, und ging."),
        ("sv", "Han sa: ”ja” och ”nej”."),
        ("tr", "Işık’ı ‘evet’ dedi"),
    ],
)
def test_marks_that_moses_does_not_know_stay_with_their_words(language, text):
    """It leaves a space before them, which is another word to every metric."""
    tokenizer = make_tokenizer(language)
    assert tokenizer.detokenize(tokenizer.tokenize(text)) == text
    form = TextForm(Path(), "en", language, "word", "moses", lowercase=False, truecased=False)
    words = form.split(text, language)
    assert form.join_command == f"recurrent-mt words join --language {language}"
    assert choose_function("join", language)(words) == form.join(words) == text


def test_a_space_beside_a_chinese_character_is_dropped(chinese):
    assert chinese.detokenize(chinese.tokenize("我有 iPhone 手机, two of them")) == "我有iPhone手机, two of them"


@pytest.mark.parametrize(
    ("code", "text", "tokens"),
    [
        ("fa", "او به خانه می\u200cرود.", "او به خانه می\u200cرود ."),
        ("ml", "അവന്\u200d വന്നു.", "അവന്\u200d വന്നു ."),
        ("fa", "سال ه\u200d.ش. رفت", "سال ه\u200d.ش. رفت"),
    ],
)
def test_joiners_within_words_come_through(code, text, tokens):
    tokenizer = make_tokenizer(code)
    assert tokenizer.tokenize(text) == tokens
    assert tokenizer.detokenize(tokens) == text


def test_raw_text_becomes_the_words_of_a_corpus_that_came_with_its_own():
    known = {"aujourd'hui": 9, "n'": 9, "est": 9, "Pierre": 5, "pierre": 1, "la": 9, "La": 2}
    split = make_known_word_splitter("fr", known)
    words = "aujourd'hui , Pierre n' est pas zoothécaire ."
    assert split("Aujourd'hui, Pierre n'est pas zoothécaire.") == words
    assert split(words) == words
    assert split("Pierre est la.") == "Pierre est la ."
    assert split("La est") == "la est"
    assert split("  ") == ""


def test_chinese_is_cut_into_the_longest_known_words():
    split = make_known_word_splitter("zh", dict.fromkeys(["这", "位", "出租车", "的同时", "在"], 1))
    assert split("这位在出租车的同时，1977") == "这 位 在 出租车 的同时 ， 1977"
    assert split("这 位在 出") == "这 位在 出"


@pytest.mark.parametrize("code", ["zh_CN", "zh-TW"])
def test_chinese_of_a_country_is_chinese(code):
    assert count_words("我喜欢猫", code) == count_words("我喜欢猫", "zh")
    require_known(code)
    assert is_other_language("the cat sleeps on the mat", code) and not is_other_language("我喜欢猫", code)
    form = TextForm(Path(), "en", code, "word", "moses", lowercase=False, truecased=False)
    assert form.join_command == f"recurrent-mt words join --language {code}"


def test_text_in_subwords_is_refused_where_bpe_follows():
    lines = ["un @@ chat", "un ch@@ at"]
    with pytest.raises(FileError, match="standard input, line 1: the word @@ ends in @@, as subwords of BPE do"):
        list(require_whole_words(lines))
    assert list(require_whole_words(["un chat", "@ @"])) == ["un chat", "@ @"]


def test_words_are_split_into_subwords_as_subword_nmt_does(tmp_path):
    (tmp_path / "codes").write_text("#version: 0.2\nc h\nch a\nl e</w>\n")
    text = "le chat chasse\n\nle  chien \n" * 3000
    codes = ("--codes", tmp_path / "codes")
    ours = run("recurrent-mt", "words", "segment", "--jobs", 2, *codes, text=text)
    theirs = run("subword-nmt", "apply-bpe", *codes, text=text)
    assert ours.returncode == 0 and ours.stdout == theirs.stdout
    assert ours.stdout.startswith("le cha@@ t cha@@ s@@ s@@ e\n\nle ch@@ i@@ e@@ n \n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["segment"], "segment with --codes"),
        (["copy", "--codes", "x"], "--codes goes with segment"),
        (["split"], "split needs --language"),
    ],
)
def test_options_of_words_that_do_not_go_together_are_refused(words, said):
    done = call("words", *words)
    assert done.returncode == 2 and said in done.stderr


def test_no_word_of_chinese_ends_like_a_subword(chinese):
    assert chinese.tokenize("他@@说 a@@ b").split() == ["他", "@", "@", "说", "a@", "@", "b"]


def test_moses_own_rules_for_apostrophes_stay_and_what_cannot_be_told_apart_is_left():
    assert make_tokenizer("en").tokenize("It's ours") == "It &apos;s ours"
    assert make_tokenizer("fr").tokenize("L'été") == "L&apos; été"
    turkish = make_tokenizer("tr").tokenize("Işık’ı, 'evet' İzmir'i")
    assert turkish == "Işık’ı , &apos; evet &apos; İzmir&apos;i"
    assert make_tokenizer("tr").tokenize("a '' b'c'") == "a &apos; &apos; b&apos;c &apos;"
    assert join_at_apostrophes("a &apos; b", "no apostrophe") == "a &apos; b"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("tr", "İstanbul'da Işık’ı gördü, 'evet' dedi; 1923'te TBMM'si."),
        ("uk", "М'ята, п’ять і об'єкт: 'так'."),
        ("mt", "Il-belt ta' Malta u ma' l-ilma: 'iva'."),
        ("el", "απ' το σπίτι 'ναι' σ' αυτό"),
        ("bn", "দু'টি বই, মা'কে 'দাও'"),
        ("yo", "Mìkẹ́lọ̀n, ọ̀rọ̀ (kẹ́)."),
        ("en", "m̃ore 北京, ❤"),
        ("ff_Adlm", "𞤀𞤣𞤤𞤢𞤥 𞤨𞤵𞤤𞤢𞤪."),
        ("ca", "col·laboració intel·ligent de l'11 de setembre"),
        ("fi", "EU:n ja SDP:ssa (EU:n)"),
        ("he", 'צה"ל הודיע: "כן" ואו"ם'),
        ("de", "E\u2010Mail"),
        ("he", "דוא״ל, בית־ספר ב־2020"),
    ],
)
def test_apostrophes_letters_and_signs_that_moses_does_not_know_stay_in_their_words(language, text):
    text = normalize(text)
    tokenizer = make_tokenizer(language)
    assert tokenizer.detokenize(tokenizer.tokenize(text)) == text


def test_signs_that_are_no_part_of_words_are_separated_as_before():
    assert make_tokenizer("en").tokenize("a\u2764\ufe0f 北京\ufe00a") == "a \u2764 \ufe0f 北 京 \ufe00 a"


def test_signs_of_several_characters_come_back_whole():
    tokenizer = make_tokenizer("en")
    text = "I love it ❤️ 👍🏽 🇫🇷 🇩🇪 #️⃣ 🏳️\u200d🌈 👩\u200d🔬!"
    assert tokenizer.detokenize(tokenizer.tokenize(text)) == text


def test_words_that_are_counted_have_their_vowel_signs_and_joiners():
    text = "हिन्दी में বাংলা தமிழ் בְּרֵאשִׁית می\u200cخواهم Ọ̀rọ̀ don’t 北京。"
    words = "हिन्दी में বাংলা தமிழ் בְּרֵאשִׁית می\u200cخواهم ọ̀rọ̀ don ' t 北 京 。"
    assert lowercase_tokens(normalize(text)) == normalize(words).split(" ")

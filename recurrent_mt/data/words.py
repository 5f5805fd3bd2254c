"""Words of raw text: characters made uniform, words counted, separated and put together again.

French, English and other languages with spaces are tokenized as Moses does, but where it has no rules, words with an
apostrophe within them stay whole, and so do all with accents, letters, or signs that it does not know. They are joined
as by Moses, but for what it does not know: typographic quotation marks and apostrophes, the punctuation of other
scripts, and emoji of several parts.

Chinese is split by jieba within runs of Chinese characters; whatever else lies between spaces stays one token. So its
text comes back exactly, whatever jieba decides, if it has single spaces and none of them beside a Chinese character; a
space there is dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from ..characters import CHINESE, HAN, JOINERS, join_chinese, normalize
from ..languages import base_language, has_spaces, is_chinese, read_language

# How many Han characters (and runs of anything else) Chinese has for one English word.
_CHARACTERS_A_WORD = 1.6

_UNSPACED_WORD = re.compile(rf"[{HAN}]|[^\s{HAN}]+")

_CHARACTER = re.compile(f"[{CHINESE}]")
_RUN = re.compile(f"[{CHINESE}]+|[^{CHINESE} ]+")
#: Of how many pieces a known word is joined, at most.
_MOST_PIECES = 12
_AT_SIGN_BEFORE_ANOTHER = re.compile("@(?=@)")
_SPLIT_JOINER = re.compile(f" ([{JOINERS}]) ")
#: Punctuation of scripts (ISO 15924) that goes with the word before it, and before which Moses leaves a space.
_ENDING_MARKS = {
    "Arab": "\u060c\u061b\u061f\u066a\u06d4»",  # comma, semicolon, question mark, percent sign, Urdu's full stop
    "Armn": "\u055b-\u055e\u0589\u2024»",  # emphasis to question mark, full stop, dot
    # danda, double danda, and Devanagari's sign of abbreviations
    **dict.fromkeys(("Deva", "Beng", "Gujr", "Guru", "Knda", "Mlym", "Orya", "Taml", "Telu"), "\u0964\u0965\u0970"),
    "Ethi": "\u1362-\u1367»",  # full stop to question mark
    "Grek": "\u00b7»",  # semicolon
    "Mong": "\u1802\u1803",  # comma, full stop
    "Nkoo": "\u060c\u061b\u061f\u07f8\u07f9",  # Arabic's, comma, exclamation mark
    "Thaa": "\u060c\u061b\u061f",  # Arabic's
}
#: Languages with « » without spaces, which Moses knows as little as those of these scripts; French has spaces.
_GUILLEMETS = ("be", "ca", "es", "eu", "gl", "it", "kk", "nb", "nn", "no", "pt", "ru", "uk")
#: What else Moses separates within words: Catalan's middle dot, Hebrew's hyphen and signs of abbreviations, Armenian's
#: marks of stress, Arabic's of decimals and thousands, Devanagari's of abbreviations, and the hyphen that is no minus.
_INNER_SIGNS = "\u00b7\u05be\u05f3\u05f4\u055b\u055c\u055e\u066b\u066c\u0970\u2010"
#: What Moses separates within words of some languages: the colon of Finnish EU:n, the quotation mark of Hebrew צה"ל.
_INNER_SIGNS_OF = {"fi": ":", "he": '"', "sv": ":", "yi": '"'}
#: Languages whose apostrophes Moses separates, and joins again, by rules of their own; of the typographic one, ’, it
#: knows nothing, and separates it.
_APOSTROPHE_RULES = ("en", "fr", "it")
#: What follows or precedes an English ’ within a word, in lowercase: it's, o'clock, D'Arcy, y'all.
_AFTER_APOSTROPHE, _BEFORE_APOSTROPHE = ("s", "t", "d", "m", "re", "ve", "ll", "am"), ("o", "d", "l", "y")
#: Italian words that end in an apostrophe: after po', the next word is another.
_SHORTENED = ("po", "mo", "be", "va", "fa", "sta", "da", "di", "to", "ca", "de")
#: Typographic quotation marks. Where „ or ‚ opens, “ or ‘ closes; elsewhere these open. Moses would join “ and „ by
#: turns to the left and to the right, so it sees other characters, which normalized text never has.
_MARKS, _HIDDEN_MARKS = "„‚“‘”’", "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5"
_HIDE = dict(zip(_MARKS, _HIDDEN_MARKS, strict=True))
_HIDDEN = re.compile(f" ?([{_HIDDEN_MARKS}])")
#: The word at the end of what is before a mark, and the word, or the mark that opens, after it.
_LAST_WORD, _FOLLOWING = re.compile(r"\w+$"), re.compile(f" ?(\\w+|[«{_HIDDEN_MARKS[:4]}])")
#: No word that an elision depends on is as long.
_LONGEST_ELIDED = 20
#: Languages in which ” may open, too.
_EQUAL_MARKS = ("fi", "sv")
#: What Moses takes apart: a sign and what changes it, as in emoji, and the two letters of a flag.
_SPLIT_VARIANT = re.compile(" (?=[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff])")
_SPLIT_FLAG = re.compile("([\U0001f1e6-\U0001f1ff]) ([\U0001f1e6-\U0001f1ff])")
#: Languages with frequent words that end in an apostrophe, such as Maltese ta'.
_FINAL_APOSTROPHES = ("el", "eo", "mt", "so")
_APOSTROPHE = re.compile("['’]")
_SPLIT_APOSTROPHE = re.compile(" ?(&apos;|’) ?")


def count_words(text: str, language: str) -> float:
    """How many words lie between spaces; in Chinese, 1.6 Han characters count as a word.

    For other languages without spaces, that is no number of words: see `has_words`.
    """
    if is_chinese(language):
        return len(_UNSPACED_WORD.findall(text)) / _CHARACTERS_A_WORD
    return len(text.split())


def has_words(language: str) -> bool:
    """Whether `count_words` counts words of the language."""
    return has_spaces(language) or is_chinese(language)


@cache
def token_pattern() -> Any:
    """A word, a number, or one other character that is no space; Han characters one by one."""
    # Unlike re's, its words have vowel signs, other combining marks, and joiners. Moses needs it, too.
    import regex

    return regex.compile(rf"[{HAN}]|[^\W{HAN}]+|[^\w\s]")


def lowercase_tokens(text: str) -> list[str]:
    """Words and punctuation marks of a line in lower case, Han characters one by one, apostrophes of one kind."""
    return token_pattern().findall(text.lower().replace("’", "'"))


def ending_marks(language: str) -> str:
    """Punctuation of a language that Moses does not know and leaves apart from the word before it."""
    base, script = read_language(language)
    return _ENDING_MARKS.get(script, "»" if base in _GUILLEMETS else "")


class Tokenizer(NamedTuple):
    """How the words of one language are separated."""

    tokenize: Callable[[str], str]  # raw text to tokens with a space between them
    detokenize: Callable[[str], str]  # tokens with spaces between them to raw text


def make_tokenizer(language: str) -> Tokenizer:
    """The tokenizer of a language: jieba for Chinese, Moses for languages with spaces.

    In Moses' tokens, characters that are special to XML are escaped.

    Raises:
        ValueError: if the code is unknown, or the language is written without spaces and is not Chinese.
    """
    require_splittable(language)
    if not is_chinese(language):
        import sacremoses

        code = base_language(language)
        tokenizer, detokenizer = sacremoses.MosesTokenizer(lang=code), sacremoses.MosesDetokenizer(lang=code)
        tokenizer.PAD_NOT_ISALNUM = tokenizer.PAD_NOT_ISALNUM[0], partial(separate, _INNER_SIGNS_OF.get(code, ""))

        def tokenize_as_moses(text: str) -> str:
            text = normalize(text)
            # Moses splits words at zero-width joiners, and normalized text has them within words alone.
            tokens = _SPLIT_JOINER.sub(r"\1", tokenizer.tokenize(text, return_str=True))
            final = code in _FINAL_APOSTROPHES
            return tokens if code in _APOSTROPHE_RULES else join_at_apostrophes(tokens, text, final=final)

        def detokenize(tokens: str) -> str:
            hidden = [_HIDE.get(token, token) for token in tokens.split()]
            text = join_quotation_marks(str(detokenizer.detokenize(hidden, return_str=True)), code)
            text = _SPLIT_FLAG.sub(r"\1\2", _SPLIT_VARIANT.sub("", text))
            return beside_mark.sub("", text) if beside_mark else text

        marks, beside_mark = ending_marks(language), None
        if marks:
            beside_mark = re.compile(f" (?=[{marks}])|(?<=«) " if "»" in marks else f" (?=[{marks}])")
        return Tokenizer(tokenize_as_moses, detokenize)
    words = load_chinese_words()

    def tokenize(text: str) -> str:
        # As Moses does: no word ends like a subword of BPE.
        runs = _RUN.findall(_AT_SIGN_BEFORE_ANOTHER.sub("@ ", normalize(text)))
        return " ".join(word for run in runs for word in (words.lcut(run) if _CHARACTER.match(run) else [run]))

    return Tokenizer(tokenize, join_chinese)


def is_of_words(sign: str) -> bool:
    """Whether words are made of it: a letter, a digit, or what is combined with one, such as a vowel sign."""
    return sign.isalnum() or unicodedata.category(sign or " ").startswith("M")


def separate(inner_signs: str, found: re.Match[str]) -> str:
    """A sign that Moses separates, with spaces around it, unless words are made of it.

    ``inner_signs`` are more that stand within words, between letters. Moses' tables have neither accents that are
    characters of their own, as in Yoruba, nor the letters of Adlam and other new scripts. Chinese characters, which are
    wide, are not in them either, and it joins them again itself.
    """
    sign, before = found[0], found.string[max(found.start() - 1, 0) : found.start()]
    after = found.string[found.end() : found.end() + 1]
    is_inner = sign in _INNER_SIGNS and is_of_words(before) and after.isalnum()
    is_inner |= sign in inner_signs and is_of_words(before) and after.isalpha()
    is_letter = sign.isalpha() and unicodedata.east_asian_width(sign) == "N"
    is_mark = (unicodedata.category(sign).startswith("M") or sign in JOINERS) and is_of_words(before)
    joins = is_inner or is_letter or (is_mark and unicodedata.east_asian_width(before) != "W")
    return sign if joins else f" {sign} "


def join_at_apostrophes(tokens: str, text: str, *, final: bool = False) -> str:
    """Moses' tokens of a text, but words with an apostrophe between letters or digits whole.

    With ``final``, words that end in one are whole, too, unless it closes a quotation.

    Without rules for a language, Moses makes a token of every apostrophe, and joins it again as a quotation mark: of
    Turkish İstanbul'da, İstanbul 'da.
    """
    places = [sign.start() for sign in _APOSTROPHE.finditer(text)]
    if len(places) != len(_SPLIT_APOSTROPHE.findall(tokens)):
        return tokens
    opened = False

    def join(sign: re.Match[str]) -> str:
        nonlocal opened
        place = places.pop(0)
        ends, begins = is_of_words(text[max(place - 1, 0) : place]), text[place + 1 : place + 2].isalnum()
        if ends and begins:
            return sign[1]
        is_final = final and ends and not opened
        opened = begins or (opened and not ends)
        return sign[0].lstrip() if is_final else sign[0]

    return _SPLIT_APOSTROPHE.sub(join, tokens)


def join_quotation_marks(text: str, code: str) -> str:
    """Typographic quotation marks and apostrophes, hidden from Moses, back and without spaces towards their words."""
    pieces, opened, place, glued = list[str](), list[str](), 0, False
    for found in _HIDDEN.finditer(text):
        mark = _MARKS[_HIDDEN_MARKS.index(found[1])]
        # Not further back: in a text without spaces, the search for the start of the word would take long.
        start = max(place, found.start() - _LONGEST_ELIDED)
        before, after = _LAST_WORD.search(text, start, found.start()), _FOLLOWING.match(text, found.end())
        left, right = find_sides(mark, before[0] if before else "", after[1] if after else "", opened, code)
        if left != right:
            opened = [*opened, mark] if right else opened[:-1]
        left |= glued and found.start() == place
        # The pattern begins with the space before the mark, if there is one.
        pieces += [text[place : found.start()], "" if left else found[0].removesuffix(found[1]), mark]
        glued = right
        place = found.end()
        if right and text.startswith(" ", place) and not _HIDDEN.match(text, place):
            place += 1
    return "".join([*pieces, text[place:]])


def find_sides(mark: str, before: str, after: str, opened: Sequence[str], code: str) -> tuple[bool, bool]:
    """Whether a mark between two words, if any, belongs to what is left of it, and to what is right of it.

    ``opened`` are the quotations that have begun, by the marks that began them.
    """
    if mark == "’" and code in _APOSTROPHE_RULES:
        if code == "en" and after[:1].isdigit():  # the ’90s
            return False, True
        return True, before != "" and after != "" and is_elision(before.lower(), after.lower(), code)
    opens = mark in "„‚" or (mark == "”" and code in _EQUAL_MARKS and mark not in opened)
    if opens or (mark in "“‘" and {"“": "„", "‘": "‚"}[mark] not in opened):
        return False, True
    return mark != "’" or bool(opened), False


def is_elision(before: str, after: str, code: str) -> bool:
    """Whether an English, French, or Italian ’ between two words in lowercase stands within a word."""
    if code == "en":
        return after in _AFTER_APOSTROPHE or before in _BEFORE_APOSTROPHE
    return before not in _SHORTENED


@cache
def load_chinese_words() -> Any:
    """Reads jieba's dictionary, once for all models of a process: it takes a second, and 55 MB."""
    import jieba

    # jieba itself would read it from a file in the folder for temporary files, whoever has written that.
    words = jieba.Tokenizer()
    words.FREQ, words.total = words.gen_pfdict(words.get_dict_file())
    words.initialized = True
    return words


def require_splittable(language: str, *, tokenized: bool = True) -> None:
    """Raises ValueError for an unknown code, and for a language that is `tokenized` though no tokenizer here can."""
    if not has_words(language) and tokenized:
        raise ValueError(
            f"{language} is written without spaces, and no tokenizer here splits it: use segmentation=sentencepiece:N, "
            "or text whose words are separated beforehand and tokenizer=none"
        )


def make_known_word_splitter(language: str, known: Mapping[str, int]) -> Callable[[str], str]:
    """From raw text to the words of a corpus that came with its own, such as the synthetic one.

    Moses' tokens, or single Chinese characters, are joined where together they are the longest known word; the first
    word is in lowercase where that is more frequent.

    Args:
        language: ``zh`` has no spaces between words, all others do.
        known: the corpus's words, and how often each was counted.
    """
    if is_chinese(language):

        def split(text: str) -> list[str]:
            # With spaces, it is split already.
            return text.split() if " " in text else token_pattern().findall(text)
    else:
        import sacremoses

        moses = sacremoses.MosesTokenizer(lang=base_language(language))

        def split(text: str) -> list[str]:
            return moses.tokenize(text, escape=False)

    def lowercase_first(text: str) -> str:
        return text[:1].lower() + text[1:]

    def join_known(text: str) -> str:
        text = normalize(text)
        pieces, words = split(text), list[str]()
        while pieces:
            for count in range(min(len(pieces), _MOST_PIECES), 0, -1):
                word = "".join(pieces[:count])
                # What was apart in the text stays apart.
                is_known = word in known or (not words and lowercase_first(word) in known)
                if count == 1 or (is_known and word in text):
                    break
            words.append(word)
            del pieces[:count]
        if words and known.get(lowercase_first(words[0]), 0) > known.get(words[0], 0):
            words[0] = lowercase_first(words[0])
        return " ".join(words)

    return join_known

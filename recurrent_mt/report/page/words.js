// Words and signs of a text with their places; scripts without spaces are cut into single characters.
const CHARACTER = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}]";
const LETTERS = `(?:(?!${CHARACTER})[\\p{L}\\p{M}\\p{N}])+`;
const WORD = new RegExp(`${CHARACTER}|${LETTERS}(?:['’_-]${LETTERS})*|\\S`, "gu");

export function splitWords(text, ignoreCase) {
  return Array.from(text.matchAll(WORD), (match) => ({
    key: (ignoreCase ? match[0].toLowerCase() : match[0]).normalize("NFC"),
    start: match.index,
    end: match.index + match[0].length,
  }));
}

import { element } from "./elements.js";
import { splitWords } from "./words.js";

// What became of each word of a text in comparison with another: "same" for a longest common subsequence, "moved" where
// the other has the word elsewhere, "extra" where it has not. `missing` are the words that only the other has, each
// with the number of the text's words before it.
export function compareWords(words, others) {
  const kinds = words.map(() => "extra");
  const rest = [];
  const pairs = commonSubsequence(words, others);
  pairs.forEach(([index]) => (kinds[index] = "same"));
  const matched = new Map(pairs.map(([index, other]) => [other, index]));
  let before = 0;
  others.forEach((word, other) => {
    if (matched.has(other)) {
      before = matched.get(other) + 1;
    } else {
      rest.push({ word, before });
    }
  });
  words.forEach((word, index) => {
    const found = kinds[index] === "extra" ? rest.findIndex((one) => one.word.key === word.key) : -1;
    if (found >= 0) {
      kinds[index] = "moved";
      rest.splice(found, 1);
    }
  });
  return { kinds, missing: rest };
}

// Pairs of positions of a longest common subsequence, by the table of Wagner and Fischer (1974) filled from the end.
function commonSubsequence(words, others) {
  const width = others.length + 1;
  const lengths = new Uint16Array((words.length + 1) * width);
  for (let i = words.length - 1; i >= 0; i -= 1) {
    for (let j = others.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        words[i].key === others[j].key
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const pairs = [];
  let i = 0;
  let j = 0;
  while (i < words.length && j < others.length) {
    if (words[i].key === others[j].key) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
      i += 1;
    } else {
      j += 1;
    }
  }
  return pairs;
}

// The text as nodes, its words marked by how they differ from those of the other text; missing words if asked for.
export function markDifferences(text, other, { ignoreCase, missing = false }) {
  const words = splitWords(text, ignoreCase);
  const compared = compareWords(words, splitWords(other, ignoreCase));
  const nodes = [];
  let done = 0;
  const lost = missing ? compared.missing : [];
  const say = (index) => {
    const here = lost.filter((one) => one.before === index).map(({ word }) => other.slice(word.start, word.end));
    if (here.length) {
      nodes.push(element("del", {}, here.join(" ")), " ");
    }
  };
  for (let index = 0; index < words.length; ) {
    const kind = compared.kinds[index];
    let last = index;
    const joined = (next) =>
      next < words.length && compared.kinds[next] === kind && !lost.some((one) => one.before === next);
    while (joined(last + 1)) {
      last += 1;
    }
    nodes.push(text.slice(done, words[index].start));
    say(index);
    const part = text.slice(words[index].start, words[last].end);
    nodes.push(kind === "same" ? part : element("mark", { class: kind }, part));
    done = words[last].end;
    index = last + 1;
  }
  nodes.push(text.slice(done));
  if (lost.some((one) => one.before === words.length)) {
    nodes.push(" ");
    say(words.length);
  }
  return nodes;
}

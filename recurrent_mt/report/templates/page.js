// The sentence browser, the highlighting of differing words, and the buttons that show and hide systems.
// Text from the data is only ever written as text, never as markup.

const { systems, lowercase, sentences } = JSON.parse(document.getElementById("data").textContent);
const shown = new Set(systems.keys());
const browser = document.getElementById("sentence-browser");
const form = browser.querySelector("form");
const count = sentences.reference.length;
const hasSource = sentences.source.length > 0;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function systemName(system) {
  return document.querySelector(`[data-toggle="${system}"] .system`).cloneNode(true);
}

// --- Words and their differences -----------------------------------------------------------------------------------

// A word is a run of letters and digits, a single sign, or a single character of a script without spaces.
const CHARACTER = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}]";
const LETTERS = `(?:(?!${CHARACTER})[\\p{L}\\p{M}\\p{N}])+`;
const WORD = new RegExp(`${CHARACTER}|${LETTERS}(?:['’_-]${LETTERS})*|\\S`, "gu");

function splitWords(text) {
  return Array.from(text.matchAll(WORD), ({ 0: word, index }) => ({
    key: (lowercase ? word.toLowerCase() : word).normalize("NFC"),
    start: index,
    end: index + word.length,
  }));
}

// Pairs of positions of a longest common subsequence, by the table of Wagner and Fischer (1974) filled from the end.
function commonSubsequence(words, others) {
  const width = others.length + 1;
  const lengths = new Uint16Array((words.length + 1) * width);
  for (let i = words.length - 1; i >= 0; i -= 1) {
    for (let j = others.length - 1; j >= 0; j -= 1) {
      const same = words[i].key === others[j].key;
      const skip = Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
      lengths[i * width + j] = same ? lengths[(i + 1) * width + j + 1] + 1 : skip;
    }
  }
  const pairs = [];
  for (let i = 0, j = 0; i < words.length && j < others.length; ) {
    if (words[i].key === others[j].key) {
      pairs.push([i++, j++]);
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
      i += 1;
    } else {
      j += 1;
    }
  }
  return pairs;
}

// How each word compares with another text: "same" in a longest common subsequence, "moved" where the other text has
// the word elsewhere, "extra" where it does not have it.
function compareWords(words, others) {
  const kinds = words.map(() => "extra");
  const matched = new Map(commonSubsequence(words, others).map(([index, other]) => [other, index]));
  matched.forEach((index) => (kinds[index] = "same"));
  const missing = others.filter((_, other) => !matched.has(other));
  words.forEach((word, index) => {
    const found = kinds[index] === "extra" ? missing.findIndex((one) => one.key === word.key) : -1;
    if (found >= 0) {
      kinds[index] = "moved";
      missing.splice(found, 1);
    }
  });
  return kinds;
}

// A text as nodes, its words marked by how they differ from those of another text; neighbors of one kind share a mark.
function markDifferences(text, other) {
  const words = splitWords(text);
  const kinds = compareWords(words, splitWords(other));
  const nodes = [];
  let done = 0;
  for (let index = 0; index < words.length; ) {
    let next = index + 1;
    while (next < words.length && kinds[next] === kinds[index]) {
      next += 1;
    }
    nodes.push(text.slice(done, words[index].start));
    done = words[next - 1].end;
    const part = text.slice(words[index].start, done);
    nodes.push(kinds[index] === "same" ? part : element("mark", { class: kinds[index] }, part));
    index = next;
  }
  nodes.push(text.slice(done));
  return nodes;
}

// --- Which sentences, in which order -------------------------------------------------------------------------------

function readChoice() {
  return Object.fromEntries(new FormData(form));
}

// Texts by the name of a field; a number names a system's translations.
function texts(field) {
  return { source: sentences.source, reference: sentences.reference }[field] ?? sentences.translations[field];
}

// Case and the encoding of accented letters do not matter in a search.
function fold(text) {
  return text.normalize("NFC").toLowerCase();
}

function isWanted({ search }, number) {
  const wanted = fold(search.trim());
  const fields = [...(hasSource ? ["source"] : []), "reference", ...systems.keys()];
  return !wanted || fields.some((one) => fold(texts(one)[number]).includes(wanted));
}

function sortKey(choice, number) {
  const [kind, what] = choice.order.split(":");
  const { scores } = sentences;
  const spread = () => {
    const values = [...shown].map((system) => scores[system][number]);
    return values.length ? Math.max(...values) - Math.min(...values) : 0;
  };
  return {
    number: () => number,
    length: () => sentences[`${what}Lengths`][number],
    score: () => scores[what][number],
    difference: () => scores[what][number] - scores[0][number],
    spread,
  }[kind]();
}

function findSentences(choice) {
  const keys = Array.from({ length: count }, (_, number) => sortKey(choice, number));
  const sign = choice.direction === "descending" ? -1 : 1;
  return [...keys.keys()]
    .filter((number) => isWanted(choice, number))
    .sort((one, other) => sign * (keys[one] - keys[other]) || one - other);
}

// --- Cards ---------------------------------------------------------------------------------------------------------

function sentenceCard(choice, number, members) {
  // Nothing is compared with itself.
  const other = choice.compareWith === "nothing" ? null : texts(choice.compareWith)[number];
  const mark = (field, text) =>
    other === null || field === choice.compareWith ? [text] : markDifferences(text, other);
  const line = (field, ...label) => {
    const text = texts(field)[number];
    const nodes = field === "source" ? [text] : mark(field, text);
    const empty = text.trim() === "";
    const attributes = { dir: "auto", class: empty ? "text empty" : "text" };
    return [element("dt", {}, ...label), element("dd", attributes, ...(empty ? ["(empty) "] : []), ...nodes)];
  };
  const lines = [...(hasSource ? line("source", "source") : []), ...line("reference", "reference")];
  for (const system of members) {
    const score = element("span", { class: "score", title: "chrF" }, sentences.scores[system][number].toFixed(1));
    lines.push(...line(String(system), systemName(system), score));
  }
  const title = `Sentence ${(number + 1).toLocaleString("en")}`;
  return element(
    "article",
    { class: "card sentence", "data-number": number },
    element("h3", { class: "card-head" }, title, element("small", {}, describeSentence(number))),
    element("dl", {}, ...lines),
  );
}

function describeSentence(number) {
  const words = (side) => {
    const length = sentences[`${side}Lengths`][number];
    return `${side} ${length} word${length === 1 ? "" : "s"}`;
  };
  return [...(hasSource ? [words("source")] : []), words("reference")].join(" · ");
}

// --- The browser: only the sentences of one page are in the document ---------------------------------------------

const PER_PAGE = 25;
let choice = readChoice();
let found = [];
let page = 0;

function lastPage() {
  return Math.max(0, Math.ceil(found.length / PER_PAGE) - 1);
}

function updateBrowser(toPage = 0) {
  choice = readChoice();
  found = findSentences(choice);
  showPage(Math.min(toPage, lastPage()));
}

function showPage(number) {
  page = number;
  const start = page * PER_PAGE;
  const numbers = found.slice(start, start + PER_PAGE);
  const members = [...systems.keys()].filter((one) => shown.has(one));
  browser.querySelector(".cards").replaceChildren(...numbers.map((one) => sentenceCard(choice, one, members)));
  const [all, matching] = [count, found.length].map((one) => one.toLocaleString("en"));
  const range = `Sentences ${start + 1}–${start + numbers.length} of ${matching}`;
  const status = found.length === count ? range : `${range} that match, ${all} in all`;
  browser.querySelector(".found").textContent = numbers.length ? status : `None of the ${all} sentences matches.`;
  for (const pager of browser.querySelectorAll(".pager")) {
    pager.hidden = lastPage() === 0;
    pager.querySelector(".page-number").textContent = `page ${page + 1} of ${lastPage() + 1}`;
    for (const button of pager.querySelectorAll("button")) {
      button.disabled = page === (button.dataset.page === "previous" ? 0 : lastPage());
    }
  }
  showKey();
}

// What the marks mean in the comparison that is chosen.
function showKey() {
  const key = browser.querySelector(".key");
  const name = choice.compareWith === "reference" ? "the reference" : systems[choice.compareWith];
  key.hidden = choice.compareWith === "nothing";
  key.replaceChildren(
    element("mark", { class: "extra" }, `not in ${name}`),
    " ",
    element("mark", { class: "moved" }, `elsewhere in ${name}`),
  );
}

function turnPage(button) {
  showPage({ previous: page - 1, next: page + 1 }[button.dataset.page]);
  const [above, below] = browser.querySelectorAll(".pager");
  if (below.contains(button)) {
    above.scrollIntoView({ block: "start" });
  }
}

// Scores and lengths are looked at from the highest down; positions run forward.
function suggestDirection() {
  form.elements.direction.value = form.elements.order.value === "number" ? "ascending" : "descending";
}

function toggleSystem(button) {
  const system = Number(button.dataset.toggle);
  if (!shown.delete(system)) {
    shown.add(system);
  }
  button.setAttribute("aria-pressed", shown.has(system));
  for (const drawn of document.querySelectorAll(`[data-system="${system}"]`)) {
    drawn.toggleAttribute("hidden", !shown.has(system));
  }
  updateBrowser(page);
}

form.addEventListener("submit", (event) => event.preventDefault());
// What is typed counts at once; some ways of choosing from a list send no input event.
form.addEventListener("input", ({ target }) => {
  if (target.matches("input")) {
    updateBrowser();
  }
});
form.addEventListener("change", ({ target }) => {
  if (target.name === "order") {
    suggestDirection();
  }
  if (target.matches("select")) {
    updateBrowser();
  }
});
document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button?.dataset.toggle) {
    toggleSystem(button);
  } else if (button?.dataset.page) {
    turnPage(button);
  }
});
for (const hidden of document.querySelectorAll(".legend, #sentence-browser")) {
  hidden.hidden = false;
}
// A difference is one from the baseline, whether or not that is shown.
for (const place of document.querySelectorAll("[data-sentence]")) {
  const { system } = place.closest("[data-system]").dataset;
  place.append(sentenceCard({ compareWith: "reference" }, Number(place.dataset.sentence), [system, 0]));
}
updateBrowser();

// What is folded away on a screen is on paper all the same.
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((fold) => (fold.open = true));
});

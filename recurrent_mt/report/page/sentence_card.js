import { element } from "./elements.js";
import { systemName } from "./markers.js";
import { nbestList } from "./nbest_list.js";
import { markDifferences } from "./word_differences.js";

// One sentence: what is known of it, its source and reference, and every system's translation.
export function sentenceCard(sentences, number, { compareWith, missing }) {
  const { systems } = sentences;
  const lines = [];
  if (sentences.hasSource) {
    lines.push(...line("source", sentences.source[number], sentences.source[number]));
  }
  // Nothing is compared with itself.
  const other = compareWith === "nothing" ? null : sentences.texts(compareWith)[number];
  const show = (text, field) =>
    other === null || field === compareWith
      ? [text]
      : markDifferences(text, other, { ignoreCase: sentences.ignoreCase, missing });
  const reference = sentences.reference[number];
  lines.push(...line("reference", reference, ...show(reference, "reference")));
  for (const system of systems.names.keys()) {
    if (systems.isShown(system)) {
      const text = sentences.translations[system][number];
      const score = element("span", { class: "score", title: "chrF" }, sentences.scores[system][number].toFixed(1));
      lines.push(...line([systemName(systems, system), score], text, ...show(text, String(system))));
      const hypotheses = sentences.nbest[system][number];
      if (hypotheses) {
        lines.push(element("dd", { class: "listed" }, nbestList(hypotheses, show)));
      }
    }
  }
  return element(
    "article",
    { class: "sentence", "data-number": number },
    element("h3", { class: "card-head" }, `Sentence ${(number + 1).toLocaleString("en")}`, facts(sentences, number)),
    element("dl", {}, ...lines),
  );
}

function line(label, text, ...nodes) {
  const term = element("dt", {}, ...[label].flat());
  const empty = text.trim() === "";
  const content = empty ? ["(empty)", ...nodes] : nodes;
  return [term, element("dd", { dir: "auto", class: empty ? "text empty" : "text" }, ...content)];
}

function facts(sentences, number) {
  const parts = [];
  if (sentences.hasSource) {
    parts.push(`source ${counted(sentences.sourceLengths[number])}`);
  }
  parts.push(`reference ${counted(sentences.referenceLengths[number])}`);
  for (const counts of sentences.unknown) {
    const names = counts.systems.map((one) => sentences.systems.names[one]);
    const whose = sentences.unknown.length > 1 ? ` to ${names.join(", ")}` : "";
    const found = [`source ${counts.source[number]}`, `reference ${counts.reference[number]}`];
    if (counts.source[number] || counts.reference[number]) {
      parts.push(`unknown${whose}: ${found.join(", ")}`);
    }
  }
  return element("small", {}, parts.join(" · "));
}

function counted(words) {
  return `${words} word${words === 1 ? "" : "s"}`;
}

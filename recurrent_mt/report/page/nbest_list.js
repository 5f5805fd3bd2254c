import { element } from "./elements.js";

// The hypotheses that a translation was chosen from, folded away; `show` marks a text's words as those of the card.
export function nbestList(hypotheses, show) {
  const fill = () => fold.append(table(hypotheses, show));
  const fold = element(
    "details",
    { class: "nbest" },
    element("summary", {}, `${hypotheses.length}-best list`),
  );
  // Most lists are never opened: their words are compared when they are.
  fold.addEventListener("toggle", fill, { once: true });
  return fold;
}

function table(hypotheses, show) {
  const best = Math.max(...hypotheses.map(([, chrf]) => chrf));
  const head = ["", "score", "chrF", "hypothesis"].map((name) => element("th", { scope: "col" }, name));
  const rows = hypotheses.map(([score, chrf, text], index) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, String(index + 1)),
      element("td", {}, score.toFixed(3).replace("-", "\u2212")),
      element("td", {}, element(chrf === best ? "strong" : "span", {}, chrf.toFixed(1))),
      element("td", { class: "hypothesis", dir: "auto" }, ...(text.trim() === "" ? ["(empty)"] : show(text))),
    ),
  );
  return element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}

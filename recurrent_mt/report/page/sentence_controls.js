import { element } from "./elements.js";

// Search, order, filters and comparison as a form; `choice()` reads it.
export class SentenceControls {
  constructor(sentences, onchange) {
    this.sentences = sentences;
    this.form = element(
      "form",
      { class: "controls", role: "search", "aria-label": "Sentences", onsubmit: (event) => event.preventDefault() },
      group("Search", input("search", { type: "search", "aria-label": "Search" }), this.fieldSelect()),
      group("Order", select("order", "Order by", this.orderOptions()), select("direction", "Direction", directions())),
      group("Length", select("lengthSide", "Length of", this.sideOptions()), ...range("shortest", "longest", "words")),
      ...this.unknownGroup(),
      group("Mark words that differ from", this.comparisonSelect(), this.missingBox()),
      group("A page", select("perPage", "Sentences a page", pageSizes(), "25")),
    );
    this.form.elements.order.addEventListener("change", () => this.suggestDirection());
    this.suggestDirection();
    // Text is read as it is typed; some ways of choosing from a list are told by the second event alone.
    let last = JSON.stringify(this.choice());
    for (const event of ["input", "change"]) {
      this.form.addEventListener(event, () => {
        const now = JSON.stringify(this.choice());
        if (now !== last) {
          last = now;
          onchange();
        }
      });
    }
  }

  choice() {
    const value = (name) => this.form.elements[name]?.value ?? "";
    const number = (name) => (value(name) === "" ? null : Number(value(name)));
    return {
      search: value("search"),
      field: value("field"),
      order: value("order"),
      descending: value("direction") === "descending",
      lengthSide: value("lengthSide"),
      shortest: number("shortest"),
      longest: number("longest"),
      dictionary: Number(value("dictionary")),
      unknownSide: value("unknownSide"),
      fewestUnknown: number("fewestUnknown"),
      mostUnknown: number("mostUnknown"),
      compareWith: value("compareWith"),
      missing: this.form.elements.missing.checked,
      perPage: Number(value("perPage")),
    };
  }

  // Scores and lengths are looked for from their greatest on; numbers and texts run forwards.
  suggestDirection() {
    const forwards = /^(number|text)/.test(this.form.elements.order.value);
    this.form.elements.direction.value = forwards ? "ascending" : "descending";
  }

  names() {
    return this.sentences.systems.names.map((name, system) => [String(system), name]);
  }

  fieldSelect() {
    return select("field", "Search in", [["any", "any text"], ...this.textOptions()]);
  }

  textOptions() {
    const source = this.sentences.hasSource ? [["source", "source"]] : [];
    return [...source, ["reference", "reference"], ...this.names()];
  }

  sideOptions() {
    return this.textOptions().slice(0, this.sentences.hasSource ? 2 : 1);
  }

  comparisonSelect() {
    const options = [["reference", "reference"], ...this.names(), ["nothing", "nothing"]];
    return select("compareWith", "Compare with", options);
  }

  orderOptions() {
    const names = this.names();
    const baseline = names[0][1];
    const under = (kind, options, say) => options.map(([value, name]) => [`${kind}:${value}`, say(name)]);
    const sides = this.sideOptions();
    const unknown = this.sentences.unknown.length ? [["source", "source"], ["reference", "reference"]] : [];
    return [
      ["number", "number"],
      ...under("length", sides, (side) => `${side} length`),
      ...under("unknown", unknown, (side) => `unknown words, ${side}`),
      ...under("score", names, (name) => `chrF of ${name}`),
      ...under("difference", names.slice(1), (name) => `chrF of ${name} above ${baseline}`),
      ...(names.length > 1 ? [["spread", "spread of chrF"]] : []),
      ...under("text", this.textOptions(), (name) => `text of ${name}`),
    ];
  }

  unknownGroup() {
    const { unknown, systems } = this.sentences;
    if (!unknown.length) {
      return [];
    }
    const owners = unknown.map((one) => one.systems.map((system) => systems.names[system]).join(", "));
    const dictionaries = owners.map((names, index) => [String(index), names]);
    const sides = ["source", "reference", "either"].map((side) => [side, side]);
    const whose = select("dictionary", "Dictionary of", dictionaries);
    whose.hidden = dictionaries.length < 2;
    const side = select("unknownSide", "Unknown words of", sides);
    return [group("Unknown words", side, whose, ...range("fewestUnknown", "mostUnknown", "unknown words"))];
  }

  missingBox() {
    return element("label", { class: "check" }, input("missing", { type: "checkbox" }), "show missing words");
  }
}

function group(title, ...children) {
  const content = element("div", { class: "row" }, ...children);
  return element("fieldset", {}, element("legend", {}, title), content);
}

function input(name, attributes) {
  return element("input", { name, autocomplete: "off", ...attributes });
}

function select(name, label, options, chosen = options[0]?.[0]) {
  const made = options.map(([value, text]) =>
    element("option", { value, selected: value === chosen, dir: "auto" }, text),
  );
  return element("select", { name, "aria-label": label, autocomplete: "off" }, ...made);
}

function range(low, high, unit) {
  const bound = (name, label) =>
    input(name, { type: "number", min: 0, placeholder: label, "aria-label": `${label} ${unit}` });
  return [bound(low, "least"), "–", bound(high, "most")];
}

function pageSizes() {
  return ["10", "25", "50", "100"].map((size) => [size, `${size} sentences`]);
}

function directions() {
  return ["ascending", "descending"].map((one) => [one, one]);
}

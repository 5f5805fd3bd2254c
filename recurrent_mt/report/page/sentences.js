// All sentences of the report: what can be searched, filtered and sorted.
export class Sentences {
  constructor(data, systems) {
    Object.assign(this, data.sentences);
    this.ignoreCase = data.lowercase;
    this.systems = systems;
    this.count = this.reference.length;
    this.folded = new Map();
  }

  get hasSource() {
    return this.source.length > 0;
  }

  // Texts by the name of a field; a number names a system's translations.
  texts(field) {
    return { source: this.source, reference: this.reference }[field] ?? this.translations[field];
  }

  fields() {
    return [...(this.hasSource ? ["source"] : []), "reference", ...this.systems.names.keys()];
  }

  foldedTexts(field) {
    if (!this.folded.has(field)) {
      this.folded.set(field, this.texts(field).map(fold));
    }
    return this.folded.get(field);
  }

  unknownWords(dictionary, side, number) {
    const counts = this.unknown[dictionary];
    return side === "either" ? Math.max(counts.source[number], counts.reference[number]) : counts[side][number];
  }

  // The numbers of the sentences that a choice leaves, in its order.
  select(choice) {
    const tests = [...this.searchTests(choice), ...this.lengthTests(choice), ...this.unknownTests(choice)];
    const numbers = Array.from({ length: this.count }, (_, number) => number);
    const left = numbers.filter((number) => tests.every((test) => test(number)));
    const key = this.sortKey(choice);
    const sign = choice.descending ? -1 : 1;
    const keys = numbers.map(key);
    const order = typeof keys[0] === "string" ? new Intl.Collator().compare : (one, other) => one - other;
    return left.sort((one, other) => sign * order(keys[one], keys[other]) || one - other);
  }

  searchTests({ search, field }) {
    const wanted = fold(search.trim());
    if (!wanted) {
      return [];
    }
    const columns = (field === "any" ? this.fields() : [field]).map((one) => this.foldedTexts(one));
    return [(number) => columns.some((texts) => texts[number].includes(wanted))];
  }

  lengthTests({ lengthSide, shortest, longest }) {
    const lengths = this[`${lengthSide}Lengths`];
    return between((number) => lengths[number], shortest, longest);
  }

  unknownTests({ dictionary, unknownSide, fewestUnknown, mostUnknown }) {
    return between((number) => this.unknownWords(dictionary, unknownSide, number), fewestUnknown, mostUnknown);
  }

  sortKey({ order, dictionary }) {
    const [kind, what] = order.split(":");
    const scores = this.scores;
    const shown = [...scores.keys()].filter((system) => this.systems.isShown(system));
    const keys = {
      number: (number) => number,
      length: (number) => this[`${what}Lengths`][number],
      unknown: (number) => this.unknownWords(dictionary, what, number),
      score: (number) => scores[what][number],
      difference: (number) => scores[what][number] - scores[0][number],
      spread: (number) => spread(shown.map((system) => scores[system][number])),
      text: (number) => this.foldedTexts(what)[number],
    };
    return keys[kind];
  }
}

// Case and the writing of accented letters do not matter in a search.
function fold(text) {
  return text.normalize("NFC").toLowerCase();
}

function between(value, low, high) {
  const tests = [];
  if (low !== null) {
    tests.push((number) => value(number) >= low);
  }
  if (high !== null) {
    tests.push((number) => value(number) <= high);
  }
  return tests;
}

function spread(values) {
  return values.length ? Math.max(...values) - Math.min(...values) : 0;
}

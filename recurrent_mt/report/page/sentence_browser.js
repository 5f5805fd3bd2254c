import { element } from "./elements.js";
import { drawLegend } from "./legend.js";
import { sentenceCard } from "./sentence_card.js";
import { SentenceControls } from "./sentence_controls.js";

// All sentences, a page at a time: only those of the page are in the document, and only their words are compared.
export class SentenceBrowser {
  constructor(place, sentences) {
    this.sentences = sentences;
    this.page = 0;
    this.controls = new SentenceControls(sentences, () => this.select());
    this.status = element("p", { class: "found", role: "status" });
    this.key = element("p", { class: "key" });
    this.cards = element("div", { class: "cards" });
    const legend = element("div", { class: "legend" });
    drawLegend(legend, sentences.systems);
    sentences.systems.onchange(() => this.select(this.page));
    this.pagers = [this.pager("above"), this.pager("below")];
    place.append(this.controls.form, legend, this.key, this.status, this.pagers[0].bar, this.cards, this.pagers[1].bar);
    this.place = place;
    this.select();
  }

  pager(where) {
    const step = (label, text, move) =>
      element("button", { type: "button", "aria-label": label, onclick: () => this.turn(move(), where) }, text);
    const buttons = {
      first: step("First page", "⇤", () => 0),
      back: step("Previous page", "← previous", () => this.page - 1),
      next: step("Next page", "next →", () => this.page + 1),
      last: step("Last page", "⇥", () => this.pages - 1),
    };
    const label = element("span", { class: "page-number" });
    const { first, back, next, last } = buttons;
    const attributes = { class: "pager", "aria-label": `Pages, ${where}` };
    return { buttons, label, bar: element("nav", attributes, first, back, label, next, last) };
  }

  get pages() {
    return Math.max(1, Math.ceil(this.found.length / this.choice.perPage));
  }

  select(page = 0) {
    this.choice = this.controls.choice();
    this.found = this.sentences.select(this.choice);
    this.page = Math.min(page, this.pages - 1);
    this.show();
  }

  turn(page, where) {
    this.page = page;
    this.show();
    if (where === "below") {
      this.pagers[0].bar.scrollIntoView({ block: "start" });
    }
  }

  show() {
    const start = this.page * this.choice.perPage;
    const numbers = this.found.slice(start, start + this.choice.perPage);
    this.cards.replaceChildren(...numbers.map((number) => sentenceCard(this.sentences, number, this.choice)));
    const all = this.sentences.count.toLocaleString("en");
    const found = this.found.length.toLocaleString("en");
    this.status.textContent = numbers.length
      ? `Sentences ${start + 1}–${start + numbers.length} of ${found}${found === all ? "" : `, out of ${all}`}`
      : `No sentence of ${all} is like that.`;
    this.showKey();
    for (const { buttons, label, bar } of this.pagers) {
      label.textContent = `page ${this.page + 1} of ${this.pages}`;
      buttons.first.disabled = buttons.back.disabled = this.page === 0;
      buttons.last.disabled = buttons.next.disabled = this.page === this.pages - 1;
      bar.hidden = this.pages === 1;
    }
  }

  // What the marks mean in the comparison that is chosen.
  showKey() {
    const { compareWith, missing } = this.choice;
    this.key.hidden = compareWith === "nothing";
    const name = compareWith === "reference" ? "the reference" : this.sentences.systems.names[compareWith];
    const extra = element("mark", { class: "extra" }, `not in ${name}`);
    const moved = element("mark", { class: "moved" }, `elsewhere in ${name}`);
    const parts = [extra, " ", moved];
    if (missing) {
      parts.push(" ", element("del", {}, `only in ${name}`));
    }
    this.key.replaceChildren(...parts);
  }
}

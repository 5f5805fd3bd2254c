import { linearScale, roundEnd, roundNumbers, verticalAxis } from "./axes.js";
import { curve } from "./curve.js";
import { element, shape } from "./elements.js";
import { marker } from "./markers.js";
import { points } from "./points.js";
import { readout } from "./readout.js";

const KINDS = { curve, points };
const LEFT = 34;
const TOP = 22;

export function highestNumber(chart) {
  return Math.max(1, ...chart.series.flatMap(({ marks }) => marks.map(([value, , high]) => high ?? value ?? 0)));
}

// A chart in its place: drawn anew when its width or the choice of systems changes, read by pointer or arrow keys.
export class Chart {
  // `highest` is where the vertical axis ends at least: charts of one kind share it, so that they compare at a glance.
  constructor(place, chart, systems, highest) {
    this.highest = highest;
    this.place = place;
    this.chart = chart;
    this.systems = systems;
    this.kind = KINDS[chart.kind];
    this.active = null;
    this.drawing = shape("svg", { "aria-hidden": "true" });
    this.box = element("div", { class: "readout", role: "status", hidden: true });
    place.append(this.drawing, this.box);
    place.tabIndex = 0;
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", `Chart: ${chart.title}. The arrow keys read its values.`);
    this.listen();
    systems.onchange(() => this.draw());
    // The observer reports the first width too, those of all charts after one layout.
    new ResizeObserver(([entry]) => this.resize(entry.contentRect.width)).observe(place);
  }

  resize(width) {
    this.width = Math.max(240, width);
    this.draw();
  }

  listen() {
    this.place.addEventListener("pointermove", (event) => this.activate(this.nearest(event)));
    this.place.addEventListener("pointerdown", (event) => this.activate(this.nearest(event)));
    this.place.addEventListener("pointerleave", () => this.activate(this.focused() ? this.active : null));
    this.place.addEventListener("focus", () => this.activate(this.active ?? 0));
    this.place.addEventListener("blur", () => this.activate(null));
    this.place.addEventListener("keydown", (event) => this.press(event));
  }

  focused() {
    return document.activeElement === this.place && this.place.matches(":focus-visible");
  }

  press(event) {
    const last = this.chart.places.length - 1;
    const now = this.active ?? 0;
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last, Escape: null }[event.key];
    if (next === undefined) {
      return;
    }
    event.preventDefault();
    this.activate(next === null ? null : Math.min(last, Math.max(0, next)));
  }

  nearest(event) {
    const bounds = this.drawing.getBoundingClientRect();
    const x = ((event.clientX - bounds.left) / bounds.width) * this.width;
    const distances = this.positions.map((position) => Math.abs(position - x));
    return distances.indexOf(Math.min(...distances));
  }

  draw() {
    const below = this.kind.below(this.chart, this.width - 8 - LEFT);
    const height = Math.round(Math.min(340, Math.max(220, this.width * 0.5))) + below;
    this.frame = { left: LEFT, right: this.width - 8, top: TOP, bottom: height - below };
    this.positions = this.kind.places(this.chart, this.frame);
    const shown = this.chart.series.filter(({ system }) => this.systems.isShown(system));
    const lines = (this.frame.bottom - this.frame.top) / 45;
    const end = roundEnd(this.highest, lines);
    this.scale = linearScale([0, end], [this.frame.bottom, this.frame.top]);
    this.shownSystems = shown.map(({ system }) => system);
    this.highlight = shape("g", {});
    this.drawing.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.drawing.replaceChildren(
      verticalAxis(this.frame, roundNumbers(0, end, lines), this.scale, this.chart.vertical),
      ...this.kind.horizontal(this.chart, this.frame, this.positions),
      ...shown.flatMap((one) => this.kind.series(one, this.chart, this.positions, this.scale, this.shownSystems)),
      this.highlight,
    );
    this.activate(this.active);
  }

  // Shows one place, or none.
  activate(index) {
    const changed = index !== this.active || this.box.hidden === (index !== null);
    this.active = index;
    this.highlight.replaceChildren(...(index === null ? [] : this.emphasis(index)));
    this.box.hidden = index === null;
    if (index === null) {
      return;
    }
    if (changed || !this.box.childElementCount || this.seen !== this.shownSystems.join()) {
      this.box.replaceChildren(...readout(this.chart, this.systems, index));
      this.seen = this.shownSystems.join();
    }
    this.settle(index);
  }

  emphasis(index) {
    const x = this.positions[index];
    const { top, bottom } = this.frame;
    const found = [shape("line", { class: "guide", x1: x, x2: x, y1: top, y2: bottom })];
    for (const { system, marks } of this.chart.series) {
      if (this.systems.isShown(system) && marks[index][0] !== null) {
        const across = this.kind.position(this.positions, index, this.shownSystems, system);
        found.push(marker(system, across, this.scale(marks[index][0])));
      }
    }
    return found;
  }

  // The box stands beside the place that it is about, inside the chart.
  settle(index) {
    const whole = this.place.clientWidth;
    const x = (this.positions[index] / this.width) * whole;
    const width = this.box.offsetWidth;
    const left = x + 14 + width <= whole ? x + 14 : x - 14 - width;
    this.box.style.left = `${Math.max(0, Math.min(whole - width, left))}px`;
  }
}

import { element, shape } from "./elements.js";

// As many shapes as colours: a system can be told by either.
const OUTLINES = [
  "M-4,0 a4,4 0 1,0 8,0 a4,4 0 1,0 -8,0 z",
  "M-3.6,-3.6 h7.2 v7.2 h-7.2 z",
  "M0,-5 L5,0 L0,5 L-5,0 z",
  "M0,-4.6 L4.6,3.6 L-4.6,3.6 z",
  "M0,4.6 L4.6,-3.6 L-4.6,-3.6 z",
  "M-1.7,-5 h3.4 v3.3 h3.3 v3.4 h-3.3 v3.3 h-3.4 v-3.3 h-3.3 v-3.4 h3.3 z",
  "M-5,-3 L-3,-5 L0,-2 L3,-5 L5,-3 L2,0 L5,3 L3,5 L0,2 L-3,5 L-5,3 L-2,0 z",
];

// The eighth system has the first one's colour, but not its shape.
export function marker(system, x = 0, y = 0) {
  const count = OUTLINES.length;
  const outline = OUTLINES[(system + Math.floor(system / count)) % count];
  return shape("path", { class: `marker ${series(system)}`, d: outline, transform: `translate(${x} ${y})` });
}

// The class that gives a system its colour.
export function series(system) {
  return `series-${system % OUTLINES.length}`;
}

export function swatch(system) {
  const drawing = shape("svg", { viewBox: "-6 -6 12 12", width: 12, height: 12 }, marker(system));
  return element("span", { class: "swatch drawn", "aria-hidden": "true" }, drawing);
}

export function systemName(systems, system) {
  const name = element("span", { dir: "auto" }, systems.names[system]);
  return element("span", { class: "system" }, swatch(system), name);
}

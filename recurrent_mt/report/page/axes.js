import { shape } from "./elements.js";

// A function from numbers to places in the drawing.
export function linearScale([low, high], [start, end]) {
  const span = high - low || 1;
  return (value) => start + ((value - low) / span) * (end - start);
}

// About so many round numbers from low to high, both ends inside.
export function roundNumbers(low, high, count) {
  const rough = (high - low) / Math.max(1, count) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const numbers = [];
  for (let index = Math.ceil(low / step); index * step <= high + step * 1e-9; index += 1) {
    numbers.push(Number((index * step).toPrecision(12)));
  }
  return numbers;
}

// The first round number at or above the highest value, so that the axis ends on a line of the grid.
export function roundEnd(high, count) {
  const numbers = roundNumbers(0, high, count);
  const step = numbers.length > 1 ? numbers[1] : high || 1;
  return Math.ceil(high / step - 1e-9) * step;
}

export function verticalAxis(frame, numbers, scale, title) {
  const lines = numbers.map((number) =>
    shape("line", { class: "grid", x1: frame.left, x2: frame.right, y1: scale(number), y2: scale(number) }),
  );
  const labels = numbers.map((number) =>
    shape("text", { class: "tick end", x: frame.left - 6, y: scale(number), dy: "0.32em" }, `${number}`),
  );
  const heading = shape("text", { class: "axis-title", x: 0, y: 11 }, title);
  return shape("g", {}, ...lines, ...labels, heading);
}

// Two lines: what the axis counts, and what stands between it and this title.
export function horizontalTitle(frame, y, title, explanation) {
  const middle = (frame.left + frame.right) / 2;
  const line = (name, down, text) => shape("text", { class: `${name} middle`, x: middle, y: y + down }, text);
  return [line("axis-title", 0, title), ...(explanation ? [line("small", 14, explanation)] : [])];
}

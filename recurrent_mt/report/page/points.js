import { horizontalTitle } from "./axes.js";
import { shape } from "./elements.js";
import { marker, series } from "./markers.js";

const LINE = 13;
const WIDTH = 7.2;

// Systems as marks side by side in each group, with error bars where there are intervals.
export const points = {
  below: (chart, width) => 48 + LINE * mostLines(chart, width),

  places(chart, frame) {
    const width = (frame.right - frame.left) / chart.places.length;
    return chart.places.map((place) => frame.left + (place + 0.5) * width);
  },

  horizontal(chart, frame, places) {
    const width = (frame.right - frame.left) / places.length;
    const counts = sharedCounts(chart);
    const labels = chart.labels.flatMap((label, index) => {
      const lines = wrap(label, width).map((text) => [text, "tick"]);
      if (counts) {
        lines.push([counts[index].toLocaleString("en"), "tick small"]);
      }
      return lines.map(([text, name], line) =>
        shape("text", { class: `${name} middle`, x: places[index], y: frame.bottom + 15 + LINE * line }, text),
      );
    });
    const separators = places.slice(1).map((place) =>
      shape("line", { class: "grid", x1: place - width / 2, x2: place - width / 2, y1: frame.top, y2: frame.bottom }),
    );
    const y = frame.bottom + 26 + LINE * mostLines(chart, frame.right - frame.left);
    const explanation = counts && `small numbers: ${chart.unit}`;
    return [...separators, ...labels, ...horizontalTitle(frame, y, chart.horizontal, explanation)];
  },

  series({ system, marks }, chart, places, scale, shownSystems) {
    return marks.flatMap(([value, low, high], index) => {
      if (value === null) {
        return [];
      }
      const x = this.position(places, index, shownSystems, system);
      const drawn = [marker(system, x, scale(value))];
      if (low !== null) {
        const ends = { x1: x, x2: x, y1: scale(low), y2: scale(high) };
        drawn.unshift(shape("line", { class: `error ${series(system)}`, ...ends }));
      }
      return drawn;
    });
  },

  position(places, index, shownSystems, system) {
    const width = places.length > 1 ? places[1] - places[0] : 200;
    const gap = Math.min(22, (width * 0.8) / Math.max(1, shownSystems.length));
    return places[index] + (shownSystems.indexOf(system) - (shownSystems.length - 1) / 2) * gap;
  },
};

// How many sentences each group has, if that is the same for all systems.
export function sharedCounts(chart) {
  const [first, ...others] = chart.series.map(({ marks }) => marks.map((mark) => mark[3]));
  return others.every((counts) => counts.every((count, index) => count === first[index])) ? first : null;
}

// The height of the tallest label, its count included.
function mostLines(chart, width) {
  const lines = chart.labels.map((label) => wrap(label, width / chart.places.length).length);
  return Math.max(...lines) + (sharedCounts(chart) ? 1 : 0);
}

// A label on as few lines as its width allows.
function wrap(label, width) {
  const lines = [];
  const fits = label.length * WIDTH <= width;
  for (const word of fits ? [label] : label.split(/ |(?<=–)/)) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && !lines.at(-1).endsWith("–") && longer.length * WIDTH <= width) {
      lines[lines.length - 1] = longer;
    } else {
      lines.push(word);
    }
  }
  return lines;
}

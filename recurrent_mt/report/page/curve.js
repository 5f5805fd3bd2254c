import { horizontalTitle, linearScale, roundNumbers } from "./axes.js";
import { shape } from "./elements.js";
import { marker, series } from "./markers.js";

const STRIP = 26;
const BELOW = 56;

// Systems as lines with bands; below the axis, how many sentences each point has.
export const curve = {
  below: () => STRIP + BELOW,

  places(chart, frame) {
    const scale = linearScale([chart.places[0], chart.places.at(-1)], [frame.left + 4, frame.right - 4]);
    return chart.places.map(scale);
  },

  horizontal(chart, frame, places) {
    const scale = linearScale([chart.places[0], chart.places.at(-1)], [frame.left + 4, frame.right - 4]);
    const numbers = roundNumbers(chart.places[0], chart.places.at(-1), (frame.right - frame.left) / 60);
    const labels = numbers
      .filter(Number.isInteger)
      .map((number) => shape("text", { class: "tick middle", x: scale(number), y: frame.bottom + 15 }, `${number}`));
    const title = horizontalTitle(frame, frame.bottom + STRIP + 34, chart.horizontal, `grey bars: ${chart.unit}`);
    return [...labels, ...strip(chart, frame, places), ...title];
  },

  series({ system, marks }, chart, places, scale) {
    const drawn = [];
    for (const run of runs(chart, marks)) {
      const banded = run.filter((index) => marks[index][1] !== null);
      if (banded.length > 1) {
        const upper = banded.map((index) => [places[index], scale(marks[index][2])]);
        const lower = banded.map((index) => [places[index], scale(marks[index][1])]).reverse();
        drawn.push(shape("path", { class: `band ${series(system)}`, d: `${path([...upper, ...lower])}z` }));
      }
    }
    for (const run of runs(chart, marks)) {
      const points = run.map((index) => [places[index], scale(marks[index][0])]);
      const line = shape("path", { class: `line ${series(system)}${system > 6 ? " dashed" : ""}`, d: path(points) });
      drawn.push(points.length > 1 ? line : marker(system, ...points[0]));
    }
    return drawn;
  },

  position: (places, index) => places[index],
};

// Neighbouring lengths that have scores: a line does not bridge what was left out.
function runs(chart, marks) {
  const found = [];
  let last = null;
  marks.forEach(([value], index) => {
    if (value === null) {
      return;
    }
    if (last === null || chart.places[index] - chart.places[last] > 1) {
      found.push([]);
    }
    found.at(-1).push(index);
    last = index;
  });
  return found;
}

function path(points) {
  return points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
}

function strip(chart, frame, places) {
  const counts = chart.series[0].marks.map((mark) => mark[3]);
  const most = Math.max(...counts);
  const top = frame.bottom + 20;
  const width = Math.max(1, ((frame.right - frame.left) / (chart.places.at(-1) - chart.places[0] + 1)) * 0.7);
  const bars = counts.map((count, index) => {
    const height = Math.max(1, (STRIP - 4) * (count / most));
    return shape("rect", { class: "count", x: places[index] - width / 2, y: top + STRIP - 4 - height, width, height });
  });
  return bars;
}

import { element } from "./elements.js";
import { systemName } from "./markers.js";
import { sharedCounts } from "./points.js";

// The box that says what stands at one place of a chart: values, intervals, counts.
export function readout(chart, systems, index) {
  const counts = sharedCounts(chart);
  const shown = chart.series.filter(({ system }) => systems.isShown(system));
  const rows = shown.map(({ system, marks }) => {
    const [value, low, high, count] = marks[index];
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, systemName(systems, system)),
      element("td", {}, value === null ? "none" : value.toFixed(2)),
      element("td", {}, low === null ? "" : `${low.toFixed(2)}–${high.toFixed(2)}`),
      counts ? null : element("td", {}, `n = ${count.toLocaleString("en")}`),
    );
  });
  const heading = chart.kind === "curve" ? chart.labels[index] : `${chart.horizontal}: ${chart.labels[index]}`;
  const lines = [element("strong", {}, heading)];
  if (counts) {
    lines.push(` ${counts[index].toLocaleString("en")} ${chart.unit}`);
  }
  return [element("p", {}, ...lines), element("table", {}, element("tbody", {}, ...rows))];
}

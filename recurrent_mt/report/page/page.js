import { Chart, highestNumber } from "./chart.js";
import { drawLegend } from "./legend.js";
import { swatch } from "./markers.js";
import { SentenceBrowser } from "./sentence_browser.js";
import { Sentences } from "./sentences.js";
import { Systems } from "./systems.js";
import { markDifferences } from "./word_differences.js";

const data = JSON.parse(document.getElementById("data").textContent);
const systems = new Systems(data.systems);
const sentences = new Sentences(data, systems);

for (const place of document.querySelectorAll(".legend")) {
  drawLegend(place, systems);
}
for (const place of document.querySelectorAll(".swatch[data-system]")) {
  place.replaceWith(swatch(Number(place.dataset.system)));
}
for (const chart of data.charts) {
  const place = document.querySelector(`[data-chart="${chart.identifier}"]`);
  if (place) {
    const alike = data.charts.filter((one) => one.kind === chart.kind && one.vertical === chart.vertical);
    new Chart(place, chart, systems, Math.max(...alike.map(highestNumber)));
  }
}
for (const place of document.querySelectorAll("[data-sentence]")) {
  const number = Number(place.dataset.sentence);
  const text = sentences.translations[place.dataset.translation][number];
  place.replaceChildren(...markDifferences(text, sentences.reference[number], { ignoreCase: sentences.ignoreCase }));
}
new SentenceBrowser(document.getElementById("sentence-browser"), sentences);

// Only a box with something to scroll to is a stop for the Tab key.
const boxes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) {
      target.tabIndex = 0;
    } else {
      target.removeAttribute("tabindex");
    }
  }
});
document.querySelectorAll(".scroll").forEach((box) => boxes.observe(box));

// What is folded away on a screen is on paper all the same.
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details.fold").forEach((fold) => (fold.open = true));
});

// After the frame in which the charts were drawn.
requestAnimationFrame(() => setTimeout(() => performance.mark("report-ready")));

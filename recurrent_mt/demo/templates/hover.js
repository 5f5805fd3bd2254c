// Words and cells of an alignment light up under the pointer, in a model's card and in its heat map alike.
(() => {
  const parts = (system) => document.querySelectorAll(`[data-system="${system}"]`);

  function clear() {
    for (const word of document.querySelectorAll("[style*='--light']")) word.style.removeProperty("--light");
    for (const label of document.querySelectorAll(".paper .lit")) label.classList.remove("lit");
    for (const output of document.querySelectorAll(".drawing output")) output.textContent = "";
  }

  // source and target: words that are pointed at; null for the side that is to be lit by its weights.
  function light(system, source, target) {
    clear();
    const card = [...parts(system)].find((part) => part.dataset.weights);
    if (!card) return;
    const weights = JSON.parse(card.dataset.weights);
    const shine = {
      source: (index) => (source === null ? weights[target]?.[index] : Number(index === source)),
      target: (index) => (target === null ? weights[index]?.[source] : Number(index === target)),
    };
    for (const part of parts(system)) {
      for (const [side, value] of Object.entries(shine)) {
        for (const word of part.querySelectorAll(`[data-${side}]`)) {
          word.style.setProperty("--light", value(Number(word.dataset[side])) ?? 0);
        }
        for (const label of part.querySelectorAll(`[id*="-${side}-"]`)) {
          const index = label.id.match(/-(\d+)$/);
          label.classList.toggle("lit", Boolean(index) && value(Number(index[1])) > 0.3);
        }
      }
    }
    if (source !== null && target !== null) {
      for (const part of parts(system)) {
        const output = part.closest(".drawing")?.querySelector("output");
        if (output) output.textContent = `· weight ${weights[target][source].toFixed(2)}`;
      }
    }
  }

  // The cell of a heat map under the pointer: one image has all cells.
  function findCell(image, event) {
    const card = [...parts(image.closest("[data-system]").dataset.system)].find((part) => part.dataset.weights);
    const weights = JSON.parse(card.dataset.weights);
    const box = image.getBoundingClientRect();
    const place = (position, start, size, count) =>
      Math.min(count - 1, Math.max(0, Math.floor(((position - start) / size) * count)));
    return [
      place(event.clientX, box.left, box.width, weights[0].length),
      place(event.clientY, box.top, box.height, weights.length),
    ];
  }

  function point(event) {
    const system = event.target.closest?.("[data-system]")?.dataset.system;
    const word = event.target.closest?.("[data-source], [data-target]");
    const image = event.target.closest?.("[id$='-alignment'] image");
    if (system !== undefined && image) light(system, ...findCell(image, event));
    else if (system !== undefined && word?.dataset.source) light(system, Number(word.dataset.source), null);
    else if (system !== undefined && word) light(system, null, Number(word.dataset.target));
    else clear();
  }

  // On a phone, nothing moves: one taps.
  for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, point);
})();

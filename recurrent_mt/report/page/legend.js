import { element } from "./elements.js";
import { systemName } from "./markers.js";

// Switches that show and hide systems everywhere on the page.
export function drawLegend(place, systems) {
  const switches = systems.names.map((_, system) =>
    element("button", { type: "button", onclick: () => systems.toggle(system) }, systemName(systems, system)),
  );
  const show = () =>
    switches.forEach((button, system) => button.setAttribute("aria-pressed", systems.isShown(system)));
  systems.onchange(show);
  show();
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", "Systems shown");
  place.replaceChildren(...switches);
}

const SVG = "http://www.w3.org/2000/svg";

// An element with attributes, listeners (names that begin with "on") and children. Strings become text, never markup.
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// The same of a drawing.
export function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) {
      made.addEventListener(key.slice(2), value);
    } else if (value === true) {
      made.setAttribute(key, "");
    } else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(key, value);
    }
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

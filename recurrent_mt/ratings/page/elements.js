"use strict";

// An element with attributes, listeners (names that begin with "on") and children. Strings become text, never markup.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
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

function button(label, onclick, attributes = {}) {
  return element("button", { type: "button", onclick, ...attributes }, label);
}

// Text of the data: its own direction and language.
function dataText(text, language) {
  if (text.trim() === "") {
    return element("p", { class: "text empty" }, "(nothing: the translation is empty)");
  }
  return element("p", { class: "text", dir: "auto", lang: language || null }, text);
}

function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

// Five points as radio buttons: arrows, Tab and the mouse work as in any form.
function pointScale(scale, id, value, onrate) {
  const chosen = element("output", { class: "chosen" });
  const show = (point) => {
    chosen.textContent = point === null ? "not rated" : scale.anchors[point];
    group.classList.toggle("rated", point !== null);
  };
  const points = [];
  for (let point = scale.low; point <= scale.high; point += 1) {
    const radio = element("input", {
      type: "radio",
      name: `${id} ${scale.name}`,
      value: point,
      "aria-label": `${point}: ${scale.anchors[point]}`,
      onchange: () => {
        show(point);
        onrate(point);
      },
    });
    radio.checked = point === value;
    points.push(element("label", { title: scale.anchors[point] }, radio, element("span", {}, String(point))));
  }
  const group = element(
    "fieldset",
    { class: "scale points", "data-scale": scale.name },
    element("legend", {}, element("strong", {}, heading(scale)), " ", chosen),
    element("p", { class: "question" }, scale.question),
    element("div", { class: "choices" }, ...points),
    scaleEnds(scale),
  );
  show(value);
  return group;
}

// A slider without a position until it is touched: there is no number that it suggests.
function sliderScale(scale, id, value, onrate) {
  const chosen = element("output", { class: "chosen number" });
  const slider = element("input", {
    type: "range",
    min: scale.low,
    max: scale.high,
    step: 1,
    id: `slider ${id}`,
    "aria-label": scale.question,
  });
  const show = (rated) => {
    chosen.textContent = rated ? slider.value : "not rated: touch the line";
    slider.setAttribute("aria-valuetext", rated ? slider.value : "not rated yet");
    group.classList.toggle("rated", rated);
  };
  const touch = () => {
    show(true);
    onrate(Number(slider.value));
  };
  // A click on the middle, where the hidden thumb is, changes nothing and so sends no input event.
  slider.addEventListener("input", touch);
  slider.addEventListener("click", touch);
  slider.value = value ?? (scale.low + scale.high) / 2;
  const group = element(
    "fieldset",
    { class: "scale slider", "data-scale": scale.name },
    element("legend", {}, element("strong", {}, heading(scale)), " ", chosen),
    element("p", { class: "question" }, scale.question),
    slider,
    scaleEnds(scale),
  );
  show(value !== null);
  return group;
}

function scaleEnds(scale) {
  const end = (point) => element("span", {}, `${point} ${scale.anchors[point]}`);
  return element("p", { class: "ends", "aria-hidden": "true" }, end(scale.low), end(scale.high));
}

function heading(scale) {
  return scale.name[0].toUpperCase() + scale.name.slice(1);
}

function isSlider(scale) {
  return Object.keys(scale.anchors).length < scale.high - scale.low + 1;
}

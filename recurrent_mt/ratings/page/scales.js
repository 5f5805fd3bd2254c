// Elements made of the page's templates, and the questions among them.

// A template's element, with texts written into what the selectors find. Text is never taken for markup.
function copy(template, texts = {}) {
  const made = document.getElementById(template).content.firstElementChild.cloneNode(true);
  for (const [selector, text] of Object.entries(texts)) {
    made.querySelector(selector).textContent = text;
  }
  return made;
}

function heading(scale) {
  return scale.name[0].toUpperCase() + scale.name.slice(1);
}

function isSlider(scale) {
  return Object.keys(scale.anchors).length < scale.high - scale.low + 1;
}

// A question about an item, with the answer given so far (null if none) and what to do with a new one.
function makeScale(scale, item, value, rate) {
  const [low, high] = [scale.low, scale.high].map((point) => `${point} ${scale.anchors[point]}`);
  const texts = { strong: heading(scale), ".question": scale.question, ".low": low, ".high": high };
  const group = copy(isSlider(scale) ? "slider" : "points", texts);
  group.dataset.scale = scale.name;
  if (isSlider(scale)) {
    fillSlider(group, scale, value, rate);
  } else {
    fillPoints(group, scale, item, value, rate);
  }
  return group;
}

function showChosen(group, rated, text) {
  group.classList.toggle("rated", rated);
  group.querySelector(".chosen").textContent = text;
}

// Radio buttons: arrows, Tab and the mouse work as in any form.
function fillPoints(group, scale, item, value, rate) {
  for (let point = scale.low; point <= scale.high; point += 1) {
    const label = copy("point", { span: point });
    label.title = scale.anchors[point];
    const radio = label.querySelector("input");
    Object.assign(radio, { name: `${item} ${scale.name}`, value: point, checked: point === value });
    radio.setAttribute("aria-label", `${point}: ${scale.anchors[point]}`);
    radio.addEventListener("change", () => {
      showChosen(group, true, scale.anchors[point]);
      rate(point);
    });
    group.querySelector(".choices").append(label);
  }
  showChosen(group, value !== null, value === null ? "not rated" : scale.anchors[value]);
}

// A slider without a position until it is touched: there is no number that it suggests.
function fillSlider(group, scale, value, rate) {
  const slider = group.querySelector("input");
  Object.assign(slider, { min: scale.low, max: scale.high, value: value ?? (scale.low + scale.high) / 2 });
  slider.setAttribute("aria-label", scale.question);
  const update = (rated) => {
    showChosen(group, rated, rated ? slider.value : "not rated: touch the line");
    slider.setAttribute("aria-valuetext", rated ? slider.value : "not rated yet");
  };
  const touch = () => {
    update(true);
    rate(Number(slider.value));
  };
  // A click on the middle, where the hidden thumb is, changes nothing and so sends no input event.
  slider.addEventListener("input", touch);
  slider.addEventListener("click", touch);
  update(value !== null);
}

"use strict";

// The three views: instructions, one screen of translations, the overview with the export.

function startView(progress, { onstart, onstartover }) {
  const { data } = progress;
  const name = element("input", {
    id: "annotator",
    type: "text",
    autocomplete: "name",
    maxlength: 80,
    required: true,
    dir: "auto",
    value: progress.annotator,
  });
  const begin = (event) => {
    event.preventDefault();
    name.value = name.value.trim();
    if (name.reportValidity()) {
      onstart(name.value);
    }
  };
  const perScreen = Math.max(...data.screens.map((screen) => screen.items.length));
  const sideBySide = perScreen > 1;
  const amount = sideBySide ? `with up to ${counted(perScreen, "translation")} of one sentence each` : "with one translation each";
  return [
    element("h1", { tabindex: "-1", dir: "auto" }, data.title),
    element(
      "p",
      { class: "lead" },
      `${counted(data.screens.length, "screen")} ${amount}. Read the text, then rate every translation on its own merits. ` +
        `Which system made which translation is not shown${sideBySide ? ", and their order changes from screen to screen" : ""}.`,
    ),
    element("div", { class: "guides" }, ...data.scales.map(scaleGuide)),
    keyboardGuide(data.scales),
    element(
      "form",
      { class: "card begin", onsubmit: begin },
      element("label", { for: "annotator" }, "Your name, or the code you were given"),
      element(
        "div",
        { class: "row" },
        name,
        element("button", { type: "submit", class: "primary", id: "begin" }, progress.started ? "Continue" : "Start"),
      ),
      element(
        "p",
        { class: "hint" },
        progress.started
          ? `${progress.items.length - progress.unrated} of ${counted(progress.items.length, "translation")} rated so far.`
          : "Every answer is kept in this browser as you give it: you may close the page and go on later, here.",
      ),
      progress.started ? button("Someone else: start over", onstartover, { class: "quiet danger", id: "start-over" }) : null,
    ),
  ];
}

function scaleGuide(scale) {
  const rows = Object.keys(scale.anchors)
    .sort((one, other) => other - one)
    .map((point) => element("tr", {}, element("th", { scope: "row" }, point), element("td", {}, scale.anchors[point])));
  return element(
    "section",
    { class: "card guide" },
    element("h2", {}, heading(scale)),
    element("p", {}, scale.question),
    element("table", {}, element("tbody", {}, ...rows)),
  );
}

function keyboardGuide(scales) {
  const keys = scales.some(isSlider)
    ? [["0 to 9", "rate 0, 10, … 90"], ["arrow keys", "one up or down"], ["End", "100"]]
    : [["1 to 5", "rate, and go on to the next question"], ["arrow keys", "change the rating"]];
  keys.push(["Enter", "next screen, once all on this one is rated"]);
  return element(
    "details",
    { class: "card guide" },
    element("summary", {}, "With the keyboard"),
    element(
      "table",
      {},
      element("tbody", {}, ...keys.map(([key, what]) => element("tr", {}, element("th", { scope: "row" }, key), element("td", {}, what)))),
    ),
  );
}

function ratingView(progress, { onrate, onback, onnext }) {
  const { data } = progress;
  const screen = data.screens[progress.screen];
  const single = screen.items.length === 1;
  const items = screen.items.map((item, index) => {
    const label = single ? "Translation" : `Translation ${String.fromCharCode(65 + index)}`;
    const scales = data.scales.map((scale) => {
      const build = isSlider(scale) ? sliderScale : pointScale;
      return build(scale, item.id, progress.rating(item.id, scale.name), (value) => onrate(item, scale, value));
    });
    return element(
      "section",
      { class: "card item", "data-item": item.id, "aria-label": label },
      element("h2", {}, label),
      dataText(item.text, data.targetLanguage),
      ...scales,
    );
  });
  const last = progress.screen === data.screens.length - 1;
  return [
    element("h1", { class: "screen-title", tabindex: "-1" }, `Screen ${progress.screen + 1} of ${data.screens.length}`),
    element(
      "div",
      { class: "given" },
      ...givenText("Source", screen.source, data.sourceLanguage),
      ...givenText("Reference translation", screen.reference, data.targetLanguage),
    ),
    element("div", { class: "items", "data-count": screen.items.length }, ...items),
    element(
      "nav",
      { class: "steps", "aria-label": "Screens" },
      button("Back", onback, { id: "back", disabled: progress.screen === 0 }),
      element("p", { id: "missing", role: "status" }),
      button(last ? "Finish" : "Next", onnext, { id: "next", class: "primary" }),
    ),
  ];
}

function givenText(label, text, language) {
  return text === null ? [] : [element("section", { class: "card" }, element("h2", {}, label), dataText(text, language))];
}

function finishView(progress, { onopen, onexport }) {
  const { data, unrated } = progress;
  const complete = unrated === 0;
  const firstUnrated = data.screens.findIndex((screen) => progress.unratedOn(screen) > 0);
  const links = data.screens.map((screen, index) => {
    const missing = progress.unratedOn(screen);
    const state = missing === 0 ? "rated" : missing === screen.items.length ? "unrated" : "partly rated";
    return element(
      "li",
      {},
      button(String(index + 1), () => onopen(index), {
        class: `chip ${state.replace(" ", "-")}`,
        "aria-label": `Screen ${index + 1}, ${state}`,
      }),
    );
  });
  return [
    element("h1", { tabindex: "-1" }, complete ? "All rated" : "Not all rated yet"),
    element(
      "p",
      { class: "lead", id: "unrated" },
      complete
        ? `All ${counted(progress.items.length, "translation")} are rated. Thank you!`
        : `${unrated} of ${counted(progress.items.length, "translation")} ${unrated === 1 ? "is" : "are"} unrated.`,
    ),
    element("ul", { class: "chips" }, ...links),
    element(
      "p",
      { class: "legend", "aria-hidden": "true" },
      ...["rated", "partly rated", "unrated"].map((state) =>
        element("span", {}, element("span", { class: `chip sample ${state.replace(" ", "-")}` }), state),
      ),
    ),
    element(
      "section",
      { class: "card" },
      element("h2", {}, "Export"),
      element("p", {}, "Saves your ratings as a file. Send it to whoever gave you this page; nothing is sent by itself."),
      element(
        "div",
        { class: "row" },
        complete ? null : button("Go to the first unrated", () => onopen(firstUnrated), { id: "first-unrated", class: "primary" }),
        button(complete ? "Export ratings" : `Export with ${unrated} unrated`, onexport, {
          id: "export",
          class: complete ? "primary" : null,
        }),
      ),
      element("p", { class: "hint", id: "exported", role: "status" }),
    ),
  ];
}

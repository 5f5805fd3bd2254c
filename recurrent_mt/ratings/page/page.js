const progress = new Progress(JSON.parse(document.getElementById("data").textContent));
const { data } = progress;
const byId = (id) => document.getElementById(id);
let view = "start";
let shownSince = null;

function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

// Time counts while a screen is in sight.
function stopClock() {
  if (shownSince !== null) {
    progress.addSeconds(progress.screen, (performance.now() - shownSince) / 1000);
    shownSince = null;
  }
}

function startClock() {
  if (view === "rating" && !document.hidden && shownSince === null) {
    shownSince = performance.now();
  }
}

function show(name, make) {
  stopClock();
  view = name;
  document.body.dataset.view = name;
  byId("main").replaceWith(make());
  refresh();
  startClock();
  window.scrollTo(0, 0);
  byId("main").querySelector("h1").focus({ preventScroll: true });
}

function refresh() {
  const total = progress.items.length;
  const rated = total - progress.unrated;
  byId("count").textContent = `${rated} of ${total} rated`;
  Object.assign(byId("progress"), { max: total, value: rated });
  byId("to-start").hidden = view === "start";
  byId("to-finish").hidden = view === "finish" || !progress.annotator;
  byId("notice").hidden = progress.saved;
  if (view === "rating") {
    const missing = progress.unratedOn(data.screens[progress.screen]);
    byId("missing").textContent = missing === 0 ? "All rated" : `${missing} unrated on this screen`;
  }
}

// Instructions.

function makeStart() {
  const made = copy("start-view");
  const name = made.querySelector("#annotator");
  name.value = progress.annotator;
  made.querySelector("#start-over").hidden = !progress.started;
  made.querySelector("#start-over").addEventListener("click", startOver);
  if (progress.started) {
    const rated = progress.items.length - progress.unrated;
    made.querySelector("#begin").textContent = "Continue";
    made.querySelector(".hint").textContent = `${rated} of ${counted(progress.items.length, "translation")} rated so far.`;
  }
  made.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    name.value = name.value.trim();
    if (name.reportValidity()) {
      start(name.value);
    }
  });
  return made;
}

function start(annotator) {
  progress.update();
  if (progress.started && annotator !== progress.annotator && !window.confirm(askWhose(annotator))) {
    showStart();
    return;
  }
  progress.rename(annotator);
  if (progress.started && progress.unrated === 0) {
    showFinish();
  } else {
    showScreen(progress.screen);
  }
}

// Ratings are exported under one name: somebody else's must not get it.
function askWhose(annotator) {
  const rated = counted(Object.keys(progress.ratings).length, "translation");
  return (
    `${progress.annotator} has rated ${rated} on this page. Is that you, ${annotator}? ` +
    `OK changes the name, and the ratings stay yours. Otherwise, choose Cancel, and then “Someone else: start over”.`
  );
}

function startOver() {
  if (window.confirm(`This deletes the ratings of ${progress.annotator} from this browser. Have they been exported?`)) {
    progress.startOver();
    showStart();
  }
}

// One screen of translations.

function makeRating() {
  const index = progress.screen;
  const screen = data.screens[index];
  const last = index === data.screens.length - 1;
  const made = copy("rating-view", { h1: `Screen ${index + 1} of ${data.screens.length}`, "#next": last ? "Finish" : "Next" });
  for (const [label, text, language] of [
    ["Source", screen.source, data.sourceLanguage],
    ["Reference translation", screen.reference, data.targetLanguage],
  ]) {
    if (text !== null) {
      made.querySelector(".given").append(makeTextCard(label, text, language));
    }
  }
  const single = screen.items.length === 1;
  made.querySelector(".items").dataset.count = screen.items.length;
  screen.items.forEach((item, place) => {
    const label = single ? "Translation" : `Translation ${String.fromCharCode(65 + place)}`;
    const card = makeTextCard(label, item.text, data.targetLanguage);
    card.classList.add("item");
    card.dataset.item = item.id;
    card.setAttribute("aria-label", label);
    const rate = (scale) => (value) => {
      progress.rate(item.id, scale.name, value);
      refresh();
    };
    card.append(
      ...data.scales.map((scale) => makeScale(scale, item.id, progress.rating(item.id, scale.name), rate(scale))),
    );
    made.querySelector(".items").append(card);
  });
  made.querySelector("#back").disabled = index === 0;
  made.querySelector("#back").addEventListener("click", () => showScreen(index - 1));
  made.querySelector("#next").addEventListener("click", next);
  return made;
}

// Text of the data has its own direction and language.
function makeTextCard(label, text, language) {
  const empty = text.trim() === "";
  const card = copy("text-card", { h2: label, ".text": empty ? "(nothing: the translation is empty)" : text });
  card.querySelector(".text").classList.toggle("empty", empty);
  card.querySelector(".text").lang = empty ? "en" : language;
  return card;
}

function next() {
  if (progress.screen + 1 < data.screens.length) {
    showScreen(progress.screen + 1);
  } else {
    showFinish();
  }
}

// The overview with the export.

function makeFinish() {
  const { unrated } = progress;
  const complete = unrated === 0;
  const translations = counted(progress.items.length, "translation");
  const made = copy("finish-view", {
    h1: complete ? "All rated" : "Not all rated yet",
    "#unrated": complete
      ? `All ${translations} are rated. Thank you!`
      : `${unrated} of ${translations} ${unrated === 1 ? "is" : "are"} unrated.`,
    "#export": complete ? "Export ratings" : `Export with ${unrated} unrated`,
  });
  const first = data.screens.findIndex((screen) => progress.unratedOn(screen) > 0);
  made.querySelector(".chips").append(...data.screens.map(makeChip));
  made.querySelector("#first-unrated").hidden = complete;
  made.querySelector("#first-unrated").addEventListener("click", () => showScreen(first));
  made.querySelector("#export").classList.toggle("primary", complete);
  made.querySelector("#export").addEventListener("click", save);
  return made;
}

function makeChip(screen, index) {
  const missing = progress.unratedOn(screen);
  const state = missing === 0 ? "rated" : missing === screen.items.length ? "unrated" : "partly rated";
  const chip = copy("chip", { button: index + 1 });
  const button = chip.querySelector("button");
  button.classList.add(state.replace(" ", "-"));
  button.setAttribute("aria-label", `Screen ${index + 1}, ${state}`);
  button.addEventListener("click", () => showScreen(index));
  return chip;
}

function save() {
  const text = JSON.stringify(progress.exported(), null, 1);
  const name = progress.annotator.normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "annotator";
  const link = document.createElement("a");
  link.download = `ratings-${data.page.slice(0, 8)}-${name}.json`;
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  byId("exported").textContent = `Saved as ${link.download} where this browser puts downloads.`;
}

const showStart = () => show("start", makeStart);
const showScreen = (index) => {
  stopClock();
  progress.goTo(index);
  show("rating", makeRating);
};
const showFinish = () => show("finish", makeFinish);

// A digit answers the question that has the focus, or else the first one without an answer, and goes on to the next.
// One digit too many changes nothing.
function rateByDigit(digit) {
  const groups = [...document.querySelectorAll("main .scale")];
  const unrated = (group) => !group.classList.contains("rated");
  const only = groups.length === 1 ? groups[0] : null;
  const group = document.activeElement.closest(".scale") ?? groups.find(unrated) ?? only;
  const slider = group?.querySelector("input[type=range]");
  const radio = group?.querySelector(`input[type=radio][value="${digit}"]`);
  if (slider) {
    slider.value = 10 * digit;
    slider.dispatchEvent(new Event("input"));
    slider.focus();
  } else if (radio) {
    radio.checked = true;
    radio.dispatchEvent(new Event("change"));
    const following = groups.slice(groups.indexOf(group) + 1).find(unrated) ?? groups.find(unrated);
    (following ? following.querySelector("input") : byId("next")).focus();
  }
}

document.addEventListener("keydown", (event) => {
  if (view !== "rating" || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  if (/^[0-9]$/.test(event.key)) {
    event.preventDefault();
    rateByDigit(Number(event.key));
  } else if (event.key === "Enter" && !event.target.closest("button") && progress.unratedOn(data.screens[progress.screen]) === 0) {
    event.preventDefault();
    next();
  }
});
// Another tab has kept something.
window.addEventListener("storage", ({ key }) => {
  if (key !== progress.storageKey) {
    return;
  }
  const { annotator } = progress;
  progress.update();
  if (progress.annotator !== annotator) {
    shownSince = null; // what was in sight is not the new annotator's
    showStart();
  } else if (view !== "start") {
    byId("main").replaceWith(view === "rating" ? makeRating() : makeFinish());
    refresh();
  }
});
document.addEventListener("visibilitychange", () => (document.hidden ? stopClock() : startClock()));
window.addEventListener("pagehide", stopClock);
byId("to-start").addEventListener("click", showStart);
byId("to-finish").addEventListener("click", showFinish);
document.body.dataset.mode = data.mode;
showStart();

"use strict";

(() => {
  const progress = new Progress(JSON.parse(document.getElementById("data").textContent));
  const { data } = progress;
  const main = document.getElementById("main");
  let view = "start";
  let shownSince = null;

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

  function show(name, content) {
    stopClock();
    view = name;
    document.body.dataset.view = name;
    main.replaceChildren(...content());
    refresh();
    startClock();
    window.scrollTo(0, 0);
    main.querySelector("h1").focus({ preventScroll: true });
  }

  const showStart = () => show("start", () => startView(progress, { onstart: start, onstartover: startOver }));
  const showFinish = () => show("finish", () => finishView(progress, { onopen: showScreen, onexport: save }));

  function showScreen(index) {
    show("rating", () => {
      progress.screen = index;
      progress.save();
      return ratingView(progress, { onrate: rate, onback: () => showScreen(index - 1), onnext: next });
    });
  }

  function refresh() {
    const total = progress.items.length;
    const rated = total - progress.unrated;
    document.getElementById("count").textContent = `${rated} of ${total} rated`;
    const bar = document.getElementById("progress");
    bar.max = total;
    bar.value = rated;
    document.getElementById("to-start").hidden = view === "start";
    document.getElementById("to-finish").hidden = view === "finish" || !progress.annotator;
    const notice = document.getElementById("notice");
    notice.hidden = progress.saved;
    notice.textContent = progress.saved
      ? ""
      : "This browser does not let the page keep your progress: export your ratings before you close or reload it.";
    if (view === "rating") {
      const missing = progress.unratedOn(data.screens[progress.screen]);
      document.getElementById("missing").textContent =
        missing === 0 ? "All rated" : `${missing} unrated on this screen`;
    }
  }

  function start(annotator) {
    progress.annotator = annotator;
    progress.save();
    if (progress.started && progress.unrated === 0) {
      showFinish();
    } else {
      showScreen(progress.screen);
    }
  }

  function startOver() {
    if (window.confirm(`This deletes the ratings of ${progress.annotator} from this browser. Have they been exported?`)) {
      progress.startOver();
      showStart();
    }
  }

  function rate(item, scale, value) {
    progress.rate(item.id, scale.name, value);
    refresh();
  }

  function next() {
    if (progress.screen + 1 < data.screens.length) {
      showScreen(progress.screen + 1);
    } else {
      showFinish();
    }
  }

  function save() {
    const text = JSON.stringify(progress.exported(), null, 1);
    const name = progress.annotator.normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "annotator";
    const file = `ratings-${data.page.slice(0, 8)}-${name}.json`;
    const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    element("a", { href: address, download: file }).click();
    window.setTimeout(() => URL.revokeObjectURL(address), 60000);
    document.getElementById("exported").textContent = `Saved as ${file} where this browser puts downloads.`;
  }

  // A digit answers the question that has the focus, or else the first one without an answer, and goes on to the next.
  // One digit too many changes nothing.
  function rateByDigit(digit) {
    const groups = [...main.querySelectorAll("fieldset.scale")];
    const unrated = (group) => !group.classList.contains("rated");
    const only = groups.length === 1 ? groups[0] : null;
    const group = document.activeElement.closest("fieldset.scale") ?? groups.find(unrated) ?? only;
    if (!group) {
      return;
    }
    const slider = group.querySelector("input[type=range]");
    if (slider) {
      slider.value = 10 * digit;
      slider.dispatchEvent(new Event("input"));
      slider.focus();
      return;
    }
    const radio = group.querySelector(`input[value="${digit}"]`);
    if (radio) {
      radio.checked = true;
      radio.dispatchEvent(new Event("change"));
      const following = groups.slice(groups.indexOf(group) + 1).find(unrated) ?? groups.find(unrated);
      (following ? following.querySelector("input") : document.getElementById("next")).focus();
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
  document.addEventListener("visibilitychange", () => (document.hidden ? stopClock() : startClock()));
  window.addEventListener("pagehide", stopClock);
  document.getElementById("to-start").addEventListener("click", showStart);
  document.getElementById("to-finish").addEventListener("click", showFinish);
  document.body.dataset.mode = data.mode;
  document.title = data.title;
  document.getElementById("title").textContent = data.title;
  showStart();
})();

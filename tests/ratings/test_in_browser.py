"""The whole way in a browser: a page is made, rated by mouse and keyboard, reloaded, exported, scored."""

import json
from pathlib import Path

import pytest

from recurrent_mt.ratings.sampling import RatedTexts
from recurrent_mt.ratings.study import render_page
from tests.browser import complaints, requested_addresses, resize
from tests.ratings.studies import make_corpus, make_study

pytest.importorskip("selenium")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.commands import call
from tests.waiting import wait_until

REPOSITORY = Path(__file__).resolve().parents[2]

#: What each system deserves: adequacy and fluency. A degraded translation gets 1 and 1.
DESERVED = {"x": (5, 4), "y": (2, 5)}
SYSTEMS = len(DESERVED)


def run_tool(name, *arguments):
    done = call(name, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write_texts(folder):
    """The texts of `make_corpus` as files, and the options of recurrent-mt rate that name them."""
    corpus = make_corpus(SYSTEMS)
    for name, lines in {"source": corpus.source, "reference": corpus.reference, **corpus.systems}.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    systems = [option for name in corpus.systems for option in ("--system", f"{name}={folder / name}")]
    return ["--source", folder / "source", "--reference", folder / "reference", *systems]


def open_study(browser, folder, study):
    """Renders a study and opens its page."""
    page = folder / "page.html"
    page.write_text(render_page(study), encoding="utf-8")
    browser.get(page.as_uri())


def by_id(browser, identifier):
    return browser.find_element(By.ID, identifier)


def start(browser, name):
    by_id(browser, "annotator").send_keys(name)
    by_id(browser, "begin").click()


def press(browser, *keys):
    """Presses keys, wherever the focus goes."""
    ActionChains(browser).send_keys(*keys).perform()


def shown_items(browser):
    return browser.find_elements(By.CSS_SELECTOR, "[data-item]")


def deserved(browser):
    """Item -> what each translation in sight deserves."""
    script = """return [...document.querySelectorAll("[data-item]")].map(
            item => [item.dataset.item, item.querySelector(".text").textContent])"""
    translations = make_corpus(SYSTEMS).systems
    return {
        item: DESERVED[text[0]] if text in translations[text[0]] else (1, 1)
        for item, text in browser.execute_script(script)
    }


def rate_by_keyboard(browser):
    """Digits alone: the focus goes from question to question."""
    given = deserved(browser)
    digits = [str(answer) for answers in given.values() for answer in answers]
    # Of the seconds for which a screen was in sight, a file has the tenths.
    ActionChains(browser).pause(0.1).send_keys(*digits).perform()
    return given


def rate_by_mouse(browser):
    given = deserved(browser)
    for item, answers in zip(shown_items(browser), given.values(), strict=True):
        for fieldset, answer in zip(item.find_elements(By.TAG_NAME, "fieldset"), answers, strict=True):
            fieldset.find_elements(By.TAG_NAME, "label")[answer - 1].click()
    return given


def chosen(browser):
    """Item -> answers on the screen that is shown, None where there is none."""
    script = """const answer = question => Number(question.querySelector("input:checked")?.value) || null;
        return [...document.querySelectorAll("[data-item]")].map(
            item => [item.dataset.item, [...item.querySelectorAll("fieldset")].map(answer)])"""
    return {item: tuple(answers) for item, answers in browser.execute_script(script)}


def exported(browser):
    by_id(browser, "export").click()
    files = wait_until(lambda: list(browser.downloads.glob("*.json")))
    assert files[0].name in by_id(browser, "exported").text
    return files[0]


def check_scores(file, key, folder):
    text = run_tool("ratings", file, "--key", key, "--out", folder / "scores")
    assert text == (folder / "scores.txt").read_text(encoding="utf-8")
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    means = {scale["scale"]: {s["system"]: s["mean"] for s in scale["systems"]} for scale in scores["scales"]}
    assert means == {"adequacy": {"x": 5, "y": 2}, "fluency": {"y": 5, "x": 4}}
    (controls,) = scores["controls"]
    assert (controls["failures"], controls["degraded_p"], controls["repeated_difference"]) == ([], 1 / 32, 0)


def test_from_texts_to_scores(browser, tmp_path):
    page, texts = tmp_path / "page.html", write_texts(tmp_path)
    run_tool("rate", *texts, "--out", page, "--sentences", 6, "--repeats", 1, "--degraded", 5)
    browser.get(page.as_uri())
    by_id(browser, "begin").click()
    assert not shown_items(browser), "nobody starts without a name"
    start(browser, "Ann Example")
    given = rate_by_keyboard(browser)
    assert browser.switch_to.active_element == by_id(browser, "next")
    press(browser, "1")
    assert chosen(browser) == given, "one digit too many changes nothing"
    press(browser, Keys.ENTER)
    assert by_id(browser, "count").text == "2 of 24 rated"
    given |= rate_by_mouse(browser)
    by_id(browser, "next").click()
    press(browser, "5", "4", "1")
    checksum = json.loads(Path(f"{page}.key.json").read_text(encoding="utf-8"))["page"]
    stored = json.loads(browser.execute_script(f"return localStorage.getItem('rating-page:{checksum}')"))
    assert stored["ratings"]["3.B"] == {"adequacy": 1}, "kept at once, not only when the page is left"

    browser.refresh()
    assert by_id(browser, "count").text == "5 of 24 rated"
    assert by_id(browser, "annotator").get_attribute("value") == "Ann Example"
    assert "5 of 24 translations rated so far" in by_id(browser, "main").text
    by_id(browser, "begin").click()
    assert list(chosen(browser).values()) == [(5, 4), (1, None)]

    by_id(browser, "to-finish").click()
    assert by_id(browser, "unrated").text == "19 of 24 translations are unrated."
    assert by_id(browser, "export").text == "Export with 19 unrated"
    by_id(browser, "first-unrated").click()
    given |= rate_by_mouse(browser)
    while not browser.find_elements(By.ID, "export"):
        press(browser, Keys.ENTER)
        given |= rate_by_keyboard(browser)
    assert by_id(browser, "unrated").text == "All 24 translations are rated. Thank you!"

    file = exported(browser)
    data = json.loads(file.read_text(encoding="utf-8"))
    assert {entry["item"]: (entry["adequacy"], entry["fluency"]) for entry in data["ratings"]} == given
    assert data["annotator"] == "Ann Example"
    assert all(entry["screen_seconds"] > 0 and entry["rated_at"] for entry in data["ratings"])
    assert complaints(browser) == []
    assert requested_addresses(browser) == []
    check_scores(file, f"{page}.key.json", tmp_path)


def test_the_slider_must_be_touched(browser, tmp_path):
    open_study(browser, tmp_path, make_study("direct", sentences=3, repeats=1, degraded=1))
    start(browser, "Ann")

    def slider():
        return browser.find_element(By.CSS_SELECTOR, "input[type=range]")

    def shown():
        return browser.find_element(By.CLASS_NAME, "chosen").text

    assert shown() == "not rated: touch the line"
    press(browser, Keys.ENTER)
    assert "Screen 1 of 11" in by_id(browser, "main").text, "Enter goes on from a rated screen only"
    slider().click()
    assert shown() == "50", "a click on the middle is an answer"
    press(browser, Keys.ARROW_RIGHT)
    assert shown() == "51"
    press(browser, Keys.ENTER)
    assert shown() == "not rated: touch the line"
    press(browser, "7")
    assert shown() == "70"
    press(browser, Keys.END)
    assert shown() == "100"
    by_id(browser, "back").click()
    assert shown() == "51"
    by_id(browser, "to-finish").click()
    assert by_id(browser, "unrated").text == "9 of 11 translations are unrated."
    ratings = json.loads(exported(browser).read_text(encoding="utf-8"))["ratings"]
    assert [entry["assessment"] for entry in ratings] == [51, 100, *[None] * 9]


@pytest.fixture
def two_tabs(browser, tmp_path):
    """One study's page in two tabs: Ann has rated the first translation in the first one, which is in sight."""
    open_study(browser, tmp_path, make_study(sentences=3, repeats=0, degraded=0))
    start(browser, "Ann")
    press(browser, "3")
    first, address = browser.current_window_handle, browser.current_url
    browser.switch_to.new_window("tab")
    browser.get(address)
    second = browser.current_window_handle
    browser.switch_to.window(first)
    yield first, second
    browser.switch_to.window(second)
    browser.close()
    browser.switch_to.window(first)


def kept(browser):
    """What the browser keeps of the page's ratings."""
    (text,) = browser.execute_script("return Object.values(localStorage)")
    return json.loads(text)


def test_two_tabs_lose_nothing(browser, two_tabs):
    first, second = two_tabs
    browser.switch_to.window(second)
    by_id(browser, "begin").click()
    press(browser, "5")  # the fluency of the same translation
    browser.switch_to.window(first)
    wait_until(lambda: (3, 5) in chosen(browser).values())
    press(browser, "1")
    by_id(browser, "next").click()
    press(browser, "2", "2")
    browser.switch_to.window(second)
    wait_until(lambda: by_id(browser, "count").text == "2 of 9 rated")
    press(browser, "4")
    ratings = sorted(map(sorted, (answers.items() for answers in kept(browser)["ratings"].values())))
    assert [[value for _, value in answers] for answers in ratings] == [[1, 4], [2, 2], [3, 5]]
    by_id(browser, "to-finish").click()
    file = json.loads(exported(browser).read_text(encoding="utf-8"))
    assert sum(entry["rated_at"] is not None for entry in file["ratings"]) == 3


def test_a_tab_that_heard_nothing_writes_nothing_old_back(browser, two_tabs):
    """As one that the browser put to sleep: it gets no event."""
    first, second = two_tabs
    browser.switch_to.window(second)
    deaf = "window.addEventListener('storage', event => event.stopImmediatePropagation(), {capture: true})"
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": deaf})
    browser.refresh()
    by_id(browser, "begin").click()
    browser.switch_to.window(first)
    press(browser, "4", "2", "2")
    browser.switch_to.window(second)
    assert by_id(browser, "count").text == "0 of 9 rated"
    press(browser, "5")
    assert sorted(answers["adequacy"] for answers in kept(browser)["ratings"].values()) == [2, 3]


def test_who_starts_over_in_one_tab_gets_nothing_of_the_other(browser, two_tabs):
    first, second = two_tabs
    browser.switch_to.window(second)
    by_id(browser, "start-over").click()
    browser.switch_to.alert.accept()
    start(browser, "Bob")
    browser.switch_to.window(first)
    wait_until(lambda: browser.find_elements(By.ID, "annotator"))
    assert by_id(browser, "annotator").get_attribute("value") in ("", "Bob")
    assert (kept(browser)["annotator"], kept(browser)["ratings"]) == ("Bob", {})


def test_someone_else_is_asked_and_starts_over(browser, tmp_path):
    open_study(browser, tmp_path, make_study(sentences=3, repeats=0, degraded=0))
    start(browser, "Ann")
    press(browser, "3")
    by_id(browser, "to-start").click()
    by_id(browser, "annotator").clear()
    start(browser, "Bob")
    assert browser.switch_to.alert.text.startswith("Ann has rated 1 translation on this page. Is that you, Bob?")
    browser.switch_to.alert.dismiss()
    assert by_id(browser, "annotator").get_attribute("value") == "Ann"
    by_id(browser, "annotator").clear()
    start(browser, "Anne")
    browser.switch_to.alert.accept()
    assert kept(browser)["annotator"] == "Anne" and 3 in [one[0] for one in chosen(browser).values()]
    by_id(browser, "to-start").click()
    by_id(browser, "start-over").click()
    browser.switch_to.alert.accept()
    assert by_id(browser, "annotator").get_attribute("value") == ""
    start(browser, "Bob")
    assert set(chosen(browser).values()) == {(None, None)}


PLANTED = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\"> <b>"
ARABIC = "رجل يرتدي قبعة برتقالية"


def test_text_is_text_on_any_screen(browser, tmp_path):
    sides = [f"{PLANTED} {i}" for i in range(6)], [f"{ARABIC} {i}" for i in range(6)]
    systems = {
        "x": [f"{'long' * 60}{i} {PLANTED}" for i in range(6)],
        "y": [f"{ARABIC} {i}" for i in range(6)],
        "z": [""] * 6,
    }
    study = make_study(sentences=6, repeats=0, degraded=0, corpus=RatedTexts(*sides, systems), title=PLANTED)
    open_study(browser, tmp_path, study)
    start(browser, PLANTED)
    assert browser.title == PLANTED
    assert browser.find_elements(By.CSS_SELECTOR, "main img, main b, main script") == []
    screen = study.screens[0]
    expected = [screen.source, screen.reference, *(item.text for item in screen.items)]
    elements = browser.find_elements(By.CSS_SELECTOR, "main .text")
    assert [element.text for element in elements] == [
        text or "(nothing: the translation is empty)" for text in expected
    ]
    directions = [element.value_of_css_property("direction") for element in elements]
    assert directions == ["rtl" if text.startswith(ARABIC) else "ltr" for text in expected]
    for width in (390, 1280):
        resize(browser, width, 800)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert complaints(browser) == []
    assert requested_addresses(browser) == []


def test_a_browser_that_keeps_nothing_says_so(browser, tmp_path):
    refuse = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": refuse})
    try:
        open_study(browser, tmp_path, make_study(sentences=3, repeats=0, degraded=0, systems=SYSTEMS))
        start(browser, "Ann")
        assert "export your ratings before you close or reload it" in by_id(browser, "notice").text
        rate_by_keyboard(browser)
        assert by_id(browser, "count").text == "2 of 6 rated"
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)

"""The page in a browser: type, translate, point at words, score a translation of one's own."""

import json

import pytest

pytest.importorskip("selenium")

import psutil
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.browser import clear, complaints, requested_addresses, resize
from tests.demo.conftest import PLANTED
from tests.waiting import wait_until


def texts(browser, selector):
    """As written, wherever on the page, and whether or not its tab is open."""
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(one => one.textContent.trim())", selector
    )


def shown_words(browser):
    """What the attentive model's card says it reads."""
    return "".join(texts(browser, "#translations [data-system='0'] [data-source]"))


@pytest.fixture(scope="module")
def page(chromium, address):
    """The page, loaded once, which takes seconds: each test types a sentence of its own."""
    browser = clear(chromium[0])
    browser.get(address)
    wait_until(lambda: shown_words(browser) == "s1s2s3</s>")  # the first example
    yield browser
    # The server waits for seconds for a page that is still open.
    browser.get("about:blank")


def type_sentence(browser, text):
    """Replaces the sentence and translates it; the cards, or a notice, are there when this returns."""
    ask_for(browser, text)
    wait_for(browser, text)


def ask_for(browser, text, key=None):
    """Replaces the sentence and asks for its translation, by the button or by a key."""
    browser.execute_script("document.querySelectorAll('#translations .notice').forEach(one => one.remove())")
    browser.find_element(By.CSS_SELECTOR, "#sentence textarea").send_keys(Keys.CONTROL, "a")
    # In one piece: key by key, a thousand words take seconds.
    browser.execute_cdp_cmd("Input.insertText", {"text": text})
    if key:
        browser.switch_to.active_element.send_keys(key)
    else:
        browser.find_element(By.CSS_SELECTOR, "button#translate").click()


def wait_for(browser, text):
    """Until the cards, or a notice, are there."""
    expected = "".join(text.split()) + "</s>"
    wait_until(lambda: shown_words(browser) == expected or texts(browser, "#translations .notice"))


def open_tab(browser, name):
    """Opens a tab; Gradio draws it when it is opened first."""
    script = "[...document.querySelectorAll('[role=tab]')].find(one => one.textContent.trim() === arguments[0]).click()"
    browser.execute_script(script, name)


def lights(browser, side):
    """How brightly the words of the attentive model's card are lit."""
    words = f"#translations [data-system='0'] [data-{side}]"
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(one => Number(one.style.getPropertyValue('--light')))",
        words,
    )


def point_at(browser, selector, x=0.5, y=0.5):
    """Moves the pointer to a place in an element, in fractions of its size."""
    browser.execute_script(
        """const one = document.querySelector(arguments[0]), box = one.getBoundingClientRect();
        one.dispatchEvent(new PointerEvent("pointermove", {bubbles: true,
            clientX: box.left + arguments[1] * box.width, clientY: box.top + arguments[2] * box.height}));""",
        selector,
        x,
        y,
    )


def test_a_typed_sentence_is_translated_by_each_model_with_its_numbers(page, demo):
    type_sentence(page, "s4 s5 never-seen")
    readings = [one.read("s4 s5 never-seen", beam=5, length_penalty=1, count=5) for one in demo.systems]
    assert texts(page, "#translations .translation") == [reading.hypotheses[0].text for reading in readings]
    listed = [f"{one.score:.4f}" for reading in readings for one in reading.hypotheses]
    assert texts(page, "#translations .nbest td:first-child") == listed
    assert texts(page, "#translations [data-system='0'] [data-source].unknown") == ["never-seen"]
    assert texts(page, "#translations h3") == ["attentive", "pyramid"]


def test_pointing_at_a_word_lights_what_it_is_aligned_with(page, demo):
    type_sentence(page, "s1 s2 s3 s4")
    (card,) = page.find_elements(By.CSS_SELECTOR, "#translations [data-weights^='[']")
    weights = json.loads(card.get_attribute("data-weights"))
    reading = demo.systems[0].read("s1 s2 s3 s4", beam=5, length_penalty=1, count=1)
    assert weights == reading.alignment.weights.round(3).tolist()
    point_at(page, "#translations [data-system='0'] [data-target='0']")
    assert lights(page, "source") == pytest.approx(weights[0])
    point_at(page, "#translations [data-system='0'] [data-source='2']")
    assert lights(page, "target") == pytest.approx([row[2] for row in weights])
    point_at(page, "h1")
    assert not any(lights(page, "source"))


def test_pointing_at_a_cell_of_the_heat_map_lights_its_two_words_and_tells_the_weight(page, demo):
    type_sentence(page, "s6 s7 s3")
    wait_until(lambda: "s7" in texts(page, "#alignments svg text"))
    alignment = demo.systems[0].read("s6 s7 s3", beam=5, length_penalty=1, count=1).alignment
    # The second row and the third column of four.
    point_at(page, "#alignments [id$='-alignment'] image", x=0.6, y=1.5 / len(alignment.target))
    assert lights(page, "source") == [0, 0, 1, 0]
    assert lights(page, "target")[:3] == [0, 1, 0]
    assert texts(page, "#alignments output") == [f"· weight {alignment.weights[1][2]:.2f}"]
    assert set(texts(page, "#alignments .lit")) == {"s3", alignment.target[1]}


def test_tabs_show_the_pyramid_and_the_cuts(page):
    type_sentence(page, "s4 s3 s2")
    open_tab(page, "Pyramid")
    wait_until(lambda: page.find_elements(By.CSS_SELECTOR, "#gates svg"))
    assert texts(page, "#gates figcaption") == ["Pyramid of pyramid"]
    open_tab(page, "Word by word")
    wait_until(lambda: page.find_elements(By.CSS_SELECTOR, "#cuts svg"))
    assert texts(page, "#cuts details:first-of-type td:first-child") == ["1", "2", "3"]


def pending(browser):
    """What is still to come of an answer."""
    return browser.find_elements(By.CSS_SELECTOR, "#cuts .to-come")


def own_translation(browser):
    """The field for a translation of one's own."""
    open_tab(browser, "Your translation")
    (own,) = wait_until(lambda: browser.find_elements(By.CSS_SELECTOR, "#own :is(textarea, input)"))
    wait_until(own.is_displayed)
    return own


def test_an_example_is_translated_and_its_reference_is_scored(page):
    type_sentence(page, "s6 s6 s6")
    shown = page.find_elements(By.CSS_SELECTOR, "#examples .gallery-item")
    assert shown[0].text == "s1 s2 s3" and PLANTED.startswith(shown[1].text.rstrip("…. "))
    shown[0].click()
    wait_for(page, "s1 s2 s3")
    assert texts(page, "#translations .reference") == ["Reference t1 t2"]
    assert own_translation(page).get_attribute("value") == "t1 t2"
    wait_until(lambda: "t2" in texts(page, "#forced tbody th"))


def test_a_new_sentence_has_no_translation_of_the_one_before(page):
    """The field has the reference of an example: with the next sentence, its score would mean nothing."""
    type_sentence(page, "s1 s2 s3")
    own = own_translation(page)
    wait_until(lambda: own.get_attribute("value") == "t1 t2" and "t2" in texts(page, "#forced tbody th"))
    type_sentence(page, "s1 s4")
    wait_until(lambda: own.get_attribute("value") == "" and not texts(page, "#forced tbody th"))
    own.send_keys("t3")
    type_sentence(page, "s1 s4 s4")
    assert own.get_attribute("value") == "t3"


def test_a_translation_of_ones_own_is_scored_word_by_word(page, demo):
    type_sentence(page, "s1 s2")
    # The last that a sentence's answer brings; it scores what stood in the field before.
    wait_until(lambda: page.find_elements(By.CSS_SELECTOR, "#cuts details") and not pending(page))
    own = own_translation(page)
    own.send_keys(Keys.CONTROL, "a")
    own.send_keys("t3 t1 t4")
    page.find_element(By.CSS_SELECTOR, "button#force").click()
    wait_until(lambda: "t4" in texts(page, "#forced tbody th"))
    assert texts(page, "#forced thead th") == ["word", "attentive", "pyramid"]
    assert texts(page, "#forced tbody th") == ["t3", "t1", "t4", "</s>", "sum"]
    forced = [one.score("s1 s2", "t3 t1 t4") for one in demo.systems]
    row = texts(page, "#forced tbody tr:first-child td")
    assert [text[:7] for text in row] == [f"{found[0].log_probability:.4f}" for found in forced]
    sums = [f"{sum(word.log_probability for word in found):.4f}" for found in forced]
    assert texts(page, "#forced .sum td") == sums


def test_a_planted_script_stays_text(page):
    type_sentence(page, PLANTED)
    assert "".join(texts(page, "#translations [data-system='0'] [data-source]")[:-1]) == PLANTED.replace(" ", "")
    assert PLANTED in texts(page, "#translations .reference")[0]
    assert page.title == "Recurrent translation, live"
    assert not page.find_elements(By.CSS_SELECTOR, "#translations script, #translations img, #alignments img")


def test_the_page_asks_nobody_but_its_own_server_and_has_no_errors(page, address):
    addresses = requested_addresses(page)
    assert addresses and all(one.startswith(address) for one in addresses)
    assert complaints(page) == []


def test_the_server_listens_on_loopback_alone(address):
    port = int(address.rstrip("/").rpartition(":")[2])
    listening = {
        one.laddr.ip
        for one in psutil.Process().net_connections()
        if one.status == psutil.CONN_LISTEN and one.laddr.port == port
    }
    assert listening == {"127.0.0.1"}


def test_on_a_phone_the_page_fits_and_all_views_can_be_reached(page):
    resize(page, 390, 844)
    assert wait_until(lambda: page.execute_script("return document.documentElement.scrollWidth") <= 390)
    wait_until(lambda: sum(tab.is_displayed() for tab in page.find_elements(By.CSS_SELECTOR, "[role=tab]")) == 4)
    resize(page, 1280, 900)


def test_another_language_pair_has_a_page_of_its_own_that_opens_translated(chromium, page, address):
    page.get(f"{address}zh-en")
    wait_until(lambda: shown_words(page) == "s9</s>")
    # Gradio's, of the page that was left.
    complaints(page)
    assert texts(page, "#top small") == ["zh → en"] and texts(page, "#translations h3") == ["fixed"]
    open_tab(page, "Word by word")
    wait_until(lambda: page.find_elements(By.CSS_SELECTOR, "#cuts svg"))
    type_sentence(page, "s8 s7")
    assert texts(page, "nav a") == ["src → tgt", "zh → en"] and complaints(page) == []

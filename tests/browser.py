"""A headless Chromium for tests of pages, from Debian's packages chromium and chromium-driver."""

import json
import shutil

import pytest

#: No network of Chromium's own, no first-run pages, no sandbox (which needs privileges that containers lack).
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def reason_unavailable():
    """Why there is no browser; empty if there is one."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"not installed: {', '.join(missing)}" if missing else ""


def start(folder):
    """A browser with its own profile in the folder, which puts downloads into ``folder/downloads``.

    Everything that a page asks the network for is in its performance log: see `requested_addresses`.
    """
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for option in (*OPTIONS, f"--user-data-dir={folder / 'profile'}", "about:blank"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    (folder / "downloads").mkdir(parents=True)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder / "downloads")})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def resize(driver, width, height):
    """Makes the page that many CSS pixels wide: a window cannot be as narrow as a phone."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def prefer(driver, scheme):
    """Makes pages see ``light`` or ``dark`` as the user's preference."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def complaints(driver):
    """Errors and warnings in the browser's console since the last call."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def requested_addresses(driver):
    """What pages requested from the network since the last call."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
    addresses = [params["request"]["url"] for params in sent]
    return [address for address in addresses if address.split(":")[0] in ("http", "https", "ws", "wss")]


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """One browser for all tests, because it takes seconds to start; without one, they are skipped with the reason."""
    pytest.importorskip("selenium")
    if reason_unavailable():
        pytest.skip(reason_unavailable())
    folder = tmp_path_factory.mktemp("chromium")
    driver = start(folder)
    yield driver, folder / "downloads"
    driver.quit()


@pytest.fixture
def browser(chromium, tmp_path):
    """The browser as a test finds it: desktop size, light, nothing stored, downloaded or logged.

    ``browser.downloads`` is the folder that downloads go to.
    """
    driver, driver.downloads = chromium
    blank = tmp_path / "blank.html"
    blank.write_text("<!doctype html><title>blank</title>")
    driver.get(blank.as_uri())
    driver.execute_script("localStorage.clear(); sessionStorage.clear()")
    for file in driver.downloads.iterdir():
        file.unlink()
    return clear(driver)


def clear(driver):
    """The browser with the looks of a desktop, and nothing logged."""
    resize(driver, 1280, 900)
    prefer(driver, "light")
    complaints(driver)
    requested_addresses(driver)
    return driver

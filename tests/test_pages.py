"""What the report has of `recurrent_mt.pages`: nothing comes from elsewhere, and no text becomes markup."""

import base64
import hashlib
import html
import re

import pytest

from tests.pages import Outline
from tests.report.reports import small_page


@pytest.fixture(scope="module")
def page():
    return small_page()


def test_the_policy_allows_the_pages_own_script_and_style_only(page):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules.pop("default-src") == "'none'" and rules.pop("img-src", "data:") == "data:"
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)[1]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    for rule, text in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules.pop(rule) == f"'sha256-{digest}'"
    assert set(rules.values()) == {"'none'"}
    scripts = [attributes["type"] for tag, attributes in Outline(page).elements if tag == "script"]
    assert scripts == ["application/json", "module"]


def test_nothing_is_loaded_from_elsewhere(page):
    outline = Outline(page)
    loaded = [a.get("src") or a.get("href") for _, a in outline.elements if "src" in a or "href" in a]
    assert all(address.startswith(("data:", "#")) for address in loaded)
    assert not re.search(r"@import|url\((?!#)", page)


def test_scripts_write_text_only(page):
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)[1]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script)

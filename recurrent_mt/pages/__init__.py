"""What the project's HTML pages share: single files that load nothing and run no script but their own."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, DictLoader, Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

#: The style that pages share.
BASE_STYLE = Path(__file__).parent / "base.css"
#: The outline of every page, which templates extend by the name of ``document.html.j2``.
DOCUMENT = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{{ title }}</title>
<style>{{ style }}</style>
{% block head %}{% endblock %}
</head>
<body>
{% block body %}{% endblock %}
<script type="application/json" id="data">{{ data }}</script>
<script type="module">{{ script }}</script>
</body>
</html>
"""

#: What could end a script element or, in JavaScript's older eyes, a line.
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def render(folder: Path, data: object, *, scripts: Sequence[str], rules: str = "", **values: Any) -> str:
    """Renders a folder's ``page.html.j2`` with its ``style.css`` and its scripts.

    Text from data is escaped by the templates, or is in JSON in an element that is never executed; scripts must write
    it as text content only. A content security policy names style and script by their checksums and allows nothing
    else: no network, and no script or style that came with the data.

    Args:
        folder: the page's files.
        data: what the scripts work on.
        scripts: files that together are the page's one module, in the order in which they use one another.
        rules: style that is computed.
        values: what the templates use; ``title`` is required.
    """
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(folder), DictLoader({"document.html.j2": DOCUMENT})]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = "\n".join([rules, *(path.read_text(encoding="utf-8") for path in (BASE_STYLE, folder / "style.css"))])
    script = "\n".join((folder / name).read_text(encoding="utf-8") for name in scripts)
    return environment.get_template("page.html.j2").render(
        values, policy=write_policy(style, script), style=Markup(style), script=Markup(script), data=write_json(data)
    )


def write_policy(style: str, script: str) -> str:
    """The content security policy: this style and script, images inside the page, nothing else."""
    rules = (
        "default-src 'none'",
        "img-src data:",
        f"style-src {hash_source(style)}",
        f"script-src {hash_source(script)}",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


def write_address(kind: str, text: str) -> str:
    """Text as the address of a document of this media type, which a page carries."""
    return f"data:{kind};base64,{base64.b64encode(text.encode('utf-8')).decode('ascii')}"


def hash_source(text: str) -> str:
    """A content security policy's name for an inline element with this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def write_json(data: object) -> Markup:
    """JSON for a script element: nothing in it can end the element, open a comment or break a line."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(ESCAPES))

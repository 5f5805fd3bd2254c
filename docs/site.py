"""What the site has beyond the files of docs/: mkdocs calls these functions while it builds (mkdocs.yml).

Three pages of the reference are made of the code, so that they cannot differ from it: the tools' --help, the options of models
and experiments, and the docstrings of the Python interface. A file elsewhere in the project that a page links to becomes a
page of the site, below ``repository/``; so the same relative links work here and on a code host.
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
import re
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
#: Where the site has files from outside of docs/.
ELSEWHERE = "repository"
LINK = re.compile(r"(?<=\]\()(?![a-z]+:)([^)\s#]+)")
#: What the page of the Python interface has, by heading.
INTERFACE = {
    "Trained models": ["recurrent_mt.translation.load_model", "recurrent_mt.translation.load_models"],
}


def name_anchor(heading: str, separator: str = "-") -> str:
    """The anchor that code hosts give a heading; without this, that of mkdocs may differ."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)


def on_config(config: MkDocsConfig) -> None:
    """Headings get the anchors that they have on a code host; help texts are as wide everywhere."""
    config.mdx_configs["toc"] = {**config.mdx_configs.get("toc", {}), "slugify": name_anchor}
    os.environ["COLUMNS"] = "110"


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Adds the pages that are made, and the files elsewhere that pages link to, and that these link to."""
    made = {"tools": describe_tools, "options": describe_options, "experiments": describe_experiments, "api": name_interface}
    for name, describe in made.items():
        text = "".join(f"{part}\n" for part in describe())
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    waiting = [file.src_uri for file in files if file.src_uri.endswith(".md")]
    for place in waiting:
        file = files.get_file_from_path(place)
        assert file is not None
        for link in LINK.findall(file.content_string):
            target = find_page(link, place)
            path = ROOT / place_in_project(target)
            if target.startswith(ELSEWHERE) and path.is_file() and files.get_file_from_path(target) is None:
                text = path.read_text(encoding="utf-8")
                if path.suffix != ".md":
                    text = f"# {path.relative_to(ROOT)}\n\n~~~~ {{.text}}\n{text}\n~~~~\n"
                files.append(File.generated(config, target, content=text))
                waiting.append(target)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links to files elsewhere in the project to their pages here."""
    place = page.file.src_uri
    return LINK.sub(lambda link: posixpath.relpath(find_page(link[1], place), posixpath.dirname(place) or "."), markdown)


def place_in_project(place: str) -> str:
    """Where the source of a page of the site lies in the project."""
    inside = place.removeprefix(f"{ELSEWHERE}/")
    if inside == place:
        return f"docs/{place}"
    return inside if (ROOT / inside).exists() else inside.removesuffix(".md")


def find_page(link: str, place: str) -> str:
    """The page of the site that a relative link in another page, of this place, leads to."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(place_in_project(place)), link))
    if target == "docs" or target.startswith("docs/"):
        return target.removeprefix("docs").removeprefix("/") or "README.md"
    if (ROOT / target).is_dir():
        target += "/README.md"
    return f"{ELSEWHERE}/{target}" + ".md" * (not target.endswith(".md"))


def describe_tools() -> Iterator[str]:
    """The index of tools, then each tool's help."""
    from recurrent_mt.cli.command import INDEX, TOOLS, load_tool, make_parser

    yield "# Tools\n\nWhat each tool prints with `--help`. [Which one do I need?](which-tool.md)\n"
    for line in INDEX.splitlines():
        if line and not line.startswith(" "):
            yield f"## {line.removesuffix(':')}\n"
        elif line.startswith("  ") and not line.startswith("   "):
            tool = TOOLS[line.split()[0]]
            yield f"### {tool.name}\n\n{tool.summary[0].upper()}{tool.summary[1:]}.\n"
            yield f"~~~~ {{.text}}\n{make_parser(tool, load_tool(tool.name)).format_help()}~~~~\n"


def describe_options() -> Iterator[str]:
    """What `fairseq-train --help` says of this plug-in's models, tasks, criterions, and so on."""
    import user_dir  # noqa: F401 (registers them)
    from user_dir.help_option import own_options, parts

    yield "# Options of models and training\n\nThose of `fairseq-train --user-dir user_dir`, beyond fairseq's own. What they are for is in [the models](../why/models.md)."
    for title, part in parts(Namespace(arch=None)):
        name, _, what = title.partition(": ")
        yield f"\n## {name.removesuffix(':')}\n\n{escape(what)}\n"
        fields = {field.name: field for field in dataclasses.fields(part)} if part else {}
        rows = [(f"--{name.replace('_', '-')}", fields[name].metadata["help"]) for name in own_options(part)]
        yield from draw_table("option", rows)


def describe_experiments() -> Iterator[str]:
    """What a file of configs/experiments may set."""
    from recurrent_mt.cli.experiment import shown_default
    from recurrent_mt.runs.experiment import Experiment

    yield "# Options of experiments\n\nThose of a file of `configs/experiments`, or `KEY=VALUE` on the command line.\n"
    for group in reversed(Experiment.__mro__):
        fields = [name for name in getattr(group, "model_fields", ()) if name in group.__annotations__]
        if fields:
            yield f"\n## {(group.__doc__ or '').removesuffix('.')}\n"
            rows = [(name, Experiment.model_fields[name]) for name in fields]
            texts = [(name, field.description or "", shown_default(field.default)) for name, field in rows]
            yield from draw_table("option", [(name, f"{text} ({default})" if default else text) for name, text, default in texts])


def name_interface() -> Iterator[str]:
    """The functions and classes of the Python interface; mkdocstrings puts their docstrings there."""
    yield "# Python\n\nThe [guide](../guides/python.md) has an example of each.\n"
    for heading, names in INTERFACE.items():
        yield f"## {heading}\n"
        yield from (f"::: {name}\n" for name in names)


def draw_table(first: str, rows: list[tuple[str, Any]]) -> Iterator[str]:
    """A table of options in Markdown; nothing if there are none."""
    if rows:
        yield f"| {first} | |\n|---|---|"
        yield from (f"| `{name}` | {escape(' '.join(text.split()))} |" for name, text in rows)


def escape(text: str) -> str:
    """The text as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)

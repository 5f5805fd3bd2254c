"""What the site has beyond the files of docs/: mkdocs calls the ``on_…`` functions while it builds (mkdocs.yml).

Four pages of the reference are made of the code, so that they cannot differ from it. And a file elsewhere in the
project that a page links to becomes a page of the site, below ``repository/``: the same relative links work here and
on a code host.
"""

from __future__ import annotations

import dataclasses
import inspect
import logging
import os
import posixpath
import re
import sys
from argparse import SUPPRESS
from collections.abc import Iterator, Sequence
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
#: Of mkdocs, which counts warnings.
LOG = logging.getLogger("mkdocs.hooks.site_pages")
#: Where the site has files from outside of docs/.
ELSEWHERE = "repository/"
#: The path of a relative link in Markdown.
LINK = re.compile(r"(?<=\]\()(?![a-z]+:)([^)\s#]+)")
#: What the page of the Python interface has, by heading.
INTERFACE = {
    "Trained models": [
        "recurrent_mt.translation.loading.load_model",
        "recurrent_mt.translation.loading.load_models",
        "recurrent_mt.translation.model.Model",
        "recurrent_mt.translation.model.Candidate",
        "recurrent_mt.translation.model.ScoredWord",
        "recurrent_mt.translation.model.Cut",
        "recurrent_mt.translation.model.Reading",
    ],
    "Figures": ["recurrent_mt.translation.figures.draw_cuts", "recurrent_mt.translation.figures.group_cuts"],
    "Scores and analyses of files": [
        "recurrent_mt.metrics.score",
        "recurrent_mt.evaluation.analysis.analyze_files",
        "recurrent_mt.evaluation.analysis.Analysis",
        "recurrent_mt.evaluation.plots.draw",
    ],
    "Exported models": ["recurrent_mt.onnx_translation.OnnxModel", "recurrent_mt.onnx_translation.translate"],
}


def on_config(config: MkDocsConfig) -> None:
    """Gives headings the anchors that they have on a code host, and all help texts one width."""
    config.mdx_configs["toc"] = {**config.mdx_configs.get("toc", {}), "slugify": name_anchor}
    os.environ["COLUMNS"] = "110"


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Adds the pages that are made, and the files elsewhere that pages link to, and what these link to."""
    for name, lines in made_pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(lines)))
    waiting = [file for file in files if file.src_uri.endswith(".md")]
    for page in waiting:
        for link in LINK.findall(page.content_string):
            target = find_page(link, page.src_uri)
            source = ROOT / place_in_project(target)
            if target.startswith(ELSEWHERE) and source.is_file() and files.get_file_from_path(target) is None:
                text = source.read_text(encoding="utf-8")
                if source.suffix != ".md":
                    text = f"# {source.relative_to(ROOT)}\n\n{fence(text)}"
                waiting.append(File.generated(config, target, content=text))
                files.append(waiting[-1])


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links to files elsewhere in the project to their pages here."""
    place = page.file.src_uri
    folder = posixpath.dirname(place) or "."
    return LINK.sub(lambda link: posixpath.relpath(find_page(link[1], place), folder), markdown)


def name_anchor(heading: str, separator: str) -> str:
    """The anchor that code hosts give a heading; one that the theme's script cannot look for fails a strict build."""
    anchor = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)
    if anchor[:1].isdigit():
        LOG.warning(
            "the heading %r begins with a digit, and so does its anchor, which is no selector: reword it", heading
        )
    return anchor


def place_in_project(page: str) -> str:
    """Where the source of a page of the site lies in the project."""
    inside = page.removeprefix(ELSEWHERE)
    if inside == page:
        return f"docs/{page}"
    return inside if (ROOT / inside).exists() else inside.removesuffix(".md")


def find_page(link: str, page: str) -> str:
    """The page of the site that a relative link in another one leads to."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(place_in_project(page)), link))
    if (ROOT / target).is_dir():
        target += "/README.md"
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    return ELSEWHERE + target + ("" if target.endswith(".md") else ".md")


def made_pages() -> dict[str, Iterator[str]]:
    """The lines of each page that is made, by its name in the reference."""
    return {
        "tools": describe_tools(),
        "options": describe_options(),
        "experiments": describe_experiments(),
        "api": name_interface(),
    }


def describe_tools() -> Iterator[str]:
    """The index of tools, then each tool's help."""
    from recurrent_mt.cli.command import INDEX, TOOLS, load_tool, make_parser

    yield "# Tools\n\nWhat each tool prints with `--help`. [Which one do I need?](which-tool.md)\n"
    for line in INDEX.splitlines():
        if re.match(r"\w", line):
            yield f"## {line.removesuffix(':')}\n"
        elif re.match(r"  \w", line):
            tool = TOOLS[line.split()[0]]
            yield f"### {tool.name}\n\n{escape(tool.summary)}\n"
            yield fence(make_parser(tool, load_tool(tool.name)).format_help())


def describe_options() -> Iterator[str]:
    """The options of this plug-in's models, tasks, criterions, and so on."""
    import user_dir  # noqa: F401 (registers them)
    from user_dir.models.config import EncoderDecoderConfig

    yield "# Options of models and training\n\nThose of `fairseq-train --user-dir user_dir`, beyond fairseq's own."
    yield "What the models' are for is in [the models](../why/models.md).\n"
    yield "## Every model of this plug-in\n\n"
    yield from draw_table(own_options(EncoderDecoderConfig))
    for flag, names, part in list_parts():
        yield f"## --{flag} {', '.join(names)}\n\n{escape(summarize(names[0], part))}\n"
        yield from draw_table(own_options(getattr(part, "__dataclass")))


def list_parts() -> Iterator[tuple[str, list[str], type]]:
    """What the plug-in registers: the option that chooses it, its name, and the class; scorers are one with many."""
    from fairseq.models import MODEL_REGISTRY
    from fairseq.registry import REGISTRIES
    from fairseq.tasks import TASK_REGISTRY

    others = {name: parts["registry"] for name, parts in REGISTRIES.items()}
    for flag, registry in {"arch": MODEL_REGISTRY, "task": TASK_REGISTRY, **others}.items():
        alike: dict[type, list[str]] = {}
        for name, part in registry.items():
            if part.__module__.startswith("user_dir."):
                alike.setdefault(getattr(part, "__dataclass"), []).append(name)
        yield from ((flag, names, registry[names[0]]) for names in alike.values())


def summarize(name: str, part: type) -> str:
    """What a part is and where it comes from: the paragraph of its module's docstring about it, or the first one."""
    paragraphs = [" ".join(text.split()) for text in (sys.modules[part.__module__].__doc__ or "").split("\n\n")]
    about = next((text for text in paragraphs if text.startswith(f"``{name}``: ")), paragraphs[0])
    return about.rpartition("``: ")[2].replace("``", "")


def own_options(dataclass: type) -> list[tuple[str, str]]:
    """The flags that a dataclass defines itself, with their help; what has none stands for an option of a command."""
    helps = {field.name: field.metadata.get("help", "") for field in dataclasses.fields(dataclass)}
    own = [name for name in inspect.get_annotations(dataclass) if helps[name] not in ("", SUPPRESS)]
    return [(f"--{name.replace('_', '-')}", helps[name]) for name in own]


def describe_experiments() -> Iterator[str]:
    """What a file of configs/experiments may set."""
    from recurrent_mt.cli.experiment import option_groups

    yield "# Options of experiments\n\nThose of a file of `configs/experiments`, or `KEY=VALUE` on the command line.\n"
    for title, options in option_groups():
        yield f"## {title.removesuffix('.')}\n"
        yield from draw_table(options)


def name_interface() -> Iterator[str]:
    """The functions and classes of the Python interface, for mkdocstrings, which puts their docstrings there."""
    yield "# Python\n\nThe [guide](../guides/python.md) has examples.\n"
    for heading, names in INTERFACE.items():
        yield f"## {heading}\n"
        yield from (f"::: {name}\n" for name in names)


def draw_table(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A table of options in Markdown; nothing where there are none."""
    if rows:
        yield "| option | |\n|---|---|"
        yield from (f"| `{name}` | {escape(' '.join(text.split()))} |" for name, text in rows)
        yield ""


def fence(text: str) -> str:
    """The text as Markdown that shows it line by line."""
    return f"~~~~ text\n{text.rstrip()}\n~~~~\n"


def escape(text: str) -> str:
    """The text as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)

"""The page itself: what one types and chooses, and which results follow."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..translation.model import Model, NoWordsError
from .fragments import (
    TEMPLATES,
    name_gates,
    render,
    render_alignments,
    render_cards,
    render_cuts,
    render_forced,
    render_gates,
)
from .guard import LOOPBACK, Guard

# Before Gradio is imported: it would ask its makers for a newer version, and tell them of this page.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"


@contextmanager
def no_proxies() -> Iterator[None]:
    """Hides the proxies of the environment: Gradio asks its own page for an answer, which no proxy finds.

    It would not even be imported where one of them is SOCKS.
    """
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.lower().endswith("_proxy")}
    try:
        yield
    finally:
        os.environ.update(hidden)


with no_proxies():
    import gradio as gr


#: Beam, length penalty, and translations listed, unless one chooses others.
SEARCH = (5, 1, 5)
#: Examples that are shown at once.
EXAMPLES_SHOWN = 10


@dataclass(frozen=True)
class Demo:
    """The models of a language pair, and what the page says of them. Requests share it and change nothing in it."""

    systems: Sequence[Model]  # in the order of their colors
    languages: tuple[str, str]  # source and target
    examples: Mapping[str, str]  # sentences of the test set, with their references
    lowercase: bool = False  # whether chrF ignores case
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)  # what models have learned from, and their names

    def translate(self, text: str, own: str, beam: float, length_penalty: float, count: float) -> Iterator[list[str]]:
        """Yields what there is of cards, alignments, gates, the user's own translation scored, and cuts, in this order.

        What is still to come has a placeholder.
        """
        readings = self.ask(
            lambda system: system.read(text, beam=int(beam), length_penalty=length_penalty, count=int(min(count, beam)))
        )
        if (problem := shared_problem(readings)) is not None:
            yield [render("notice", text=problem), "", "", "", ""]
            return
        reference = self.examples.get(text.strip())
        cards = render_cards(self.systems, readings, reference, lowercase=self.lowercase)
        readers = [system for system in self.systems if not isinstance(readings[system.name], str)]
        done = [render("warnings", reasons=self.warn(text, readers), all=len(self.systems)) + cards]
        waits = [
            render("placeholder", text=f"{what} …")
            for what in ("Drawing", "Drawing", "Scoring", "Translating beginnings")
        ]
        yield done + waits
        own = self.keep_own(text, own)
        done += [render_alignments(readings), render_gates(readings), self.force(text, own) if own else ""]
        yield done + waits[3:]
        cuts = self.ask(lambda system: system.cut(text, beam=int(beam), length_penalty=length_penalty))
        yield [*done, render_cuts(cuts)]

    def warn(self, text: str, readers: Sequence[Model]) -> dict[str, list[str]]:
        """What the models that read a sentence have not learned to read in it, and those models."""
        found: dict[str, list[str]] = {}
        for system in readers:
            if reason := system.unfamiliar(text):
                found.setdefault(reason, []).append(system.name)
        return found

    def force(self, text: str, target: str) -> str:
        """The user's own translation, word by word."""
        forced = self.ask(lambda system: system.score(text, target))
        problem = shared_problem(forced)
        return render_forced(forced) if problem is None else render("notice", text=problem)

    def pick(self, choice: list[str]) -> tuple[str, str, str]:
        """An example that is chosen: sentence, reference, and nothing of what was scored before."""
        return choice[0], self.examples[choice[0]], ""

    def forget(self, text: str, target: str) -> tuple[Any, str]:
        """What is left of the user's own translation, and of its scores, when the sentence changes."""
        kept = self.keep_own(text, target)
        return gr.skip() if kept == target else kept, ""

    def keep_own(self, text: str, target: str) -> str:
        """What the user has typed stays; a reference does only where it is that of the sentence."""
        mine = target and target not in self.examples.values()
        return target if mine else self.examples.get(text.strip(), "")

    def ask(self, question: Callable[[Model], Any]) -> dict[str, Any]:
        """Each model's answer, or the sentence that says why it has none."""
        answers: dict[str, Any] = {}
        for system in self.systems:
            try:
                answers[system.name] = question(system)
            except NoWordsError as error:
                answers[system.name] = f"Type a {error.side} first."
            except ValueError as error:
                answers[system.name] = str(error)
        return answers


def shared_problem(answers: Mapping[str, Any]) -> str | None:
    """The sentence that says why no model has an answer, if it is the same for all."""
    first, *others = answers.values()
    return first if isinstance(first, str) and all(other == first for other in others) else None


def build_page(demos: Sequence[Demo]) -> gr.Blocks:
    """Builds the page, without serving it yet; of several language pairs, each has an address of its own."""
    names = [" → ".join(demo.languages) for demo in demos]
    page = gr.Blocks(title="Recurrent translation, live", analytics_enabled=False)
    for name, demo in zip(names, demos):
        with page if demo is demos[0] else page.route(name, "-".join(demo.languages)):
            gr.Navbar(main_page_name=names[0], visible=len(demos) > 1)
            lay_out(page, demo)
    return page


def lay_out(page: gr.Blocks, demo: Demo) -> None:
    """Puts what one types and chooses above the results; the first example is translated already."""
    first = next(iter(demo.examples), "")
    opening = next(demo.translate(first, "", *SEARCH))
    source, target = demo.languages
    heading = render("heading", source=source, target=target, texts=demo.texts, all=len(demo.systems))
    gr.HTML(heading, elem_id="top")
    with gr.Row(equal_height=True):
        sentence = gr.Textbox(
            first,
            label="Sentence",
            info="Enter translates it.",
            max_lines=4,
            scale=5,
            min_width=280,
            elem_id="sentence",
        )
        button = gr.Button("Translate", variant="primary", min_width=160, elem_id="translate")
    picked = gr.Dataset(
        components=[sentence],
        samples=[[example] for example in demo.examples],
        samples_per_page=EXAMPLES_SHOWN,
        label="Examples",
        visible=bool(demo.examples),
        elem_id="examples",
    )
    search = lay_out_search()
    cards = gr.HTML(opening[0], elem_id="translations")
    own, force, views = lay_out_views(demo, demo.examples.get(first, ""), opening[1:])
    forced = views[2]
    asked = {
        "fn": demo.translate,
        "inputs": [sentence, own, *search],
        "outputs": [cards, *views],
        "show_progress": "minimal",
        "api_visibility": "private",
    }
    # A call while an earlier one runs waits for it; Gradio would drop it.
    gr.on([button.click, sentence.submit, page.load], trigger_mode="always_last", **asked)
    picked.click(demo.pick, picked, [sentence, own, forced], api_visibility="private").then(**asked)
    sentence.change(
        demo.forget,
        [sentence, own],
        [own, forced],
        trigger_mode="always_last",
        show_progress="hidden",
        api_visibility="private",
    )
    gr.on([force.click, own.submit], demo.force, [sentence, own], forced, api_visibility="private")


def lay_out_search() -> list[gr.Slider]:
    """What one may choose of the search: beam, length penalty, and how many translations are listed."""
    beam, penalty, count = SEARCH
    with gr.Accordion("Beam search", open=False, elem_id="search"), gr.Row(equal_height=True):
        return [
            gr.Slider(1, 20, beam, step=1, label="Beam", min_width=160, elem_id="beam"),
            gr.Slider(0, 2, penalty, step=0.1, label="Length penalty", min_width=160, elem_id="penalty"),
            gr.Slider(1, 10, count, step=1, label="Translations listed", min_width=160, elem_id="count"),
        ]


def lay_out_views(demo: Demo, reference: str, opening: Sequence[str]) -> tuple[gr.Textbox, gr.Button, list[gr.HTML]]:
    """The tabs; the views are in the order of `Demo.translate`.

    Returns:
        The field for the user's own translation, its button, and the views.
    """
    alignments, gates, forced, cuts = opening
    with gr.Tabs(overflow_behavior="wrap"):
        with gr.Tab("Alignment"):
            views = [gr.HTML(alignments, elem_id="alignments")]
        with gr.Tab(name_gates(demo.systems), visible=any(system.translator.has_gates for system in demo.systems)):
            views.append(gr.HTML(gates, elem_id="gates"))
        with gr.Tab("Word by word"):
            words = gr.HTML(cuts, elem_id="cuts")
        with gr.Tab("Your translation"):
            with gr.Row(equal_height=True):
                own = gr.Textbox(
                    reference, label="A translation of yours", scale=5, min_width=280, elem_id="own", max_lines=4
                )
                force = gr.Button("Score it", min_width=160, elem_id="force")
            views += [gr.HTML(forced, elem_id="forced"), words]
    return own, force, views


def serve(page: gr.Blocks, *, host: str, port: int | None, share: bool) -> str:
    """Starts the page in threads of its own.

    Returns:
        Its address.

    Raises:
        OSError: if the port is taken.
    """
    from starlette.middleware import Middleware

    # Gradio asks its own page whether it is there, and each request would be a line.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("demo.css", "hover.js"))
    is_open = share or host.strip("[]") not in LOOPBACK
    with no_proxies():
        _, local, public = page.launch(
            server_name=host,
            server_port=port,
            share=share,
            prevent_thread_lock=True,
            quiet=True,
            footer_links=[],
            ssr_mode=False,
            app_kwargs={"middleware": [Middleware(Guard, is_open=is_open)]},
            # Fonts of the machine: the theme's own come from the network.
            theme=gr.themes.Base(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
            # Not as css=, of which Gradio changes the selectors.
            head=f"<style>{style}</style><script>{script}</script>",
        )
    return public or local

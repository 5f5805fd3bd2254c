"""The page itself: what one types and chooses, and which results follow."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..translation.model import Model, NoWordsError
from .fragments import (
    TEMPLATES,
    render_alignments,
    render_cards,
    render_cuts,
    render_forced,
    render_heading,
    render_notice,
    render_pyramids,
)
from .guard import Guard

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


@dataclass(frozen=True)
class Demo:
    """What the page is about. Requests share it and change nothing in it."""

    systems: Sequence[Model]  # the models, in the order of their colors
    languages: tuple[str, str]  # source and target
    examples: Mapping[str, str]  # sentences of the test set, with their references
    lowercase: bool = False  # whether chrF ignores case

    def translate(
        self, text: str, beam: float, length_penalty: float, count: float
    ) -> Iterator[tuple[str, str, str, str]]:
        """Yields cards, alignments, pyramids and cuts: first the cards alone, then the drawings, and then the cuts."""
        readings = self.ask(
            lambda system: system.read(text, beam=int(beam), length_penalty=length_penalty, count=int(min(count, beam)))
        )
        if (problem := shared_problem(readings)) is not None:
            yield render_notice(problem), "", "", ""
            return
        reference = self.examples.get(text.strip())
        cards = render_cards(readings, reference, lowercase=self.lowercase)
        yield cards, "", "", ""
        drawn = cards, render_alignments(readings), render_pyramids(readings)
        yield *drawn, render_notice("Translating the first words of the sentence …")
        cuts = self.ask(lambda system: system.cut(text, beam=int(beam), length_penalty=length_penalty))
        yield *drawn, render_cuts(cuts)

    def force(self, text: str, target: str) -> str:
        """The user's own translation, word by word."""
        forced = self.ask(lambda system: system.score(text, target))
        problem = shared_problem(forced)
        return render_forced(forced) if problem is None else render_notice(problem)

    def pick(self, choice: gr.SelectData) -> tuple[str, str, str]:
        """An example that is chosen: sentence, reference, and nothing of what was scored before."""
        return choice.value, self.examples[choice.value], ""

    def forget(self, text: str, target: str) -> tuple[Any, str]:
        """What is left of the user's own translation, and of its scores, when the sentence changes.

        Nothing of a reference, unless it is that of the new sentence; what the user has typed stays.
        """
        mine = target and target not in self.examples.values()
        return gr.skip() if mine else self.examples.get(text.strip(), ""), ""

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


def build_page(demo: Demo) -> gr.Blocks:
    """Builds the page, without serving it yet."""
    source, target = demo.languages
    first = next(iter(demo.examples), "")
    with gr.Blocks(title="Recurrent translation, live", analytics_enabled=False) as page:
        gr.HTML(render_heading(source, target), elem_id="top")
        with gr.Row(equal_height=True):
            sentence = gr.Textbox(first, label="Sentence", max_lines=4, scale=3, min_width=280, elem_id="sentence")
            picked = gr.Dropdown(
                list(demo.examples),
                value=None,
                label="… or one of the test set",
                visible=bool(demo.examples),
                scale=2,
                min_width=280,
                elem_id="examples",
            )
        with gr.Row(equal_height=True):
            beam = gr.Slider(1, 20, 5, step=1, label="Beam", min_width=160, elem_id="beam")
            penalty = gr.Slider(0, 2, 1, step=0.1, label="Length penalty", min_width=160, elem_id="penalty")
            count = gr.Slider(1, 10, 5, step=1, label="Translations listed", min_width=160, elem_id="count")
            translate = gr.Button("Translate", variant="primary", min_width=160, elem_id="translate")
        cards = gr.HTML(elem_id="translations")
        with gr.Tabs():
            with gr.Tab("Alignment"):
                alignments = gr.HTML(elem_id="alignments")
            has_gates = any(system.has_gates for system in demo.systems)
            with gr.Tab("Pyramid", visible=has_gates):
                pyramids = gr.HTML(elem_id="pyramids")
            with gr.Tab("Word by word"):
                cuts = gr.HTML(elem_id="cuts")
            with gr.Tab("Your translation"):
                with gr.Row(equal_height=True):
                    reference = demo.examples.get(first, "")
                    own = gr.Textbox(reference, label="A translation of yours", scale=4, min_width=280, elem_id="own")
                    force = gr.Button("Score it", min_width=160, elem_id="force")
                forced = gr.HTML(elem_id="forced")
        asked = {
            "fn": demo.translate,
            "inputs": [sentence, beam, penalty, count],
            "outputs": [cards, alignments, pyramids, cuts],
            "show_progress": "minimal",
            "api_visibility": "private",
        }
        # A call while an earlier one runs waits for it; Gradio would drop it.
        gr.on([translate.click, sentence.submit, page.load], trigger_mode="always_last", **asked)
        # Not input: that comes when the list is left, too, without a choice.
        picked.select(demo.pick, None, [sentence, own, forced], api_visibility="private").then(**asked)
        sentence.change(
            demo.forget,
            [sentence, own],
            [own, forced],
            trigger_mode="always_last",
            show_progress="hidden",
            api_visibility="private",
        )
        gr.on([force.click, own.submit], demo.force, [sentence, own], forced, api_visibility="private")
    return page


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
    shared: set[str] = set()
    with no_proxies():
        _, local, public = page.launch(
            server_name=host,
            server_port=port,
            share=share,
            prevent_thread_lock=True,
            quiet=True,
            footer_links=[],
            ssr_mode=False,
            app_kwargs={"middleware": [Middleware(Guard, host=host, shared=shared)]},
            # Fonts of the machine: the theme's own come from the network.
            theme=gr.themes.Base(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
            # Not as css=, of which Gradio changes the selectors.
            head=f"<style>{style}</style><script>{script}</script>",
        )
    if public:
        shared.add(urlsplit(public).hostname or "")
    return public or local

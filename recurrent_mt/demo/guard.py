"""Which requests the page's server answers: those of its own page, and no files."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

#: The browser may ask this server alone, whatever Gradio or a sentence would have it load.
POLICY = b"default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; frame-ancestors 'self'"
#: Names of this machine that no other one has.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
#: Ends of the paths to which the page sends something: a question, and that it need not be answered any more.
POSTED = ("/queue/join", "/cancel")


class Guard:
    """Refuses requests of other pages and uploads, and adds the content security policy to each answer (ASGI).

    A page anywhere can make its reader's browser send something to this machine; the browser then says so (Origin). A
    stranger's name may lead to this machine (DNS rebinding); the browser then asks for that name (Host). Where others
    than this machine may ask (``is_open``), any name will do.
    """

    def __init__(self, app: Any, *, is_open: bool) -> None:
        self.app = app
        self.is_open = is_open

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Passes the request on, or answers why not."""

        async def send_with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"content-security-policy", POLICY)]
            await send(message)

        app = self.app
        if scope["type"] == "http" and (refusal := self.refuse(scope)):
            status, why = refusal
            app = PlainTextResponse(f"{why}\n", status)
        await app(scope, receive, send_with_policy)

    def refuse(self, scope: Any) -> tuple[int, str] | None:
        """The status and the sentence for a request that is refused; None for one that is answered."""
        headers, method = Headers(scope=scope), scope["method"]
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.is_open and urlsplit(f"//{host}").hostname not in LOOPBACK:
            return 403, f"This page is not at {host}: open it at the address that recurrent-mt demo has printed."
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, f"This page answers no questions of {origin}."
        if method not in ("GET", "HEAD") and not (method == "POST" and scope["path"].endswith(POSTED)):
            return 405, "This page takes sentences, and no files."
        return None

"""Which requests the page's server answers: those of its own page, and no files."""

from __future__ import annotations

import socket
from ipaddress import ip_address
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
#: Bytes of a question, at most: texts of the greatest length that models split, with room to spare.
LONGEST_QUESTION = 2**20


class Guard:
    """Refuses requests of other pages and uploads, and adds the content security policy to each answer (ASGI).

    A page anywhere can make its reader's browser send something to this machine; the browser then says so (Origin). A
    stranger's name may lead to this machine (DNS rebinding); the browser then asks for that name (Host).
    """

    def __init__(self, app: Any, *, host: str, shared: set[str]) -> None:
        """Guards the app.

        Args:
            app: what answers.
            host: that the server listens at.
            shared: names of the page's public link, which is known once the server runs.
        """
        self.app = app
        self.shared = shared
        self.names = {host.strip("[]"), *LOOPBACK}
        self.is_open = not self.names <= LOOPBACK
        if self.is_open:
            self.names |= {name.lower() for name in (socket.gethostname(), socket.getfqdn())}

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
        if not self.is_own(urlsplit(f"//{host}").hostname or ""):
            return 403, f"This page is not at {host}: open it at the address that recurrent-mt demo has printed."
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, f"This page answers no questions of {origin}."
        if method in ("GET", "HEAD"):
            return None
        if method != "POST" or not scope["path"].endswith(POSTED):
            return 405, "This page takes sentences, and no files."
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LONGEST_QUESTION:
            return 413, f"A question may have up to {LONGEST_QUESTION:,} bytes, and must say how many it has."
        return None

    def is_own(self, name: str) -> bool:
        """Whether this machine is asked for by a name of its own.

        Where others may ask, too, a number is one: no stranger's name leads to it.
        """
        if name in self.names or name in self.shared:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return self.is_open

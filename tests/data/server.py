"""An HTTP server on loopback that serves a folder, with byte ranges, and breaks off when told to."""

from __future__ import annotations

import hashlib
import http.server
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Server(http.server.ThreadingHTTPServer):
    """What it does and has done.

    Attributes:
        folder: of the files.
        cuts: how many bytes to send before the connection is cut, for this and the following requests.
        ranges: whether byte ranges are understood.
        tags: whether the version of a file is said.
        requests: path and first byte asked for, of every request.
    """

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.cuts: list[int] = []
        self.ranges = True
        self.tags = True
        self.requests: list[tuple[str, int]] = []

    def url(self, name: str = "") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        path = self.server.folder / self.path.lstrip("/")
        start = self.first_byte()
        self.server.requests.append((self.path, start))
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        tag = f'"{hashlib.md5(content).hexdigest()}"'
        if self.headers.get("If-Range", tag) != tag or not self.server.ranges:
            start = 0
        if start and start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        if self.server.tags:
            self.send_header("ETag", tag)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        cut = self.server.cuts.pop(0) if self.server.cuts else None
        self.wfile.write(content[start:][:cut])
        self.close_connection = True

    def first_byte(self) -> int:
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        return int(match[1]) if match else 0

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    with Server(folder) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

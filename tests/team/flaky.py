"""A way to the object storage that can be closed for a while: everything is answered with 503."""

from __future__ import annotations

import http.client
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest.mock import patch
from urllib.parse import urlsplit


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    is_down = False
    behind = ""
    refused = 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.server.is_down:
            self.server.refused += 1
            self.send_response(503)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        behind = http.client.HTTPConnection(self.server.behind, timeout=60)
        behind.request(self.command, self.path, body, dict(self.headers))
        answer = behind.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        size = answer.getheader("content-length") if self.command == "HEAD" else str(len(content))
        self.send_header("content-length", size or "0")
        self.end_headers()
        self.wfile.write(content)
        behind.close()

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _pass_on

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def way_to(endpoint: str) -> Iterator[_Server]:
    """Give a server in front of another one; `is_down` closes it."""
    made = _Server(("127.0.0.1", 0), _Handler)
    made.behind = urlsplit(endpoint).netloc
    threading.Thread(target=made.serve_forever, daemon=True).start()
    with patch.dict(os.environ, {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{made.server_port}"}):
        yield made
    made.shutdown()
    made.server_close()

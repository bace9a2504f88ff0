"""A real server on a real home, and a real Chromium in front of it.

`Served` runs the web app in a thread of the test process, so that a test can look at the same shop
the page talks to. One server and one browser serve a whole test module; every test gets its own
browser context, which is its own person.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from backshop.app import Backshop, Links
from backshop.base.ambient import Clock
from backshop.web import Door, Login, application

SECRET = "s" * 40  # servers of one home share it
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # the network cable is out (S2.5)
]
WAIT_MS = 45_000  # a bound for a busy machine; what is waited for comes in milliseconds


class Served:
    """One web app: its shop, its address, and ways in."""

    def __init__(self, shop: Backshop, door: Door, login: Login) -> None:
        self.shop = shop
        self.door = door
        self.login = login
        self.address = f"http://127.0.0.1:{door.port}"

    def link(self) -> str:
        """Return a fresh one-time login link."""
        return f"{self.address}/login?token={self.login.new_link()}"

    def client(self, *, logged_in: bool = True) -> httpx2.Client:
        """Return a client without a browser's scruples: it can send any header."""
        cookies = {}
        if logged_in:
            with httpx2.Client(timeout=60) as entering:
                cookies = dict(entering.get(self.link()).cookies)
        return httpx2.Client(base_url=self.address, timeout=60, cookies=cookies)

    def bench(self, name: str = "Reports", files: dict[str, str | bytes] | None = None) -> str:
        """Make a bench with files."""
        bench_id: str = self.shop.call("WorkbenchCreate", {"name": name})["workbench_id"]
        if files:
            folder = Path(os.environ["HOME"]) / f"originals-{bench_id}"
            for path, content in files.items():
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                data = content if isinstance(content, bytes) else content.encode()
                target.write_bytes(data)
            request = {
                "workbench_id": bench_id,
                "source_paths": [str(one) for one in sorted(folder.iterdir())],
                "recursive": True,
            }
            self.shop.call("WorkbenchFilesAdd", request)
        return bench_id

    def paths(self, bench_id: str) -> set[str]:
        """Return the paths of the active view."""
        listed = self.call("WorkbenchFilesList", workbench_id=bench_id)["files"]
        return {one["path"] for one in listed if one.get("draft_status") != "DELETED"}

    def call(self, name: str, /, **request: Any) -> Any:
        """Run a command beside the page, as another program would."""
        return self.shop.call(name, request)


@contextmanager
def serving(
    home: Path,
    *,
    host: str = "127.0.0.1",
    clock: Clock | None = None,
    settings: dict[str, Any] | None = None,
) -> Iterator[Served]:
    """Serve a home on a free port until the block ends."""
    with (
        Backshop.open(home, clock=clock, settings=settings, door="web") as shop,
        socket.create_server(("127.0.0.1", 0)) as listening,
    ):
        door = Door(host=host, port=listening.getsockname()[1])
        login = Login(SECRET, shop.clock, Links(shop.store, SECRET, shop.clock))
        config = uvicorn.Config(
            application(shop, door, login), log_level="warning", ws="none", log_config=None
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield Served(shop, door, login)
        finally:
            shop.hub.close()  # ends the streams, so that nothing is waited for
            server.should_exit = True
            thread.join(10)

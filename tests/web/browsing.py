"""A real server on a real home, and a real Chromium in front of it.

`Served` runs the web app in a thread of the test process, so that a test can look at the same shop
the page talks to. One server serves a whole test module, one browser all tests of a process. A page
is given back by its test and taken by the next one, with nothing left of what was: `Pages`.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from tests.conftest import PROOF, REQUIRED

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
# A LibreOffice on the machine draws pages after each turn (U8.8): only where tests are about it.
OFFICE = {} if PROOF or "libreoffice" in REQUIRED else {"formats.renderer_path": "/no/libreoffice"}
WAIT_MS = 45_000  # a bound for a busy machine; what is waited for comes in milliseconds
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # reading authorities nobody asks takes long
EXPECTED = re.compile("status of (4|503)|net::ERR_")  # what a test asks for: a refusal, no network
VIEW = {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"}
LASTING = ("on", "once", "add_init_script", "expose_function", "expose_binding")


class Opened:
    """A page, and what its scripts and its console complained of."""

    def __init__(self, browser: Any, options: dict[str, Any], *, is_shared: bool) -> None:
        self.is_shared = is_shared
        self.problems: list[str] = []
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(WAIT_MS)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        self.page.on("console", self._read)
        for part in (self.page, self.context) if is_shared else ():
            for name in LASTING:
                setattr(part, name, _refuse)

    def _read(self, message: Any) -> None:
        if message.type == "error" and not EXPECTED.search(message.text):
            self.problems.append(f"console: {message.text} at {message.location}")

    def _forget(self) -> None:
        """Clear what the page keeps; one that is on its way to another place is there first."""
        from playwright.sync_api import Error

        script = "() => { localStorage.clear(); sessionStorage.clear(); }"
        try:
            self.page.evaluate(script)
        except Error:
            self.page.wait_for_load_state()
            self.page.evaluate(script)

    def clear(self) -> None:
        """Leave nothing of what a test did: no page, cookie, storage, route or other tab."""
        for other in self.context.pages:
            if other is not self.page:
                other.close()
        self.page.unroute_all(behavior="ignoreErrors")
        self.context.set_offline(False)
        if self.page.url.startswith("http"):
            self._forget()
        self.page.goto("about:blank")
        self.context.clear_cookies()


def _refuse(*_: Any, **__: Any) -> None:
    raise AssertionError("this lasts longer than the test: take a page with own=True")


class Pages:
    """Pages for tests, which cost more than what most tests do with them."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._idle: list[Opened] = []

    def take(self, options: dict[str, Any], *, own: bool) -> Opened:
        """Return a page that shows nothing; with a context of its own where options need one."""
        wanted = {**VIEW, **options}
        if own or set(options) - set(VIEW):
            return Opened(self._browser, wanted, is_shared=False)
        found = self._idle.pop() if self._idle else Opened(self._browser, wanted, is_shared=True)
        found.page.set_viewport_size(wanted["viewport"])
        found.page.emulate_media(color_scheme=wanted["color_scheme"])
        return found

    def give_back(self, opened: Opened) -> None:
        """Keep it for another test, if it can be."""
        if opened.is_shared and not opened.page.is_closed():
            opened.clear()
            self._idle.append(opened)
        else:
            opened.context.close()


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

    def cookies(self) -> dict[str, str]:
        """Return what a browser has after it went through a fresh link."""
        made = self.login.exchange(self.login.new_link())
        assert made is not None
        return {self.door.cookie: made}

    def client(self, *, logged_in: bool = True) -> httpx2.Client:
        """Return a client without a browser's scruples: it can send any header."""
        cookies = self.cookies() if logged_in else {}
        return httpx2.Client(base_url=self.address, timeout=60, cookies=cookies, verify=PLAIN)

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
    own = {**OFFICE, **(settings or {})}
    with (
        Backshop.open(home, clock=clock, settings=own, door="web") as shop,
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

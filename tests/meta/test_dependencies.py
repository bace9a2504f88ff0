"""Which room needs which packages, as docs/spec/dependencies.md says and pyproject.toml asks."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "backshop"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Asked for by another package of the table, in a version that it chooses.
BROUGHT = {"httpcore2": "httpx2", "mcp-types": "mcp", "markupsafe": "jinja2"} | {
    "pydantic-core": "pydantic"
}
# Used without being imported here: by its module's name, and by Starlette to read forms.
UNSEEN = {("store", "pysqlite3"), ("web", "python-multipart")}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def table() -> dict[tuple[str, str], str]:
    """Return the extra of each room and package; empty for the base install."""
    text = (ROOT / "docs/spec/dependencies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (.+?) \|(.*)\|$", text.partition("## 3.")[2], re.MULTILINE)
    return {
        (room, plain(Requirement(name).name)): extra.strip().strip("`")
        for room, names, extra in rows
        if room != "room"
        for name in re.findall("`(.+?)`", names)
    }


def imported() -> set[tuple[str, str]]:
    known = {name: {plain(one) for one in of} for name, of in packages_distributions().items()}
    return {
        (path.relative_to(SOURCE).parts[0], package)
        for path in SOURCE.rglob("*.py")
        for name in _outside(ast.parse(path.read_text(encoding="utf-8")))
        if (package := _package(name, known[name])) not in BROUGHT
    }


def _package(name: str, candidates: set[str]) -> str:
    if name == "opentelemetry":  # a name that many packages share
        return "opentelemetry-api"
    (package,) = candidates
    return package


def _outside(module: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    tops = {name.partition(".")[0] for name in names}
    return tops - sys.stdlib_module_names - {"backshop"}


def asked(extra: str) -> set[str]:
    given = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    return {plain(Requirement(one).name) for one in given}


def test_the_table_of_packages_holds_what_each_room_imports():
    assert set(table()) == imported() | UNSEEN


def test_every_package_of_the_table_is_asked_for_where_it_says():
    assert {pair for pair, extra in table().items() if pair[1] not in asked(extra)} == set()


def test_running_asks_for_no_package_that_no_room_needs():
    needed = {package for (_, package), extra in table().items() if not extra}

    assert asked("") == needed


def test_an_sqlite_of_its_own_is_asked_for_only_where_it_comes_ready_made():
    machines = {
        (system, machine)
        for system in ("linux", "darwin", "win32")
        for machine in ("x86_64", "aarch64", "arm64", "AMD64")
        if any(
            one.marker is None
            or one.marker.evaluate({"sys_platform": system, "platform_machine": machine})
            for one in map(Requirement, PROJECT["dependencies"])
            if one.name == "pysqlite3"
        )
    }

    assert machines == {("linux", "x86_64"), ("darwin", "arm64")}

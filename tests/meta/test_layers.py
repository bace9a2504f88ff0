"""The import contracts name every module they should, and sizes only shrink."""

from __future__ import annotations

import ast
import configparser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "backshop"
ROOMS = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())

# Where a library may be imported; every other room stands in the contract's list.
LIBRARY_ROOMS = {
    "lib-databases": {"store"},
    "lib-pydantic": {"base"},
    "lib-httpx2": {"models"},
    "lib-click": {"cli"},
    "lib-starlette": {"web", "mcp"},
    "lib-mcp": {"mcp"},
    "lib-office": {"formats"},
    "lib-providers": {"models"},
    "lib-pages": {"web"},
    "lib-telemetry": {"base"},
}
# Modules of pure rules, marked ◆ in docs/spec/architecture.md.
PURE = {
    "base": {"canon", "paths", "tree"},
    "bench": {"events", "state", "decide", "clutter"},
    "rails": {
        *("definition", "compile", "tokens", "events", "state", "graph", "health", "conditions"),
        *("interpret", "preferences", "capabilities", "contracts", "reasons", "decide", "recap"),
        *("respond", "resume", "bundle", "fold", "lineage"),
    },
    "workshop": {"events", "state", "decide", "plan", "phases"},
    "models": {"messages", "strict", "calls", "profile", "loopguard", "consent"},
    "prompts": {"model", "render", "digest", "builder"},
}
# Longer than we like, each by name with its size. The list may only shrink.
LONG_FUNCTIONS: dict[str, int] = {}
FUNCTION_MAX_LINES = 60


def contracts() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    return parser


def listed(contract: str, option: str) -> set[str]:
    return set(contracts()[f"importlinter:contract:{contract}"][option].split())


def exists(room: str, module: str) -> bool:
    return (SOURCE / room / f"{module}.py").exists() or (SOURCE / room / module).is_dir()


def test_every_pure_module_stands_in_the_rules_contract():
    wanted = {
        f"backshop.{room}.{module}"
        for room, modules in PURE.items()
        for module in modules
        if exists(room, module)
    }

    assert wanted <= listed("rules", "source_modules")


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in {"base", "cli", "testing"}])
def test_every_room_has_a_door_contract(room):
    section = f"importlinter:contract:door-{room}"

    assert section in contracts(), f"{room} needs a [{section}]"
    assert f"backshop.{room}" in contracts()[section]["allowed_importers"].split()


@pytest.mark.parametrize("contract", LIBRARY_ROOMS)
def test_every_other_room_is_kept_from_a_library(contract):
    rooms = {entry.split(".")[1] for entry in listed(contract, "source_modules")}

    assert set(ROOMS) - LIBRARY_ROOMS[contract] - {"testing"} <= rooms


def _sizes() -> dict[str, int]:
    functions = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = str(path.relative_to(SOURCE))
        if name.startswith("testing/conformance/"):
            continue  # suites are tests
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions[f"{name}:{node.name}"] = (node.end_lineno or 0) - node.lineno + 1
    return functions


def test_functions_stay_small():
    wordy = {name: size for name, size in _sizes().items() if size > FUNCTION_MAX_LINES}

    assert {n: s for n, s in wordy.items() if s > LONG_FUNCTIONS.get(n, FUNCTION_MAX_LINES)} == {}
    assert LONG_FUNCTIONS.keys() <= wordy.keys(), "some function has shrunk: take it off the list"

"""The import contracts name every module they should, and sizes only shrink."""

from __future__ import annotations

import ast
import configparser
from collections.abc import Iterable, Iterator
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
PARAMETERS_MAX = 10
# What people write down in one call; what a section can be told is listed there (P1).
AUTHORED = {"Section", "MarkdownSection", "WorkspaceDigest"}
# The rooms that put others together; the objects they may still change after making them.
UPPER_ROOMS = ("app", "cli", "mcp", "web")
MAY_BE_SET = {
    "app.state.site",  # where Starlette keeps what an application is made of
    "door(ctx).as_json",  # options that click reads one by one
    "door(ctx).home",
    "logger.propagate",
    "permits.left",  # a count of the module's own
    "record.exc_text",
    "thread.daemon",
}


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


def _parsed(rooms: Iterable[str]) -> Iterator[tuple[str, ast.Module]]:
    for room in rooms:
        for path in sorted((SOURCE / room).rglob("*.py")):
            name = str(path.relative_to(SOURCE))
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def test_constructors_take_few_parameters():
    wide = {}
    for name, module in _parsed(ROOMS):
        for made in (node for node in ast.walk(module) if isinstance(node, ast.ClassDef)):
            for node in made.body:
                if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                    if len(given) - 1 > PARAMETERS_MAX and made.name not in AUTHORED:
                        wide[f"{name}:{made.name}"] = len(given) - 1

    assert wide == {}


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    found: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        found = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        found = [node.target]
    for one in found:
        yield from one.elts if isinstance(one, ast.Tuple | ast.List) else (one,)


def test_nothing_is_set_from_above_after_construction():
    late = set()
    for name, module in _parsed(UPPER_ROOMS):
        for node in ast.walk(module):
            for target in _targets(node):
                is_own = isinstance(target, ast.Attribute) and (
                    isinstance(target.value, ast.Name) and target.value.id in ("self", "cls")
                )
                if isinstance(target, ast.Attribute) and not is_own:
                    late.add((name, ast.unparse(target)))

    assert {(name, one) for name, one in late if one not in MAY_BE_SET} == set()
    assert {one for _, one in late} == MAY_BE_SET, "take off the list what nobody sets any more"


def test_no_facade_is_copied_for_somebody():
    copied = [
        f"{name}:{node.lineno}"
        for name, module in _parsed(ROOMS)
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and ast.unparse(node) == "copy.copy(self)"
    ]

    assert copied == []

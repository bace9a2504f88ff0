"""The import contracts name every module they should, and sizes only shrink."""

from __future__ import annotations

import ast
import configparser
import importlib
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
    "lib-systems": set(),
}
# What of `os` only some systems have, or do each in its own way: `base.system` alone uses it.
OF_SYSTEMS = {
    *("O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "O_NONBLOCK", "O_PATH", "O_TMPFILE"),
    *("fsync", "fdatasync", "sync", "link", "copy_file_range", "sendfile", "mkfifo", "mknod"),
    *("fork", "forkpty", "kill", "killpg", "waitpid", "setsid", "setpgid", "getpgid", "nice"),
    *("getuid", "geteuid", "getgid", "getegid", "setuid", "setgid", "chown", "fchown", "lchown"),
    *("fchmod", "umask", "uname", "getxattr", "setxattr", "statvfs", "posix_fadvise", "openpty"),
}
FOLDER_HANDLES = {"dir_fd", "src_dir_fd", "dst_dir_fd"}
# Words for other programs, and the guard's own list of what harms nobody: nothing is opened here.
NAMES_PROC = {"prompts/workspace/bubble.py", "formats/worker/process.py"}
# Packages and modules of pure rules: the contract has to name at least these.
PURE = {
    *("base.canon", "base.paths", "base.tree"),
    *("bench.events", "bench.state", "bench.fold", "bench.decide", "bench.context.clutter"),
    *("rails.compile", "rails.definition", "rails.packs", "rails.session.events"),
    *("rails.session.state", "rails.session.fold", "rails.session.lineage", "rails.token.token"),
    *("rails.run.interpret", "rails.run.preference", "rails.run.capability", "rails.run.contract"),
    *("rails.run.reason", "rails.run.start", "rails.run.advance", "rails.run.recap"),
    *("rails.run.answer", "rails.run.graph", "rails.resume.ranking", "rails.bundle.document"),
    *("workshop.conversation.events", "workshop.conversation.state"),
    *("workshop.conversation.decide", "workshop.turn.plan", "workshop.tool.phase"),
    *("models.messages", "models.catalog.strict_schema", "models.loop.tool_call"),
    *("models.catalog.profile", "models.loop.repetition", "models.ledger.consent"),
    *("prompts.definition.prompt", "prompts.definition.render", "prompts.digest"),
}
MODULES_IN_A_FOLDER = 25
# Modules a door gives out as they are.
ALSO_MODULES: dict[str, set[str]] = {"cli": {"main"}}
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
    "door(ctx).bench",
    "door(ctx).home",
    "door(ctx).project_left_out",
    "logger.propagate",
    "made.compress_type",  # which zipfile takes in no other way
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


def pure() -> set[str]:
    """Return what the contract keeps from I/O, with the modules of the packages it names."""
    named = listed("rules", "source_modules")
    inside = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        for name in named
        for path in (SOURCE.parent / name.replace(".", "/")).rglob("*.py")
    }
    return named | inside


def test_every_pure_module_stands_in_the_rules_contract():
    known = pure()
    missing = {
        module
        for module in PURE
        if f"backshop.{module}" not in known
        and not all(
            ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) in known
            for path in (SOURCE / module.replace(".", "/")).glob("[!_]*.py")
        )
    }

    assert {module for module in PURE if not is_there(module)} == set()
    assert missing == set()


def is_there(module: str) -> bool:
    path = SOURCE / module.replace(".", "/")
    return path.with_suffix(".py").exists() or path.is_dir()


def test_no_folder_has_more_modules_than_a_person_takes_in_at_once():
    counts = {
        str(folder.relative_to(SOURCE)): len(list(folder.glob("*.py")))
        for folder in (SOURCE, *SOURCE.rglob("*"))
        if folder.is_dir()
    }

    assert {name for name, count in counts.items() if count > MODULES_IN_A_FOLDER} == set()


def test_no_door_gives_out_a_name_that_a_module_of_its_room_has():
    """A module that is imported would take the place of what the door gives out."""
    for room in ROOMS:
        door = importlib.import_module(f"backshop.{room}")
        folder = SOURCE / room
        inside = {path.stem for path in folder.glob("*.py")} | {
            path.name for path in folder.iterdir() if path.is_dir()
        }
        assert inside & set(getattr(door, "__all__", ())) <= ALSO_MODULES.get(room, set()), room


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in {"base", "cli", "testing"}])
def test_every_room_has_a_door_contract(room):
    section = f"importlinter:contract:door-{room}"

    assert section in contracts(), f"{room} needs a [{section}]"
    assert f"backshop.{room}" in contracts()[section]["allowed_importers"].split()


@pytest.mark.parametrize("contract", LIBRARY_ROOMS)
def test_every_other_room_is_kept_from_a_library(contract):
    rooms = {entry.split(".")[1] for entry in listed(contract, "source_modules")}

    assert set(ROOMS) - LIBRARY_ROOMS[contract] - {"testing"} <= rooms


def test_what_only_some_systems_have_is_used_in_the_system_package_alone():
    found = {
        name: sorted(used)
        for path in SOURCE.rglob("*.py")
        if not (name := path.relative_to(SOURCE).as_posix()).startswith("base/system/")
        and (used := set(_of_one_system(name, ast.parse(path.read_text(encoding="utf-8")))))
    }

    assert found == {}


def _of_one_system(name: str, module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr=attr) if attr in OF_SYSTEMS:
                yield f"os.{attr}"
            case ast.Attribute(value=ast.Name(id="sys"), attr="platform"):
                yield "sys.platform"
            case ast.Attribute(value=ast.Name(id="os"), attr="name"):
                yield "os.name"
            case ast.ImportFrom(module="os"):
                yield "from os import"
            case ast.keyword(arg=str(arg)) if arg in FOLDER_HANDLES:
                yield arg
            case ast.Constant(value=str(text)) if text.startswith("/proc"):
                if name not in NAMES_PROC:
                    yield text


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

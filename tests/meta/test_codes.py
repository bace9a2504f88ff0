"""The closed set of error codes: what the rules list, what the program raises, what tests prove."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import backshop
from backshop.app import Backshop
from backshop.base.errors import CODES, BackshopError, RetryKind

ROOT = Path(__file__).resolve().parents[2]
RULES = (ROOT / "docs" / "spec" / "models.md").read_text(encoding="utf-8")
RETRY = {"no": RetryKind.NO, "immediate": RetryKind.NOW, "after_ms": RetryKind.LATER}
RAILS = (ROOT / "docs" / "spec" / "rails.md").read_text(encoding="utf-8")


def listed() -> dict[str, tuple[RetryKind, set[str], int]]:
    """Return the table of M11.5 without what was withdrawn."""
    rows = {}
    for line in RULES.partition("- M11.5")[2].partition("- M11.6")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[4].isdigit():
            retry = RETRY[cells[2].split()[0]]
            actions = {word for word in re.split(r", | or ", cells[3]) if word != "–"}
            rows[cells[0].split()[0]] = (retry, actions, int(cells[4]))
    return rows


def closed(rule: str) -> set[str]:
    """Return the words a rule lists after its element sign."""
    line = next(line for line in RULES.splitlines() if line.startswith(f"- {rule} "))
    words: set[str] = set(line.partition("∈")[2].replace("`", " ").split(".")[0].split())
    return words


def phases() -> tuple[set[str], set[str]]:
    """Return the phases and subphases of M11.2."""
    line = next(line for line in RULES.splitlines() if line.startswith("- M11.2 "))
    first, second = re.findall(r"∈ `([^`]*)`", line)
    return set(first.split()), set(second.split())


def every_error() -> Iterator[type[BackshopError]]:
    """Load the whole program and yield its errors."""
    for module in pkgutil.walk_packages(backshop.__path__, "backshop."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    waiting = [BackshopError]
    while waiting:
        found = waiting.pop()
        waiting += found.__subclasses__()
        if found.__module__.startswith("backshop."):
            yield found


@pytest.mark.rule("M11.5")
def test_the_program_knows_the_codes_of_the_rules_and_what_they_mean():
    known = {name: (one.retry, set(one.actions), one.http) for name, one in CODES.items()}

    assert known == listed()
    assert set().union(*(set(one.actions) for one in CODES.values())) <= closed("M11.3")


@pytest.mark.rule("M11.3", "M11.4", "M19.48")
def test_no_error_of_the_program_has_another_code_or_action():
    of_rails = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", RAILS))
    actions = closed("M11.3")

    for error in every_error():
        allowed = of_rails if error.__module__.startswith("backshop.rails") else set()
        assert error.code in CODES or error.code in allowed, error
        assert set(error.actions or ()) <= actions, error


def stated() -> dict[str, str]:
    """Return the reasons of M11.8 that have one code wherever they are raised."""
    text = RULES.partition("- M11.8 ")[2].partition("- M11.9")[0]
    found: dict[str, str] = {}
    for clause in text.partition(":")[2].replace("\n", " ").split(";"):
        words, arrow, code = clause.partition("→")
        if arrow and " of " not in words and " as " not in words:
            found |= dict.fromkeys(re.findall(r"`([a-z_]+)`", words), code.split()[0].strip("."))
    return found


def said(module: str, path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield reason, code and place of everything in a module that states both."""
    names = vars(importlib.import_module(module))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        given = {one.arg: getattr(one.value, "value", None) for one in node.keywords}
        made = names.get(node.func.id)
        code = given.get("code")
        if isinstance(made, type) and issubclass(made, BackshopError):
            code = made.code
        reason = given.get("reason")
        if isinstance(reason, str) and isinstance(code, str):
            yield reason, code, f"{module}:{node.lineno}"


@pytest.mark.rule("M11.8")
def test_a_reason_with_a_code_of_its_own_has_it_wherever_it_is_raised():
    own, seen, wrong = stated(), set(), []
    root = ROOT / "src"
    for path in sorted((root / "backshop").rglob("*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        if module.endswith("__main__"):
            continue
        for reason, code, place in said(module, path):
            seen.add(reason)
            if own.get(reason, code) != code:
                wrong.append((reason, code, place))

    assert len(own) >= 16
    assert wrong == []
    assert own.keys() - seen <= {"repeated_call", "turn_limit", "tool_errors_exhausted"} | {
        "prompt_budget"
    }, "the tests of models and prompts raise these"


@pytest.mark.rule("M19.48")
def test_every_code_is_raised_by_the_program_and_asked_for_by_a_test():
    source = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "src" / "backshop").rglob("*.py")
        if path.parts[-2:] != ("base", "errors.py")
    )
    tests = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "tests").rglob("test_*.py")
        if path.parent.name != "meta"
    )
    raised = {error.code for error in every_error()} | set(re.findall(r'"([A-Z_]+)"', source))

    assert [code for code in CODES if code not in raised] == []
    assert [code for code in CODES if f'"{code}"' not in tests] == []


@pytest.mark.rule("M11.2", "W19.1")
def test_every_command_fails_in_a_phase_of_the_rules(tmp_path):
    known, below = phases()

    with Backshop.open(tmp_path / "home") as shop:
        used = {bound.command.phase for bound in shop.commands}
        talking = {
            bound.command.phase
            for bound in shop.commands
            if bound.command.name.startswith("Workshop")
        }
    named = {
        word
        for path in (ROOT / "src" / "backshop").rglob("*.py")
        for word in re.findall(r'subphase="([a-z_]+)"', path.read_text(encoding="utf-8"))
    }

    assert used - {"rails"} <= known  # rails have codes and forms of their own (R7.3)
    assert named <= below
    assert talking == {"workshop"}


@pytest.mark.rule("W19.3")
def test_a_conversation_fails_for_the_reasons_of_its_rules():
    rules = (ROOT / "docs" / "spec" / "workshop.md").read_text(encoding="utf-8")
    line = next(line for line in rules.splitlines() if line.startswith("- W19.3 "))
    closed_set = set(re.findall(r"`([a-z_]+)`", line))
    room = ROOT / "src" / "backshop" / "workshop"
    elsewhere = {room / "context_processing.py", *(room / "digest").iterdir()}  # B14, P4
    of_files = {"disk_full", "missing_blob", "not_found"}  # of the bench (B3.10, B8.18, M11.8)
    raised = {
        word
        for path in room.rglob("*.py")
        if path not in elsewhere
        for word in re.findall(r'reason="([a-z_]+)"', path.read_text(encoding="utf-8"))
    }
    known = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "src" / "backshop").rglob("*.py")
    )

    assert raised - of_files <= closed_set
    assert [word for word in closed_set if f'"{word}"' not in known] == []

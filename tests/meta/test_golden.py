"""Every stored event of every release stays readable; a changed one needs a version (T5.2)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tools.golden import line_of, problems, updated

from backshop.base import event as registry
from backshop.base.event import EventType, event

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.rule("T5.2", "R4.19")
def test_every_stored_event_is_in_the_golden_file_and_still_reads():
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "golden.py"), "--check"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
    )

    assert done.returncode == 0, done.stdout + done.stderr


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    grams: int
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedInKilos:
    kilos: float
    by: str | None = None


@pytest.fixture
def stored_as(monkeypatch: pytest.MonkeyPatch) -> Callable[..., EventType]:
    """Register a class as `golden.weighed`, in place of whatever stood there."""

    def register(cls: type, **options: Any) -> EventType:
        names = {n: k for n, k in registry._BY_NAME.items() if n != "golden.weighed"}
        monkeypatch.setattr(registry, "_BY_NAME", names)
        event("golden.weighed", **options)(cls)
        return names["golden.weighed"]

    return register


@pytest.mark.rule("T5.2")
def test_a_new_event_is_added_by_the_command(stored_as):
    kind = stored_as(Weighed)

    assert [text.split(":")[0] for text in problems([], [kind])] == ["not in the golden file yet"]
    assert list(problems(updated([], [kind]), [kind])) == []


@pytest.mark.rule("T5.2")
def test_an_event_nobody_has_stored_yet_may_change(stored_as):
    before = [line_of(stored_as(Weighed))]
    after = stored_as(WeighedInKilos)

    assert "never released" in next(problems(before, [after]))
    assert updated(before, [after]) == [line_of(after)]


@pytest.mark.rule("T5.2")
def test_a_released_event_changes_with_a_version_and_an_upgrader_only(stored_as):
    released = [replace(line_of(stored_as(Weighed)), release="0.1.0")]
    careless = stored_as(WeighedInKilos)

    assert "v=2 with an upgrader from 1" in next(problems(released, [careless]))
    assert updated(released, [careless]) == released  # the command does not paper over it

    step = {1: lambda data: {"kilos": data.pop("grams") / 1000, **data}}
    careful = stored_as(WeighedInKilos, v=2, upgraders=step)
    lines = updated(released, [careful])

    assert [line.key for line in lines] == [("golden.weighed", 1), ("golden.weighed", 2)]
    assert list(problems(lines, [careful])) == []


@pytest.mark.rule("T5.2")
def test_an_upgrader_that_does_not_fit_is_noticed(stored_as):
    released = [replace(line_of(stored_as(Weighed)), release="0.1.0")]
    wrong = stored_as(WeighedInKilos, v=2, upgraders={1: lambda data: data})

    said = list(problems(updated(released, [wrong]), [wrong]))

    assert len(said) == 1
    assert said[0].startswith("golden.weighed v1 as it was stored cannot be read any more")

"""Long work shows how far it has come, on a terminal, and leaves no trace of it."""

from __future__ import annotations

import io
import sys

import click
import pytest

from backshop.base.progress import report, watched
from backshop.cli.progress import Bar


@pytest.mark.rule("S4.1")
def test_a_bar_is_drawn_for_long_work_and_taken_away(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("backshop.cli.progress.time.monotonic", lambda: now[0])
    out = io.StringIO()
    bar = Bar(out)

    with watched(bar):
        report("files", 1, 4)
        assert out.getvalue() == ""  # it may be over in a moment
        now[0] = 1.0
        report("files", 2, 4)
        now[0] = 1.05
        report("files", 3, 4)  # not more than the eye can see
    bar.clear()
    report("files", 4, 4)

    assert out.getvalue() == f"\r\x1b[2K[{'#' * 15}{'-' * 15}]  50% files 2/4\r\x1b[2K"


@pytest.mark.rule("S4.1", "S4.10")
def test_a_bar_gives_way_to_whatever_else_is_written(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("backshop.cli.progress.time.monotonic", lambda: now[0])
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    bar = Bar()

    with bar.giving_way(), watched(bar):
        now[0] = 1.0
        report("files placed", 1, 1)
        click.echo("Analyzing")
        click.echo("and more")
        now[0] = 2.0
        report("rolling_back", 0, 0)
        click.echo("note", err=True)
        report("files read", 7, 0)

    gone = "\r\x1b[2K"
    assert sys.stdout is sys.stderr is screen
    assert [line.rpartition(gone)[2] for line in screen.getvalue().split("\n")] == [
        "Analyzing",
        "and more",
        "note",
        "",
    ]
    assert screen.getvalue().count("[#") == 1
    assert f"{gone}rolling back…{gone}" in screen.getvalue()  # a phase has no share (S4.10)
    assert f"{gone}files read 7…" in screen.getvalue()


@pytest.mark.rule("S4.1")
def test_short_work_draws_nothing():
    out = io.StringIO()
    bar = Bar(out)

    with watched(bar):
        for number in range(100):
            report("files", number, 100)
    bar.clear()

    assert out.getvalue() == ""

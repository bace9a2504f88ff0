"""Somebody who shares a home makes things; children of the crash harness tell it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from backshop.app import Backshop
from backshop.base.ids import UserId

Say = Callable[[str], None]


def start(folder: Path) -> None:
    """Make the home, with a person and a session to import."""
    with Backshop.open(folder / "home") as shop:
        ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
        made = shop.call("start_session", {"title": "Notes"})["session"]["sessionId"]
        bundle = shop.call("RailsSessionExport", {"sessionId": made, "format": "bundle"})["text"]
        shop.call("RailsSessionDelete", {"sessionId": made, "confirm": made})
    (folder / "ada").write_text(ada, encoding="utf-8")
    (folder / "bundle.json").write_text(bundle, encoding="utf-8")


def warm(folder: Path) -> None:
    """Tell it once, so that everything it loads on first use is loaded."""
    start(folder)
    make(folder, lambda _: None)


def make(folder: Path, say: Say) -> None:
    """Make a bench, fork it, begin a run, begin a session, bring one in."""
    ada = UserId((folder / "ada").read_text(encoding="utf-8"))
    bundle = (folder / "bundle.json").read_text(encoding="utf-8")
    with Backshop.open(folder / "home") as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Mine"}, user=ada)["workbench_id"]
        say(bench)
        fork = {"workbench_id": bench, "name": "Another"}
        say(shop.call("WorkbenchFork", fork, user=ada)["workbench_id"])
        run = shop.call("start_workflow", {"workflowId": "wr.change_review"}, user=ada)
        say(run["session"]["sessionId"])
        say(shop.call("start_session", {}, user=ada)["session"]["sessionId"])
        say(shop.call("RailsSessionImport", {"bundle": bundle}, user=ada)["sessionId"])

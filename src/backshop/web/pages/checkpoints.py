"""`/bench/{id}/checkpoints`: what can be brought back, compared, kept (U5.2)."""

from __future__ import annotations

from typing import Any

from . import diffs
from .kit import Page, Visit, attempt, bench_context, route
from .review import any_view

LISTED = 60
COMPARED = 500
NOW = "now"


def checkpoints(visit: Visit) -> Page:
    """Show the timeline; compare two states or preview a restore when asked to."""
    context = bench_context(visit, "checkpoints")
    more = {"cursor": visit.query["cursor"]} if visit.query.get("cursor") else {}
    found = visit.bench("CheckpointsList", limit=LISTED, **more)
    listed = found["checkpoints"]
    for place, one in enumerate(listed):
        one["who"] = visit.who(one.get("by"))
        newer = listed[place - 1]["checkpoint_id"] if place else None
        one["since"] = None if more and not place else _counts(visit, one["checkpoint_id"], newer)
    context |= {
        "checkpoints": listed,
        "next_cursor": found.get("next_cursor"),
        "compared": _compared(visit),
        "restoring": _restoring(visit),
        "done": visit.query.get("done"),
        "now": NOW,
        "a": visit.query.get("a"),
        "b": visit.query.get("b"),
        "more_pages": bool(more),
    }
    return Page(template="checkpoints.html", title="Checkpoints", context=context)


def _counts(visit: Visit, checkpoint_id: str, newer: str | None) -> dict[str, Any] | None:
    """Return what changed from a checkpoint to the next newer one, or to Published."""
    request = {"workbench_id": visit.params["bench_id"], "checkpoint_id": checkpoint_id, "limit": 1}
    answer, _ = attempt(
        visit, "CheckpointCompare", **request, **({"other_id": newer} if newer else {})
    )
    return None if answer is None else answer["counts"]


def _pair(visit: Visit) -> dict[str, str] | None:
    """Return the two states that were chosen: the older one first, Published without a name."""
    a, b = visit.query.get("a"), visit.query.get("b")
    if not a or not b or a == b:
        return None
    if a == NOW:
        a, b = b, a
    pair = {"checkpoint_id": a} if b == NOW else {"checkpoint_id": a, "other_id": b}
    return {"workbench_id": visit.params["bench_id"], **pair}


def _compared(visit: Visit) -> dict[str, Any] | None:
    pair = _pair(visit)
    if pair is None:
        return None
    found, error = attempt(visit, "CheckpointCompare", limit=COMPARED, **pair)
    return {"found": found, "error": error}


def _restoring(visit: Visit) -> dict[str, Any] | None:
    wanted = visit.query.get("restore")
    if not wanted:
        return None
    about = {"workbench_id": visit.params["bench_id"], "checkpoint_id": wanted}
    found, error = attempt(visit, "CheckpointRestore", dry_run=True, **about)
    info, _ = attempt(visit, "CheckpointGet", **about)
    return {"found": found, "error": error, "info": info}


def one_file(visit: Visit) -> Page:
    """Show what differs in one file between two states."""
    context = bench_context(visit, "checkpoints")
    pair = _pair(visit) or {"workbench_id": visit.params["bench_id"], "checkpoint_id": ""}
    path = visit.query.get("file", "")
    more = {"cursor": visit.query["cursor"]} if visit.query.get("cursor") else {}
    found = visit.call("CheckpointGetDiff", path=path, **pair, **more)
    entry = {"file_kind": found["file_kind"], "kind": "COMPARED", "path": path}
    context |= {
        "file_path": path,
        "view": any_view(visit, found, entry),
        "entry": entry,
        "a": visit.query.get("a"),
        "b": visit.query.get("b"),
        "column": diffs.column_name,
    }
    return Page(template="checkpoint_file.html", title=path, context=context)


ROUTES = (
    route("/bench/{bench_id}/checkpoints", checkpoints),
    route("/bench/{bench_id}/checkpoints/file", one_file),
)

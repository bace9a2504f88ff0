"""`/bench/{id}/checkpoints`: what can be brought back, compared, kept (U5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backshop.bench import Bench
from backshop.bench.answers import CheckpointInfo, Counts
from backshop.bench.requests import (
    CheckpointCompare,
    CheckpointGetDiff,
    CheckpointId_,
    CheckpointRestore,
    CheckpointsList,
)

from . import diffs
from .kit import Page, Visit, bench_context, route, tried
from .review import any_view

LISTED = 60
COMPARED = 500
NOW = "now"


@dataclass(frozen=True, slots=True)
class Stop:
    """A checkpoint on the timeline: whose it is, and what changed since."""

    info: CheckpointInfo
    who: str | None
    since: Counts | None


def checkpoints(visit: Visit) -> Page:
    """Show the timeline; compare two states or preview a restore when asked to."""
    context = bench_context(visit, "checkpoints")
    bench_id, more = visit.params["bench_id"], visit.query.get("cursor") or None
    wish = CheckpointsList(workbench_id=bench_id, limit=LISTED, cursor=more)
    found = visit.ask(Bench.checkpoints_list, wish)
    stops: list[Stop] = []
    newer = None
    for one in found.checkpoints:
        since = None if more and not stops else _counts(visit, one.checkpoint_id, newer)
        stops.append(Stop(one, visit.who(one.by), since))
        newer = one.checkpoint_id
    context |= {
        "stops": stops,
        "next_cursor": found.next_cursor,
        "compared": _compared(visit),
        "restoring": _restoring(visit),
        "done": visit.query.get("done"),
        "now": NOW,
        "a": visit.query.get("a"),
        "b": visit.query.get("b"),
        "more_pages": bool(more),
    }
    return Page(template="checkpoints.html", title="Checkpoints", context=context)


def _counts(visit: Visit, checkpoint_id: str, newer: str | None) -> Counts | None:
    """Return what changed from a checkpoint to the next newer one, or to Published."""
    bench_id = visit.params["bench_id"]
    wish = CheckpointCompare(
        workbench_id=bench_id, checkpoint_id=checkpoint_id, other_id=newer, limit=1
    )
    answer, _ = tried(visit, Bench.checkpoint_compare, wish)
    return None if answer is None else answer.counts


def _pair(visit: Visit) -> tuple[str, str | None] | None:
    """Return the two states that were chosen: the older one first, Published without a name."""
    a, b = visit.query.get("a"), visit.query.get("b")
    if not a or not b or a == b:
        return None
    if a == NOW:
        a, b = b, a
    return a, None if b == NOW else b


def _compared(visit: Visit) -> dict[str, Any] | None:
    pair = _pair(visit)
    if pair is None:
        return None
    wish = CheckpointCompare(
        workbench_id=visit.params["bench_id"],
        checkpoint_id=pair[0],
        other_id=pair[1],
        limit=COMPARED,
    )
    found, error = tried(visit, Bench.checkpoint_compare, wish)
    return {"found": found, "error": error}


def _restoring(visit: Visit) -> dict[str, Any] | None:
    wanted = visit.query.get("restore")
    if not wanted:
        return None
    bench_id = visit.params["bench_id"]
    wish = CheckpointRestore(workbench_id=bench_id, checkpoint_id=wanted, dry_run=True)
    found, error = tried(visit, Bench.checkpoint_restore, wish)
    about = CheckpointId_(workbench_id=bench_id, checkpoint_id=wanted)
    info, _ = tried(visit, Bench.checkpoint_get, about)
    return {"found": found, "error": error, "info": info}


def one_file(visit: Visit) -> Page:
    """Show what differs in one file between two states."""
    context = bench_context(visit, "checkpoints")
    checkpoint_id, other_id = _pair(visit) or ("", None)
    path = visit.query.get("file", "")
    wish = CheckpointGetDiff(
        workbench_id=visit.params["bench_id"],
        checkpoint_id=checkpoint_id,
        other_id=other_id,
        path=path,
        cursor=visit.query.get("cursor") or None,
    )
    found = visit.ask(Bench.checkpoint_get_diff, wish)
    context |= {
        "file_path": path,
        "view": any_view(visit, found),
        "a": visit.query.get("a"),
        "b": visit.query.get("b"),
        "column": diffs.column_name,
    }
    return Page(template="checkpoint_file.html", title=path, context=context)


ROUTES = (
    route("/bench/{bench_id}/checkpoints", checkpoints),
    route("/bench/{bench_id}/checkpoints/file", one_file),
)

"""Notes for the audit log about what changed nothing: refusals, failures, odd things found (B17.2).

They are facts of the bench's stream that no state is made of.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from backshop.base.errors import BackshopError
from backshop.base.event import event
from backshop.store import NewEvent, Part, Plan

from ..repository import BenchRepository, stream_of

PATHS_MAX = 50
_log = logging.getLogger(__name__)


@event("bench.noted")
@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Something was refused, failed, or was found out of place; nothing changed by it."""

    kind: str
    """`publish_failed`, `restore_failed`, `tool_refused` or `sandbox_anomaly`."""
    paths: tuple[str, ...] = ()
    error: str | None = None
    reason: str | None = None
    actor: str = "system"


def note(
    desk: BenchRepository,
    bench_id: str,
    kind: str,
    *,
    paths: Sequence[str] = (),
    error: BackshopError | None = None,
    actor: str = "system",
) -> None:
    """Add a note; one that cannot be written is logged, since what it is about has happened."""
    fact = Noted(
        kind=kind,
        paths=tuple(paths[:PATHS_MAX]),
        error=error.code if error else None,
        reason=error.reason if error else None,
        actor=actor,
    )
    part = Part(stream_of(bench_id), (NewEvent(fact, f"{desk.new_tx()}:0"),))
    try:
        desk.store.append(Plan((part,)))
    except BackshopError as failed:
        _log.warning("a note about %s could not be written: %s", kind, failed.code)


@contextmanager
def failing(desk: BenchRepository, bench_id: str, kind: str) -> Iterator[None]:
    """Note a failure of a bench that is there, and let it go on."""
    try:
        yield
    except BackshopError as error:
        if error.code != "NOT_FOUND" and error.reason != "bad_id":
            note(desk, bench_id, kind, error=error, actor="user")
        raise

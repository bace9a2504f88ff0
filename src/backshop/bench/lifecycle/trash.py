"""Benches thrown away: kept for a while, taken back unchanged, and gone for good (B5.5, B5.6)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backshop.base.ambient import timestamp
from backshop.base.errors import NotFound
from backshop.base.event import event
from backshop.base.ids import BenchId, check_id
from backshop.store import NewEvent, Part, Plan, remove_tree

from .. import decide, requests
from ..answers import Done
from ..errors import BenchDamaged
from ..folder import link
from ..repository import BenchRepository
from ..state import BenchState

_log = logging.getLogger(__name__)

HOME = "home"
_DAY_MS = 86_400_000

Sisters = Callable[[str], Iterable[str]]
"""Names the streams beside a bench's own that tell of it and go with it."""


@event("bench.purged")
@dataclass(frozen=True, slots=True, kw_only=True)
class BenchPurged:
    """What is left of a workbench whose time in the trash was over; in the stream `home`."""

    bench_id: BenchId
    name: str
    created_at: str
    deleted_at: str
    actor: str = "system"


def delete(desk: BenchRepository, request: requests.WorkbenchDelete) -> Done:
    """Throw a bench away; it can be taken back (B5.5)."""
    with desk.locked(request.workbench_id, damaged_ok=True) as state:
        desk.commit(request.workbench_id, lambda s: decide.delete(s, request.confirm))
        is_away = _put_away(desk, state.id)
    return Done(warnings=() if is_away else ("view_stale",))


def undelete(desk: BenchRepository, request: requests.BenchRequest, sisters: Sisters) -> Done:
    """Take a bench out of the trash, with what was beside its files."""
    purge(desk, sisters)
    state = desk.raw_state(request.workbench_id)
    decide.undelete(state)
    link.require_unfollowed(desk, state)
    _bring_back(desk, BenchId(request.workbench_id))
    done = desk.commit(request.workbench_id, decide.undelete)
    return Done(warnings=done.warnings)


def purge(desk: BenchRepository, sisters: Sisters) -> list[str]:
    """Remove benches whose time in the trash is over, and what tells of them; a tombstone stays."""
    if desk.store.is_read_only:
        return []
    kept_ms = desk.settings.trash_days * _DAY_MS
    known = [BenchId(head.stream.partition(":")[2]) for head in desk.store.streams("bench")]
    gone: list[str] = []
    for bench_id in known:
        try:
            state = desk.raw_state(bench_id)
        except BenchDamaged:
            continue
        if state.deleted_ms is None or desk.clock.now_ms() - state.deleted_ms <= kept_ms:
            continue
        _bury(desk, bench_id, state, sisters(bench_id))
        gone.append(bench_id)
    _sweep(desk, set(known) - set(gone), told=set(gone))
    return gone


def _bury(
    desk: BenchRepository, bench_id: BenchId, state: BenchState, sisters: Iterable[str]
) -> None:
    """Write the tombstone first, and let the bench's own stream go last.

    Killed here, or where somebody else buries it at the same time, the rest is done all the same.
    """
    assert state.deleted_ms is not None
    fact = BenchPurged(
        bench_id=bench_id,
        name=state.name,
        created_at=timestamp(state.created_ms),
        deleted_at=timestamp(state.deleted_ms),
    )
    desk.store.append(Plan((Part(HOME, (NewEvent(fact, f"purged:{bench_id}"),)),)))
    for stream in (*sisters, f"bench:{bench_id}"):  # contents go with the next collection
        with suppress(NotFound):
            desk.store.delete_stream(stream)


def _sweep(desk: BenchRepository, known: Set[str], told: Set[str]) -> None:
    """Remove the folders of benches that have a tombstone, whoever buried them and whenever.

    Another machine may have buried one, a program may have been killed before it came to the
    folders, and the system may let go of a folder only later.
    """
    orphans = [one for one in _folders(desk.store.home) if one[0] not in known]
    if not orphans:
        return
    buried = {one.fact.bench_id for one in desk.store.read(HOME) if one.kind == "bench.purged"}
    for bench_id, folder in orphans:
        if bench_id not in buried:  # it is being made
            continue
        try:
            remove_tree(folder)
        except FileNotFoundError:  # somebody else was first
            continue
        except OSError as error:
            level = logging.WARNING if bench_id in told else logging.DEBUG
            _log.log(level, "a folder of purged %s stays for now: %s", bench_id, error.strerror)


def _folders(home: Path) -> Iterator[tuple[str, Path]]:
    for room in (home / "benches", home / "trash"):
        with suppress(OSError):  # none yet, or not to be seen: the next list looks again
            for folder in room.iterdir():
                yield folder.name.partition("-")[0], folder


def _put_away(desk: BenchRepository, bench_id: BenchId) -> bool:
    """Move the folder out of sight, if it can be moved; it goes for good with the bench."""
    trash = desk.store.home / "trash" / f"{bench_id}-{desk.clock.now_ms()}"
    folder = desk.views.folder(bench_id)
    try:
        trash.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            folder.rename(trash)
    except OSError:  # the bench is deleted all the same: its log says so
        return False
    return True


def _bring_back(desk: BenchRepository, bench_id: BenchId) -> None:
    """Bring the newest folder back; what cannot be brought back is made again or stays."""
    folder = desk.views.folder(bench_id)
    kept = _kept(desk, bench_id)
    with suppress(OSError):  # somebody left more than a lock there: views are made anew
        (folder / "meta" / "lock").unlink(missing_ok=True)
        for empty in (folder / "meta", folder):
            if empty.exists():
                empty.rmdir()
        if kept:
            kept[-1].rename(folder)


def _kept(desk: BenchRepository, bench_id: BenchId) -> list[Path]:
    return sorted((desk.store.home / "trash").glob(f"{check_id(bench_id, 'wb')}-*"))

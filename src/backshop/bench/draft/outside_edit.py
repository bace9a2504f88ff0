"""Edits that other programs made in a bench's folders: put back, or taken over (B8.10, B9.5)."""

from __future__ import annotations

from backshop.base import paths, tree
from backshop.base.errors import ValidationFailed
from backshop.base.paths import BenchPath

from .. import decide, requests
from ..answers import Repaired
from ..errors import SourceUnreadable
from ..events import PublishedRepaired
from ..files.source import mode_of
from ..files.takeover import kept_before, taken_over
from ..repository import BenchRepository
from ..retry import decided_again
from ..state import BenchState
from ..values import Source
from ..view.folder import Outside
from .batch import Author, Put, write


def rescan(desk: BenchRepository, request: requests.RepairMode) -> Repaired:
    """Take outside edits of the Draft's folder as a batch, or put its own files back (B8.10)."""
    if request.mode not in ("adopt", "revert"):
        raise ValidationFailed("a rescan adopts or reverts", reason="bad_params")
    with desk.locked(request.workbench_id) as state:
        decide.require_draft(state)
        outside = desk.views.outside(state, "draft")
        if not outside:
            return Repaired(published_generation=state.generation)
        if request.mode == "revert":
            salvaged = desk.views.put_back(state, "draft", outside)
            return Repaired(published_generation=state.generation, salvaged=tuple(salvaged))
        puts = adopted(desk, outside)
        if not puts:  # links and pipes only: there is nothing to take over (B4.7)
            desk.views.put_back(state, "draft", outside)
            return Repaired(published_generation=state.generation)
        author = Author(source=Source(kind="system"), actor="user", kind="rescan")
        done = write(desk, request.workbench_id, state, puts, author)
        desk.views.put_back(desk.state(request.workbench_id), "draft", outside)
    return Repaired(published_generation=state.generation, draft_revision_id=done.draft_revision_id)


@decided_again
def repair_published(desk: BenchRepository, request: requests.RepairMode) -> Repaired:
    """Put Published's own files back, or take outside edits as the person's change (B9.5)."""
    if request.mode not in ("restore", "adopt"):
        raise ValidationFailed("a repair restores or adopts", reason="bad_params")
    with desk.locked(request.workbench_id) as state:
        outside = desk.views.outside(state, "published")
        if request.mode == "restore":
            salvaged = desk.views.put_back(state, "published", outside)
            fact = PublishedRepaired(salvaged=tuple(salvaged))
            desk.commit(request.workbench_id, lambda _: [fact])
            return Repaired(published_generation=state.generation, salvaged=tuple(salvaged))
        puts = adopted(desk, outside)
        after = _adopt(desk, state, puts) if puts else state
        if outside:
            desk.views.put_back(after, "published", outside)
    return Repaired(published_generation=after.generation)


def _adopt(desk: BenchRepository, state: BenchState, puts: list[Put]) -> BenchState:
    built, facts, removed = taken_over(desk, state, files_of(state, puts))
    kept = kept_before(desk, state)
    done = desk.commit(
        state.id,
        lambda now: decide.adopt(decide.unmoved(now, state), built.id, facts, removed, kept),
        blobs=tuple(built.nodes.values()),
    )
    return done.state


def files_of(state: BenchState, puts: list[Put]) -> dict[BenchPath, tree.File | None]:
    """Return outside edits as what Published is to hold at their paths."""
    return {
        paths.parse(put.path, max_depth=state.limits.max_depth).path: None
        if put.blob is None
        else tree.File(put.blob, put.size, put.mode or "644")
        for put in puts
    }


def adopted(desk: BenchRepository, outside: list[Outside]) -> list[Put]:
    """Return outside edits as a batch; what is not a regular file stays out of it (B4.7)."""
    strange = [
        one.path
        for one in outside
        if one.actual is not None and (one.actual.is_symlink() or not one.actual.is_file())
    ]
    puts: list[Put] = []
    for one in outside:
        if any(one.path == path or one.path.startswith(f"{path}/") for path in strange):
            continue
        if one.actual is None:
            puts.append(Put(path=one.path, blob=None))
            continue
        try:
            mode = mode_of(one.actual.stat())
            one.actual.open("rb").close()
        except OSError as error:
            raise SourceUnreadable(
                "a file in the folder cannot be read", reason="unreadable", detail=one.path
            ) from error
        blob = desk.store.blobs.put(one.actual)
        size = desk.store.blobs.size(blob)
        puts.append(Put(path=one.path, blob=blob, size=size, mode=mode, is_import=True))
    return puts

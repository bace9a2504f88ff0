"""Applies a stored proposal: one batch, all of it or nothing (W14.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from backshop.base import tree
from backshop.base.canon import parse
from backshop.base.ids import BlobId, TurnId
from backshop.base.paths import bench_path
from backshop.bench import Author, Batched, Bench, Committed, PublishedChanged, Workspace
from backshop.bench.events import BatchApplied
from backshop.bench.state import BenchState
from backshop.formats import Applied, OpsRequest, Source

from .. import evidence
from ..conversation import decide
from ..conversation.events import ProposalClosed
from ..conversation.repository import Conversations
from ..conversation.state import Proposal, WorkshopState
from ..evidence import Noticed
from . import changeset
from .changeset import Changeset

NOTE_MAX_CHARS = 280  # of a change note (W7.7)


def stored(book: Conversations, own: Proposal) -> Changeset:
    """Return the changeset of a proposal."""
    value = parse(book.store.blobs.read(own.proposal_ref))
    assert isinstance(value, dict)
    return changeset.from_json(value)


def apply(
    book: Conversations,
    bench_id: str,
    own: Proposal,
    author: Author,
    *,
    turn_id: TurnId | None = None,
) -> tuple[Batched, Noticed]:
    """Write what a proposal says as one batch, and close the proposal with it.

    The second value says which parts of it came to nothing.

    Raises:
        PublishedChanged: a file it is about is not the one it was made for.
        BackshopError: an operation failed; nothing was changed.
    """
    changes = stored(book, own)

    def commit(
        bench_id: str,
        rule: Callable[[BenchState], Sequence[object]],
        *,
        blobs: Sequence[bytes] = (),
        keep: Sequence[BlobId] = (),
        lease: str | None = None,
    ) -> Committed:
        def both(now: WorkshopState) -> Sequence[object]:
            decide.applicable(now, own.proposal_id, turn_id)
            _require_same(book, now.bench, own, changes)
            facts: list[object] = [*rule(now.bench)]
            batch = next((one for one in facts if isinstance(one, BatchApplied)), None)
            closed = ProposalClosed(
                proposal_id=own.proposal_id,
                status="applied",
                batch_id=None if batch is None else batch.batch_id,
            )
            return [*facts, closed]

        told = book.commit(bench_id, both, blobs=blobs, keep=keep, lease=lease)
        return Committed(told.state.bench, told.warnings)

    _require_same(book, book.state(bench_id).bench, own, changes)
    room = Workspace(book.bench, bench_id, author, commit)
    done, results = room.write_all(
        [
            *(
                (one.path, partial(_text, book.bench, one), _note(one.summary))
                for one in changes.writes
            ),
            *((one.path, partial(_ops, room, one), _note(one.summary)) for one in changes.ops),
        ]
    )
    return done, _noticed(changes, results)


def _noticed(changes: Changeset, results: Sequence[Mapping[str, Any]]) -> Noticed:
    """Return what of a proposal's operations came to nothing."""
    operations: list[tuple[str, object]] = [(one.path, None) for one in changes.writes]
    operations += [(one.path, one.ops) for one in changes.ops]
    seen = [
        evidence.noticed(path, said, ops)
        for (path, ops), said in zip(operations, results, strict=True)
    ]
    return Noticed(
        dropped=tuple(one for part in seen for one in part.dropped),
        not_computed=tuple(one for part in seen for one in part.not_computed),
    )


def _require_same(book: Conversations, now: BenchState, own: Proposal, changes: Changeset) -> None:
    """Refuse when a file is not the one the proposal was made for."""
    current = now.published if now.draft is None else now.draft.tree
    if current == own.basis_tree:
        return
    load = book.store.load_tree
    for raw in changes.paths:
        path = bench_path(raw)
        if tree.lookup(current, path, load) != tree.lookup(own.basis_tree, path, load):
            raise PublishedChanged(
                f"{path} changed since the proposal was made", reason="published_changed"
            )


def _text(bench: Bench, one: changeset.TextWrite, existing: Source | None, out: Path) -> Applied:
    return bench.formats.write_text(existing, one.path, one.content, out)


_CREATING = frozenset({"ensure_sheet", "set_paragraphs", "add_slide"})


def _makes_file(room: Workspace, one: changeset.FileOps) -> bool:
    """Whether a file that is not there is meant: a proposal has no word for making one (W14.3)."""
    if one.ops and one.ops[0].get("op") in _CREATING:
        return True
    ending = PurePosixPath(one.path).suffix.lower()
    return not any(name.lower().endswith(ending) for name in room.near(one.path))


def _ops(room: Workspace, one: changeset.FileOps, existing: Source | None, out: Path) -> Applied:
    bench = room.bench
    operations: list[dict[str, Any]] = [dict(op) for op in one.ops]
    request = OpsRequest(
        name=one.path,
        operations=operations,
        create_if_missing=existing is None and _makes_file(room, one),
        copy_from=None,
        files=room.named(operations),
        recalculate=bench.desk.settings.recalculate,
    )
    return bench.formats.apply_ops(existing, request, out)


def _note(summary: str) -> str | None:
    return summary[:NOTE_MAX_CHARS] or None

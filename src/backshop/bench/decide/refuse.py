"""The refusals every rule shares, and the limits they check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backshop.base.errors import LimitExceeded, NotFound
from backshop.base.ids import (
    BlobId,
    CheckpointId,
)
from backshop.base.paths import BenchPath
from backshop.bench.errors import ConfirmationRequired, DraftExists, Overtaken
from backshop.bench.revision import Draft
from backshop.bench.state import BenchState, Checkpoint

LISTED_PATHS = 20  # paths named in a refusal


def require_exists(state: BenchState) -> None:
    """Refuse when the bench was never made or lies in the trash."""
    if not state.exists:
        raise NotFound("there is no such workbench", reason="not_found")


def unmoved(state: BenchState, planned: BenchState) -> BenchState:
    """Return the state if its trees are those a change was worked out from, else refuse (B3.9)."""
    if _heads(state) != _heads(planned):
        raise Overtaken("the workbench was changed meanwhile")
    return state


def _heads(state: BenchState) -> tuple[object, ...]:
    draft = state.draft
    ours = None if draft is None else (draft.draft_id, draft.tree)
    folder = None if state.folder is None else (state.folder.tree, state.folder.theirs)
    return state.generation, state.published, state.context_tree, ours, folder


def require_no_draft(state: BenchState) -> None:
    """Refuse while a Draft waits for review (B7.6)."""
    require_exists(state)
    if state.draft is not None:
        raise DraftExists("a Draft is waiting for review", reason="draft_exists")


def require_draft(state: BenchState) -> Draft:
    """Return the Draft, or refuse."""
    require_exists(state)
    if state.draft is None:
        raise NotFound("this workbench has no Draft", reason="no_draft")
    return state.draft


def require_checkpoint(state: BenchState, wanted: CheckpointId) -> Checkpoint:
    """Return a live checkpoint, or refuse."""
    found = state.checkpoint(wanted)
    if found is None:
        raise NotFound("there is no such checkpoint", reason="not_found")
    return found


def require_confirmed(confirmed: Mapping[str, BlobId], removed: Mapping[BenchPath, BlobId]) -> None:
    missing = sorted(path for path, sha256 in removed.items() if confirmed.get(path) != sha256)
    if missing:
        raise ConfirmationRequired(
            f"{len(missing)} deletion(s) are not confirmed",
            reason="confirm_deletions",
            detail=", ".join(missing[:LISTED_PATHS]),
        )


def require_room(state: BenchState, after: Totals, adding: int) -> None:
    """Refuse what would make the bench hold more than it may (B6.9)."""
    limits = state.limits
    if after.files > limits.max_files and after.files > len(state.files.records):
        have = after.files - adding
        raise LimitExceeded(
            "the workbench would hold too many files",
            reason="too_large",
            detail=f"max_files have={have} adding={adding} limit={limits.max_files}",
        )
    if after.bytes > limits.max_total_bytes:
        raise LimitExceeded(
            "the workbench would hold too many bytes",
            reason="too_large",
            detail=f"max_total_bytes have={after.bytes} limit={limits.max_total_bytes}",
        )


@dataclass(frozen=True, slots=True)
class Totals:
    """How many files a tree has and how many bytes they are."""

    files: int
    bytes: int

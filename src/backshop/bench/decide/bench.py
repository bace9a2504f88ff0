"""Rules about the workbench itself: made, named, limited, forked, thrown away, its context."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import (
    BenchId,
    MessageId,
    TreeId,
)
from backshop.base.limits import BENCH_PROFILE, TURN_FLOW
from backshop.base.paths import as_seen, is_line
from backshop.base.tree import EMPTY
from backshop.bench import events
from backshop.bench.errors import ConfirmationRequired
from backshop.bench.state import PROFILES, BenchState
from backshop.bench.values import FileFact, Limits

from .refuse import (
    require_exists,
    require_no_draft,
)

NAME_MAX_CHARS = 120
CEILING = Limits(
    max_files=1_000_000,
    max_file_bytes=68_719_476_736,
    max_total_bytes=2**62,
    max_depth=32,
)


def name_of(raw: str, *, default: str | None) -> str:
    """Return a bench name; an empty one becomes the default, or is refused without one."""
    name = unicodedata.normalize("NFC", raw.strip())
    if not is_line(name):
        raise ValidationFailed(
            "a name is one line, without signs that turn the direction of writing",
            reason="bad_name",
        )
    if len(name) > NAME_MAX_CHARS:
        raise ValidationFailed("a name is longer than 120 characters", reason="bad_name")
    if not as_seen(name):
        if default is None:
            raise ValidationFailed("a name is empty", reason="bad_name")
        return default
    return name


def require_limits(limits: Limits) -> None:
    """Refuse limits that are none, or beyond the ceiling (B6.4)."""
    pairs = (
        (limits.max_files, CEILING.max_files),
        (limits.max_file_bytes, CEILING.max_file_bytes),
        (limits.max_total_bytes, CEILING.max_total_bytes),
        (limits.max_depth, CEILING.max_depth),
    )
    if any(not 0 < value <= ceiling for value, ceiling in pairs):
        raise ValidationFailed("a limit is not between 1 and its ceiling", reason="bad_limits")


def create(
    bench_id: BenchId,
    name: str,
    limits: Limits = PROFILES["standard"],
    profile: str = BENCH_PROFILE,
    *,
    tree_id: TreeId = EMPTY,
    files: Sequence[FileFact] = (),
    model_id: str | None = None,
) -> list[events.BenchEvent]:
    """Make a bench (B5.1), empty unless it begins with files (B18.1)."""
    require_limits(limits)
    return [
        events.BenchCreated(
            bench_id=bench_id,
            name=name_of(name, default="Untitled Workbench"),
            limits=limits,
            profile=profile,
            tree=tree_id,
            context_tree=EMPTY,
            files=tuple(files),
            default_model_id=model_id,
            default_flow=TURN_FLOW,
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkWish:
    """What the new bench begins with."""

    bench_id: BenchId
    name: str | None
    mode: str
    tree: TreeId
    context_tree: TreeId
    files: Sequence[FileFact]
    model_id: str | None = None
    message_id: MessageId | None = None
    """Where the conversation that comes along ends."""
    is_cut: bool = False
    """Whether that was asked for, rather than being its end."""


def fork(state: BenchState, wish: ForkWish) -> list[events.BenchEvent]:
    """Make another bench from this one's Published; trees are shared (B5.7)."""
    require_no_draft(state)
    if wish.mode not in ("clone_files_only", "clone_files_and_context_no_chat", "clone_all"):
        raise ValidationFailed("there is no such way to fork", reason="bad_mode")
    created = events.BenchCreated(
        bench_id=wish.bench_id,
        name=name_of(wish.name or "", default=f"{state.name[: NAME_MAX_CHARS - 7]} (fork)"),
        limits=state.limits,
        profile=state.profile,
        tree=wish.tree,
        context_tree=EMPTY if wish.mode == "clone_files_only" else wish.context_tree,
        files=tuple(wish.files),
        parent_bench_id=state.id,
        fork_mode=wish.mode,
        forked_from_message_id=wish.message_id if wish.is_cut else None,
        default_model_id=wish.model_id,
        default_flow=TURN_FLOW,
    )
    return (
        [created]
        if wish.message_id is None
        else [created, events.HeadMoved(message_id=wish.message_id)]
    )


def rename(state: BenchState, name: str) -> list[events.BenchEvent]:
    """Give the bench another name (B5.4)."""
    require_exists(state)
    return [events.BenchRenamed(name=name_of(name, default=None))]


def set_limits(state: BenchState, limits: Limits, profile: str) -> list[events.BenchEvent]:
    """Change limits; files beyond them stay, only growth is blocked (B6.4)."""
    require_exists(state)
    require_limits(limits)
    return [events.LimitsSet(limits=limits, profile=profile)]


def delete(state: BenchState, confirm: str) -> list[events.BenchEvent]:
    """Throw the bench away (B5.5)."""
    require_no_draft(state)
    if confirm != state.bench_id:
        raise ConfirmationRequired(
            "deleting needs the workbench's id as confirmation", reason="confirm_delete"
        )
    return [events.BenchDeleted()]


def undelete(state: BenchState) -> list[events.BenchEvent]:
    """Take the bench out of the trash (B5.6)."""
    if state.bench_id is None or state.deleted_ms is None:
        raise NotFound("there is no such workbench in the trash", reason="not_found")
    return [events.BenchUndeleted()]


def change_context(
    state: BenchState, category: str, action: str, tree_id: TreeId
) -> list[events.BenchEvent]:
    """Add, update or delete a context item (B14)."""
    require_no_draft(state)
    return [events.ContextChanged(category=category, action=action, tree=tree_id)]

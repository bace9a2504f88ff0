"""The facts of the tool log: a call, and its result where that comes later (W8.4)."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.event import event
from backshop.base.ids import BatchId, BlobId, RevisionId, ToolResultId, TurnId


@event("workshop.tool_called")
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """A tool call, executed or refused. One that writes is recorded with its batch, before its
    result is known; `workshop.tool_answered` brings that.
    """

    entry_id: int
    result_id: ToolResultId
    turn_id: TurnId | None = None  # None: of an agent outside that runs no turn (W13.9)
    phase: str
    tool: str
    args_ref: BlobId
    args_sha256: str
    call_id: str
    path: str | None = None
    run_id: str | None = None
    node_id: str | None = None
    item: int | None = None
    attempt: int | None = None
    model_id: str | None = None
    batch_id: BatchId | None = None
    draft_revision_id: RevisionId | None = None
    result_ref: BlobId | None = None
    result_bytes: int | None = None
    success: bool | None = None
    error: str | None = None
    elapsed_ms: int | None = None
    tree_id: str = ""
    """The files the call was made on: the Draft's tree, or Published's where there is none."""
    replay_of: int | None = None
    """The entry whose result this call got: an equal one, made before the work stopped (W12.7)."""
    is_warned: bool = False
    """Whether the model was told that it repeats itself (W9.2)."""
    actor: str = "agent"


@event("workshop.tool_answered")
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswered:
    """The result of a call that was recorded with its batch."""

    entry_id: int
    result_ref: BlobId
    result_bytes: int
    success: bool
    elapsed_ms: int
    error: str | None = None
    actor: str = "agent"

"""What the Workshop's commands answer, field by field as in W2 and W3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from backshop.base.acting import Acted, by_of
from backshop.base.ambient import timestamp
from backshop.base.codec import decode
from backshop.base.usage import ModelUsage, TokenUsage, Used
from backshop.bench import ChangedFile, DraftState, Names, acted
from backshop.bench.answers import BenchInfo

from .conversation.state import BY, Record
from .conversation.turn_facts import TurnFacts, first, told

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """It is done; warnings say what went less well than asked."""

    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallShape:
    """A tool call as an assistant entry names it (W2.10)."""

    id: str
    function: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One entry of the conversation (W2.2)."""

    message_id: str | None
    type: str
    text: str
    role: str | None = None
    created_at: str | None = None
    parent_id: str | None = None
    turn_id: str | None = None
    advances_head: bool | None = None
    status: str | None = None
    event_kind: str | None = None
    metadata: Json = field(default_factory=dict)
    facts_lines: tuple[str, ...] | None = None
    """What is true of the turn, in words; `metadata.facts` is the same as data (W11.20)."""
    facts_first: int | None = None
    """How many of these lines stand first because they want a look before all else (W11.29)."""
    active: bool = True
    tool_calls: tuple[ToolCallShape, ...] | None = None
    tool_call_id: str | None = None
    content: str | None = None
    by: Acted | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A page of the conversation, oldest first."""

    messages: tuple[Message, ...]
    has_more: bool
    head_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """The record of an answer."""

    message_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """Changes a model worked out, or that there are none."""

    proposal_id: str
    no_changes: bool
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalView:
    """A proposal as it is stored (W14.2), and what became of it."""

    proposal: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What applying a proposal came to."""

    draft_id: str | None = None
    draft_revision_id: str | None = None
    no_changes: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The record of a message."""

    message_id: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """How a turn came out, and its record."""

    message_id: str | None
    has_draft: bool
    turn_id: str
    status: str
    run_id: str | None = None
    facts: TurnFacts | None = None
    """What is true of the turn; None of one that could not write (W11.20)."""
    facts_lines: tuple[str, ...] = ()
    """The same in words."""
    facts_first: int | None = None
    """How many of these lines stand first because they want a look before all else (W11.29)."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHit:
    """A file whose path has the words."""

    workbench_id: str
    bench_name: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageHit:
    """A message that has the words; `role` is `person` or `agent`."""

    workbench_id: str
    bench_name: str
    message_id: str
    role: str
    created_at: str
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHits:
    """What was found, of the benches that changed last first (W27.10)."""

    workbenches: tuple[BenchInfo, ...]
    files: tuple[FileHit, ...]
    messages: tuple[MessageHit, ...]
    is_whole: bool
    """Whether everything was looked through and all that was found is here."""
    not_read: int = 0
    """How many workbenches cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAnswer:
    """Whether there was something to stop."""

    cancel_requested: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """An item of a plan and what became of it."""

    number: int
    label: str
    description: str
    status: str
    reason: str | None = None
    no_effect: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReport:
    """What an item's work came to, in its own words."""

    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanView:
    """What a turn found out, planned and reported."""

    turn_id: str | None
    research_md: str = ""
    plan_md: str = ""
    items: tuple[PlanItem, ...] = ()
    reports: tuple[ItemReport, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveTurn:
    """The turn that runs."""

    turn_id: str
    message_id: str
    started_at: str
    cancel_requested: bool
    mode: str = "agent"
    run_id: str | None = None
    phase: str | None = None
    current_item: int | None = None
    total_items: int | None = None
    item_label: str | None = None
    takes_notes: bool = False
    """Whether it reads what is written to it meanwhile (W27.4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumableTurn:
    """The turn that stopped where it can go on."""

    turn_id: str
    message_id: str
    phase: str | None
    done_items: int
    total_items: int
    error: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The Workshop of one workbench (W2.8)."""

    workbench_id: str
    flow: str
    model_id: str | None
    """The model that answers next; None while there is none that could (M2.6)."""
    default_model_id: str | None
    has_draft: bool
    draft: DraftState | None
    conversation_head_id: str | None
    head_type: str | None
    can_send: bool
    can_request_changes: bool
    """Whether a Draft waits that changes can be asked of (W24.1)."""
    unanswered_request_id: str | None
    """The request for changes that nobody has taken up."""
    can_regenerate: bool
    regenerate_target_id: str | None
    can_redo: bool
    redo_target_id: str | None
    """The record of what `WorkshopRedo` takes back."""
    active_turn: ActiveTurn | None
    resumable_turn: ResumableTurn | None
    active_draft_revision_id: str | None
    pending_proposal_id: str | None = None
    reminder: str = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoEffects:
    """What going back would do (W15.2)."""

    discarded_count: int
    draft: str
    published_changed: bool
    revision_available: bool
    choices: tuple[str, ...] = ()
    files_lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """The conversation ends at an earlier record now."""

    conversation_head_id: str | None
    discarded_count: int
    draft_revision_id: str | None = None
    restored_checkpoint_id: str | None = None
    fallback: bool = False
    degraded: bool = False
    effects: UndoEffects | None = None
    changed: tuple[ChangedFile, ...] = ()
    """Files of Published where that goes back, else of the Draft: would be, or are and proved."""
    folder_behind: int = 0
    """How many files the followed folder has otherwise now; `FolderWriteBack` writes them."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RedoDone:
    """A rewind was taken back."""

    conversation_head_id: str | None
    of: str = "rewind"
    """What was taken back: `rewind`, `regenerate` (another answer is back) or `restore`."""
    draft_revision_id: str | None = None
    changed: tuple[ChangedFile, ...] = ()
    """Files that are others again, proved as after a rewind."""
    folder_behind: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLogEntry:
    """One tool call (W8.4); `receipt` stands for its result."""

    id: int
    result_id: str
    turn_id: str | None
    phase: str
    tool: str
    args_sha256: str
    ts: str
    run_id: str | None = None
    node_id: str | None = None
    item: int | None = None
    attempt: int | None = None
    path: str | None = None
    written: tuple[str, ...] = ()
    """The files the call wrote; its `path` may be one it read (W8.4)."""
    args: Json | None = None
    result_ref: str | None = None
    result_bytes: int | None = None
    image_ref: str | None = None
    receipt: str | None = None
    success: bool | None = None
    error: str | None = None
    elapsed_ms: int | None = None
    batch_id: str | None = None
    draft_revision_id: str | None = None
    model_id: str | None = None
    replay_of: int | None = None
    active: bool = True
    offset: int | None = None
    content: str | None = None
    has_more: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLog:
    """A page of the tool log, oldest first."""

    entries: tuple[ToolLogEntry, ...]
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnUsage(Used):
    """What one turn used (M13.4); a turn that an agent outside works at used no model of ours."""

    turn_id: str
    message_id: str
    """The record of its answer."""
    user_message_id: str
    flow: str
    mode: str
    status: str
    started_at: str
    model_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallUsage:
    """What one call of a run used, and when it was recorded."""

    at: str
    model_id: str
    usage: TokenUsage
    usd_estimate: float | None = None
    took_ms: int | None = None
    """How long the provider took to answer; none for a call that stayed in this program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunUsage(Used):
    """What a run of a workbench used (M13.7); of a run without one nothing is recorded."""

    workbench_id: str | None = None
    by_call: tuple[CallUsage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchUsage(Used):
    """What a workbench used, by model and by turn, the newest turn first."""

    by_model: tuple[ModelUsage, ...]
    turns: tuple[TurnUsage, ...]
    besides: Used
    """What was used for no turn: context items, digests."""
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTotal(Used):
    """What one workbench of a home used."""

    workbench_id: str
    name: str
    is_deleted: bool = False
    is_readable: bool = True
    """Whether its log could be read; what cannot be counts nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonUsage(Used):
    """What was used for one person: their id, `owner`, or `unknown` (T1.6)."""

    person: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeUsage(Used):
    """What a home used: the workbenches one sees, the one that used most first."""

    by_model: tuple[ModelUsage, ...]
    by_person: tuple[PersonUsage, ...]
    """For whom, the one who used most first; told to the home's owner alone."""
    benches: tuple[BenchTotal, ...]
    elsewhere: Used
    """What was used for no workbench."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedInput:
    """A file of a turn that a saved workflow takes another one for."""

    name: str
    role: Literal["changed", "created", "read"]
    path: str
    """What it was in the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedStep:
    """A step of a saved workflow; `is_specific`: it names numbers or quotes, which stay."""

    step_id: str
    title: str
    is_specific: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedWorkflow:
    """A finished turn as a workflow that runs on other files."""

    workflow_id: str
    path: str
    source_hash: str
    replaced: bool
    inputs: tuple[SavedInput, ...]
    steps: tuple[SavedStep, ...]
    notes: tuple[str, ...] = ()
    """What a person should know before they run it on other files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowInput:
    """Something a workflow asks for; `proposal` counts where nothing else is given."""

    name: str
    prompt: str
    is_file: bool
    proposal: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowInputs:
    """A workflow and what it asks for before it begins."""

    workflow_id: str
    name: str
    description: str
    inputs: tuple[WorkflowInput, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowsAsking:
    """Workflows with what they ask for."""

    workflows: tuple[WorkflowInputs, ...]


def facts_of(record: Record | None) -> TurnFacts | None:
    """Return what is true of the turn a record answers for."""
    data = None if record is None else record.metadata.get("facts")
    return decode(TurnFacts, data) if isinstance(data, dict) else None


def message_of(record: Record, *, active: bool, names: Names) -> Message:
    """Return a record as commands show it."""
    facts = facts_of(record)
    return Message(
        message_id=record.message_id,
        type=record.type,
        role=record.role,
        text=record.text,
        created_at=timestamp(record.created_ms),
        parent_id=record.parent_id,
        turn_id=record.turn_id,
        advances_head=record.advances_head,
        status=record.status,
        event_kind=record.event_kind,
        metadata={name: value for name, value in record.metadata.items() if name != BY},
        facts_lines=None if facts is None else told(facts),
        facts_first=None if facts is None else len(first(facts)) or None,
        active=active,
        by=acted(by_of(record.metadata.get(BY)), names),
    )

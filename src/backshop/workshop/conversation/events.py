"""The facts of a conversation. They live in the workbench's stream, beside the files' facts.

Where the conversation ends is `conversation.head_moved`, a fact of the bench, because revisions and
checkpoints are bound to it; publishing, discarding and restoring add records by the bench's facts.
"""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base import ids
from backshop.base.acting import ByAgent, ByUser
from backshop.base.event import event

from .turn_facts import TurnFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why something ended, as the person is told: a code and a reason of the closed sets."""

    code: str
    message: str
    reason: str | None = None
    actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Tokens a turn used, and how often it waited for a provider that had no room."""

    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    waits: int = 0


@event("workshop.message_sent", v=2, upgraders={1: dict})  # 2: also about a Draft
@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSent(ByUser):
    """The person wrote something."""

    message_id: ids.MessageId
    text: str
    mode: str
    origin: str
    client_message_id: str | None = None
    session_seq: int = 0
    on_draft: ids.TreeId | None = None  # the Draft it is about, as it was then (W24.1)
    comment_ids: tuple[str, ...] = ()  # of the comments it brings up


@event("workshop.model_switched")
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSwitched(ByUser):
    """Another model answers from now on. Without a record yet while a turn runs (W16.1)."""

    to_model_id: str
    from_model_id: str | None = None
    message_id: ids.MessageId | None = None


@event("workshop.default_model_set")
@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultModelSet(ByUser):
    """Another model answers where nobody switched to one (M2.1)."""

    model_id: str


@event("workshop.flow_set")
@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSet(ByUser):
    """Turns are executed another way from now on."""

    flow: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The step a turn's run waits for, and the item of the plan it is about, if it is one's."""

    node_id: str
    phase: str
    number: int | None = None
    total: int = 0
    label: str = ""
    is_direct: bool = False  # the request itself is its one item; there is no plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """A turn that is about to start; everything in it stays as it is until it ends (W5.4)."""

    turn_id: ids.TurnId
    user_message_id: ids.MessageId
    message_id: ids.MessageId  # of the answer, reserved now (B8.11)
    flow: str
    model_id: str
    run_id: str | None = None
    session_id: str | None = None
    workflow_id: str | None = None
    user_id: str | None = None  # who asked for it; None is the home's owner
    program: str | None = None  # the version that began it; an older one does not go on (T6.2)
    note: str | None = None  # what the person adds to the message this time (W24.7)
    instead_of: str | None = None  # the workbench's model, where another answers this once


@event("workshop.turn_started", v=3, upgraders={1: dict, 2: dict})  # 2: its step; 3: a note
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(Begin):
    """Work on a message began; everything it depends on is pinned (W5.4)."""

    mode: str
    published_generation: int
    node_id: str | None = None
    is_again: bool = False  # then `replaces` is the answer that gave way
    replaces: ids.MessageId | None = None
    actor: str = "agent"
    step: Step | None = None  # of its run


@event("workshop.turn_resumed", v=2, upgraders={1: dict})  # 2: with the step it is at
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResumed(ByAgent):
    """Work went on where it had stopped, perhaps with another model."""

    turn_id: ids.TurnId
    message_id: ids.MessageId
    model_id: str
    user_id: str | None = None  # whose it is from now on; None leaves it to whom it was
    is_owners: bool = False  # then the home's owner took it over from who was removed
    program: str | None = None
    step: Step | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEnd:
    """How an item came out: done, failed for good, or unfinished with what it wrote."""

    number: int
    status: str
    no_effect: bool = False
    reason: str | None = None
    added: int = 0
    dropped: int = 0


@event("workshop.step_ended")
@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnded(ByAgent):
    """A step of a turn's run is done: what became of it, and where the run stands since."""

    turn_id: ids.TurnId
    phase: str
    next: Step
    item: ItemEnd | None = None
    is_planned: bool = False  # direct work went over to a plan; what it wrote stays


@event("workshop.phase_started")
@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseStarted(ByAgent):
    """A phase of a turn began. Written by 0.1.0; since then steps say it."""

    turn_id: ids.TurnId
    phase: str


@event("workshop.phase_ended")
@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseEnded(ByAgent):
    """A phase is done, or was given up; `node_id` is where the run stands then. Of 0.1.0."""

    turn_id: ids.TurnId
    phase: str
    aborted: bool = False
    node_id: str | None = None


@event("workshop.turn_moved", v=2, upgraders={1: dict})  # 2: with both steps
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMoved(ByAgent):
    """An agent outside does a step of its run again, on the files it began with (W13.7)."""

    turn_id: ids.TurnId
    node_id: str
    keeps_draft: bool = False
    phase: str | None = None  # of the step it leaves
    step: Step | None = None


@event("workshop.item_started")
@dataclass(frozen=True, slots=True, kw_only=True)
class ItemStarted(ByAgent):
    """Work on an item of the plan began. Written by 0.1.0."""

    turn_id: ids.TurnId
    number: int
    total: int
    label: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptOver(ByAgent):
    """An attempt at an item came to no end; the next one may."""

    turn_id: ids.TurnId
    number: int
    attempt: int
    reason: str
    run_id: str | None = None
    node_id: str | None = None
    total: int = 0  # of the plan, with the item's label, where it is tried again
    label: str = ""


@event("workshop.item_attempt_failed", v=2, upgraders={1: dict})  # 2: with its label
@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAttemptFailed(AttemptOver):
    """An attempt at an item failed; what it had written is taken back in the same breath."""


@event("workshop.item_left_unfinished")
@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLeftUnfinished(AttemptOver):
    """An attempt at an item ran out of requests; what it wrote stays, the next goes on there."""


@event("workshop.item_ended")
@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEnded(ByAgent):
    """An item is done, failed for good, or left unfinished with what it wrote. Of 0.1.0."""

    turn_id: ids.TurnId
    number: int
    status: str
    no_effect: bool = False
    reason: str | None = None
    added: int = 0
    dropped: int = 0
    node_id: str | None = None


@event("workshop.answer_streamed")
@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStreamed(ByAgent):
    """A piece of the answer is kept while it is still being written (W5.9)."""

    turn_id: ids.TurnId
    message_id: ids.MessageId
    text: str


@event("workshop.answer_withdrawn")
@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWithdrawn(ByAgent):
    """What was kept of an answer came with a call, so that it was none: it was progress (W5.9)."""

    turn_id: ids.TurnId
    message_id: ids.MessageId


@event("workshop.turn_ended", v=2, upgraders={1: dict})  # 2: with the facts of the turn
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(ByAgent):
    """A turn is complete, canceled or failed; this is its answer."""

    turn_id: ids.TurnId
    message_id: ids.MessageId
    status: str
    text: str
    record_status: str
    problem: Problem | None = None
    phase: str | None = None
    notice_id: ids.MessageId | None = None  # of the system event, when there is a problem
    summary_source: str | None = None
    changed_paths: tuple[str, ...] = ()
    spent: Spent = Spent()
    session_seq: int = 0
    facts: TurnFacts | None = None
    aborted: bool | None = None  # of the phase it ends in; None where it ends in none
    item: ItemEnd | None = None  # how direct work came out, which ends with the turn


@event("workshop.turn_paused", v=2, upgraders={1: dict})  # 2: with the facts of the turn
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPaused(ByAgent):
    """A turn stopped where it can go on; its record says what was done so far."""

    turn_id: ids.TurnId
    message_id: ids.MessageId
    notice_id: ids.MessageId
    problem: Problem
    phase: str
    text: str
    spent: Spent = Spent()
    session_seq: int = 0
    facts: TurnFacts | None = None
    aborted: bool | None = None


@event("workshop.turn_told")
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTold:
    """What is true of a turn that ended or stopped (W11.20). Earlier programs wrote it apart."""

    turn_id: ids.TurnId
    message_id: ids.MessageId
    facts: TurnFacts
    actor: str = "system"


@event("workshop.run_refused")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunRefused:
    """A message was not taken up, and why; nobody works on it (W5.15)."""

    message_id: ids.MessageId  # of the system event
    user_message_id: ids.MessageId
    problem: Problem
    actor: str = "system"


@event("workshop.cancel_asked")
@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAsked(ByUser):
    """The person wants the running turn to stop."""

    turn_id: ids.TurnId


@event("workshop.note_added")
@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAdded(ByUser):
    """The person wrote something to the agent while it works (W27.1)."""

    turn_id: ids.TurnId
    message_id: ids.MessageId  # of its record
    text: str
    origin: str
    client_message_id: str | None = None


@event("workshop.notes_read")
@dataclass(frozen=True, slots=True, kw_only=True)
class NotesRead(ByAgent):
    """Notes go to the model with the request that follows (W27.2)."""

    turn_id: ids.TurnId
    message_ids: tuple[ids.MessageId, ...]


@event("workshop.rewound")
@dataclass(frozen=True, slots=True, kw_only=True)
class Rewound(ByUser):
    """The person went back to an earlier record; what came after it is inactive."""

    message_id: ids.MessageId
    from_head_id: ids.MessageId
    to_head_id: ids.MessageId
    discarded_count: int
    mode: str | None = None
    saved_revision_id: ids.RevisionId | None = None  # the Draft of before, for redo
    draft_revision_id: ids.RevisionId | None = None
    restored_checkpoint_id: ids.CheckpointId | None = None
    pre_restore_checkpoint_id: ids.CheckpointId | None = None


@event("workshop.redone")
@dataclass(frozen=True, slots=True, kw_only=True)
class Redone(ByUser):
    """The person took the last rewind back; `left_head_id` is an answer this sets aside."""

    message_id: ids.MessageId
    undo_id: ids.MessageId
    to_head_id: ids.MessageId | None = None
    left_head_id: ids.MessageId | None = None
    saved_revision_id: ids.RevisionId | None = None
    pre_restore_checkpoint_id: ids.CheckpointId | None = None


@event("workshop.regenerated", v=2, upgraders={1: dict})  # 2: with a note, by another model
@dataclass(frozen=True, slots=True, kw_only=True)
class Regenerated(ByUser):
    """An answer was asked for again; `new_message_id` is absent when that failed."""

    message_id: ids.MessageId
    from_message_id: ids.MessageId
    replaced_message_id: ids.MessageId | None = None
    new_message_id: ids.MessageId | None = None
    note: str | None = None
    model_id: str | None = None  # where it was asked for


@event("workshop.noticed")
@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """Something went less well than it should and the turn went on; said once (W6.12)."""

    message_id: ids.MessageId
    reason: str
    text: str
    key: str
    """What makes it the same notice: reason, format or category, and content hash."""
    format: str | None = None
    category: str | None = None
    actor: str = "system"


@event("workshop.compressed")
@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """Older messages are told to models in short from now on, or left out (M14)."""

    message_id: ids.MessageId
    first_id: ids.MessageId
    last_id: ids.MessageId
    count: int
    text: str
    model_id: str
    summary_message_id: ids.MessageId | None = None
    fallback: str | None = None
    actor: str = "system"


@event("workshop.proposal_made")
@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalMade(ByAgent):
    """A model proposed changes, or proposed in the end that nothing changes (W14)."""

    proposal_id: ids.ProposalId
    turn_id: ids.TurnId
    proposal_ref: ids.BlobId
    basis_tree: ids.TreeId  # the files it was made for
    no_changes: bool = False
    problem: Problem | None = None
    notice_id: ids.MessageId | None = None  # of the system event, when there is a problem


@event("workshop.proposal_closed")
@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalClosed(ByAgent):
    """A proposal was applied, with the batch it came to; or dismissed, or could not be applied."""

    proposal_id: ids.ProposalId
    status: str  # `applied`, `dismissed` or `failed`
    batch_id: ids.BatchId | None = None
    problem: Problem | None = None
    notice_id: ids.MessageId | None = None


@event("workshop.reminder_dismissed")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderDismissed(ByUser):
    """The person does not want to be reminded of the Draft for a while."""

    draft_id: ids.DraftId
    reminder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """What the tool log keeps of a call (W8.4)."""

    entry_id: int
    result_id: ids.ToolResultId
    turn_id: ids.TurnId | None = None  # None: of an agent outside that runs no turn (W13.9)
    phase: str
    tool: str
    args_ref: ids.BlobId
    args_sha256: str
    call_id: str
    path: str | None = None
    run_id: str | None = None
    node_id: str | None = None
    item: int | None = None
    attempt: int | None = None
    model_id: str | None = None
    batch_id: ids.BatchId | None = None
    draft_revision_id: ids.RevisionId | None = None
    result_ref: ids.BlobId | None = None
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
    image_ref: ids.BlobId | None = None
    """The picture the call showed (W26.5)."""


@event("workshop.tool_called", v=2, upgraders={1: dict})  # 2: with the picture it showed
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(LoggedCall):
    """A tool call, executed or refused. One that writes is recorded with its batch, before its
    result is known; `workshop.tool_answered` brings that.
    """

    actor: str = "agent"


@event("workshop.tool_answered")
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswered(ByAgent):
    """The result of a call that was recorded with its batch."""

    entry_id: int
    result_ref: ids.BlobId
    result_bytes: int
    success: bool
    elapsed_ms: int
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedRecord:
    """A record as it stood in the workbench it was said in."""

    message_id: ids.MessageId
    type: str
    role: str
    text: str
    created_ms: int
    parent_id: ids.MessageId | None = None
    advances_head: bool = True
    status: str = "complete"
    event_kind: str | None = None
    metadata_json: str = "{}"


@event("workshop.conversation_copied")
@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationCopied(ByUser):
    """Records of the workbench this one was made from, oldest first."""

    records: tuple[CopiedRecord, ...]


WorkshopEvent = (
    MessageSent
    | ModelSwitched
    | DefaultModelSet
    | FlowSet
    | TurnStarted
    | TurnResumed
    | StepEnded
    | PhaseStarted
    | PhaseEnded
    | TurnMoved
    | ItemStarted
    | ItemAttemptFailed
    | ItemLeftUnfinished
    | ItemEnded
    | AnswerStreamed
    | AnswerWithdrawn
    | TurnEnded
    | TurnPaused
    | TurnTold
    | RunRefused
    | CancelAsked
    | NoteAdded
    | NotesRead
    | Rewound
    | Redone
    | Regenerated
    | Noticed
    | Compressed
    | ProposalMade
    | ProposalClosed
    | ReminderDismissed
    | ToolCalled
    | ToolAnswered
    | ConversationCopied
)

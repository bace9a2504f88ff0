"""A conversation as its facts tell it: records, turns, tool log, and the bench it is about.

The head is the bench's, because revisions and checkpoints are bound to it. Records form a tree by
`parent_id`; the way from the head to the root is the active line, all else is inactive.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from backshop.base import ids
from backshop.base.errors import PASSING
from backshop.base.pmap import PMap
from backshop.bench.revision import Revision
from backshop.bench.state import BenchState

from .events import LoggedCall, Problem, Spent
from .turn_facts import ItemFact

RUNNING, PAUSED, CANCELED = "running", "paused", "canceled"
BUSY, UNAVAILABLE = "BENCH_BUSY", "STORE_UNAVAILABLE"
RPI, AUTO = "wr.rpi", "wr.auto"
BUILTIN = (RPI, AUTO)
"""The workflows a turn follows by its flow, unless another one drives it (W13.1)."""
OUTSIDE = "mcp:"
"""What the name of the model begins with where no model of ours is at work."""
CARDS_OF_CHANGE = ("checkpoint_published", "checkpoint_restored")
"""System events that say that Published is another one since (W15.3)."""


NOTE = "note"
"""The kind of record a note is (W27.1)."""
BY = "by"  # where a record says who caused it (T1.6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One entry of the conversation (W2.2)."""

    message_id: ids.MessageId
    type: str
    role: str
    text: str
    created_ms: int
    parent_id: ids.MessageId | None
    seq: int
    turn_id: ids.TurnId | None = None
    advances_head: bool = True
    status: str = "complete"
    event_kind: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    session_seq: int = 0

    @property
    def is_on_draft(self) -> bool:
        """Whether it is a message about the Draft of its time (W24.1)."""
        return self.type == "user_message" and bool(self.metadata.get("on_draft"))

    @property
    def changes_published(self) -> bool:
        """Whether going back beyond it means another Published."""
        return self.event_kind in CARDS_OF_CHANGE and bool(self.metadata.get("checkpoint_id"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """The item a turn is at."""

    number: int
    total: int
    label: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What the person wrote to the agent while it worked (W27.1)."""

    message_id: ids.MessageId
    text: str
    is_read: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlace:
    """A step of a turn's run, and the Draft it began with; None is no Draft."""

    node_id: str
    revision_id: ids.RevisionId | None
    done_items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One user message and the work that answers it."""

    turn_id: ids.TurnId
    user_message_id: ids.MessageId
    message_id: ids.MessageId
    mode: str
    flow: str
    model_id: str
    published_generation: int
    started_ms: int
    paused_ms: int | None = None
    """When it stopped so that it can go on; None while it does not wait for that."""
    waited_ms: int = 0
    """How long it waited to go on, which is no time that it took."""
    status: str = RUNNING
    run_id: str | None = None
    session_id: str | None = None
    node_id: str | None = None
    workflow_id: str | None = None
    phase: str | None = None
    item: Item | None = None
    has_steps: bool = False
    """Whether steps say where it is, as they do since 0.2.0."""
    is_direct: bool = False
    """Whether it works without a plan: its one item is the request (W11.32)."""
    done_items: int = 0
    boundary: ids.RevisionId | None = None
    """The Draft's revision where phase or item began; None is no Draft (W11.13)."""
    began_tree: ids.TreeId | None = None
    """The Draft's files when the turn began; None is no Draft, as it nearly always is (W15.6)."""
    batches: tuple[ids.BatchId, ...] = ()
    """Batches since that boundary."""
    left: tuple[ids.BatchId, ...] = ()
    """Batches of earlier attempts at the present item that ran out of requests; they stay."""
    gone: tuple[ids.BatchId, ...] = ()
    """Batches that were taken back."""
    items: tuple[ItemFact, ...] = ()
    """What became of the items that were begun, by number; the present one is `waiting`."""
    items_total: int = 0
    places: tuple[StepPlace, ...] = ()
    """The steps it has come to, in order."""
    failed_attempts: int = 0
    """Failed attempts at the present item."""
    failure: str = ""
    """Why the last of them failed."""
    has_run_out: bool = False
    """Whether the last of them ran out of requests, and nothing went wrong."""
    has_written: bool = False
    is_cancel_asked: bool = False
    replays_to: int = 0
    """Calls up to this entry were made before the work stopped; equal ones are not made again."""
    problem: Problem | None = None
    ended_ms: int | None = None
    spent: Spent = field(default_factory=Spent)
    user_id: str | None = None
    """Who asked for it last; None is the home's owner."""
    program: str | None = None
    """The version of the program that began it or went on with it last."""
    note: str | None = None
    """What the person added to the message when they asked for another answer (W24.7)."""
    instead_of: str | None = None
    """The workbench's model when it began, where another was asked for this once."""
    notes: tuple[Note, ...] = ()
    """What the person wrote while it ran, in order."""

    def place(self, node_id: str) -> StepPlace | None:
        """Return a step the turn has come to."""
        return next((one for one in self.places if one.node_id == node_id), None)

    @property
    def is_over(self) -> bool:
        """Whether nobody works on it, and nobody is to."""
        return self.status != RUNNING

    @property
    def is_orphaned(self) -> bool:
        """Whether it stopped because the process that worked on it ended (W5.10)."""
        problem = self.problem if self._may_go_on_alone else None
        return problem is not None and problem.code == BUSY and not self.is_outside

    @property
    def is_stranded(self) -> bool:
        """Whether it stopped because database or contents could not be reached for a while."""
        problem = self.problem if self._may_go_on_alone else None
        return problem is not None and problem.code == UNAVAILABLE and problem.reason in PASSING

    @property
    def _may_go_on_alone(self) -> bool:
        """Whether it waits and nobody asked it to stop; one that was asked waits for a person."""
        return self.status == PAUSED and not self.is_cancel_asked

    @property
    def is_outside(self) -> bool:
        """Whether an agent of another program works on it (W13.7)."""
        return self.model_id.startswith(OUTSIDE)

    @property
    def takes_notes(self) -> bool:
        """Whether it reads what is written to it: not an agent outside, not a single reply."""
        return self.flow != "compat" and not self.is_outside

    @property
    def is_summary_interrupted(self) -> bool:
        """Whether only its Summary is missing (W11.18)."""
        return self.problem is not None and self.problem.reason == "summary_interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEntry(LoggedCall):
    """One call in the tool log (W8.4)."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Changes a model proposed, and what became of them (W14)."""

    proposal_id: ids.ProposalId
    turn_id: ids.TurnId
    proposal_ref: ids.BlobId
    basis_tree: ids.TreeId
    created_ms: int
    status: str = "open"
    """`open`, `none` (nothing changes), `applied`, `dismissed` or `failed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """A rewind or restore that can still be taken back."""

    message_id: ids.MessageId
    from_head_id: ids.MessageId | None
    saved_revision_id: ids.RevisionId | None
    pre_restore_checkpoint_id: ids.CheckpointId | None


@dataclass(frozen=True, slots=True)
class WorkshopState:
    """Everything rules and answers need of one bench and its conversation."""

    bench: BenchState = field(default_factory=BenchState)
    records: PMap[Record] = field(default_factory=PMap)
    turns: PMap[Turn] = field(default_factory=PMap)
    turn_id: ids.TurnId | None = None
    """The newest turn."""
    model_id: str | None = None
    """The model the person switched to."""
    default_model_id: str | None = None
    """The bench's own default, for as long as nobody switched."""
    announced_model_id: str | None = None
    """The model the last `model_switched` record named, or None if there is none."""
    flow: str | None = None
    """The flow the person chose for this bench."""
    default_flow: str | None = None
    """The flow of benches made when this one was; None of those made before there was a choice."""
    tools: PMap[ToolEntry] = field(default_factory=PMap)
    sent: PMap[ids.MessageId] = field(default_factory=PMap)
    """Messages by the id the client gave them."""
    proposals: PMap[Proposal] = field(default_factory=PMap)
    pending_proposal_id: ids.ProposalId | None = None
    undos: tuple[Undo, ...] = ()
    notices: frozenset[str] = frozenset()
    dismissed: tuple[ids.DraftId, str, int] | None = None
    """The Draft and reminder that was dismissed last, and when."""
    session_seq: int = 0
    """Where the prompt session stood at the last record."""

    @property
    def head_id(self) -> ids.MessageId | None:
        """The record the conversation ends at."""
        return self.bench.conversation_head_id

    @property
    def head(self) -> Record | None:
        """The same as a record."""
        return None if self.head_id is None else self.records.get(self.head_id)

    @property
    def turn(self) -> Turn | None:
        """The newest turn."""
        return None if self.turn_id is None else self.turns.get(self.turn_id)

    @property
    def running(self) -> Turn | None:
        """The turn that runs, or would if its process lived."""
        turn = self.turn
        return turn if turn is not None and turn.status == RUNNING else None

    @property
    def paused(self) -> Turn | None:
        """The turn that waits."""
        turn = self.turn
        return turn if turn is not None and turn.status == PAUSED else None

    @property
    def resumable(self) -> Turn | None:
        """The turn that can go on: one that waits, or one that was stopped (W5.11)."""
        turn = self.turn
        if turn is None or turn.status not in (PAUSED, CANCELED):
            return None
        return turn if turn.status == PAUSED or self._is_as_left(turn) else None

    def _is_as_left(self, turn: Turn) -> bool:
        """Whether nothing was said, written or published since a turn ended."""
        line = self.active_line()
        places = [n for n, one in enumerate(line) if one.message_id == turn.message_id]
        if not places or turn.published_generation != self.bench.generation:
            return False
        own, since = line[places[0]], line[places[0] + 1 :]
        is_quiet = all(one.type == "system_event" and not one.changes_published for one in since)
        return is_quiet and own.metadata.get("draft_revision_id") == self.current_revision()

    def line(self, head_id: ids.MessageId | None) -> list[Record]:
        """Return the records from the first to `head_id`."""
        found: list[Record] = []
        at = head_id
        while at is not None and (record := self.records.get(at)) is not None:
            found.append(record)
            at = record.parent_id
        return found[::-1]

    def active_line(self) -> list[Record]:
        """Return the records from the first to the head."""
        return self.line(self.head_id)

    def is_behind(self, turn: Turn) -> bool:
        """Whether the conversation alone went back since the message before a turn's (W15.4)."""
        own = turn.user_message_id
        said = [one for one in self.line(own) if one.type == "user_message"]
        since = max((one.seq for one in said if one.message_id != own), default=-1)
        moves = (one for one in self.records.values() if one.event_kind in ("undo", "redo"))
        ways: list[object] = []
        for move in sorted((one for one in moves if one.seq > since), key=lambda one: one.seq):
            way = move.metadata.get("mode")
            if move.event_kind == "redo":
                ways = ways[:-1]
            else:
                ways = [] if way == "restore_published" else [*ways, way]
        return "chat_only" in ways

    def revision_at(self, message_id: ids.MessageId) -> Revision | None:
        """Return the Draft's state at a record: None when there was never one (B8.14)."""
        return self.bench.revisions.at([record.message_id for record in self.line(message_id)])

    @property
    def unanswered(self) -> Record | None:
        """The request for changes the conversation ends with, which nobody has taken up."""
        head, draft = self.head, self.bench.draft
        is_asked = draft is not None and draft.is_asked_by(self.head_id)
        return head if is_asked and self.running is None else None

    @property
    def unanswered_all(self) -> tuple[Record, ...]:
        """That request and those before it that nobody has taken up either, oldest first."""
        draft, taken = self.bench.draft, {one.user_message_id for one in self.turns.values()}
        if draft is None or self.unanswered is None:
            return ()
        found: list[Record] = []
        for record in reversed(self.active_line()):
            if record.type == "system_event":
                continue
            if not draft.is_asked_by(record.message_id) or record.message_id in taken:
                break
            found.append(record)
        return tuple(reversed(found))

    def needed_revisions(self) -> set[ids.RevisionId]:
        """Return states of Drafts that something still leads to, however old they are (B8.15).

        A redo needs them, or the turn at work, or who compares an answer with the one it replaced.
        """
        found = {undo.saved_revision_id for undo in self.undos}
        if self.running is not None:
            found |= {self.running.boundary, *(one.revision_id for one in self.running.places)}
        line = {record.message_id for record in self.active_line()}
        for one in self.records.values():
            replaced = one.metadata.get("replaced_message_id")
            if one.event_kind == "regenerate" and replaced and one.parent_id in line:
                state = self.revision_at(ids.MessageId(str(replaced)))
                found.add(None if state is None else state.revision_id)
        return {one for one in found if one is not None}

    def undo_kind(self, message_id: ids.MessageId) -> str:
        """Return what a record that can be taken back did: `rewind`, `regenerate`, `restore`."""
        record = self.records.get(message_id)
        if record is None or record.event_kind == "undo":
            is_again = record is not None and record.metadata.get("is_again")
            return "regenerate" if is_again else "rewind"
        return "restore" if record.event_kind == "checkpoint_restored" else "regenerate"

    def current_revision(self) -> ids.RevisionId | None:
        """Return the Draft's revision, None without a Draft."""
        return None if self.bench.draft is None else self.bench.draft.revision_id

    def is_turn_active(
        self, turn_id: ids.TurnId | None, line: Collection[ids.MessageId] | None = None
    ) -> bool:
        """Whether a turn's work is part of the conversation as it is now (W15.5).

        What belongs to no turn was never said, so no rewind takes it back. `line` are the ids of
        the active line, for who asks often.
        """
        if turn_id is None:
            return True
        turn = self.turns.get(turn_id)
        if turn is None:
            return False
        if line is None:
            line = {record.message_id for record in self.active_line()}
        if turn.user_message_id not in line:
            return False
        if turn.message_id in self.records:
            return turn.message_id in line
        return turn_id == self.turn_id

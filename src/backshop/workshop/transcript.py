"""What is shown of a conversation: its state, its pages, its tool log. Nothing here writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from backshop.base.ambient import timestamp
from backshop.base.codec import encode
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.field_copy import made_from
from backshop.base.ids import CheckpointId, MessageId, TurnId
from backshop.bench import DraftState

from . import answers, evidence, requests
from .conversation.repository import Conversations
from .conversation.state import CARDS_OF_CHANGE, NOTE, Record, ToolEntry, Turn, WorkshopState
from .cut import slice_bytes
from .tool.phase import FROM_TABLES
from .tool.receipt import receipt

PAGE_MAX = 1000
SLICE_MAX_BYTES = 1024 * 1024
_MOVES = ("undo", "redo", "regenerate")
_OF_DRAFT = ("draft_created", "draft_changes_applied")
_DAY_MS = 24 * 60 * 60 * 1000
_HIDDEN_MS = {"age": _DAY_MS, "stale": 7 * _DAY_MS}  # W18.5


def state(
    known: WorkshopState,
    *,
    draft: DraftState,
    flow: str,
    model_id: str | None,
    default: str | None,
    now_ms: int,
    may_talk: bool = False,
) -> answers.State:
    """Return the Workshop of a bench in one answer (W2.8).

    `may_talk` says that messages are taken while a Draft waits (W24.8).
    """
    bench, head = known.bench, known.head
    target = regenerate_target(known)
    return answers.State(
        workbench_id=bench.id,
        flow=flow,
        model_id=model_id,
        default_model_id=default,
        has_draft=bench.draft is not None,
        draft=draft if draft.has_draft else None,
        conversation_head_id=known.head_id,
        head_type=None if head is None else head.type,
        can_send=(bench.draft is None or may_talk) and known.running is None,
        can_request_changes=bench.draft is not None and known.running is None,
        unanswered_request_id=None if known.unanswered is None else known.unanswered.message_id,
        can_regenerate=target is not None and known.running is None,
        regenerate_target_id=target,
        can_redo=bool(known.undos) and known.running is None,
        redo_target_id=known.undos[-1].message_id if known.undos else None,
        active_turn=_active(known.running),
        resumable_turn=_resumable(known.resumable),
        active_draft_revision_id=known.current_revision(),
        pending_proposal_id=known.pending_proposal_id,
        reminder=_reminder(known, draft, now_ms),
    )


def _active(turn: Turn | None) -> answers.ActiveTurn | None:
    if turn is None:
        return None
    item = turn.item if turn.phase == "implement" else None
    return answers.ActiveTurn(
        turn_id=turn.turn_id,
        run_id=turn.run_id,
        message_id=turn.message_id,
        phase=turn.phase,
        current_item=item.number if item else None,
        total_items=item.total if item else None,
        item_label=item.label if item else None,
        started_at=timestamp(turn.started_ms),
        cancel_requested=turn.is_cancel_asked,
        mode=turn.mode,
        takes_notes=turn.takes_notes,
    )


def _resumable(turn: Turn | None) -> answers.ResumableTurn | None:
    if turn is None:
        return None
    return answers.ResumableTurn(
        turn_id=turn.turn_id,
        message_id=turn.user_message_id,
        phase=turn.phase,
        done_items=turn.done_items,
        total_items=turn.item.total if turn.item else 0,
        error=None if turn.problem is None else encode(turn.problem),
    )


def _reminder(known: WorkshopState, draft: DraftState, now_ms: int) -> str:
    if known.dismissed is None or draft.reminder == "none":
        return draft.reminder
    draft_id, reminder, at_ms = known.dismissed
    hidden = draft_id == draft.draft_id and reminder == draft.reminder
    return "none" if hidden and now_ms - at_ms <= _HIDDEN_MS[reminder] else draft.reminder


def regenerate_target(known: WorkshopState) -> MessageId | None:
    """Return the message that would be answered again, None when there is none (W15.6)."""
    for record in reversed(known.active_line()):
        if record.type == "user_message":
            return _with_draft(known, record)
        if record.type == "assistant_message":
            turn = known.turns.get(record.turn_id or "")
            return None if turn is None else _with_draft(known, known.records[turn.user_message_id])
        if record.changes_published:
            return None
    return None


def _with_draft(known: WorkshopState, record: Record) -> MessageId | None:
    """Return a message that can be answered again: one about a Draft as long as that is kept."""
    if not record.is_on_draft:
        return record.message_id
    then = known.revision_at(record.message_id)
    return None if then is None or then.draft is None else record.message_id


# ---------------------------------------------------------------- the transcript


def conversation(book: Conversations, request: requests.GetConversation) -> answers.Conversation:
    """Return a page of the conversation, the newest unless asked for older ones."""
    if not 1 <= request.limit <= PAGE_MAX:
        raise ValidationFailed("a page has 1 to 1000 messages", reason="bad_params")
    known = book.state(request.workbench_id)
    line = known.active_line()
    told = _Told(known, line)
    shown = _everything(known, told) if request.include_inactive else _transcript(known, told)
    end = len(shown)
    if request.before is not None:
        places = [n for n, (one, _) in enumerate(shown) if one.message_id == request.before]
        if not places:
            raise NotFound("there is no such message here", reason="message_not_found")
        end = places[0]
    start = max(0, end - request.limit)
    turns, names = _answering(known), book.desk.names()
    messages: list[answers.Message] = []
    for record, is_active in shown[start:end]:
        if request.include_tools and record.type == "assistant_message":
            messages += _traffic(book, known, record)
        turn_id = turns.get(record.message_id, record.turn_id)
        shown_now = replace(told.as_it_stands(_with_card(known, record)), turn_id=turn_id)
        messages.append(answers.message_of(shown_now, active=is_active, names=names))
    return answers.Conversation(messages=tuple(messages), has_more=start > 0, head_id=known.head_id)


def _answering(known: WorkshopState) -> dict[MessageId, TurnId]:
    """Return the turn of each message that was taken up: of several the one that counts now."""
    line = {record.message_id for record in known.active_line()}
    found = sorted(known.turns.values(), key=lambda one: (one.message_id in line, one.started_ms))
    return {turn.user_message_id: turn.turn_id for turn in found}


def _with_card(known: WorkshopState, record: Record) -> Record:
    """Say on a card whether what was before can still be brought back (B10.8), and of what."""
    if record.event_kind not in CARDS_OF_CHANGE:
        return record
    kept = known.bench.checkpoint(CheckpointId(str(record.metadata.get("checkpoint_id"))))
    about = {**record.metadata, "restorable": kept is not None}
    if record.event_kind == "checkpoint_restored":
        about |= _gone_back(known, record)
    return replace(record, metadata=about)


def _gone_back(known: WorkshopState, card: Record) -> dict[str, object]:
    """Name the publish that a restore went back before, if it was one (W18.8)."""
    wanted = card.metadata.get("checkpoint_id")
    for one in known.records.values():
        told = one.metadata
        if one.event_kind == "checkpoint_published" and told.get("checkpoint_id") == wanted:
            left = str(card.metadata.get("pre_restore_checkpoint_id"))
            replaced = known.bench.checkpoint(CheckpointId(left))
            is_undone = replaced is not None and replaced.generation == told.get("generation")
            publish = {"files": told.get("files"), "counts": told.get("counts")}
            return {"publish": {**publish, "is_undone": is_undone}}
    return {}


class _Told:
    """What of the records still holds: a rewind takes more away than the messages (W15.5)."""

    def __init__(self, known: WorkshopState, line: list[Record]) -> None:
        self._known = known
        self.line = line
        self._on_line = {record.message_id for record in line}
        current = known.bench.draft
        self._drafts = {str(one.metadata.get("draft_id")) for one in line if one.event_kind}
        self._drafts |= {str(current.draft_id)} if current else set()
        moves = [one for one in known.records.values() if one.event_kind in _MOVES]
        self._taken_back = {one.metadata.get("undo_id") for one in moves}
        self._again = {
            one.message_id: self._half(one, moves)
            for one in moves
            if one.event_kind == "regenerate" and one.parent_id in self._on_line
        }
        self._next = known.undos[-1].message_id if known.undos else None
        self._undos = self._shown_undos(moves)

    def _shown_undos(self, moves: list[Record]) -> set[MessageId]:
        """Return the rewinds that say something: under a record the last one that stands.

        One that was taken back is said until another comes; one that made room for another answer
        only as long as no card does.
        """
        found: set[MessageId] = {self._next} if self._next else set()
        standing: dict[MessageId | None, Record] = {}
        newest: dict[MessageId | None, Record] = {}
        for one in sorted(moves, key=_order):
            if one.event_kind == "undo" and not one.metadata.get("is_again"):
                newest[one.parent_id] = one
                if one.message_id not in self._taken_back:
                    standing[one.parent_id] = one
        found |= {one.message_id for one in (*newest.values(), *standing.values())}
        return found - {*self._again.values()}

    def _half(self, made: Record, moves: list[Record]) -> MessageId | None:
        """Return the rewind that made room for an answer that was asked for again."""
        own = [
            one
            for one in moves
            if one.metadata.get("is_again")
            and one.parent_id == made.metadata.get("from_message_id")
            and one.seq < made.seq
        ]
        return max(own, key=_order).message_id if own else None

    def holds(self, record: Record) -> bool:
        """Whether a record is part of the conversation as it is now (W2.7)."""
        if record.advances_head:
            return record.message_id in self._on_line
        if record.parent_id is not None and record.parent_id not in self._on_line:
            return False
        if record.event_kind in _OF_DRAFT and (
            str(record.metadata.get("draft_id")) not in self._drafts
            or not self._known.is_turn_active(record.turn_id, self._on_line)
        ):
            return False  # its Draft went with a rewind
        if record.event_kind == NOTE and not self._known.is_turn_active(
            record.turn_id, self._on_line
        ):
            return False  # it was written to another answer
        return record.event_kind != "undo" or record.message_id in self._undos

    def as_it_stands(self, record: Record) -> Record:
        """Say of a move whether it was taken back, and of the last one how to take it back."""
        if record.event_kind == NOTE:
            return self._note(record)
        if record.event_kind not in (*_MOVES, "checkpoint_restored"):
            return record
        own = self._again.get(record.message_id) or record.message_id
        about = {**record.metadata, **self._both(record)}
        if record.message_id in self._taken_back:
            about["taken_back"] = True
        if own == self._next:
            about["redo_id"] = own
        return replace(record, metadata=about)

    def _note(self, record: Record) -> Record:
        """Say of a note what became of it: read, waiting, sent as a message, or late (W27.3)."""
        known, turn = self._known, self._known.turns.get(record.turn_id or "")
        if turn is None:
            return record
        if any(one.is_read for one in turn.notes if one.message_id == record.message_id):
            became = "read"
        elif record.message_id in known.sent:
            became = "sent"
        else:
            became = "waiting" if turn in (known.running, known.resumable) else "late"
        return replace(record, metadata={**record.metadata, "became": became})

    def _both(self, record: Record) -> dict[str, object]:
        """Name the Drafts of two answers to one message, where both are kept (W24.9)."""
        found: dict[str, object] = {}
        for name in ("replaced", "new"):
            message_id = record.metadata.get(f"{name}_message_id")
            if message_id is None:
                return {}
            then = self._known.revision_at(MessageId(str(message_id)))
            if then is None or then.draft is None:
                return {}
            found[f"{name}_revision_id"] = then.revision_id
        return found


def _everything(known: WorkshopState, told: _Told) -> list[tuple[Record, bool]]:
    found = sorted(known.records.values(), key=lambda one: (one.seq, one.message_id))
    return [(one, told.holds(one)) for one in found]


def _transcript(known: WorkshopState, told: _Told) -> list[tuple[Record, bool]]:
    """Return the active line, each record followed by what hangs on it (W2.7)."""
    hanging: dict[MessageId | None, list[Record]] = {}
    for one in known.records.values():
        if not one.advances_head and told.holds(one):
            hanging.setdefault(one.parent_id, []).append(one)
    found: list[Record] = sorted(hanging.get(None, ()), key=_order)
    taken_up = {turn.user_message_id for turn in known.turns.values()}
    for record in told.line:
        found.append(record)
        under = hanging.get(record.message_id, ())
        is_refusal_over = record.message_id in taken_up
        found += sorted(
            (one for one in under if not (is_refusal_over and one.event_kind == "run_refused")),
            key=_order,
        )
    return [(one, True) for one in found]


def _order(record: Record) -> tuple[int, str]:
    return (record.seq, record.message_id)


def _traffic(
    book: Conversations, known: WorkshopState, record: Record
) -> Iterable[answers.Message]:
    """Return a turn's tool calls in the shapes of old (W2.10)."""
    for entry in entries(known):
        if entry.turn_id != record.turn_id:
            continue
        arguments = book.store.blobs.read(entry.args_ref).decode()
        call = answers.ToolCallShape(
            id=entry.call_id, function={"name": entry.tool, "arguments": arguments}
        )
        yield answers.Message(
            message_id=None, type="assistant_message", text="", tool_calls=(call,)
        )
        yield answers.Message(
            message_id=entry.result_id,
            type="tool_result",
            text="",
            tool_call_id=entry.call_id,
            content=_receipt(book, entry) or "",
        )


# ---------------------------------------------------------------- the tool log


def entries(known: WorkshopState) -> Sequence[ToolEntry]:
    """Return the whole tool log, oldest first."""
    return [known.tools[str(number)] for number in range(1, len(known.tools) + 1)]


def tool_log(book: Conversations, request: requests.GetToolLog) -> answers.ToolLog:
    """Return a page of the tool log: receipts, no results."""
    if not 1 <= request.limit <= PAGE_MAX or request.after < 0:
        raise ValidationFailed("a page has 1 to 1000 entries", reason="bad_params")
    known = book.state(request.workbench_id)
    after = entries(known)[request.after :]
    if request.turn_id is not None:
        after = [one for one in after if one.turn_id == request.turn_id]
    activity = _Activity(known)
    page = [_shown(book, one, activity) for one in after[: request.limit]]
    return answers.ToolLog(entries=tuple(page), has_more=len(after) > request.limit)


def tool_log_entry(book: Conversations, request: requests.GetToolLogEntry) -> answers.ToolLogEntry:
    """Return one entry with its arguments and a slice of its result."""
    if request.offset < 0 or not 1 <= request.max_bytes <= SLICE_MAX_BYTES:
        raise ValidationFailed("a slice has 1 to 1048576 bytes", reason="bad_params")
    known = book.state(request.workbench_id)
    entry = _tool_entry(known, request.entry_id)
    shown = _shown(book, entry, _Activity(known))
    arguments = json.loads(book.store.blobs.read(entry.args_ref))
    if entry.result_ref is None:
        return replace(shown, args=arguments)
    data = book.store.blobs.read(entry.result_ref)
    start, part = slice_bytes(data, request.offset, request.max_bytes)
    return replace(
        shown,
        args=arguments,
        offset=start,
        content=part.decode(errors="replace"),
        has_more=start + len(part) < len(data),
    )


def tool_picture(book: Conversations, workbench_id: str, entry_id: int) -> bytes:
    """Return the picture an entry showed the model, as PNG (W26.5)."""
    entry = _tool_entry(book.state(workbench_id), entry_id)
    if entry.image_ref is None:
        raise NotFound("this call showed no picture", reason="not_found")
    return book.store.blobs.read(entry.image_ref)


def _tool_entry(known: WorkshopState, entry_id: int) -> ToolEntry:
    entry = known.tools.get(str(entry_id))
    if entry is None:
        raise NotFound("there is no such entry in the tool log", reason="entry_not_found")
    return entry


class _Activity:
    """Which turns count, asked once per turn."""

    def __init__(self, known: WorkshopState) -> None:
        self._known = known
        self._seen: dict[TurnId | None, bool] = {}

    def of(self, turn_id: TurnId | None) -> bool:
        if turn_id not in self._seen:
            self._seen[turn_id] = self._known.is_turn_active(turn_id)
        return self._seen[turn_id]


def _shown(book: Conversations, entry: ToolEntry, activity: _Activity) -> answers.ToolLogEntry:
    return made_from(
        answers.ToolLogEntry,
        entry,
        without=("entry_id", "args_ref", "call_id", "at_ms", "tree_id", "is_warned"),
        id=entry.entry_id,
        image_ref=None if entry.image_ref is None else f"sha256:{entry.image_ref}",
        result_ref=None if entry.result_ref is None else f"sha256:{entry.result_ref}",
        receipt=_receipt(book, entry),
        written=_written(book, entry),
        ts=timestamp(entry.at_ms),
        active=activity.of(entry.turn_id),
    )


def _written(book: Conversations, entry: ToolEntry) -> tuple[str, ...]:
    """Return the files a call wrote: where its `path` was only read, or it had none, its own words.

    They are read for those calls alone; of what is lost nothing is said.
    """
    if entry.batch_id is None or entry.success is False:
        return ()
    if entry.path is not None and entry.tool not in FROM_TABLES:
        return (entry.path,)
    if entry.path is not None:
        return tuple(filter(None, (evidence.target_of(evidence.arguments(book, entry)),)))
    files = evidence.result(book, entry).get("files")
    told = (one for one in (files if isinstance(files, list) else ()) if isinstance(one, dict))
    return tuple(one["path"] for one in told if isinstance(one.get("path"), str))


def _receipt(book: Conversations, entry: ToolEntry) -> str | None:
    """Return what stands for a result; receipts are a function of it, so none is stored."""
    if entry.result_ref is None:
        return None
    data = book.store.blobs.read(entry.result_ref)
    return receipt(entry.tool, entry.entry_id, data.decode(errors="replace"))

"""How facts change a conversation: `apply`, total and pure, over the bench's facts too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from backshop.base.field_copy import made_from
from backshop.base.ids import BatchId, MessageId
from backshop.bench import events as be
from backshop.bench import fold as bench_fold
from backshop.bench.events import BenchEvent
from backshop.bench.values import FileFact

from . import events as ev
from . import turn_fold
from .events import ConversationCopied, CopiedRecord, ToolAnswered, ToolCalled, WorkshopEvent
from .record import added, given_up, signed, sister, system, turned, unproposed, without_none
from .state import Record, ToolEntry, Undo, WorkshopState

_ON_CARD = 6  # files that a card of a publish names
_CHANGES = (
    be.BatchApplied
    | be.DraftCreated
    | be.DraftRestored
    | be.DraftRebased
    | be.DraftPublished
    | be.DraftDiscarded
    | be.DraftBroughtBack
    | be.FilesAdded
    | be.FilesRemoved
    | be.FileRenamed
    | be.FilesRestored
    | be.PublishedAdopted
    | be.CheckpointRestored
)
"""After one of these a rewind cannot be taken back any more, unless a turn did it (W15.12)."""


def apply(
    state: WorkshopState, fact: BenchEvent | WorkshopEvent, at_ms: int, seq: int
) -> WorkshopState:
    """Return the state after `fact`."""
    if isinstance(fact, WorkshopEvent):
        return _conversation(state, fact, at_ms, seq)
    state = _told(state, fact, at_ms, seq)
    return replace(state, bench=bench_fold.apply(state.bench, fact, at_ms, seq))


def applied(state: WorkshopState, facts: Sequence[BenchEvent | WorkshopEvent]) -> WorkshopState:
    """Return the state after facts that are about to be appended together."""
    for fact in facts:
        state = apply(state, fact, state.bench.updated_ms, 0)
    return state


# ---------------------------------------------------------------- the bench's facts


def _told(state: WorkshopState, fact: BenchEvent, at_ms: int, seq: int) -> WorkshopState:
    """Add the record a change of the files brings; what was waiting is decided by it."""
    is_rewind = isinstance(fact, be.CheckpointRestored) and fact.is_rewind
    if isinstance(fact, _CHANGES) and not is_rewind and state.running is None:
        state = replace(state, undos=())
    match fact:
        case be.BenchCreated(default_model_id=model_id, default_flow=flow):
            return replace(state, default_model_id=model_id, default_flow=flow)
        case be.DraftCreated():
            source = fact.source.kind if fact.source.ref is None else f"workshop:{fact.source.ref}"
            return system(
                state,
                sister(fact.draft_id),
                "draft_created",
                at_ms,
                seq,
                {"draft_id": fact.draft_id, "source": source},
                advances=False,
            )
        case be.BatchApplied(batch_id=batch_id, run_id=run_id, message_id=message_id):
            return _batched(state, batch_id, run_id, message_id)
        case be.DraftPublished():
            names = ("added", "modified", "deleted", "renamed")
            kept = (
                None if fact.checkpoint_id is None else state.bench.checkpoint(fact.checkpoint_id)
            )
            about: dict[str, object] = {
                "checkpoint_id": fact.checkpoint_id,
                "description": kept.description if kept else "",
                "draft_id": fact.draft_id,
                "reason": "publish",
                "counts": dict(zip(names, fact.counts, strict=True)),
                "files": _published_files(state, fact),
                "generation": state.bench.generation + 1,
            }
            state = unproposed(given_up(state))
            return system(state, fact.message_id, "checkpoint_published", at_ms, seq, about)
        case be.DraftDiscarded():
            draft = state.bench.draft
            about = {
                "draft_id": fact.draft_id,
                "source": draft.source.kind if draft else "workshop",
            }
            state = unproposed(given_up(state))
            return system(state, fact.message_id, "draft_discarded", at_ms, seq, about)
        case be.DraftBroughtBack():
            gone = state.bench.discarded
            about = {"draft_id": fact.draft_id, "source": gone.source.kind if gone else "workshop"}
            return system(state, fact.message_id, "draft_brought_back", at_ms, seq, about)
        case be.CheckpointRestored() if not fact.is_rewind:
            return _restored(unproposed(given_up(state)), fact, at_ms, seq)
        case be.FilesRestored():
            return _files_restored(state, fact, at_ms, seq)
    return state


def _published_files(state: WorkshopState, fact: be.DraftPublished) -> list[dict[str, object]]:
    """Return the first files of a publish and what became of each, for its card (B9.9)."""
    known = state.bench.files.records
    ids = {one.file_id for one in fact.files}
    gone = [path for path in fact.removed if (one := known.get(path)) and one.file_id not in ids]
    moved = {one.file_id for path in fact.removed if (one := known.get(path))}

    def became(one: FileFact) -> str:
        if one.path in known:
            return "MODIFIED"
        return "RENAMED" if one.file_id in moved else "ADDED"

    found = [{"path": one.path, "kind": became(one)} for one in fact.files[:_ON_CARD]]
    found += [{"path": path, "kind": "DELETED"} for path in gone[:_ON_CARD]]
    return [dict(one) for one in found[:_ON_CARD]]


def _restored(
    state: WorkshopState, fact: be.CheckpointRestored, at_ms: int, seq: int
) -> WorkshopState:
    """Put the card on top of the conversation as it was at the checkpoint (B10.10)."""
    target = state.bench.checkpoint(fact.checkpoint_id)
    head = None if target is None else target.conversation_head_id
    undo = Undo(
        message_id=fact.message_id,
        from_head_id=state.head_id,
        saved_revision_id=None,
        pre_restore_checkpoint_id=fact.pre_restore_checkpoint_id,
    )
    bench = replace(state.bench, conversation_head_id=head)
    state = replace(state, bench=bench, undos=(undo,))
    about: dict[str, object] = {
        "checkpoint_id": fact.checkpoint_id,
        "pre_restore_checkpoint_id": fact.pre_restore_checkpoint_id,
    }
    return system(state, fact.message_id, "checkpoint_restored", at_ms, seq, about)


def _files_restored(
    state: WorkshopState, fact: be.FilesRestored, at_ms: int, seq: int
) -> WorkshopState:
    """Say beside the conversation, which stays, that single files are what they were (B27.1).

    The record goes by the checkpoint that was kept of what was there, right before.
    """
    kept = state.bench.checkpoints[-1].checkpoint_id
    about: dict[str, object] = {
        "checkpoint_id": fact.checkpoint_id,
        "pre_restore_checkpoint_id": kept,
        "paths": [one.path for one in fact.files],
    }
    return system(state, sister(kept), "files_restored", at_ms, seq, about, advances=False)


def _batched(
    state: WorkshopState, batch_id: BatchId, run_id: str | None, message_id: MessageId | None
) -> WorkshopState:
    """Count a batch among those of the turn that made it; one without a run goes by its answer."""
    turn = state.running
    if turn is None:
        return state
    is_own = message_id == turn.message_id if run_id is None else run_id == turn.run_id
    if not is_own:
        return state
    return turned(state, turn_fold.wrote(turn, batch_id))


# ---------------------------------------------------------------- the conversation's own


def _conversation(state: WorkshopState, fact: WorkshopEvent, at_ms: int, seq: int) -> WorkshopState:
    match fact:
        case ev.MessageSent():
            return _sent(state, fact, at_ms, seq)
        case ev.ModelSwitched():
            return _switched(state, fact, at_ms, seq)
        case ev.DefaultModelSet(model_id=model_id):
            return replace(state, default_model_id=model_id)
        case ev.FlowSet(flow=flow):
            return replace(state, flow=flow)
        case (
            ev.TurnStarted()
            | ev.TurnResumed()
            | ev.StepEnded()
            | ev.PhaseStarted()
            | ev.PhaseEnded()
            | ev.TurnMoved()
            | ev.ItemStarted()
            | ev.ItemAttemptFailed()
            | ev.ItemLeftUnfinished()
            | ev.ItemEnded()
            | ev.CancelAsked()
        ):
            return turn_fold.progress(state, fact, at_ms)
        case ev.AnswerStreamed():
            return turn_fold.streamed(state, fact, at_ms, seq)
        case ev.AnswerWithdrawn(message_id=message_id):
            return replace(state, records=state.records.drop(message_id))
        case ev.TurnEnded():
            return turn_fold.ended(state, fact, at_ms, seq)
        case ev.TurnPaused():
            return turn_fold.paused(state, fact, at_ms, seq)
        case ev.TurnTold():
            return turn_fold.told(state, fact)
        case ev.RunRefused():
            return turn_fold.refused(state, fact, at_ms, seq)
        case ev.NoteAdded() | ev.NotesRead():
            return turn_fold.noted(state, fact, at_ms, seq)
        case ev.Rewound() | ev.Redone() | ev.Regenerated():
            return _moved(state, fact, at_ms, seq)
        case ev.Noticed() | ev.Compressed():
            return _remarked(state, fact, at_ms, seq)
        case ev.ProposalMade() | ev.ProposalClosed():
            return turn_fold.proposed(state, fact, at_ms, seq)
        case ev.ReminderDismissed(draft_id=draft_id, reminder=reminder):
            return replace(state, dismissed=(draft_id, reminder, at_ms))
        case ToolCalled() | ToolAnswered():
            return _logged(state, fact, at_ms)
        case ConversationCopied(records=records):
            return _copied(state, records, seq)
    assert_never(fact)


def _sent(state: WorkshopState, fact: ev.MessageSent, at_ms: int, seq: int) -> WorkshopState:
    record = Record(
        message_id=fact.message_id,
        type="user_message",
        role="user",
        text=fact.text,
        created_ms=at_ms,
        parent_id=state.head_id,
        seq=seq,
        metadata=signed(
            state,
            without_none(
                mode=fact.mode,
                origin=fact.origin,
                client_message_id=fact.client_message_id,
                on_draft=True if fact.on_draft else None,
                draft_tree=fact.on_draft,
                comment_ids=list(fact.comment_ids) or None,
            ),
        ),
        session_seq=fact.session_seq,
    )
    sent = state.sent
    if fact.client_message_id is not None:
        sent = sent.put(fact.client_message_id, fact.message_id)
    state = replace(given_up(state), sent=sent, undos=(), session_seq=fact.session_seq)
    return added(state, record)


def _switched(state: WorkshopState, fact: ev.ModelSwitched, at_ms: int, seq: int) -> WorkshopState:
    state = replace(state, model_id=fact.to_model_id, default_model_id=fact.to_model_id)
    if fact.message_id is None:
        return state
    about: dict[str, object] = {
        "from_model_id": fact.from_model_id,
        "to_model_id": fact.to_model_id,
    }
    state = replace(state, announced_model_id=fact.to_model_id)
    return system(state, fact.message_id, "model_switched", at_ms, seq, about)


def _moved(
    state: WorkshopState, fact: ev.Rewound | ev.Redone | ev.Regenerated, at_ms: int, seq: int
) -> WorkshopState:
    match fact:
        case ev.Rewound():
            undo = Undo(
                message_id=fact.message_id,
                from_head_id=fact.from_head_id,
                saved_revision_id=fact.saved_revision_id,
                pre_restore_checkpoint_id=fact.pre_restore_checkpoint_id,
            )
            state = replace(unproposed(given_up(state)), undos=(*state.undos, undo))
            about = without_none(
                from_head_id=fact.from_head_id,
                to_head_id=fact.to_head_id,
                mode=fact.mode,
                draft_revision_id=fact.draft_revision_id,
                restored_checkpoint_id=fact.restored_checkpoint_id,
                discarded_count=fact.discarded_count,
            )
            kind = "undo"
        case ev.Redone():
            about = {
                "to_head_id": fact.to_head_id,
                "undo_id": fact.undo_id,
                "of": state.undo_kind(fact.undo_id),
            }
            state, kind = replace(given_up(state), undos=_after_redo(state, fact)), "redo"
        case ev.Regenerated():
            about = {
                "from_message_id": fact.from_message_id,
                "replaced_message_id": fact.replaced_message_id,
                "new_message_id": fact.new_message_id,
                **without_none(note=fact.note, model_id=fact.model_id),
            }
            kind = "regenerate"
    return system(state, fact.message_id, kind, at_ms, seq, about, advances=False)


def _after_redo(state: WorkshopState, fact: ev.Redone) -> tuple[Undo, ...]:
    """Return what can be taken back next; an answer that gave way comes last, as the oldest."""
    rest = state.undos[:-1]
    if fact.left_head_id is None:
        return rest
    left = Undo(
        message_id=fact.message_id,
        from_head_id=fact.left_head_id,
        saved_revision_id=fact.saved_revision_id,
        pre_restore_checkpoint_id=fact.pre_restore_checkpoint_id,
    )
    return (left, *rest)


def _remarked(
    state: WorkshopState, fact: ev.Noticed | ev.Compressed, at_ms: int, seq: int
) -> WorkshopState:
    if isinstance(fact, ev.Noticed):
        about = without_none(
            reason=fact.reason, format=fact.format, category=fact.category, text=fact.text
        )
        state = replace(state, notices=state.notices | {fact.key})
        return system(state, fact.message_id, "notice", at_ms, seq, about, advances=False)
    covers = {"first_id": fact.first_id, "last_id": fact.last_id, "count": fact.count}
    if fact.summary_message_id is not None:
        summary = Record(
            message_id=fact.summary_message_id,
            type="summary_message",
            role="system",
            text=fact.text,
            created_ms=at_ms,
            parent_id=state.head_id,
            seq=seq,
            advances_head=False,
            metadata={"covers": covers, "model_id": fact.model_id},
            session_seq=state.session_seq,
        )
        state = added(state, summary)
    about = {
        "summary_message_id": fact.summary_message_id,
        "covered_count": fact.count,
        "fallback": fact.fallback,
    }
    return system(state, fact.message_id, "context_compressed", at_ms, seq, about, advances=False)


def _logged(state: WorkshopState, fact: ToolCalled | ToolAnswered, at_ms: int) -> WorkshopState:
    key = str(fact.entry_id)
    if isinstance(fact, ToolAnswered):
        known = state.tools.get(key)
        if known is None:
            return state
        entry = replace(
            known,
            result_ref=fact.result_ref,
            result_bytes=fact.result_bytes,
            success=fact.success,
            error=fact.error,
            elapsed_ms=fact.elapsed_ms,
        )
        return replace(state, tools=state.tools.put(key, entry))
    if fact.replay_of is not None and fact.batch_id is not None:
        state = _batched(state, fact.batch_id, fact.run_id, None)
    entry = made_from(ToolEntry, fact, without=("actor",), at_ms=at_ms)
    return replace(state, tools=state.tools.put(key, entry))


def _copied(state: WorkshopState, records: Sequence[CopiedRecord], seq: int) -> WorkshopState:
    """Add copied records; none of them belongs to a turn of this workbench."""
    known = state.records
    for one in records:
        told = json.loads(one.metadata_json)
        record = made_from(Record, one, without=("metadata_json",), seq=seq, metadata=told)
        known = known.put(one.message_id, record)
    return replace(state, records=known)

"""Rules about going back: rewind, its choices where files changed since, and redo (W15)."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.errors import AccessDenied, NotFound, ValidationFailed
from backshop.base.ids import CheckpointId, MessageId, RevisionId
from backshop.bench import decide as bench_decide
from backshop.bench.decide import Totals
from backshop.bench.events import CheckpointRestored, HeadMoved
from backshop.bench.revision import Revision
from backshop.bench.state import Checkpoint
from backshop.bench.values import ItemChange
from backshop.workshop.conversation import events as ev
from backshop.workshop.conversation.state import Record, Undo, WorkshopState
from backshop.workshop.errors import PublishedMoved, RevisionPruned

from .conversation import Fact, require_idle

MODES = ("chat_only", "discard_draft", "restore_published")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """Fresh ids a rewind or redo may need."""

    message: MessageId
    revision: RevisionId
    checkpoint: CheckpointId


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoring:
    """What is known beforehand about bringing Published and the context items back."""

    totals: Totals
    items: tuple[ItemChange, ...] = ()
    """Context items that will be others (B10.16)."""
    may_publish: bool = True
    """Whether whoever asks may change Published at all (T6.4)."""

    def require_right(self) -> None:
        """Refuse somebody who may write to the Draft alone."""
        if not self.may_publish:
            raise AccessDenied("this changes Published and needs the role 'publish'", reason="role")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A record to go back to, and what that would mean for the files."""

    record: Record
    discarded: tuple[Record, ...]
    revision: Revision | None
    """The Draft's state then; None when there was never one."""
    is_crossing: bool = False
    """Whether a publish or restore lies between."""
    checkpoint: Checkpoint | None = None
    """What brings the Published of then back, when it is still kept."""
    may_publish: bool = True
    """Whether whoever asks may bring it back (T6.4)."""

    @property
    def is_pruned(self) -> bool:
        """Whether the Draft's state then is not kept any more."""
        return self.revision is not None and self.revision.is_pruned

    def restored_by(self, mode: str | None) -> Checkpoint | None:
        """Return the checkpoint that a way of going back makes Published, if it does that."""
        return self.checkpoint if mode == "restore_published" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What going back would do (W15.2)."""

    discarded_count: int
    draft: str
    published_changed: bool
    revision_available: bool
    choices: tuple[str, ...]


def target_of(state: WorkshopState, message_id: str, *, may_publish: bool = True) -> Target:
    """Return what a rewind to a record means, or refuse the record (W15.3)."""
    require_idle(state)
    record = state.records.get(message_id)
    if record is None:
        raise NotFound("there is no such message", reason="message_not_found")
    if not record.advances_head:
        raise ValidationFailed("one cannot go back to this record", reason="bad_target")
    line = state.active_line()
    places = [n for n, one in enumerate(line) if one.message_id == message_id]
    if not places:
        raise ValidationFailed(
            "this message is not part of the chat now", reason="message_inactive"
        )
    after = tuple(line[places[0] + 1 :])
    crossed = next((one for one in after if one.changes_published), None)
    return Target(
        record=record,
        discarded=after,
        revision=state.revision_at(record.message_id),
        is_crossing=crossed is not None,
        checkpoint=None if crossed is None else _checkpoint_before(state, crossed),
        may_publish=may_publish,
    )


def _checkpoint_before(state: WorkshopState, card: Record) -> Checkpoint | None:
    """Return the checkpoint that holds Published as it was before a card (B10.13)."""
    key = "checkpoint_id"
    if card.event_kind == "checkpoint_restored":
        key = "pre_restore_checkpoint_id"
    return state.bench.checkpoint(CheckpointId(str(card.metadata.get(key))))


def choices(state: WorkshopState, target: Target) -> tuple[str, ...]:
    """Return the modes that are offered here; none when a plain rewind does (W15.3)."""
    if target.is_crossing:
        if target.checkpoint is None:
            return ("chat_only",)
        back = ("restore_published",) if target.may_publish else ()
        drop = ("discard_draft",) if state.bench.draft is not None else ()
        return ("chat_only", *back, *drop)
    return ("chat_only", "discard_draft") if target.is_pruned else ()


def effects(state: WorkshopState, target: Target, mode: str | None) -> Effects:
    """Say what a rewind would do, without doing it."""
    return Effects(
        discarded_count=len(target.discarded),
        draft=_draft_after(state, target, mode),
        published_changed=target.is_crossing,
        revision_available=not target.is_pruned
        and not (target.is_crossing and target.checkpoint is None),
        choices=choices(state, target),
    )


def _draft_after(state: WorkshopState, target: Target, mode: str | None) -> str:
    """Return `none`, `keep`, `restore` or `discard`."""
    has_now = state.bench.draft is not None
    wanted = _revision_for(state, target, mode)
    if wanted is None or wanted.draft is None:
        return "discard" if has_now else "none"
    now = state.bench.draft
    return "keep" if now is not None and now.tree == wanted.draft.tree else "restore"


def _revision_for(state: WorkshopState, target: Target, mode: str | None) -> Revision | None:
    """Return the state the Draft gets; None is no Draft."""
    if mode == "chat_only":
        current = state.current_revision()
        return None if current is None else state.bench.revision(current)
    if mode is not None or target.is_pruned:
        return None
    return target.revision


def require_way(state: WorkshopState, target: Target, mode: str | None) -> None:
    """Refuse a plain rewind where the person has to choose, and a mode that is not offered."""
    offered = choices(state, target)
    if mode is None:
        if target.is_crossing and target.checkpoint is not None:
            raise PublishedMoved(
                "files were published or restored since then",
                reason="published_changed",
                choices=offered,
            )
        if offered:
            raise RevisionPruned(
                "the state of the files at that point is not kept any more",
                reason="revision_pruned",
                choices=offered,
            )
        return
    if mode not in MODES or mode not in offered:
        raise ValidationFailed(
            "this way of going back is not offered here", reason="bad_mode", choices=offered
        )


def rewind(
    state: WorkshopState, target: Target, mode: str | None, ids: Ids, restoring: Restoring
) -> list[Fact]:
    """Go back to a record: head, Draft and, if asked for, Published move together (W15.1)."""
    if not target.discarded:
        return []
    require_way(state, target, mode)
    head_id = state.head_id
    assert head_id is not None
    facts: list[Fact] = []
    restored = None
    if mode == "restore_published":
        assert target.checkpoint is not None
        restored = target.checkpoint.checkpoint_id
        facts += _bring_back(state, target.checkpoint, ids, restoring, "Before rewinding")
    wanted = _revision_for(state, target, mode)
    to_id = target.record.message_id
    facts += bench_decide.rewind(state.bench, wanted, ids.revision, to_id)
    facts += [
        HeadMoved(message_id=to_id),
        ev.Rewound(
            message_id=ids.message,
            from_head_id=head_id,
            to_head_id=to_id,
            discarded_count=len(target.discarded),
            mode=mode,
            saved_revision_id=state.current_revision(),
            draft_revision_id=None if wanted is None or wanted.draft is None else ids.revision,
            restored_checkpoint_id=restored,
            pre_restore_checkpoint_id=ids.checkpoint if restored is not None else None,
        ),
    ]
    return facts


def last_undo(state: WorkshopState, message_id: str | None) -> Undo:
    """Return what can be taken back now; refuse a record that stands for something else."""
    require_idle(state)
    if not state.undos:
        raise ValidationFailed("there is no rewind to take back", reason="nothing_to_redo")
    if message_id not in (None, state.undos[-1].message_id):
        raise ValidationFailed(
            "this is not what happened last; it cannot be taken back", reason="nothing_to_redo"
        )
    return state.undos[-1]


def redo(
    state: WorkshopState, ids: Ids, restoring: Restoring, message_id: str | None = None
) -> list[Fact]:
    """Take the most recent rewind back, which a record may have to stand for (W15.12)."""
    undo = last_undo(state, message_id)
    facts: list[Fact] = []
    if undo.pre_restore_checkpoint_id is not None:
        before = state.bench.checkpoint(undo.pre_restore_checkpoint_id)
        if before is None:
            raise RevisionPruned(
                "the files of before the rewind are not kept any more", reason="revision_pruned"
            )
        facts += _bring_back(state, before, ids, restoring, "Before redoing")
    saved = None
    if undo.saved_revision_id is not None:
        saved = state.bench.revision(undo.saved_revision_id)
        if saved is None or saved.is_pruned:
            raise RevisionPruned(
                "the Draft of before the rewind is not kept any more", reason="revision_pruned"
            )
    facts += bench_decide.rewind(state.bench, saved, ids.revision, undo.from_head_id)
    is_restored = undo.pre_restore_checkpoint_id is not None
    leaves = _leaves_an_answer(state, undo.from_head_id)
    facts += [
        HeadMoved(message_id=undo.from_head_id),
        ev.Redone(
            message_id=ids.message,
            to_head_id=undo.from_head_id,
            undo_id=undo.message_id,
            left_head_id=state.head_id if leaves else None,
            saved_revision_id=state.current_revision() if leaves else None,
            pre_restore_checkpoint_id=ids.checkpoint if leaves and is_restored else None,
        ),
    ]
    return facts


def _leaves_an_answer(state: WorkshopState, head_id: MessageId | None) -> bool:
    """Whether going to a record sets an answer aside that was given since the rewind."""
    line = {record.message_id for record in state.line(head_id)}
    return any(
        one.type == "assistant_message" and one.message_id not in line
        for one in state.active_line()
    )


def _bring_back(
    state: WorkshopState, wanted: Checkpoint, ids: Ids, restoring: Restoring, description: str
) -> list[Fact]:
    """Return the facts that make Published what a checkpoint holds, keeping what is there."""
    restoring.require_right()
    totals = restoring.totals
    return [
        bench_decide.checkpoint(state.bench, ids.checkpoint, "pre_restore", description, totals),
        CheckpointRestored(
            checkpoint_id=wanted.checkpoint_id,
            pre_restore_checkpoint_id=ids.checkpoint,
            tree=wanted.tree,
            context_tree=wanted.context_tree,
            message_id=ids.message,
            is_rewind=True,
            items=restoring.items,
        ),
    ]

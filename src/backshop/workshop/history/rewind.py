"""Going back and forth in a conversation: the I/O around the rules of W15."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backshop.base.field_copy import made_from
from backshop.bench import (
    ChangedFile,
    differing,
    files_moved,
    files_proved,
    is_restorable,
    require_whole,
)
from backshop.bench.state import Checkpoint
from backshop.prompts import NewRecord, Session, SessionRestored, SessionRewound
from backshop.prompts import part_of as session_part
from backshop.store import HeadMoved, Part

from .. import requests
from ..answers import RedoDone, UndoEffects, Undone
from ..conversation import decide
from ..conversation.fold import applied
from ..conversation.repository import Committed, Conversations, Rule, prompt_session
from ..conversation.state import WorkshopState
from ..errors import DraftUnreadable

_TRIES = 4


def undo(
    book: Conversations, request: requests.UndoToMessage, *, may_publish: bool = True
) -> Undone:
    """Go back to a record (W15.1); nothing but local data is read."""
    known = book.state(request.workbench_id)
    target = decide.target_of(known, request.message_id, may_publish=may_publish)
    if request.dry_run:
        return _preview(book, known, target, request.mode)
    target, is_fallback = _readable(book, known, target, request.mode)
    wanted = target.restored_by(request.mode)
    ids, needed = book.ids(), restoring(book, known, wanted, may_publish=may_publish)

    def rule(now: WorkshopState) -> Sequence[object]:
        found = decide.target_of(now, request.message_id, may_publish=may_publish)
        if is_fallback:
            found = replace(found, revision=target.revision)
        return decide.rewind(now, found, request.mode, ids, needed)

    told = with_session(book, request.workbench_id, rule, target.record.session_seq)
    undone = told.state.undos[-1] if told.state.undos else None
    is_done = undone is not None and undone.message_id == ids.message
    return Undone(
        conversation_head_id=told.state.head_id,
        discarded_count=len(target.discarded),
        draft_revision_id=told.state.current_revision(),
        restored_checkpoint_id=wanted.checkpoint_id if is_done and wanted is not None else None,
        changed=files_proved(book.desk, known.bench, told.state.bench),
        fallback=is_fallback,
        degraded=is_fallback,
        warnings=(*told.warnings, *(("revision_fallback",) if is_fallback else ())),
    )


def redo(book: Conversations, request: requests.Redo, *, may_publish: bool = True) -> RedoDone:
    """Take the last rewind back (W15.12)."""
    known = book.state(request.workbench_id)
    own = request.message_id
    undo = decide.last_undo(known, own)
    wanted = _left(book, known)
    ids, needed = book.ids(), restoring(book, known, wanted, may_publish=may_publish)
    back = None if undo.from_head_id is None else known.records.get(undo.from_head_id)
    seq = back.session_seq if back else 0
    told = with_session(
        book, request.workbench_id, lambda now: decide.redo(now, ids, needed, own), seq
    )
    return RedoDone(
        conversation_head_id=told.state.head_id,
        of=known.undo_kind(undo.message_id),
        draft_revision_id=told.state.current_revision(),
        changed=files_proved(book.desk, known.bench, told.state.bench),
        warnings=told.warnings,
    )


def restoring(
    book: Conversations, known: WorkshopState, wanted: Checkpoint | None, *, may_publish: bool
) -> decide.Restoring:
    """Return what bringing a checkpoint back needs to know.

    One that lacks contents is refused, and all of them to somebody who may not publish; the rule
    asks that again, because what it brings back may be another by then.
    """
    needed = decide.Restoring(totals=book.desk.totals(known.bench), may_publish=may_publish)
    if wanted is None:
        return needed
    needed.require_right()
    require_whole(book.desk, known.bench, wanted)
    items = differing(book.desk, known.bench.context_tree, wanted.context_tree)
    return replace(needed, items=items)


def _left(book: Conversations, known: WorkshopState) -> Checkpoint | None:
    """Return what a redo makes Published, if it does; refuse where its Draft lacks contents."""
    if not known.undos:
        return None
    undo = known.undos[-1]
    saved = undo.saved_revision_id and known.bench.revision(undo.saved_revision_id)
    if saved and saved.draft is not None:
        lost = book.desk.soundness.of_older(known.bench, saved.draft.tree, thorough=True)
        if lost:
            raise DraftUnreadable("the Draft lacks contents", reason=lost[0].reason)
    before = undo.pre_restore_checkpoint_id
    return None if before is None else known.bench.checkpoint(before)


def _preview(
    book: Conversations, known: WorkshopState, target: decide.Target, mode: str | None
) -> Undone:
    wanted = target.restored_by(mode)
    if wanted is not None:
        restoring(book, known, wanted, may_publish=target.may_publish)
    elif mode is None and target.checkpoint is not None and target.may_publish:
        wanted = target.checkpoint
        if not is_restorable(book.desk, known.bench, wanted):  # then it is no choice
            target, wanted = replace(target, checkpoint=None), None
    found = decide.effects(known, target, mode)
    lost = () if wanted is None else _files_lost(book, known, wanted)
    return Undone(
        conversation_head_id=known.head_id,
        discarded_count=found.discarded_count,
        changed=_would_change(book, known, target, mode),
        effects=made_from(UndoEffects, found, files_lost=lost),
    )


def _would_change(
    book: Conversations, known: WorkshopState, target: decide.Target, mode: str | None
) -> tuple[ChangedFile, ...]:
    """Return the files a rewind would change; where there is a choice, all that it can change."""
    offered = decide.choices(known, target)
    if mode is None and "restore_published" in offered:
        mode = "restore_published"
    if mode not in (offered or (None,)):  # it would be refused
        return ()
    needed = decide.Restoring(totals=book.desk.totals(known.bench))
    after = applied(known, decide.rewind(known, target, mode, book.ids(), needed))
    return files_moved(book.desk, known.bench, after.bench)


def _files_lost(book: Conversations, known: WorkshopState, wanted: Checkpoint) -> tuple[str, ...]:
    """Return the files of Published that would disappear (B10.13)."""
    then = book.desk.entries(wanted.tree)
    return tuple(sorted(path for path in known.bench.files.records if path not in then))


def _readable(
    book: Conversations, known: WorkshopState, target: decide.Target, mode: str | None
) -> tuple[decide.Target, bool]:
    """Return the target with the newest state of the Draft that can be read (B8.18)."""
    wanted = target.revision
    if mode is not None or wanted is None or wanted.draft is None:
        return target, False
    line = {record.message_id for record in known.line(target.record.message_id)}
    kept = known.bench.revisions.kept
    bound = [r for r in kept if r.message_id is None or r.message_id in line]
    older = (r for r in reversed(bound) if r.number < wanted.number)
    for one in (wanted, *older):
        assert one.draft is not None, "what is kept has its Draft"
        sound = book.desk.soundness
        if not sound.of_older(known.bench, one.draft.tree, thorough=True):
            return replace(target, revision=one), one.revision_id != wanted.revision_id
    raise DraftUnreadable("no state of the Draft up to there can be read", reason="missing_blob")


def with_session(
    book: Conversations,
    bench_id: str,
    rule: Rule,
    to_seq: int,
    *,
    lease: str | None = None,
) -> Committed:
    """Commit a move of the head together with the prompt session's (P2.15)."""
    for last in (False,) * (_TRIES - 1) + (True,):
        parts = _session_moves(book, bench_id, to_seq)
        try:
            return book.commit(bench_id, rule, parts=parts, lease=lease)
        except HeadMoved:  # somebody wrote to the prompt session meanwhile
            if last:
                raise
    raise AssertionError("the last try returns or raises")


def _session_moves(book: Conversations, bench_id: str, to_seq: int) -> list[Part]:
    """Return what takes the prompt session to where it stood at a record; nothing if it is there.

    A place that a rewind made inactive is brought back as a snapshot: what the session knew right
    after that event is the fold of the events up to it.
    """
    own = prompt_session(bench_id)
    if book.session_seq(bench_id) <= to_seq:
        return []
    session = Session(session_id=own, log=book.store, clock=book.clock)
    fact: object = SessionRewound(to_seq=to_seq)
    if not session.is_active(to_seq):
        fact = SessionRestored(snapshot_ref=session.put(session.snapshot_at(to_seq).to_json()))
    record = NewRecord(book.new("evt"), fact)
    return [session_part(own, [record], after=session.seq)]

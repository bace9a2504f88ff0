"""Answering again: every check first, then back and on in one step (W15.8, W15.9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backshop.base.ids import TurnId

from .. import requests
from ..answers import Answered
from ..conversation import decide
from ..conversation.events import Regenerated, Step
from ..conversation.repository import Conversations, Rule
from ..conversation.state import WorkshopState
from ..turn.context import Work
from ..turn.lease import Hold
from ..turn.service import Turns, flow_with
from . import rewind


def regenerate(
    book: Conversations, turns: Turns, request: requests.Regenerate, *, may_publish: bool = True
) -> Answered:
    """Replace an answer, or give the first one to a message."""
    bench_id, note = request.workbench_id, decide.note_text(request.note)
    known = turns.settled(bench_id)
    found = decide.again(known, request.message_id)
    decide.require_again(known, found, request.mode, may_publish=may_publish)
    usual = turns.model_of(known)
    adapter = turns.adapter(bench_id, request.model_id or usual, turns.flow_of(known))
    turns.require_manifest(bench_id)
    flow = flow_with(adapter, turns.flow_of(known))
    wish = turns.wish(bench_id, found.record.message_id, adapter, flow)
    wish = replace(wish, note=note, instead_of=usual if request.model_id else None)
    before = decide.earlier_run(known, found.record, wish.workflow_id) if wish.run_id else None
    first = None
    if before is not None and before.run_id is not None and before.session_id is not None:
        first = turns.first_step(before.run_id, before.session_id)
    target = decide.target_of(known, found.record.message_id)
    ids = book.ids()
    wanted = target.restored_by(request.mode)
    restoring = rewind.restoring(book, known, wanted, may_publish=may_publish)

    def again(step: Step | None, begin: decide.Begin) -> Rule:
        return lambda now: decide.regenerate(
            now, request.message_id, request.mode, begin, step, ids, restoring
        )

    def start(hold: Hold) -> None:
        if first is None and wish.run_id is not None:
            turns.start(bench_id, known, wish, hold, lambda now, step: again(step, wish)(now))
            return
        branch = wish
        if before is not None:  # another branch of the earlier turn's run (W13.2)
            branch = replace(
                wish,
                run_id=before.run_id,
                session_id=before.session_id,
                workflow_id=before.workflow_id,
            )
        rewind.with_session(
            book,
            bench_id,
            again(first, branch),
            found.record.session_seq,
            lease=hold.owner,
        )

    done = turns.work(bench_id, Work(wish.turn_id, adapter), start)
    _told(book, bench_id, done, found, wish)
    return done


def _told(
    book: Conversations, bench_id: str, done: Answered, found: decide.Again, wish: decide.Begin
) -> None:
    """Append the record that says what was replaced; it comes last (W15.9)."""
    is_new = done.status in ("complete", "paused")
    fact = Regenerated(
        message_id=book.new_message(),
        from_message_id=found.record.message_id,
        replaced_message_id=found.replaced,
        new_message_id=book.state(bench_id).turns[TurnId(done.turn_id)].message_id
        if is_new
        else None,
        note=wish.note,
        model_id=wish.model_id if wish.instead_of else None,
    )

    def rule(_: WorkshopState) -> Sequence[object]:
        return [fact]

    book.commit(bench_id, rule)

"""How a turn begins: what it is going to be, and its first append (W5.4, W13.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from backshop.base.acting import acting_user
from backshop.base.errors import ValidationFailed
from backshop.base.ids import MessageId, did
from backshop.bench import stream_of
from backshop.rails import Arrived, Beside, Driving
from backshop.store import Write

from ..conversation import decide
from ..conversation.events import Step
from ..conversation.repository import Conversations, rails_session
from ..conversation.state import AUTO, RPI, Turn, WorkshopState
from ..conversation.stream import FOLD
from .lease import Hold
from .step import step_of

Rule = Callable[[WorkshopState, Step | None], Sequence[object]]
"""The state, and the first step of the run if there is one → what begins the turn."""


def wish(
    book: Conversations, bench_id: str, message_id: MessageId, model_id: str, flow: str
) -> decide.Begin:
    """Return a turn that is about to start."""
    turn_id, session_id = book.new_turn(), rails_session(bench_id)
    plain = decide.Begin(
        turn_id=turn_id,
        user_message_id=message_id,
        message_id=book.new_message(),
        model_id=model_id,
        flow=flow,
        user_id=acting_user(),
        program=book.program,
    )
    if flow == "compat":
        return plain
    return replace(
        plain,
        run_id=did("run", session_id, turn_id),
        session_id=session_id,
        workflow_id=AUTO if flow == "auto" else RPI,
    )


def again(
    book: Conversations, driving: Driving, turn: Turn, model_id: str, *, is_by_worker: bool = False
) -> decide.Resume:
    """Return a turn that is about to go on: for whoever asks now; by a worker for whom it was."""
    step = None
    if turn.node_id is not None:
        step = step_of(driving.standing(turn.node_id), turn.done_items)
    return decide.Resume(
        turn_id=turn.turn_id,
        message_id=book.new_message(),
        model_id=model_id,
        revision_id=book.desk.new_revision(),
        user_id=acting_user(),
        is_owners=acting_user() is None and not is_by_worker,
        program=book.program,
        step=step,
    )


def driven(wish: decide.Begin, workflow_id: str) -> decide.Begin:
    """Return a turn as another workflow drives it; flow `compat` has none.

    Raises:
        ValidationFailed: the flow has none.
    """
    if wish.run_id is None:
        raise ValidationFailed("no workflow drives turns of flow compat", reason="bad_params")
    return replace(wish, workflow_id=workflow_id)


def start(
    book: Conversations,
    driving: Driving,
    bench_id: str,
    known: WorkshopState,
    wish: decide.Begin,
    hold: Hold,
    rule: Rule,
    inputs: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Begin a turn, and its run with it in the same append, if its flow has one (W13.8)."""
    if wish.run_id is None:
        book.commit(bench_id, lambda now: rule(now, None), lease=hold.owner)
        return
    record = known.records[wish.user_message_id]

    def write(state: WorkshopState, at: Arrived) -> Write:
        facts = book.writing(bench_id, lambda now: rule(now, step_of(at)), lease=hold.owner)
        return facts(state)

    context = {
        **inputs,
        "turn_id": wish.turn_id,
        "user_message_id": wish.user_message_id,
        "mode": str(record.metadata.get("mode", "agent")),
        "model_id": wish.model_id,
        "published_generation": known.bench.generation,
        "goal": record.text,
    }
    assert wish.session_id is not None
    book.desk.require_room(bench_id, known.bench, rule(known, None))
    with book.locked(bench_id):
        driving.begin(
            wish.workflow_id or RPI,
            session_id=wish.session_id,
            run_id=wish.run_id,
            context=context,
            beside=Beside(stream_of(bench_id), FOLD, write),
        )
        book.appended(bench_id, known.bench, book.state(bench_id).bench)

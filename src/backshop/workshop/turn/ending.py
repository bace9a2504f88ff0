"""Summary and every other end of a turn: exactly one record says how it came out (W11.17, W5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from backshop.base.ids import TurnId
from backshop.base.limits import KIB, NOTES_MAX_BYTES
from backshop.bench.values import PathChange
from backshop.rails import Standing

from .. import evidence
from ..conversation import decide, fold, turn_facts
from ..conversation.decide import Ending
from ..conversation.events import ItemEnd, Problem
from ..conversation.repository import Conversations, Rule
from ..conversation.state import BUSY, Turn, WorkshopState
from ..conversation.turn_facts import TurnFacts
from ..cut import cut_bytes
from ..evidence import NOTHING, Noticed
from ..prompt.inputs import Artifacts, ChangeFact
from ..signals import AnswerStream
from . import artifact, outcome
from .artifact import HandedOver
from .context import CANCELED, Asked, LoopFailed, Stopped, TurnContext
from .lease import is_unwanted
from .step import HandIn

ANSWER_MAX_BYTES = NOTES_MAX_BYTES - KIB  # W13.3: the record and the run's notes hold it whole
ARTIFACT_MAX_BYTES = 48 * KIB
SUM_UP = (
    "Write the answer to the person who made the request, in their language. Begin with the "
    "outcome. Name every changed file by its exact path, what was found, and what failed. Do not "
    "repeat the steps and do not promise anything that has not been done."
)
Stop = Callable[[WorkshopState, Ending], Sequence[decide.Fact]]
"""The rule by which a turn ends or stops."""
DEAD = Problem(
    code=BUSY,
    reason="lease_lost",
    message="the program that did the work ended",
    actions=("resume",),
)
HELPS = {
    "open_settings": "check the settings",
    "retry": "try again",
    "reduce_scope": "ask for less at once",
    "switch_model": "switch to another model",
}
REFUSED_FOR_GOOD = frozenset(
    ("PROVIDER_AUTH_FAILED", "PROVIDER_NOT_CONFIGURED", "PROVIDER_REQUEST_REJECTED")
)
"""What the provider would refuse again: before any work there is nothing to go on from."""
INTERRUPTED = Problem(
    code="PROVIDER_UNAVAILABLE",
    reason="summary_interrupted",
    message="the answer broke off before its end",
    actions=("resume", "retry"),
)


def summary(run: TurnContext, standing: Standing, so_far: HandedOver) -> HandIn:
    """Write the answer, and end the turn with it; what is true of the turn stands beside it.

    A workflow that has no step for it is complete without it.
    """
    text, source = _written(run, standing.prompt or SUM_UP, so_far)
    whole = cut_bytes(text, ANSWER_MAX_BYTES)
    wish = ending(run, "complete", "complete", whole, source=source, notes=notes_of(so_far))
    kept = cut_bytes(whole, ARTIFACT_MAX_BYTES)
    handed: list[dict[str, object]] = [
        {
            "kind": artifact.SUMMARY,
            "markdown": kept,
            "source": source,
            "changed_paths": list(wish.changed_paths),
        }
    ]
    if wish.facts is not None:
        handed.append({"kind": artifact.FACTS, "lines": list(turn_facts.told(wish.facts))})
    return HandIn(
        notes=None if kept == whole else whole,
        artifacts=handed,
        result=decide.StepResult(answer=wish),
    )


def _written(run: TurnContext, step: str, so_far: HandedOver) -> tuple[str, str]:
    """Let the model write the answer, or write it without one; say which."""
    changes = changed_files(run.state(), run.book)
    facts = evidence.facts_of(run.book, run.state(), run.turn(), notes=notes_of(so_far))
    stream = answer_stream(run)
    asked = Asked(
        key="summary",
        step=step,
        artifacts=Artifacts(
            research=so_far.research,
            plan=so_far.plan_text,
            reports=so_far.reports,
            changes=changes,
            outcomes=() if facts is None else turn_facts.besides(facts),
        ),
        said=stream,
    )
    source = "model"
    try:
        response = run.ask(asked)
        if not stream.text.strip():
            stream.add(response.text or "")
    except LoopFailed as failed:
        source = _without_model(run, stream, facts, failed.problem)
    except Stopped as stopped:
        if stopped.why == "cancel":
            stream.keep()  # what people saw stays (W5.11)
        if stopped.why != "pause" or (not changes and not stream.text):
            raise
        source = _without_model(run, stream, facts, stopped.problem)
    if not stream.text.strip():
        stream.add(outcome.engine_summary(facts))
        source = "engine"
    stream.close()
    return stream.text, source


def _without_model(
    run: TurnContext, stream: AnswerStream, facts: TurnFacts | None, problem: Problem
) -> str:
    """Write the answer without the model when the last call failed; what was shown breaks off."""
    if stream.text:
        stream.close()
        pause(run, INTERRUPTED, stream.text, notes=facts.notes if facts else ())
        raise Finished
    if facts is None or not facts.files:
        raise LoopFailed(problem)
    stream.add(outcome.engine_summary(facts))
    return "engine"


class Finished(Exception):
    """Control flow: the end of the turn is recorded already."""


def ending(
    run: TurnContext,
    status: str,
    record_status: str,
    text: str,
    *,
    problem: Problem | None = None,
    source: str | None = None,
    notes: Sequence[str] = (),
    noticed: Noticed = NOTHING,
    rule: Stop = decide.end,
    item: ItemEnd | None = None,
) -> Ending:
    """Return how the turn ends, with the ids that may need and what is true of it then."""
    made = ending_of(
        run.book, run.bench_id, run.turn_id, status, record_status, text, problem=problem
    )
    made = replace(made, summary_source=source, spent=run.spent, item=item)
    return with_facts(run.book, run.state(), made, rule, notes=notes, noticed=noticed)


def with_facts(
    book: Conversations,
    known: WorkshopState,
    wish: Ending,
    rule: Stop,
    *,
    notes: Sequence[str] = (),
    noticed: Noticed = NOTHING,
) -> Ending:
    """Return an ending with what is true of the turn once it has ended so (W11.20)."""
    after = fold.applied(known, rule(known, wish))
    turn = after.turns[wish.turn_id]
    written = known.records.get(turn.message_id)
    is_model = wish.summary_source == "model" or written is not None
    files = evidence.changed(book, after, turn)
    facts = evidence.facts_of(
        book,
        after,
        turn,
        answer=wish.text if is_model else "",
        notes=notes,
        noticed=noticed,
        files=files,
    )
    return replace(wish, facts=facts, changed_paths=tuple(one.path for one in files))


def ending_of(
    book: Conversations,
    bench_id: str,
    turn_id: TurnId,
    status: str,
    record_status: str,
    text: str,
    *,
    problem: Problem | None = None,
) -> Ending:
    """Return how a turn ends that nobody works on here any more, or that somebody else did."""
    return Ending(
        turn_id=turn_id,
        status=status,
        record_status=record_status,
        text=text,
        revision_id=book.desk.new_revision(),
        switch_id=book.new_message(),
        notice_id=book.new_message(),
        problem=problem,
        session_seq=book.session_seq(bench_id),
    )


# ---------------------------------------------------------------- ends that are none of the above


def refuse(run: TurnContext, text: str) -> None:
    """Let the provider's refusal be the answer (M8.9)."""
    said = text.strip() or "The model refused to answer and gave no reason."
    whole = f"{said}\n\nThe model declined this request; the work ended here."
    problem = Problem(
        code="PROVIDER_REQUEST_REJECTED",
        message="the model declined the request",
        actions=("switch_model",),
    )
    wish = ending(run, "failed", "failed", whole, problem=problem)
    run.commit(lambda now: decide.end(now, wish))


def cancel(run: TurnContext) -> None:
    """End the turn because the person wants it; what is committed stays (W5.11)."""
    text = canceled_text(run.state())
    wish = ending(run, "canceled", "canceled", text, problem=CANCELED)
    run.commit(lambda now: decide.end(now, wish))


def canceled_of(book: Conversations, bench_id: str) -> Ending:
    """Return how a turn ends that was stopped and is worked on nowhere, or by an agent outside."""
    known = book.state(bench_id)
    assert known.running is not None
    text, turn_id = canceled_text(known), known.running.turn_id
    wish = ending_of(book, bench_id, turn_id, "canceled", "canceled", text, problem=CANCELED)
    return with_facts(book, known, wish, decide.end)


def left_behind(book: Conversations, bench_id: str, turn: Turn, problem: Problem | None) -> Rule:
    """Return what becomes of a turn that nobody works on any more: it waits, or it is over."""
    over = canceled_of(book, bench_id)
    if is_unwanted(book, turn):
        return lambda now: decide.end(now, over)
    known = book.state(bench_id)
    was_writing = turn.message_id in known.records
    if problem is None:
        problem = replace(INTERRUPTED, code=BUSY) if was_writing else DEAD
    text = paused_text(known, problem)
    wish = ending_of(book, bench_id, turn.turn_id, "paused", "interrupted", text, problem=problem)
    wish = with_facts(book, known, wish, decide.pause)

    def rule(now: WorkshopState) -> Sequence[object]:
        is_asked = now.running is not None and now.running.is_cancel_asked  # since then
        return decide.end(now, over) if is_asked else decide.pause(now, wish)

    return rule


def canceled_text(known: WorkshopState) -> str:
    """Return what the record of a canceled turn says: the text so far, else that it stopped."""
    turn = known.running
    record = None if turn is None else known.records.get(turn.message_id)
    return (record.text if record else "") or "Stopped."


def stop(run: TurnContext, problem: Problem) -> None:
    """End work that cannot go on now: it waits, unless waiting would not help it (W5.12)."""
    turn = run.turn()
    has_work = turn.has_written or len(turn.places) > 1 or turn.message_id in run.state().records
    if problem.code in REFUSED_FOR_GOOD and not has_work:
        fail(run, problem)
    else:
        pause(run, problem)


def fail(run: TurnContext, problem: Problem) -> None:
    """End the turn that came to nothing; after writes it waits instead (W5.12)."""
    if run.turn().has_written and run.state().bench.draft is not None:
        pause(run, problem)
        return
    text = f"This did not work: {problem.message}. {_help(problem)}"
    wish = ending(run, "failed", "failed", text, problem=problem)
    run.commit(lambda now: decide.end(now, wish))


def pause(run: TurnContext, problem: Problem, text: str = "", *, notes: Sequence[str] = ()) -> None:
    """Stop the turn where it can go on; one that its person wants stopped is over instead."""
    if run.turn().is_cancel_asked:
        cancel(run)
        return
    told = text or paused_text(run.state(), problem)
    wish = ending(
        run, "paused", "interrupted", told, problem=problem, notes=notes, rule=decide.pause
    )
    run.commit(lambda now: decide.pause(now, wish))


def paused_text(known: WorkshopState, problem: Problem) -> str:
    """Return what the record of a stopped turn says: what was done so far (W5.10)."""
    turn = known.running
    if turn is not None and (record := known.records.get(turn.message_id)) is not None:
        return record.text
    first = f" {_help(problem)}" if "open_settings" in problem.actions else ""
    return f"The work stopped before its end: {problem.message}. It can go on from here.{first}"


def _help(problem: Problem) -> str:
    """Return what the person can do, in a sentence: what helps this problem (M11.3)."""
    ways = [words for action, words in HELPS.items() if action in problem.actions]
    return f"You can {', or '.join(ways or ['try again'])}."


# ---------------------------------------------------------------- what changed


def changed_files(known: WorkshopState, book: Conversations) -> tuple[ChangeFact, ...]:
    """Return what the running turn changed, for Summary."""
    draft, turn = known.bench.draft, known.running
    if draft is None or turn is None:
        return ()
    notes: Mapping[str, PathChange] = draft.changes
    return tuple(
        ChangeFact(
            path=one.path,
            kind=one.change,
            size_bytes=one.size_after or 0,
            summary=(notes[one.path].note or "") if one.path in notes else "",
        )
        for one in evidence.changed(book, known, turn)
    )


def notes_of(so_far: HandedOver) -> tuple[str, ...]:
    """Return what became otherwise than the model planned it."""
    notes = []
    if so_far.left_out:
        notes.append(f"{so_far.left_out} items of the plan did not fit and were left out.")
    if so_far.dropped:
        notes.append(
            f"{so_far.dropped} further items came up and were not carried out; a plan may only "
            "double."
        )
    if so_far.is_plan_missing:
        notes.append("No plan came out that could be carried out; this is an answer only.")
    return tuple(notes)


def answer_stream(run: TurnContext, *, is_provisional: bool = False) -> AnswerStream:
    """Return where the text of a turn's answer goes while it comes."""
    message_id = run.turn().message_id

    def send(delta: str, seq: int) -> None:
        payload = {"message_id": message_id, "token_delta": delta, "delta_seq": seq}
        run.publish(run.bench_id, "WorkshopAssistantStream", payload)

    def keep(piece: str) -> None:
        run.commit(lambda now: decide.stream(now, run.turn_id, piece))

    def withdraw() -> None:
        run.commit(lambda now: decide.withdraw(now, run.turn_id))

    return AnswerStream(
        send=send,
        keep=keep,
        monotonic=run.book.clock.monotonic,
        withdraw=withdraw if is_provisional else None,
    )

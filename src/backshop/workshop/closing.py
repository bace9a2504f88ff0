"""Summary and every other end of a turn: exactly one record says how it came out (W11.17, W5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backshop.base import tree
from backshop.base.ids import TurnId
from backshop.base.limits import KIB, NOTES_MAX_BYTES
from backshop.bench.values import PathChange
from backshop.rails import Standing

from . import artifacts, decide, outcome
from .artifacts import HandedOver
from .book import Book, Rule
from .cutting import cut_bytes
from .decide import Ending
from .events import Problem
from .facts import Artifacts, ChangeFact
from .holding import is_unwanted
from .outcome import TurnOutcome
from .run import CANCELED, Asked, LoopFailed, Run, Stopped
from .signals import AnswerStream
from .state import BUSY, Turn, WorkshopState

ANSWER_MAX_BYTES = NOTES_MAX_BYTES - KIB  # W13.3: the record and the run's notes hold it whole
ARTIFACT_MAX_BYTES = 48 * KIB
SUM_UP = (
    "Write the answer to the person who made the request, in their language. Begin with the "
    "outcome. Name every changed file by its exact path, what was found, and what failed. Do not "
    "repeat the steps and do not promise anything that has not been done."
)
DEAD = Problem(
    code=BUSY,
    reason="lease_lost",
    message="the program that did the work ended",
    actions=("resume",),
)
INTERRUPTED = Problem(
    code="PROVIDER_UNAVAILABLE",
    reason="summary_interrupted",
    message="the answer broke off before its end",
    actions=("resume", "retry"),
)


def summary(run: Run, standing: Standing, so_far: HandedOver) -> None:
    """Write the answer: streamed, made honest about files, and the end of the run."""
    text, source, facts = _written(run, standing.prompt, so_far)
    finish(run, standing, text, source, facts)


def sum_up(run: Run, so_far: HandedOver) -> None:
    """Write the answer of a turn whose workflow has no step for it."""
    text, source, facts = _written(run, SUM_UP, so_far)
    paths = [path for path, _ in facts.changed]
    whole = cut_bytes(text, ANSWER_MAX_BYTES)
    wish = ending(run, "complete", "complete", whole, source=source, paths=paths)
    run.commit(lambda now: decide.end(now, wish))


def _written(run: Run, step: str, so_far: HandedOver) -> tuple[str, str, TurnOutcome]:
    """Let the model write the answer, or write it from the facts; say which."""
    run.enter("summary")
    changes = changed_files(run.state(), run.book)
    facts = outcome_of(so_far, changes)
    stream = answer_stream(run)
    asked = Asked(
        key="summary",
        step=step,
        artifacts=Artifacts(
            research=so_far.research,
            plan=so_far.plan_text,
            reports=so_far.reports,
            changes=changes,
            outcomes=facts.lines(),
        ),
        said=stream.add,
    )
    source = "model"
    try:
        response = run.ask(asked)
        if not stream.text.strip():
            stream.add(response.text or "")
    except LoopFailed as failed:
        source = _without_model(run, stream, facts, failed.problem)
    except Stopped as stopped:
        if stopped.why != "pause" or (not changes and not stream.text):
            raise
        source = _without_model(run, stream, facts, stopped.problem)
    if not stream.text.strip():
        stream.add(outcome.engine_summary(facts))
        source = "engine"
    stream.add(outcome.completed(stream.text, facts.changed))
    stream.add(outcome.unsaid(stream.text, facts))
    stream.close()
    return stream.text, source, facts


def _without_model(run: Run, stream: AnswerStream, facts: TurnOutcome, problem: Problem) -> str:
    """Write the answer from the facts when the last call failed; what was shown breaks off."""
    if stream.text:
        stream.add(outcome.file_list(facts.changed))
        stream.close()
        pause(run, INTERRUPTED, stream.text)
        raise Finished
    if not facts.changed:
        raise LoopFailed(problem)
    stream.add(outcome.engine_summary(facts))
    return "engine"


class Finished(Exception):
    """Control flow: the end of the turn is recorded already."""


def finish(run: Run, standing: Standing, text: str, source: str, facts: TurnOutcome) -> None:
    """Record the answer and acknowledge the last step in one append (W13.5)."""
    whole = cut_bytes(text, ANSWER_MAX_BYTES)
    paths = [path for path, _ in facts.changed]
    wish = ending(run, "complete", "complete", whole, source=source, paths=paths)
    run.acknowledge(
        standing.node_id,
        notes=whole,
        artifacts=[
            {
                "kind": artifacts.SUMMARY,
                "markdown": cut_bytes(whole, ARTIFACT_MAX_BYTES),
                "source": source,
                "changed_paths": paths,
            }
        ],
        facts=lambda now, _: decide.end(now, wish),
    )


def ending(
    run: Run,
    status: str,
    record_status: str,
    text: str,
    *,
    problem: Problem | None = None,
    source: str | None = None,
    paths: Sequence[str] = (),
) -> Ending:
    """Return how the turn ends, with the ids that may need."""
    made = ending_of(
        run.book, run.bench_id, run.turn_id, status, record_status, text, problem=problem
    )
    return replace(made, summary_source=source, changed_paths=tuple(paths), spent=run.spent)


def ending_of(
    book: Book,
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


def refuse(run: Run, text: str) -> None:
    """Let the provider's refusal be the answer (M8.9)."""
    changes = _changed(run)
    said = text.strip() or "The model refused to answer and gave no reason."
    lead = f"{said}\n\nThe model declined this request; the work ended here."
    whole = lead + outcome.file_list(changes)
    problem = Problem(
        code="PROVIDER_REQUEST_REJECTED",
        message="the model declined the request",
        actions=("switch_model",),
    )
    wish = ending(
        run, "failed", "failed", whole, problem=problem, paths=[path for path, _ in changes]
    )
    run.commit(lambda now: decide.end(now, wish))


def cancel(run: Run) -> None:
    """End the turn because the person wants it; what is committed stays (W5.11)."""
    changes = _changed(run)
    text = canceled_text(run.state(), changes)
    wish = ending(
        run, "canceled", "canceled", text, problem=CANCELED, paths=[path for path, _ in changes]
    )
    run.commit(lambda now: decide.end(now, wish))


def canceled_of(book: Book, bench_id: str) -> Ending:
    """Return how a turn ends that was stopped and is worked on nowhere, or by an agent outside."""
    known = book.state(bench_id)
    assert known.running is not None
    changes = [(one.path, one.kind) for one in changed_files(known, book)]
    text, turn_id = canceled_text(known, changes), known.running.turn_id
    return ending_of(book, bench_id, turn_id, "canceled", "canceled", text, problem=CANCELED)


def left_behind(book: Book, bench_id: str, turn: Turn, problem: Problem | None) -> Rule:
    """Return what becomes of a turn that nobody works on any more: it waits, or it is over."""
    over = canceled_of(book, bench_id)
    if is_unwanted(book, turn):
        return lambda now: decide.end(now, over)
    known = book.state(bench_id)
    was_writing = turn.message_id in known.records
    if problem is None:
        problem = replace(INTERRUPTED, code=BUSY) if was_writing else DEAD
    text = paused_text(known, problem)
    if was_writing:
        text += file_list_of(book, known)
    wish = ending_of(book, bench_id, turn.turn_id, "paused", "interrupted", text, problem=problem)

    def rule(now: WorkshopState) -> Sequence[object]:
        is_asked = now.running is not None and now.running.is_cancel_asked  # since then
        return decide.end(now, over) if is_asked else decide.pause(now, wish)

    return rule


def canceled_text(known: WorkshopState, changes: Sequence[tuple[str, str]]) -> str:
    """Return what the record of a canceled turn says: the text so far, and what changed."""
    turn = known.running
    record = None if turn is None else known.records.get(turn.message_id)
    text = record.text if record else ""
    if not text:
        text = "Stopped. " + (
            "What was changed until then is in the Draft." if changes else "Nothing was changed."
        )
    return text + outcome.completed(text, changes)


def fail(run: Run, problem: Problem) -> None:
    """End the turn that came to nothing; after writes it waits instead (W5.12)."""
    if run.turn().has_written and run.state().bench.draft is not None:
        pause(run, problem)
        return
    text = (
        f"This did not work: {problem.message}. No file was changed. You can try again, or "
        "switch to another model."
    )
    wish = ending(run, "failed", "failed", text, problem=problem)
    run.commit(lambda now: decide.end(now, wish))


def pause(run: Run, problem: Problem, text: str = "") -> None:
    """Stop the turn where it can go on; one that its person wants stopped is over instead."""
    if run.turn().is_cancel_asked:
        cancel(run)
        return
    told = text or paused_text(run.state(), problem)
    wish = ending(run, "paused", "interrupted", told, problem=problem)
    run.commit(lambda now: decide.pause(now, wish))


def paused_text(known: WorkshopState, problem: Problem) -> str:
    """Return what the record of a stopped turn says: what was done so far (W5.10)."""
    turn = known.running
    if turn is not None and (record := known.records.get(turn.message_id)) is not None:
        return record.text
    done = turn.done_items if turn else 0
    total = turn.item.total if turn and turn.item else 0
    so_far = f" {done} of {total} items of the plan are done." if total else ""
    kept = " What they changed is in the Draft." if known.bench.draft is not None else ""
    return (
        f"The work stopped before its end: {problem.message}.{so_far}{kept} It can go on from here."
    )


# ---------------------------------------------------------------- what changed


def file_list_of(book: Book, known: WorkshopState) -> str:
    """Return the list of changed files as it is appended to an answer."""
    return outcome.file_list([(one.path, one.kind) for one in changed_files(known, book)])


def changed_files(known: WorkshopState, book: Book) -> tuple[ChangeFact, ...]:
    """Return what the Draft changes, for Summary."""
    draft = known.bench.draft
    if draft is None:
        return ()
    found = []
    for change in tree.diff(draft.base_tree, draft.tree, book.store.load_tree):
        kind = "modified"
        if change.before is None or change.after is None:
            kind = "added" if change.before is None else "deleted"
        note: PathChange | None = draft.changes.get(change.path)
        found.append(
            ChangeFact(
                path=change.path,
                kind=kind,
                size_bytes=change.after.size if change.after else 0,
                summary=(note.note or "") if note else "",
            )
        )
    return tuple(sorted(found, key=lambda one: one.path))


def _changed(run: Run) -> tuple[tuple[str, str], ...]:
    return tuple((one.path, one.kind) for one in changed_files(run.state(), run.book))


def outcome_of(so_far: HandedOver, changes: Sequence[ChangeFact]) -> TurnOutcome:
    """Return the facts an answer must state (W11.17)."""
    notes = []
    if so_far.left_out:
        notes.append(f"{so_far.left_out} items of the plan did not fit and were left out")
    if so_far.is_plan_missing:
        notes.append("No plan came out that could be carried out; this is an answer only")
    return TurnOutcome(
        changed=tuple((one.path, one.kind) for one in changes),
        done=sum(one.status == "done" for one in so_far.results),
        total=len(so_far.plan.items) if so_far.plan else 0,
        failed=tuple(
            (so_far.label_of(one.number), one.reason)
            for one in so_far.results
            if one.status == "failed"
        ),
        no_effect=tuple(
            so_far.label_of(one.number)
            for one in so_far.results
            if one.status == "done" and one.no_effect
        ),
        dropped_amendments=so_far.dropped,
        notes=tuple(notes),
    )


def answer_stream(run: Run) -> AnswerStream:
    """Return where the text of a turn's answer goes while it comes."""
    message_id = run.turn().message_id

    def send(delta: str, seq: int) -> None:
        payload = {"message_id": message_id, "token_delta": delta, "delta_seq": seq}
        run.publish(run.bench_id, "WorkshopAssistantStream", payload)

    def keep(piece: str) -> None:
        run.commit(lambda now: decide.stream(now, run.turn_id, piece))

    return AnswerStream(send=send, keep=keep, monotonic=run.book.clock.monotonic)

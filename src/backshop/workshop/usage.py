"""What models used for a workbench, turn by turn, and for a whole home (M13.4).

All of it is a projection of the log: a call belongs to the turn whose run it names, one without a
run to the turn that was at work then. What the Workshop was asked besides turns (context items,
digests) stands apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from backshop.base.ambient import timestamp
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.field_copy import made_from
from backshop.base.usage import UNKNOWN_PERSON, ModelUsage, Used, together, with_call
from backshop.bench import stream_of
from backshop.models import EgressCompleted, EgressSent, ModelCalled, Purpose
from backshop.store import Caller, Event, Fold, Store, StreamNotHealthy

from . import requests
from .answers import (
    BenchTotal,
    BenchUsage,
    CallUsage,
    HomeUsage,
    PersonUsage,
    RunUsage,
    TurnUsage,
)
from .conversation.events import TurnEnded, TurnPaused, TurnResumed, TurnStarted
from .conversation.repository import Conversations, rails_session
from .conversation.state import Turn
from .search import benches_of

HOME = "home"  # the stream of calls for no workbench (M4.12)
PAGE_MAX = 1000
_BESIDE = frozenset((Purpose.CONTEXT_PROCESS, Purpose.DIGEST, Purpose.OTHER))


@dataclass(frozen=True, slots=True)
class _Counted:
    """What one stream says."""

    total: Used = field(default_factory=Used)
    models: Mapping[str, Used] = field(default_factory=dict)
    turns: Mapping[str, Used] = field(default_factory=dict)
    turn_models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    besides: Used = field(default_factory=Used)
    people: Mapping[str, Used] = field(default_factory=dict)
    """By whom the calls were asked for; what 0.1.0 recorded does not say."""
    runs: Mapping[str, str] = field(default_factory=dict)
    calls: Mapping[str, tuple[CallUsage, ...]] = field(default_factory=dict)  # by run
    on_their_way: Mapping[str, str] = field(default_factory=dict)  # requests that left, their run
    took_ms: Mapping[str, int] = field(default_factory=dict)  # of a run's last request
    at_work: str | None = None


def _apply(state: _Counted, event: Event) -> _Counted:
    match event.fact:
        case TurnStarted() as fact:
            runs = state.runs if fact.run_id is None else {**state.runs, fact.run_id: fact.turn_id}
            return replace(state, runs=runs, at_work=fact.turn_id)
        case TurnResumed() as fact:
            return replace(state, at_work=fact.turn_id)
        case TurnEnded() | TurnPaused():
            return replace(state, at_work=None)
        case EgressSent() as fact if fact.run_id is not None:
            return replace(state, on_their_way={**state.on_their_way, fact.call_id: fact.run_id})
        case EgressCompleted() as fact if fact.call_id in state.on_their_way:
            return _came_back(state, fact)
        case ModelCalled() as fact if fact.is_answered:
            person = None if event.by is None else event.by.person
            counted = _with(state, fact, person or UNKNOWN_PERSON)
            return _called(counted, fact, event.at_ms)
    return state


def _came_back(state: _Counted, fact: EgressCompleted) -> _Counted:
    """Note how long a request took, for the call it belongs to, which is recorded next."""
    waiting = dict(state.on_their_way)
    run_id = waiting.pop(fact.call_id)
    took = {**state.took_ms, run_id: fact.duration_ms}
    return replace(state, on_their_way=waiting, took_ms=took)


def _called(state: _Counted, fact: ModelCalled, at_ms: int) -> _Counted:
    if fact.run_id is None:
        return state
    took = dict(state.took_ms)
    call = CallUsage(
        at=timestamp(at_ms),
        model_id=fact.model_id,
        usage=fact.usage,
        usd_estimate=fact.usd_estimate,
        took_ms=took.pop(fact.run_id, None),
    )
    before = state.calls.get(fact.run_id, ())
    return replace(state, took_ms=took, calls={**state.calls, fact.run_id: (*before, call)})


def _with(state: _Counted, fact: ModelCalled, person: str) -> _Counted:
    def plus(used: Used | None) -> Used:
        return with_call(used or Used(), fact.usage, fact.usd_estimate)

    models = {**state.models, fact.model_id: plus(state.models.get(fact.model_id))}
    people = {**state.people, person: plus(state.people.get(person))}
    state = replace(state, total=plus(state.total), models=models, people=people)
    turn_id = _turn_of(state, fact)
    if turn_id is None:
        return replace(state, besides=plus(state.besides))
    seen = state.turn_models.get(turn_id, ())
    named = seen if fact.model_id in seen else (*seen, fact.model_id)
    return replace(
        state,
        turns={**state.turns, turn_id: plus(state.turns.get(turn_id))},
        turn_models={**state.turn_models, turn_id: named},
    )


def _turn_of(state: _Counted, fact: ModelCalled) -> str | None:
    if fact.run_id is not None:
        return state.runs.get(fact.run_id)
    return None if fact.purpose in _BESIDE else state.at_work


_FOLD: Fold[_Counted] = Fold("workshop.usage", 3, _Counted(), _apply)


def bench_usage(book: Conversations, request: requests.GetUsage) -> BenchUsage:
    """Return what models used for a workbench, the newest turns first.

    Raises:
        ValidationFailed: `bad_params`.
        NotFound: there is no such turn to begin before.
    """
    if not 0 <= request.limit <= PAGE_MAX:
        raise ValidationFailed(f"a page has 0 to {PAGE_MAX} turns", reason="bad_params")
    turns = _asked_for(book, request)
    counted = book.store.state(stream_of(request.workbench_id), _FOLD)
    return made_from(
        BenchUsage,
        counted.total,
        by_model=_by_model(counted.models),
        turns=tuple(_turn(counted, one) for one in turns[: request.limit]),
        besides=counted.besides,
        has_more=len(turns) > request.limit,
    )


def run_usage(book: Conversations, request: requests.GetRunUsage) -> RunUsage:
    """Return what models used in a run of the built-in agent, nothing of any other."""
    found = book.store.find("run_started", scope_a=request.run_id)
    session_id = found[0].stream.partition(":")[2] if found else None
    for head in book.store.streams("bench") if session_id else ():
        bench_id = head.stream.partition(":")[2]
        if rails_session(bench_id) == session_id:
            return _of_run(book.store, bench_id, request.run_id)
    return RunUsage()


def _of_run(store: Store, bench_id: str, run_id: str) -> RunUsage:
    counted = _counted(store, stream_of(bench_id)) or _Counted()
    calls, total = counted.calls.get(run_id, ()), Used()
    for one in calls:
        total = with_call(total, one.usage, one.usd_estimate)
    return made_from(RunUsage, total, workbench_id=bench_id, by_call=calls)


def _asked_for(book: Conversations, request: requests.GetUsage) -> list[Turn]:
    known = book.state(request.workbench_id).turns.values()
    found = sorted(known, key=lambda one: (one.started_ms, one.turn_id), reverse=True)
    if request.turn_ids is not None:
        found = [one for one in found if one.turn_id in request.turn_ids]
    if request.before is None:
        return found
    places = [n for n, one in enumerate(found) if one.turn_id == request.before]
    if not places:
        raise NotFound("there is no such turn here", reason="not_found")
    return found[places[0] + 1 :]


def _turn(counted: _Counted, turn: Turn) -> TurnUsage:
    return made_from(
        TurnUsage,
        counted.turns.get(turn.turn_id, Used()),
        turn_id=turn.turn_id,
        message_id=turn.message_id,
        user_message_id=turn.user_message_id,
        flow=turn.flow,
        mode=turn.mode,
        status=turn.status,
        started_at=timestamp(turn.started_ms),
        model_ids=counted.turn_models.get(turn.turn_id, ()),
    )


def home_usage(book: Conversations, caller: Caller) -> HomeUsage:
    """Return what models used for every workbench that the caller sees, those in the trash too.

    Calls for no workbench are told to the home's owner alone.
    """
    rows, models, people = [], list[Mapping[str, Used]](), list[Mapping[str, Used]]()
    for bench in benches_of(book, caller, include_trash=True):
        counted = _counted(book.store, stream_of(bench.workbench_id))
        models.append(counted.models if counted else {})
        people.append(counted.people if counted else {})
        rows.append(
            made_from(
                BenchTotal,
                counted.total if counted else Used(),
                workbench_id=bench.workbench_id,
                name=bench.name,
                is_deleted=bench.deleted_at is not None,
                is_readable=counted is not None,
            )
        )
    home = _counted(book.store, HOME) if caller.user is None else None
    elsewhere = home or _Counted()
    models.append(elsewhere.models)
    people.append(elsewhere.people)
    return made_from(
        HomeUsage,
        together(elsewhere.total, *rows),
        by_model=_by_model(_joined(models)),
        by_person=_by_person(_joined(people)) if caller.user is None else (),
        benches=tuple(sorted(rows, key=lambda one: -one.usage.total_tokens)),
        elsewhere=elsewhere.total,
    )


def _counted(store: Store, stream: str) -> _Counted | None:
    try:
        return store.state(stream, _FOLD)
    except StreamNotHealthy:
        return None  # told as such: nobody can count it


def _joined(models: list[Mapping[str, Used]]) -> dict[str, Used]:
    names = {name for one in models for name in one}
    return {name: together(*(one[name] for one in models if name in one)) for name in names}


def _by_person(people: Mapping[str, Used]) -> tuple[PersonUsage, ...]:
    rows = [made_from(PersonUsage, used, person=name) for name, used in people.items()]
    return tuple(sorted(rows, key=lambda one: (-one.usage.total_tokens, one.person)))


def _by_model(models: Mapping[str, Used]) -> tuple[ModelUsage, ...]:
    return tuple(
        made_from(ModelUsage, used, model_id=name) for name, used in sorted(models.items())
    )

"""What a Draft is about, for its review, and what was asked: read from the log alone (B13.2)."""

from __future__ import annotations

from collections.abc import Sequence

from backshop.base import tree
from backshop.base.ambient import timestamp
from backshop.base.ids import CheckpointId
from backshop.bench import ChangesAsked, Story, Vouched, WrittenSince, stream_of
from backshop.bench import events as be
from backshop.store import Event, Store

from .answers import facts_of
from .change_request import own_words
from .conversation.record import sister
from .conversation.state import Record, WorkshopState
from .conversation.stream import FOLD
from .conversation.turn_facts import TurnFacts, first, told

WRITTEN_MAX = 100
SUMMARY_MAX_BYTES = 4096  # cut at the end of a line


def draft_summary(store: Store, bench_id: str) -> str | None:
    """Return what the answer that made the Draft said, at most 4 KiB of it (B13.2).

    The Draft names its turn or run, and the messages that asked for changes of it. The newest
    answer in the conversation counts, else the newest of all: a rewind of the chat alone leaves
    the Draft without it. A Draft that no turn made has none; what was only a question counts not.
    """
    found = _answers(store, bench_id)
    text = found[-1].text if found else None
    if text is None or len(text.encode()) <= SUMMARY_MAX_BYTES:
        return text
    cut = text.encode()[:SUMMARY_MAX_BYTES].decode(errors="ignore")
    return cut[: cut.rfind("\n")] if "\n" in cut else cut


def draft_facts(store: Store, bench_id: str) -> Vouched:
    """Return what is true of the newest turn of the Draft, in words (W11.20).

    Of the turns before it stands which files nobody named, as far as the Draft still changes them;
    hosts and what is gone the review finds out by itself (B13.10).
    """
    found = [one for record in _answers(store, bench_id) if (one := facts_of(record)) is not None]
    if not found:
        return Vouched()
    newest, ahead = found[-1], first(found[-1])
    changed = _changed(store, bench_id) if len(found) > 1 else set()
    earlier = (line for one in reversed(found[:-1]) for line in first(_unnamed(one, changed)))
    return Vouched(tuple(dict.fromkeys((*ahead, *earlier))), told(newest)[len(ahead) :])


def _changed(store: Store, bench_id: str) -> set[str]:
    """Return the files that the Draft changes."""
    draft = store.state(stream_of(bench_id), FOLD).bench.draft
    if draft is None:
        return set()
    return {one.path for one in tree.diff(draft.base_tree, draft.tree, store.load_tree)}


def _unnamed(facts: TurnFacts, changed: set[str]) -> TurnFacts:
    """Return of a turn's facts nothing but the files nobody named that are still changed."""
    return TurnFacts(unasked=tuple(path for path in facts.unasked if path in changed))


def last_request(store: Store, bench_id: str) -> str | None:
    """Return what the person said last, as far as the conversation goes now (B23.20)."""
    return own_words(reversed(store.state(stream_of(bench_id), FOLD).active_line()))


def draft_request(store: Store, bench_id: str) -> str | None:
    """Return the message that the Draft came of; None where no turn made it (B27.6)."""
    known = store.state(stream_of(bench_id), FOLD)
    draft = known.bench.draft
    return None if draft is None else _request(known, draft.source.ref)


def checkpoint_stories(store: Store, bench_id: str) -> dict[CheckpointId, Story]:
    """Return what followed each checkpoint, by the cards of publishes and restores (B27.5)."""
    known = store.state(stream_of(bench_id), FOLD)
    found: dict[CheckpointId, Story] = {}
    for card in known.records.values():
        told = card.metadata
        if card.event_kind == "checkpoint_published" and told.get("checkpoint_id"):
            text = _request(known, _made_by(known, str(told.get("draft_id"))))
            found[CheckpointId(str(told["checkpoint_id"]))] = Story(request=text)
        elif card.event_kind == "checkpoint_restored":
            before = CheckpointId(str(told["pre_restore_checkpoint_id"]))
            found[before] = Story(restored=CheckpointId(str(told["checkpoint_id"])))
    return found


def _made_by(known: WorkshopState, draft_id: str) -> str | None:
    """Return the turn or run that made a Draft of earlier, by the record of its beginning."""
    begun = known.records.get(sister(draft_id))
    kind, _, ref = str(begun.metadata.get("source", "") if begun else "").partition(":")
    return ref if kind == "workshop" and ref else None


def _request(known: WorkshopState, made: str | None) -> str | None:
    """Return the message that a turn answers, found by the turn's id or its run's."""
    if made is None:
        return None
    turns = (one for one in known.turns.values() if made in (one.run_id, one.turn_id))
    asked = next((known.records.get(one.user_message_id) for one in turns), None)
    return asked.text.strip() or None if asked else None


def unanswered_requests(store: Store, bench_id: str) -> tuple[ChangesAsked, ...]:
    """Return the requests for changes of the Draft that nobody has taken up (W24.10)."""
    records = store.state(stream_of(bench_id), FOLD).unanswered_all
    events = _since(store, stream_of(bench_id), records[0].seq) if records else []
    return tuple(
        ChangesAsked(
            message_id=record.message_id,
            text=record.text,
            asked_at=timestamp(record.created_ms),
            written_since=_written([one for one in events if one.seq > record.seq]),
        )
        for record in records
    )


def _since(store: Store, stream: str, seq: int) -> list[Event]:
    """Return the events of a stream after one of them, read from its end."""
    last, size = store.position(stream), 64
    while True:
        found = list(store.read(stream, max(-1, last - size)))
        if size > last or not found or found[0].seq <= seq:
            return [one for one in found if one.seq > seq]
        size *= 4


def _written(events: Sequence[Event]) -> tuple[WrittenSince, ...]:
    """Return which files of the Draft events wrote, and what did."""
    found = dict.fromkeys(
        WrittenSince(path=change.path, agent=one.by.agent if one.by else None)
        for one in events
        if isinstance(one.fact, be.BatchApplied)
        for change in one.fact.changes
    )
    return tuple(found)[:WRITTEN_MAX]


def _answers(store: Store, bench_id: str) -> list[Record]:
    """Return the answers of the turns that made the Draft what it is, the newest last."""
    known = store.state(stream_of(bench_id), FOLD)
    draft = known.bench.draft
    if draft is None:
        return []
    made = None if draft.source.kind != "workshop" else draft.source.ref
    turns = (
        turn
        for turn in known.turns.values()
        if (made is not None and made in (turn.run_id, turn.turn_id))
        or (turn.mode != "ask" and draft.is_asked_by(turn.user_message_id))
    )
    found = [one for t in turns if (one := known.records.get(t.message_id)) and one.text.strip()]
    line = {one.message_id for one in known.active_line()}
    on_line = [one for one in found if one.message_id in line]
    return sorted(on_line or found, key=lambda one: one.seq)

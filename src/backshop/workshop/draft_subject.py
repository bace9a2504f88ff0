"""What a Draft is about, for its review, and what was asked: read from the log alone (B13.2)."""

from __future__ import annotations

from backshop.bench import Vouched, stream_of
from backshop.store import Store

from .answers import facts_of
from .conversation.state import Record
from .conversation.stream import FOLD
from .conversation.turn_facts import first, told

SUMMARY_MAX_BYTES = 4096  # cut at the end of a line


def draft_summary(store: Store, bench_id: str) -> str | None:
    """Return what the answer that made the Draft said, at most 4 KiB of it (B13.2).

    The Draft names its turn or run. Of several answers of one run the one in the conversation
    counts, else the newest: a rewind of the chat alone leaves the Draft without it. A Draft that no
    turn made has none.
    """
    found = _answer(store, bench_id)
    text = found.text if found else None
    if text is None or len(text.encode()) <= SUMMARY_MAX_BYTES:
        return text
    cut = text.encode()[:SUMMARY_MAX_BYTES].decode(errors="ignore")
    return cut[: cut.rfind("\n")] if "\n" in cut else cut


def draft_facts(store: Store, bench_id: str) -> Vouched:
    """Return what is true of the turn that made the Draft, in words (W11.20)."""
    facts = facts_of(_answer(store, bench_id))
    if facts is None:
        return Vouched()
    lines, ahead = told(facts), first(facts)
    return Vouched(ahead, lines[len(ahead) :])


def last_request(store: Store, bench_id: str) -> str | None:
    """Return what the person said last, as far as the conversation goes now (B23.20)."""
    line = store.state(stream_of(bench_id), FOLD).active_line()
    said = [one.text for one in line if one.type == "user_message" and one.text.strip()]
    return said[-1] if said else None


def _answer(store: Store, bench_id: str) -> Record | None:
    """Return the answer of the turn or run that made the Draft."""
    known = store.state(stream_of(bench_id), FOLD)
    draft = known.bench.draft
    if draft is None or draft.source.kind != "workshop" or draft.source.ref is None:
        return None
    turns = (t for t in known.turns.values() if draft.source.ref in (t.run_id, t.turn_id))
    found = [one for t in turns if (one := known.records.get(t.message_id)) and one.text.strip()]
    line = {one.message_id for one in known.active_line()}
    found.sort(key=lambda one: (one.message_id in line, one.seq))
    return found[-1] if found else None

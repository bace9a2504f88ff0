"""What a Draft is about, for its review: read from the log alone, without the agent (B13.2)."""

from __future__ import annotations

from backshop.bench import stream_of
from backshop.store import Store

from .stream import FOLD

SUMMARY_MAX_BYTES = 4096  # cut at the end of a line


def draft_summary(store: Store, bench_id: str) -> str | None:
    """Return what the answer that made the Draft said, at most 4 KiB of it (B13.2).

    The Draft names its turn or run. Of several answers of one run the one in the conversation
    counts, else the newest: a rewind of the chat alone leaves the Draft without it. A Draft that no
    turn made has none.
    """
    known = store.state(stream_of(bench_id), FOLD)
    draft = known.bench.draft
    if draft is None or draft.source.kind != "workshop" or draft.source.ref is None:
        return None
    turns = (t for t in known.turns.values() if draft.source.ref in (t.run_id, t.turn_id))
    found = [one for t in turns if (one := known.records.get(t.message_id)) and one.text.strip()]
    line = {one.message_id for one in known.active_line()}
    found.sort(key=lambda one: (one.message_id in line, one.seq))
    text = found[-1].text if found else None
    if text is None or len(text.encode()) <= SUMMARY_MAX_BYTES:
        return text
    cut = text.encode()[:SUMMARY_MAX_BYTES].decode(errors="ignore")
    return cut[: cut.rfind("\n")] if "\n" in cut else cut

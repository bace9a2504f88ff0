"""What tells of a bench beside its own stream, and goes with it (B5.6)."""

from __future__ import annotations

from backshop.prompts import session_stream
from backshop.store import Store

from .conversation.repository import prompt_session, rails_session
from .digest.pin import pin_stream


def sister_streams(bench_id: str) -> tuple[str, ...]:
    """Return the streams of a bench's prompts and answers, its runs, and its pinned digest."""
    return (
        session_stream(prompt_session(bench_id)),
        f"session:{rails_session(bench_id)}",
        pin_stream(bench_id),
    )


def sessions_of_others(store: Store, bench_id: str | None) -> frozenset[str]:
    """Return the rails sessions of all conversations but this bench's (S6.4).

    They hold what turns found, planned and answered there.
    """
    benches = (head.stream.partition(":")[2] for head in store.streams("bench"))
    return frozenset(rails_session(one) for one in benches if one != bench_id)

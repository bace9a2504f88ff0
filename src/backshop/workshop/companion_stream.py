"""What tells of a bench beside its own stream, and goes with it (B5.6)."""

from __future__ import annotations

from backshop.prompts import session_stream

from .conversation.repository import prompt_session, rails_session
from .digest.pin import pin_stream


def sister_streams(bench_id: str) -> tuple[str, ...]:
    """Return the streams of a bench's prompts and answers, its runs, and its pinned digest."""
    return (
        session_stream(prompt_session(bench_id)),
        f"session:{rails_session(bench_id)}",
        pin_stream(bench_id),
    )

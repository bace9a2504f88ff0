"""What a person may call a session or a run: its id, its resume ref, or enough of one (S4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import RailsError, invalid
from ..repository import Sessions
from ..run.answer import resume_ref
from .session import unknown

_SHOWN = 10


def session_id(sessions: Sessions, text: str) -> str:
    """Return the id of the session that an id or a unique beginning of one stands for.

    Raises:
        RailsError: there is none, or there are several; then the candidates are listed.
    """
    return _one("session", "sess_", text, ((one, one) for one in sessions.ids()))


def run_id(sessions: Sessions, text: str) -> str:
    """Return the id of the run that an id, a resume ref or a unique beginning stands for."""
    if sessions.home_of_run(text) is not None:
        return text
    return _one("run", "run_", text, _names(sessions))


def _names(sessions: Sessions) -> Iterator[tuple[str, str]]:
    """Yield every name of every run, with its id."""
    for session in sessions.ids():
        try:
            runs = sessions.state(session).run_order
        except RailsError:  # a damaged session is reached by its own id
            continue
        for run in runs:
            yield run, run
            yield resume_ref(run), run


def _one(kind: str, prefix: str, text: str, names: Iterable[tuple[str, str]]) -> str:
    wanted = text.strip()
    found = {
        found: name
        for name, found in names
        if wanted and (name.startswith(wanted) or name.startswith(f"{prefix}{wanted}"))
    }
    if wanted in found:
        return wanted
    if not found:
        raise unknown(kind, text)
    if len(found) > 1:
        listed = sorted(found.values())
        more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
        raise invalid(
            f"{text!r} could be {len(found)} {kind}s: {', '.join(listed[:_SHOWN])}{more}",
            "Give more of its beginning.",
            candidates=listed[:_SHOWN],
        )
    return next(iter(found))

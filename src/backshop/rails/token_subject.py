"""Which session a request is about: by its id, its run, its node, or the token it carries."""

from __future__ import annotations

from typing import Any

from .errors import RailsError
from .repository import Sessions
from .token import token as tk

_TOKENS = (
    ("ack_token", tk.Kind.ACK),
    ("state_token", tk.Kind.STATE),
    ("checkpoint_token", tk.Kind.CHECKPOINT),
    ("session_token", tk.Kind.SESSION),
    ("parent_state_token", tk.Kind.STATE),
)


def sessions_of(sessions: Sessions, request: Any) -> set[str]:
    """Return every session a request names, however it names it.

    What cannot be resolved (a forged token, an id of nothing) names none: the command itself says
    what is wrong with it.
    """
    found: set[str | None] = {getattr(request, "session_id", None)}
    if isinstance(node := getattr(request, "node_id", None), str):
        found.add(sessions.home_of(node))
    if isinstance(run := getattr(request, "run_id", None), str):
        found.add(sessions.home_of_run(run))
    if isinstance(gap := getattr(request, "gap_id", None), str):
        found.add(_home_of_gap(sessions, gap))
    keys = sessions.keyring.keys()
    for name, kind in _TOKENS:
        if isinstance(text := getattr(request, name, None), str):
            found.add(_home_of_token(sessions, keys, text, kind))
    return {one for one in found if one is not None}


def _home_of_token(sessions: Sessions, keys: tk.Keys, text: str, kind: tk.Kind) -> str | None:
    try:
        token = tk.verify(keys, text, kind)
    except RailsError:  # the command refuses it with its own words
        return None
    if token.session_id is not None:
        return token.session_id
    return sessions.home_of(token.node_id) if token.node_id else None


def step_of(sessions: Sessions, token: str, kind: tk.Kind) -> tuple[str, str] | None:
    """Return the run and the node a token is about; None when it names nothing."""
    try:
        node_id = tk.verify(sessions.keyring.keys(), token, kind).node_id
        return None if node_id is None else (sessions.locate(node_id).node.run_id, node_id)
    except RailsError:  # the call itself says what is wrong
        return None


def _home_of_gap(sessions: Sessions, gap_id: str) -> str | None:
    for session_id in sessions.ids():
        try:
            if gap_id in sessions.state(session_id).gap_nodes:
                return session_id
        except RailsError:  # a damaged session answers for nothing
            continue
    return None

"""Who acts in the present call: set where commands are run, read where facts are kept (T1.6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace

from .ids import UserId

AGENT = "agent"
"""The agent that Backshop brings."""
OWNER = "owner"
"""The home's owner, who has no id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class By:
    """Who did something. What is not known is not said: events of 0.1.0 say nothing."""

    person: str | None = None
    """On whose behalf: a person's id, or `owner`."""
    agent: str | None = None
    """What acted for them: `agent` is Backshop's own, `mcp:…` one outside."""
    door: str | None = None
    """How it came in: `web`, `cli`, `mcp`, `rpc`, `python` or `worker`."""
    worker: str | None = None
    """Which worker of a team did it: its machine and process."""

    def data(self) -> dict[str, str]:
        """Return what is known, as it is stored."""
        return {name: value for name in _NAMES if (value := getattr(self, name)) is not None}


_NAMES = tuple(one.name for one in fields(By))
_user: ContextVar[UserId | None] = ContextVar("backshop_user", default=None)
_by: ContextVar[By | None] = ContextVar("backshop_by", default=None)


def by_of(data: object) -> By | None:
    """Return who acted as it was stored; what a later program added is passed over."""
    if not isinstance(data, Mapping):
        return None
    known = {name: data[name] for name in _NAMES if isinstance(data.get(name), str)}
    return By(**known) if known else None


def acting_user() -> UserId | None:
    """Return who asked; None is the home's owner."""
    return _user.get()


def acting_by() -> By:
    """Return who acts; outside of any call nobody is known to."""
    return _by.get() or By()


@contextmanager
def acting(user: UserId | None) -> Iterator[None]:
    """Let what the block does be done for somebody; None is the home's owner.

    What the product itself calls on the way is recorded as whoever's call led there.
    """
    token, outer = _user.set(user), acting_by()
    try:
        with acting_as(replace(outer, person=user or outer.person or OWNER)):
            yield
    finally:
        _user.reset(token)


@contextmanager
def acting_as(by: By) -> Iterator[None]:
    """Let the block be recorded as somebody's; whose limits it counts against stays as it is."""
    token = _by.set(by)
    try:
        yield
    finally:
        _by.reset(token)


@contextmanager
def agent_acting(agent: str) -> Iterator[None]:
    """Let the block be recorded as an agent's, for whoever asked."""
    with acting_as(replace(acting_by(), agent=agent)):
        yield


def who(by: Mapping[str, str] | None, *, me: str | None = None) -> str | None:
    """Return who did something in words; None where it is not known, or there is only one person.

    `by` is an answer's: `By` with the person's name. `me` is who reads it, as events call them.
    """
    person = by.get("person") if by else None
    if by is None or person is None or (person == OWNER and "name" not in by):
        return None
    name = "you" if person == me else by.get("name", person)
    agent = by.get("agent")
    if agent is None:
        return name
    return f"{'the agent' if agent == AGENT else agent.removeprefix('mcp:')} for {name}"

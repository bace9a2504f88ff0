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
class ByUser:
    """A fact that a person brings about, unless it names another actor."""

    actor: str = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class ByAgent:
    """A fact that the agent brings about, unless it names another actor."""

    actor: str = "agent"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """Who did something, as answers say it (T1.6); what was recorded by 0.1.0 does not say."""

    person: str | None = None
    """The person's id; `owner` is the home's owner."""
    name: str | None = None
    """The person's name, in a home that people share."""
    agent: str | None = None
    door: str | None = None
    worker: str | None = None


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


def who(by: Acted | None, *, me: str | None = None) -> str | None:
    """Return who did something in words; None where it is not known, or there is only one person.

    `me` is who reads it, as events call them.
    """
    if by is None or by.person is None or (by.person == OWNER and by.name is None):
        return None
    name = "you" if by.person == me else by.name or by.person
    if by.agent is None:
        return name
    return f"{'the agent' if by.agent == AGENT else by.agent.removeprefix('mcp:')} for {name}"

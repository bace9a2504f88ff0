"""What happened to a session or to definitions as a whole: facts of the home's stream (R7.26).

They cannot stand in the session itself, which may be gone with them; in the home's stream every
process that follows the log hears of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from backshop.base.ambient import random_bits
from backshop.base.errors import BackshopError
from backshop.base.event import event
from backshop.base.ids import b32
from backshop.store import NewEvent, Part, Plan, Store

HOME = "home"
_LOG = logging.getLogger("backshop.rails")


@event("session.changed")
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChanged:
    """A session was deleted, brought in from a bundle, or marked to be kept or not."""

    session_id: str
    reason: Literal["deleted", "imported", "kept"]


@event("workflows.changed")
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowsChanged:
    """A definition was saved, or the repositories of definitions were fetched."""

    workflow_id: str | None = None


Whole = SessionChanged | WorkflowsChanged
Announce = Callable[[Whole], None]
"""Tells those who watch, in whatever process, after the thing was done."""


def part(fact: Whole) -> Part:
    """Return the fact as a part of an append."""
    key = f"whole:{b32(random_bits(128).to_bytes(16, 'big'))}"
    return Part(HOME, [NewEvent(fact, key)], None)


def announcing(store: Store) -> Announce:
    """Return what tells in this store; a fact that cannot be told costs a page its refresh."""

    def announce(fact: Whole) -> None:
        try:
            store.append(Plan((part(fact),)))
        except BackshopError as error:
            _LOG.warning("%s was not announced: %s", type(fact).__name__, error.message)

    return announce


def silent(_: Whole) -> None:
    """Tell nobody."""

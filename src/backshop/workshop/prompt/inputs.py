"""Everything a bundled prompt is built from: gathered first, so that building is pure (P7.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from backshop.bench import Content, Injected, Listing
from backshop.prompts import ConversationItem, Tool

NOTHING_INJECTED = Injected(None, (), ())
NOTHING_LISTED = Listing()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFact:
    """One file the turn changed, as Summary is told of it."""

    path: str
    kind: str
    """`added`, `modified` or `deleted`."""
    size_bytes: int = 0
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an item's work came to, in its own words."""

    number: int
    label: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifacts:
    """What passes from phase to phase; each prompt shows the rows it needs (W6.2)."""

    research: str = ""
    plan: str = ""
    item: str = ""
    reports: tuple[Report, ...] = ()
    failure: str = ""
    """Why the former attempt at the item failed."""
    changes: tuple[ChangeFact, ...] = ()
    outcomes: tuple[str, ...] = ()
    """What Summary must mention: items that failed or changed nothing, amendments left out."""
    material: str = ""
    """What a compression or context call is about."""


NO_ARTIFACTS = Artifacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptInputs:
    """The facts of one call. `complete` says that every file is represented in `listing`."""

    listing: Listing = NOTHING_LISTED
    complete: bool = True
    contents: tuple[Content, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    """Files whose content could not be looked into, and why."""
    injected: Injected = NOTHING_INJECTED
    step: str = ""
    """What the phase produces, in the words of the workflow's step (P7.10)."""
    notes: tuple[str, ...] = ()
    today: date = date(2000, 1, 1)
    max_turns: int = 1
    tools: tuple[Tool, ...] = ()
    artifacts: Artifacts = NO_ARTIFACTS
    request: str = ""
    conversation: tuple[ConversationItem, ...] = ()
    """The excerpt that conversation-bearing calls get, the request at its end."""

    @property
    def conversation_text(self) -> str:
        """What the conversation adds to the prompt."""
        return "\n".join(one.text for one in self.conversation)

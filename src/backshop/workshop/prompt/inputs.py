"""Everything a bundled prompt is built from: gathered first, so that building is pure (P7.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from backshop.bench import Content, FileFact, Injected, Listing
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
    found: str = ""
    """What calls before brought, where a loop begins anew because its window was full."""
    changes: tuple[ChangeFact, ...] = ()
    outcomes: tuple[str, ...] = ()
    """What Summary must mention: items that failed or changed nothing, amendments left out."""
    material: str = ""
    """What a compression or context call is about."""


NO_ARTIFACTS = Artifacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Files a call is told about beyond their line: how large they are, and what is in them."""

    files: tuple[FileFact, ...] = ()
    contents: tuple[Content, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    """Files whose content could not be looked into, and why."""


NOTHING_SHOWN = Shown()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptInputs:
    """The facts of one call. `complete` says that every file is represented in `listing`.

    What stands before `step` is the same in every call of a turn (P7.2).
    """

    listing: Listing = NOTHING_LISTED
    """The files the turn began with."""
    complete: bool = True
    injected: Injected = NOTHING_INJECTED
    tools: tuple[Tool, ...] = ()
    conversation: tuple[ConversationItem, ...] = ()
    """The excerpt that conversation-bearing calls get, the request at its end."""
    today: date = date(2000, 1, 1)
    mode: str = "agent"
    draft: tuple[str, ...] | None = None
    """What the Draft had changed when the turn began, where the request is about it (W24.4)."""
    at_hand: Shown = NOTHING_SHOWN
    """The files the request is about, as they were when the turn began."""
    sheets: Mapping[str, str] = field(default_factory=dict)
    """The operations of the kinds of files at hand."""
    left_out: tuple[str, ...] = ()
    """What did not fit into the model's window, in words for the model."""
    step: str = ""
    """What the phase produces, in the words of the workflow's step (P7.10)."""
    notes: tuple[str, ...] = ()
    max_turns: int = 1
    changed: Shown = NOTHING_SHOWN
    """What the Draft changed since, and other files this phase is about."""
    artifacts: Artifacts = NO_ARTIFACTS
    request: str = ""

    @property
    def conversation_text(self) -> str:
        """What the conversation adds to the prompt."""
        return "\n".join(one.text for one in self.conversation)

"""What is asked and answered about digests and sent prompts, field by field as in P7.11."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from backshop.prompts import DIGEST_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestGet:
    """Which bench's digest."""

    workbench_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestRefresh:
    """Write the digest anew: `builder` without a model, `model` with one."""

    workbench_id: str
    mode: Literal["builder", "model"] = "builder"
    scope: Literal["session", "global"] = "session"
    tag: str | None = None
    focus: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestSet:
    """Write the digest by hand; pinned it stays whatever the files do."""

    workbench_id: str
    body: str
    pin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptShow:
    """The prompts of a turn, found by a message of it; of one phase, or the last.

    `number` counts those of the phase from 1; without it the last one is meant.
    """

    workbench_id: str
    message_id: str | None = None
    turn_id: str | None = None
    phase: str | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestShown:
    """What prompts say about the files, where it comes from, and whether it is out of date."""

    body: str
    source: str
    summary: str = ""
    digest_source: str | None = None
    fingerprint: str = ""
    stale: bool = False
    added: int = 0
    removed: int = 0
    changed: int = 0
    model_id: str | None = None
    created_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestWritten:
    """The digest that was written, and where it is kept."""

    digest: str
    persisted: tuple[str, ...]
    section_key: str = DIGEST_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """It was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartShown:
    """One section of a prompt that was sent."""

    path: str
    number: str
    source: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPrompt:
    """A prompt exactly as a model received it."""

    phase: str
    model_id: str
    text: str
    parts: tuple[PartShown, ...]
    tools: tuple[str, ...]
    diagnostics: tuple[str, ...]
    hash: str
    sent: int
    """How many prompts of this turn and phase there were."""
    number: int
    """Which of them this is, counted from 1."""

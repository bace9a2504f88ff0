"""What is answered about digests and sent prompts, field by field as in P7.11."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.prompts import DIGEST_KEY


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

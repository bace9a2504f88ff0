"""What the commands about prompts take (P7.12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .definition.descriptor import DEFAULT_TAG, Mode, OnConflict


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptName:
    """A prompt."""

    namespace: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFilter:
    """All prompts, those of a namespace, or one."""

    namespace: str | None = None
    key: str | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedPrompt:
    """A tag of a prompt."""

    namespace: str
    key: str
    tag: str = DEFAULT_TAG


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderRequest:
    """A prompt and the values to render it with, by the names of their types."""

    namespace: str
    key: str
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    tag: str | None = None
    response_format: bool = False
    budget_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRequest:
    """A text for a section or a tool."""

    namespace: str
    key: str
    tag: str = DEFAULT_TAG
    body: str
    section: str | None = None
    tool: str | None = None
    mode: Mode | None = None
    if_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsetRequest:
    """An entry to remove."""

    namespace: str
    key: str
    tag: str = DEFAULT_TAG
    section: str | None = None
    tool: str | None = None
    if_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """A bundle of overrides."""

    bundle: dict[str, Any]
    on_conflict: OnConflict = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class RebaseRequest:
    """An entry to bind to today's wording; without `confirm` it is only shown."""

    namespace: str
    key: str
    tag: str = DEFAULT_TAG
    section: str
    confirm: bool = False

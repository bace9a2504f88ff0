"""Prompts and overrides as clients see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .definition.descriptor import PromptDescriptor
from .definition.render import RenderedPrompt


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRow:
    """A prompt in a list."""

    namespace: str
    key: str
    name: str
    purpose: str
    sections: int
    tools: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRow:
    """A section of a prompt."""

    path: str
    number: str
    title: str
    role: str
    stability: str
    overridable: bool
    params: str | None = None
    fields: tuple[str, ...] = ()
    template: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptShown:
    """A prompt with its sections and what of it can be overridden."""

    namespace: str
    key: str
    name: str
    purpose: str
    descriptor: PromptDescriptor
    sections: tuple[SectionRow, ...]
    output_schema: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """A part of a rendered prompt."""

    path: str
    number: str
    title: str
    source: str
    tokens: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """Something found in a prompt or while rendering it."""

    code: str
    message: str
    path: str = ""
    namespace: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRender:
    """Exactly what a model would receive."""

    text: str
    system_text: str
    user_text: str
    parts: tuple[PartRow, ...]
    tools: tuple[dict[str, Any], ...]
    diagnostics: tuple[FindingRow, ...]
    hash: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRow:
    """A stored tag of overrides."""

    namespace: str
    key: str
    tag: str
    revision: int
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """A stored entry and whether it applies."""

    namespace: str
    key: str
    tag: str
    entry: str
    state: str
    provenance: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebased:
    """What binding an entry to today's wording means; `revision` once it was done."""

    entry: str
    diff: str
    revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptList:
    """Every prompt."""

    prompts: tuple[PromptRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What `lint` found."""

    findings: tuple[FindingRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagList:
    """Every stored tag."""

    tags: tuple[TagRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A tag as it is stored."""

    document: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised:
    """The revision after a change."""

    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Overrides to carry elsewhere."""

    bundle: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What was written, as `ns/key@tag`."""

    written: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Doctored:
    """Every stored entry and its state."""

    entries: tuple[EntryRow, ...]


def rendered_row(rendered: RenderedPrompt) -> PromptRender:
    return PromptRender(
        text=rendered.text,
        system_text=rendered.system_text,
        user_text=rendered.user_text,
        parts=tuple(
            PartRow(
                path="/".join(part.path),
                number=part.number,
                title=part.title,
                source=part.source,
                tokens=part.tokens,
                text=part.text,
            )
            for part in rendered.parts
        ),
        tools=tuple(
            {"name": one.name, "description": one.description, "parameters": dict(one.schema)}
            for one in rendered.tool_specs
        ),
        diagnostics=tuple(
            FindingRow(code=one.code, message=one.message, path=one.path)
            for one in rendered.diagnostics
        ),
        hash=rendered.hash,
        tokens=rendered.tokens,
    )

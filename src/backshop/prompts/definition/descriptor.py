"""What of a prompt can be overridden, and what an overrides store answers (P3.3, P3.14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

Mode = Literal["template", "literal"]
OnConflict = Literal["fail", "skip", "replace"]
DEFAULT_TAG = "latest"


@dataclass(frozen=True, slots=True)
class SectionDescriptor:
    """An overridable section: where it is, which modes it takes, and the hash of its wording.

    `mode` is what an entry without a mode means; `fields` are the placeholders a template body
    may use, `blocks` those of them that need a line of their own.
    """

    path: str
    number: str
    mode: Mode
    content_hash: str
    modes: tuple[Mode, ...] = ("literal",)
    fields: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolDescriptor:
    """An overridable tool and the hash of what it promises."""

    path: str
    name: str
    contract_hash: str
    params: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptDescriptor:
    """The overridable parts of a prompt, whatever is enabled, bound or stored.

    `fixed` are the paths that take no override, so that one can be told from a path that is
    not there.
    """

    namespace: str
    key: str
    sections: tuple[SectionDescriptor, ...] = ()
    tools: tuple[ToolDescriptor, ...] = ()
    fixed: tuple[str, ...] = ()

    def section(self, path: str) -> SectionDescriptor | None:
        """Return the section at `path`, or None."""
        return next((one for one in self.sections if one.path == path), None)

    def tool(self, name: str) -> ToolDescriptor | None:
        """Return the tool, or None."""
        return next((one for one in self.tools if one.name == name), None)


class SectionKey(str):
    """A section's key that also knows what `set_override` needs to know about it (P3.19)."""

    descriptor: PromptDescriptor
    path: tuple[str, ...]

    def __new__(cls, key: str, descriptor: PromptDescriptor, path: tuple[str, ...]) -> SectionKey:
        self = super().__new__(cls, key)
        self.descriptor = descriptor
        self.path = path
        return self

    @property
    def section(self) -> SectionDescriptor | None:
        """Its entry in the descriptor: mode and content hash; None if it takes no overrides."""
        return self.descriptor.section("/".join(self.path))


class Reason(StrEnum):
    """Why a stored entry does not apply (P3.6)."""

    STALE_HASH = "STALE_HASH"
    UNKNOWN_PATH = "UNKNOWN_PATH"
    NOT_OVERRIDABLE = "NOT_OVERRIDABLE"
    BAD_PLACEHOLDER = "BAD_PLACEHOLDER"
    MODE_MISMATCH = "MODE_MISMATCH"
    TOO_LARGE = "TOO_LARGE"
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    STALE_TOOL = "STALE_TOOL"


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionOverride:
    """A stored text in place of a section's own; `summary` in place of its summary."""

    mode: Mode
    body: str
    expected_hash: str
    summary: str | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOverride:
    """A stored description of a tool and of some of its parameters."""

    expected_contract_hash: str
    description: str | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ignored:
    """An entry that cannot apply, and why; `entry` is a path or `tool:<name>`."""

    entry: str
    reason: Reason
    revision: int


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a store holds for a prompt and tag: what applies, and what does not."""

    found: bool = False
    revision: int = 0
    sections: Mapping[str, SectionOverride] = field(default_factory=dict)
    tools: Mapping[str, ToolOverride] = field(default_factory=dict)
    ignored: tuple[Ignored, ...] = ()


class Seedable(Protocol):
    """A prompt as `seed` needs it."""

    @property
    def descriptor(self) -> PromptDescriptor: ...

    @property
    def templates(self) -> Mapping[str, str]: ...

    @property
    def tool_texts(self) -> Mapping[str, str]: ...


class PromptOverridesStore(Protocol):
    """Where overrides are kept (P3.14); files, the event store, or layers of stores."""

    def resolve(self, descriptor: PromptDescriptor, tag: str) -> Resolved:
        """Return what applies to this prompt under `tag`, and what cannot."""
        ...

    def set_override(
        self,
        namespace: str,
        prompt_key: str,
        tag: str,
        section: str | tuple[str, ...],
        body: str,
        *,
        descriptor: PromptDescriptor | None = None,
        mode: Mode | None = None,
        summary: str | None = None,
        provenance: Mapping[str, str] | None = None,
        if_revision: int | None = None,
    ) -> int:
        """Store a section's text; return the new revision."""
        ...

    def set_tool_override(
        self,
        namespace: str,
        prompt_key: str,
        tag: str,
        tool: str,
        *,
        descriptor: PromptDescriptor,
        description: str | None = None,
        params: Mapping[str, str] | None = None,
        provenance: Mapping[str, str] | None = None,
        if_revision: int | None = None,
    ) -> int:
        """Store a tool's description; return the new revision."""
        ...

    def unset(
        self,
        namespace: str,
        prompt_key: str,
        tag: str,
        *,
        section: str | tuple[str, ...] | None = None,
        tool: str | None = None,
        if_revision: int | None = None,
    ) -> int:
        """Remove one entry if it is there; return the revision."""
        ...

    def delete(self, namespace: str, prompt_key: str, tag: str) -> None:
        """Remove a tag; a missing one is fine."""
        ...

    def tags(self, namespace: str, prompt_key: str) -> tuple[str, ...]:
        """Return the tags of a prompt, sorted."""
        ...

    def prompts(self) -> tuple[tuple[str, str], ...]:
        """Return the (namespace, key) pairs that have any tag, sorted."""
        ...

    def seed(self, prompt: Seedable, tag: str) -> dict[str, Any]:
        """Create a tag from the prompt's own texts, or return the one there is, untouched."""
        ...

    def load(self, namespace: str, prompt_key: str, tag: str) -> dict[str, Any] | None:
        """Return a tag as it is stored, or None."""
        ...

    def export(
        self, namespace: str | None = None, prompt_key: str | None = None, tag: str | None = None
    ) -> dict[str, Any]:
        """Return a bundle of every matching tag."""
        ...

    def import_(
        self, bundle: Mapping[str, Any], *, on_conflict: OnConflict = "fail"
    ) -> tuple[str, ...]:
        """Check a whole bundle, then store it; return what was written as `ns/key@tag`."""
        ...

    def check_writable(
        self, descriptor: PromptDescriptor, tag: str, section: str | tuple[str, ...]
    ) -> None:
        """Raise what `set_override` would raise for this place, writing nothing."""
        ...

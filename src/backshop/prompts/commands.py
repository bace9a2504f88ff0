"""The commands about prompts: name, request, response and the facade's method (P7.12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from backshop.base.command import Command, Nothing, commands_of

from .definition.descriptor import DEFAULT_TAG, Mode, OnConflict
from .rows import (
    EntryRow,
    FindingRow,
    PromptRender,
    PromptRow,
    PromptShown,
    Rebased,
    TagRow,
)
from .service import Prompts


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """A prompt."""

    namespace: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Some:
    """All prompts, those of a namespace, or one."""

    namespace: str | None = None
    key: str | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagged:
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


_command = commands_of("settings")


def _delete(prompts: Prompts, wish: Tagged) -> Nothing:
    prompts.overrides_delete(wish.namespace, wish.key, wish.tag)
    return Nothing()


COMMANDS: tuple[Command[Prompts, Any, Any], ...] = (
    _command(
        "PromptsList",
        "List the prompts.",
        Nothing,
        PromptList,
        lambda prompts, _: PromptList(prompts=prompts.list()),
        role="read",
        anybody=True,
    ),
    _command(
        "PromptsGet",
        "Show a prompt, its sections and what of it can be overridden.",
        Which,
        PromptShown,
        lambda prompts, wish: prompts.get(wish.namespace, wish.key),
        role="read",
        anybody=True,
    ),
    _command(
        "PromptsRender",
        "Render a prompt exactly as a model would receive it, without calling one.",
        RenderRequest,
        PromptRender,
        lambda prompts, wish: prompts.render(
            wish.namespace,
            wish.key,
            wish.params,
            tag=wish.tag,
            response_format=wish.response_format,
            budget_tokens=wish.budget_tokens,
        ),
        role="read",
        anybody=True,
    ),
    _command(
        "PromptsLint",
        "Find what is legal in prompts and still not wise.",
        Some,
        Findings,
        lambda prompts, wish: Findings(findings=prompts.lint(wish.namespace, wish.key)),
        role="read",
        anybody=True,
    ),
    _command(
        "PromptOverridesList",
        "List the stored tags of overrides.",
        Some,
        TagList,
        lambda prompts, wish: TagList(tags=prompts.overrides_list(wish.namespace, wish.key)),
        role="owner",
    ),
    _command(
        "PromptOverridesGet",
        "Show a tag of overrides as it is stored.",
        Tagged,
        Stored,
        lambda prompts, wish: Stored(
            document=prompts.overrides_get(wish.namespace, wish.key, wish.tag)
        ),
        role="owner",
    ),
    _command(
        "PromptOverridesSet",
        "Store a text in place of a section's or a tool's own.",
        SetRequest,
        Revised,
        lambda prompts, wish: Revised(
            revision=prompts.overrides_set(
                wish.namespace,
                wish.key,
                wish.tag,
                wish.body,
                section=wish.section,
                tool=wish.tool,
                mode=wish.mode,
                if_revision=wish.if_revision,
            )
        ),
        writes=True,
        role="owner",
    ),
    _command(
        "PromptOverridesUnset",
        "Remove one stored text.",
        UnsetRequest,
        Revised,
        lambda prompts, wish: Revised(
            revision=prompts.overrides_unset(
                wish.namespace,
                wish.key,
                wish.tag,
                section=wish.section,
                tool=wish.tool,
                if_revision=wish.if_revision,
            )
        ),
        writes=True,
        role="owner",
    ),
    _command(
        "PromptOverridesDelete",
        "Remove a tag of overrides.",
        Tagged,
        Nothing,
        _delete,
        writes=True,
        role="owner",
    ),
    _command(
        "PromptOverridesSeed",
        "Create a tag from the prompt's own words, to be edited.",
        Tagged,
        Stored,
        lambda prompts, wish: Stored(
            document=prompts.overrides_seed(wish.namespace, wish.key, wish.tag)
        ),
        writes=True,
        role="owner",
    ),
    _command(
        "PromptOverridesExport",
        "Export overrides as one bundle.",
        Some,
        Bundle,
        lambda prompts, wish: Bundle(
            bundle=prompts.overrides_export(wish.namespace, wish.key, wish.tag)
        ),
        role="owner",
    ),
    _command(
        "PromptOverridesImport",
        "Import a bundle of overrides; all of it is checked first.",
        ImportRequest,
        Imported,
        lambda prompts, wish: Imported(
            written=prompts.overrides_import(wish.bundle, wish.on_conflict)
        ),
        writes=True,
        role="owner",
    ),
    _command(
        "PromptOverridesDoctor",
        "Say of every stored text whether it still applies.",
        Some,
        Doctored,
        lambda prompts, wish: Doctored(
            entries=prompts.overrides_doctor(wish.namespace, wish.key, wish.tag)
        ),
        role="owner",
    ),
    _command(
        "PromptOverridesRebase",
        "Show how a stored text differs from today's wording and, confirmed, keep it.",
        RebaseRequest,
        Rebased,
        lambda prompts, wish: prompts.overrides_rebase(
            wish.namespace, wish.key, wish.tag, wish.section, confirm=wish.confirm
        ),
        writes=True,
        role="owner",
    ),
)

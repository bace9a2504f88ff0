"""Sections: the nodes of a prompt. They hold no session and no runtime object (P1.4, P1.7)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

from backshop.base.canon import sha256_hex

from ..errors import PromptRenderError, PromptValidationError
from ..name import check_key, slug
from ..slices import SessionView
from . import template as templates
from .descriptor import Mode, SectionOverride
from .tool import Tool

Role = Literal["system", "user"]
Stability = Literal["static", "workspace", "turn"]
Overflow = Literal["keep", "summary", "drop"]
Source = Literal["template", "override", "session", "placeholder", "summary"]
Level = Literal["info", "warning"]
Enabled = bool | Callable[[Any, SessionView | None], bool]
"""`(params_or_None, session_view_or_None) -> bool`"""

STABILITIES: tuple[Stability, ...] = ("static", "workspace", "turn")
TITLE_MAX_CHARS = 120


class Policy(Protocol):
    """Says whether a tool may be called now (P1.18)."""

    def check(
        self, tool_name: str, params: object | None, session_view: SessionView | None
    ) -> str | None:
        """Return None to allow, or the reason to deny."""
        ...


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something found while rendering; reported afterwards, once."""

    code: str
    message: str
    path: str = ""
    level: Level = "warning"
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """A section's text below its heading, where it came from, and what was found on the way."""

    text: str
    source: Source = "template"
    diagnostics: tuple[Diagnostic, ...] = ()
    shown: bool = True  # False leaves the section out, heading and all


@dataclass(frozen=True, slots=True)
class RenderContext:
    """All a section may look at while rendering: values, never the world."""

    path: str
    params: object | None = None
    session: SessionView | None = None
    override: SectionOverride | None = None
    optimizing: bool = False  # this prompt is a digest run (P5.15)


class Section(ABC):
    """A heading with a body, tools, policies and sub-sections.

    Subclasses implement `body`, and `template` or `identity` if their text can be overridden.
    """

    def __init__(
        self,
        title: str,
        *,
        key: str | None = None,
        children: Iterable[Section] = (),
        params: type | None = None,
        default_params: object | None = None,
        enabled: Enabled = True,
        tools: Iterable[Tool] = (),
        policies: Iterable[Policy] = (),
        accepts_overrides: bool | None = None,
        kinds: Iterable[str] = (),
        role: Role = "system",
        stability: Stability = "turn",
        overflow: Overflow = "keep",
        priority: int = 0,
        summary: str | None = None,
    ) -> None:
        self.title = _checked_title(title)
        self.key = _key_of(self.title, key)
        if key is None and accepts_overrides:
            raise PromptValidationError(
                f"{title!r} can be overridden only with a key of its own",
                code="OVERRIDABLE_NEEDS_KEY",
            )
        self.accepts_overrides = key is not None if accepts_overrides is None else accepts_overrides
        self.children = tuple(children)
        self.params = params
        self.default_params = default_params
        self.enabled = enabled
        self.tools = tuple(tools)
        self.policies = tuple(policies)
        self.kinds = tuple(kinds)
        self.role = role
        self.stability = stability
        self.overflow = overflow
        self.priority = priority
        self.summary = summary
        self._check_attributes()

    @abstractmethod
    def body(self, context: RenderContext) -> str:
        """Return the section's own text; pure."""

    def template(self) -> str | None:
        """Return the template the body comes from, normalised; None if there is none."""
        return None

    def identity(self) -> str | None:
        """Return the constant an override is bound to where there is no template (P3.4)."""
        return None

    def override_modes(self) -> tuple[Mode, ...]:
        """Return the modes an override may have, the default first."""
        return ("literal",) if self.template() is None else ("template", "literal")

    def produce(self, context: RenderContext) -> Body:
        """Return the body with its source: the override that applies, else the section's own."""
        override = context.override
        if override is None:
            return Body(self.body(context))
        if override.mode == "literal":
            return Body(override.body, "override")
        parsed = templates.parse(override.body)
        return Body(templates.substitute(parsed, context.params, context.path), "override")

    def summary_text(self, context: RenderContext) -> str | None:
        """Return what stands for the section when the budget is short (P1.23)."""
        if context.override is not None and context.override.summary is not None:
            return context.override.summary
        return self.summary

    @cached_property
    def content_hash(self) -> str | None:
        """What an override of this section is bound to; None if it cannot be overridden."""
        wording = self.template()
        basis = self.identity() if wording is None else wording
        return None if basis is None else sha256_hex(basis.encode())

    @property
    def overridable(self) -> bool:
        """Whether the section stands in the prompt's descriptor."""
        return self.accepts_overrides and self.content_hash is not None

    def matches(self, name: str) -> bool:
        """Say whether a selector's string names this section (P1.20)."""
        return self.key == name or name in self.kinds

    def __setattr__(self, name: str, value: object) -> None:
        if "_sealed" in self.__dict__:
            raise AttributeError(f"section {self.key!r} is part of a prompt and cannot change")
        super().__setattr__(name, value)

    def seal(self) -> None:
        """Make the section unchangeable; a prompt does this to what it is built of."""
        self.__dict__["_sealed"] = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title!r}, key={self.key!r})"

    def _check_attributes(self) -> None:
        if self.params is not None:
            check_params_type(self.params, self.key)
        if self.default_params is not None and type(self.default_params) is not self.params:
            raise PromptValidationError(
                f"the default params of {self.key!r} are not of its params type",
                code="BAD_SECTION",
                path=self.key,
            )
        broken = (
            (any(not isinstance(child, Section) for child in self.children), "a child"),
            (any(not isinstance(tool, Tool) for tool in self.tools), "a tool"),
            (not (isinstance(self.enabled, bool) or callable(self.enabled)), "`enabled`"),
            (self.role not in ("system", "user"), "`role`"),
            (self.stability not in STABILITIES, "`stability`"),
            (self.overflow not in ("keep", "summary", "drop"), "`overflow`"),
        )
        for wrong, what in broken:
            if wrong:
                raise PromptValidationError(
                    f"{what} of section {self.key!r} is not what it must be",
                    code="BAD_SECTION",
                    path=self.key,
                )
        for kind in self.kinds:
            check_key(kind, "kind")
        if self.overflow == "summary" and not self.can_summarise():
            raise PromptValidationError(
                f"section {self.key!r} has no summary to shrink to",
                code="SUMMARY_MISSING",
                path=self.key,
            )

    def can_summarise(self) -> bool:
        """Say whether there is something to shrink to."""
        return bool(self.summary)


class MarkdownSection(Section):
    """A section whose body is a template of plain text (P1.11)."""

    def __init__(
        self,
        title: str,
        template: str,
        *,
        key: str | None = None,
        children: Iterable[Section] = (),
        params: type | None = None,
        default_params: object | None = None,
        enabled: Enabled = True,
        tools: Iterable[Tool] = (),
        policies: Iterable[Policy] = (),
        accepts_overrides: bool | None = None,
        kinds: Iterable[str] = (),
        role: Role = "system",
        stability: Stability = "turn",
        overflow: Overflow = "keep",
        priority: int = 0,
        summary: str | None = None,
    ) -> None:
        if not isinstance(template, str):
            raise PromptValidationError(
                f"the template of {title!r} is not text", code="BAD_SECTION"
            )
        self._template = templates.parse(templates.normalise(template))
        super().__init__(
            title,
            key=key,
            children=children,
            params=params,
            default_params=default_params,
            enabled=enabled,
            tools=tools,
            policies=policies,
            accepts_overrides=accepts_overrides,
            kinds=kinds,
            role=role,
            stability=stability,
            overflow=overflow,
            priority=priority,
            summary=summary,
        )
        templates.check_slots(self._template, self.params, self.key)

    def template(self) -> str:
        """Return the normalised template."""
        return self._template.source

    def body(self, context: RenderContext) -> str:
        """Return the template with the values of its params."""
        return templates.substitute(self._template, context.params, context.path)


def check_params_type(params: object, path: str) -> None:
    """Refuse what is no dataclass type."""
    if not (isinstance(params, type) and is_dataclass(params)):
        raise PromptValidationError(
            f"the params of {path!r} are not a dataclass type",
            code="PARAMS_NOT_DATACLASS",
            path=path,
        )


def is_enabled(
    section: Section, params: object | None, session: SessionView | None, path: str
) -> bool:
    """Return what the section's `enabled` says (P1.14)."""
    if isinstance(section.enabled, bool):
        return section.enabled
    try:
        answer = section.enabled(params, session)
    except Exception as error:
        raise PromptRenderError(
            f"{path}: `enabled` failed: {error}", code="ENABLED_FAILED", path=path
        ) from error
    if answer is not True and answer is not False:
        raise PromptRenderError(
            f"{path}: `enabled` returned {type(answer).__name__}, not a bool",
            code="ENABLED_NOT_BOOL",
            path=path,
        )
    return answer


def _checked_title(title: object) -> str:
    shown = title.strip() if isinstance(title, str) else ""
    if not 1 <= len(shown) <= TITLE_MAX_CHARS or not shown.isprintable():
        raise PromptValidationError(
            f"a title is one line of 1–{TITLE_MAX_CHARS} characters", code="BAD_TITLE"
        )
    return shown


def _key_of(title: str, key: str | None) -> str:
    if key is not None:
        return check_key(key, "section key")
    derived = slug(title)
    if not derived:
        raise PromptValidationError(f"no key can be made of {title!r}", code="EMPTY_SECTION_KEY")
    return check_key(derived, "section key")

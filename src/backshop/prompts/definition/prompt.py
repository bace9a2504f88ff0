"""The Prompt: an immutable definition made of sections (P1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Generic, TypeVar, overload

from ..errors import PromptRenderError, PromptValidationError, SectionNotFound
from ..name import RESERVED_NAMESPACE, check_key, check_namespace
from ..slices import SessionView
from . import output as outputs
from .binding import bind, params_types
from .descriptor import PromptDescriptor, PromptOverridesStore, SectionKey
from .render import CountTokens, Inputs, RenderedPrompt, estimate_tokens, render
from .report import report
from .resolution import resolve
from .section import MarkdownSection, Policy, Section
from .selector import SectionPath, Selectors, select
from .tree import Node, Planted, describe, grow, rerooted

OutputT = TypeVar("OutputT")
PURPOSES = (
    *("work", "research", "plan", "implement", "summary", "reply", "proposal"),
    *("context_process", "compression", "digest", "other"),
)  # M8.1
NAME_MAX_CHARS = 128


class _Raise:
    """No default: not finding is an error."""


class _Keep:
    """As it is in the original."""


RAISE: Final = _Raise()
KEEP: Final = _Keep()


SessionLike = Any
"""A Session, a tool's view of one, or a SessionView: what has `view()`."""


class Prompt(Generic[OutputT]):
    """Sections in order, with tools, policies and an output; serves any number of sessions.

    Everything is checked when it is made; a prompt that exists can be described, searched and
    rendered (P1.1).
    """

    namespace: str
    key: str
    name: str | None
    output: type[OutputT] | None
    allow_extra_keys: bool
    policies: tuple[Policy, ...]
    include_conversation: bool
    purpose: str
    nodes: tuple[Node, ...]
    optimizing: bool

    @overload
    def __init__(
        self: Prompt[None],
        namespace: str,
        key: str,
        *,
        sections: Iterable[Section],
        name: str | None = ...,
        output: None = ...,
        allow_extra_keys: bool = ...,
        policies: Iterable[Policy] = ...,
        include_conversation: bool = ...,
        purpose: str = ...,
    ) -> None: ...

    @overload
    def __init__(
        self,
        namespace: str,
        key: str,
        *,
        sections: Iterable[Section],
        name: str | None = ...,
        output: type[OutputT],
        allow_extra_keys: bool = ...,
        policies: Iterable[Policy] = ...,
        include_conversation: bool = ...,
        purpose: str = ...,
    ) -> None: ...

    def __init__(
        self,
        namespace: str,
        key: str,
        *,
        sections: Iterable[Section],
        name: str | None = None,
        output: Any = None,
        allow_extra_keys: bool = False,
        policies: Iterable[Policy] = (),
        include_conversation: bool = False,
        purpose: str = "other",
    ) -> None:
        check_namespace(namespace)
        self._settle(
            namespace=namespace,
            key=key,
            name=name,
            output=output,
            allow_extra_keys=allow_extra_keys,
            policies=tuple(policies),
            include_conversation=include_conversation,
            purpose=purpose,
            roots=[Planted(section) for section in _checked(sections)],
            optimizing=False,
        )

    def _settle(self, *, roots: Sequence[Planted], **attributes: Any) -> None:
        """Check and set everything; the only place that does."""
        check_key(attributes["key"], "prompt key")
        _check_name(attributes["name"])
        if attributes["purpose"] not in PURPOSES:
            raise PromptValidationError(
                f"{attributes['purpose']!r} is no purpose", code="BAD_PURPOSE"
            )
        if attributes["output"] is not None:
            outputs.check_output(attributes["output"])
        self.__dict__.update(attributes)
        self.__dict__["nodes"] = grow(roots)

    @classmethod
    def bundled(cls, namespace: str, key: str, **attributes: Any) -> Prompt[Any]:
        """Return a prompt of the reserved namespace; for prompts that come with the product."""
        check_namespace(namespace, reserved_ok=True)
        free = cls("bundled", key, **attributes)
        return free._moved(namespace)

    def _moved(self, namespace: str) -> Prompt[Any]:
        made: Prompt[Any] = Prompt.__new__(Prompt)
        made.__dict__.update(self.__dict__, namespace=namespace)
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a prompt cannot change: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a prompt cannot change: {name}")

    def __repr__(self) -> str:
        return f"Prompt({self.namespace!r}, {self.key!r})"

    @property
    def ns(self) -> str:
        """The namespace, shorter."""
        return self.namespace

    @property
    def display_name(self) -> str:
        """What people read."""
        return self.name or self.key

    @property
    def sections(self) -> tuple[Section, ...]:
        """The root sections, in order."""
        return tuple(node.section for node in self.nodes)

    @cached_property
    def descriptor(self) -> PromptDescriptor:
        """What of this prompt can be overridden (P3.3)."""
        return describe(self.namespace, self.key, self.nodes)

    @cached_property
    def params_types(self) -> frozenset[type]:
        """The types of params its sections declare."""
        return params_types(self.nodes)

    @cached_property
    def templates(self) -> Mapping[str, str]:
        """The template of each overridable section that has one, by path."""
        known = {one.path for one in self.descriptor.sections}
        found = {node.name: node.section.template() for node in self.walk() if node.name in known}
        return {path: text for path, text in found.items() if text is not None}

    @cached_property
    def tool_texts(self) -> Mapping[str, str]:
        """The description of each overridable tool, by name."""
        known = {one.name for one in self.descriptor.tools}
        return {
            tool.name: tool.description
            for node in self.walk()
            for tool in node.section.tools
            if tool.name in known
        }

    def walk(self) -> Iterator[Node]:
        """Yield every node, depth first, parents before children."""
        for root in self.nodes:
            yield from root.walk()

    def find_section(self, selector: Selectors, *, default: Any = RAISE) -> Section:
        """Return the first section in document order that matches (P1.20).

        Raises:
            SectionNotFound: nothing matches and no default was given.
        """
        try:
            return self._found(selector).section
        except SectionNotFound:
            if default is RAISE:
                raise
            missing: Section = default
            return missing

    def find_section_path(self, selector: Selectors) -> tuple[str, ...]:
        """Return the path of the section a selector finds."""
        return self._found(selector).path

    def find_section_key(self, selector: Selectors) -> SectionKey:
        """Return the key of the section a selector finds; it also knows its path (P3.19)."""
        node = self._found(selector)
        return SectionKey(node.section.key, self.descriptor, node.path)

    def _found(self, selector: Selectors) -> Node:
        return select(self.walk(), selector)

    def clone_with(
        self,
        *,
        optimization_sections: Iterable[Section] = (),
        focus_areas: MarkdownSection | None = None,
        extra_sections: Iterable[Section] = (),
        restricted_sections: Iterable[Section | Selectors] | None = None,
        namespace: str | None = None,
        key: str | None = None,
        name: str | None = None,
        output: Any = KEEP,
        include_conversation: bool | _Keep = KEEP,
        purpose: str | None = None,
    ) -> Prompt[Any]:
        """Return a new prompt from parts of this one and additions; this one stays as it is.

        `restricted_sections` is what to keep (sections and selectors, mixed; None keeps all). A
        kept nested section becomes a root section with all below it, shown only where its
        ancestors would be. Kept sections look up overrides where they came from (P1.22).
        """
        added = list(optimization_sections)
        focus = [] if focus_areas is None else [focus_areas]
        bundled = self.namespace.split("/")[0] == RESERVED_NAMESPACE
        space = self.namespace if namespace is None else namespace
        check_namespace(space, reserved_ok=bundled)
        made: Prompt[Any] = Prompt.__new__(Prompt)
        made._settle(
            namespace=space,
            key=self.key if key is None else key,
            name=self.name if name is None else name,
            output=self.output if output is KEEP else output,
            allow_extra_keys=self.allow_extra_keys,
            policies=self.policies,
            include_conversation=(
                self.include_conversation
                if isinstance(include_conversation, _Keep)
                else include_conversation
            ),
            purpose=self.purpose if purpose is None else purpose,
            roots=[
                *(Planted(section) for section in _checked([*added, *focus])),
                *self._kept(restricted_sections),
                *(Planted(section) for section in _checked(extra_sections)),
            ],
            optimizing=bool(added) or self.optimizing,
        )
        return made

    def _kept(self, restricted: Iterable[Section | Selectors] | None) -> Iterator[Planted]:
        if restricted is None:
            yield from (rerooted(node, (), self.descriptor) for node in self.nodes)
            return
        wanted = {id(self._node_of(one).section) for one in restricted}

        def keep(node: Node, ancestors: tuple[Node, ...]) -> Iterator[Planted]:
            if id(node.section) in wanted:
                yield rerooted(node, ancestors, self.descriptor)
                return
            for child in node.children:
                yield from keep(child, (*ancestors, node))

        for root in self.nodes:
            yield from keep(root, ())

    def _node_of(self, wanted: Section | Selectors) -> Node:
        if isinstance(wanted, SectionKey):
            return self._found(SectionPath(*wanted.path) if len(wanted.path) > 1 else str(wanted))
        if not isinstance(wanted, Section):
            return self._found(wanted)
        for node in self.walk():
            if node.section is wanted:
                return node
        raise SectionNotFound(f"{wanted!r} is no section of {self.key!r}", code="SECTION_NOT_FOUND")

    def render(
        self,
        *params: object,
        session: SessionLike | None = None,
        overrides_store: PromptOverridesStore | None = None,
        overrides_tag: str | None = None,
        response_format: bool = False,
        budget_tokens: int | None = None,
        count_tokens: CountTokens | None = None,
    ) -> RenderedPrompt:
        """Return the text a model would receive: resolve, render, report (P1.8)."""
        rendered = self.preview(
            *params,
            session=session,
            overrides_store=overrides_store,
            overrides_tag=overrides_tag,
            response_format=response_format,
            budget_tokens=budget_tokens,
            count_tokens=count_tokens,
        )
        report(rendered.diagnostics, session)
        return rendered

    def preview(
        self,
        *params: object,
        session: SessionLike | None = None,
        overrides_store: PromptOverridesStore | None = None,
        overrides_tag: str | None = None,
        response_format: bool = False,
        budget_tokens: int | None = None,
        count_tokens: CountTokens | None = None,
    ) -> RenderedPrompt:
        """Render without reporting: nothing is logged and nothing published."""
        bound, missing = bind(self.nodes, params)
        overrides, found = resolve(
            self.descriptor, tuple(self.walk()), overrides_store, overrides_tag
        )
        view: SessionView | None = None if session is None else session.view()
        rendered = render(
            Inputs(
                nodes=self.nodes,
                prompt=self,
                descriptor=self.descriptor,
                policies=self.policies,
                params=bound,
                missing=missing,
                session=view,
                overrides=overrides,
                response_format=response_format,
                budget_tokens=budget_tokens,
                count_tokens=count_tokens or estimate_tokens,
                diagnostics=found,
                optimizing=self.optimizing,
            )
        )
        _check_text(rendered.text)
        return rendered

    def parse_output(self, text: str) -> OutputT:
        """Return the declared output that a model's answer holds (P1.19)."""
        found: OutputT = outputs.parse_output(text, self)
        return found


def _checked(sections: Iterable[Section]) -> list[Section]:
    found = list(sections)
    for section in found:
        if not isinstance(section, Section):
            raise PromptValidationError(
                f"{type(section).__name__} is no section", code="BAD_SECTION"
            )
    return found


def _check_name(name: object) -> None:
    fits = isinstance(name, str) and 1 <= len(name) <= NAME_MAX_CHARS and name.isprintable()
    if name is not None and not fits:
        raise PromptValidationError(
            f"a prompt's name has 1–{NAME_MAX_CHARS} printable characters", code="BAD_NAME"
        )


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PromptRenderError(
            "a value holds text that cannot be sent: a lone surrogate", code="BAD_TEXT"
        ) from error

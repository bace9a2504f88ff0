"""Rendering: a tree of sections and bound values in, the exact text for a model out. Pure.

Nothing here reads a file, a clock or the environment: what came from outside was resolved
before, and what was found is reported afterwards (P1.8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from backshop.base.canon import canonical, sha256_hex

from ..errors import PromptBudgetError, PromptRenderError
from ..slices import SessionView
from .descriptor import PromptDescriptor, Resolved, SectionOverride
from .output import HasOutput, output_schema, response_format
from .section import (
    STABILITIES,
    Diagnostic,
    Policy,
    RenderContext,
    Section,
    Source,
    Stability,
    is_enabled,
)
from .tool import Tool, ToolContext, ToolResult
from .tree import READ_SECTION, RESPONSE_FORMAT_KEY, Node

CountTokens = Callable[[str], int]


def estimate_tokens(text: str) -> int:
    """Return the estimate used where nobody counts: characters / 4, rounded up (M13.1)."""
    return -(-len(text) // 4)


@dataclass(frozen=True, slots=True)
class Part:
    """One section of a rendered prompt: `text` is its heading and body without sub-sections."""

    path: tuple[str, ...]
    number: str
    title: str
    text: str
    source: Source
    tokens: int


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is offered to the model, with overrides applied."""

    name: str
    description: str
    schema: Mapping[str, Any]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class RenderedPrompt:
    """A prompt as a model would receive it, with the account of how it came about (P1.25)."""

    system_text: str
    user_texts: tuple[str, ...]
    """What the user message says, in pieces: each begins where sections get less stable."""
    parts: tuple[Part, ...]
    tools: tuple[Tool, ...]
    tool_specs: tuple[ToolSpec, ...]
    policies: Mapping[str, tuple[Policy, ...]]
    output: Any
    output_schema: Mapping[str, Any] | None
    descriptor: PromptDescriptor
    diagnostics: tuple[Diagnostic, ...]
    cache_breaks: tuple[int, int]
    shortened: Mapping[str, str] = field(default_factory=dict)

    @property
    def user_text(self) -> str:
        """The pieces of the user message, as one."""
        return "\n\n".join(self.user_texts)

    @cached_property
    def text(self) -> str:
        """System and user text, as one."""
        return "\n\n".join(text for text in (self.system_text, self.user_text) if text)

    @property
    def tool_descriptions(self) -> Mapping[str, str]:
        """The description of each tool after overrides."""
        return {spec.name: spec.description for spec in self.tool_specs}

    @cached_property
    def hash(self) -> str:
        """What identifies this request: equal inputs give an equal hash in every process."""
        specs = [[spec.name, spec.description, spec.schema] for spec in self.tool_specs]
        return sha256_hex(canonical([self.system_text, self.user_text, specs, self.output_schema]))

    @property
    def tokens(self) -> int:
        """The sum over the parts."""
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """All that rendering depends on, resolved."""

    nodes: tuple[Node, ...]
    prompt: HasOutput
    descriptor: PromptDescriptor
    policies: tuple[Policy, ...]
    params: Mapping[int, object | None]  # by id of the section; absent if they cannot be built
    missing: Mapping[int, PromptRenderError]
    session: SessionView | None
    overrides: Mapping[tuple[str, str], Resolved]
    response_format: bool
    budget_tokens: int | None
    count_tokens: CountTokens
    diagnostics: tuple[Diagnostic, ...]
    optimizing: bool = False


@dataclass(slots=True)
class _Shown:
    """A section that is in the prompt; `cut` once the budget took something away."""

    node: Node
    context: RenderContext
    body: str
    source: Source
    cut: bool = False
    gone: bool = False


def render(inputs: Inputs) -> RenderedPrompt:
    """Return the rendered prompt.

    Raises:
        PromptRenderError: a value or an `enabled` predicate does not fit.
        PromptBudgetError: too large, and nothing is left to shorten.
    """
    diagnostics = list(inputs.diagnostics)
    shown = list(_shown(inputs, diagnostics))
    full = {one.node.name: one.body for one in shown}
    tools, policies = _tools(shown, inputs.policies)
    layout = _fit(inputs, shown)
    shortened = {
        one.node.name: _full_text(one.node, full) for one in shown if one.cut and not one.gone
    }
    if shortened:
        tools = (*tools, READ_SECTION_TOOL)
        policies[READ_SECTION] = tuple(inputs.policies)
    declared = inputs.prompt.output
    schema = None
    if declared is not None:
        schema = output_schema(declared, allow_extra_keys=inputs.prompt.allow_extra_keys)
    return RenderedPrompt(
        system_text=layout.system_text,
        user_texts=layout.user_texts,
        parts=layout.parts,
        tools=tools,
        tool_specs=tuple(_spec(tool, inputs) for tool in tools),
        policies=policies,
        output=declared,
        output_schema=schema,
        descriptor=inputs.descriptor,
        diagnostics=tuple(diagnostics),
        cache_breaks=layout.cache_breaks,
        shortened=shortened,
    )


def _shown(inputs: Inputs, diagnostics: list[Diagnostic]) -> Iterator[_Shown]:
    answers: dict[int, bool] = {}

    def enabled(section: Section, path: str) -> bool:
        if id(section) not in answers:
            params = inputs.params.get(id(section))
            answers[id(section)] = is_enabled(section, params, inputs.session, path)
        return answers[id(section)]

    def walk(nodes: Sequence[Node]) -> Iterator[_Shown]:
        for node in nodes:
            if not all(enabled(guard.section, guard.path) for guard in node.guards):
                continue
            if not enabled(node.section, node.name):
                continue
            if id(node.section) in inputs.missing:
                raise inputs.missing[id(node.section)]
            context = RenderContext(
                node.name,
                inputs.params.get(id(node.section)),
                inputs.session,
                _override(inputs, node),
                inputs.optimizing,
            )
            body = node.section.produce(context)
            diagnostics.extend(body.diagnostics)
            if not body.shown:
                continue
            yield _Shown(node, context, body.text, body.source)
            yield from walk(node.children)

    return walk(inputs.nodes)


def _override(inputs: Inputs, node: Node) -> SectionOverride | None:
    own = (inputs.descriptor, node.name)
    descriptor, path = (node.origin.descriptor, node.origin.path) if node.origin else own
    resolved = inputs.overrides.get((descriptor.namespace, descriptor.key))
    return resolved.sections.get(path) if resolved else None


def _tools(
    shown: Sequence[_Shown], general: tuple[Policy, ...]
) -> tuple[tuple[Tool, ...], dict[str, tuple[Policy, ...]]]:
    found: dict[str, Tool] = {}
    policies: dict[str, tuple[Policy, ...]] = {}
    for one in shown:
        for tool in one.node.section.tools:
            found.setdefault(tool.name, tool)
            policies[tool.name] = (*policies.get(tool.name, ()), *one.node.section.policies)
    return tuple(found.values()), {name: (*some, *general) for name, some in policies.items()}


def _spec(tool: Tool, inputs: Inputs) -> ToolSpec:
    for resolved in inputs.overrides.values():
        override = resolved.tools.get(tool.name)
        if override is not None:
            schema = tool.schema
            if override.params:
                schema = deepcopy(schema)
                for name, description in override.params.items():
                    schema["properties"][name]["description"] = description
            described = override.description or tool.description
            return ToolSpec(tool.name, described, schema, tool.aliases)
    return ToolSpec(tool.name, tool.description, tool.schema, tool.aliases)


@dataclass(frozen=True, slots=True)
class _Layout:
    system_text: str
    user_texts: tuple[str, ...]
    parts: tuple[Part, ...]
    cache_breaks: tuple[int, int]


def _fit(inputs: Inputs, shown: list[_Shown]) -> _Layout:
    """Lay the sections out, taking away what may be taken until the budget holds (P1.23)."""
    while True:
        layout = _laid_out(inputs, shown)
        if inputs.budget_tokens is None:
            return layout
        whole = "\n\n".join(text for text in (layout.system_text, *layout.user_texts) if text)
        needed = inputs.count_tokens(whole)
        if needed <= inputs.budget_tokens:
            return layout
        candidates = [
            (one.node.section.priority, -place, one)
            for place, one in enumerate(shown)
            if one.node.section.overflow != "keep" and not one.cut and not one.gone
        ]
        if not candidates:
            raise PromptBudgetError(
                f"the prompt needs {needed} tokens and may have {inputs.budget_tokens}",
                needed=needed,
                budget=inputs.budget_tokens,
                parts={"/".join(part.path): part.tokens for part in layout.parts},
            )
        _reduce(min(candidates, key=lambda found: found[:2])[2], shown)


def _reduce(target: _Shown, shown: list[_Shown]) -> None:
    below = {node.path for node in target.node.walk()} - {target.node.path}
    target.cut = True
    if target.node.section.overflow == "drop":
        target.gone = True
    else:
        summary = target.node.section.summary_text(target.context) or ""
        pointer = f"(Shortened. `{READ_SECTION}` with path `{target.node.name}` gives the rest.)"
        target.body = f"{summary}\n{pointer}" if summary else pointer
        target.source = "summary"
    for one in shown:
        if one.node.path in below:
            one.gone = True


def _laid_out(inputs: Inputs, shown: Sequence[_Shown]) -> _Layout:
    system: list[Part] = []
    user: list[tuple[Part, Stability]] = []
    position = 0
    leading: dict[str, bool] = {"static": True, "workspace": True}
    breaks = {"static": 0, "workspace": 0}
    root_role = {node.path[0]: node.section.role for node in inputs.nodes}
    for one in shown:
        if one.gone:
            continue
        part = _part(one, inputs.count_tokens)
        if root_role[one.node.path[0]] == "user":
            user.append((part, one.node.section.stability))
            continue
        position += len(part.text) + (2 if system else 0)
        system.append(part)
        stability = one.node.section.stability
        leading["static"] = leading["static"] and stability == "static"
        leading["workspace"] = leading["workspace"] and stability != "turn"
        for name in ("static", "workspace"):
            breaks[name] = position if leading[name] else breaks[name]
    if inputs.response_format and inputs.prompt.output is not None:
        system.append(_response_format(inputs))
    return _Layout(
        "\n\n".join(part.text for part in system),
        _pieces(user),
        (*system, *(part for part, _ in user)),
        (breaks["static"], breaks["workspace"]),
    )


def _pieces(user: Sequence[tuple[Part, Stability]]) -> tuple[str, ...]:
    """Join what is as stable as what stands before it; a provider keeps whole pieces (P1.24)."""
    found: list[list[str]] = []
    before: Stability | None = None
    for part, stability in user:
        if before is None or STABILITIES.index(stability) > STABILITIES.index(before):
            found.append([])
            before = stability
        found[-1].append(part.text)
    return tuple("\n\n".join(texts) for texts in found)


def _part(one: _Shown, count_tokens: CountTokens) -> Part:
    node = one.node
    text = _section_text(node.depth, node.number, node.section.title, one.body)
    return Part(node.path, node.number, node.section.title, text, one.source, count_tokens(text))


def _section_text(depth: int, number: str, title: str, body: str) -> str:
    heading = f"{'#' * (depth + 2)} {number}. {title}"
    return f"{heading}\n\n{body}" if body else heading


def _response_format(inputs: Inputs) -> Part:
    number, title = str(len(inputs.nodes) + 1), "Response Format"
    text = _section_text(0, number, title, response_format(inputs.prompt))
    return Part((RESPONSE_FORMAT_KEY,), number, title, text, "template", inputs.count_tokens(text))


def _full_text(node: Node, full: Mapping[str, str]) -> str:
    texts = [full.get(node.name, "")]
    for below in node.walk():
        if below is not node and below.name in full:
            texts.append(
                _section_text(below.depth, below.number, below.section.title, full[below.name])
            )
    return "\n\n".join(text for text in texts if text)


@dataclass(frozen=True, slots=True)
class ReadSection:
    """Arguments of `read_section`."""

    path: str = field(metadata={"description": "Path of the section, as the prompt names it"})


def _read_section(params: ReadSection, *, context: ToolContext) -> ToolResult:
    rendered = context.rendered
    texts = rendered.shortened if isinstance(rendered, RenderedPrompt) else {}
    if params.path not in texts:
        known = ", ".join(sorted(texts)) or "none"
        return ToolResult.failure("not_found", f"no shortened section there; known: {known}")
    return ToolResult(True, texts[params.path])


READ_SECTION_TOOL = Tool(
    name=READ_SECTION,
    description="Read the whole text of a section that the prompt shows shortened.",
    params=ReadSection,
    handler=_read_section,
    effects="read",
    accepts_overrides=False,
)

"""The section tree of a prompt: numbered, checked, and with the way back to where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..errors import PromptValidationError
from .descriptor import PromptDescriptor, SectionDescriptor, ToolDescriptor
from .section import Section
from .template import fields_of
from .tool import Tool

MAX_LEVELS = 5
MAX_SECTIONS = 4096
RESPONSE_FORMAT_KEY = "response-format"
READ_SECTION = "read_section"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a kept section of a clone was declared; overrides are looked up there (P1.22)."""

    descriptor: PromptDescriptor
    path: str


@dataclass(frozen=True, slots=True)
class Guard:
    """An ancestor that a promoted section has left behind but still depends on."""

    section: Section
    path: str


@dataclass(frozen=True, slots=True)
class Node:
    """A section at its place in one prompt."""

    section: Section
    path: tuple[str, ...]
    number: str
    children: tuple[Node, ...] = ()
    origin: Origin | None = None
    guards: tuple[Guard, ...] = field(default=())

    @property
    def name(self) -> str:
        """The path as it is written: keys joined by `/`."""
        return "/".join(self.path)

    @property
    def depth(self) -> int:
        """0 for a root section."""
        return len(self.path) - 1

    def walk(self) -> Iterator[Node]:
        """Yield this node and everything below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Planted:
    """A root section to be placed, with what a clone remembers about it."""

    section: Section
    origins: dict[int, Origin] = field(default_factory=dict)
    guards: tuple[Guard, ...] = ()


def grow(roots: Sequence[Planted]) -> tuple[Node, ...]:
    """Return the numbered tree of these roots, checked as a whole (P1.6, P1.9, P1.17)."""
    nodes = tuple(
        _grow(one.section, (), f"{place}", one.origins, one.guards)
        for place, one in enumerate(roots, 1)
    )
    _check_siblings(nodes, "")
    _check_roles(nodes)
    if any(node.section.key == RESPONSE_FORMAT_KEY for node in nodes):
        raise PromptValidationError(
            f"the root key {RESPONSE_FORMAT_KEY!r} is reserved", code="RESERVED_KEY"
        )
    everything = [node for root in nodes for node in root.walk()]
    if len(everything) > MAX_SECTIONS:
        raise PromptValidationError(
            f"{len(everything)} sections are more than {MAX_SECTIONS}", code="TOO_MANY_SECTIONS"
        )
    _check_tools(everything)
    return nodes


def _grow(
    section: Section,
    above: tuple[str, ...],
    number: str,
    origins: dict[int, Origin],
    guards: tuple[Guard, ...] = (),
) -> Node:
    path = (*above, section.key)
    if len(path) > MAX_LEVELS:
        raise PromptValidationError(
            f"{'/'.join(path)} is deeper than {MAX_LEVELS} levels",
            code="TOO_DEEP",
            path="/".join(path),
        )
    if above and section.role != "system":
        raise PromptValidationError(
            f"{'/'.join(path)}: only root sections speak as the user",
            code="ROLE_ORDER",
            path="/".join(path),
        )
    section.seal()
    children = tuple(
        _grow(child, path, f"{number}.{place}", origins)
        for place, child in enumerate(section.children, 1)
    )
    _check_siblings(children, "/".join(path))
    node = Node(section, path, number, children, origins.get(id(section)), guards)
    if section.overflow == "drop" and any(below.section.tools for below in node.walk()):
        raise PromptValidationError(
            f"{node.name} may be dropped and has tools", code="DROP_WITH_TOOLS", path=node.name
        )
    return node


def _check_siblings(nodes: Sequence[Node], where: str) -> None:
    seen: set[str] = set()
    for node in nodes:
        if node.section.key in seen:
            raise PromptValidationError(
                f"{node.name} occurs twice below {where or 'the root'}",
                code="DUPLICATE_SECTION_KEY",
                path=node.name,
            )
        seen.add(node.section.key)


def _check_roles(nodes: Sequence[Node]) -> None:
    roles = [node.section.role for node in nodes]
    if "system" in roles[roles.index("user") :] if "user" in roles else False:
        raise PromptValidationError("sections of the user come last at the root", code="ROLE_ORDER")


def _check_tools(nodes: Sequence[Node]) -> None:
    by_name: dict[str, Tool] = {}
    shrinks = any(node.section.overflow == "summary" for node in nodes)
    for node in nodes:
        for tool in node.section.tools:
            reserved = shrinks and tool.name == READ_SECTION
            if by_name.setdefault(tool.name, tool) is not tool or reserved:
                raise PromptValidationError(
                    f"{node.name}: another tool is called {tool.name!r}",
                    code="DUPLICATE_TOOL",
                    path=node.name,
                )


def describe(namespace: str, key: str, nodes: Sequence[Node]) -> PromptDescriptor:
    """Return what of this tree can be overridden (P3.3)."""
    everything = [node for root in nodes for node in root.walk()]
    sections = tuple(_described(node) for node in everything if node.section.overridable)
    tools: dict[str, ToolDescriptor] = {}
    for node in everything:
        for tool in node.section.tools:
            if tool.accepts_overrides and tool.name not in tools:
                names = tuple(sorted(tool.schema.get("properties", {})))
                tools[tool.name] = ToolDescriptor(node.name, tool.name, tool.contract_hash, names)
    fixed = tuple(node.name for node in everything if not node.section.overridable)
    return PromptDescriptor(namespace, key, sections, tuple(tools.values()), fixed)


def _described(node: Node) -> SectionDescriptor:
    section = node.section
    modes = section.override_modes()
    shown = fields_of(section.params) if section.params and "template" in modes else {}
    names = tuple(sorted(name for name, one in shown.items() if one.supported))
    blocks = tuple(name for name in names if shown[name].is_block)
    return SectionDescriptor(
        node.name, node.number, modes[0], section.content_hash or "", modes, names, blocks
    )


def rerooted(node: Node, ancestors: Sequence[Node], own: PromptDescriptor) -> Planted:
    """Return a kept section as a root of a clone, remembering where each part came from."""
    origins = {id(below.section): below.origin or Origin(own, below.name) for below in node.walk()}
    guards = tuple(Guard(above.section, above.name) for above in ancestors)
    inherited = ancestors[0].guards if ancestors else node.guards
    return Planted(node.section, origins, (*inherited, *guards))

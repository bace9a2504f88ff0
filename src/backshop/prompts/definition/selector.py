"""Selectors: how a section of a prompt is named (P1.20)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import PromptValidationError, SectionNotFound
from .section import Section
from .tree import Node


@dataclass(frozen=True, slots=True)
class SectionPath:
    """A selector for the one section at this path."""

    path: tuple[str, ...]

    def __init__(self, *keys: str) -> None:
        parts = keys[0].split("/") if len(keys) == 1 else keys
        object.__setattr__(self, "path", tuple(parts))


Selector = type[Section] | str | SectionPath
Selectors = Selector | tuple[Selector, ...]


def select(nodes: Iterable[Node], selector: Selectors) -> Node:
    """Return the first node in document order that any alternative matches.

    Raises:
        SectionNotFound: nothing matches; lists what there is.
        PromptValidationError: `EMPTY_SELECTOR`, `BAD_SELECTOR`.
    """
    options = selector if isinstance(selector, tuple) else (selector,)
    if not options:
        raise PromptValidationError("a selector names nothing", code="EMPTY_SELECTOR")
    for option in options:
        if not isinstance(option, str | SectionPath) and not _is_section_type(option):
            raise PromptValidationError(f"{option!r} is no selector", code="BAD_SELECTOR")
    everything = list(nodes)
    for node in everything:
        if any(_matches(node, option) for option in options):
            return node
    there = ", ".join(node.name for node in everything) or "none"
    raise SectionNotFound(f"no section matches; there are: {there}", code="SECTION_NOT_FOUND")


def _is_section_type(option: object) -> bool:
    return isinstance(option, type) and issubclass(option, Section)


def _matches(node: Node, option: Selector) -> bool:
    if isinstance(option, SectionPath):
        return node.path == option.path
    if isinstance(option, str):
        return node.section.matches(option)
    return isinstance(node.section, option)

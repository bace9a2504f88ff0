"""Binding params: which instance each section gets, by exact dataclass type (P1.13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from ..errors import PromptRenderError
from .section import Section
from .tree import Node


def sections_of(nodes: Sequence[Node]) -> Iterable[tuple[str, Section]]:
    """Yield every section that params may be bound to, guards included."""
    for root in nodes:
        for node in root.walk():
            for guard in node.guards:
                yield guard.path, guard.section
            yield node.name, node.section


def params_types(nodes: Sequence[Node]) -> frozenset[type]:
    """Return the types of params this tree declares."""
    return frozenset(
        section.params for _, section in sections_of(nodes) if section.params is not None
    )


def bind(
    nodes: Sequence[Node], given: Sequence[object]
) -> tuple[Mapping[int, object | None], Mapping[int, PromptRenderError]]:
    """Return the params per section, and per section without any the error it would be."""
    bound = _by_type(given, params_types(nodes))
    params: dict[int, object | None] = {}
    missing: dict[int, PromptRenderError] = {}
    for path, section in sections_of(nodes):
        if section.params is None or id(section) in params:
            continue
        value = _value(section, bound)
        params[id(section)] = value
        if value is None:
            missing[id(section)] = PromptRenderError(
                f"{path} needs params of type {section.params.__name__}",
                code="MISSING_PARAMS",
                path=path,
                params_type=section.params.__name__,
            )
    return params, missing


def _by_type(given: Sequence[object], declared: frozenset[type]) -> dict[type, object]:
    bound: dict[type, object] = {}
    for value in given:
        kind: type = type(value)
        code = None
        if isinstance(value, type) or not is_dataclass(value):
            code, message = "PARAMS_NOT_DATACLASS", "is no dataclass instance"
        elif kind in bound:
            code, message = "DUPLICATE_PARAMS", "was given twice"
        elif kind not in declared:
            code, message = "UNEXPECTED_PARAMS", "is declared by no section"
        if code is not None:
            raise PromptRenderError(
                f"{kind.__name__} {message}", code=code, params_type=kind.__name__
            )
        bound[kind] = value
    return bound


def _value(section: Section, bound: Mapping[type, object]) -> Any:
    kind: Any = section.params
    if kind in bound:
        return bound[kind]
    if section.default_params is not None:
        return section.default_params
    needs = any(
        one.init and one.default is MISSING and one.default_factory is MISSING
        for one in fields(kind)
    )
    if needs:
        return None
    try:
        return kind()
    except (TypeError, ValueError):  # its own checks refuse its own defaults
        return None

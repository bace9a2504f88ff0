"""Finds what a write really changed by comparing the units of a file before and after (F16.13).

A unit is the smallest thing a report speaks of: a paragraph, a table cell, a shape. A format lists
the units of the file as it was, and of the written bytes parsed again; `origin` says for every unit
after the write which unit it was before, so that inserting a line does not look like changing all
that follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml import etree

from ..package.guard import Element, parse_xml
from ..package.package import Package
from ..protocol import Effect


@dataclass(frozen=True, slots=True)
class Unit:
    """A comparable piece of a file: what it is, where, and all its bytes."""

    kind: str
    where: str
    print: bytes


def fingerprint(element: Element | None) -> bytes:
    """Return an element with all that is in it, as comparable bytes."""
    return b"" if element is None else etree.tostring(element, with_tail=False)


def compare(
    before: Sequence[Unit], after: Sequence[Unit], origin: Sequence[int | None]
) -> Iterator[Effect]:
    """Yield what differs. Removed units are named as they were counted before."""
    seen = set()
    for unit, place in zip(after, origin, strict=True):
        if place is None:
            yield Effect(kind=unit.kind, where=unit.where, aspect="added")
            continue
        seen.add(place)
        if before[place].print != unit.print:
            yield Effect(kind=unit.kind, where=unit.where)
    for place, unit in enumerate(before):
        if place not in seen:
            yield Effect(kind=unit.kind, where=unit.where, aspect="removed")


def by_position(before: Sequence[Unit], after: Sequence[Unit]) -> list[int | None]:
    """Return the origins of units that are known by where they stand."""
    places = {unit.where: index for index, unit in enumerate(before)}
    return [places.get(unit.where) for unit in after]


def part_effects(package: Package, explained: set[str]) -> Iterator[Effect]:
    """Yield what became of the changed parts that have no units.

    A part whose old lines are all still there, with others beside them, counts as added to; any
    other difference is a change of the part.
    """
    for name in package.changed_parts:
        if name in explained:
            continue
        before = package.original(name)
        if before is None:
            yield Effect(kind="part", where=name, aspect="added")
        elif name not in package:
            yield Effect(kind="part", where=name, aspect="removed")
        elif name.endswith((".xml", ".rels")):
            yield from _grown(name, before, package.read(name))
        else:
            yield Effect(kind="part", where=name)


def _grown(name: str, before: bytes, after: bytes) -> Iterator[Effect]:
    old, new = parse_xml(before), parse_xml(after)
    old_lines = [fingerprint(child) for child in old]
    new_lines = [fingerprint(child) for child in new]
    remaining = iter(new_lines)
    grown = all(any(line == other for other in remaining) for line in old_lines)
    same_root = (old.tag, old.items()) == (new.tag, new.items())
    if grown and same_root:
        yield Effect(kind="part", where=name, aspect="added")
        return
    lost = [line for line in old_lines if line not in new_lines]
    shrunk = same_root and all(line in old_lines for line in new_lines) and bool(lost)
    yield Effect(kind="part", where=name, aspect="removed" if shrunk else "value")

"""Conditional formats, validations and links of cells that are copied to other places (F39.10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.package.relationship import rels_name

from ...book.element_order import insert_in_order
from ...book.sheet_edit import SheetEdit
from ...book.workbook import child, children, local, rel_id, truth
from ...rule.entry import forget_twins
from ...syntax.address import Area, parse_area
from ...syntax.formula import shift
from ..layout import ORDER, ensure
from ..session import Session, Target

CONDITION, VALIDATION = "conditionalFormatting", "dataValidation"
FORMULAS = frozenset({"formula", "formula1", "formula2"})
_EXTENDED = frozenset({CONDITION, VALIDATION, "sparkline"})
_MAX_TILES = 1000  # of a copy that repeats; what does not hold for all of it is copied so often


@dataclass(frozen=True)
class RangeCopy:
    """A range of one sheet that is copied to another, perhaps several times side by side."""

    source: SheetEdit
    area: Area
    target: SheetEdit
    tiles: Sequence[tuple[int, int]]  # how far each copy is away, in rows and columns
    whole: Area  # what all copies together fill

    def images(self, part: Area) -> list[Area]:
        """Return where the copies of a part of the range are."""
        clip = self.area.clip(part)
        if clip is None:
            return []
        if clip == self.area:
            return [self.whole]
        return [clip.moved(rows, cols) for rows, cols in self.tiles[:_MAX_TILES]]


# --- conditional formats and validations --------------------------------------------------------


def copy_rules(session: Session, copy: RangeCopy) -> None:
    """Let the rules of a range hold for its copies, in the place of those that held there."""
    made: list[tuple[str, Element]] = []
    staying: list[Element] = []
    for name, rule in rules(copy.source.frame.root):
        areas = _areas(rule)
        images = [image for area in areas for image in copy.images(area)]
        if not images or truth(rule.get("pivot")):
            continue
        if copy.source is copy.target and not _uncovered(images, areas):
            staying.append(rule)
        else:
            made.append((name, _reset(alone(rule), areas, images)))
    is_changed = _cut(copy.target.frame.root, copy.whole, staying)
    for name, rule in made:
        add_rule(copy.target, name, rule)
    if made or is_changed:
        aspects = frozenset({CONDITION, "dataValidations"})
        session.targets.append(Target(copy.target.sheet.name, None, aspects))
        copy.target.refresh_frame()


def extended(copy: RangeCopy) -> int:
    """Count the rules and sparklines of a range that only newer programs know; they stay."""
    return sum(
        any(copy.area.meets(area) for area in parsed(listed.text or ""))
        for item in copy.source.frame.root.iter("{*}*")
        if local(item) in _EXTENDED and (listed := child(item, "sqref")) is not None
    )


def rules(root: Element) -> Iterator[tuple[str, Element]]:
    """Go through the conditional formats and validations of a sheet."""
    yield from ((CONDITION, one) for one in children(root, CONDITION))
    listed = children(child(root, "dataValidations"), VALIDATION)
    yield from ((VALIDATION, one) for one in listed)


def alone(rule: Element) -> Element:
    """Return a copy of a rule that shares nothing with it."""
    copy = deepcopy(rule)
    forget_twins(copy)
    return copy


def _areas(rule: Element) -> list[Area]:
    return parsed(rule.get("sqref") or "")


def parsed(text: str) -> list[Area]:
    """Return the rectangles of a list of places."""
    return [area for one in text.split() if (area := parse_area(one)) is not None]


def corner(areas: Sequence[Area]) -> tuple[int, int]:
    """Return the cell for which the formulas of a rule are written."""
    return min(area.row1 for area in areas), min(area.col1 for area in areas)


def _uncovered(images: Iterable[Area], areas: Sequence[Area]) -> list[Area]:
    """Return what of some rectangles lies in none of others."""
    left = list(images)
    for area in areas:
        left = [piece for one in left for piece in one.without(area)]
    return left


def _reset(rule: Element, before: Sequence[Area], now: Sequence[Area]) -> Element:
    """Give a rule other cells; its formulas read for the first of them."""
    rule.set("sqref", " ".join(map(str, now)))
    first, here = corner(before), corner(now)
    rows, cols = here[0] - first[0], here[1] - first[1]
    for item in rule.iter("{*}*"):
        if local(item) in FORMULAS and item.text:
            item.text = shift(item.text, rows, cols)
        for key in [key for key in item.attrib if str(key).endswith("}uid")]:
            del item.attrib[key]
    return rule


def _cut(root: Element, hole: Area, staying: Sequence[Element]) -> bool:
    """Let rules hold no longer for the cells that are copied over."""
    changed = False
    for _, rule in list(rules(root)):
        areas = _areas(rule)
        if any(rule is one for one in staying) or not any(one.meets(hole) for one in areas):
            continue
        changed = True
        left = [piece for area in areas for piece in area.without(hole)]
        if left:
            _reset_place(rule, areas, left)
            continue
        parent = rule.getparent()
        if parent is not None:
            parent.remove(rule)
    count_rules(root)
    return changed


def _reset_place(rule: Element, before: Sequence[Area], now: Sequence[Area]) -> None:
    identity = {key: value for key, value in rule.attrib.items() if str(key).endswith("}uid")}
    _reset(rule, before, now)
    for key, value in identity.items():
        rule.set(key, value)


def add_rule(edit: SheetEdit, name: str, rule: Element) -> None:
    """Add a rule to a sheet; of conditional formats the new ones come last."""
    root = edit.frame.root
    if name == VALIDATION:
        ensure(edit, "dataValidations").append(rule)
        count_rules(root)
        return
    said = [item.get("priority") or "" for item in root.iter("{*}cfRule")]
    number = max((int(one) for one in said if one.isdigit()), default=0)
    for item in children(rule, "cfRule"):
        number += 1
        item.set("priority", str(number))
    insert_in_order(root, rule, ORDER)


def count_rules(root: Element) -> None:
    """Say how many validations there are, and leave an empty list of them out."""
    parent = child(root, "dataValidations")
    if parent is None:
        return
    left = len(children(parent, VALIDATION))
    if left:
        parent.set("count", str(left))
    else:
        root.remove(parent)


# --- links --------------------------------------------------------------------------------------


def copy_links(session: Session, copy: RangeCopy) -> None:
    """Let the links of a range be there in its copies, in the place of those that were."""
    made = []
    for item in children(child(copy.source.frame.root, "hyperlinks"), "hyperlink"):
        area = parse_area(item.get("ref") or "")
        if area is None or copy.area.clip(area) != area:
            continue
        for rows, cols in copy.tiles[:_MAX_TILES]:
            link = deepcopy(item)
            link.set("ref", str(area.moved(rows, cols)))
            made.append(link)
    old = child(copy.target.frame.root, "hyperlinks")
    gone = [
        item
        for item in children(old, "hyperlink")
        if (area := parse_area(item.get("ref") or "")) is not None and copy.whole.clip(area) == area
    ]
    if not made and not gone:
        return
    parent = ensure(copy.target, "hyperlinks")
    for item in gone:
        parent.remove(item)
    for link in made:
        lead(session, copy, link)
        parent.append(link)
    if not len(parent):
        copy.target.frame.root.remove(parent)
    aspects = frozenset({"hyperlinks"})
    session.targets.append(Target(copy.target.sheet.name, None, aspects))
    copy.target.refresh_frame()


def lead(session: Session, copy: RangeCopy, link: Element) -> None:
    """Let a link on another sheet lead where it led."""
    number = rel_id(link)
    source, target = copy.source.sheet.part, copy.target.sheet.part
    if number is None or source is None or target is None or source == target:
        return
    package = session.book.package
    found = next((rel for rel in package.rels(source) if rel.id == number), None)
    key = next(str(one) for one in link.attrib if etree.QName(str(one)).localname == "id")
    if found is None:
        del link.attrib[key]
        return
    if package.find(rels_name(target)) is None:
        session.made.add(rels_name(target))
    session.addresses.add(found.target)
    new = package.add_rel(target, found.type, found.target, external=found.part is None)
    link.set(key, new)

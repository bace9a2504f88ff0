"""Conditional formats, validations, sparklines and links that go with moved cells (F39.13)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from backshop.formats.package.guard import Element

from ...book.sheet_edit import SheetEdit
from ...book.workbook import child, children, local, truth
from ...syntax.address import Area, parse_area
from ...syntax.formula import shift
from ..layout import ensure
from ..session import Session, Target
from .cell_move import CellMove
from .rule_copy import (
    CONDITION,
    FORMULAS,
    RangeCopy,
    add_rule,
    alone,
    corner,
    count_rules,
    lead,
    parsed,
    rules,
)

_EXTENDED = frozenset({CONDITION, "dataValidation", "sparkline"})


def move_rules(session: Session, source: SheetEdit, target: SheetEdit, move: CellMove) -> None:
    """Let the rules of moved cells hold for them where they are now, and no others there."""
    made: list[tuple[str, Element]] = []
    changed = False
    is_same = source is target
    for name, rule in list(rules(source.frame.root)):
        areas = parsed(rule.get("sqref") or "")
        pieces = [clip for area in areas if (clip := move.area.clip(area))]
        if not pieces or truth(rule.get("pivot")):
            continue
        changed = True
        made.append((name, _moved(rule, areas, pieces, move)))
        left = [piece for area in areas for piece in area.without(move.area)]
        _leave(rule, areas, left, move)
    for _, rule in list(rules(target.frame.root)):
        areas = parsed(rule.get("sqref") or "")
        if any(area.meets(move.target) for area in areas):
            changed = True
            _leave(rule, areas, [p for area in areas for p in area.without(move.target)])
    for name, rule in made:
        add_rule(target, name, rule)
    changed = _extended(session, source, move) or changed
    if not changed:
        return
    aspects = frozenset({CONDITION, "dataValidations", "extLst"})
    for edit in (source,) if is_same else (source, target):
        count_rules(edit.frame.root)
        session.targets.append(Target(edit.sheet.name, None, aspects))
        edit.refresh_frame()


def _moved(rule: Element, areas: Sequence[Area], pieces: Sequence[Area], move: CellMove) -> Element:
    """Return a rule for the moved ones of its cells; what it reads among these moved along."""
    is_whole = all(move.area.clip(area) == area for area in areas)
    new = deepcopy(rule) if is_whole and not move.is_far else alone(rule)
    new.set("sqref", " ".join(str(one.moved(move.rows, move.cols)) for one in pieces))
    first, here = corner(areas), corner(pieces)
    for item in new.iter("{*}*"):
        if local(item) in FORMULAS and item.text:
            text = shift(item.text, here[0] - first[0], here[1] - first[1])
            item.text = move.carried(move.rule(text, move.sheet, pieces))
    return new


def _leave(
    rule: Element, before: Sequence[Area], left: Sequence[Area], move: CellMove | None = None
) -> None:
    """Let a rule hold for fewer cells, or go; with `move` what it reads follows."""
    parent = rule.getparent()
    if not left:
        if parent is not None:
            parent.remove(rule)
        return
    rule.set("sqref", " ".join(map(str, left)))
    first, here = corner(before), corner(left)
    for item in rule.iter("{*}*"):
        if local(item) in FORMULAS and item.text:
            text = shift(item.text, here[0] - first[0], here[1] - first[1])
            item.text = move.rule(text, move.sheet, left) if move else text


def _extended(session: Session, source: SheetEdit, move: CellMove) -> bool:
    """Move rules and sparklines that only newer programs know, where all of their cells move."""
    changed, left = False, 0
    for item in source.frame.root.iter("{*}*"):
        listed = child(item, "sqref") if local(item) in _EXTENDED else None
        if listed is None:
            continue
        areas = parsed(listed.text or "")
        if not any(area.meets(move.area) for area in areas):
            continue
        for formula in item.iter("{*}f") if local(item) != "sparkline" else ():
            formula.text = move.rule(formula.text or "", move.sheet, areas) or None
            changed = True
        if move.is_far or not all(move.area.clip(area) == area for area in areas):
            left += 1
            continue
        listed.text = " ".join(str(area.moved(move.rows, move.cols)) for area in areas)
        changed = True
    if left:
        said = f"sparklines or newer rules of {move.sheet}!{move.area} stayed where they were"
        session.warnings.add("not_copied", left, said)
    return changed


# --- links --------------------------------------------------------------------------------------


def move_links(session: Session, source: SheetEdit, target: SheetEdit, move: CellMove) -> None:
    """Let the links of moved cells go along, in the place of those that were there."""
    taken = [
        (item, area)
        for item in children(child(source.frame.root, "hyperlinks"), "hyperlink")
        if (area := parse_area(item.get("ref") or "")) and move.area.clip(area) == area
    ]
    over = [
        item
        for item in children(child(target.frame.root, "hyperlinks"), "hyperlink")
        if (area := parse_area(item.get("ref") or "")) and move.target.clip(area) == area
    ]
    if not taken and not over:
        return
    for item in [*over, *(one for one, _ in taken)]:
        parent = item.getparent()
        if parent is not None:
            parent.remove(item)
    copy = RangeCopy(source, move.area, target, ((move.rows, move.cols),), move.target)
    for item, area in taken:
        item.set("ref", str(area.moved(move.rows, move.cols)))
        lead(session, copy, item)
        ensure(target, "hyperlinks").append(item)
    for edit in (source, target):
        listed = child(edit.frame.root, "hyperlinks")
        if listed is not None and not len(listed):
            edit.frame.root.remove(listed)
        session.targets.append(Target(edit.sheet.name, None, frozenset({"hyperlinks"})))
        edit.refresh_frame()

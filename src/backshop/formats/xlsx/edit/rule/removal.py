"""Rules that are taken away, by their numbers or from some cells (F38.8)."""

from __future__ import annotations

from dataclasses import replace

from backshop.formats.errors import MAX_HINTS
from backshop.formats.protocol import Json, Op
from backshop.formats.write.operation import problem

from ...book.sheet_edit import SheetEdit
from ...book.workbook import child, children
from ...rule.entry import Rule, RuleKind, outside, remove, restrict, rules
from ...rule.listing import CALLED, shown
from ...rule.words import RuleWords
from ..session import Session, Target
from .operand import areas_of_rule

_ELEMENTS: dict[RuleKind, str] = {
    "condition": "conditionalFormatting",
    "validation": "dataValidations",
}


def told(session: Session, edit: SheetEdit, rule: Rule) -> str:
    """Return a rule with its cells in words."""
    words = words_of(session).told(rule)
    return f"{edit.sheet.name}!{rule.where}: {CALLED[rule.kind]} ({words})"


def aim_at(session: Session, edit: SheetEdit, rule: Rule) -> None:
    """Note that an operation is about a rule, as it is afterwards."""
    aspects = frozenset({_ELEMENTS[rule.kind], "extLst"})
    session.targets.append(Target(edit.sheet.name, None, aspects, rule.where))


def words_of(session: Session) -> RuleWords:
    """Return how rules are told, with the looks that are there now."""
    return RuleWords(children(child(session.styles.root, "dxfs"), "dxf"))


def delete_rules(session: Session, edit: SheetEdit, op: Op, kind: RuleKind) -> str:
    """Take rules of a sheet away, and return which in words."""
    found = rules(edit.frame.root, kind)
    wanted = _wanted(session, found, op, kind)
    if op.args["range"] is None:
        gone, cut = wanted, []
        areas = [area for rule in wanted for area in rule.areas]
    else:
        areas = areas_of_rule(op, edit)
        met = [rule for rule in wanted if any(map(rule.meets, areas))]
        if not met:
            what = f"no {CALLED[kind]} holds for these cells"
            hints = shown(found, words_of(session), MAX_HINTS)
            raise problem("no_match", f"{op.where}.range", what, hints)
        gone = [rule for rule in met if not outside(rule.areas, areas)]
        cut = [rule for rule in met if outside(rule.areas, areas)]
    if any(rule.is_pivot for rule in (*gone, *cut)):
        if op.args["number"] is not None:
            what = "this rule belongs to a pivot table and stays"
            raise problem("op_conflict", f"{op.where}.number", what)
        gone, cut = ([one for one in some if not one.is_pivot] for some in (gone, cut))
        if not gone and not cut:
            what = "the rules of these cells belong to a pivot table and stay"
            raise problem("op_conflict", f"{op.where}.range", what)
    said = [f"{told(session, edit, rule)} removed" for rule in gone]
    said += [f"{told(session, edit, rule)} taken off some of these cells" for rule in cut]
    for rule in gone:
        remove(rule)
        aim_at(session, edit, rule)
    for rule in cut:
        left = outside(rule.areas, areas)
        restrict(rule, left)
        aim_at(session, edit, replace(rule, areas=tuple(left)))
    edit.refresh_frame()
    session.touched.setdefault(edit.sheet.name, []).extend(areas)
    return "; ".join(said)


def _wanted(session: Session, found: list[Rule], op: Op, kind: RuleKind) -> list[Rule]:
    given = op.args["number"]
    if given is None and op.args["range"] is None:
        raise problem("missing_field", f"{op.where}.range", "a range, a number or both are needed")
    if given is None:
        return found
    numbers = _numbers(given, f"{op.where}.number")
    missing = [number for number in numbers if not 1 <= number <= len(found)]
    if missing:
        what = f"the sheet has no {CALLED[kind]} {missing[0]}"
        hints = shown(found, words_of(session), MAX_HINTS)
        raise problem("no_match", f"{op.where}.number", what, hints)
    return [found[number - 1] for number in dict.fromkeys(numbers)]


def _numbers(given: Json, where: str) -> list[int]:
    listed = list(given) if isinstance(given, list | tuple) else [given]
    found = []
    for item in listed:
        if isinstance(item, str) and item.strip().isdigit() and len(item) < 7:
            item = int(item)
        if isinstance(item, bool) or not isinstance(item, int):
            raise problem("bad_type", where, "a number of the list of rules, or several in a list")
        found.append(item)
    if not found:
        raise problem("missing_field", where, "a number is needed")
    return found

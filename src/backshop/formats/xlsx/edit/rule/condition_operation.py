"""Conditional formats that come and go (F38)."""

from __future__ import annotations

from backshop.formats.protocol import Op
from backshop.formats.write.operation import Arg, problem

from ...book.sheet_edit import SheetEdit
from ...rule.entry import add, add_extended, free_number, rules
from ..session import Session
from ..sheet_operation import refuse_format
from .condition_look import look_of_condition
from .condition_xml import SCALES, ConditionReader
from .operand import Operands, areas_of_rule
from .removal import aim_at, delete_rules, told

ADD_ARGS = (
    Arg("sheet", str, required=True),
    Arg("range", str, required=True, aliases=("ranges",)),
    Arg("kind", str, required=True, aliases=("type", "rule_type")),
    Arg("value", object),
    Arg("value2", object),
    Arg("formula", str),
    Arg("percent", bool),
    Arg("style", object, aliases=("format",)),
    Arg("colors", object, aliases=("color",)),
    Arg("min", object),
    Arg("mid", object),
    Arg("max", object),
    Arg("solid", bool),
    Arg("icons", str),
    Arg("thresholds", list),
    Arg("reverse", bool),
    Arg("show_value", bool),
    Arg("stop_if_true", bool, default=False),
    Arg("priority", int),
)
DELETE_ARGS = (
    Arg("sheet", str, required=True),
    Arg("range", str),
    Arg("number", object, aliases=("rule",)),
)


def add_conditional_format(session: Session, op: Op) -> str:
    """Let cells look otherwise where they meet a condition."""
    edit = session.edit(str(op.args["sheet"]), op.where)
    refuse_format(edit, "formatCells", op.where)
    areas = areas_of_rule(op, edit)
    reader = ConditionReader(op, Operands(session, edit, areas))
    place = " ".join(map(str, areas))
    number = free_number(edit.frame.root, f"{edit.sheet.part} {place}")
    is_scale = reader.kind in SCALES
    if is_scale and op.args["stop_if_true"]:
        what = "a scale, bars and icons stop no rules after them"
        raise problem("op_conflict", f"{op.where}.stop_if_true", what)
    made = reader.made(number, None)
    if not is_scale:
        look = look_of_condition(session, op.args["style"], f"{op.where}.style")
        made.rule.set("dxfId", str(look))
    made.rule.set("priority", str(_priority(edit, op)))
    if op.args["stop_if_true"]:
        made.rule.set("stopIfTrue", "1")
    add(edit.frame.root, made.rule, place, {})
    if made.twin is not None:
        add_extended(edit.frame.root, "condition", made.twin, place)
    edit.refresh_frame()
    session.touched.setdefault(edit.sheet.name, []).extend(areas)
    rule = rules(edit.frame.root, "condition")
    added = next(one for one in rule if one.element is made.rule)
    aim_at(session, edit, added)
    return f"{told(session, edit, added)} added"


def delete_conditional_format(session: Session, op: Op) -> str:
    """Take conditional formats away, from some cells or altogether."""
    edit = session.edit(str(op.args["sheet"]), op.where)
    refuse_format(edit, "formatCells", op.where)
    return delete_rules(session, edit, op, "condition")


def _priority(edit: SheetEdit, op: Op) -> int:
    """Return the priority of a new rule; those behind it give way (F38.4)."""
    found = rules(edit.frame.root, "condition")
    wish = op.args["priority"]
    if wish is None or (isinstance(wish, int) and wish > len(found)):
        return max((one.priority for one in found), default=0) + 1
    if not isinstance(wish, int) or wish < 1:
        raise problem("bad_value", f"{op.where}.priority", "counts from 1, the first one applied")
    behind = found[wish - 1 :]
    place = behind[0].priority
    before = found[wish - 2].priority if wish > 1 else 0
    if before + 1 < place or not behind:
        return before + 1
    if any(rule.is_pivot for rule in behind):
        what = "a rule of a pivot table keeps its place: without priority the new one comes last"
        raise problem("op_conflict", f"{op.where}.priority", what)
    for at, rule in enumerate(behind):
        rule.element.set("priority", str(before + 2 + at))
    return before + 1

"""The elements of a conditional format that an operation asks for (F38.4 to F38.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lxml import etree

from backshop.formats.figure.plain import exact_text
from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json, Op
from backshop.formats.write.operation import as_list, problem
from backshop.formats.write.style import colour

from ...book.workbook import like
from ...rule.entry import TWIN_EXT, X14, XM
from ...syntax.address import cell_name
from .operand import Operands, quoted

COMPARISONS = {
    "greater_than": "greaterThan",
    "less_than": "lessThan",
    "greater_or_equal": "greaterThanOrEqual",
    "less_or_equal": "lessThanOrEqual",
    "equal": "equal",
    "not_equal": "notEqual",
    "between": "between",
    "not_between": "notBetween",
}
_TEXTS = {
    "contains_text": ("containsText", "containsText", "NOT(ISERROR(SEARCH({text},{cell})))"),
    "not_contains_text": ("notContainsText", "notContains", "ISERROR(SEARCH({text},{cell}))"),
    "begins_with": ("beginsWith", "beginsWith", "LEFT({cell},LEN({text}))={text}"),
    "ends_with": ("endsWith", "endsWith", "RIGHT({cell},LEN({text}))={text}"),
}
_STATES = {
    "blank": ("containsBlanks", "LEN(TRIM({cell}))=0"),
    "not_blank": ("notContainsBlanks", "LEN(TRIM({cell}))>0"),
    "error": ("containsErrors", "ISERROR({cell})"),
    "not_error": ("notContainsErrors", "NOT(ISERROR({cell}))"),
}
_LISTED = {"duplicate": "duplicateValues", "unique": "uniqueValues"}
_RANKED = ("top", "bottom")
_AVERAGED = ("above_average", "below_average")
_WEEKDAY = "WEEKDAY(TODAY())"
_DAY = "ROUNDDOWN({cell},0)"
_MONTH = "AND(MONTH({cell})=MONTH(%s),YEAR({cell})=YEAR(%s))"
_PERIODS = {
    "today": ("today", "FLOOR({cell},1)=TODAY()"),
    "yesterday": ("yesterday", "FLOOR({cell},1)=TODAY()-1"),
    "tomorrow": ("tomorrow", "FLOOR({cell},1)=TODAY()+1"),
    "last_7_days": ("last7Days", "AND(TODAY()-FLOOR({cell},1)<=6,FLOOR({cell},1)<=TODAY())"),
    "last_week": (
        "lastWeek",
        f"AND(TODAY()-{_DAY}>=({_WEEKDAY}),TODAY()-{_DAY}<({_WEEKDAY}+7))",
    ),
    "this_week": ("thisWeek", f"AND(TODAY()-{_DAY}<={_WEEKDAY}-1,{_DAY}-TODAY()<=7-{_WEEKDAY})"),
    "next_week": (
        "nextWeek",
        f"AND({_DAY}-TODAY()>(7-{_WEEKDAY}),{_DAY}-TODAY()<(15-{_WEEKDAY}))",
    ),
    "last_month": ("lastMonth", _MONTH % (("EDATE(TODAY(),0-1)",) * 2)),
    "this_month": ("thisMonth", _MONTH % (("TODAY()",) * 2)),
    "next_month": ("nextMonth", _MONTH % (("EDATE(TODAY(),0+1)",) * 2)),
}
PERIODS = tuple(_PERIODS)
SCALES = ("color_scale", "data_bar", "icon_set")
KINDS = (
    *(*COMPARISONS, *_TEXTS, "date", *_LISTED, *_RANKED, *_AVERAGED, *_STATES, "formula", *SCALES),
)
ICONS = (
    *("3Arrows", "3ArrowsGray", "3Flags", "3TrafficLights1", "3TrafficLights2", "3Signs"),
    *("3Symbols", "3Symbols2", "4Arrows", "4ArrowsGray", "4RedToBlack", "4Rating"),
    *("4TrafficLights", "5Arrows", "5ArrowsGray", "5Rating", "5Quarters"),
)
POINT = "number, lowest, highest, 10%, percentile 10 or =formula"
_FIELDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(COMPARISONS, ("value",)),
    **dict.fromkeys(("between", "not_between"), ("value", "value2")),
    **dict.fromkeys((*_TEXTS, "date"), ("value",)),
    **dict.fromkeys(_RANKED, ("value", "percent")),
    **dict.fromkeys(_AVERAGED, ("value",)),
    "formula": ("formula",),
    "color_scale": ("colors", "min", "mid", "max"),
    "data_bar": ("colors", "min", "max", "solid", "show_value"),
    "icon_set": ("icons", "thresholds", "reverse", "show_value"),
}
_OWN = tuple(dict.fromkeys(name for names in _FIELDS.values() for name in names))
_COLORS = {2: ("FFFFFF", "63BE7B"), 3: ("F8696B", "FFEB84", "63BE7B")}
_BAR = "638EC6"
_PERCENT = re.compile(r"\s*(\d{1,3}(?:\.\d+)?)\s*%\s*")
_PERCENTILE = re.compile(r"\s*percentile\s+(\d{1,3}(?:\.\d+)?)\s*", re.I)
_MAX_RANK, _MAX_PERCENT = 1000, 100
_MAX_DEVIATIONS = 3


@dataclass(frozen=True, slots=True)
class Point:
    """Where a step of a scale lies: a kind of the file format, and its value."""

    kind: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """A conditional format in elements; `twin` is more about it for newer programs."""

    rule: Element
    twin: Element | None = None


class ConditionReader:
    """Makes the elements of one operation."""

    def __init__(self, op: Op, operands: Operands) -> None:
        self.op, self.operands = op, operands
        self.root = operands.edit.frame.root
        self.kind = str(op.args["kind"]).strip().lower()
        if self.kind not in KINDS:
            raise problem("bad_value", f"{op.where}.kind", "this is no kind of rule", KINDS)
        used = _FIELDS.get(self.kind, ())
        for name in _OWN:
            if name not in used and op.args[name] is not None:
                what = f"a rule of kind {self.kind} takes no {name}"
                raise problem("op_conflict", f"{op.where}.{name}", what, used)
        if self.kind in SCALES and op.args["style"] is not None:
            what = "its colours are fields of the operation"
            raise problem("op_conflict", f"{op.where}.style", what, used)

    def made(self, number: str, look: int | None) -> Made:
        """Return the elements; `number` names the twin, `look` is that of a conditional format."""
        if self.kind == "color_scale":
            return Made(self._color_scale())
        if self.kind == "data_bar":
            return self._data_bar(number)
        if self.kind == "icon_set":
            return Made(self._icon_set())
        rule = self._plain()
        if look is not None:
            rule.set("dxfId", str(look))
        return Made(rule)

    def _where(self, name: str) -> str:
        return f"{self.op.where}.{name}"

    def _rule(self, kind: str, formulas: Iterable[str] = (), **attributes: str) -> Element:
        rule = etree.Element(like(self.root, "cfRule"), {"type": kind, **attributes})
        for text in formulas:
            etree.SubElement(rule, like(self.root, "formula")).text = text
        return rule

    # --- rules with a look ---------------------------------------------------------------------

    def _plain(self) -> Element:
        args, kind = self.op.args, self.kind
        cell = cell_name(*self.operands.first)
        if kind in COMPARISONS:
            values = [self.operands.value(args[name], self._where(name)) for name in _FIELDS[kind]]
            return self._rule("cellIs", values, operator=COMPARISONS[kind])
        if kind in _TEXTS:
            sort, operator, formula = _TEXTS[kind]
            text = self._text()
            made = formula.replace("{cell}", cell).replace("{text}", quoted(text))
            return self._rule(sort, [made], operator=operator, text=text)
        if kind == "date":
            period, formula = self._period()
            made = formula.replace("{cell}", cell)
            return self._rule("timePeriod", [made], timePeriod=period)
        if kind in _STATES:
            sort, formula = _STATES[kind]
            return self._rule(sort, [formula.replace("{cell}", cell)])
        if kind == "formula":
            if args["formula"] is None:
                what = "a formula for the first cell of the range is needed"
                raise problem("missing_field", self._where("formula"), what)
            return self._rule(
                "expression", [self.operands.formula(args["formula"], self._where("formula"))]
            )
        if kind in _RANKED:
            return self._ranked()
        if kind in _AVERAGED:
            return self._averaged()
        return self._rule(_LISTED[kind])

    def _text(self) -> str:
        given = self.op.args["value"]
        if given is None or given == "":
            raise problem("missing_field", self._where("value"), "a text is needed")
        if isinstance(given, int | float) and not isinstance(given, bool):
            given = self.operands.number(given, self._where("value"))
        return self.operands.text(given, self._where("value"))

    def _period(self) -> tuple[str, str]:
        given = str(self.op.args["value"] or "").strip().lower().replace(" ", "_")
        if given not in _PERIODS:
            raise problem("bad_value", self._where("value"), "this is no period", PERIODS)
        return _PERIODS[given]

    def _ranked(self) -> Element:
        is_percent = bool(self.op.args["percent"])
        most = _MAX_PERCENT if is_percent else _MAX_RANK
        count = self._count("value", 10, most)
        rule = self._rule("top10", rank=str(count))
        if is_percent:
            rule.set("percent", "1")
        if self.kind == "bottom":
            rule.set("bottom", "1")
        return rule

    def _averaged(self) -> Element:
        rule = self._rule("aboveAverage")
        if self.kind == "below_average":
            rule.set("aboveAverage", "0")
        if self.op.args["value"] is not None:
            rule.set("stdDev", str(self._count("value", 1, _MAX_DEVIATIONS)))
        return rule

    def _count(self, name: str, default: int, most: int) -> int:
        given = self.op.args[name]
        if given is None:
            return default
        is_whole = isinstance(given, int | float) and not isinstance(given, bool)
        if not (is_whole and float(str(given)).is_integer() and 1 <= float(str(given)) <= most):
            raise problem("bad_value", self._where(name), f"a whole number from 1 to {most}")
        return int(float(str(given)))

    # --- scales --------------------------------------------------------------------------------

    def _color_scale(self) -> Element:
        args = self.op.args
        colors = self._colors()
        count = len(colors) if colors else (3 if args["mid"] is not None else 2)
        if count not in _COLORS:
            raise problem("bad_value", self._where("colors"), "a scale has 2 or 3 colors")
        if count == 2 and args["mid"] is not None:
            raise problem("op_conflict", self._where("mid"), "a scale of 2 colors has no middle")
        points = [self._point("min", Point("min"))]
        if count == 3:
            points.append(self._point("mid", Point("percentile", "50")))
        points.append(self._point("max", Point("max")))
        rule = self._rule("colorScale")
        scale = etree.SubElement(rule, like(self.root, "colorScale"))
        for point in points:
            self._add(scale, point)
        for color in colors or _COLORS[count]:
            etree.SubElement(scale, like(self.root, "color"), rgb=f"FF{color}")
        return rule

    def _colors(self) -> list[str]:
        given = self.op.args["colors"]
        if given is None:
            return []
        found = []
        for at, item in enumerate(as_list([given] if isinstance(given, str) else given)):
            color = colour(item)
            if color is None:
                raise problem("bad_value", f"{self._where('colors')}[{at}]", "a color is #RRGGBB")
            found.append(color)
        return found

    def _point(self, name: str, default: Point) -> Point:
        given = self.op.args[name]
        return default if given is None else self._read_point(given, self._where(name))

    def _read_point(self, given: Json, where: str) -> Point:
        if isinstance(given, str):
            text = given.strip()
            if text.lower() in ("lowest", "highest"):
                return Point("min" if text.lower() == "lowest" else "max")
            for kind, pattern in (("percent", _PERCENT), ("percentile", _PERCENTILE)):
                found = pattern.fullmatch(text)
                if found and float(found[1]) <= _MAX_PERCENT:
                    return Point(kind, exact_text(float(found[1])))
            if text.startswith("=") and len(text) > 1:
                made = self.operands.formula(text, where)
                if any(not mark for mark in _locks(made)):
                    what = "cells in a scale are named with $ before column and row"
                    raise problem("bad_value", where, what, ["=$B$1"])
                return Point("formula", made)
            serial = self.operands.serial(text)
            if serial is not None:
                return Point("num", serial)
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise problem("bad_value", where, POINT)
        return Point("num", self.operands.number(given, where))

    def _add(self, scale: Element, point: Point) -> None:
        said = {"type": point.kind}
        if point.value is not None:
            said["val"] = point.value
        etree.SubElement(scale, like(self.root, "cfvo"), said)

    def _data_bar(self, number: str) -> Made:
        colors = self._colors() or [_BAR]
        if len(colors) != 1:
            raise problem("bad_value", self._where("colors"), "bars have one color")
        low, high = self._point("min", Point("autoMin")), self._point("max", Point("autoMax"))
        rule = self._rule("dataBar")
        bar = etree.SubElement(rule, like(self.root, "dataBar"))
        if self.op.args["show_value"] is False:
            bar.set("showValue", "0")
        for point, known in ((low, "min"), (high, "max")):
            self._add(bar, Point(known) if point.kind.startswith("auto") else point)
        etree.SubElement(bar, like(self.root, "color"), rgb=f"FF{colors[0]}")
        listed = etree.SubElement(rule, like(self.root, "extLst"))
        ext = etree.SubElement(listed, like(self.root, "ext"), nsmap={"x14": X14}, uri=TWIN_EXT)
        etree.SubElement(ext, f"{{{X14}}}id").text = number
        return Made(rule, self._bar_twin(number, colors[0], low, high))

    def _bar_twin(self, number: str, color: str, low: Point, high: Point) -> Element:
        twin = etree.Element(f"{{{X14}}}cfRule", {"type": "dataBar", "id": number})
        said = {"minLength": "0", "maxLength": "100"}
        if self.op.args["solid"] is not False:
            said["gradient"] = "0"
        if self.op.args["show_value"] is False:
            said["showValue"] = "0"
        bar = etree.SubElement(twin, f"{{{X14}}}dataBar", said)
        for point in (low, high):
            item = etree.SubElement(bar, f"{{{X14}}}cfvo", type=point.kind)
            if point.value is not None:
                etree.SubElement(item, f"{{{XM}}}f").text = point.value
        etree.SubElement(bar, f"{{{X14}}}negativeFillColor", rgb="FFFF0000")
        etree.SubElement(bar, f"{{{X14}}}axisColor", rgb="FF000000")
        return twin

    def _icon_set(self) -> Element:
        args = self.op.args
        name = str(args["icons"] or "3TrafficLights1")
        known = {one.lower(): one for one in ICONS}
        if name.lower() not in known:
            raise problem("bad_value", self._where("icons"), "this is no set of icons", ICONS)
        icons = known[name.lower()]
        count = int(icons[0])
        rule = self._rule("iconSet")
        said = {"iconSet": icons}
        said |= {"showValue": "0"} if args["show_value"] is False else {}
        said |= {"reverse": "1"} if args["reverse"] else {}
        scale = etree.SubElement(rule, like(self.root, "iconSet"), said)
        for point in (Point("percent", "0"), *self._thresholds(count)):
            self._add(scale, point)
        return rule

    def _thresholds(self, count: int) -> list[Point]:
        where, given = self._where("thresholds"), self.op.args["thresholds"]
        if given is None:
            steps = (round(100 * step / count) for step in range(1, count))
            return [Point("percent", str(step)) for step in steps]
        found = [self._read_point(item, f"{where}[{at}]") for at, item in enumerate(as_list(given))]
        if len(found) != count - 1:
            what = f"{count - 1} steps for {count} icons, from the lowest to the highest"
            raise problem("bad_value", where, what)
        return found


def _locks(formula: str) -> Iterable[bool]:
    """Go through the cells that a formula names: whether each is named with both `$`."""
    from ...syntax.formula import tokens

    for token in tokens(formula):
        if token.kind == "ref":
            cells = token.text.rpartition("!")[2].split(":")
            yield all(one.count("$") == 2 for one in cells)

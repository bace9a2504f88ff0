"""Conditional formats that values tell: comparisons, scales of colours, bars (F43.20)."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from statistics import mean, pstdev

from lxml import etree

from backshop.base import limits
from backshop.formats.figure.plain import exact_text

from ..book.frame import Frame
from ..book.workbook import Book, Sheet, Value, child, children, truth
from ..drawing.cell_block import Block, SheetRange, read_block
from ..style.look import Looks
from ..syntax.address import Area, parse_area
from .cell_look import CellLook, CellLooks, mixed
from .rule_formula import RuleFormulas

_MOST_RULES = 500
_TEXTS: dict[str, Callable[[str, str], bool]] = {
    "containsText": lambda text, wanted: wanted in text,
    "notContainsText": lambda text, wanted: wanted not in text,
    "beginsWith": str.startswith,
    "endsWith": str.endswith,
}
_DRAWN = frozenset(
    {
        *_TEXTS,
        *("cellIs", "colorScale", "dataBar", "iconSet", "top10", "aboveAverage"),
        *("duplicateValues", "uniqueValues", "expression"),
        *("containsBlanks", "notContainsBlanks", "containsErrors", "notContainsErrors"),
    }
)
_BLANKS = frozenset(  # may hold for an empty cell; a comparison takes it for zero
    {"expression", "cellIs", "containsBlanks", "notContainsErrors", "notContainsText"}
)
_WORDS = {"timePeriod": "conditional formats by date"}
_ICONS = ("#c00000", "#ffc000", "#00a650")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar in a cell: from where to where, in parts of its width."""

    start: float
    end: float
    color: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What conditional formats make of a cell."""

    look: CellLook
    bar: Bar | None = None
    icon: tuple[str, float] | None = None  # colour, and how high the value ranks from 0 to 1
    is_value_shown: bool = True


@dataclass(frozen=True)
class _Rule:
    element: etree._Element
    areas: tuple[Area, ...]
    kind: str
    priority: int
    origin: tuple[int, int]  # the cell that formulas of it are written for

    def has(self, row: int, col: int) -> bool:
        return any(area.has(row, col) for area in self.areas)

    @property
    def formulas(self) -> list[str]:
        return [(item.text or "").strip() for item in children(self.element, "formula")]


@dataclass
class Conditions:
    """The conditional formats of a sheet that meet a window."""

    book: Book
    sheet: Sheet
    frame: Frame
    area: Area
    looks: CellLooks
    table: Looks
    missing: set[str] = field(default_factory=set)
    _facts: dict[int, _Facts] = field(default_factory=dict)

    @cached_property
    def rules(self) -> list[_Rule]:
        """The rules, the most important first; those that are not drawn are named."""
        found = []
        for block in children(self.frame.root, "conditionalFormatting"):
            areas = [parse_area(ref) for ref in (block.get("sqref") or "").split()]
            known = [area for area in areas if area is not None]
            kept = tuple(area for area in known if area.meets(self.area))
            if not kept:
                continue
            origin = min(area.row1 for area in known), min(area.col1 for area in known)
            for item in children(block, "cfRule"):
                kind = item.get("type") or ""
                if kind not in _DRAWN:
                    words = _WORDS.get(kind, "conditional formats of an unknown kind")
                    self.missing.add(f"{words} are not drawn")
                    continue
                rank = item.get("priority") or ""
                priority = int(rank) if rank.isdigit() and len(rank) < 9 else 1_000_000
                found.append(_Rule(item, kept, kind, priority, origin))
        if len(found) > _MOST_RULES:
            self.missing.add(f"{_MOST_RULES} of {len(found):,} conditional formats are drawn")
        return sorted(found, key=lambda rule: rule.priority)[:_MOST_RULES]

    def outcome(self, row: int, col: int, value: Value, look: CellLook) -> Outcome | None:
        """Return what the rules make of a cell; None where they leave it as it is."""
        met = [rule for rule in self.rules if rule.has(row, col)]
        bar: Bar | None = None
        icon: tuple[str, float] | None = None
        is_shown = True
        dressed: list[_Rule] = []
        fill: str | None = None
        for rule in met:
            if rule.kind == "dataBar":
                bar = self._bar(rule, value) or bar
                is_shown = is_shown and _shows(rule, "dataBar")
            elif rule.kind == "colorScale":
                fill = fill or self._scale(rule, value)
            elif rule.kind == "iconSet":
                icon = self._icon(rule, value) or icon
                is_shown = is_shown and _shows(rule, "iconSet")
            elif self._holds(rule, value, (row, col)):
                dressed.append(rule)
                if truth(rule.element.get("stopIfTrue")):
                    break
        for rule in reversed(dressed):
            dxf = self._dxf(rule)
            look = self.looks.dressed(look, dxf) if dxf is not None else look
        if fill is not None:
            look = replace(look, fill=fill)
        is_met = bool(dressed) or fill is not None or bar is not None or icon is not None
        return Outcome(look=look, bar=bar, icon=icon, is_value_shown=is_shown) if is_met else None

    def _dxf(self, rule: _Rule) -> etree._Element | None:
        entries = self.table.table("dxfs")
        index = rule.element.get("dxfId") or ""
        at = int(index) if index.isdigit() and len(index) < 7 else len(entries)
        return entries[at] if at < len(entries) else None

    @cached_property
    def formulas(self) -> RuleFormulas:
        """Computes the formulas of the rules."""
        return RuleFormulas(self.book, self.sheet)

    def bare(self, held: Container[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield cells that the sheet does not have and a rule may dress all the same."""
        areas = {area for rule in self.rules if rule.kind in _BLANKS for area in rule.areas}
        seen: set[tuple[int, int]] = set()
        for area in areas:
            part = area.clip(self.area)
            for place in part.cells() if part is not None else ():
                if place not in held and place not in seen:
                    seen.add(place)
                    yield place

    def _holds(self, rule: _Rule, value: Value, at: tuple[int, int]) -> bool:
        item = rule.element
        if rule.kind == "expression":
            formula = next(iter(rule.formulas), "")
            return bool(formula) and self.formulas.holds(formula, rule.origin, *at)
        if rule.kind == "cellIs":
            ends = [
                one if _constant(one) is not None else self.formulas.constant(one, rule.origin, *at)
                for one in rule.formulas
            ]
            return all(ends) and _compares(item.get("operator") or "", ends, value)
        if rule.kind in _TEXTS:
            wanted = (item.get("text") or "").lower()
            if value.kind == "blank":
                return rule.kind == "notContainsText"
            return _TEXTS[rule.kind](value.text.lower(), wanted)
        if rule.kind.lower().endswith("blanks"):
            return (not value.text.strip()) is (rule.kind == "containsBlanks")
        if rule.kind.lower().endswith("errors"):
            return (value.kind == "error") is (rule.kind == "containsErrors")
        return self._ranks(rule, value)

    def _ranks(self, rule: _Rule, value: Value) -> bool:
        item, facts = rule.element, self._of(rule)
        if rule.kind in ("duplicateValues", "uniqueValues"):
            count = facts.counts.get(_same(value.number, value.text), 0)
            return count > 0 and (count > 1) is (rule.kind == "duplicateValues")
        if value.number is None or not facts.numbers:
            return False
        if rule.kind == "aboveAverage":
            return _above(item, facts, value.number)
        rank = int(_float(item.get("rank")) or 10)
        count = len(facts.numbers) * rank // 100 if truth(item.get("percent")) else rank
        count = min(max(count, 1), len(facts.numbers))
        if truth(item.get("bottom")):
            return value.number <= facts.numbers[count - 1]
        return value.number >= facts.numbers[-count]

    def _of(self, rule: _Rule) -> _Facts:
        """Return what is known of all values of a rule's cells, also those out of sight."""
        key = id(rule.element)
        if key not in self._facts:
            self._facts[key] = self._gathered(rule)
        return self._facts[key]

    def _gathered(self, rule: _Rule) -> _Facts:
        used = [area for area in rule.areas if area.count <= limits.CHART_MAX_CELLS]
        if len(used) < len(rule.areas):
            self.missing.add("conditional formats over very many cells are drawn by those in sight")
        areas = used or [clip for area in rule.areas if (clip := area.clip(self.area))]
        blocks = [read_block(self.book, SheetRange(self.sheet, area)) for area in areas]
        return _Facts.of(blocks)

    def _scale(self, rule: _Rule, value: Value) -> str | None:
        scale = child(rule.element, "colorScale")
        colors = [self.table.color(item) for item in children(scale, "color")]
        points = [self._of(rule).threshold(item) for item in children(scale, "cfvo")]
        known = [
            (p, c.lower()) for p, c in zip(points, colors, strict=False) if p is not None and c
        ]
        if value.number is None or len(known) < 2 or value.kind not in ("number", "date"):
            return None
        known.sort(key=lambda one: one[0])
        if value.number <= known[0][0]:
            return known[0][1]
        for (low, first), (high, last) in pairwise(known):
            if value.number <= high:
                part = (value.number - low) / (high - low) if high > low else 1.0
                return mixed(last, first, part)
        return known[-1][1]

    def _bar(self, rule: _Rule, value: Value) -> Bar | None:
        bar = child(rule.element, "dataBar")
        facts = self._of(rule)
        ends = [facts.threshold(item) for item in children(bar, "cfvo")]
        color = self.table.color(child(bar, "color")) or "#638EC6"
        if value.number is None or value.kind not in ("number", "date") or len(ends) < 2:
            return None
        low, high = ends[0] or 0.0, ends[1] or 0.0
        is_newer = child(rule.element, "extLst") is not None
        if is_newer and (children(bar, "cfvo")[0].get("type") == "min"):
            low = min(low, 0.0)
        if high <= low:
            return None
        if low < 0 < high and is_newer:
            zero = -low / (high - low)
            at = min(max((value.number - low) / (high - low), 0.0), 1.0)
            shade = color.lower() if value.number >= 0 else "#ff0000"
            return Bar(start=min(zero, at), end=max(zero, at), color=shade)
        share = min(max((value.number - low) / (high - low), 0.0), 1.0)
        least, most = (0.0, 1.0) if is_newer else (0.1, 0.9)
        return Bar(start=0.0, end=least + share * (most - least), color=color.lower())

    def _icon(self, rule: _Rule, value: Value) -> tuple[str, float] | None:
        icons = child(rule.element, "iconSet")
        points = [self._of(rule).threshold(item) for item in children(icons, "cfvo")]
        if value.number is None or len(points) < 2 or icons is None:
            return None
        self.missing.add("icons of conditional formats are drawn as coloured dots")
        rank = sum(1 for p in points[1:] if p is not None and value.number >= p)
        share = rank / (len(points) - 1)
        share = 1 - share if truth(icons.get("reverse")) else share
        color = _ICONS[0] if share < 1 / 3 else _ICONS[1] if share < 0.99 else _ICONS[2]
        return color, share


@dataclass(frozen=True)
class _Facts:
    """The values of a range: numbers in order, and how often each text stands there."""

    numbers: list[float]
    counts: dict[str, int]

    @cached_property
    def average(self) -> float:
        """Their mean, found once for all cells; numbers may be as large as there are."""
        return mean(self.numbers)

    @cached_property
    def spread(self) -> float:
        """How far from the average they stand: the standard deviation."""
        return pstdev(self.numbers)

    @classmethod
    def of(cls, blocks: list[Block]) -> _Facts:
        numbers: list[float] = []
        counts: dict[str, int] = {}
        for held in (one for block in blocks for one in block.filled):
            if held.is_number and held.number is not None:
                numbers.append(held.number)
            key = _same(held.number, held.text)
            counts[key] = counts.get(key, 0) + 1
        return cls(sorted(numbers), counts)

    def threshold(self, item: etree._Element) -> float | None:
        """Return the number that an end of a scale or bar means."""
        kind, said = item.get("type") or "", _float(item.get("val"))
        if kind == "num":
            return said
        if not self.numbers:
            return None
        least, most = self.numbers[0], self.numbers[-1]
        if kind in ("min", "autoMin"):
            return least
        if kind in ("max", "autoMax"):
            return most
        if kind == "percent":
            return least + (most - least) * (said or 0.0) / 100
        if kind == "percentile":
            return _percentile(self.numbers, (said or 0.0) / 100)
        return said


def _same(number: float | None, text: str) -> str:
    return text.lower() if number is None else exact_text(number)


def _percentile(numbers: list[float], part: float) -> float:
    place = min(max(part, 0.0), 1.0) * (len(numbers) - 1)
    low = math.floor(place)
    high = min(low + 1, len(numbers) - 1)
    return numbers[low] + (numbers[high] - numbers[low]) * (place - low)


def _above(item: etree._Element, facts: _Facts, number: float) -> bool:
    times, is_up = int(_float(item.get("stdDev")) or 0), truth(item.get("aboveAverage"), True)
    far = times * facts.spread if times else 0.0
    if far:
        return number > facts.average + far if is_up else number < facts.average - far
    if truth(item.get("equalAverage")) and number == facts.average:
        return True
    return number > facts.average if is_up else number < facts.average


def _shows(rule: _Rule, name: str) -> bool:
    held = child(rule.element, name)
    return held is None or truth(held.get("showValue"), True)


def _constant(text: str) -> float | str | None:
    text = text.strip()
    if len(text) >= 2 and text[0] == '"' == text[-1]:
        return text[1:-1].replace('""', '"').lower()
    return _float(text)


def _compares(operator: str, formulas: list[str], value: Value) -> bool:
    ends = [_constant(formula) for formula in formulas]
    own: float | str = value.number if value.number is not None else value.text.lower()
    if value.kind == "blank" and ends and isinstance(ends[0], float):
        own = 0.0
    same = [end for end in ends if end is not None and isinstance(end, str) is isinstance(own, str)]
    if not same:
        return operator == "notEqual" and bool(ends)
    return _in_order(operator, own, same)


def _in_order(operator: str, own: float | str, ends: list[float | str]) -> bool:
    first, last = _key(ends[0]), _key(ends[-1])
    at = _key(own)
    match operator:
        case "equal":
            return at == first
        case "notEqual":
            return at != first
        case "greaterThan":
            return at > first
        case "greaterThanOrEqual":
            return at >= first
        case "lessThan":
            return at < first
        case "lessThanOrEqual":
            return at <= first
        case "between":
            return min(first, last) <= at <= max(first, last)
        case "notBetween":
            return not min(first, last) <= at <= max(first, last)
    return False


def _key(value: float | str) -> tuple[bool, float, str]:
    return (True, 0.0, value) if isinstance(value, str) else (False, value, "")


def _float(text: str | None) -> float | None:
    try:
        found = float(text) if text and text.strip() else None
    except ValueError:
        return None
    return found if found is not None and math.isfinite(found) else None

"""Rules in words a person reads: `above 100: fill red #FF0000, bold` (F38)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from lxml import etree

from backshop.formats.package.guard import Element

from ..book.color_name import named_color
from ..book.workbook import child, children, local, truth
from .entry import XM, Rule

WORDS_MAX_CHARS = 600
COMPARED = {
    "greaterThan": "above",
    "lessThan": "below",
    "greaterThanOrEqual": "at least",
    "lessThanOrEqual": "at most",
    "equal": "equal to",
    "notEqual": "not equal to",
    "between": "between",
    "notBetween": "not between",
}
_TEXTS = {
    "containsText": "containing",
    "notContainsText": "not containing",
    "beginsWith": "beginning with",
    "endsWith": "ending with",
}
PERIODS = {
    "today": "today",
    "yesterday": "yesterday",
    "tomorrow": "tomorrow",
    "last7Days": "in the last 7 days",
    "lastWeek": "last week",
    "thisWeek": "this week",
    "nextWeek": "next week",
    "lastMonth": "last month",
    "thisMonth": "this month",
    "nextMonth": "next month",
}
_PLAIN = {
    "duplicateValues": "repeated values",
    "uniqueValues": "values that occur once",
    "containsBlanks": "empty cells",
    "notContainsBlanks": "cells that are not empty",
    "containsErrors": "errors",
    "notContainsErrors": "cells without an error",
}
_ALLOWED = {
    "whole": "a whole number",
    "decimal": "a number",
    "date": "a date",
    "time": "a time",
    "textLength": "a text length",
}
_SCALES = frozenset({"colorScale", "dataBar", "iconSet"})
_SWITCHES = {"b": "bold", "i": "italic", "u": "underline", "strike": "strikethrough"}


Color: TypeAlias = Callable[[Element | None], str | None]
"""Tells a colour of a workbook as `#RRGGBB`; None where there is none."""


def plain_color(element: Element | None) -> str | None:
    """Return a colour that is spelled out; those of themes are known to nobody here."""
    said = element.get("rgb") if element is not None else None
    return f"#{said[-6:].upper()}" if said and len(said) >= 6 else None


class RuleWords:
    """Tells the rules of a workbook, with the looks its conditional formats name.

    `formats` are the entries of its list of these looks, in its order.
    """

    def __init__(self, formats: Sequence[Element], color: Color = plain_color) -> None:
        self._formats, self._color = formats, color

    def means_same(self, other: RuleWords) -> bool:
        """Whether the numbers of looks here mean the same there, where more may have come."""
        one, two = (
            [etree.tostring(item, method="c14n") for item in each._formats]
            for each in (self, other)
        )
        return one == two[: len(one)]

    def told(self, rule: Rule) -> str:
        """Return what a rule says, without its cells."""
        said = self._condition(rule) if rule.kind == "condition" else _validation(rule.element)
        said = " ".join(said.split())
        return said if len(said) <= WORDS_MAX_CHARS else f"{said[: WORDS_MAX_CHARS - 1]}…"

    # --- conditional formats -------------------------------------------------------------------

    def _condition(self, rule: Rule) -> str:
        item = rule.element
        kind = item.get("type") or ""
        scale = next((one for one in item if local(one) in _SCALES), None)
        said = _subject(item, kind) if scale is None else self._scale(rule, scale)
        look = self._look(item) if scale is None else ""
        if look:
            said = f"{said}: {look}"
        if truth(item.get("stopIfTrue")):
            said += "; stops rules after it"
        return said + ("; of a pivot table" if rule.is_pivot else "")

    def look_of(self, item: Element) -> Element | None:
        """Return the look that a conditional format gives."""
        number = item.get("dxfId") or ""
        if number.isdigit() and int(number) < len(self._formats):
            return self._formats[int(number)]
        return child(item, "dxf")

    def _look(self, item: Element) -> str:
        look = self.look_of(item)
        return "no format" if look is None else ", ".join(self._look_words(look)) or "no format"

    def _look_words(self, look: Element) -> Iterator[str]:
        fill, font = child(look, "fill"), child(look, "font")
        pattern = child(fill, "patternFill")
        if pattern is not None:
            is_solid = pattern.get("patternType") in (None, "solid")
            names = ("bgColor", "fgColor") if is_solid else ("fgColor", "bgColor")
            colors = (self._color(child(pattern, name)) for name in names)
            color = next((one for one in colors if one), None)
            sort = "fill" if is_solid else f"{pattern.get('patternType')} fill"
            yield f"{sort} {named_color(color)}" if color else sort
        elif fill is not None:
            yield "gradient fill"
        if font is not None:
            color = self._color(child(font, "color"))
            if color:
                yield f"text {named_color(color)}"
            for name, word in _SWITCHES.items():
                switch = child(font, name)
                if switch is not None:
                    is_on = truth(switch.get("val"), True) if name != "u" else True
                    yield word if is_on and switch.get("val") != "none" else f"not {word}"
        number = child(look, "numFmt")
        if number is not None:
            yield f"number format {number.get('formatCode')}"
        border = child(look, "border")
        if border is not None and any(edge.get("style") for edge in border):
            yield "border"

    def _bar_color(self, bar: Element) -> str:
        return named_color(self._color(child(bar, "fillColor")) or "automatic")

    def _scale(self, rule: Rule, scale: Element) -> str:
        twin = child(rule.twin, local(scale))
        whole = scale if twin is None else twin
        points = [_point(one) for one in children(whole, "cfvo")]
        colors = [self._color(one) or "automatic" for one in children(scale, "color")]
        match local(scale):
            case "colorScale":
                steps = (f"{a} {named_color(b)}" for a, b in zip(points, colors, strict=False))
                return f"color scale: {', '.join(steps)}"
            case "dataBar":
                color = named_color(colors[0]) if colors else self._bar_color(whole)
                solid = twin is not None and not truth(twin.get("gradient"), True)
                hidden = not truth(scale.get("showValue"), True)
                sort = "solid data bars" if solid else "data bars"
                return f"{sort} {color} from {' to '.join(points)}" + (
                    ", without the values" if hidden else ""
                )
        name = scale.get("iconSet") or "3TrafficLights1"
        more = ", reversed" if truth(scale.get("reverse")) else ""
        more += "" if truth(scale.get("showValue"), True) else ", without the values"
        return f"icons {name} from {', '.join(points[1:])} on{more}"


def _subject(item: Element, kind: str) -> str:
    formulas = [one.text or "" for one in item.iter("{*}formula", f"{{{XM}}}f")]
    first = formulas[0] if formulas else ""
    if kind == "cellIs":
        word = COMPARED.get(item.get("operator") or "", item.get("operator") or "")
        return f"{word} {' and '.join(formulas)}"
    if kind in _TEXTS:
        said = item.get("text")
        return f"text {_TEXTS[kind]} {_quoted(said)}" if said is not None else f"when {first}"
    if kind == "timePeriod":
        return f"dates {PERIODS.get(item.get('timePeriod') or '', item.get('timePeriod') or '')}"
    if kind == "top10":
        word = "lowest" if truth(item.get("bottom")) else "highest"
        sign = " %" if truth(item.get("percent")) else ""
        return f"the {word} {item.get('rank') or 10}{sign}"
    if kind == "aboveAverage":
        word = "above" if truth(item.get("aboveAverage"), True) else "below"
        equal = "at or " if truth(item.get("equalAverage")) else ""
        step = item.get("stdDev")
        by = f" by {step} standard deviations" if step and step != "0" else ""
        return f"{equal}{word} the average{by}"
    if kind == "expression":
        return f"when {first}"
    return _PLAIN.get(kind, kind or "unknown rule")


def _point(item: Element) -> str:
    inner = child(item, "f")
    value = item.get("val") or (inner.text if inner is not None else "") or ""
    match item.get("type"):
        case "min" | "autoMin":
            return "lowest" if item.get("type") == "min" else "automatic"
        case "max" | "autoMax":
            return "highest" if item.get("type") == "max" else "automatic"
        case "percent":
            return f"{value} %"
        case "percentile":
            return f"percentile {value}"
        case "formula":
            return f"={value}"
    return value


# --- validations --------------------------------------------------------------------------------


def _validation(item: Element) -> str:
    kind = item.get("type") or "none"
    first, second = (_formula(item, name) for name in ("formula1", "formula2"))
    said = "any value"
    if kind == "list":
        is_text = first.startswith('"') and first.endswith('"')
        listed = first[1:-1].replace('""', '"').replace(",", ", ") if is_text else first
        said = f"one of: {listed}" if is_text else f"one of {listed}"
        if truth(item.get("showDropDown")):  # which says that there is none
            said += ", without a dropdown"
    elif kind == "custom":
        said = f"when {first}"
    elif kind != "none":
        word = COMPARED.get(item.get("operator") or "between", "")
        ends = [first, second] if word.endswith("between") else [first]
        said = f"{_ALLOWED.get(kind, kind)} {word} {' and '.join(filter(None, ends))}"
    return "; ".join([said, *_messages(item, kind)])


def _messages(item: Element, kind: str) -> Iterator[str]:
    if kind != "none" and not truth(item.get("allowBlank")):
        yield "not empty"
    said = [one for one in (item.get("promptTitle"), item.get("prompt")) if one]
    if said:
        yield f"prompt {_quoted(': '.join(said))}"
    if kind == "none":
        return
    if not truth(item.get("showErrorMessage")):
        yield "other values are let in"
        return
    style = item.get("errorStyle") or "stop"
    said = [one for one in (item.get("errorTitle"), item.get("error")) if one]
    if style != "stop" or said:
        yield style + (f" {_quoted(': '.join(said))}" if said else "")


def _formula(item: Element, name: str) -> str:
    found = child(item, name)
    if found is None:
        return ""
    inner = next((one.text for one in found.iter(etree.Element) if one is not found), None)
    return (found.text or "").strip() or inner or ""


def _quoted(text: str | None) -> str:
    return f"“{text or ''}”"

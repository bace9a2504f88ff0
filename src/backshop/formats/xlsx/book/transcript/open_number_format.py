"""Number formats of OpenDocument, in the codes of Excel (F40.22)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lxml import etree

from backshop.formats.figure.code import MAX_CODE_CHARS
from backshop.formats.package.guard import Element

_NS = "urn:oasis:names:tc:opendocument:xmlns:"
_NUMBER, _STYLE = f"{{{_NS}datastyle:1.0}}", f"{{{_NS}style:1.0}}"
_LO = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"
KINDS = ("number", "percentage", "currency", "date", "time", "text")
TAGS = tuple(f"{_NUMBER}{kind}-style" for kind in KINDS)
_CONDITION = re.compile(r"value\(\)\s*(<=|>=|!=|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_MOST_DIGITS = 40  # of a part of a number
_MOST_SECTIONS = 3
_NO_QUOTES = frozenset(" -+():")
_DATE_LETTERS = {
    "day": ("d", "dd"),
    "year": ("yy", "yyyy"),
    "day-of-week": ("ddd", "dddd"),
    "hours": ("h", "hh"),
    "minutes": ("m", "mm"),
}


class OpenNumberFormats:
    """The number formats of a document by name; conditions lead from one to another."""

    def __init__(self) -> None:
        self._own: dict[str, str | None] = {}
        self._maps: dict[str, list[tuple[str, str]]] = {}
        self._texts: set[str] = set()

    def note(self, element: Element) -> None:
        """Take in a format."""
        name = str(element.get(f"{_STYLE}name") or "")
        kind = _local(element).removesuffix("-style")
        self._own[name] = _code(element, kind)
        self._maps[name] = list(_maps(element))
        if kind == "text":
            self._texts.add(name)

    def code(self, name: str) -> str | None:
        """Return the code of a format, None for one that is not known or cannot be said."""
        rest, maps = self._own.get(name), self._maps.get(name, [])
        if rest is None or len(maps) > _MOST_SECTIONS:
            return None
        sections = [(condition, self._own.get(target)) for condition, target in maps]
        if name in self._texts and len(sections) == _MOST_SECTIONS:
            sections[-1] = ("", sections[-1][1])  # Excel takes conditions of two sections
        elif len(sections) == _MOST_SECTIONS:
            return None
        parts = [None if own is None else condition + own for condition, own in sections]
        if any(part is None for part in parts):
            return None
        whole = ";".join([*(part or "" for part in parts), rest])
        return whole if len(whole) <= MAX_CODE_CHARS else None


def _local(element: Element) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _maps(element: Element) -> Iterable[tuple[str, str]]:
    for item in element.findall(f"{_STYLE}map"):
        found = _CONDITION.fullmatch(str(item.get(f"{_STYLE}condition") or "").strip())
        target = str(item.get(f"{_STYLE}apply-style-name") or "")
        if found:
            sign = "<>" if found[1] == "!=" else found[1]
            yield f"[{sign}{found[2]}]", target


def _code(element: Element, kind: str) -> str | None:
    pieces: list[str] = []
    is_open = element.get(f"{_NUMBER}truncate-on-overflow") == "false"  # counts beyond a day
    for item in element:
        name = _local(item)
        if name in {"", "map", "text-properties"}:
            continue
        if name in {"hours", "minutes", "seconds"} and is_open:
            letters = _date(item, name)
            head = re.match("[hms]+", letters)
            assert head is not None, "it begins with its letters"
            pieces.append(f"[{head[0]}]{letters[head.end() :]}")
            is_open = False
            continue
        piece = _piece(item, name, kind)
        if piece is None:
            return None
        pieces.append(piece)
    return "".join(pieces)


def _piece(item: Element, name: str, kind: str) -> str | None:
    match name:
        case "text":
            text = item.text or ""
            return _literal(text, percent=kind == "percentage")
        case "currency-symbol":
            return _literal(item.text or "")
        case "fill-character":
            return f"*{(item.text or ' ')[:1]}"
        case "text-content":
            return "@"
        case "am-pm":
            return "AM/PM"
        case "era":
            return ""
        case "number":
            return _number(item)
        case "scientific-number":
            return _scientific(item)
        case "fraction":
            return _fraction(item)
    if name in _DATE_LETTERS or name in {"month", "seconds"}:
        return _date(item, name)
    return None


def _literal(text: str, *, percent: bool = False) -> str:
    out = []
    for char in text:
        if (percent and char == "%") or char in _NO_QUOTES:
            out.append(char)
        else:
            out.append(f"\\{char}")
    return "".join(out)


def _digits(item: Element, name: str, default: int = 0) -> int:
    raw = next(
        (str(value) for ns in (_NUMBER, _LO) if (value := item.get(f"{ns}{name}")) is not None), ""
    )
    return min(int(raw), _MOST_DIGITS) if raw.isdecimal() and len(raw) < 6 else default


def _has(item: Element, name: str) -> bool:
    return item.get(f"{_NUMBER}{name}") is not None


def _decimals(item: Element) -> str:
    places = _digits(item, "decimal-places")
    if item.get(f"{_NUMBER}decimal-replacement") is not None:
        least = 0
    else:
        least = min(_digits(item, "min-decimal-places", places), places)
    return "." + "0" * least + "#" * (places - least) if places else ""


def _number(item: Element) -> str:
    texts = item.findall(f"{_NUMBER}embedded-text")
    is_bare = not (_has(item, "decimal-places") or _has(item, "grouping") or texts)
    if is_bare and _digits(item, "min-integer-digits", 1) <= 1:
        return "General"
    digits = list("0" * _digits(item, "min-integer-digits") or "#")
    if item.get(f"{_NUMBER}grouping") == "true":
        digits = ["#"] * (4 - len(digits)) + digits
        for at in range(len(digits) - 3, 0, -3):
            digits.insert(at, ",")
    for text in sorted(texts, key=lambda one: -_digits(one, "position")):
        _embed(digits, _digits(text, "position"), _literal(text.text or ""))
    factor = str(item.get(f"{_NUMBER}display-factor") or "1")
    thousands = (len(factor) - 1) // 3 if re.fullmatch(r"1(000){1,4}", factor) else 0
    return "".join(digits) + _decimals(item) + "," * thousands


def _embed(digits: list[str], position: int, text: str) -> None:
    """Put a text before so many digits, counted from the right."""
    places = [at for at, one in enumerate(digits) if one in {"0", "#"}]
    while len(places) <= position:
        digits.insert(0, "#")
        places = [0, *(at + 1 for at in places)]
    digits.insert(places[len(places) - position] if position else len(digits), text)


def _scientific(item: Element) -> str:
    whole = "0" * _digits(item, "min-integer-digits", 1)
    step = _digits(item, "exponent-interval", 1)
    whole = whole.rjust(min(step, 3), "#") or "#"
    signed = item.get(f"{_LO}forced-exponent-sign", item.get(f"{_NUMBER}forced-exponent-sign"))
    sign = "-" if signed == "false" else "+"
    return f"{whole}{_decimals(item)}E{sign}{'0' * max(_digits(item, 'min-exponent-digits', 1), 1)}"


def _fraction(item: Element) -> str:
    whole = ""
    if _has(item, "min-integer-digits"):
        whole = ("0" * _digits(item, "min-integer-digits") or "#") + " "
    above = "?" * max(_digits(item, "min-numerator-digits", 1), 1)
    fixed = str(item.get(f"{_NUMBER}denominator-value") or "")
    below = "?" * max(_digits(item, "min-denominator-digits", 1), 1)
    return f"{whole}{above}/{fixed if re.fullmatch('[1-9][0-9]{0,5}', fixed) else below}"


def _date(item: Element, name: str) -> str:
    is_long = item.get(f"{_NUMBER}style") == "long"
    if name == "month":
        is_named = item.get(f"{_NUMBER}textual") == "true"
        return ("mmmm" if is_long else "mmm") if is_named else ("mm" if is_long else "m")
    if name == "seconds":
        places = min(_digits(item, "decimal-places"), 3)
        return ("ss" if is_long else "s") + ("." + "0" * places if places else "")
    return _DATE_LETTERS[name][is_long]

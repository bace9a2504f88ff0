"""A number format taken apart: sections, what each is for, and what stands in it.

A code is read from left to right once; what it says about colours, widths of characters and filling
is passed over, because a text has none of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

MAX_CODE_CHARS = 255  # as in Excel
_MAX_SECTIONS = 4
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<half>AM/PM|A/P|上午/下午)|(?P<power>E[+-])"
    r"|(?P<date>y+|m+|d+|h+|s+|e+|b+|g+)|(?P<digit>[0#?])|(?P<point>\.)|(?P<comma>,)"
    r"|(?P<percent>%)|(?P<text>@)|(?P<end>;)|(?P<slash>/)|(?P<other>.)",
    re.I | re.S,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?(?:\d+\.?\d*|\.\d+)(?:E[+-]?\d{1,3})?)", re.I)
_ELAPSED = re.compile(r"h+|m+|s+", re.I)
_COLOR = re.compile(r"black|blue|cyan|green|magenta|red|white|yellow|color ?\d+", re.I)
_PLAIN = frozenset("$-+/():!^&'~{}<>= €£¥|")  # signs that need no quotes
_ENGLISH = frozenset({"", "1", "409", "809"})


class Token(NamedTuple):
    """A piece of a section: its kind and its text.

    Kinds: literal, digit, point, comma, percent, power, slash, text, general, date, elapsed, half.
    """

    kind: str
    text: str


class Condition(NamedTuple):
    """Which numbers a section is for: `[>=100]`."""

    sign: str
    limit: Decimal

    def meets(self, number: Decimal) -> bool:
        """Whether a number is one of them."""
        match self.sign:
            case "<":
                return number < self.limit
            case "<=":
                return number <= self.limit
            case ">":
                return number > self.limit
            case ">=":
                return number >= self.limit
            case "=":
                return number == self.limit
        return number != self.limit

    @property
    def is_below_zero(self) -> bool:
        """Whether it is met by negative numbers only."""
        return (self.sign == "<" and self.limit <= 0) or (
            self.sign in {"<=", "="} and self.limit < 0
        )

    @property
    def leaves_negative(self) -> bool:
        """Whether what it leaves to others counts as negative."""
        return self.sign in {">", ">="} and self.limit == 0


@dataclass(frozen=True, slots=True)
class Section:
    """What a format says about some numbers, or about texts."""

    tokens: tuple[Token, ...]
    condition: Condition | None = None
    oddities: frozenset[str] = frozenset()  # letter, bracket, locale, fill

    def has(self, *kinds: str) -> bool:
        """Whether a token of one of the kinds stands in it."""
        return any(token.kind in kinds for token in self.tokens)

    @property
    def is_date(self) -> bool:
        """Whether it shows a day, a time or a duration."""
        clock = any(t.kind == "date" and t.text[0] in "ymdhse" for t in self.tokens)
        return clock or self.has("elapsed", "half")


class Choice(NamedTuple):
    """The section for a number, and whether it tells by itself that the number is negative."""

    section: Section
    is_unsigned: bool


@lru_cache(maxsize=4096)
def sections_of(code: str) -> tuple[Section, ...]:
    """Return the sections of a format; none where it is none that Excel would take."""
    if len(code) > MAX_CODE_CHARS:
        return ()
    parts: list[list[re.Match[str]]] = [[]]
    for match in _TOKEN.finditer(code):
        if match.lastgroup == "end":
            parts.append([])
        else:
            parts[-1].append(match)
    return tuple(map(_section, parts)) if len(parts) <= _MAX_SECTIONS else ()


def choose(sections: tuple[Section, ...], number: Decimal) -> Choice | None:
    """Return the section that shows a number, None when none does."""
    numeric = _numeric(sections)
    if any(one.condition for one in numeric[:2]):
        return _conditional(numeric, number)
    if len(numeric) > 1 and number < 0:
        return Choice(numeric[1], True)
    if len(numeric) > 2 and number == 0:
        return Choice(numeric[2], False)
    return Choice(numeric[0], False) if numeric else None


def text_section(sections: tuple[Section, ...]) -> Section | None:
    """Return the section that shows texts, None where they stay as they are."""
    if len(sections) == _MAX_SECTIONS:
        return sections[-1]
    return sections[-1] if sections and sections[-1].has("text") else None


def _numeric(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    return sections[:-1] if text_section(sections) is not None else sections


def _conditional(sections: tuple[Section, ...], number: Decimal) -> Choice | None:
    first, *rest = sections
    one = first.condition or (Condition(">", Decimal(0)) if rest else None)
    if one is None or one.meets(number):
        return Choice(first, one is not None and one.is_below_zero)
    if not rest:
        return None
    second, two = rest[0], rest[0].condition
    if two is None and len(rest) > 1:
        two = Condition("<", Decimal(0))
    if two is None or two.meets(number):
        unsigned = two.is_below_zero if two is not None else one.leaves_negative
        return Choice(second, unsigned)
    return Choice(rest[1], False) if len(rest) > 1 else None


def _section(matches: list[re.Match[str]]) -> Section:
    tokens: list[Token] = []
    oddities: set[str] = set()
    condition = None
    for match in matches:
        kind = match.lastgroup or "other"
        inside = match[kind]
        if kind == "bracket" and (found := _CONDITION.fullmatch(inside)):
            condition = Condition(found[1], Decimal(found[2]))
        elif kind == "bracket":
            tokens += _bracket(inside, oddities)
        else:
            tokens += _token(kind, inside, oddities)
    return Section(tuple(_settled(tokens)), condition, frozenset(oddities))


def _token(kind: str, inside: str, oddities: set[str]) -> list[Token]:
    match kind:
        case "quoted" | "escaped":
            return [Token("literal", inside)]
        case "space":
            return [Token("literal", " ")]
        case "fill":
            oddities.add("fill")
            return []
        case "date":
            return [Token("date", inside.lower())]
        case "other":
            if inside not in _PLAIN:
                oddities.add("letter")
            return [Token("literal", inside)]
    return [Token(kind, inside)]


def _bracket(inside: str, oddities: set[str]) -> list[Token]:
    if _ELAPSED.fullmatch(inside):
        return [Token("elapsed", inside.lower())]
    if inside.startswith("$"):
        sign, _, country = inside[1:].partition("-")
        if not sign and country.lower().lstrip("0") not in _ENGLISH:
            oddities.add("locale")
        return [Token("literal", sign)] if sign else []
    if not _COLOR.fullmatch(inside):
        oddities.add("bracket")
    return []


def _settled(tokens: list[Token]) -> list[Token]:
    """Turn letters of eras into plain ones where no date is shown."""
    if any(t.kind in {"elapsed", "half"} or t.text[:1] in set("ymdhs") for t in tokens
           if t.kind in {"date", "elapsed", "half"}):  # fmt: skip
        return tokens
    has_digits = any(token.kind == "digit" for token in tokens)
    return [Token("literal", t.text) if t.kind == "date" and has_digits else t for t in tokens]

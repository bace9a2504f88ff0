"""Numbers in the places of a format: digits, points, groups, percent, powers of ten, fractions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from .code import MAX_CODE_CHARS, Section, Token

# every digit of the largest number under the longest format: 309, two for each %, and the decimals
_EXACT = Context(prec=309 + 3 * MAX_CODE_CHARS, rounding=ROUND_HALF_UP)
_MOST_DENOMINATOR_DIGITS = 9
_FIXED = re.compile(r"[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class Shown:
    """A number as text, without its sign; whether nothing but zeros is seen of it."""

    text: str
    is_zero: bool
    is_sure: bool = True  # other programs show the same


def decimal_text(number: Decimal, section: Section) -> Shown | None:
    """Return how a section shows the size of a number, None when it is no format of numbers."""
    tokens = section.tokens
    kinds = [token.kind for token in tokens]
    if kinds.count("point") > 1 or kinds.count("power") > 1:
        return None
    if "digit" not in kinds:
        return _without_digits(number, tokens)
    if "power" in kinds:
        return _scientific(number, tokens, kinds.index("power"))
    slash = _slash(tokens)
    if slash is not None:
        return _fraction(number, tokens, slash)
    layout = _Layout.of(tokens)
    scaled = number.copy_abs().scaleb(2 * kinds.count("percent") - 3 * layout.hidden, _EXACT)
    return layout.fill(scaled)


def _without_digits(number: Decimal, tokens: Sequence[Token]) -> Shown | None:
    if any(token.kind not in {"literal", "slash", "comma", "percent"} for token in tokens):
        return None
    return Shown("".join(token.text for token in tokens), not number, not number.is_signed())


# --- places ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Layout:
    """The places of digits before and behind the point, and what stands between them."""

    whole: tuple[Token, ...]
    rest: tuple[Token, ...]
    has_point: bool
    has_groups: bool
    hidden: int  # commas that divide by a thousand each
    is_sure: bool

    @classmethod
    def of(cls, tokens: Sequence[Token]) -> _Layout:
        point = next((at for at, token in enumerate(tokens) if token.kind == "point"), len(tokens))
        marks = [at for at, token in enumerate(tokens) if token.kind == "digit"]
        before = [at for at in marks if at < point]
        dropped, hidden, groups, sure = set[int](), 0, False, True
        for at, token in enumerate(tokens):
            if token.kind != "comma":
                continue
            dropped.add(at)
            if before and before[0] < at < before[-1]:
                groups = True
            elif _ends_digits(tokens, at, before, marks):
                hidden += 1
            else:
                sure = False
        kept = [(at, token) for at, token in enumerate(tokens) if at not in dropped]
        whole = tuple(token for at, token in kept if at < point)
        rest = tuple(token for at, token in kept if at > point)
        return cls(whole, rest, point < len(tokens), groups, hidden, sure)

    def fill(self, size: Decimal, least: str = "") -> Shown:
        places = sum(token.kind == "digit" for token in self.rest)
        shown = size.quantize(Decimal(1).scaleb(-places), context=_EXACT)
        left, _, right = format(shown, "f").partition(".")
        text = _whole_text(left.lstrip("0") or least, self.whole, self.has_groups)
        if self.has_point:
            text += "." + _rest_text(right, self.rest)
        return Shown(text, not shown, self.is_sure)


def _ends_digits(tokens: Sequence[Token], at: int, before: list[int], marks: list[int]) -> bool:
    """Whether a comma follows the last digit, before the point or at all, with commas between."""
    while at and tokens[at - 1].kind == "comma":
        at -= 1
    return at - 1 in {before[-1] if before else -1, marks[-1]}


def _whole_text(digits: str, tokens: Sequence[Token], has_groups: bool) -> str:
    """Put digits into their places from the right; the first place takes those left over."""
    marks = [at for at, token in enumerate(tokens) if token.kind == "digit"]
    if not marks:
        return "".join(token.text for token in tokens) + digits
    filled = _padded(digits, [tokens[at].text for at in marks])
    extra = len(filled) - len(marks)
    out: list[str] = []
    place = len(filled)  # digits still to come
    for at, token in enumerate(tokens):
        if token.kind != "digit":
            out.append(token.text)
            continue
        for _ in range(extra + 1 if at == marks[0] else 1):
            digit = filled[len(filled) - place]
            place -= 1
            out.append(digit)
            if has_groups and place and place % 3 == 0 and digit:
                out.append(" " if digit == " " else ",")
    return "".join(out)


def _padded(digits: str, marks: Sequence[str]) -> list[str]:
    """Return a text for each place: a digit, a zero, a space or nothing."""
    missing = len(marks) - len(digits)
    if missing <= 0:
        return list(digits)
    blank = {"0": "0", "?": " ", "#": ""}
    return [blank[mark] for mark in marks[:missing]] + list(digits)


def _rest_text(digits: str, tokens: Sequence[Token]) -> str:
    marks = [token.text for token in tokens if token.kind == "digit"]
    shown = list(digits)
    for at in range(len(marks) - 1, -1, -1):
        if shown[at] != "0" or marks[at] == "0":
            break
        shown[at] = " " if marks[at] == "?" else ""
    following = iter(shown)
    return "".join(next(following) if t.kind == "digit" else t.text for t in tokens)


# --- powers of ten --------------------------------------------------------------------------------


def _scientific(number: Decimal, tokens: Sequence[Token], at: int) -> Shown | None:
    power, tail = tokens[at], tokens[at + 1 :]
    front = [token for token in tokens[:at] if token.kind != "comma"]
    width = sum(token.kind == "digit" for token in tail)
    if not width or any(token.kind not in {"digit", "literal", "percent"} for token in tail):
        return None
    layout = _Layout.of(front)
    step = max(sum(token.kind == "digit" for token in layout.whole), 1)
    size = number.copy_abs()
    exponent = _exponent(size, step)
    shown = layout.fill(size.scaleb(-exponent, _EXACT), "" if size else "0")
    if _exponent(_rounded(size, exponent, layout), step) != exponent:  # 9.99 became 10.0
        exponent += step
        shown = layout.fill(size.scaleb(-exponent, _EXACT), "" if size else "0")
    sign = "-" if exponent < 0 else "+" if power.text[1] == "+" else ""
    text = _whole_text(str(abs(exponent)).lstrip("0"), tail, has_groups=False)
    is_sure = shown.is_sure and power.text[0] == "E"
    return Shown(f"{shown.text}E{sign}{text}", shown.is_zero, is_sure)


def _exponent(size: Decimal, step: int) -> int:
    return size.adjusted() // step * step if size else 0


def _rounded(size: Decimal, exponent: int, layout: _Layout) -> Decimal:
    places = sum(token.kind == "digit" for token in layout.rest)
    return size.quantize(Decimal(1).scaleb(exponent - places), context=_EXACT)


# --- fractions ------------------------------------------------------------------------------------


def _slash(tokens: Sequence[Token]) -> int | None:
    """Return where a slash has digits on both sides, None in a format without a fraction."""
    kinds = [token.kind for token in tokens]
    if kinds.count("slash") != 1:
        return None
    at = kinds.index("slash")
    return at if "digit" in kinds[:at] and _denominator(tokens[at + 1 :]) else None


def _denominator(tokens: Sequence[Token]) -> str:
    """Return the places of a denominator, or the number that it is."""
    found = ""
    for token in tokens:
        is_number = token.text.isdecimal() and len(token.text) == 1
        if token.kind != "digit" and not (token.kind == "literal" and is_number):
            if found or token.text.strip():
                break
            continue
        found += token.text
    return found


def _fraction(number: Decimal, tokens: Sequence[Token], slash: int) -> Shown | None:
    if any(token.kind in {"point", "comma", "percent"} for token in tokens):
        return None
    below = _denominator(tokens[slash + 1 :])
    first = slash  # of the numerator: the digits that end at the slash
    while first and tokens[first - 1].kind == "digit":
        first -= 1
    if first == slash:
        return None
    head, above = tokens[:first], [token.text for token in tokens[first:slash]]
    has_whole = any(token.kind == "digit" for token in head)
    size = Fraction(number.copy_abs())
    whole, part = divmod(size, 1) if has_whole else (0, size)
    near, is_sure = _near(part, below)
    if has_whole and near[0] == near[1]:
        whole, near = whole + 1, (0, near[1])
    is_zero = not whole and not near[0]
    return Shown(_laid(head, above, below, tokens[slash + 1 :], int(whole), near), is_zero, is_sure)


def _near(part: Fraction, below: str) -> tuple[tuple[int, int], bool]:
    """Return numerator and denominator of the nearest fraction; whether all programs find it."""
    if _FIXED.fullmatch(below):
        denominator = int(below)
        return (int(part * denominator + Fraction(1, 2)), denominator), True
    bound = 10 ** min(len(below), _MOST_DENOMINATOR_DIGITS) - 1
    best = part.limit_denominator(bound)
    return (best.numerator, best.denominator), best == _convergent(part, bound)


def _convergent(part: Fraction, bound: int) -> Fraction:
    """Return the last step of the continued fraction whose denominator is allowed."""
    before, now = (0, 1), (1, 0)
    rest = part
    while True:
        term = rest.numerator // rest.denominator
        before, now = now, (term * now[0] + before[0], term * now[1] + before[1])
        if now[1] > bound:
            return Fraction(*before)
        if rest == term:
            return Fraction(*now)
        rest = 1 / (rest - term)


def _laid(
    head: Sequence[Token],
    above: list[str],
    below: str,
    tail: Sequence[Token],
    whole: int,
    near: tuple[int, int],
) -> str:
    has_whole = any(token.kind == "digit" for token in head)
    rest = _after_denominator(tail)
    under = str(near[1]) if _FIXED.fullmatch(below) else _aligned(near[1], below)
    over = "".join(_padded(str(near[0]), above))
    if has_whole and not near[0]:
        is_blank = "0" not in above
        over_under = " " * (len(over) + 1 + len(under)) if is_blank else f"{over}/{under}"
        digits = str(whole) if whole or is_blank else ""
        return _whole_text(digits, head, has_groups=False) + over_under + rest
    text = _whole_text(str(whole) if whole else "", head, has_groups=False)
    return f"{text}{over}/{under}{rest}"


def _aligned(denominator: int, places: str) -> str:
    text = str(denominator)
    missing = len(places) - len(text)
    if missing <= 0:
        return text
    if "0" in places:
        return text.rjust(len(places), "0")
    return text + "".join(" " for mark in places[-missing:] if mark == "?")


def _after_denominator(tail: Sequence[Token]) -> str:
    """Return what follows the denominator."""
    at = 0
    while at < len(tail) and not tail[at].text.strip():
        at += 1
    while at < len(tail) and (tail[at].kind == "digit" or tail[at].text.isdecimal()):
        at += 1
    return "".join(token.text for token in tail[at:])

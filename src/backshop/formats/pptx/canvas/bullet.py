"""Bullets and numbers before paragraphs (F43.34)."""

from __future__ import annotations

from dataclasses import replace

from backshop.formats.canvas.face import face, has_letter
from backshop.formats.canvas.marker import alphabetic, bullet_letter, is_dingbat, roman
from backshop.formats.canvas.text_block import Run

from .. import names as n
from ..shape import whole
from .ink import Ink
from .text_look import ParagraphLook, bullet_part


class Counter:
    """Counts numbered paragraphs of each level."""

    def __init__(self) -> None:
        self._at: dict[int, tuple[str, int]] = {}

    def next(self, level: int, kind: str, start: int) -> int:
        """Return the number of the next paragraph of a level."""
        held, number = self._at.get(level, ("", 0))
        number = number + 1 if held == kind else start
        self._at = {one: at for one, at in self._at.items() if one < level}
        self._at[level] = (kind, number)
        return number

    def skip(self, level: int) -> None:
        """Note a paragraph without a number: those of its level and deeper begin anew."""
        self._at = {one: at for one, at in self._at.items() if one < level}


def bullet(look: ParagraphLook, first: Run, counter: Counter, ink: Ink) -> Run | None:
    """Return the bullet or number of a paragraph in the look it has; None without one."""
    found = look.bullet
    if found is None or found.tag == n.a("buNone"):
        counter.skip(look.level)
        return None
    font = bullet_part(look, "buFont", "buFontTx")
    name = (font.get("typeface") or "") if font is not None else ""
    text, cut = "•", first.face
    is_letters = bool(name) and not name.startswith("+") and not is_dingbat(name)
    if is_letters and font is not None and font.tag == n.a("buFont"):
        cut = face(name, bold=first.face.bold, italic=first.face.italic)
    if found.tag == n.a("buAutoNum"):
        kind, start = found.get("type") or "arabicPeriod", whole(found.get("startAt")) or 1
        text = numbered(counter.next(look.level, kind, start), kind)
    else:
        counter.skip(look.level)
        if found.tag == n.a("buBlip"):
            ink.note("pictures as bullets are drawn as dots")
        else:
            text = bullet_letter(found.get("char") or "•", name)
    text = text if all(has_letter(cut, letter) for letter in text) else "•"
    colour = ink.colour(bullet_part(look, "buClr", "buClrTx"))
    return replace(
        first,
        text=text,
        face=cut,
        size=_size(look, first),
        color=colour.code if colour else first.color,
        underline=False,
        strike=False,
        rise=0.0,
        highlight=None,
    )


def _size(look: ParagraphLook, first: Run) -> float:
    size = bullet_part(look, "buSzPct", "buSzPts", "buSzTx")
    value = (size.get("val") or "").rstrip("%") if size is not None else ""
    number = whole(value)
    if size is None or number is None or size.tag == n.a("buSzTx"):
        return first.size
    if size.tag == n.a("buSzPts"):
        return min(max(number / 100, 1.0), 400.0) * 96 / 72
    part = number / (100 if "%" in (size.get("val") or "") else 100_000)
    return first.size * min(max(part, 0.25), 4.0)


def numbered(number: int, kind: str) -> str:
    """Return a number as a kind of the standard writes it: `arabicPeriod`, `romanUcParenR` …"""
    number = min(max(number, 1), 32_767)
    if kind.startswith("alpha"):
        text = alphabetic(number)
    elif kind.startswith("roman"):
        text = roman(number)
    else:
        text = str(number)
    text = text.upper() if "Uc" in kind else text
    if kind.endswith("ParenBoth"):
        return f"({text})"
    return text + (")" if kind.endswith("ParenR") else "" if kind.endswith("Plain") else ".")

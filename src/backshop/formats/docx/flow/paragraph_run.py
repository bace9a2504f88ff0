"""The runs of a paragraph with tracked changes, links, notes and pictures in them (F43.53)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, replace

from backshop.base import limits
from backshop.formats.canvas.bitmap import bitmap
from backshop.formats.canvas.flow import FlowPicture, FlowRun
from backshop.formats.errors import FormatError
from backshop.formats.package.guard import Element

from ..text import name as n
from ..text.inline import Shows, alt_text, image_relation, pieces
from ..text.source import Document
from ..text.stylesheet import whole
from .look import Inherited, Looks

_EMU = 9525
_COME = frozenset({n.INS, n.MOVE_TO})
_GONE = frozenset({n.DEL, n.MOVE_FROM})
_DELETED_TEXT = n.w("delText")
_EXTENT = f"{{{n.WP_NS}}}extent"
_WIDEST, _HIGHEST = 800.0, 1_200.0
_NOTES = {n.FOOTNOTE_REF: "footnote", n.ENDNOTE_REF: "endnote"}


@dataclass(frozen=True, slots=True)
class _Around:
    """What holds for the runs inside an element."""

    change: str | None = None
    author: str | None = None
    date: str | None = None
    link: str | None = None


class Runs:
    """Reads the runs of paragraphs of one part."""

    def __init__(self, document: Document, looks: Looks, missing: dict[str, None]) -> None:
        self._document = document
        self._looks = looks
        self._missing = missing
        self._left = limits.DRAWN_PICTURES_MAX_BYTES
        self._left_out = 0
        self._made: dict[tuple[str, float, float], str | None] = {}
        self._numbers: dict[str, int] = {}

    def of(self, paragraph: Element, inherited: Inherited) -> tuple[FlowRun, ...]:
        """Return the runs of a paragraph, neighbours of one look as one."""
        part = self._document.trees.part_of(paragraph) or self._document.part
        joined: list[FlowRun] = []
        for run in self._walk(paragraph, _Around(), inherited, [], part):
            last = joined[-1] if joined else None
            if last is not None and run.text and replace(last, text="") == replace(run, text=""):
                joined[-1] = replace(last, text=last.text + run.text)
            else:
                joined.append(run)
        return tuple(joined)

    def _walk(
        self,
        element: Element,
        around: _Around,
        inherited: Inherited,
        fields: list[bool],
        part: str,
    ) -> Iterator[FlowRun]:
        for child in element.iterchildren("*"):
            tag = child.tag
            if tag == n.R:
                yield from self._run(child, around, inherited, fields, part)
            elif tag in _COME or tag in _GONE:
                inner = replace(
                    around,
                    change="inserted" if tag in _COME else "deleted",
                    author=child.get(n.w("author")) or "unknown",
                    date=child.get(n.w("date")),
                )
                yield from self._walk(child, inner, inherited, fields, part)
            elif tag == n.HYPERLINK:
                inner = replace(around, link=self._address(child, part))
                yield from self._walk(child, inner, inherited, fields, part)
            elif tag in (n.MATH, n.MATH_PARA):
                words = "".join(one.text for one in pieces(child))
                yield self._told(self._looks.run(words, None, inherited), around)
            elif tag == n.ALTERNATE:
                chosen = child.find(n.CHOICE)
                if chosen is not None:
                    yield from self._walk(chosen, around, inherited, fields, part)
            elif tag not in (n.PPR, n.RPR, n.SDT_PR):
                yield from self._walk(child, around, inherited, fields, part)

    def _run(
        self, run: Element, around: _Around, inherited: Inherited, fields: list[bool], part: str
    ) -> Iterator[FlowRun]:
        own = run.find(n.RPR)
        for char in run.iterchildren(n.FLD_CHAR):
            _follow(char, fields)
        if not all(fields) or self._looks.is_hidden(own, inherited):
            return
        if around.change == "deleted":
            gone = "".join(
                "\t" if one.tag == n.TAB else one.text or ""
                for one in run.iter(_DELETED_TEXT, n.T, n.TAB)
            )
            if gone:
                yield self._told(self._looks.run(gone, own, inherited), around)
            return
        for reference in run.iterchildren(*_NOTES):
            yield self._told(self._note(reference, own, inherited), around)
        for piece in pieces(run):
            if piece.shows in (Shows.TEXT, Shows.MARK) and piece.text:
                yield self._told(self._looks.run(piece.text, own, inherited), around)
            elif piece.shows is Shows.PAGE:
                yield FlowRun(breaks_page=True)
            elif piece.shows in (Shows.IMAGE, Shows.OBJECT):
                yield self._told(FlowRun(picture=self._picture(piece.element, part)), around)

    def _told(self, run: FlowRun, around: _Around) -> FlowRun:
        return replace(
            run,
            change=around.change,
            author=around.author,
            date=around.date,
            link=around.link,
        )

    def _note(self, reference: Element, own: Element | None, inherited: Inherited) -> FlowRun:
        kind = _NOTES[str(reference.tag)]
        name = f"{kind} {reference.get(n.ID) or ''}"
        number = self._numbers.setdefault(
            name, 1 + sum(one.startswith(kind) for one in self._numbers)
        )
        return replace(self._looks.run(str(number), own, inherited), script="sup", note=name)

    def _address(self, link: Element, part: str) -> str | None:
        relation = link.get(n.R_ID)
        for rel in self._document.package.rels(part) if relation else ():
            if rel.id == relation:
                return (rel.target or "")[:500] or None
        anchor = link.get(n.w("anchor"))
        return f"#{anchor[:200]}" if anchor else None

    def _picture(self, drawing: Element, part: str) -> FlowPicture:
        width, height = _size(drawing)
        alt = alt_text(drawing)[:500]
        relation = image_relation(drawing)
        left_out = self._left_out
        address = self._data(part, relation, width, height) if relation else None
        if address is None and self._left_out == left_out:
            self._missing["a picture that cannot be drawn" + (f": {alt[:80]}" if alt else "")] = (
                None
            )
        return FlowPicture(width=width, height=height, alt=alt, address=address)

    def shares(self) -> Iterator[str]:
        """Say how many pictures are shown, where some are too large together."""
        if self._left_out:
            shown = sum(one is not None for one in self._made.values())
            yield f"{shown:,} of {shown + self._left_out:,} pictures are shown"

    def _data(self, part: str, relation: str, width: float, height: float) -> str | None:
        try:
            found = self._document.package.rel_part(part, relation)
            key = (found or "", width, height)
            if found and key not in self._made:
                data = bitmap(self._document.package.read(found), width, height)
                self._made[key] = self._kept(data)
            return self._made.get(key)
        except FormatError:
            return None

    def _kept(self, data: bytes | None) -> str | None:
        if data is None:
            return None
        if len(data) > self._left:
            self._left_out += 1
            return None
        self._left -= len(data)
        kind = "png" if data.startswith(b"\x89PNG") else "jpeg"
        return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _follow(char: Element, fields: list[bool]) -> None:
    match char.get(n.w("fldCharType")):
        case "begin":
            fields.append(False)
        case "separate" if fields:
            fields[-1] = True
        case "end" if fields:
            fields.pop()


def _size(drawing: Element) -> tuple[float, float]:
    extent = next(drawing.iter(_EXTENT), None)
    width = (whole(extent.get("cx")) or 0) / _EMU if extent is not None else 0.0
    height = (whole(extent.get("cy")) or 0) / _EMU if extent is not None else 0.0
    if width <= 0 or height <= 0:
        return _of_vml(drawing)
    share = min(1.0, _WIDEST / width, _HIGHEST / height)
    return round(width * share, 1), round(height * share, 1)


def _of_vml(drawing: Element) -> tuple[float, float]:
    """Return the size that the style of an old drawing gives, in points there."""
    shape = next(drawing.iter(f"{{{n.V_NS}}}shape", f"{{{n.V_NS}}}rect"), None)
    found: dict[str, float] = {}
    for item in ((shape.get("style") or "") if shape is not None else "").split(";"):
        name, _, value = item.partition(":")
        number = value.strip().removesuffix("pt")
        if name.strip() in ("width", "height") and number.replace(".", "", 1).isdigit():
            found[name.strip()] = float(number) * 96 / 72
    width, height = found.get("width", 200.0), found.get("height", 150.0)
    share = min(1.0, _WIDEST / max(width, 1.0), _HIGHEST / max(height, 1.0))
    return round(max(width, 1.0) * share, 1), round(max(height, 1.0) * share, 1)

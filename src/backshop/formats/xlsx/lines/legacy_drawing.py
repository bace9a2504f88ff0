"""Notes and form controls in the old drawing language, after lines came or went.

These parts are not always XML, so they are changed as bytes.
"""

from __future__ import annotations

import re
from html import escape

from ..book.sheet_xml import unescape
from .follow import Follow

_NS = rb"(?:[\w.\-]+:)?"
_TAG = re.compile(rb"<(/?)%sshape(?=[\s/>])[^>]*>\s*" % _NS)
_NOTE = re.compile(rb"ObjectType\s*=\s*[\"']Note[\"']")
_ANCHOR = re.compile(rb"(<%sAnchor\s*>)([^<]*)(<)" % _NS)
_CELL = {
    axis: re.compile(rb"(<%s%s\s*>)\s*([0-9]{1,7})\s*(<)" % (_NS, word))
    for axis, word in (("row", b"Row"), ("column", b"Column"))
}
_FORMULA = re.compile(rb"(<%sFmla(?:Link|Range|Group|Txbx|Pict)\s*>)([^<]+)(<)" % _NS)


def moved_shapes(data: bytes, follow: Follow) -> bytes:
    """Return the part with its shapes where their cells are; notes of cells that went go."""

    pieces, at, start = [], 0, -1
    for tag in _TAG.finditer(data):
        if not tag[1]:
            start = tag.start()
        elif start >= 0:
            pieces += [data[at:start], _moved(data[start : tag.end()], follow)]
            at, start = tag.end(), -1
    return b"".join([*pieces, data[at:]])


def _moved(shape: bytes, follow: Follow) -> bytes:
    def formula(match: re.Match[bytes]) -> bytes:
        now = follow.formula(unescape(match[2]))
        return match[1] + escape(now, quote=False).encode() + match[3]

    if b"Fmla" in shape:
        shape = _FORMULA.sub(formula, shape)
    if not follow.is_own:
        return shape
    shift = follow.shift
    cell = _CELL[shift.axis].search(shape) if _NOTE.search(shape) else None
    if cell is None:
        return _ANCHOR.sub(lambda match: _shifted(match, follow, None), shape)
    line = int(cell[2]) + 1
    now = shift.line(line)
    if now is None:
        return b""
    start, end = cell.span(2)
    shape = shape[:start] + b"%d" % (now - 1) + shape[end:]
    return _ANCHOR.sub(lambda match: _shifted(match, follow, now - line), shape)


def _shifted(match: re.Match[bytes], follow: Follow, step: int | None) -> bytes:
    """Return an anchor moved by so many lines, those of its first corner unless they are known."""
    numbers = [piece.strip() for piece in match[2].split(b",")]
    if len(numbers) != 8 or not all(re.fullmatch(rb"-?[0-9]{1,9}", one) for one in numbers):
        return match[0]
    first, last = (2, 6) if follow.shift.axis == "row" else (0, 4)
    if step is None:
        line = int(numbers[first]) + 1
        now = follow.shift.line(line)
        step = (follow.shift.at if now is None else now) - line
    if not step:
        return match[0]
    for at in (first, last):
        numbers[at] = b"%d" % min(max(0, int(numbers[at]) + step), follow.shift.most - 1)
    return match[1] + b", ".join(numbers) + match[3]

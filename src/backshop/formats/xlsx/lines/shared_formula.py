"""Shared formulas: one text that many cells mean, each from its own place.

After lines came or went most cells still mean the same distances as the one that holds the text;
those that do not are spelled out.
"""

from __future__ import annotations

import re
from html import escape

from ..book.sheet_xml import SheetXml, attributes, reference, unescape
from ..syntax.formula import shift as shifted
from ..syntax.formula import tokens
from ..syntax.reference import references
from .follow import Follow

_MARKS = re.compile(rb"\s+(?:t|ref|si)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_FREE = {  # lines that no `$` holds
    "row": re.compile(r"(?<![$0-9])[0-9]"),
    "column": re.compile(r"(?<![$A-Za-z])[A-Za-z]"),
}
Place = tuple[int, int]
Meaning = tuple[tuple[int, int] | None, ...]


class Group:
    """The cells of one shared formula; `lead` holds its text after the shift."""

    def __init__(self, follow: Follow, name: bytes, place: Place, text: str, ref: str) -> None:
        self._follow, self._name, self._place, self._text = follow, name, place, text
        self._ref = ref
        self._lead: Meaning | None = None
        self._met: dict[int, Meaning] = {}
        self.is_spelled_out = False  # several cells hold a text: nobody knows which one counts
        shift = follow.shift
        self._refs = [
            (shift.along(found.area), shift.locks(found))
            for found in references(text, follow.home)
            if found.sheet.lower() == follow.sheet.lower()
        ]
        self._looks_away = follow.is_own and _looks_away(text, follow)

    def text(self, place: Place) -> str:
        """Return the formula of a cell before the shift."""
        rows, cols = place[0] - self._place[0], place[1] - self._place[1]
        return shifted(self._text, rows, cols)

    def element(self, place: Place, attrs: bytes, prefix: bytes, own: str | None) -> bytes:
        """Return the `<f>` of a cell of the group; `own` is the text it has by itself."""
        is_lead = self._lead is None and not self.is_spelled_out
        meaning = self._meaning(place)
        if is_lead:
            self._lead = meaning
        elif not self.is_spelled_out and meaning == self._lead:
            return b'<%sf%s t="shared" si="%s"/>' % (prefix, _MARKS.sub(b"", attrs), self._name)
        text = escape(self._follow.formula(own or self.text(place)), quote=False).encode()
        marks = self._marks() if is_lead else b""
        return b"<%sf%s%s>%s</%sf>" % (prefix, _MARKS.sub(b"", attrs), marks, text, prefix)

    def _marks(self) -> bytes:
        ref = self._follow.place(self._ref) if self._follow.is_own else self._ref
        said = b' ref="%s"' % ref.encode() if ref else b""
        return b' t="shared"%s si="%s"' % (said, self._name)

    def _meaning(self, place: Place) -> Meaning:
        """Return what a cell looks at after the shift, as distances from where it is then."""
        is_row = self._follow.shift.axis == "row"
        line, own = (place[0], self._place[0]) if is_row else (place[1], self._place[1])
        if line not in self._met:
            now = (self._follow.shift.line(line) or line) if self._looks_away else line
            met = [self._bounds(ref, line, line - own) for ref in self._refs]
            self._met[line] = ((now - line, 0), *met)
        return self._met[line]

    def _bounds(
        self, ref: tuple[tuple[int, int], tuple[bool, bool]], line: int, step: int
    ) -> tuple[int, int] | None:
        shift = self._follow.shift
        lines, locks = ref
        if lines == (1, shift.most):
            return 0, 0
        first, last = (
            one if lock else (one + step - 1) % shift.most + 1
            for one, lock in zip(lines, locks, strict=True)
        )
        span = shift.span(min(first, last), max(first, last))
        if span is None:
            return None
        now = (shift.line(line) or line) if self._follow.is_own else line
        ends = span if first <= last else span[::-1]
        return (
            ends[0] if locks[0] else ends[0] - now,
            ends[1] if locks[1] else ends[1] - now,
        )


def _looks_away(text: str, follow: Follow) -> bool:
    """Whether a formula looks at cells of another sheet at a distance: those do not move along."""
    relative = _FREE[follow.shift.axis]
    return any(
        token.kind == "ref"
        and (token.sheet or follow.sheet).lower() != follow.sheet.lower()
        and relative.search(token.body) is not None
        for token in tokens(text)
    )


def groups(xml: SheetXml, follow: Follow) -> dict[bytes, Group]:
    """Return the shared formulas of a sheet by their names."""
    prefix = re.escape(xml.words.prefix)
    holders = re.compile(rb"<%sf(\s[^>]*?\bsi\s*=\s*[\"'](\w+)[\"'][^>/]*)>([^<]+)<" % prefix)
    found: dict[bytes, Group] = {}
    if xml.data.find(b"shared", xml.inner, xml.close) < 0:
        return found
    for match in holders.finditer(xml.data, xml.inner, xml.close):
        attrs = attributes(match[1])
        if attrs.get(b"t") != b"shared":
            continue
        if match[2] in found:
            found[match[2]].is_spelled_out = True
            continue
        place = _place_before(xml, match.start(), match[2].decode("ascii", "replace"))
        ref = attrs.get(b"ref", b"").decode("ascii", "replace")
        if place is not None:
            found[match[2]] = Group(follow, match[2], place, unescape(match[3]), ref)
    return found


def _place_before(xml: SheetXml, at: int, group: str) -> Place | None:
    """Return the cell around the text of a shared formula."""
    start = xml.data.rfind(b"<%sc" % xml.words.prefix, xml.inner, at)
    attrs = attributes(xml.data[start : xml.data.index(b">", start)])
    place = reference(attrs.get(b"r"))
    if place is not None:
        return place
    holder = xml.masters().get(group)
    return (holder.row, holder.col) if holder is not None else None

"""The boxes of notes in the drawing of the old sort; it is not always XML, so bytes are changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass

from backshop.formats.errors import FormatError, fail
from backshop.formats.package.guard import Element, parse_xml

from ..book.workbook import local
from ..syntax.address import MAX_COL, MAX_ROW

Place = tuple[int, int]
_NS = rb"(?:[\w.\-]+:)?"
_TAG = re.compile(rb"<(/?)%sshape(?=[\s/>])[^>]*>" % _NS)
_NOTE = re.compile(rb"ObjectType\s*=\s*[\"']Note[\"']")
_ROW = re.compile(rb"<%sRow\s*>\s*([0-9]{1,7})\s*<" % _NS)
_COLUMN = re.compile(rb"<%sColumn\s*>\s*([0-9]{1,7})\s*<" % _NS)
_END = re.compile(rb"</%sxml\s*>\s*\Z" % _NS)
_ID = re.compile(rb"(\sid\s*=\s*[\"'])([^\"']*)([\"'])")
_NUMBER = re.compile(rb"_x0000_s([0-9]{1,9})[\"']")
_TYPE_ID = re.compile(rb"<%sshapetype\b[^>]*\sid\s*=\s*[\"']_x0000_t202[\"']" % _NS)
_TYPE = re.compile(
    rb"<%sshapetype\b[^>]*\sid\s*=\s*[\"']_x0000_t202[\"'].*?</%sshapetype\s*>" % (_NS, _NS), re.S
)
_BLOCK = re.compile(rb"<%sidmap\b[^>]*\sdata\s*=\s*[\"']([0-9, ]*)[\"']" % _NS)
_ROOT = re.compile(rb"<[^\s<>/!?][^>]*>")
_NAME = re.compile(rb"<[^\s<>/]+")
_DECLARED = re.compile(rb"\sxmlns(?::([\w.\-]+))?\s*=\s*[\"']([^\"']*)[\"']")
_USED_TYPE = re.compile(rb"\stype\s*=\s*[\"']#([^\"']*)[\"']")
_OF_NOTES = "_x0000_t202"  # the type of all boxes of notes, which every program writes anew
_SPACES = {
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
    "x": "urn:schemas-microsoft-com:office:excel",
}
_SHAPETYPE = (
    '<v:shapetype{spaces} id="_x0000_t202" coordsize="21600,21600" o:spt="202" '
    'path="m,l,21600r21600,l21600,xe"><v:stroke joinstyle="miter"/>'
    '<v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>'
)
_SHAPE = (
    '<v:shape{spaces} id="_x0000_s{number}" type="#_x0000_t202" style="position:absolute;'
    'margin-left:59.25pt;margin-top:1.5pt;width:108pt;height:59.25pt;z-index:1;visibility:hidden" '
    'fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/>'
    '<v:shadow on="t" color="black" obscured="t"/><v:path o:connecttype="none"/>'
    '<v:textbox style="mso-direction-alt:auto"><div style="text-align:left"></div></v:textbox>'
    '<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/>'
    "<x:Anchor>{anchor}</x:Anchor><x:AutoFill>False</x:AutoFill>"
    "<x:Row>{row}</x:Row><x:Column>{column}</x:Column></x:ClientData></v:shape>"
)
_EMPTY = (
    '<xml xmlns:v="{v}" xmlns:o="{o}" xmlns:x="{x}"><o:shapelayout v:ext="edit">'
    '<o:idmap v:ext="edit" data="{block}"/></o:shapelayout></xml>'
)
_WIDE, _HIGH, _TALLEST = 3, 4, 24  # columns and rows of a box; how many rows a long note gets
_LINE_CHARS = 24  # of a line in a box


@dataclass(frozen=True, slots=True)
class Boxes:
    """The bytes of a drawing of the old sort."""

    data: bytes

    @classmethod
    def empty(cls, block: int) -> Boxes:
        """Return a drawing without anything on it; numbers of its shapes are of a block."""
        return cls(_EMPTY.format(**_SPACES, block=block).encode())

    def shapes(self) -> Iterator[tuple[int, int]]:
        """Go through the places of all shapes in the bytes."""
        start = -1
        for tag in _TAG.finditer(self.data):
            if not tag[1]:
                start = tag.start()
            elif start >= 0:
                yield start, tag.end()
                start = -1

    def find(self, place: Place) -> tuple[int, int] | None:
        """Return where the box of a cell's note stands."""
        for start, end in self.shapes():
            if note_place(self.data[start:end]) == place:
                return start, end
        return None

    def shape(self, place: Place) -> bytes | None:
        """Return the box of a cell's note."""
        span = self.find(place)
        return None if span is None else self.data[slice(*span)]

    def without(self, place: Place) -> Boxes:
        """Return the drawing without the box of a cell's note."""
        span = self.find(place)
        return self if span is None else Boxes(self.data[: span[0]] + self.data[span[1] :])

    def without_all(self, places: Collection[Place]) -> Boxes:
        """Return the drawing without the boxes of some notes."""
        pieces, at = [], 0
        for start, end in self.shapes():
            if note_place(self.data[start:end]) in places:
                pieces.append(self.data[at:start])
                at = end
        return Boxes(b"".join([*pieces, self.data[at:]]))

    def with_note(self, place: Place, text: str) -> Boxes:
        """Return the drawing with a hidden box beside a cell, large enough for a text."""
        row, col = place
        made = _SHAPE.format(
            spaces=self._spaces(),
            number=self._free(),
            anchor=_anchor(place, text),
            row=row - 1,
            column=col - 1,
        )
        return self.with_shape(made.encode())

    def with_shape(self, shape: bytes) -> Boxes:
        """Return the drawing with one more shape, under a number of its own."""
        number = _ID.search(shape[: shape.index(b">")])
        taken = {self._id(span) for span in self.shapes()}
        if number is not None and number[2] in taken:
            new = b"_x0000_s%d" % self._free()
            shape = shape[: number.start(2)] + new + shape[number.end(2) :]
        kind = b""
        if not _TYPE_ID.search(self.data):
            kind = _SHAPETYPE.format(spaces=self._spaces()).encode()
        end = _END.search(self.data)
        if end is None:
            raise fail("corrupt_file", "the drawing of the notes breaks off")
        return Boxes(self.data[: end.start()] + kind + shape + self.data[end.start() :])

    def adopted(self, shape: bytes, theirs: Boxes) -> bytes:
        """Return a shape of another drawing so that its names of elements mean the same here."""
        end = shape.index(b">")
        own, here, there = _spaces(shape[:end]), self._declared(), theirs._declared()
        said = b"".join(
            b' xmlns%s="%s"' % (b":" + prefix if prefix else b"", space)
            for prefix, space in {b"": b"", **there}.items()
            if prefix not in own
            and here.get(prefix, b"") != space
            and (not prefix or prefix + b":" in shape)
        )
        name = _NAME.match(shape)
        assert name is not None, "a shape begins with its tag"
        return shape[: name.end()] + said + shape[name.end() :]

    def _declared(self) -> dict[bytes, bytes]:
        """Return the namespaces that hold for the whole drawing, by their prefixes."""
        root = _ROOT.search(self.data)
        return _spaces(root[0]) if root else {}

    def _spaces(self) -> str:
        """Return the namespaces that the drawing does not declare."""
        known = self._declared()
        return "".join(
            f' xmlns:{prefix}="{said}"'
            for prefix, said in _SPACES.items()
            if known.get(prefix.encode()) != said.encode()
        )

    def _id(self, span: tuple[int, int]) -> bytes:
        shape = self.data[slice(*span)]
        found = _ID.search(shape[: shape.index(b">")])
        return found[2] if found else b""

    def ids(self) -> set[bytes]:
        """Return the names that shapes go by."""
        return {self._id(span) for span in self.shapes()}

    def without_ids(self, gone: set[bytes]) -> Boxes:
        """Return the drawing without some of its shapes."""
        pieces, at = [], 0
        for start, end in self.shapes():
            if self._id((start, end)) in gone:
                pieces.append(self.data[at:start])
                at = end
        return Boxes(b"".join([*pieces, self.data[at:]]))

    def parted(self) -> tuple[Hashable, Counter[Hashable]]:
        """Return what stands around the shapes, and these whatever their order and numbers.

        Programs spell the same drawing in many ways; two are the same that mean the same.
        """
        shapes, types = [], set()
        for start, end in self.shapes():
            shape = self.data[start:end]
            tag = shape.index(b">")
            types.update(_USED_TYPE.findall(shape[:tag]))
            numberless = _ID.sub(b"", shape[:tag], count=1) + shape[tag:]
            shapes.append(_meaning(Boxes(b"").adopted(numberless, self)))
        return self._around(types), Counter(shapes)

    def _around(self, types: set[bytes]) -> Hashable:
        """Return what is neither a shape, nor numbers of shapes, nor a type that none has."""
        rest = Boxes(self.without_ids(self.ids()).data)
        try:
            root = parse_xml(rest.data)
        except FormatError:
            return rest.without_type()
        return tuple(_tree(one) for one in root.iterchildren("*") if _is_shown(one, types))

    def without_type(self) -> bytes:
        """Return the drawing without what all boxes of notes have in common."""
        return _TYPE.sub(b"", self.data)

    def blocks(self) -> set[int]:
        """Return the blocks of numbers that are used here."""
        said = (piece.strip() for found in _BLOCK.findall(self.data) for piece in found.split(b","))
        return {int(piece) for piece in said if piece}

    def _free(self) -> int:
        block = min(self.blocks(), default=1)
        numbers = [int(one) for one in _NUMBER.findall(self.data)]
        return max([*numbers, block * 1024]) + 1


def note_place(shape: bytes) -> Place | None:
    """Return the cell of a note's box, None of other shapes."""
    row, col = _ROW.search(shape), _COLUMN.search(shape)
    if row is None or col is None or not _NOTE.search(shape):
        return None
    return int(row[1]) + 1, int(col[1]) + 1


def _spaces(tag: bytes) -> dict[bytes, bytes]:
    """Return the namespaces that a tag declares, by their prefixes."""
    return {prefix or b"": space for prefix, space in _DECLARED.findall(tag)}


def _meaning(shape: bytes) -> Hashable:
    """Return a shape in one spelling; its bytes where it is no XML."""
    try:
        return _tree(parse_xml(shape))
    except FormatError:
        return shape


def _tree(element: Element) -> Hashable:
    """Return an element whatever its prefixes, the order of its attributes and its indents."""
    inner = ((_tree(one), (one.tail or "").strip()) for one in element if isinstance(one.tag, str))
    attributes = frozenset((str(key), str(value)) for key, value in element.attrib.items())
    return element.tag, attributes, (element.text or "").strip(), tuple(inner)


def _is_shown(element: Element, types: set[bytes]) -> bool:
    """Whether an element beside the shapes is more than numbers of theirs, or a type of theirs."""
    if local(element) == "shapelayout":
        return any(local(one) != "idmap" for one in element)
    name = element.get("id") or ""
    return local(element) != "shapetype" or (name != _OF_NOTES and name.encode() in types)


def _anchor(place: Place, text: str) -> str:
    """Return where the box stands: right of its cell, on the sheet."""
    row, col = place
    lines = sum(1 + len(line) // _LINE_CHARS for line in text.split("\n"))
    high = min(max(lines + 1, _HIGH), _TALLEST)
    left = min(col, MAX_COL - _WIDE - 1)
    top = min(max(row - 2, 0), MAX_ROW - high - 1)
    return f"{left}, 15, {top}, 10, {left + _WIDE - 1}, 31, {top + high}, 9"

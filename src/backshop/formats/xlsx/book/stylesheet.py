"""The style table of a workbook: cell formats are looked up, derived and appended (F18).

Existing entries are never changed or moved; a wished look becomes a new entry at the end, or the
entry that looks so already.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, fields

from lxml import etree

from backshop.formats.figure.plain import exact_text
from backshop.formats.package.package import Package, said_by
from backshop.formats.protocol import Json
from backshop.formats.warning import Warnings
from backshop.formats.write import style as words
from backshop.formats.write.operation import problem

from . import number_format as book_number_format
from .format_name import HINTS, format_code, refusal
from .workbook import Book, child, children, like, local, truth

MAIN_NS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STYLES_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"
STYLES_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles"
_FONT_ORDER = (
    *("b", "i", "strike", "condense", "extend", "outline", "shadow", "u", "vertAlign", "sz"),
    *("color", "name", "family", "charset", "scheme"),
)
_ROOT_ORDER = (
    *("numFmts", "fonts", "fills", "borders", "cellStyleXfs", "cellXfs", "cellStyles", "dxfs"),
    *("tableStyles", "colors", "extLst"),
)
SIDES = ("left", "right", "top", "bottom")
_ON, _OFF = frozenset({"1", "true", "single"}), frozenset({"0", "false", "none"})
_UNSAID = {"horizontal": "general", "vertical": "bottom", "wrapText": "0"}  # of an alignment
_APPLIED = {
    "numFmtId": "applyNumberFormat",
    "fontId": "applyFont",
    "fillId": "applyFill",
    "borderId": "applyBorder",
}
EMPTY_STYLES = (
    f'<styleSheet xmlns="{MAIN_NS}"><fonts count="1"><font><sz val="11"/><name val="Calibri"/>'
    '<family val="2"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/>'
    '</fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border>'
    '<left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1">'
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="1">'
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs><cellStyles count="1">'
    '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)


@dataclass(frozen=True, slots=True)
class Border:
    """One edge: None keeps what is there."""

    style: str | None
    color: str | None


@dataclass(frozen=True, slots=True)
class Look:
    """The fields of F18 that were given and can be applied; None keeps what is there."""

    font_name: str | None = None
    font_size: float | None = None
    font_bold: bool | None = None
    font_italic: bool | None = None
    font_underline: bool | None = None
    font_color: str | None = None
    fill_color: str | None = None
    fill_pattern: str | None = None
    number_format: str | None = None
    h_align: str | None = None
    v_align: str | None = None
    wrap_text: bool | None = None
    border_top: Border | None = None
    border_bottom: Border | None = None
    border_left: Border | None = None
    border_right: Border | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing is asked for."""
        return all(getattr(self, item.name) is None for item in fields(self))


LOOK_FIELDS = tuple(item.name for item in fields(Look))


def read_look(style: Json, where: str, warnings: Warnings) -> Look:
    """Read a style object; what cannot be used is noted and left out (F16.7)."""
    if style is None:
        return Look()
    style = words.style_object(style, where)
    reader = words.StyleReader(style, where, warnings)
    reader.refuse_others(LOOK_FIELDS)

    def border(side: str) -> Border | None:
        key = f"border_{side}"
        edge = style.get(key)
        if edge is None:
            return None
        place = f"{where}.{key}"
        inner = words.StyleReader(words.style_object(edge, place), place, warnings)
        inner.refuse_others(("style", "color"))
        found = Border(
            inner.get("style", words.one_of(words.BORDER_STYLES)), inner.get("color", words.colour)
        )
        return None if found == Border(None, None) else found

    return Look(
        font_name=reader.get("font_name", words.text(31)),
        font_size=reader.get("font_size", words.number(1, 409)),
        font_bold=reader.get("font_bold", words.boolean),
        font_italic=reader.get("font_italic", words.boolean),
        font_underline=reader.get("font_underline", words.boolean),
        font_color=reader.get("font_color", words.colour),
        fill_color=reader.get("fill_color", words.colour),
        fill_pattern=reader.get("fill_pattern", words.one_of(words.FILL_PATTERNS)),
        number_format=_number_format(reader.get("number_format", words.text(255)), where),
        h_align=reader.get("h_align", words.one_of(words.CELL_H_ALIGN)),
        v_align=reader.get("v_align", words.one_of(words.CELL_V_ALIGN)),
        wrap_text=reader.get("wrap_text", words.boolean),
        border_top=border("top"),
        border_bottom=border("bottom"),
        border_left=border("left"),
        border_right=border("right"),
    )


def _number_format(given: str | None, where: str) -> str | None:
    """Return the code of a number format; one that Excel would not take is refused (F18.4)."""
    code = None if given is None else format_code(given)
    if given is not None and code is None:
        raise problem("bad_value", f"{where}.number_format", refusal(given), HINTS)
    return code


class StyleSheet:
    """The styles part while it is being added to."""

    def __init__(self, book: Book) -> None:
        part = book.related("styles")
        self._part = part
        empty = book.in_dialect(EMPTY_STYLES)
        self.root = book.package.xml(part) if part else etree.fromstring(empty)
        self._cache: dict[tuple[int, Look], int] = {}
        self._tables: dict[str, dict[str, int]] = {}
        self.changed = False

    def save(self, book: Book) -> None:
        """Put the part back if anything was added."""
        if not self.changed:
            return
        package: Package = book.package
        part = self._part
        if part is None:
            folder, slash, _ = book.part.rpartition("/")
            part = package.unused(f"{folder}{slash}styles.xml")
            kind = book.in_dialect(STYLES_REL)
            package.add_rel(book.part, kind, part.removeprefix(folder + slash))
            package.put(part, etree.tostring(self.root))
            package.set_content_type(part, STYLES_TYPE)
        package.put_xml(part, self.root)

    def table(self, name: str) -> etree._Element:
        """Return a list of the part (`fonts`, `cellXfs`), made when it is missing."""
        found = child(self.root, name)
        if found is None:
            found = etree.Element(like(self.root, name))
            before = _ROOT_ORDER[: _ROOT_ORDER.index(name)]
            at = sum(1 for item in self.root if local(item) in before)
            self.root.insert(at, found)
        return found

    def xf(self, index: int) -> etree._Element | None:
        """Return a cell format."""
        formats = children(child(self.root, "cellXfs"), "xf")
        return formats[index] if index < len(formats) else None

    def is_locked(self, index: int) -> bool:
        """Whether cells of this format are locked on a protected sheet."""
        xf = self.xf(index)
        protection = child(xf, "protection")
        return protection is None or truth(protection.get("locked"), True)

    def unlocked(self) -> list[int]:
        """Return the formats whose cells may be changed on a protected sheet."""
        found = []
        for index, xf in enumerate(children(child(self.root, "cellXfs"), "xf")):
            protection = child(xf, "protection")
            if protection is not None and not truth(protection.get("locked"), True):
                found.append(index)
        return found

    def code(self, index: int) -> str:
        """Return the number format code of a cell format."""
        return self.code_of(self.xf(index))

    def code_of(self, xf: etree._Element | None) -> str:
        """Return the number format code that an entry of the table names."""
        number = int(xf.get("numFmtId") or 0) if xf is not None else 0
        for item in children(child(self.root, "numFmts"), "numFmt"):
            if item.get("numFmtId") == str(number):
                return item.get("formatCode") or book_number_format.GENERAL
        return book_number_format.IMPLIED.get(number, book_number_format.GENERAL)

    def derive(self, base: int, look: Look) -> int:
        """Return the format that looks like `base` with `look` on top."""
        if look.empty:
            return base
        key = (base, look)
        if key not in self._cache:
            self._cache[key] = self._derive(base, look)
        return self._cache[key]

    def _derive(self, base: int, look: Look) -> int:
        found = self.xf(base)
        if found is None:
            found = self.xf(0)
        if found is None:
            self.append("cellXfs", etree.Element(like(self.root, "xf"), numFmtId="0", fontId="0"))
            found = self.xf(0)
            assert found is not None, "it was just added"
        xf = deepcopy(found)
        self._set_font(xf, look)
        self._set_fill(xf, look)
        self._set_border(xf, look)
        if look.number_format is not None:
            is_same = self.code_of(xf) == look.number_format
            number = xf.get("numFmtId") if is_same else self.number_format(look.number_format)
            _use(xf, "numFmtId", str(number or 0))
        _set_alignment(xf, look)
        is_kept = found is self.xf(base) and said_by(xf) == said_by(found)
        return base if is_kept else self.append("cellXfs", xf)

    def bordered(self, base: int, other: int) -> int:
        """Return the format that looks like `base` with the lines around it that `other` has."""
        one, two = self.xf(base), self.xf(other)
        lines = [(xf.get("borderId") or "0") if xf is not None else "0" for xf in (one, two)]
        if lines[0] == lines[1] or one is None:
            return base
        xf = deepcopy(one)
        xf.set("borderId", lines[1])
        xf.set("applyBorder", "0" if lines[1] == "0" else "1")
        return self.append("cellXfs", xf)

    def append(self, table: str, element: etree._Element) -> int:
        """Return the index of an equal entry, or add it."""
        parent = self.table(table)
        items = [item for item in parent if isinstance(item.tag, str)]
        known = self._tables.get(table)
        if known is None:
            known = {}
            for index, item in enumerate(items):
                known.setdefault(said_by(item), index)
            self._tables[table] = known
        key = said_by(element)
        if key not in known:
            known[key] = len(items)
            element.tail = None
            parent.append(element)
            parent.set("count", str(len(items) + 1))
            self.changed = True
        return known[key]

    def number_format(self, code: str) -> int:
        """Return the id of a format code, adding it when nobody has it."""
        for number, text in book_number_format.BUILTIN.items():
            if text == code:
                return number
        table = child(self.root, "numFmts")
        taken = [book_number_format.CUSTOM_FROM - 1]
        for item in children(table, "numFmt"):
            number = int(item.get("numFmtId") or 0)
            if item.get("formatCode") == code:
                return number
            taken.append(number)
        parent = self.table("numFmts")
        new = etree.SubElement(parent, like(self.root, "numFmt"))
        new.set("numFmtId", str(max(taken) + 1))
        new.set("formatCode", code)
        parent.set("count", str(len(children(parent, "numFmt"))))
        self.changed = True
        return max(taken) + 1

    def _entry(self, xf: etree._Element, table: str, key: str, default: str) -> etree._Element:
        items = [item for item in self.table(table) if isinstance(item.tag, str)]
        index = int(xf.get(key) or 0)
        if index < len(items):
            return deepcopy(items[index])
        return etree.Element(like(self.root, default))

    def _set_font(self, xf: etree._Element, look: Look) -> None:
        wishes = (
            *(look.font_name, look.font_size, look.font_bold),
            *(look.font_italic, look.font_underline, look.font_color),
        )
        if all(wish is None for wish in wishes):
            return
        font = self._entry(xf, "fonts", "fontId", "font")
        for name, wish in (
            ("b", look.font_bold),
            ("i", look.font_italic),
            ("u", look.font_underline),
        ):
            if wish is not None and not _is_switched(font, name, wish):
                _put(font, name, {} if wish else None)
        if look.font_size is not None:
            _put(font, "sz", {"val": exact_text(look.font_size)})
        if look.font_color is not None and not _is_color(child(font, "color"), look.font_color):
            _put(font, "color", {"rgb": f"FF{look.font_color}"})
        if look.font_name is not None:
            _put(font, "name", {"val": look.font_name})
            _put(font, "scheme", None)  # else the theme's font wins
        self._use_entry(xf, "fonts", "fontId", font)

    def _set_fill(self, xf: etree._Element, look: Look) -> None:
        if look.fill_color is None and look.fill_pattern is None:
            return
        fill = self._entry(xf, "fills", "fillId", "fill")
        pattern = child(fill, "patternFill")
        wanted = look.fill_pattern or "solid"
        old_color = child(pattern, "fgColor")
        is_colored = look.fill_color is None or _is_color(old_color, look.fill_color)
        if pattern is not None and pattern.get("patternType", "none") == wanted and is_colored:
            self._use_entry(xf, "fills", "fillId", fill)
            return
        new = etree.Element(like(self.root, "fill"))
        inner = etree.SubElement(new, like(new, "patternFill"), patternType=wanted)
        if wanted != "none":
            if look.fill_color is not None:
                etree.SubElement(inner, like(new, "fgColor"), rgb=f"FF{look.fill_color}")
            elif old_color is not None:
                inner.append(deepcopy(old_color))
            background = child(pattern, "bgColor")
            if background is not None:
                inner.append(deepcopy(background))
            elif wanted == "solid":
                etree.SubElement(inner, like(new, "bgColor"), indexed="64")
        self._use_entry(xf, "fills", "fillId", new)

    def _set_border(self, xf: etree._Element, look: Look) -> None:
        wishes = {side: getattr(look, f"border_{side}") for side in SIDES}
        if all(wish is None for wish in wishes.values()):
            return
        border = self._entry(xf, "borders", "borderId", "border")
        for side, wish in wishes.items():
            if wish is not None:
                _set_edge(border, side, wish)
        self._use_entry(xf, "borders", "borderId", border)

    def _use_entry(self, xf: etree._Element, table: str, key: str, element: etree._Element) -> None:
        """Let a format have an entry of a list: its own where that says the same."""
        items = [item for item in self.table(table) if isinstance(item.tag, str)]
        own = int(xf.get(key) or 0)
        is_own = own < len(items) and said_by(items[own]) == said_by(element)
        _use(xf, key, str(own if is_own else self.append(table, element)))


def _use(xf: etree._Element, key: str, number: str) -> None:
    applied = _APPLIED[key]
    if xf.get(key, "0") != number or not truth(xf.get(applied), True):
        xf.set(key, number)
        xf.set(applied, "1")


def _is_switched(font: etree._Element, name: str, wish: bool) -> bool:
    """Whether a font has or lacks a property as wished; a double underline is not a single one."""
    found = child(font, name)
    value = "0" if found is None else found.get("val", "1").lower()
    return value in (_ON if wish else _OFF)


def _is_color(element: etree._Element | None, color: str) -> bool:
    """Whether something has just this colour; how opaque it is said to be, Excel ignores."""
    if element is None or set(map(str, element.attrib)) != {"rgb"}:
        return False
    return (element.get("rgb") or "")[-6:].upper() == color


def _put(font: etree._Element, name: str, attributes: dict[str, str] | None) -> None:
    """Set or remove a property of a font, at its place in the order Excel expects."""
    found = child(font, name)
    if found is not None and attributes and set(found.items()) == set(attributes.items()):
        return
    for old in children(font, name):
        font.remove(old)
    if attributes is None:
        return
    element = etree.Element(like(font, name), attributes)
    order = {word: place for place, word in enumerate(_FONT_ORDER)}
    at = sum(1 for item in font if order.get(local(item), 99) < order[name])
    font.insert(at, element)


def _set_edge(border: etree._Element, side: str, wish: Border) -> None:
    # strict files say start and end
    names = {"left": ("left", "start"), "right": ("right", "end")}.get(side, (side,))
    edge = next((item for item in border if local(item) in names), None)
    if edge is None and wish.style in (None, "none"):
        return
    if edge is None:
        order = ["start", "left", "end", "right", "top", "bottom"]
        at = sum(1 for item in border if local(item) in order[: order.index(side)])
        edge = etree.Element(like(border, side))
        border.insert(at, edge)
    line = wish.style or edge.get("style") or "none"
    color = child(edge, "color")
    if line == "none":
        edge.attrib.pop("style", "")
        if color is not None:
            edge.remove(color)
        return
    edge.set("style", line)
    if color is None or (wish.color is not None and not _is_color(color, wish.color)):
        if color is not None:
            edge.remove(color)
        wanted = {"rgb": f"FF{wish.color}"} if wish.color else {"auto": "1"}
        etree.SubElement(edge, like(border, "color"), wanted)


def _set_alignment(xf: etree._Element, look: Look) -> None:
    wishes = {
        "horizontal": look.h_align,
        "vertical": look.v_align,
        "wrapText": None if look.wrap_text is None else str(int(look.wrap_text)),
    }
    wanted = {key: wish for key, wish in wishes.items() if wish is not None}
    alignment = child(xf, "alignment")
    if not wanted or (alignment is not None and _is_aligned(xf, alignment, wanted)):
        return
    if alignment is None:
        alignment = etree.Element(like(xf, "alignment"))
        xf.insert(0, alignment)
    for key, wish in wanted.items():
        alignment.set(key, wish)
    xf.set("applyAlignment", "1")


def _is_aligned(xf: etree._Element, alignment: etree._Element, wanted: dict[str, str]) -> bool:
    said = {key: alignment.get(key, unsaid) for key, unsaid in _UNSAID.items()}
    said["wrapText"] = str(int(truth(said["wrapText"])))
    return truth(xf.get("applyAlignment"), True) and wanted.items() <= said.items()

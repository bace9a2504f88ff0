"""The looks of a table: its style by name, and which of its parts stand out (F37.6)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json
from backshop.formats.write.operation import Arg, nearest, problem

from ...book.workbook import Book, child, children, like

DEFAULT = "TableStyleMedium2"
NO_STYLE = "none"
FAMILIES = {"Light": 21, "Medium": 28, "Dark": 11}
_SHORT = re.compile(r"(?i)(?:table ?style ?)?(light|medium|dark)[ _-]?(\d{1,2})")
_SWITCHES = {  # fields of operations, and what the file calls them
    "first_column": "showFirstColumn",
    "last_column": "showLastColumn",
    "banded_rows": "showRowStripes",
    "banded_columns": "showColumnStripes",
}
SWITCH_ARGS = tuple(Arg(name, bool) for name in _SWITCHES)
_BEFORE = ("autoFilter", "sortState", "tableColumns")


def style_name(book: Book, given: Json, where: str) -> str | None:
    """Return a style as files name it, None for no style; refuse one that nobody knows."""
    said = str(given).strip()
    if said.lower() == NO_STYLE:
        return None
    match = _SHORT.fullmatch(said)
    if match and 1 <= int(match[2]) <= FAMILIES[match[1].capitalize()]:
        return f"TableStyle{match[1].capitalize()}{int(match[2])}"
    own = [
        one.get("name") or ""
        for one in children(child(book.styles_root, "tableStyles"), "tableStyle")
    ]
    found = next((name for name in own if name.lower() == said.lower()), None)
    if found is None:
        known = [
            f"TableStyle{family}{number}"
            for family, most in FAMILIES.items()
            for number in (1, most)
        ]
        what = (
            "a table style is TableStyleLight1 to 21, TableStyleMedium1 to 28, TableStyleDark1 to "
            "11, one of the workbook's own, or none"
        )
        raise problem("bad_value", where, what, nearest(said, [*own, *known]))
    return found


def put_style(root: Element, name: str | None, args: Mapping[str, Json]) -> None:
    """Let a table look so; switches that are not given stay as they are."""
    info = child(root, "tableStyleInfo")
    if info is None:
        info = etree.Element(like(root, "tableStyleInfo"))
        places = [item for item in root if etree.QName(item).localname in _BEFORE]
        places[-1].addnext(info)
        for key in _SWITCHES.values():
            info.set(key, "0")
        info.set(_SWITCHES["banded_rows"], "1")
    info.attrib.pop("name", "")
    if name is not None:
        kept = {str(key): str(value) for key, value in info.attrib.items()}
        info.attrib.clear()
        info.set("name", name)
        for key, value in kept.items():
            info.set(key, value)
    for field, key in _SWITCHES.items():
        if args.get(field) is not None:
            info.set(key, "1" if args[field] else "0")


def present_style(root: Element) -> str | None:
    """Return the name of the style a table has."""
    info = child(root, "tableStyleInfo")
    return info.get("name") if info is not None else None


def style_words(args: Mapping[str, Json], name: str | None) -> list[str]:
    """Return what was said of looks, in words."""
    words = [f"style {name or NO_STYLE}"] if args.get("style") is not None else []
    words += [
        f"{field.replace('_', ' ')} {'on' if args[field] else 'off'}"
        for field in _SWITCHES
        if args.get(field) is not None
    ]
    return words

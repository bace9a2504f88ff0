"""The outline of a text file by its ending: keys, tags or headings (F6.4)."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

from backshop.base import limits as numbers

from .errors import FormatError
from .guard import iterparse
from .protocol import Json, JsonObject

MAX_BYTES = 16 * numbers.MIB  # what is parsed for an outline
_MAX_KEYS = 50
_MAX_HEADINGS = 100
_YAML_KEY = re.compile(r"""^("[^"]*"|'[^']*'|[^\s#:"'\-?&*!|>%@`{\[][^:#]*?)\s*:(?:\s|$)""")
_MD_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_RST_LINE = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}\s*$")
_VOID = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link"),
        *("meta", "param", "source", "track", "wbr"),
    )
)


def outline(ending: str, text: str) -> JsonObject | None:
    """Return the structure of a whole text, or None for an ending without one."""
    if ending == ".json":
        return _json(text)
    if ending in {".yaml", ".yml"}:
        keys = [m.group(1).strip("\"'") for m in map(_YAML_KEY.match, text.splitlines()) if m]
        return {"kind": "yaml", "keys": list(dict.fromkeys(keys))[:_MAX_KEYS]}
    if ending == ".xml":
        return _xml(text)
    if ending == ".html":
        return _html(text)
    if ending == ".md":
        return {"kind": "md", "headings": _markdown(text.splitlines())}
    if ending == ".rst":
        return {"kind": "rst", "headings": _rst(text.splitlines())}
    return None


def _json(text: str) -> JsonObject:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"kind": "json", "invalid": True}
    if isinstance(value, dict):
        keys = list(value)[:_MAX_KEYS]
        return {"kind": "json", "root": "object", "keys": keys, "length": len(value)}
    if isinstance(value, list):
        return {"kind": "json", "root": "array", "keys": [], "length": len(value)}
    return {"kind": "json", "root": "scalar", "keys": [], "length": None}


def _xml(text: str) -> JsonObject | None:
    """Return root and child tags; a document type is not followed, so there is no outline then."""
    root: str | None = None
    children: dict[str, None] = {}
    depth = 0
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return {"kind": "xml", "root": None, "children": []}
    body = re.sub(r"^\ufeff?\s*<\?xml[^>]*\?>", "", text)
    try:
        for event, element in iterparse(body.encode(), events=("start", "end")):
            if event == "end":
                depth -= 1
                element.clear()
                continue
            tag = str(element.tag).rpartition("}")[2]
            if depth == 0:
                root = tag
            elif depth == 1 and len(children) < _MAX_KEYS:
                children[tag] = None
            depth += 1
    except FormatError:
        return {"kind": "xml", "invalid": True}
    return {"kind": "xml", "root": root, "children": list(children)}


class _Tags(HTMLParser):
    """Notes the outermost tag and those directly inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.root: str | None = None
        self.children: dict[str, None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.root is None:
            self.root = tag
        elif len(self.open) == 1 and len(self.children) < _MAX_KEYS:
            self.children[tag] = None
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass


def _html(text: str) -> JsonObject:
    tags = _Tags()
    tags.feed(text[: numbers.MIB])
    return {"kind": "html", "root": tags.root, "children": list(tags.children)}


def _markdown(lines: list[str]) -> list[Json]:
    found: list[Json] = []
    fence: str | None = None
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if mark:
            kind = mark.group(1)[0]
            fence = None if fence == kind else fence or kind
            continue
        if fence:
            continue
        heading = _MD_HEADING.match(line)
        if heading:
            found.append(_heading(len(heading.group(1)), heading.group(2) or "", number))
        elif (
            number > 1 and lines[number - 2].strip() and re.fullmatch(r" {0,3}(=+|-{2,})\s*", line)
        ):
            previous = lines[number - 2]
            if not previous.lstrip().startswith(("#", "-", "|", ">", "*")):
                found.append(_heading(1 if "=" in line else 2, previous.strip(), number - 1))
        if len(found) >= _MAX_HEADINGS:
            break
    return found


def _rst(lines: list[str]) -> list[Json]:
    found: list[Json] = []
    order: list[str] = []
    for number, line in enumerate(lines, 1):
        if number < 2 or not _RST_LINE.match(line):
            continue
        title = lines[number - 2]
        if not title.strip() or _RST_LINE.match(title) or len(line.rstrip()) < len(title.rstrip()):
            continue
        over = number >= 3 and lines[number - 3].rstrip() == line.rstrip()
        style = line[0] + ("^" if over else "")
        if style not in order:
            order.append(style)
        found.append(_heading(order.index(style) + 1, title.strip(), number - 1))
        if len(found) >= _MAX_HEADINGS:
            break
    return found


def _heading(level: int, text: str, line: int) -> JsonObject:
    return {"level": level, "text": text[:200], "line": line}

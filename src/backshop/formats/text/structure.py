"""The outline of a text file by its ending: keys, tags or headings (F6.4)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from itertools import islice
from typing import IO
from xml.parsers import expat

from backshop.base import limits as numbers

from ..protocol import Json, JsonObject

_BLOCK = 256 * numbers.KIB  # what is read at a time
_MAX_VALUE = 16 * numbers.MIB  # of one value inside a JSON text
_MAX_LINE = 64 * numbers.KIB
_LONGEST_WORD = 9  # -Infinity
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][+\-]?[0-9]*)?")  # or the start of one
_BEFORE_XML = "\ufeff \t\n\r"
_MAX_KEYS = 50
_MAX_HEADINGS = 100
# None of these goes back over what it took more than once: a line may be long and hostile.
_YAML_KEY = re.compile(r"""("[^"]*"\s*|'[^']*'\s*|[^\s#:"'\-?&*!|>%@`{\[][^:#]*):(?:\s|$)""")
_MD_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_MD_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})\s*")
_MD_OTHER = re.compile(r"\s*[#\-|>*]")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_RST_LINE = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}\s*$")
_VOID = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link"),
        *("meta", "param", "source", "track", "wbr"),
    )
)


def outline(ending: str, file: IO[str], block_chars: int = _BLOCK) -> JsonObject | None:
    """Return the structure of a text, or None for an ending without one; it is read piece by piece.

    Where a piece ends makes no difference. Lines of `file` keep the ends they have; a line end
    inside a value is part of it.
    """
    match ending:
        case ".json":
            return _json(file, block_chars)
        case ".yaml" | ".yml":
            return {"kind": "yaml", "keys": _yaml(file)}
        case ".xml":
            return _xml(file, block_chars)
        case ".html":
            return _html(file.read(numbers.MIB))
        case ".md":
            return {"kind": "md", "headings": _markdown(_lines(file))}
        case ".rst":
            return {"kind": "rst", "headings": _rst(_lines(file))}
    return None


def _lines(file: IO[str]) -> Iterator[str]:
    """Go through the lines, of each no more than a heading could be."""
    last = "\n"
    while piece := file.readline(_MAX_LINE):
        is_rest = last.endswith("\r") and piece == "\n"  # of a line end that was cut in two
        if last.endswith(("\n", "\r")) and not is_rest:
            yield piece.rstrip("\r\n")
        last = piece


def _yaml(file: IO[str]) -> list[Json]:
    keys: dict[str, None] = {}
    for match in filter(None, map(_YAML_KEY.match, _lines(file))):
        keys[match.group(1).rstrip().strip("\"'")] = None
        if len(keys) == _MAX_KEYS:
            break
    return list(keys)


class _Pieces:
    """JSON read value by value, so that only one of them is held at a time."""

    def __init__(self, file: IO[str], block_chars: int) -> None:
        self._file = file
        self._block_chars = block_chars
        self._held = ""
        self._at = 0
        self._decode = json.JSONDecoder(parse_int=float).raw_decode  # `int` refuses long ones

    def _more(self) -> bool:
        size = len(self._held) - self._at
        if size >= _MAX_VALUE:
            raise _NoOutline
        block = self._file.read(min(max(self._block_chars, size), _MAX_VALUE - size))
        self._held, self._at = self._held[self._at :] + block, 0
        return bool(block)

    def peek(self) -> str:
        """Return the next character that is no space, "" at the end."""
        while True:
            match = _SPACE.match(self._held, self._at)
            assert match is not None, "it matches nothing as well"
            self._at = match.end()
            if self._at < len(self._held) or not self._more():
                return self._held[self._at : self._at + 1]

    def take(self, allowed: str) -> str:
        """Return the next character, which must be one of these."""
        found = self.peek()
        if not found or found not in allowed:
            raise ValueError(allowed)
        self._at += 1
        return found

    def value(self) -> object:
        """Return the next whole value."""
        self.peek()
        while True:
            try:
                value, end = self._decode(self._held, self._at)
            except json.JSONDecodeError as error:
                if not self._breaks_off(error) or not self._more():
                    raise
                continue
            if _NUMBER.fullmatch(self._held, self._at) and self._more():  # it may go on
                continue
            self._at = end
            return value

    def _breaks_off(self, error: json.JSONDecodeError) -> bool:
        """Whether more text could mend it: it went wrong at the very end, or inside a text."""
        return error.pos >= len(self._held) - _LONGEST_WORD or error.msg.startswith("Unterminated")


class _NoOutline(Exception):
    """A text is left without one: a value is too large to be held, or there is a document type."""


def _json(file: IO[str], block_chars: int) -> JsonObject | None:
    pieces = _Pieces(file, block_chars)
    try:
        match pieces.peek():
            case "{":
                keys = _members(pieces)
                found: JsonObject = {
                    "kind": "json",
                    "root": "object",
                    "keys": list(islice(keys, _MAX_KEYS)),
                    "length": len(keys),
                }
            case "[":
                length = _elements(pieces)
                found = {"kind": "json", "root": "array", "keys": [], "length": length}
            case _:
                pieces.value()
                found = {"kind": "json", "root": "scalar", "keys": [], "length": None}
        if pieces.peek():
            raise ValueError("more than one value")
    except (ValueError, RecursionError):
        return {"kind": "json", "invalid": True}
    except _NoOutline:
        return None
    return found


def _members(pieces: _Pieces) -> dict[str, None]:
    keys: dict[str, None] = {}
    pieces.take("{")
    if pieces.peek() == "}":
        pieces.take("}")
        return keys
    while True:
        if pieces.peek() != '"':
            raise ValueError("a key is text")
        keys[str(pieces.value())] = None
        pieces.take(":")
        pieces.value()
        if pieces.take(",}") == "}":
            return keys


def _elements(pieces: _Pieces) -> int:
    count = 0
    pieces.take("[")
    if pieces.peek() == "]":
        pieces.take("]")
        return count
    while True:
        pieces.value()
        count += 1
        if pieces.take(",]") == "]":
            return count


class _Elements:
    """Notes the root of an XML text and the tags directly inside it."""

    def __init__(self) -> None:
        self.root: str | None = None
        self.children: dict[str, None] = {}
        self.depth = 0

    def start(self, tag: str, _: object) -> None:
        name = tag.rpartition(":")[2]
        if self.depth == 0:
            self.root = name
        elif self.depth == 1 and len(self.children) < _MAX_KEYS:
            self.children[name] = None
        self.depth += 1

    def end(self, _: str) -> None:
        self.depth -= 1


def _xml(file: IO[str], block_chars: int) -> JsonObject:
    """Return root and child tags; a document type is not followed, so there is no outline then."""
    elements = _Elements()
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = elements.start, elements.end
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        has_begun = False
        while block := file.read(block_chars):
            block = block if has_begun else block.lstrip(_BEFORE_XML)
            has_begun = has_begun or bool(block)
            parser.Parse(block.encode("utf-8", "surrogatepass"), False)
        parser.Parse(b"", True)
    except expat.ExpatError:
        return {"kind": "xml", "invalid": True}
    except _NoOutline:
        return {"kind": "xml", "root": None, "children": []}
    return {"kind": "xml", "root": elements.root, "children": list(elements.children)}


def _refuse_doctype(*_: object) -> None:
    raise _NoOutline


class _Tags(HTMLParser):
    """Notes the outermost tag and those directly inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.waiting: Counter[str] = Counter()  # how often each tag is open
        self.root: str | None = None
        self.children: dict[str, None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.root is None:
            self.root = tag
        elif len(self.open) == 1 and len(self.children) < _MAX_KEYS:
            self.children[tag] = None
        if tag not in _VOID:
            self.open.append(tag)
            self.waiting[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        closed = None
        while self.waiting[tag] and closed != tag:
            closed = self.open.pop()
            self.waiting[closed] -= 1


def _html(text: str) -> JsonObject:
    tags = _Tags()
    try:
        tags.feed(text)
    except AssertionError:  # the library's answer to a declaration nobody knows; it reads no more
        return {"kind": "html", "invalid": True}
    return {"kind": "html", "root": tags.root, "children": list(tags.children)}


def _markdown(lines: Iterable[str]) -> list[Json]:
    found: list[Json] = []
    fence: str | None = None
    previous = ""
    for number, line in enumerate(lines, 1):
        above, previous = previous, line
        mark = _FENCE.match(line)
        if mark:
            kind = mark.group(1)[0]
            fence = None if fence == kind else fence or kind
            continue
        if fence:
            continue
        heading = _MD_HEADING.match(line)
        if heading:
            found.append(_heading(len(heading[1]), _unclosed(line[heading.end() :]), number))
        elif _MD_UNDERLINE.fullmatch(line) and above.strip() and not _MD_OTHER.match(above):
            found.append(_heading(1 if "=" in line else 2, above.strip(), number - 1))
        if len(found) >= _MAX_HEADINGS:
            break
    return found


def _unclosed(text: str) -> str:
    """Return the words of a heading without the number signs that may close it."""
    text = text.strip(" \t")
    words = text.rstrip("#")
    return words.rstrip(" \t") if not words or words[-1] in " \t" else text


def _rst(lines: Iterable[str]) -> list[Json]:
    found: list[Json] = []
    order: list[str] = []
    above, title = "", ""
    for number, line in enumerate(lines, 1):
        over, above, text, title = above, title, title, line
        if not _RST_LINE.match(line) or not text.strip() or _RST_LINE.match(text):
            continue
        if len(line.rstrip()) < len(text.rstrip()):
            continue
        style = line[0] + ("^" if over.rstrip() == line.rstrip() else "")
        if style not in order:
            order.append(style)
        found.append(_heading(order.index(style) + 1, text.strip(), number - 1))
        if len(found) >= _MAX_HEADINGS:
            break
    return found


def _heading(level: int, text: str, line: int) -> JsonObject:
    return {"level": level, "text": text[:200], "line": line}

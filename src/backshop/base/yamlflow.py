"""Inside one YAML value: quoted texts, brackets, and what plain words mean (core schema)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

MAX_DEPTH = 100
NO_ANCHORS = "anchors, aliases and tags are not allowed; a text that begins so goes in quotes"

_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_NUMBER_MAX_CHARS = 400  # longer digits are text to no reader's loss
_ESCAPES = {
    **{"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"},
    **{"e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0"},
    **{"L": "\u2028", "P": "\u2029"},
}
_HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class BadYaml(ValueError):
    """The text is not YAML, or uses what workflows may not."""


def bad(number: int, message: str) -> BadYaml:
    """Return the refusal of something at a line."""
    return BadYaml(f"line {number}: {message}")


class Cursor:
    """A place in the text of a value; lines that follow are fetched when they are needed."""

    def __init__(self, text: str, number: int, following: Callable[[], str | None]) -> None:
        self.number = number
        self._text = text
        self._at = 0
        self._following = following

    def peek(self, ahead: int = 0) -> str:
        """Return a character of this line without taking it, empty at its end."""
        return self._text[self._at + ahead : self._at + ahead + 1]

    def take(self) -> str:
        """Take one character; line ends are folded as everywhere in YAML."""
        if self._at >= len(self._text):
            self._fetch()
        self._at += 1
        return self._text[self._at - 1]

    def rest(self) -> str:
        """Return what is left of this line."""
        return self._text[self._at :]

    def skip(self) -> str:
        """Go to the next character that is no space, in whatever line, and return it."""
        while (char := self.peek()) in {" ", "\t", "\n", ""}:
            if char:
                self._at += 1
            else:
                self._fetch()
        return char

    def plain(self) -> str:
        """Take the characters of an unquoted word inside brackets."""
        start = self._at
        while (char := self.peek()) and char not in ",[]{}":
            if char == ":" and self.peek(1) in {"", " ", ",", "[", "]", "{", "}"}:
                break
            if char == "#" and self._text[self._at - 1 : self._at] == " ":
                raise bad(self.number, "no comments inside brackets")
            self._at += 1
        return self._text[start : self._at].strip()

    def _fetch(self) -> None:
        breaks = 0
        while (line := self._following()) == "":
            breaks += 1
        if line is None:
            raise bad(self.number, "a quote or bracket is not closed")
        self._text, self._at = ("\n" * breaks if breaks else " ") + line, 0


def flow_value(cursor: Cursor, depth: int) -> object:
    """Read a quoted text, a bracketed collection or a plain word."""
    if depth > MAX_DEPTH:
        raise bad(cursor.number, f"nested more than {MAX_DEPTH} deep")
    match cursor.skip():
        case "[":
            cursor.take()
            return _list(cursor, depth)
        case "{":
            cursor.take()
            return _object(cursor, depth)
        case '"' | "'":
            return quoted(cursor)
        case "&" | "*" | "!":
            raise bad(cursor.number, NO_ANCHORS)
        case "," | "]" | "}":
            raise bad(cursor.number, "a value belongs here")
    return scalar(cursor.plain(), cursor.number)


def _list(cursor: Cursor, depth: int) -> list[object]:
    found: list[object] = []
    while cursor.skip() != "]":
        found.append(flow_value(cursor, depth + 1))
        _separator(cursor, "]")
    cursor.take()
    return found


def _object(cursor: Cursor, depth: int) -> dict[str, object]:
    found: dict[str, object] = {}
    while (first := cursor.skip()) != "}":
        key = quoted(cursor) if first in "\"'" else cursor.plain()
        if cursor.skip() != ":" or (not key and first not in "\"'"):
            raise bad(cursor.number, "a key and a colon belong here")
        cursor.take()
        if key in found:
            raise bad(cursor.number, f"duplicate key `{key}`")
        found[key] = None if cursor.skip() in ",}" else flow_value(cursor, depth + 1)
        _separator(cursor, "}")
    cursor.take()
    return found


def _separator(cursor: Cursor, end: str) -> None:
    char = cursor.skip()
    if char == ",":
        cursor.take()
    elif char != end:
        raise bad(cursor.number, f"`,` or `{end}` belongs here")


def quoted(cursor: Cursor) -> str:
    """Read a text in single or double quotes."""
    quote = cursor.take()
    found: list[str] = []
    while True:
        char = cursor.take()
        if char == quote:
            if quote == "'" and cursor.peek() == "'":
                found.append(cursor.take())
                continue
            return _paired("".join(found))
        found.append(_escaped(cursor) if char == "\\" and quote == '"' else char)


def _escaped(cursor: Cursor) -> str:
    char = cursor.take()
    width = _HEX_ESCAPES.get(char)
    if width is None:
        if char not in _ESCAPES:
            raise bad(cursor.number, f"unknown escape `\\{char}`")
        return _ESCAPES[char]
    digits = "".join(cursor.take() for _ in range(width))
    try:
        return chr(int(digits, 16))
    except (ValueError, OverflowError) as error:
        raise bad(cursor.number, f"`\\{char}{digits}` is no character") from error


def _paired(text: str) -> str:
    """Join escaped surrogate pairs, as JSON writes characters beyond the first 65,536."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def scalar(text: str, number: int) -> object:
    """Return what a plain word means."""
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise bad(number, f"`{text}` is not a JSON number")
    if len(text) <= _NUMBER_MAX_CHARS:
        if _INTEGER.fullmatch(text):
            return json.loads(_decimal(text))
        if _OCTAL.fullmatch(text) or _HEX.fullmatch(text):
            return int(text, 0)
        if _FLOAT.fullmatch(text):
            return float(text)
    if text[0] in "&*!@`%|>" or text.startswith(("- ", "? ", ": ")):
        raise bad(number, f"`{text[:20]}` cannot stand without quotes")
    return text


def _decimal(text: str) -> str:
    sign = "-" if text.startswith("-") else ""
    return sign + (text.lstrip("+-").lstrip("0") or "0")

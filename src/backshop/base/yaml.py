"""The YAML people may write: plain data, nothing that acts (R1.1, B14.9).

A reader for block and flow collections, quoted, plain and block texts and comments, with the
core schema of YAML 1.2 for plain words. Anchors, aliases, tags, directives, merge keys, complex
keys, several documents, tabs as indentation and duplicate keys are refused, by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .yamlflow import MAX_DEPTH, NO_ANCHORS, BadYaml, Cursor, bad, flow_value, quoted, scalar

_HEADER = re.compile(r"([|>])([+-]?[1-9]?|[1-9]?[+-]?)\s*(#.*)?$")


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    text: str  # without indentation and line end; comments are still there


def read(text: str) -> object:
    """Return the value of a YAML document.

    Raises:
        BadYaml: with the line it was found at.
    """
    return _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self._raw = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._at = 0  # index into the raw lines

    def document(self) -> object:
        line = self._next()
        if line is not None and line.text.startswith("%"):
            raise bad(line.number, "directives are not allowed")
        if line is not None and line.indent == 0 and re.match(r"---(\s|$)", line.text):
            self._raw[self._at] = "   " + self._raw[self._at][3:]
            line = self._next()
        if line is None:
            return None
        value = self._node(line.indent, 0)
        rest = self._next()
        if rest is not None and rest.text != "...":
            word = (
                "a second document" if rest.text.startswith("---") else "this does not belong here"
            )
            raise bad(rest.number, word)
        return value

    def _next(self) -> _Line | None:
        """Return the next line that says something, without taking it."""
        while self._at < len(self._raw):
            raw = self._raw[self._at]
            text = raw.lstrip(" ")
            if text.startswith("\t") and text.strip():
                raise bad(self._at + 1, "tabs cannot indent")
            if text.strip() and not text.startswith("#"):
                return _Line(self._at + 1, len(raw) - len(text), text.rstrip())
            self._at += 1
        return None

    def _node(self, indent: int, depth: int) -> object:
        line = self._next()
        assert line is not None
        if depth > MAX_DEPTH:
            raise bad(line.number, f"nested more than {MAX_DEPTH} deep")
        if _is_item(line.text):
            return self._sequence(indent, depth)
        if _split_key(line.text, line.number):
            return self._mapping(indent, depth)
        self._at += 1
        return self._value(line.text, line.number, indent - 1, depth)

    def _sequence(self, indent: int, depth: int) -> list[object]:
        found: list[object] = []
        while (line := self._next()) is not None and line.indent == indent and _is_item(line.text):
            rest = line.text[1:]
            inner = rest.lstrip(" ")
            if not inner or inner.startswith("#"):
                self._at += 1
                found.append(self._below(indent, depth))
                continue
            column = indent + 1 + len(rest) - len(inner)
            self._raw[self._at] = " " * column + inner
            found.append(self._node(column, depth + 1))
        self._check_dedent(indent)
        return found

    def _mapping(self, indent: int, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        while (line := self._next()) is not None and line.indent == indent:
            pair = _split_key(line.text, line.number)
            if pair is None:
                if _is_item(line.text) or line.text in {"---", "..."}:
                    break
                raise bad(line.number, "a key and a colon belong here")
            key, rest = pair
            if key in found:
                raise bad(line.number, f"duplicate key `{key}`")
            self._at += 1
            if not rest or rest.startswith("#"):
                found[key] = self._below(indent, depth, in_mapping=True)
            else:
                found[key] = self._value(rest, line.number, indent, depth)
        self._check_dedent(indent)
        return found

    def _check_dedent(self, indent: int) -> None:
        line = self._next()
        if line is not None and line.indent > indent:
            raise bad(line.number, "the indentation does not fit")

    def _below(self, indent: int, depth: int, *, in_mapping: bool = False) -> object:
        """Read what stands under a key or a dash; nothing there is null."""
        line = self._next()
        if line is None:
            return None
        if line.indent > indent:
            return self._node(line.indent, depth + 1)
        if in_mapping and line.indent == indent and _is_item(line.text):
            return self._sequence(indent, depth + 1)
        return None

    def _value(self, text: str, number: int, indent: int, depth: int) -> object:
        first = text[0]
        if first in "&*!":
            raise bad(number, NO_ANCHORS)
        if first in "@`%":
            raise bad(number, f"`{first}` cannot begin a text; put it in quotes")
        if first in "|>":
            return self._block(text, number, indent)
        if first in "[{" or first in "\"'":
            return self._flow(text, number, depth)
        return self._plain(text, number, indent)

    def _flow(self, text: str, number: int, depth: int) -> object:
        """Read a quoted text or a flow collection, over as many lines as it takes."""
        cursor = Cursor(text, number, self._following)
        value = flow_value(cursor, depth)
        rest = cursor.rest().strip()
        if rest and not rest.startswith("#"):
            raise bad(number, f"`{rest[:20]}` does not belong here")
        return value

    def _following(self) -> str | None:
        """Take the next raw line, None at the end of the file."""
        if self._at >= len(self._raw):
            return None
        self._at += 1
        return self._raw[self._at - 1].strip()

    def _plain(self, text: str, number: int, indent: int) -> object:
        parts = [_without_comment(text)]
        if parts[0] == text:  # a comment ends a plain text
            parts += self._continuation(indent)
        joined = "".join(parts)
        if ": " in joined or joined.endswith(":"):
            raise bad(number, "a colon inside a plain text; put it in quotes")
        return scalar(joined, number)

    def _continuation(self, indent: int) -> Iterator[str]:
        """Take the further lines of a plain text, all deeper than its key, folded."""
        while True:
            at = self._at
            while at < len(self._raw) and not self._raw[at].strip():
                at += 1
            raw = self._raw[at] if at < len(self._raw) else ""
            text = raw.strip()
            if not text or text.startswith("#") or _is_item(text):
                return
            if len(raw) - len(raw.lstrip(" ")) <= indent:
                return
            blanks = at - self._at
            self._at = at + 1
            yield "\n" * blanks if blanks else " "
            yield _without_comment(text)
            if _without_comment(text) != text:
                return

    def _block(self, header: str, number: int, indent: int) -> str:
        match = _HEADER.fullmatch(header)
        if match is None:
            raise bad(number, "after `|` or `>` the text begins on the next line")
        style, marks = match[1], match[2]
        digits = marks.strip("+-")
        inner = indent + int(digits) if digits else None
        lines: list[str] = []
        while self._at < len(self._raw):
            raw = self._raw[self._at]
            width = len(raw) - len(raw.lstrip(" "))
            if raw.strip():
                inner = inner if inner is not None else width
                if width <= indent or width < inner:
                    break
            lines.append(raw[inner:] if inner is not None else "")
            self._at += 1
        return _chomped(lines, marks, folded=style == ">")


def _split_key(text: str, number: int) -> tuple[str, str] | None:
    """Return key and rest of `key: rest`, None when the line has no key."""
    if text[0] in "\"'":
        cursor = Cursor(text, number, lambda: None)
        try:
            key = quoted(cursor)
        except BadYaml:
            return None
        rest = cursor.rest().lstrip(" ")
        is_key = rest.startswith(":") and rest[1:2].strip() == ""
        return (key, rest[1:].strip()) if is_key else None
    if text.startswith("? "):
        raise bad(number, "complex keys are not allowed")
    if text[0] in "[]{},#&*!|>%@`":
        return None
    at = text.find(":")
    while at > 0:
        if text[at + 1 : at + 2].strip() == "":
            key = text[:at].rstrip()
            if " #" in key:
                return None
            if key == "<<":
                raise bad(number, "merge keys are not allowed")
            return key, text[at + 1 :].strip()
        at = text.find(":", at + 1)
    return None


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _without_comment(text: str) -> str:
    match = re.search(r"\s#", text)
    return text[: match.start()].rstrip() if match else text


def _chomped(lines: list[str], marks: str, *, folded: bool) -> str:
    body = list(lines)
    while body and not body[-1].strip():
        body.pop()
    trailing = len(lines) - len(body)
    text = _fold_block(body) if folded else "\n".join(body)
    if "-" in marks or (not body and "+" not in marks):
        return text
    return text + "\n" * ((1 if body else 0) + (trailing if "+" in marks else 0))


def _fold_block(lines: list[str]) -> str:
    """Fold a `>` text: lines join with spaces, except at blank and at indented lines."""
    text, blanks, before_indented = "", 0, False
    for index, line in enumerate(lines):
        if not line.strip():
            blanks += 1
            continue
        indented = line.startswith((" ", "\t"))
        if index == 0 or (not text and not blanks):
            text = "\n" * blanks + line
        elif indented or before_indented:
            text += "\n" * (blanks + 1) + line
        else:
            text += ("\n" * blanks if blanks else " ") + line
        blanks, before_indented = 0, indented
    return text

"""Which line of a definition a JSON Pointer is about, near enough to put the caret there.

A reader that goes by brackets and by indentation, not a parser: it works on texts that are broken,
which is when somebody needs it.
"""

from __future__ import annotations

import json
import re

_KEY = re.compile(
    r"""^(\s*)((?:-\s+)*)(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s#:'"\-][^:#]*?))\s*:(?:\s|$)"""
)
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|\n')
_ITEM = re.compile(r"^(\s*)((?:-\s+)*)-(\s|$)")


def line_of(text: str, pointer: str) -> int:
    """Return the line, counted from 1, of the deepest part of the pointer that can be found."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _in_json(text, parts)
    return _in_yaml(text.splitlines(), parts)


def _in_json(text: str, parts: list[str]) -> int:
    """Walk the brackets and remember where the path that fits best begins."""
    best, best_line, line = 0, 1, 1
    path: list[str | int] = []  # of the brackets that are open; an object in a list adds ""
    key = ""
    for match in _MARK.finditer(text):
        mark = match.group()
        is_key = mark.startswith('"') and text[match.end() :][:200].lstrip().startswith(":")
        if mark == "\n":
            line += 1
        elif is_key:
            key = _text(mark)
            best, best_line = _better(best, best_line, [*path, key], parts, line)
        elif mark in ("{", "[") or mark.startswith('"'):
            if path and isinstance(path[-1], int):
                best, best_line = _better(best, best_line, path, parts, line)
            if mark in ("{", "["):
                path += [key] if mark == "{" else [key, 0]
            key = ""
        elif mark in ("}", "]"):
            del path[-1 if mark == "}" else -2 :]
        elif mark == "," and path and isinstance(path[-1], int):
            path[-1] += 1
    return best_line


def _better(
    best: int, best_line: int, path: list[str | int], parts: list[str], line: int
) -> tuple[int, int]:
    """Return the longer of two fits with its line; the first of equal ones stays."""
    seen = [str(one) for one in path if one != ""]
    fit = len(seen) if seen == parts[: len(seen)] else 0
    return (fit, line) if fit > best else (best, best_line)


def _text(mark: str) -> str:
    try:
        return str(json.loads(mark))
    except ValueError:
        return mark[1:-1]


def _in_yaml(lines: list[str], parts: list[str]) -> int:
    """Go down by indentation; a part that is not found ends the way."""
    start, end, indent, found = 0, len(lines), -1, 1
    for part in parts:
        hit = (
            _yaml_item(lines, start, end, indent, int(part))
            if part.isdecimal()
            else _yaml_key(lines, start, end, indent, part)
        )
        if hit is None:
            return found
        start, end, indent = hit
        found = start + 1
    return found


def _yaml_key(
    lines: list[str], start: int, end: int, indent: int, name: str
) -> tuple[int, int, int] | None:
    for number in range(start, end):
        match = _KEY.match(lines[number])
        if match is None:
            continue
        column = len(match[1]) + len(match[2])
        if column > indent and (match[3] or match[4] or match[5]) == name:
            return number, _block_end(lines, number, end, column), column
    return None


def _yaml_item(
    lines: list[str], start: int, end: int, indent: int, wanted: int
) -> tuple[int, int, int] | None:
    column, seen = None, -1
    for number in range(start, end):
        match = _ITEM.match(lines[number])
        if match is None:
            continue
        here = len(match[1]) + len(match[2])
        if column is None and here >= indent:
            column = here
        if here == column:
            seen += 1
            if seen == wanted:
                return number, _block_end(lines, number, end, here, is_item=True), here
    return None


def _block_end(lines: list[str], number: int, end: int, column: int, is_item: bool = False) -> int:
    for later in range(number + 1, end):
        line = lines[later]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        depth = len(line) - len(line.lstrip())
        is_list = line.lstrip().startswith("-")
        if depth < column or (depth == column and (is_item or not is_list)):
            return later
    return end

"""Things to ask, made from the files that are there: only what the agent's tools can do (U3.23)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backshop.base.limits import MIB
from backshop.bench import FileEntry

Map = Mapping[str, Any]
MapOf = Callable[[str], Map | None]

SUGGESTED = 4
SIZE_MAX = 4 * MIB  # of a file that is looked into for a suggestion
_NAME_MAX_CHARS = 40
_NUMBERS = ("integer", "float")
_DATES = ("date", "datetime", "timestamp")


def suggested(files: Sequence[FileEntry], map_of: MapOf) -> list[str]:
    """Return at most four, one for each kind of file, of its first file that can be read."""
    found: list[str] = []
    for kind, make in _MAKERS.items():
        file = next((one for one in files if one.kind == kind and one.readable), None)
        if file is None or len(found) == SUGGESTED:
            continue
        seen = map_of(file.path) if file.size <= SIZE_MAX else None
        found.append(make(file.path, seen or {}))
    return found


def _workbook(path: str, seen: Map) -> str:
    for sheet in seen.get("sheets") or ():
        tables = [one for one in sheet.get("islands") or () if one.get("headers")]
        name = _named(sheet.get("name"))
        if name and sheet.get("state") == "visible" and any(one["row_count"] > 2 for one in tables):
            return f"Add a total to each column of numbers on sheet {name} of {path}"
    return f"What is on each sheet of {path}? Sum it up in a few lines"


def _values(path: str, seen: Map) -> str:
    columns = [(one.get("inferred_type"), _named(one.get("name"))) for one in _columns(seen)]
    number = next((name for kind, name in reversed(columns) if kind in _NUMBERS and name), None)
    if number and any(kind in _DATES for kind, _ in columns):
        return f"Make a workbook with a chart of {number} by month from {path}"
    word = next((name for kind, name in columns[1:] if kind == "string" and name), None)
    if number and word:
        return f"Make a workbook with the sum of {number} for each {word} from {path}"
    return f"What is in {path}? Describe its columns in a few lines"


def _columns(seen: Map) -> Sequence[Map]:
    """Return the columns of a table that has something to count: a name and more than one row."""
    is_table = seen.get("has_header") and (seen.get("row_count") or 0) > 1
    return (seen.get("columns") or ()) if is_table else ()


def _document(path: str, seen: Map) -> str:
    codes = {one.get("code") for one in seen.get("warnings") or ()}
    if "tracked_changes_present" in codes:
        return f"List the tracked changes of {path} and what each one means"
    return f"Summarise {path} in five sentences"


def _slides(path: str, seen: Map) -> str:
    if (seen.get("slide_count") or 0) > 2:
        return f"Add a slide at the end of {path} that sums up the others"
    return f"List the slides of {path} and what each one says"


def _named(name: object) -> str | None:
    """Return a name of a file's own that fits into a sentence; others are not repeated."""
    if not isinstance(name, str) or not 0 < len(name) <= _NAME_MAX_CHARS:
        return None
    return name if name.isprintable() and name.strip() == name else None


_MAKERS: Mapping[str, Callable[[str, Map], str]] = {
    "xlsx": _workbook,
    "csv": _values,
    "docx": _document,
    "pptx": _slides,
    "pdf": lambda path, _: f"Sum up {path} in a new Word document",
    "text": lambda path, _: f"Correct the spelling in {path} and change nothing else",
}

"""What the model sees of a long tool result: a receipt, and how to recall the rest (W8.6, W8.7).

A receipt says what a result was and shows enough of it to go on working; the result itself stays
in the log and can be recalled in slices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backshop.base.limits import (
    RECALL_MAX_BYTES,
    RECEIPT_MAX_BYTES,
)

from ..cut import cut_bytes, slice_bytes

RECALL = "recall_tool_result"
_LINE_CHARS = 200
_SHAPE_MAX_BYTES = 1200  # leaves the larger part of a receipt to its preview
_NAMES = ("name", "path", "title", "text", "heading", "label", "id", "index", "asset_id", "code")
_BESIDE = frozenset({*_NAMES, "type", "style_id", "builtin", "count", "paragraphs", "shapes"})
_LOOKS = 20  # of one style report
_SIZES = ("range", "rows", "row_count", "columns", "column_count", "size_bytes", "lines", "count")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A part of a recalled result, field by field as W8.7 says."""

    entry_id: int
    tool: str
    offset: int
    bytes: int
    total_bytes: int
    has_more: bool
    content: str


def recall(
    entry_id: int, tool: str, data: bytes, *, offset: int = 0, max_bytes: int = RECALL_MAX_BYTES
) -> Slice:
    """Return a slice of a stored result, cut between characters; `offset` is where it begins."""
    start, part = slice_bytes(data, offset, min(max(1, max_bytes), RECALL_MAX_BYTES))
    return Slice(
        entry_id=entry_id,
        tool=tool,
        offset=start,
        bytes=len(part),
        total_bytes=len(data),
        has_more=start + len(part) < len(data),
        content=part.decode(errors="replace"),
    )


def receipt(tool: str, entry_id: int, result: str) -> str:
    """Return what stands for a result that is not shown whole (W8.6)."""
    size = _size(result)
    value = _value_of(result)
    shape, preview = _described(tool, value, result)
    head = f"Receipt of {tool}, entry {entry_id}, {size} bytes. {shape}"
    last = (
        f"Not shown whole. Recall it with {RECALL} entry_id={entry_id}, offset 0 and up, "
        f"at most {RECALL_MAX_BYTES} bytes a call."
    )
    head = cut_bytes(head, _SHAPE_MAX_BYTES, " […]")
    room = RECEIPT_MAX_BYTES - _size(head) - _size(last) - 2
    return "\n".join((head, *_fitting(preview, room), last))


def path_of(arguments: Mapping[str, Any]) -> str:
    """Return the file a call is about, or nothing."""
    for name in ("path", "target_path", "source_path"):
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return value[:_LINE_CHARS]
    return ""


def place_of(arguments: Mapping[str, Any]) -> str:
    """Return which part of its file a call is about, in words for people (U3.2), or nothing."""
    parts = [_text(arguments.get(name)) for name in ("sheet", "range", "place")]
    given = arguments.get("operations")
    operations = given if isinstance(given, list) else []
    named = (_text(one.get("sheet")) for one in operations if isinstance(one, dict))
    parts.append(", ".join(dict.fromkeys(name for name in named if name)))
    for name, word in (("line", "lines"), ("row", "rows")):
        start, count = arguments.get(f"{name}_start"), arguments.get(f"{name}_count")
        if isinstance(start, int):
            parts.append(
                f"{word} {start} to {start + count - 1}"
                if isinstance(count, int) and count > 1
                else f"{word} from {start}"
            )
    if isinstance(slide := arguments.get("slide_index"), int):
        parts.append(f"slide {slide + 1}")
    for name in ("section", "paragraphs", "pages"):
        if text := _text(arguments.get(name)):
            parts.append(f"{name} {text}")
    return " ".join(part for part in parts if part)[:_LINE_CHARS]


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _value_of(result: str) -> Any:
    """Return the JSON of a result; a message may stand above it."""
    try:
        return json.loads(result)
    except (ValueError, RecursionError):
        _, _, below = result.partition("\n")
    try:
        return json.loads(below) if below[:1] in "{[" and below else None
    except (ValueError, RecursionError):
        return None


def _described(tool: str, value: Any, result: str) -> tuple[str, list[str]]:
    """Return the shape of a result and lines that show what is in it."""
    if not isinstance(value, Mapping):
        return _plain(result)
    if isinstance(value.get("rows"), list) and isinstance(value.get("columns"), list):
        return _table(value)
    if isinstance(value.get("text"), str) and isinstance(value.get("chunk_info"), Mapping):
        return _read(value)
    if isinstance(value.get("files"), list):
        return _listing(value)
    if tool.endswith("get_styles"):
        return _styles(value)
    return _structure(value)


def _plain(result: str) -> tuple[str, list[str]]:
    lines = result.split("\n")
    return f"Text of {len(lines)} lines.", _ends(lines, 20, 5)


def _table(value: Mapping[str, Any]) -> tuple[str, list[str]]:
    types = value.get("column_types")
    kinds = types if isinstance(types, Sequence) and not isinstance(types, str) else ()
    if isinstance(types, Mapping):
        kinds = [types.get(_named(one)) for one in value["columns"]]
    columns = [
        f"{_named(one)} ({kinds[at]})" if at < len(kinds) and kinds[at] else _named(one)
        for at, one in enumerate(value["columns"])
    ]
    total = value.get("total_row_count", value.get("total_rows"))
    shape = (
        f"Table, {len(value['rows'])} rows shown of {total}, has_more {_word(value)}, "
        f"{len(columns)} columns: {', '.join(columns)}."
    )
    return shape, _ends([_compact(row) for row in value["rows"]], 5, 2)


def _read(value: Mapping[str, Any]) -> tuple[str, list[str]]:
    lines = str(value["text"]).split("\n")
    shape = (
        f"Read of {value.get('path')}, selector {_compact(value.get('selector'))}, "
        f"chunk_info {_compact(value['chunk_info'])}, {len(lines)} lines."
    )
    return shape, _ends(lines, 20, 5)


def _listing(value: Mapping[str, Any]) -> tuple[str, list[str]]:
    files = value["files"]
    shape = f"List of {len(files)} files of {value.get('total')}, next_cursor "
    more = [f"… {len(files) - 10} more"] if len(files) > 10 else []
    return shape + f"{_compact(value.get('next_cursor'))}.", [
        *(_region(one) for one in files[:10]),
        *more,
    ]


def _styles(value: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Describe a style report: how many of each kind, then looks with where they are used."""
    counts = [f"{key} {len(one)}" for key, one in value.items() if isinstance(one, list | dict)]
    preview = [
        line
        for key, one in value.items()
        if isinstance(one, list) and one
        for line in _looks(key, one)
    ]
    return f"Styles of {value.get('format')}: {', '.join(counts)}.", preview or [_compact(value)]


def _looks(key: str, items: Sequence[Any]) -> Iterator[str]:
    """Yield a line for each of the first looks, or one with the names of what has none."""
    told = [one for one in items if isinstance(one, Mapping) and "count" in one]
    if not told:
        yield f"{key}: {', '.join(_named(item) for item in items[:8])}"
        return
    for one in told[:_LOOKS]:
        own = one.get("style")
        look = own if isinstance(own, Mapping) else {k: one[k] for k in one if k not in _BESIDE}
        where = one.get("cells") or one.get("paragraphs") or one.get("shapes")
        yield _cut_line(f"{_named(one)} ×{one['count']} at {_flat(where)}: {_flat(look)}")
    if len(told) > _LOOKS:
        yield f"{key}: … {len(told) - _LOOKS} more"


def _flat(value: Any) -> str:
    """Return a look or a list of places as a reader of one line takes it in."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {one}" for key, one in value.items()) or "plain"
    return ", ".join(map(str, value[:4])) if isinstance(value, list) else str(value)


def _structure(value: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Describe a map or any other object: its plain facts, then the names and sizes of regions."""
    plain = {
        key: one
        for key, one in value.items()
        if not isinstance(one, list | dict) and key not in ("sha256", "map_version")
    }
    counts = [f"{key} {len(one)}" for key, one in value.items() if isinstance(one, list | dict)]
    lines = [
        line
        for key, one in value.items()
        if isinstance(one, list | dict) and one
        for line in _regions(key, one)
    ]
    shape = f"Facts {_compact(plain)}; {', '.join(counts) or 'no parts'}."
    return shape, lines or [_compact(value)]


def _regions(key: str, value: Any) -> Iterator[str]:
    items = value if isinstance(value, list) else [value]
    for item in items[:12]:
        yield f"{key}: {_region(item)}"
    if len(items) > 12:
        yield f"{key}: … {len(items) - 12} more"


def _region(item: Any) -> str:
    if not isinstance(item, Mapping):
        return _compact(item)
    shown = {key: item[key] for key in (*_NAMES, *_SIZES, "kind", "type") if key in item}
    plain = {key: one for key, one in shown.items() if not isinstance(one, list | dict)}
    return _compact(plain or item)


def _named(item: Any) -> str:
    if isinstance(item, Mapping):
        found = next((item[key] for key in _NAMES if item.get(key) not in (None, "")), item)
        return str(found)[:80]
    return str(item)[:80]


def _word(value: Mapping[str, Any]) -> str:
    return "yes" if value.get("has_more") else "no"


def _compact(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return _cut_line(text)


def _cut_line(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[: _LINE_CHARS - 1]}…"


def _ends(lines: Sequence[str], first: int, last: int) -> list[str]:
    if len(lines) <= first + last:
        return [_cut_line(line) for line in lines]
    left_out = f"… {len(lines) - first - last} more …"
    return [*map(_cut_line, lines[:first]), left_out, *map(_cut_line, lines[-last:])]


def _fitting(lines: Iterable[str], room: int) -> list[str]:
    """Return the lines if they fit, else their beginning and end with a mark between."""
    found = list(lines) or ["(nothing to show)"]
    while sum(_size(line) + 1 for line in found) > room and len(found) > 3:
        middle = len(found) // 2
        del found[middle]
        found[middle if middle < len(found) else -1] = "…"
    if sum(_size(line) + 1 for line in found) > room:
        return [cut_bytes("\n".join(found), max(0, room - 1), " …")]
    return found

"""Chunks, cuts and short maps: the arithmetic of reading a file in pieces (F5.3-F5.9)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backshop.base import limits as numbers

from .errors import fail
from .protocol import Json, Selector

_CLIP_CHARS = 500  # of a text in a map that is too large


@dataclass(frozen=True, slots=True)
class Cut:
    """How much of a selection fitted: whole units taken, and the offset inside the next one when a
    single unit had to be split. `complete` says that nothing was left out."""

    text: str
    units: int
    char_offset: int | None
    complete: bool


def cut(
    units: Iterable[str],
    *,
    joiner: str = "\n",
    char_offset: int = 0,
    head: str = "",
    max_bytes: int = numbers.READ_MAX_BYTES,
) -> Cut:
    """Join whole units after `head` until the next would not fit; split only a first unit that
    is larger than everything allowed (F5.4). `char_offset` skips the start of the first unit."""
    pieces = [head] if head else []
    room = max_bytes - len(head.encode("utf-8", "surrogatepass"))
    taken = 0
    for unit in units:
        piece = unit[char_offset:] if taken == 0 else unit
        size = len(piece.encode("utf-8", "surrogatepass")) + (len(joiner) if pieces else 0)
        if size > room:
            if taken:
                return Cut(joiner.join(pieces), taken, None, False)
            part = _prefix(piece, room - (len(joiner) if pieces else 0))
            return Cut(joiner.join([*pieces, part]), 0, char_offset + len(part), False)
        pieces.append(piece)
        room -= size
        taken += 1
    return Cut(joiner.join(pieces), taken, None, True)


def chunk_count(total: int, size: int) -> int:
    """Return how many chunks of `size` cover `total` items."""
    return -(-total // size)


def chunking(unit: str, size: int, count: int, origin: int) -> dict[str, Json]:
    """Return the `chunking` object of F5.8."""
    return {"unit": unit, "size": size, "count": count, "origin": origin}


def chunk_list(spans: Sequence[Mapping[str, Json]]) -> list[Mapping[str, Json]] | None:
    """Return the numbered chunks, or None beyond 40 (F5.8)."""
    if len(spans) > numbers.MAP_MAX_CHUNKS:
        return None
    return [{"index": index, **span} for index, span in enumerate(spans)]


def check_selector(selector: Selector, format_: str, allowed: Iterable[str]) -> None:
    """Refuse a field that is set and belongs to another format (F5.6), and a negative offset."""
    allowed = {"chunk_index", "char_offset", *allowed}
    wrong = sorted(selector.given().keys() - allowed)
    if wrong:
        raise fail(
            "bad_selector",
            f"{', '.join(wrong)} has no meaning for {format_}",
            hints=sorted(allowed - {"char_offset"}),
        )
    if selector.char_offset is not None and selector.char_offset < 0:
        raise fail("bad_index", "char_offset begins at 0")


def check_chunk(chunk_index: int, count: int) -> None:
    """Refuse a chunk that does not exist (F5.7)."""
    if not 0 <= chunk_index < max(count, 1):
        valid = f"0 to {count - 1}" if count else "0"
        raise fail("bad_index", f"there is no chunk {chunk_index}", hints=(valid,))


def refuse_both(selector: Selector, *names: str) -> None:
    """Refuse `chunk_index` beside an explicit range (F5.7)."""
    given = selector.given()
    if "chunk_index" in given and any(name in given for name in names):
        raise fail("op_conflict", f"chunk_index and {' or '.join(names)} exclude each other")


def shorten(data: Mapping[str, Json], max_bytes: int) -> dict[str, Json]:
    """Return a map that fits `max_bytes` of JSON: long texts cut, then its longest lists (F5.9).

    Nested lists count too (`sheets[0].islands`); each cut list is named with what was kept.
    """
    result: dict[str, Json] = json.loads(json.dumps(data, ensure_ascii=False))
    if _size(result) > max_bytes:
        result = {key: _clipped(value) for key, value in result.items()}
    totals: dict[str, int] = {}
    while _size(result) > max_bytes:
        path, values = _longest(result)
        if values is None or len(values) < 2:
            break
        totals.setdefault(path, len(values))
        keep = len(values) // 2
        del values[keep:]
        result["shortened"] = {
            name: {"kept": len(_at(result, name)), "total": total} for name, total in totals.items()
        }
    return result


def _size(data: Json) -> int:
    return len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode())


def _clipped(value: Json) -> Json:
    """Return a value with every text of at most so many characters."""
    if isinstance(value, str):
        return value if len(value) <= _CLIP_CHARS else value[: _CLIP_CHARS - 1] + "…"
    if isinstance(value, list):
        return [_clipped(item) for item in value]
    if isinstance(value, dict):
        return {key: _clipped(item) for key, item in value.items()}
    return value


def _longest(data: Json, path: str = "") -> tuple[str, list[Json] | None]:
    """Return the list that takes most bytes, with its dotted path."""
    best: tuple[int, str, list[Json] | None] = (0, "", None)
    stack: list[tuple[str, Json]] = [(path, data)]
    while stack:
        name, value = stack.pop()
        if isinstance(value, dict):
            pairs = [
                (f"{name}.{k}" if name else k, v) for k, v in value.items() if k != "shortened"
            ]
            stack.extend(pairs)
        elif isinstance(value, list):
            stack.extend((f"{name}[{i}]", v) for i, v in enumerate(value))
            if len(value) > 1 and (_size(value), name) > best[:2]:
                best = (_size(value), name, value)
    return best[1], best[2]


def _at(data: Json, path: str) -> list[Json]:
    value: Json = data
    for step in path.replace("[", ".[").split("."):
        if step.startswith("["):
            index = int(step[1:-1])
            value = value[index] if isinstance(value, list) and index < len(value) else []
        elif isinstance(value, dict):
            value = value.get(step, [])
    return value if isinstance(value, list) else []


def _prefix(text: str, max_bytes: int) -> str:
    """Return the longest start of `text` that fits; at least one character, so reading goes on."""
    raw = text.encode("utf-8", "surrogatepass")[: max(max_bytes, 4)]
    return raw.decode("utf-8", "ignore") or text[:1]

"""Plain text and code: mapped in one pass, read in windows of lines (F6).

Lines end with LF, CRLF or CR and with nothing else; a last line without an end counts when it is
not empty. The file is streamed, never loaded whole, so its size does not matter to memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from backshop.base import limits as numbers

from ..diff.line_diff import TextDiff, diff_lines
from ..errors import fail
from ..protocol import ChunkInfo, Json, JsonObject, Map, Passage, Read, Selector, Source
from ..warning import Warn, Warnings
from ..window import (
    check_chunk,
    check_selector,
    chunk_count,
    chunk_list,
    chunking,
    cut,
    refuse_both,
)
from . import structure
from .dialect import tabular
from .edit import edit_text, replace_text, write_text
from .encoding import UTF8, Encoding, detect, open_text
from .selection import compose, relocate, require_place, separate

CHUNK = numbers.TEXT_CHUNK_LINES

__all__ = [
    "compose",
    "edit_text",
    "extract_lines",
    "get_info",
    "get_map",
    "passages",
    "read",
    "relocate",
    "replace_text",
    "require_place",
    "separate",
    "text_diff",
    "write_text",
]


@dataclass(frozen=True, slots=True)
class Shape:
    """What one pass over the lines finds out."""

    line_count: int
    char_count: int
    longest_line: int
    newline: str


def get_info(source: Source) -> JsonObject:
    """Return line count and encoding."""
    encoding = detect(source)
    return {"line_count": measure(source, encoding).line_count, "encoding": encoding.name}


def get_map(source: Source) -> Map:
    """Return encoding, size in lines, chunks and, for endings that have one, the outline."""
    encoding = detect(source)
    shape = measure(source, encoding)
    count = chunk_count(shape.line_count, CHUNK)
    data: dict[str, Json] = {
        "encoding": encoding.name,
        "encoding_confidence": encoding.confidence,
        "newline": shape.newline,
        "line_count": shape.line_count,
        "char_count": shape.char_count,
        "chunking": chunking("lines", CHUNK, count, 1),
        "chunks": chunk_list([{"lines": _span(i, shape.line_count)} for i in range(count)]),
        "structure": _structure(source, encoding),
        "longest_line": shape.longest_line,
    }
    if source.extension == ".txt":
        guess = tabular(source, encoding)
        if guess is not None:
            data["tabular_guess"] = {"delimiter": guess[0], "confidence": guess[1]}
    return Map(format="text", data=data, warnings=guess_warning(encoding))


def read(source: Source, selector: Selector, *, line_numbers: bool = False) -> Read:
    """Return lines: a chunk, a window, or everything when it is small (F5.5, F6.5)."""
    check_selector(selector, "text", ("line_start", "line_count"))
    refuse_both(selector, "line_start", "line_count")
    encoding = detect(source)
    total = measure(source, encoding).line_count
    start, count, chunked = _window(source, selector, total)
    lines: Iterable[str] = islice(iter_lines(source, encoding), start - 1, start - 1 + count)
    if line_numbers:
        lines = (f"{number}\t{line}" for number, line in enumerate(lines, start))
    piece = cut(lines, char_offset=selector.char_offset or 0)
    warnings = Warnings(guess_warning(encoding))
    following: Selector | None = None
    after = start + piece.units
    if not piece.complete:
        warnings.add("truncated_to_fit")
        rest = count - piece.units
        following = Selector(line_start=after, line_count=rest, char_offset=piece.char_offset)
    elif after <= total:
        following = (
            Selector(chunk_index=(after - 1) // CHUNK)
            if chunked
            else Selector(line_start=after, line_count=count)
        )
    end = after - 1 if piece.char_offset is None else after
    return Read(
        format="text",
        text=piece.text,
        selector=selector,
        chunk_info=ChunkInfo(
            chunk_index=(start - 1) // CHUNK,
            total_chunks=max(1, chunk_count(total, CHUNK)),
            next=following,
            span={"lines": f"{start}-{end}"} if total else {},
        ),
        warnings=warnings.all(),
    )


def extract_lines(source: Source) -> list[str]:
    """Return the lines without their ends (F29.1)."""
    return list(iter_lines(source, detect(source)))


def passages(source: Source) -> Iterator[Passage]:
    """Yield the lines with their numbers (F33.1)."""
    for number, line in enumerate(iter_lines(source, detect(source)), 1):
        yield Passage({"line_start": number}, line)


def text_diff(before: Source | None, after: Source | None) -> TextDiff:
    """Return what differs between two text files; None is a file that is not there (B12.3)."""
    old, new = _side(before), _side(after)
    diff = diff_lines(old.lines, new.lines)
    flags = []
    if before is not None and after is not None:
        if old.newline != new.newline and old.lines and new.lines:
            flags.append("eol_changed")
        if old.encoding.name != new.encoding.name:
            flags.append("encoding_changed")
        if bool(old.encoding.mark) != bool(new.encoding.mark):
            flags.append("bom_changed")
    if old.lines and not old.closed:
        flags.append("no_newline_old")
    if new.lines and not new.closed:
        flags.append("no_newline_new")
    return replace(diff, flags=tuple(flags))


@dataclass(frozen=True, slots=True)
class _Side:
    lines: list[str]
    encoding: Encoding
    newline: str
    closed: bool  # the last line has an end


def _side(source: Source | None) -> _Side:
    if source is None:
        return _Side([], UTF8, "lf", True)
    encoding = detect(source)
    with open_text(source, encoding) as file:
        lines = list(file)
    closed = bool(lines) and lines[-1].endswith(("\n", "\r"))
    newline = measure(source, encoding).newline
    return _Side([line.rstrip("\r\n") for line in lines], encoding, newline, closed)


def iter_lines(source: Source, encoding: Encoding) -> Iterator[str]:
    """Yield the lines of a file without their ends."""
    with open_text(source, encoding) as file:
        for line in file:
            yield line.rstrip("\r\n")


def measure(source: Source, encoding: Encoding, block_chars: int = numbers.MIB) -> Shape:
    """Count lines and characters and find out how lines end; large blocks at a time."""
    chars = longest = crlf = lf = cr = open_size = 0
    for block in _blocks(source, encoding, block_chars):
        chars += len(block)
        pairs = block.count("\r\n")
        crlf, lf, cr = (
            crlf + pairs,
            lf + block.count("\n") - pairs,
            cr + block.count("\r") - pairs,
        )
        if "\r" in block:
            block = block.replace("\r\n", "\n").replace("\r", "\n")
        first, *rest = map(len, block.split("\n"))
        longest = max(longest, open_size + first, *rest)
        open_size = rest[-1] if rest else open_size + first
    styles = [name for name, n in (("lf", lf), ("crlf", crlf), ("cr", cr)) if n]
    newline = styles[0] if len(styles) == 1 else "mixed" if styles else "lf"
    return Shape(crlf + lf + cr + bool(open_size), chars, longest, newline)


def _blocks(source: Source, encoding: Encoding, block_chars: int) -> Iterator[str]:
    """Yield the text in blocks that never part a CR from its LF."""
    held = ""
    with open_text(source, encoding) as file:
        while block := file.read(block_chars):
            block = held + block
            held = "\r" if block.endswith("\r") else ""
            yield block[:-1] if held else block
    if held:
        yield held


def guess_warning(encoding: Encoding) -> tuple[Warn, ...]:
    """Return the warning a guessed encoding deserves (F6.1)."""
    return (Warn("encoding_guessed", where=encoding.name),) if encoding.guessed else ()


def _window(source: Source, selector: Selector, total: int) -> tuple[int, int, bool]:
    """Return first line, number of lines, and whether the reader goes by chunks."""
    if selector.chunk_index is not None:
        check_chunk(selector.chunk_index, chunk_count(total, CHUNK))
        return selector.chunk_index * CHUNK + 1, CHUNK, True
    if selector.line_start is None and selector.line_count is None:
        whole = source.size_bytes <= numbers.READ_WHOLE_MAX_BYTES
        return 1, max(total, 1) if whole else CHUNK, True
    start = 1 if selector.line_start is None else selector.line_start
    count = CHUNK if selector.line_count is None else selector.line_count
    if start < 1 or count < 1 or (start > total and not (start == 1 and total == 0)):
        valid = f"1 to {total}" if total else "the file is empty"
        raise fail("bad_index", f"there are {total} lines, counted from 1", hints=(valid,))
    return start, min(count, max(total, 1)), False


def _span(index: int, total: int) -> str:
    return f"{index * CHUNK + 1}-{min((index + 1) * CHUNK, total)}"


def _structure(source: Source, encoding: Encoding) -> JsonObject | None:
    with open_text(source, encoding) as file:
        return structure.outline(source.extension, file)

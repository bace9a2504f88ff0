"""Changes of a text one by one: which runs of lines differ, and the text with some of them.

Lines are compared with their ends, in the bytes of the file's own encoding, and put together from
those bytes, so that a line nobody chose stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from backshop.base.place import Place

from ..diff.line_diff import MAX_BYTES, MAX_LINES
from ..diff.word_diff import Words
from ..errors import fail
from ..output import write_file
from ..place import require_fields
from ..protocol import Source
from ..selection.change_unit import ChangeUnit, Relocated, shortened, unit_id
from ..selection.relocation import Relocation
from ..selection.segment import Gap, Segment, gaps
from ..selection.whole_file import relocated_file, whole_file
from .encoding import UTF8, Encoding, detect, open_text

_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_WIDE_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_REPEATED = (
    "lines that stand here several times, or in another order, do not tell the changes apart"
)

Parted = list[tuple[ChangeUnit, Segment]]


@dataclass(frozen=True, slots=True)
class Side:
    """The lines of a file as its bytes, and how they become characters."""

    lines: list[bytes]
    encoding: Encoding

    def text(self, at: int) -> str:
        """Return a line without its end."""
        return self.lines[at].decode(self.encoding.name, "replace").rstrip("\r\n")

    def shown(self, places: range) -> str | None:
        """Return lines as a list of changes shows them, None where there are none."""
        return shortened("\n".join(map(self.text, places[:50]))) if len(places) else None


def separate(before: Source, after: Source) -> list[ChangeUnit]:
    """Return the runs of lines that differ, each of which can be taken or left by itself."""
    if before.sha256 == after.sha256:
        return []
    sides = two_sides(before, after)
    if isinstance(sides, str):
        return [whole_file(before, after, sides)]
    return [unit for unit, _ in _parted(*sides)]


def compose(before: Source, after: Source, left_out: frozenset[str], out: Path) -> None:
    """Write the text before with all changes but those left out."""
    sides = two_sides(before, after)
    if isinstance(sides, str):
        kept = before if whole_file(before, after, sides).id in left_out else after
        write_file(out, kept.path.read_bytes())
        return
    old, new = sides
    taken = [piece for unit, piece in _parted(old, new) if unit.id not in left_out]
    write_file(out, old.encoding.mark + b"".join(composed(old.lines, new.lines, taken)))


def composed(old: Sequence[bytes], new: Sequence[bytes], taken: list[Segment]) -> Iterator[bytes]:
    """Yield the old items with the new ones in the place of those that were changed."""
    at = 0
    for piece in taken:
        yield from old[at : piece.old_start]
        yield from new[piece.new_start : piece.new_end]
        at = piece.old_end
    yield from old[at:]


def two_sides(before: Source, after: Source) -> tuple[Side, Side] | str:
    """Return the lines of both, or why they cannot be compared."""
    if before.size_bytes + after.size_bytes > MAX_BYTES:
        return "the file is too large to tell its changes apart"
    data = [source.path.read_bytes() for source in (before, after)]
    encodings = [detect(source) for source in (before, after)]
    common = _common(data, encodings)
    if common is None:
        return "the file is written in another encoding"
    old, new = (Side(_lines(one, common), common) for one in data)
    if len(old.lines) + len(new.lines) > MAX_LINES:
        return "the file has too many lines to tell its changes apart"
    return old, new


def _common(data: list[bytes], encodings: list[Encoding]) -> Encoding | None:
    """Return the encoding both are read in; bytes below 128 alone are in every narrow one.

    A guess of another narrow encoding is no other encoding as long as one of them reads both.
    """
    old, new = encodings
    if not all(data):  # an empty file is in any encoding
        return new if data[1] else old
    if old.mark != new.mark or _is_wide(old) != _is_wide(new):
        return None
    if old.name == new.name:
        return old
    told = [one for one, bytes_ in zip(encodings, data, strict=True) if not bytes_.isascii()]
    if (UTF8 in told and len(told) > 1) or _is_wide(old):
        return None
    return next((one for one in told if all(_reads(one, bytes_) for bytes_ in data)), None)


def _reads(encoding: Encoding, data: bytes) -> bool:
    try:
        data.decode(encoding.name)
    except UnicodeDecodeError:
        return False
    return True


def _is_wide(encoding: Encoding) -> bool:
    return encoding.name.startswith(("utf-16", "utf-32"))


def _lines(data: bytes, encoding: Encoding) -> list[bytes]:
    body = data[len(encoding.mark) :] if data.startswith(encoding.mark) else data
    if not _is_wide(encoding):
        return _LINES.findall(body)
    return [one.encode(encoding.name) for one in _WIDE_LINES.findall(body.decode(encoding.name))]


def _parted(old: Side, new: Side) -> Parted:
    found: Parted = []
    for gap in gaps(old.lines, new.lines):
        pieces = list(_pieces(old, new, gap))
        shared = set(old.lines[gap.segment.old_start : gap.segment.old_end])
        tangled = len(pieces) == 1 and not shared.isdisjoint(
            new.lines[gap.segment.new_start : gap.segment.new_end]
        )
        for piece in pieces:
            found.append((_unit(old, new, piece, _REPEATED if tangled else None), piece))
    return found


def _pieces(old: Side, new: Side, gap: Gap) -> Iterator[Segment]:
    """Yield the changes of a gap: runs between pairs that are equal, alike lines one by one."""
    piece = gap.segment
    if not piece.is_even or not gap.is_fresh:
        yield piece
        return
    run: list[tuple[int, int]] = []
    for i, j in [*zip(piece.old, piece.new, strict=True), (-1, -1)]:
        if i >= 0 and old.lines[i] != new.lines[j]:
            run.append((i, j))
        elif run:
            yield from _run(old, new, run)
            run = []


def _run(old: Side, new: Side, run: list[tuple[int, int]]) -> Iterator[Segment]:
    inner = [side.lines[at] for pair in run[:-1] for side, at in zip((old, new), pair, strict=True)]
    joins = any(not line.endswith((b"\n", b"\n\0", b"\n\0\0\0")) for line in inner)
    alike = all(Words.of(old.text(i)).is_like(Words.of(new.text(j))) for i, j in run)
    if joins or not alike:
        yield _joined(run)
        return
    ends: list[tuple[int, int]] = []  # lines in which nothing but the end differs stay together
    for i, j in run:
        if old.text(i) == new.text(j):
            ends.append((i, j))
            continue
        if ends:
            yield _joined(ends)
        yield Segment(i, i + 1, j, j + 1)
        ends = []
    if ends:
        yield _joined(ends)


def _joined(run: list[tuple[int, int]]) -> Segment:
    return Segment(run[0][0], run[-1][0] + 1, run[0][1], run[-1][1] + 1)


def _unit(old: Side, new: Side, piece: Segment, tied: str | None) -> ChangeUnit:
    sides = (old.lines[piece.old_start : piece.old_end], new.lines[piece.new_start : piece.new_end])
    is_gone = not len(piece.new)
    counted = piece.old if is_gone else piece.new
    first, last = counted[0] + 1, counted[-1] + 1
    label = f"line {first}" if first == last else f"lines {first}–{last}"
    return ChangeUnit(
        id=unit_id("lines", piece.old_start, *sides),
        kind="lines",
        group="text",
        label=f"{label} (removed)" if is_gone else label,
        place=None if is_gone else Place(line_start=first, line_end=last),
        before=old.shown(piece.old),
        after=new.shown(piece.new),
        tied=tied,
    )


# --- places --------------------------------------------------------------------------------------


def require_place(source: Source, place: Place) -> Place:
    """Return a place of a text as it is counted; words alone mean the one line that has them.

    Raises:
        FormatError: `bad_selector`, `bad_index`, `no_match` or `ambiguous_match`.
    """
    return _placed_in(_texts(source), place)


def relocate(before: Source, after: Source, places: Sequence[Place]) -> list[Relocated]:
    """Return where lines of one version of a text are in another."""
    old, new = _texts(before), _texts(after)
    words = Words.of
    lines = Relocation(old, new, lambda i, j: words(old[i]).is_like(words(new[j])), MAX_LINES)
    return [
        relocated_file(before, after)
        if place.is_file
        else _relocated(lines, new, _placed_in(old, place))
        for place in places
    ]


def _relocated(lines: Relocation, new: Sequence[str], place: Place) -> Relocated:
    """Return where lines are; words that are no longer in them are not looked for elsewhere."""
    assert place.line_start is not None
    assert place.line_end is not None
    span, is_touched = lines.span(place.line_start - 1, place.line_end)
    if span is None:
        return Relocated(place=None, is_touched=True)
    now = replace(place, line_start=span[0] + 1, line_end=span[1])
    if place.words is not None and place.words not in "\n".join(new[slice(*span)]):
        return Relocated(place=replace(now, words=None), is_touched=True)
    return Relocated(place=now, is_touched=is_touched)


def _placed_in(lines: Sequence[str], place: Place) -> Place:
    """Return a place of lines with its first and last line; words are among them."""
    require_fields(place, "text", ("line_start", "line_end", "words"))
    if place.is_file:
        return place
    if place.line_start is None:
        if place.words is None:
            raise fail("bad_selector", "line_end asks for line_start")
        having = [at for at, line in enumerate(lines, 1) if place.words in line]
        if len(having) != 1:
            reason = "ambiguous_match" if having else "no_match"
            raise fail(reason, f"{len(having)} lines have these words")
        return Place(line_start=having[0], line_end=having[0], words=place.words)
    first = place.line_start
    last = first if place.line_end is None else place.line_end
    if not 1 <= first <= last <= len(lines):
        valid = f"1 to {len(lines)}" if lines else "the file is empty"
        raise fail("bad_index", f"there are {len(lines)} lines, counted from 1", hints=(valid,))
    if place.words is not None and place.words not in "\n".join(lines[first - 1 : last]):
        raise fail("no_match", "these words are not in the lines")
    return replace(place, line_end=last)


def _texts(source: Source) -> list[str]:
    encoding = detect(source)
    with open_text(source, encoding) as file:
        return [line.rstrip("\r\n") for line in file]

"""Places in documents made of blocks: whether there is such a place, and where it went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

from backshop.base.place import FILE, Place

from ..errors import FormatError, fail
from .block_alignment import Step, align
from .change_unit import Relocated

_OWN = frozenset({"paragraph", "paragraph_end", "table_row", "table_column", "words"})
_HINTS = 3

LookOf = Callable[[int, str], object]  # how words of a block look; the same where nobody knows


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the grid; one that a merge covers is the one that shows there."""

    text: str
    print: str
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, compared as a block is."""

    print: str
    text: str
    cells: tuple[Cell, ...]
    type: str = "row"
    ident: str | None = None
    is_blank: bool = False
    shape: str | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """A block: a paragraph, or a table with its rows."""

    type: str  # p, t
    print: str
    text: str
    rows: tuple[Row, ...] = ()
    ident: str | None = None
    is_blank: bool = False
    shape: str | None = None


def require(spots: Sequence[Spot], place: Place) -> Place:
    """Return a place as the document has it.

    Raises:
        FormatError: `bad_selector`, `bad_range`, `no_match`, `ambiguous_match`.
    """
    given = {one.name for one in fields(place) if getattr(place, one.name) is not None}
    if place.is_file:
        return FILE
    if given - _OWN:
        raise fail("bad_selector", f"a document has no {sorted(given - _OWN)[0]}")
    if place.paragraph is None:
        if given != {"words"}:
            raise fail("bad_selector", "which paragraph is meant is not said")
        place = replace(place, paragraph=_only(spots, place.words or ""))
    first, last = place.paragraph or 0, place.paragraph_end
    if not 0 <= first <= (first if last is None else last) < len(spots):
        raise _out_of(spots)
    if last == first:
        place = replace(place, paragraph_end=None)
    place = _in_table(spots[first], place)
    if place.words is not None and place.words not in _text(spots, place):
        raise fail("no_match", "the words do not stand there")
    return place


def _only(spots: Sequence[Spot], words: str) -> int:
    found = [at for at, spot in enumerate(spots) if words and words in _shown(spot)]
    if not found:
        raise fail("no_match", "the words do not stand in the document")
    if len(found) > 1:
        said = [f"{len(found)} paragraphs", *map(str, found[:_HINTS])]
        raise fail("ambiguous_match", "the words stand in several paragraphs", hints=said)
    return found[0]


def _shown(spot: Spot) -> str:
    if spot.type != "t":
        return spot.text
    return "\n".join(cell.text for row in spot.rows for cell in row.cells)


def _out_of(spots: Sequence[Spot]) -> FormatError:
    hint = f"0-{len(spots) - 1}" if spots else "the document is empty"
    return fail("bad_range", "there are no such paragraphs", hints=(hint,))


def _in_table(spot: Spot, place: Place) -> Place:
    row, column = place.table_row, place.table_column
    if row is None and column is None:
        return place
    if row is None or place.paragraph_end is not None:
        raise fail("bad_selector", "a cell is named by its row and column in one table")
    if not 0 <= row < len(spot.rows):
        raise fail("bad_range", "there is no such row", hints=(f"0-{len(spot.rows) - 1}",))
    if column is None:
        return place
    cells = spot.rows[row].cells
    if not 0 <= column < len(cells):
        raise fail("bad_range", "there is no such column", hints=(f"0-{len(cells) - 1}",))
    return replace(place, table_row=cells[column].row, table_column=cells[column].column)


def _text(spots: Sequence[Spot], place: Place) -> str:
    first = place.paragraph or 0
    spot = spots[first]
    if place.table_row is None:
        last = first if place.paragraph_end is None else place.paragraph_end
        return "\n".join(map(_shown, spots[first : last + 1]))
    cells = spot.rows[place.table_row].cells
    chosen = cells if place.table_column is None else [cells[place.table_column]]
    return "\n".join(cell.text for cell in chosen)


# --- where places went -------------------------------------------------------------------------


class Relocation:
    """Two versions of a document, block by block, and where the blocks of the first one went."""

    def __init__(
        self, old: Sequence[Spot], new: Sequence[Spot], old_look: LookOf, new_look: LookOf
    ) -> None:
        self._old, self._new = old, new
        self._looks = old_look, new_look
        steps = align(old, new)
        self._went = {
            step.old: step.new for step in steps if step.old is not None and step.new is not None
        }
        self._move(steps)
        self._replace(steps)

    def _move(self, steps: Sequence[Step]) -> None:
        """Find blocks again that stand elsewhere: by what programs know them by, by their text."""
        come = [step.new for step in steps if step.old is None and step.new is not None]
        known: dict[str, list[int]] = {}
        for at in come:
            for key in _keys(self._new[at]):
                known.setdefault(key, []).append(at)
        taken: set[int] = set()
        for step in steps:
            if step.old is None or step.new is not None:
                continue
            for key in _keys(self._old[step.old]):
                found = known.get(key, [])
                if len(found) == 1 and found[0] not in taken:
                    self._went[step.old] = found[0]
                    taken.add(found[0])
                    break

    def _replace(self, steps: Sequence[Step]) -> None:
        """Send blocks that went to what came in their place."""
        gone: list[int] = []
        come: list[int] = []
        taken = set(self._went.values())
        for step in [*steps, Step(0, 0, 0)]:
            if step.old is not None and step.new is not None:
                for at, old in enumerate(gone):
                    if come:
                        self._went[old] = come[min(at, len(come) - 1)]
                gone, come = [], []
            elif step.old is not None and step.old not in self._went:
                gone.append(step.old)
            elif step.new is not None and step.new not in taken:
                come.append(step.new)

    def of(self, place: Place) -> Relocated:
        """Return where a place went; it is one that `require` gave for the first version."""
        first = place.paragraph or 0
        last = first if place.paragraph_end is None else place.paragraph_end
        went = [self._went[at] for at in range(first, last + 1) if at in self._went]
        if not went:
            return Relocated(place=None, is_touched=True)
        if place.table_row is not None:
            return self._cell(place, first, went[0])
        start, end = min(went), max(went)
        here = replace(place, paragraph=start, paragraph_end=end if end > start else None)
        prints = [one.print for one in self._old[first : last + 1]]
        is_touched = prints != [one.print for one in self._new[start : end + 1]]
        if place.words is None or not is_touched:
            return Relocated(place=here, is_touched=is_touched)
        return self._words(place, here, place.words)

    def _words(self, place: Place, here: Place, words: str) -> Relocated:
        if words not in _text(self._new, here):
            return Relocated(place=replace(here, words=None), is_touched=True)
        if place.paragraph_end is not None:
            return Relocated(place=here, is_touched=True)
        old, new = place.paragraph or 0, here.paragraph or 0
        is_same = self._looks[0](old, words) == self._looks[1](new, words)
        return Relocated(place=here, is_touched=not is_same)

    def _cell(self, place: Place, old_at: int, new_at: int) -> Relocated:
        old, new = self._old[old_at], self._new[new_at]
        assert place.table_row is not None
        steps = align(old.rows, new.rows)
        row = next((step.new for step in steps if step.old == place.table_row), None)
        if row is None:
            return Relocated(place=None, is_touched=True)
        here = replace(place, paragraph=new_at, table_row=row)
        before, after = old.rows[place.table_row], new.rows[row]
        if place.table_column is None:
            is_touched = before.print != after.print
        elif place.table_column >= len(after.cells):
            return Relocated(place=None, is_touched=True)
        else:
            cells = before.cells[place.table_column], after.cells[place.table_column]
            here = replace(here, table_row=cells[1].row, table_column=cells[1].column)
            is_touched = cells[0].print != cells[1].print
        if place.words is None or not is_touched:
            return Relocated(place=here, is_touched=is_touched)
        is_there = place.words in _text(self._new, here)
        return Relocated(place=here if is_there else replace(here, words=None), is_touched=True)


def _keys(spot: Spot) -> list[str]:
    known = [f"id {spot.ident}"] if spot.ident is not None else []
    return [*known, f"{spot.type} {spot.text}"] if spot.text.strip() else known


def relocate(
    old: Sequence[Spot],
    new: Sequence[Spot],
    places: Sequence[Place],
    looks: tuple[LookOf, LookOf],
    *,
    is_same_file: bool,
) -> list[Relocated]:
    """Return where each place of the first version is in the second.

    Raises:
        FormatError: as `require`, where the first version has no such place.
    """
    required = [require(old, place) for place in places]
    went = Relocation(old, new, *looks)
    return [
        Relocated(place=FILE, is_touched=not is_same_file) if one.is_file else went.of(one)
        for one in required
    ]

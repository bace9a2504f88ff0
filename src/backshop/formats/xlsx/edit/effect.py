"""What a write really changed, from comparing the package before with the package after (F16.13).

Nothing here knows the operations: cells, rows, columns, merges and every other part are compared,
and only then is each difference held against what the operations named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import get_args

from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.package import (
    CONTENT_TYPES,
    Package,
    canonical,
    canonical_element,
)
from backshop.formats.protocol import Effect, Effects

from ..annotation.link import LINKS, Link, links_of
from ..annotation.note import Note, notes_in, notes_of
from ..book.row_sign import signs
from ..book.sheet_xml import RowSpan, SheetXml, attributes
from ..book.workbook import Book, Sheet, Table, Value, child, children, local, truth
from ..calculation.moved_reference import Move, follows
from ..calculation.uncache import lost_results
from ..drawing.drawing_part import CHART, PICTURE, Drawn, anchor_bytes, drawn_on
from ..drawing.listing import told
from ..drawing.pairing import Pairs, paired
from ..lines.line_move import LineMove
from ..rule.difference import compare_rules, strip
from ..rule.entry import RuleKind
from ..rule.listing import CALLED
from ..rule.words import RuleWords
from ..syntax.address import WHOLE, Area, cell_name, column_name, parse_area, parse_cell
from ..syntax.line_shift import LineShift
from .session import REMOVED, Arranged, PartCheck, SheetTwin, Target
from .table_growth import extend

_STYLE_TABLES = frozenset(
    (
        *("numFmts", "fonts", "fills", "borders", "cellStyleXfs", "cellXfs", "cellStyles"),
        "dxfs",
    )
)
_REST_FROM_BYTES = 4096
_LINES_TOLD = 1000  # one by one
_REST_TRIES = 16
_DRAWN = re.compile(r"(?i)drawing|^image/")  # content types
_TOLD_CHARS = 80  # of a formula, and of a value
_NO_RESULT = "(not computed)"
_RULES = {"conditional format": "conditionalFormatting", "validation": "dataValidations"}
_ASPECTS = {"sheetViews": "view", "autoFilter": "filter"}
_ATTACHED = ("note", "link")
_BUILT_IN = "_xlnm."

Held = tuple[object, str | None, int, str]
"""What a cell holds: its content, its formula, the number of its style, and how it reads."""


@dataclass(frozen=True)
class Expected:
    """What may differ without being collateral."""

    targets: Sequence[Target]
    moves: Sequence[Move]
    recalculated: dict[str, set[tuple[int, int]]]
    structural: bool
    grown: dict[str, int] = field(default_factory=dict)  # tables by part: the row each ends in now
    made: Collection[str] = ()  # parts that operations added or took out
    parts: Mapping[str, PartCheck] = field(default_factory=dict)  # parts they changed
    arranged: Mapping[str, Sequence[Arranged]] = field(default_factory=dict)  # by sheet
    addresses: Collection[str] = ()  # of links that operations added or took out
    twins: Mapping[str, SheetTwin] = field(default_factory=dict)  # by part: copies of sheets
    stand_ins: Mapping[str, str] = field(default_factory=dict)  # by cell: errors stored as another
    is_new: bool = False  # the workbook was blank: its first sheet is no renamed one


def report(old: Book, new: Book, expected: Expected) -> Effects:
    """Compare two workbooks and sort the differences; `new` is the changed package of `old`."""
    comparison = _Comparison(old, new, expected)
    changed = comparison.run()
    derived = [effect for effect in changed if comparison.is_recalculated(effect)]
    return Effects.compare(
        targets=[str(target) for target in expected.targets],
        changed=changed,
        aimed_at=comparison.aimed_at,
        recalculated=derived,
    )


class _Comparison:
    def __init__(self, old: Book, new: Book, expected: Expected) -> None:
        self.before, self.after, self.expected = old.package, new.package, expected
        self.old, self.new = old, new
        self.explained: set[str] = set()
        self.single: dict[str, set[str]] = {}  # named cells by place: there may be thousands
        self.wide: list[tuple[Target, Area]] = []
        for target in expected.targets:
            if target.area is not None and target.area.count == 1:
                place = f"{target.sheet}!{target.area}"
                self.single.setdefault(place, set()).update(target.aspects)
            elif target.area is not None:
                self.wide.append((target, target.area))
        self.aspects: dict[str, set[str]] = {}  # by sheet: what operations were about
        for target in expected.targets:
            self.aspects.setdefault(target.sheet, set()).update(target.aspects)

    @cached_property
    def _words(self) -> tuple[RuleWords, RuleWords]:
        """How rules are told in both workbooks."""
        one, two = (
            RuleWords(children(child(book.styles_root, "dxfs"), "dxf"))
            for book in (self.old, self.new)
        )
        return one, two

    def run(self) -> list[Effect]:
        """Return every difference, sheets first, parts last."""
        names = set(self.after.changed_parts)
        found: list[Effect] = []
        olds = {sheet.part: sheet for sheet in self.old.sheets if sheet.part}
        news = {sheet.part: sheet for sheet in self.new.sheets if sheet.part}
        are_drawn = self._are_drawn(names)
        for part, sheet in news.items():
            if part not in olds:
                found.append(Effect(kind="sheet", where=sheet.name, aspect="added"))
            elif olds[part].name != sheet.name:
                aspect = "added" if self.expected.is_new else "renamed"
                found.append(Effect(kind="sheet", where=sheet.name, aspect=aspect))
            if part in olds and olds[part].state != sheet.state:
                is_now = "shown" if sheet.state == "visible" else "hidden"
                found.append(Effect(kind="sheet", where=sheet.name, aspect="state", now=is_now))
            drawn = self._drawings(olds.get(part), sheet) if are_drawn else []
            tables = self._tables(olds.get(part), sheet, names)
            told = {"drawing": drawn, "tableParts": tables}
            if part in names and sheet.kind == "worksheet":
                cells = self._sheet(olds.get(part), sheet)
                found.extend(one for one in cells if not told.get(one.aspect))
                self.explained.add(part)
            found.extend([*tables, *drawn, *self._notes(olds.get(part), sheet)])
        for part, sheet in olds.items():
            if part not in news:
                found.append(Effect(kind="sheet", where=sheet.name, aspect="removed"))
        found.extend(self._order([*olds], [*news]))
        found.extend(self._names())
        found.extend(self._lines({part: sheet.name for part, sheet in news.items()}))
        for name in sorted(names):
            found.append(self._part(name))
        return found

    def _order(self, olds: list[str], news: list[str]) -> Iterator[Effect]:
        """Tell the sheets that stand elsewhere among the others, those first that were to."""
        names = {sheet.part: sheet.name for sheet in self.new.sheets}
        meant = {t.sheet for t in self.expected.targets if "order" in t.aspects}
        sides = [[one for one in side if one in olds and one in news] for side in (olds, news)]
        if sides[0] == sides[1]:
            return
        asked = [one for one in sides[1] if names[one] in meant]
        rest = [[one for one in side if one not in asked] for side in sides]
        moved = asked if rest[0] == rest[1] else sides[1]
        yield from (Effect(kind="sheet", where=names[one], aspect="order") for one in moved)

    # --- cells ---------------------------------------------------------------------------------

    def _sheet(self, old: Sheet | None, new: Sheet) -> Iterator[Effect]:
        after = self.new.xml(new)
        before = self.old.xml(old) if old is not None else None
        twin = self.expected.twins.get(new.part or "") if old is None else None
        if twin is not None:
            before = SheetXml(twin.rewrite(twin.source), new.part or "")
        if before is not None and self.expected.moves:
            before = SheetXml(self._moved(before.part, before.data[:]), before.part)
        if after is None:
            return
        known = self._carried(new.name, before, after)
        for first, second in differing_rows(before, after):
            number = second.number if second else first.number if first else 0
            skip = known.columns.get(number, ())
            yield from self._row(new.name, before, after, first, second, skip)
        for area in known.areas:
            yield Effect(kind="rows", where=f"{new.name}!{area}", aspect="order")
        links = list(self._links(old, new, before, after))
        boxes = "note" in self.aspects.get(new.name, ())
        for one in _frames(new.name, before, after, self._words):
            is_told = (links and one.aspect == LINKS) or (boxes and one.aspect == "legacyDrawing")
            if not is_told:
                yield one
        yield from links

    def _row(
        self,
        name: str,
        before: SheetXml | None,
        after: SheetXml,
        first: RowSpan | None,
        second: RowSpan | None,
        skip: Collection[int] = (),
    ) -> Iterator[Effect]:
        row = first or second
        assert row is not None, "a pair has at least one side"
        if skip and _is_within(before, first, skip) and _is_within(after, second, skip):
            yield from self._tags(name, before, after, first, second)
            return
        lost = lost_results(before, first, after, second) if before and first and second else None
        if lost is not None:  # thousands of rows may differ in nothing else
            places = (f"{name}!{cell_name(row.number, col)}" for col in lost)
            yield from (Effect(kind="cell", where=place, now=_NO_RESULT) for place in places)
            return
        old = self._cells(self.old, before, first)
        new = self._cells(self.new, after, second)
        for col in sorted((old.keys() | new.keys()).difference(skip)):
            where = f"{name}!{cell_name(row.number, col)}"
            is_now = new.get(col, _NOTHING)
            aspects = _differences(old.get(col, _NOTHING), is_now)
            error = self.expected.stand_ins.get(where)
            now = _told(is_now, error) if aspects and aspects != ["style"] else ""
            for aspect in aspects:
                yield Effect(kind="cell", where=where, aspect=aspect, now=now)
        yield from self._tags(name, before, after, first, second)

    def _tags(
        self,
        name: str,
        before: SheetXml | None,
        after: SheetXml,
        first: RowSpan | None,
        second: RowSpan | None,
    ) -> Iterator[Effect]:
        row = first or second
        if row is None:
            return
        was, is_now = _tag(before, first), _tag(after, second)
        if was != is_now:
            now = _turned(*(tag.get(b"hidden", b"").decode() for tag in (was, is_now)))
            where = f"{name}!{row.number}:{row.number}"
            yield Effect(kind="row", where=where, aspect="structure", now=now)

    def _carried(self, name: str, before: SheetXml | None, after: SheetXml) -> _Carried:
        """Find the rows that stand elsewhere now, among those that were to change places."""
        found = _Carried([], {})
        for one in self.expected.arranged.get(name, ()) if before else ():
            assert before is not None, "it was asked for"
            area = one.area
            sides = signs((self.old, before), (self.new, after), name, area)
            was = {row.number: sides[0].of(row, one.fixed) for row in _rows(before, area)}
            left = Counter(was.values())
            moved = False
            for row in _rows(after, area):
                sign = sides[1].of(row, one.fixed)
                if left[sign] > 0:
                    left[sign] -= 1
                    moved = moved or was.get(row.number) != sign
                    columns = range(area.col1, area.col2 + 1)
                    fixed = one.fixed
                    known = frozenset(columns) - fixed if fixed else columns
                    found.columns[row.number] = known
            found.areas.extend([area] if moved else [])
        return found

    # --- notes, links, names -------------------------------------------------------------------

    def _links(
        self, old: Sheet | None, new: Sheet, before: SheetXml | None, after: SheetXml
    ) -> Iterator[Effect]:
        """Tell the links that came, changed or went, where operations were about some."""
        if old is None or before is None or "link" not in self.aspects.get(new.name, ()):
            return
        sides = (
            {str(one.area): one for one in links_of(self.before, old.part, before.frame())},
            {str(one.area): one for one in links_of(self.after, new.part, after.frame())},
        )
        for place in sorted({*sides[0], *sides[1]}):
            yield from _attached("link", f"{new.name}!{place}", *(one.get(place) for one in sides))

    def _notes(self, old: Sheet | None, new: Sheet) -> Iterator[Effect]:
        """Tell the notes that came, changed or went, where operations were about some."""
        if old is None or "note" not in self.aspects.get(new.name, ()):
            return
        parts = self.old.sheet_rels(old, "comments")
        trees = (parse_xml(self._moved(part, self.before.read(part))) for part in parts)
        before = {note.place: note for tree in trees for note in notes_in(tree)}
        after = notes_of(self.new, new)
        for place in sorted({*before, *after}):
            where = f"{new.name}!{cell_name(*place)}"
            yield from _attached("note", where, before.get(place), after.get(place))

    def _names(self) -> Iterator[Effect]:
        """Tell the names that came, changed or went, where operations were about some."""
        if not any("name" in target.aspects for target in self.expected.targets):
            return
        was = Book(_with(self.before, self.old.part, self._moved)).names
        scopes = [
            {sheet.index: sheet.name for sheet in book.sheets} for book in (self.old, self.new)
        ]
        sides = [
            {
                (known.get(one.scope, "") if one.scope is not None else "", one.name): one
                for one in names
                if not one.name.lower().startswith(_BUILT_IN)
            }
            for names, known in zip((was, self.new.names), scopes, strict=True)
        ]
        for key in sorted({*sides[0], *sides[1]}):
            old, new = (side.get(key) for side in sides)
            if old == new:
                continue
            aspect = "added" if old is None else "removed" if new is None else "changed"
            where = f"{key[0]}!{key[1]}" if key[0] else key[1]
            now = "" if new is None else _short(new.refers_to)
            yield Effect(kind="name", where=where, aspect=aspect, now=now)

    def _cells(self, book: Book, xml: SheetXml | None, row: RowSpan | None) -> dict[int, Held]:
        if xml is None or row is None:
            return {}
        found = ((cell, book.value(cell)) for cell in xml.cells(row))
        return {
            cell.col: (_content(value), book.formula(cell, xml), cell.style, value.text)
            for cell, value in found
        }

    def _moved(self, part: str, data: bytes) -> bytes:
        """Return a part as it must look after all that moved in this call."""
        for move in self.expected.moves:
            data, _ = move.rewrite(part, data)
        return data

    def _lines(self, names: Mapping[str, str]) -> Iterator[Effect]:
        """Go through the lines that came and are there, and those that went, as they stood."""
        for at, move in enumerate(self.expected.moves):
            if not isinstance(move, LineMove) or move.part not in names:
                continue
            spans = [(move.shift.at, move.shift.last)]
            if move.shift.by > 0:
                spans = _later(spans, move, self.expected.moves[at + 1 :])
            aspect = "inserted" if move.shift.by > 0 else REMOVED
            for first, last in spans:
                for where in _line_names(move.shift, first, last):
                    place = f"{names[move.part]}!{where}"
                    yield Effect(kind=move.shift.axis, where=place, aspect=aspect)

    # --- tables --------------------------------------------------------------------------------

    def _tables(self, old: Sheet | None, new: Sheet, names: Collection[str]) -> list[Effect]:
        """Return the named tables of a sheet that came, went or changed beyond what follows."""
        before = {table.part: table for table in self.old.tables(old)} if old else {}
        after = {table.part: table for table in self.new.tables(new)}
        gone = [table for part, table in before.items() if part not in after]
        told = [(table, REMOVED) for table in gone if not self._went_with_lines(table)]
        for part, table in after.items() if old else ():
            if part not in before:
                told.append((table, "added"))
            elif part in names and self._is_other_table(part):
                told.append((table, "changed"))
        return [
            Effect(
                kind="table",
                where=f"{new.name}!{table.name}",
                aspect=aspect,
                now="" if aspect == REMOVED else str(table.area),
            )
            for table, aspect in told
        ]

    def _went_with_lines(self, table: Table) -> bool:
        """Whether rows or columns were deleted that held all of it."""
        moves = self.expected.moves
        return any(isinstance(one, LineMove) and table.part in one.gone.values() for one in moves)

    def _is_other_table(self, part: str) -> bool:
        before = self._moved(part, self.before.read(part))
        last_row = self.expected.grown.get(part)
        return _table_key(before, last_row) != _table_key(self.after.read(part))

    # --- charts and pictures -------------------------------------------------------------------

    def _are_drawn(self, names: Collection[str]) -> bool:
        """Whether something changed that charts and pictures are made of."""
        sheets = {sheet.part for book in (self.old, self.new) for sheet in book.sheets}
        others = set(names) - sheets - {self.old.part, self.new.part}
        packages = (self.before, self.after)
        types = (package.content_type(one) for one in others for package in packages)
        return any(_DRAWN.search(one or "") for one in types)

    def _drawings(self, old: Sheet | None, new: Sheet) -> list[Effect]:
        """Return the charts and pictures of a sheet that came, went or changed."""
        before = drawn_on(self.old, old) if old is not None else []
        pairs = paired(before, drawn_on(self.new, new))
        return [
            Effect(
                kind=one.sort,
                where=f"{new.name}!{one.called}",
                aspect=aspect,
                now="" if aspect == "removed" else told(self.new, one),
            )
            for one, aspect in self._told_drawings(pairs)
        ]

    def _told_drawings(self, pairs: Pairs) -> Iterator[tuple[Drawn, str]]:
        for was, now in pairs:
            if was is None and now is not None:
                yield now, "added"
            elif now is None and was is not None:
                yield was, "removed"
            elif was is not None and now is not None and self._differs(was, now):
                yield now, "changed"

    def _differs(self, was: Drawn, now: Drawn) -> bool:
        drawings = (
            self._moved(was.drawing, self.before.read(was.drawing)),
            self.after.read(now.drawing),
        )
        before, after = anchor_bytes(drawings[0], was), anchor_bytes(drawings[1], now)
        if before != after or was.part is None or now.part is None:
            return before != after or was.part != now.part
        return self._moved(was.part, self.before.read(was.part)) != self.after.read(now.part)

    # --- parts ---------------------------------------------------------------------------------

    def _part(self, name: str) -> Effect:
        if name not in self.after:
            aspect = "removed"
        elif self.before.find(name) is None:
            aspect = "added"
        else:
            aspect = "content"
        if name not in self.explained and self._is_explained(name, aspect):
            self.explained.add(name)
        return Effect(kind="part", where=name, aspect=aspect)

    def _is_explained(self, name: str, aspect: str) -> bool:
        if name == self.old.related("calcChain"):
            return aspect == "removed"
        if aspect != "content":
            ours = (self.new.related("styles"), self.new.related("sheetMetadata"))
            return self.expected.structural or name in ours or name in self.expected.made
        if name == CONTENT_TYPES or name.endswith(".rels"):
            return self._is_bookkeeping(name)
        before, after = self._moved(name, self.before.read(name)), self.after.read(name)
        if name in self.expected.parts:
            return self.expected.parts[name](before, after)
        if name == self.new.part:
            return self._workbook_explained(before, after)
        if name == self.new.related("styles"):
            return only_appended(parse_xml(before), parse_xml(after))
        if name == self.new.related("sheetMetadata"):
            return _entries(before) <= _entries(after)
        if follows(name) and self.expected.moves and before == after:
            return True
        is_table = local(parse_xml(after)) == "table"
        last_row = self.expected.grown.get(name)
        return is_table and _table_key(before, last_row) == _table_key(after)

    def _is_bookkeeping(self, name: str) -> bool:
        """Whether only lines about parts that came or went differ."""
        moved = {part for part in self.after.changed_parts if self._comes_or_goes(part)}
        files = {part.rpartition("/")[2] for part in moved}
        endings = {part.rpartition(".")[2].lower() for part in moved}
        old, new = _lines(self.before.read(name)), _lines(self.after.read(name))
        return all(
            (line in new and line.lower() in endings)
            or line in self.expected.addresses
            or any(line.rstrip("/").endswith(file) for file in files)
            for line in old ^ new
        )

    def _comes_or_goes(self, part: str) -> bool:
        return (part in self.after) != (self.before.find(part) is not None)

    def _workbook_explained(self, before: bytes, after: bytes) -> bool:
        masked = {"calcPr"}
        if self.expected.structural:
            masked |= {"sheets", "definedNames", "bookViews"}
        if any({"filter", "name"} & target.aspects for target in self.expected.targets):
            masked.add("definedNames")
        return _masked(before, masked) == _masked(after, masked)

    # --- sorting -------------------------------------------------------------------------------

    def is_recalculated(self, effect: Effect) -> bool:
        """Whether a difference is the new result of an unchanged formula."""
        if effect.kind != "cell" or effect.aspect != "value":
            return False
        sheet, _, cell = effect.where.rpartition("!")
        place = parse_cell(cell)
        return place is not None and place in self.expected.recalculated.get(sheet, ())

    def aimed_at(self, effect: Effect) -> bool:
        """Whether a difference lies inside what the operations named."""
        if effect.kind == "part":
            return effect.where in self.explained
        if effect.kind in (CHART, PICTURE, "table"):
            wanted = {effect.aspect, "added"} if effect.aspect == "changed" else {effect.aspect}
            return any(  # one that took the place of another counts as changed
                target.thing and str(target) == effect.where and wanted & target.aspects
                for target in self.expected.targets
            )
        if effect.kind == "sheet":
            return any(
                target.area is None
                and target.sheet == effect.where
                and (
                    effect.aspect in {"added", "removed", "renamed"}
                    or effect.aspect in target.aspects
                )
                for target in self.expected.targets
            )
        if effect.kind in _RULES:
            sheet, _, cells = effect.where.rpartition("!")
            return any(
                target.area is None
                and target.sheet == sheet
                and _RULES[effect.kind] in target.aspects
                and target.thing in ("", cells)
                for target in self.expected.targets
            )
        if effect.kind == "name":
            named = (one for one in self.expected.targets if "name" in one.aspects)
            return any(str(target) == effect.where for target in named)
        if effect.kind in _ATTACHED:
            return self._is_attached(effect)
        if effect.kind == "rows":
            return True  # it is told only of ranges that operations named
        if effect.aspect in self.single.get(effect.where, ()):
            return True
        sheet, _, cells = effect.where.rpartition("!")
        area = parse_area(cells)
        return area is not None and any(
            target.sheet == sheet and effect.aspect in target.aspects and whole.clip(area) == area
            for target, whole in self.wide
        )

    def _is_attached(self, effect: Effect) -> bool:
        """Whether operations named the cells of a note or a link, or all links of a sheet."""
        sheet, _, cells = effect.where.rpartition("!")
        area = parse_area(cells)
        return any(
            target.sheet == sheet
            and (
                (effect.kind == "link" and LINKS in target.aspects)
                or (
                    effect.kind in target.aspects
                    and area is not None
                    and target.area is not None
                    and target.area.clip(area) == area
                )
            )
            for target in self.expected.targets
        )


@dataclass(frozen=True, slots=True)
class _Carried:
    """Ranges whose rows stand in another order, and by row the columns that this explains."""

    areas: list[Area]
    columns: dict[int, Collection[int]]


def _rows(xml: SheetXml, area: Area) -> Iterator[RowSpan]:
    return (row for row in xml.iter_rows() if area.row1 <= row.number <= area.row2)


def _is_within(xml: SheetXml | None, row: RowSpan | None, columns: Collection[int]) -> bool:
    """Whether all cells of a row lie in these columns; False where that takes a closer look."""
    if xml is None or row is None or row.inner == row.close:
        return True
    ends = xml.ends(row) if isinstance(columns, range) else None
    return ends is not None and all(col in columns for col in ends)


def _later(
    spans: list[tuple[int, int]], move: LineMove, later: Sequence[Move]
) -> list[tuple[int, int]]:
    """Return where lines that came are after what else moved on their sheet."""
    for other in later:
        is_same = isinstance(other, LineMove) and other.part == move.part
        if isinstance(other, LineMove) and is_same and other.shift.axis == move.shift.axis:
            moved = (other.shift.span(*span) for span in spans)
            spans = [span for span in moved if span is not None]
    return spans


def _line_names(shift: LineShift, first: int, last: int) -> Iterator[str]:
    """Go through lines as `5:5` or `C:C`; very many are one range."""
    if last - first >= _LINES_TOLD:
        yield shift.across(WHOLE, (first, last)).lines or ""
        return
    for line in range(first, last + 1):
        yield shift.across(WHOLE, (line, line)).lines or ""


_NOTHING: Held = (("blank", ""), None, 0, "")


def _content(value: Value) -> object:
    """Return what a cell holds whatever its number format."""
    if value.kind == "date" and value.number is not None:
        return ("number", value.number)
    return (value.kind, value.number if value.kind == "number" else value.text)


def _differences(old: Held, new: Held) -> list[str]:
    aspects = (("formula", 1), ("value", 0), ("style", 2))
    return [aspect for aspect, place in aspects if old[place] != new[place]]


def _told(cell: Held, error: str | None) -> str:
    """Return what a cell holds after a write, short: a value, or a formula and its result.

    `error` is what it shows where the file has a stand-in for older readers (F24.10).
    """
    content, formula, _, text = cell
    text = error or text
    is_blank = content == _NOTHING[0]
    if formula is None:
        return "(empty)" if is_blank else _short(text)
    return f"={_short(formula)} → {_NO_RESULT if is_blank else _short(text)}"


def _short(text: str) -> str:
    return text if len(text) <= _TOLD_CHARS else f"{text[: _TOLD_CHARS - 1]}…"


def _tag(xml: SheetXml | None, row: RowSpan | None) -> dict[bytes, bytes]:
    if xml is None or row is None:
        return {}
    tag = attributes(xml.data[row.start : row.inner])
    return {key: value for key, value in tag.items() if key not in {b"r", b"spans"}}


def _turned(was: str, is_now: str) -> str:
    """Return what became of a row or column that nobody sees now, or that is seen again."""
    if truth(was) == truth(is_now):
        return ""
    return "hidden" if truth(is_now) else "shown"


def differing_rows(
    before: SheetXml | None, after: SheetXml
) -> Iterator[tuple[RowSpan | None, RowSpan | None]]:
    """Go through the rows that are not the same bytes on both sides, in order."""
    skip = _same_start(before, after) if before else 0
    olds = before.iter_rows(skip or None) if before else iter(())
    news = after.iter_rows(skip or None)
    old, new = next(olds, None), next(news, None)
    differed = 0
    while old or new:
        asked = 0 < differed <= _REST_TRIES  # just behind a difference: often nothing follows
        if asked and old and new and before and _same_rest(before, old, after, new):
            return
        if old and new and old.number == new.number:
            assert before is not None, "there is an old row"
            same = before.data[old.start : old.end] == after.data[new.start : new.end]
            differed += not same
            if not same:
                yield old, new
            old, new = next(olds, None), next(news, None)
        elif new is None or (old and old.number < new.number):
            differed += 1
            yield old, None
            old = next(olds, None)
        else:
            differed += 1
            yield None, new
            new = next(news, None)


def _same_start(before: SheetXml, after: SheetXml) -> int:
    """Return where the first row that may differ begins, 0 for the first one."""
    if before.inner != after.inner or not (before.plain_rows and after.plain_rows):
        return 0
    low, high = before.inner, min(before.close, after.close)
    while low < high:  # the longest common start, by halving
        middle = (low + high + 1) // 2
        if before.data[low:middle] == after.data[low:middle]:
            low = middle
        else:
            high = middle - 1
    return max(before.data.rfind(b"<" + before.words.prefix + b"row", before.inner, low + 1), 0)


def _same_rest(before: SheetXml, old: RowSpan, after: SheetXml, new: RowSpan) -> bool:
    """Whether everything from these rows on is the same; asked only when it can be."""
    size = before.close - old.start
    if size != after.close - new.start or size < _REST_FROM_BYTES:
        return False
    return before.data[old.start : before.close] == after.data[new.start : after.close]


def _frames(
    name: str, before: SheetXml | None, after: SheetXml, words: tuple[RuleWords, RuleWords]
) -> Iterator[Effect]:
    old = before.frame() if before else None
    new = after.frame()
    if old is None:
        return
    yield from _rules(name, (old, new), words)
    yield from _merges(name, old, new)
    yield from _columns(name, old, new)
    known = {"", "dimension", "mergeCells", "cols", "sheetData"}
    names = {local(item) for item in [*old, *new]} - known
    for item in sorted(names):
        if _keys(children(old, item)) != _keys(children(new, item)):
            yield Effect(kind="sheet", where=name, aspect=_ASPECTS.get(item, item))


def _rules(
    name: str, roots: tuple[Element, Element], words: tuple[RuleWords, RuleWords]
) -> Iterator[Effect]:
    """Go through the rules that came, went or changed; those told by it are taken off the trees."""
    for kind in get_args(RuleKind):
        found = compare_rules(kind, roots, words)
        for one in found.differences or ():
            if one.after is None:
                assert one.before is not None, "a rule is there on one side at least"
                rule, aspect, now = found.sides[0][one.before], "removed", ""
            else:
                rule = found.sides[1][one.after]
                aspect, now = "added" if one.before is None else "changed", words[1].told(rule)
            where = f"{name}!{rule.where}"
            yield Effect(kind=CALLED[kind], where=where, aspect=aspect, now=_short(now))
        if found.differences is not None:
            strip(roots, kind)


def _attached(
    kind: str, where: str, old: Note | Link | None, new: Note | Link | None
) -> Iterator[Effect]:
    if old != new:
        aspect = "added" if old is None else "removed" if new is None else "changed"
        said = "" if new is None else new.text if isinstance(new, Note) else new.target
        yield Effect(kind=kind, where=where, aspect=aspect, now=_short(said))


def _with(package: Package, part: str, change: Callable[[str, bytes], bytes]) -> Package:
    """Return a package of which one part is another."""
    made = package.copy()
    made.put(part, change(part, package.read(part)))
    return made


def _keys(elements: Iterable[Element]) -> list[bytes]:
    return [canonical_element(element) for element in elements]


def _merges(name: str, old: Element, new: Element) -> Iterator[Effect]:
    def refs(root: Element) -> set[str]:
        return {item.get("ref") or "" for item in children(child(root, "mergeCells"), "mergeCell")}

    for ref in sorted(refs(old) ^ refs(new)):
        yield Effect(kind="cell", where=f"{name}!{ref}", aspect="structure")


def _columns(name: str, old: Element, new: Element) -> Iterator[Effect]:
    def runs(root: Element) -> dict[int, dict[str, str]]:
        found: dict[int, dict[str, str]] = {}
        for item in children(child(root, "cols"), "col"):
            rest = {str(k): str(v) for k, v in item.attrib.items() if k not in {"min", "max"}}
            for col in range(int(item.get("min") or 0), int(item.get("max") or 0) + 1):
                found[col] = rest
        return found

    first, second = runs(old), runs(new)
    for col in sorted(first.keys() | second.keys()):
        if first.get(col) != second.get(col):
            letters = column_name(col)
            now = _turned(*(side.get(col, {}).get("hidden", "") for side in (first, second)))
            where = f"{name}!{letters}:{letters}"
            yield Effect(kind="column", where=where, aspect="structure", now=now)


def only_appended(old: Element, new: Element) -> bool:
    """Whether a style table kept every entry it had, in its place (F18.2)."""
    names = {local(item) for item in [*old, *new]} - {""}
    for name in names:
        first, second = child(old, name), child(new, name)
        before = _keys(first) if first is not None else []
        after = _keys(second) if second is not None else []
        if after[: len(before)] != before or (name not in _STYLE_TABLES and after != before):
            return False
    return True


def _entries(data: bytes) -> Counter[tuple[str, bytes]]:
    """Return what the lists of a metadata part hold."""
    root = parse_xml(data)
    return Counter((local(item), key) for item in root for key in _keys(item))


def _lines(data: bytes) -> set[str]:
    root = parse_xml(data)
    return {
        str(item.get("PartName") or item.get("Target") or item.get("Extension")) for item in root
    }


def _masked(data: bytes, names: set[str]) -> bytes:
    root = parse_xml(data)
    for item in list(root):
        if local(item) in names:
            root.remove(item)
    return canonical(root)


def _table_key(data: bytes, last_row: int | None = None) -> bytes:
    root = parse_xml(data)
    if last_row is not None:
        extend(root, last_row)
    for item in children(child(root, "tableColumns"), "tableColumn"):
        item.set("name", "")
    return canonical(root)

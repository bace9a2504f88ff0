"""What a write really changed, from comparing the package before with the package after (F16.13).

Nothing here knows the operations: cells, rows, columns, merges and every other part are compared,
and only then is each difference held against what the operations named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.package import CONTENT_TYPES, canonical, canonical_element
from backshop.formats.protocol import Effect, Effects

from ..book.sheet_xml import RowSpan, SheetXml, attributes
from ..book.workbook import Book, Sheet, Value, child, children, local
from ..calculation.moved_reference import Move, follows
from ..calculation.uncache import lost_results
from ..syntax.address import Area, cell_name, column_name, parse_area, parse_cell
from .session import Target
from .table_growth import extend

_STYLE_TABLES = frozenset(
    (
        *("numFmts", "fonts", "fills", "borders", "cellStyleXfs", "cellXfs", "cellStyles"),
        "dxfs",
    )
)
_REST_FROM_BYTES = 4096
_REST_TRIES = 16
_TOLD_CHARS = 80  # of a formula, and of a value
_NO_RESULT = "(not computed)"
_ASPECTS = {"sheetViews": "view", "autoFilter": "filter"}

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

    def run(self) -> list[Effect]:
        """Return every difference, sheets first, parts last."""
        names = set(self.after.changed_parts)
        found: list[Effect] = []
        olds = {sheet.part: sheet for sheet in self.old.sheets if sheet.part}
        news = {sheet.part: sheet for sheet in self.new.sheets if sheet.part}
        for part, sheet in news.items():
            if part not in olds:
                found.append(Effect(kind="sheet", where=sheet.name, aspect="added"))
            elif olds[part].name != sheet.name:
                found.append(Effect(kind="sheet", where=sheet.name, aspect="renamed"))
            if part in names and sheet.kind == "worksheet":
                found.extend(self._sheet(olds.get(part), sheet))
                self.explained.add(part)
        for part, sheet in olds.items():
            if part not in news:
                found.append(Effect(kind="sheet", where=sheet.name, aspect="removed"))
        for name in sorted(names):
            found.append(self._part(name))
        return found

    # --- cells ---------------------------------------------------------------------------------

    def _sheet(self, old: Sheet | None, new: Sheet) -> Iterator[Effect]:
        after = self.new.xml(new)
        before = self.old.xml(old) if old is not None else None
        if before is not None and self.expected.moves:
            before = SheetXml(self._moved(before.data), before.part)
        if after is None:
            return
        for first, second in differing_rows(before, after):
            yield from self._row(new.name, before, after, first, second)
        yield from _frames(new.name, before, after)

    def _row(
        self,
        name: str,
        before: SheetXml | None,
        after: SheetXml,
        first: RowSpan | None,
        second: RowSpan | None,
    ) -> Iterator[Effect]:
        row = first or second
        assert row is not None, "a pair has at least one side"
        lost = lost_results(before, first, after, second) if before and first and second else None
        if lost is not None:  # thousands of rows may differ in nothing else
            places = (f"{name}!{cell_name(row.number, col)}" for col in lost)
            yield from (Effect(kind="cell", where=place, now=_NO_RESULT) for place in places)
            return
        old = self._cells(self.old, before, first)
        new = self._cells(self.new, after, second)
        for col in sorted(old.keys() | new.keys()):
            where = f"{name}!{cell_name(row.number, col)}"
            is_now = new.get(col, _NOTHING)
            aspects = _differences(old.get(col, _NOTHING), is_now)
            now = _told(is_now) if aspects and aspects != ["style"] else ""
            for aspect in aspects:
                yield Effect(kind="cell", where=where, aspect=aspect, now=now)
        if _tag(before, first) != _tag(after, second):
            yield Effect(kind="row", where=f"{name}!{row.number}:{row.number}", aspect="structure")

    def _cells(self, book: Book, xml: SheetXml | None, row: RowSpan | None) -> dict[int, Held]:
        if xml is None or row is None:
            return {}
        found = ((cell, book.value(cell)) for cell in xml.cells(row))
        return {
            cell.col: (_content(value), book.formula(cell, xml), cell.style, value.text)
            for cell, value in found
        }

    def _moved(self, data: bytes) -> bytes:
        """Return a part as it must look after the renames and deletions of this call."""
        for move in self.expected.moves:
            data, _ = move.rewrite(data)
        return data

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
            return self.expected.structural or name in ours
        if name == CONTENT_TYPES or name.endswith(".rels"):
            return self._is_bookkeeping(name)
        before, after = self.before.read(name), self.after.read(name)
        if name == self.new.part:
            return self._workbook_explained(before, after)
        if name == self.new.related("styles"):
            return only_appended(parse_xml(before), parse_xml(after))
        if name == self.new.related("sheetMetadata"):
            return _entries(before) <= _entries(after)
        if follows(name) and self.expected.moves and self._moved(before) == after:
            return True
        is_table = local(parse_xml(after)) == "table"
        last_row = self.expected.grown.get(name)
        return is_table and _table_key(self._moved(before), last_row) == _table_key(after)

    def _is_bookkeeping(self, name: str) -> bool:
        """Whether only lines about parts that came or went differ."""
        moved = {part for part in self.after.changed_parts if self._comes_or_goes(part)}
        old, new = _lines(self.before.read(name)), _lines(self.after.read(name))
        return all(
            any(line.rstrip("/").endswith(part.rpartition("/")[2]) for part in moved)
            for line in old ^ new
        )

    def _comes_or_goes(self, part: str) -> bool:
        return (part in self.after) != (self.before.find(part) is not None)

    def _workbook_explained(self, before: bytes, after: bytes) -> bool:
        masked = {"calcPr"}
        if self.expected.structural:
            masked |= {"sheets", "definedNames", "bookViews"}
        if any("filter" in target.aspects for target in self.expected.targets):
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
        if effect.aspect in self.single.get(effect.where, ()):
            return True
        sheet, _, cells = effect.where.rpartition("!")
        area = parse_area(cells)
        return area is not None and any(
            target.sheet == sheet and effect.aspect in target.aspects and whole.clip(area) == area
            for target, whole in self.wide
        )


_NOTHING: Held = (("blank", ""), None, 0, "")


def _content(value: Value) -> object:
    """Return what a cell holds whatever its number format."""
    if value.kind == "date" and value.number is not None:
        return ("number", value.number)
    return (value.kind, value.number if value.kind == "number" else value.text)


def _differences(old: Held, new: Held) -> list[str]:
    aspects = (("formula", 1), ("value", 0), ("style", 2))
    return [aspect for aspect, place in aspects if old[place] != new[place]]


def _told(cell: Held) -> str:
    """Return what a cell holds after a write, short: a value, or a formula and its result."""
    content, formula, _, text = cell
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


def _frames(name: str, before: SheetXml | None, after: SheetXml) -> Iterator[Effect]:
    old = before.frame() if before else None
    new = after.frame()
    if old is None:
        return
    yield from _merges(name, old, new)
    yield from _columns(name, old, new)
    known = {"", "dimension", "mergeCells", "cols", "sheetData"}
    names = {local(item) for item in [*old, *new]} - known
    for item in sorted(names):
        if _keys(children(old, item)) != _keys(children(new, item)):
            yield Effect(kind="sheet", where=name, aspect=_ASPECTS.get(item, item))


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
            yield Effect(kind="column", where=f"{name}!{letters}:{letters}", aspect="structure")


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

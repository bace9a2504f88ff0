"""Brings stored formula results up to date after an edit, or removes them; none stays stale.

A result comes from the engine only when every function and reference on the way to it is known.
Everything else is "not computed": no stored value, and the workbook asks for full calculation when
it is opened (F24.2, F24.8-F24.10).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from time import monotonic

from backshop.base.limits import WRITE_TIMEOUT_S
from backshop.formats.protocol import Json

from ..book.cell_xml import Content
from ..book.element_order import insert_in_order
from ..book.sheet_edit import SheetEdit, shows
from ..book.sheet_xml import RowSpan, SheetXml
from ..book.splice import render
from ..book.workbook import Book, child, like
from ..syntax.address import Area, cell_name
from .engine import TIMEOUT_S, Request, Scalar, compute
from .graph import Graph, build
from .precedent import Node, Place, misused, spelled
from .uncache import without_results

MAX_FED_CELLS = 1_000_000
MAX_COMPUTED = 50_000  # formulas; more of them would not be done within the time of a write
MAX_FOLLOWED = 20_000  # OFFSETs and INDIRECTs, at 150 µs each; with more, all count as reached
_SPARE_S = 4.0  # for starting the engine and ending the write on a busy machine
WORKBOOK_ORDER = (
    *("fileVersion", "fileSharing", "workbookPr", "AlternateContent", "revisionPtr"),
    *("absPath", "workbookProtection", "bookViews", "sheets", "functionGroups"),
    *("externalReferences", "definedNames", "calcPr", "oleSize", "customWorkbookViews"),
    *("pivotCaches", "smartTagPr", "smartTagTypes", "webPublishing", "fileRecoveryPr"),
    *("webPublishObjects", "extLst"),
)


@dataclass
class Recalculation:
    """What became of the formulas a change reached."""

    computed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    places: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    errors: list[dict[str, Json]] = field(default_factory=list)

    def to_json(self) -> dict[str, Json]:
        """Return the keys of F24.10."""
        return {
            "recalculated": {
                "computed": self.computed,
                "not_computed": sum(self.reasons.values()),
                "reasons": dict(sorted(self.reasons.items())),
            },
            "new_errors": self.errors,
        }


def recalculate(
    book: Book,
    changed: dict[str, set[tuple[int, int]]],
    before: dict[Place, str],
    *,
    moved: bool,
    engine: bool,
    started: float,
) -> Recalculation:
    """Bring the results of the formulas that `changed` reaches up to date.

    `before` holds the errors that formula cells showed before the edit; `moved` says that sheets
    came, went or got other names, which is a change although no cell was written; `started` is
    when the write began, by the monotonic clock.
    """
    result = Recalculation()
    if not (moved or any(changed.values())) or not _has_formulas(book):
        return result
    graph = build(book)
    places = {Place(sheet, *cell) for sheet, cells in changed.items() for cell in cells}
    dirty = graph.reached(places) | {place for place in places if graph.holds(place)}
    if graph.dynamic:
        dirty |= graph.dynamic
        dirty |= graph.reached(graph.dynamic)
    if graph.distant:
        _follow(graph, places, dirty, moved=moved)
    if not dirty:
        return result
    if len(dirty) > MAX_COMPUTED:
        return _given_up(book, dirty)
    graph.load(dirty)
    dirty &= graph.nodes.keys()  # not every cell into which a formula may spread is there
    reasons = _reasons(graph, dirty, engine)
    values = _compute(book, graph, dirty, reasons, started) if engine else {}
    for place in dirty:
        if place not in values and place not in reasons:
            reasons[place] = "engine_refused"
    _patch(book, graph, dirty, values)
    flag_full_calculation(book)
    result.computed = len(values)
    result.reasons = Counter(reasons[place] for place in dirty if place in reasons)
    for place in sorted(dirty):
        result.places.setdefault(place.sheet, set()).add((place.row, place.col))
        value = values.get(place)
        if value and value.kind == "error" and before.get(place) != value.text:
            result.errors.append(_error(graph.nodes[place], value))
    return result


def _follow(graph: Graph, changed: set[Place], dirty: set[Place], *, moved: bool) -> None:
    """Add the formulas whose OFFSET or INDIRECT leads to what changed, and who reads them.

    A name of a sheet that came, went or changed may lead an INDIRECT elsewhere.
    """
    waiting = graph.distant - dirty
    if len(waiting) > MAX_FOLLOWED:
        dirty |= waiting | graph.reached(waiting)
        return
    graph.load(waiting)
    cells: dict[str, set[tuple[int, int]]] = {}
    fresh: set[Place] = changed | dirty
    first = True
    while waiting and (fresh or first):
        first = False
        for place in fresh:
            cells.setdefault(place.sheet, set()).add((place.row, place.col))
        hit = {
            place
            for place in waiting
            if (node := graph.nodes.get(place)) is None
            or node.distance is None
            or node.distance.areas is None
            or (moved and node.distance.by_name)
            or any(_touches(area, cells.get(sheet, set())) for sheet, area in node.distance.areas)
        }
        fresh = (hit | graph.reached(hit)) - dirty
        dirty |= fresh
        waiting -= dirty


def _touches(area: Area, cells: set[tuple[int, int]]) -> bool:
    if area.count > len(cells):
        return any(area.has(*cell) for cell in cells)
    return any(cell in cells for cell in area.cells())


def _is_led_astray(node: Node, unsure: dict[str, set[tuple[int, int]]]) -> bool:
    """Whether it is not known for sure where a formula leads, or what stands there."""
    distance = node.distance
    if distance is None or not distance.exact or distance.areas is None:
        return True
    if any((row, col) in unsure.get(sheet, ()) for sheet, row, col in distance.keys):
        return True
    return any(_touches(area, unsure.get(sheet, set())) for sheet, area in distance.areas)


def _by_sheet(places: Iterable[Place]) -> dict[str, set[tuple[int, int]]]:
    found: dict[str, set[tuple[int, int]]] = {}
    for place in places:
        found.setdefault(place.sheet, set()).add((place.row, place.col))
    return found


def _given_up(book: Book, dirty: set[Place]) -> Recalculation:
    """Take out the results of more formulas than can be computed in the time of a write."""
    result = Recalculation()
    wanted: dict[str, dict[int, set[int]]] = {}
    for place in dirty:
        wanted.setdefault(place.sheet, {}).setdefault(place.row, set()).add(place.col)
    for name, rows in wanted.items():
        sheet = book.sheet(name)
        xml = book.xml(sheet)
        assert xml is not None, "a formula stands on a worksheet"
        data, result.places[name] = without_results(xml, rows)
        if data != xml.data and sheet.part:
            book.package.put(sheet.part, data)
    flag_full_calculation(book)
    result.reasons["too_many_formulas"] = sum(map(len, result.places.values()))
    return result


def _has_formulas(book: Book) -> bool:
    return any(xml.has_formulas for sheet in book.sheets if (xml := book.xml(sheet)))


def _error(node: Node, value: Content) -> dict[str, Json]:
    place = node.place
    return {
        "sheet": place.sheet,
        "cell": cell_name(place.row, place.col),
        "error": value.text,
        "formula": "=" + node.text,
    }


def _reasons(graph: Graph, dirty: set[Place], engine: bool) -> dict[Place, str]:
    """Return why each formula that cannot be computed cannot."""
    if not engine:
        return dict.fromkeys(dirty, "recalculation_off")
    shaky = graph.reached(graph.volatile)
    needed = _needed(graph, dirty)
    graph.load(needed)
    reasons: dict[Place, str] = {}
    unsure = _by_sheet(dirty | graph.uncached) if graph.distant else {}
    for place in dirty:
        node = graph.nodes[place]
        reason = node.reason
        if reason == "dynamic_reference" and not _is_led_astray(node, unsure):
            reason = None
        reason = reason or misused(node.text)
        if reason:
            reasons[place] = reason
        elif place in shaky:
            reasons[place] = "volatile"
    for place in needed - dirty:
        node = graph.nodes[place]
        reason = node.reason or misused(node.text)
        if reason:
            reasons[place] = reason
    for place in _circular(graph, needed):
        reasons.setdefault(place, "circular")
    for place in graph.reached(reasons):
        if place in needed:
            reasons.setdefault(place, "depends_on_not_computed")
    return reasons


def _needed(graph: Graph, dirty: set[Place]) -> set[Place]:
    """Return the dirty formulas and those without stored result that they read."""
    uncached = graph.uncached - dirty
    needed = set(dirty)
    if not uncached:
        return needed
    reads: dict[Place, set[Place]] = {}
    for place in uncached:
        for reader in graph.readers(place):
            reads.setdefault(reader, set()).add(place)
    waiting = list(dirty)
    while waiting:
        for place in reads.get(waiting.pop(), set()) - needed:
            needed.add(place)
            waiting.append(place)
    return needed


def _circular(graph: Graph, needed: set[Place]) -> set[Place]:
    """Return the formulas that wait for themselves, or for one that does."""
    readers = {place: {r for r in graph.readers(place) if r in needed} for place in needed}
    waits = Counter(reader for found in readers.values() for reader in found)
    ready = [place for place in needed if not waits[place]]
    left = set(needed)
    while ready:
        place = ready.pop()
        left.discard(place)
        for reader in readers[place]:
            waits[reader] -= 1
            if not waits[reader]:
                ready.append(reader)
    return left


def _compute(
    book: Book, graph: Graph, dirty: set[Place], reasons: dict[Place, str], started: float
) -> dict[Place, Content]:
    needed = _needed(graph, dirty)
    wanted = sorted(place for place in needed if place not in reasons)
    if not wanted:
        return {}
    nodes = [graph.nodes[place] for place in wanted]
    numbers = {sheet.name: sheet.index for sheet in book.sheets}
    fed = _feed(book, nodes, set(wanted), numbers)
    answers: list[Content | None] | str = "too_many_cells"
    if fed is not None:
        request = Request(
            [sheet.name for sheet in book.sheets],
            fed[0],
            fed[1],
            [(numbers[n.place.sheet], n.place.row, n.place.col, spelled(n)) for n in nodes],
            book.date_1904,
        )
        answers = compute(request, engine_time(monotonic() - started))
    if isinstance(answers, str):
        reasons.update(dict.fromkeys(wanted, answers))
        return {}
    found = dict(zip(wanted, answers, strict=True))
    failed = {place for place, value in found.items() if value is None}
    spoiled = graph.reached(failed)
    return {
        place: value
        for place, value in found.items()
        if value is not None and place not in spoiled and place in dirty
    }


def engine_time(spent_s: float) -> float:
    """Return how long the engine may take: as much as was spent before it comes after it again.

    Results that are not there in time are missing; a write that is not would be lost.
    """
    return max(0.0, min(TIMEOUT_S, WRITE_TIMEOUT_S - _SPARE_S - 2 * spent_s))


Known = tuple[int, int, int, Scalar]


def _feed(
    book: Book, nodes: list[Node], computed: set[Place], numbers: dict[str, int]
) -> tuple[list[Known], list[tuple[int, int, int, str]]] | None:
    """Return the values the formulas read, each once; None when there are too many."""
    by_sheet: dict[str, set[Area]] = {}
    for node in nodes:
        for name, area in node.areas:
            by_sheet.setdefault(name, set()).add(area)
    values: list[Known] = []
    errors: list[tuple[int, int, int, str]] = []
    for sheet in book.sheets:
        xml = book.xml(sheet)
        areas = by_sheet.get(sheet.name)
        if xml is None or not areas:
            continue
        first, last = min(a.col1 for a in areas), max(a.col2 for a in areas)
        for row in _rows_of(xml, areas):
            for cell in xml.cells(row, first, last):
                if Place(sheet.name, cell.row, cell.col) in computed:
                    continue
                value = book.value(cell)
                place = (numbers[sheet.name], cell.row, cell.col)
                if value.kind == "error":
                    errors.append((*place, value.text))
                elif value.kind == "boolean":
                    values.append((*place, bool(value.number)))
                elif value.number is not None:
                    values.append((*place, value.number))
                elif value.kind == "string":
                    values.append((*place, value.text))
            if len(values) > MAX_FED_CELLS:
                return None
    return values, errors


def _rows_of(xml: SheetXml, areas: set[Area]) -> Iterator[RowSpan]:
    """Go through the rows that any of the areas touches."""
    spans: list[tuple[int, int]] = []
    for first, last in sorted({(area.row1, area.row2) for area in areas}):
        if spans and first <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], max(last, spans[-1][1]))
        else:
            spans.append((first, last))
    at = 0
    for row in xml.iter_rows():
        while at < len(spans) and spans[at][1] < row.number:
            at += 1
        if at == len(spans):
            return
        if spans[at][0] <= row.number:
            yield row


def _patch(book: Book, graph: Graph, dirty: Iterable[Place], values: dict[Place, Content]) -> None:
    """Put the new results into the sheets, and take out the ones nobody knows."""
    edits: dict[str, SheetEdit] = {}
    for place in dirty:
        sheet = book.sheet(place.sheet)
        xml = book.xml(sheet)
        assert xml is not None, "a formula stands on a worksheet"
        if place.sheet not in edits:
            edits[place.sheet] = SheetEdit(book, sheet, xml)
        edit = edits[place.sheet]
        node, value = graph.nodes[place], values.get(place)
        if value is None and not node.cached:
            continue
        if value is not None and shows(book.value(node.raw), value):
            continue
        edit.patch(place.row, place.col).cache = (value,)
    for edit in edits.values():
        if edit.changed and edit.sheet.part:
            book.package.put(edit.sheet.part, render(edit))
    book.forget()


def flag_full_calculation(book: Book) -> None:
    """Ask for full calculation on load and drop the order of calculation (F24.2)."""
    calc = child(book.root, "calcPr")
    if calc is None:
        calc = book.root.makeelement(like(book.root, "calcPr"))
        insert_in_order(book.root, calc, WORKBOOK_ORDER)
    calc.set("fullCalcOnLoad", "1")
    package = book.package
    package.put_xml(book.part, book.root)
    drop_chain(book)
    book.forget()


def drop_chain(book: Book) -> None:
    """Remove the calculation chain, which readers rebuild."""
    for rel in book.package.rels(book.part):
        if rel.type.endswith("/calcChain"):
            target = book.package.find(rel.part) if rel.part else None
            book.package.remove_rel(book.part, rel.id)
            if target:
                book.package.remove(target)

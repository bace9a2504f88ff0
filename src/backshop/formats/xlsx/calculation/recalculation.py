"""Brings stored formula results up to date after an edit, or removes them; none stays stale.

A result comes from the engine only when every function and reference on the way to it is known.
Everything else is "not computed": no stored value, and the workbook asks for full calculation when
it is opened (F24.2, F24.8-F24.10).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic

from backshop.base.limits import WRITE_TIMEOUT_S
from backshop.formats.protocol import Json

from ..book.cell_xml import Content
from ..book.element_order import insert_in_order
from ..book.sheet_edit import SheetEdit, shows
from ..book.splice import render
from ..book.workbook import Book, child, like, truth
from ..evaluation.memory import Cell
from ..evaluation.schedule import Formula, Refusal
from ..syntax.address import Area, cell_name
from ..syntax.formula import as_written
from .circle import circular
from .engine import TIMEOUT_S, Answer, Request, compute
from .graph import Graph, build
from .precedent import Node, Place
from .uncache import without_results
from .uncomputed import UNCOMPUTED_LISTED, Uncomputed, named

MAX_COMPUTED = 50_000  # formulas; more of them would not be done within the time of a write
MAX_FOLLOWED = 20_000  # OFFSETs and INDIRECTs, at 150 µs each; with more, all count as reached
_NEW_ERRORS = frozenset({"#SPILL!", "#CALC!"})  # stored by Excel as #VALUE!, with a note elsewhere
_REF = re.compile(rb"\s+ref\s*=\s*(?:\"[^\"]*\"|'[^']*')")
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
    uncomputed: list[Uncomputed] = field(default_factory=list)
    circles: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    stand_ins: dict[str, str] = field(default_factory=dict)  # by cell: errors stored as another

    def to_json(self) -> dict[str, Json]:
        """Return the keys of F24.10."""
        listed = [one.to_json() for one in self.uncomputed[:UNCOMPUTED_LISTED]]
        return {
            "recalculated": {
                "computed": self.computed,
                "not_computed": sum(self.reasons.values()),
                "reasons": dict(sorted(self.reasons.items())),
                **({"uncomputed": listed} if listed else {}),
                **_beyond(self.uncomputed[UNCOMPUTED_LISTED:]),
            },
            "new_errors": self.errors,
        }


def _beyond(rest: Sequence[Uncomputed]) -> dict[str, Json]:
    return {"uncomputed_more": sum(one.count for one in rest)} if rest else {}


def recalculate(
    book: Book,
    changed: dict[str, set[tuple[int, int]]],
    before: Mapping[Place, str],
    *,
    stale: Mapping[str, Collection[tuple[int, int]]] | None = None,
    moved: bool,
    engine: bool,
    started: float,
    kept: dict[str, set[tuple[int, int]]] | None = None,
    shifted: Mapping[str, Sequence[Area]] | None = None,
) -> Recalculation:
    """Bring the results of the formulas that `changed` reaches up to date.

    `before` holds the errors that formula cells showed before the edit; `moved` says that sheets
    came, went or got other names, which is a change although no cell was written; `started` is
    when the write began, by the monotonic clock; `shifted` are the cells of sheets that stand
    elsewhere than before. `kept` are changed formulas that went along with all they read: unless
    something else reaches them, their results hold. The results of formulas in `stale` do not,
    though nothing was written there.
    """
    result = Recalculation()
    shifted = shifted or {}
    unsure = _places(stale or {})
    places = _places(changed) | unsure
    if not (moved or shifted or places) or not _has_formulas(book):
        return result
    graph = build(book)
    dirty = _reached(graph, places, unsure, _places(kept or {}) - unsure)
    if graph.distant:
        _follow(graph, places, dirty, shifted, moved=moved)
    if not dirty:
        return result
    if len(dirty) > MAX_COMPUTED:
        return _given_up(book, dirty)
    found = _settled(book, graph, dirty, engine, started)
    if found is None:
        return _given_up(book, dirty)
    _patch(book, graph, found)
    flag_full_calculation(book)
    result.computed = len(found.values)
    result.reasons = Counter(refusal.reason for refusal in found.refused.values())
    result.uncomputed = named(found.refused)
    for place, refusal in found.refused.items():
        if refusal.reason == "circular":
            result.circles.setdefault(place.sheet, set()).add((place.row, place.col))
    for place in sorted(found.places):
        result.places.setdefault(place.sheet, set()).add((place.row, place.col))
        value = found.values.get(place)
        if value is None or value.kind != "error":
            continue
        stored = stored_error(value).text
        if stored != value.text:
            result.stand_ins[f"{place.sheet}!{cell_name(place.row, place.col)}"] = value.text
        if before.get(place) != stored:
            result.errors.append(_error(graph, place, value))
    return result


def _reached(graph: Graph, places: set[Place], unsure: set[Place], held: set[Place]) -> set[Place]:
    """Return the formulas whose results may be others; those in `unsure` are whatever holds."""
    dirty = graph.reached(places - unsure, held) | graph.reached(unsure)
    dirty |= {place for place in places if place not in held and graph.holds(place)}
    if graph.dynamic:
        dirty |= graph.dynamic
        dirty |= graph.reached(graph.dynamic)
    return dirty


def _places(cells: Mapping[str, Collection[tuple[int, int]]]) -> set[Place]:
    return {Place(sheet, *cell) for sheet, places in cells.items() for cell in places}


@dataclass
class _Found:
    """What was computed: values by cell, the cells array formulas fill now, and what is not."""

    values: dict[Place, Content] = field(default_factory=dict)
    areas: dict[Place, Area] = field(default_factory=dict)
    emptied: set[Place] = field(default_factory=set)  # cells that a formula fills no more
    refused: dict[Place, Refusal] = field(default_factory=dict)
    spilled: set[Place] = field(default_factory=set)  # cells that are filled or emptied now

    @property
    def places(self) -> set[Place]:
        """Every cell whose result this is about."""
        return {*self.values, *self.emptied, *self.refused}


def _settled(
    book: Book, graph: Graph, dirty: set[Place], engine: bool, started: float
) -> _Found | None:
    """Compute what a change reached; what formulas spill over may reach more. None: too many."""
    for last in (False, False, True):
        graph.load(dirty)
        dirty &= graph.nodes.keys()  # not every cell into which a formula may spread is there
        found = _computed(book, graph, dirty, engine, started)
        more = graph.reached(found.spilled) - dirty
        graph.load(more)
        more &= graph.nodes.keys()
        if not more:
            break
        if last:
            found.refused.update(dict.fromkeys(more, Refusal("depends_on_not_computed")))
        dirty |= more
        if len(dirty) > MAX_COMPUTED:
            return None
    return found


def _follow(
    graph: Graph,
    changed: set[Place],
    dirty: set[Place],
    shifted: Mapping[str, Sequence[Area]],
    *,
    moved: bool,
) -> None:
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
            or any(
                area.meets(other)
                for sheet, area in (*node.areas, *node.distance.areas)
                for other in shifted.get(sheet, ())
            )
        }
        fresh = (hit | graph.reached(hit)) - dirty
        dirty |= fresh
        waiting -= dirty


def _touches(area: Area, cells: set[tuple[int, int]]) -> bool:
    if area.count > len(cells):
        return any(area.has(*cell) for cell in cells)
    return any(cell in cells for cell in area.cells())


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
    result.uncomputed = named(
        {
            Place(sheet, *cell): Refusal("too_many_formulas")
            for sheet, cells in result.places.items()
            for cell in cells
        }
    )
    return result


def _has_formulas(book: Book) -> bool:
    return any(xml.has_formulas for sheet in book.sheets if (xml := book.xml(sheet)))


def _error(graph: Graph, place: Place, value: Content) -> dict[str, Json]:
    node = graph.nodes.get(place)
    text = f"={as_written(node.formula)}" if node is not None and node.formula else ""
    return {
        "sheet": place.sheet,
        "cell": cell_name(place.row, place.col),
        "error": value.text,
        "formula": text,
    }


def _refused(graph: Graph, dirty: set[Place], engine: bool) -> dict[Place, Refusal]:
    """Return why each formula that is not even tried is not."""
    if not engine:
        return dict.fromkeys(dirty, Refusal("recalculation_off"))
    calc = child(graph.book.root, "calcPr")
    if calc is not None and not truth(calc.get("fullPrecision"), default=True):
        return dict.fromkeys(dirty, Refusal("rounded_as_shown"))
    shaky = graph.reached(graph.volatile) if graph.volatile else set()
    found: dict[Place, Refusal] = {}
    for place in dirty:
        node = graph.nodes[place]
        if node.reason:
            found[place] = Refusal(node.reason, node.about)
        elif place in shaky:
            found[place] = Refusal("volatile")
    for place in circular([graph.nodes[place] for place in dirty]):
        found.setdefault(place, Refusal("circular"))
    return found


def _computed(book: Book, graph: Graph, dirty: set[Place], engine: bool, started: float) -> _Found:
    found = _Found(refused=_refused(graph, dirty, engine))
    _refuse_filled(graph, dirty, found)
    wanted = sorted(
        place
        for place in dirty
        if place not in found.refused and graph.nodes[place].kind != "shown"
    )
    if wanted:
        request = _request(book, graph, wanted, found.refused)
        answers = compute(request, engine_time(monotonic() - started))
        for at, place in enumerate(wanted):
            if isinstance(answers, str):
                found.refused[place] = Refusal(answers)
            else:
                _take(found, graph.nodes[place], answers[at])
    _refuse_filled(graph, dirty, found)
    for place in dirty - found.values.keys() - found.emptied - found.refused.keys():
        found.refused[place] = Refusal("depends_on_not_computed")
    return found


def _take(found: _Found, node: Node, answer: Answer) -> None:
    place = node.place
    if isinstance(answer, Refusal):
        found.refused[place] = answer
        return
    if isinstance(answer, Content):
        found.values[place] = answer
        return
    found.areas[place] = answer.area
    filled = {
        Place(place.sheet, row, col): answer.rows[row - answer.area.row1][col - answer.area.col1]
        for row, col in answer.area.cells()
    }
    found.values.update(filled)
    before = {Place(place.sheet, *cell) for cell in node.area.cells()} if node.area else {place}
    found.emptied |= before - filled.keys()
    found.spilled |= before ^ filled.keys()


def _refuse_filled(graph: Graph, dirty: set[Place], found: _Found) -> None:
    """Note that cells which show the values of a formula without result have none either."""
    spread = [
        (place.sheet, area, refusal)
        for place, refusal in found.refused.items()
        if (node := graph.nodes.get(place)) and (area := node.area) and area.count > 1
    ]
    for sheet, area, refusal in spread:
        for cell in area.cells():
            place = Place(sheet, *cell)
            if place in dirty:
                found.refused.setdefault(place, refusal)


def _request(
    book: Book, graph: Graph, wanted: Sequence[Place], refused: Iterable[Place]
) -> Request:
    numbers = {sheet.name: sheet.index for sheet in book.sheets}
    areas: dict[int, set[Area]] = {}
    formulas = []
    for place in wanted:
        node = graph.nodes[place]
        for name, area in node.areas:
            areas.setdefault(numbers[name], set()).add(area)
        formulas.append(_formula(node, numbers))
    unsure = {*refused, *graph.volatile} | (
        graph.reached(graph.volatile) if graph.volatile else set()
    )
    unknown = [Cell(numbers[p.sheet], p.row, p.col) for p in unsure - set(wanted)]
    return Request(book, formulas, areas, unknown, partial(_more, graph, numbers))


def _formula(node: Node, numbers: dict[str, int]) -> Formula:
    place = node.place
    array = node.kind if node.kind in {"fixed", "dynamic"} else ""
    area = node.area if array else None
    return Formula(Cell(numbers[place.sheet], place.row, place.col), node.text, array, area)


def _more(graph: Graph, numbers: dict[str, int], cell: Cell) -> Formula | None:
    """Return a formula without stored result that another one reads; None: it is not computed."""
    names = {number: name for name, number in numbers.items()}
    place = Place(names[cell.sheet], cell.row, cell.col)
    node = graph.node(place)
    if node is None or node.reason or node.kind in {"shown", "table"}:
        return None
    return _formula(node, numbers)


def engine_time(spent_s: float) -> float:
    """Return how long the engine may take: as much as was spent before it comes after it again.

    Results that are not there in time are missing; a write that is not would be lost.
    """
    return max(0.0, min(TIMEOUT_S, WRITE_TIMEOUT_S - _SPARE_S - 2 * spent_s))


def _patch(book: Book, graph: Graph, found: _Found) -> None:
    """Put the new results into the sheets, and take out the ones nobody knows."""
    edits: dict[str, SheetEdit] = {}
    for place in sorted(found.places):
        if place.sheet not in edits:
            sheet = book.sheet(place.sheet)
            xml = book.xml(sheet)
            assert xml is not None, "a formula stands on a worksheet"
            edits[place.sheet] = SheetEdit(book, sheet, xml)
        edit, node = edits[place.sheet], graph.nodes.get(place)
        value = found.values.get(place)
        shown = stored_error(value) if value is not None else None
        if place in found.areas and node is not None:
            _move_area(edit, node, found.areas[place])
        raw = node.raw if node is not None else edit.raw(place.row, place.col)
        if shown is None and (raw is None or raw.value is None):
            continue
        if shown is not None and raw is not None and shows(book.value(raw), shown):
            continue
        patch = edit.patch(place.row, place.col)
        patch.cache = (shown,)
        if raw is None:
            patch.style = edit.style(place.row, place.col)
    for edit in edits.values():
        if edit.changed and edit.sheet.part:
            book.package.put(edit.sheet.part, render(edit))
    book.forget()


def _move_area(edit: SheetEdit, node: Node, area: Area) -> None:
    """Let a formula that spills say over which cells it does now."""
    if node.kind != "dynamic" or node.area == area:
        return
    raw = edit.xml.data[node.raw.start : node.raw.end]
    element = edit.xml.words.formula.search(raw)
    assert element is not None, "the cell holds a formula"
    tag, close, rest = element[0].partition(b">")
    moved = _REF.sub(b' ref="%s"' % str(area).encode(), tag, count=1)
    edit.patch(node.place.row, node.place.col).formula = moved + close + rest


def stored_error(content: Content) -> Content:
    """Return a result as files hold it: errors that only newer readers know as `#VALUE!`."""
    is_new = content.kind == "error" and content.text in _NEW_ERRORS
    return replace(content, text="#VALUE!") if is_new else content


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

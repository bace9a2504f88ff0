"""What a sheet says around its cells, after lines of it or of another sheet came or went."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from backshop.formats.package.guard import Element

from ..book.workbook import child, children, local, rel_id
from ..syntax.address import MAX_COL, Area, cell_name, parse_area, parse_cell
from .anchor import Ground
from .filter_range import moved_filter, moved_sort
from .follow import Follow

_RULES = frozenset({"conditionalFormatting", "dataValidation"})
_FORMULAS = frozenset({"formula", "formula1", "formula2", "f"})
_NAMING = _FORMULAS | {"cfvo"}
_LISTED = frozenset(  # things that go when the places they are about are gone
    ("conditionalFormatting", "dataValidation", "protectedRange", "ignoredError", "sparkline")
)
_COUNTED = frozenset({"mergeCells", "dataValidations", "rowBreaks", "colBreaks"})
_BREAKS = {"row": "rowBreaks", "column": "colBreaks"}
_EMPTIED = frozenset(  # that say nothing without what is in them
    (
        *("mergeCells", "dataValidations", "hyperlinks", "protectedRanges", "ignoredErrors"),
        *("cellWatches", "rowBreaks", "colBreaks", "scenarios", "smartTags", "tableParts"),
        *("conditionalFormattings", "sparklines", "sparklineGroup", "sparklineGroups", "ext"),
        *("extLst", "dataRefs", "dataConsolidate", "cols", "webPublishItems"),
    )
)


@dataclass(frozen=True)
class FrameMove:
    """What is needed beside formulas and places: sizes, tables that go, the looks of new lines."""

    ground: Ground
    lost_links: Collection[str] = ()  # relationships of tables that are gone
    pattern: int | None = None


def move_frame(root: Element, follow: Follow, more: FrameMove) -> None:
    """Let the frame of a sheet follow."""
    pruning = _Pruning()
    _move_formulas(root, follow, pruning)
    if follow.is_own:
        _Own(root, follow, more, pruning).move()
    pruning.sweep()


class _Pruning:
    """Takes elements out, and then what is left empty by that."""

    def __init__(self) -> None:
        self._parents: list[Element] = []

    def drop(self, element: Element) -> None:
        """Take an element out."""
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)
            if not self._parents or self._parents[-1] is not parent:
                self._parents.append(parent)

    def sweep(self) -> None:
        """Take out what says nothing any more, and count again what is counted."""
        while self._parents:
            element = self._parents.pop()
            name = local(element)
            if name in _COUNTED:
                _count(element)
            needed = "sparklines" if name == "sparklineGroup" else "*"
            if name in _EMPTIED and element.find(f"{{*}}{needed}") is None:
                self.drop(element)


# --- formulas -------------------------------------------------------------------------------------


def _move_formulas(root: Element, follow: Follow, pruning: _Pruning) -> None:
    for element in list(root.iter("{*}*")):
        name = local(element)
        if name in _NAMING and _goes(element, follow):
            continue
        if name in _FORMULAS and element.text:
            _set_text(element, _formula(element, follow))
        elif name == "cfvo" and element.get("val") and not _is_number(element.get("val") or ""):
            areas = _rule_areas(element, follow)
            _set(element, "val", follow.rule(element.get("val") or "", areas))
        elif name in {"controlPr", "objectPr"}:
            for key in ("linkedCell", "listFillRange"):
                if element.get(key):
                    _set(element, key, follow.formula(element.get(key) or ""))
        elif name == "dataRef":
            _move_data_ref(element, follow, pruning)


def _goes(element: Element, follow: Follow) -> bool:
    """Whether what a formula belongs to goes with the cells it is about."""
    for holder in element.iterancestors("{*}*") if follow.is_own else ():
        if local(holder) in _LISTED:
            said = _listed(holder)
            return bool(said.strip()) and follow.places(said) is None
    return False


def _listed(element: Element) -> str:
    """Return the places of a rule or the like, from its attribute or an element of its own."""
    listed = child(element, "sqref")
    return (listed.text or "") if listed is not None else element.get("sqref") or ""


def _formula(element: Element, follow: Follow) -> str:
    areas = _rule_areas(element, follow)
    text = element.text or ""
    return follow.rule(text, areas) if areas else follow.formula(text)


def _rule_areas(element: Element, follow: Follow) -> list[Area]:
    """Return the cells of the rule that a formula belongs to; none for other formulas."""
    rule = element.getparent()
    while rule is not None and local(rule) not in _RULES:
        rule = rule.getparent()
    return [] if rule is None else follow.areas(_listed(rule))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _move_data_ref(element: Element, follow: Follow, pruning: _Pruning) -> None:
    """Let a source of a consolidation follow; one in another workbook stays."""
    sheet, ref = element.get("sheet"), element.get("ref")
    is_meant = sheet.lower() == follow.sheet.lower() if sheet else follow.is_own
    if ref and is_meant and rel_id(element) is None:
        now = follow.place(ref)
        if now is None:
            pruning.drop(element)
        else:
            _set(element, "ref", now)


# --- places ---------------------------------------------------------------------------------------


class _Own:
    """The frame of the sheet whose lines came or went."""

    def __init__(self, root: Element, follow: Follow, more: FrameMove, pruning: _Pruning) -> None:
        self.root, self.follow, self.more = root, follow, more
        self._drop = pruning.drop
        self.shift = follow.shift
        self.handlers: dict[str, Callable[[Element], None]] = {
            "dimension": self._dimension,
            "sheetPr": lambda one: self._near(one, "syncRef"),
            "sheetView": self._view,
            "customSheetView": self._view,
            "selection": self._selection,
            "pivotSelection": self._pivot_selection,
            "col": self._col,
            "scenarios": lambda one: self._places(one, "sqref"),
            "scenario": self._scenario,
            "autoFilter": self._filter,
            "sortState": self._sort,
            "mergeCell": self._merge,
            "hyperlink": lambda one: self._place(one, "ref"),
            "cellWatch": lambda one: self._place(one, "r"),
            "cellSmartTags": lambda one: self._place(one, "r"),
            "webPublishItem": lambda one: self._place(one, "sourceRef"),
            "brk": self._break,
            "anchor": lambda one: more.ground.move(one, _edit_as(one)),
            "tablePart": lambda one: self._drop(one) if rel_id(one) in more.lost_links else None,
        }
        for name in _LISTED:
            self.handlers[name] = self._listed

    def move(self) -> None:
        """Move everything that has a place."""
        for element in list(self.root.iter("{*}*")):
            handler = self.handlers.get(local(element))
            if handler is not None and _is_in(element, self.root):
                handler(element)
        if self.shift.axis == "column" and self.shift.by > 0:
            self._new_columns()

    def _place(self, element: Element, key: str) -> None:
        """Move one place; what is about it goes with it."""
        before = element.get(key)
        if not before:
            return
        now = self.follow.place(before)
        if now is None:
            self._drop(element)
        else:
            _set(element, key, now)

    def _places(self, element: Element, key: str) -> None:
        """Move a list of places of something that stays without them."""
        now = self.follow.places(element.get(key) or "")
        if now is None:
            element.attrib.pop(key, "")
        else:
            _set(element, key, now)

    def _near(self, element: Element, key: str) -> None:
        if element.get(key):
            _set(element, key, self.follow.near(element.get(key) or ""))

    def _listed(self, element: Element) -> None:
        """Move the places of a rule or the like, in its attribute or an element of its own."""
        listed, before = child(element, "sqref"), _listed(element)
        if not before.strip():
            return
        now = self.follow.places(before)
        if now is None:
            self._drop(element)
        elif listed is not None:
            _set_text(listed, now)
        else:
            _set(element, "sqref", now)

    def _dimension(self, element: Element) -> None:
        ref = element.get("ref") or ""
        if parse_area(ref) is not None:
            _set(element, "ref", self.follow.place(ref) or "A1")

    def _merge(self, element: Element) -> None:
        self._place(element, "ref")
        area = parse_area(element.get("ref") or "")
        if area is not None and area.count == 1 and _is_in(element, self.root):
            self._drop(element)

    def _filter(self, element: Element) -> None:
        if not moved_filter(element, self.follow):
            self._drop(element)

    def _sort(self, element: Element) -> None:
        parent = element.getparent()
        is_filtered = parent is not None and local(parent) == "autoFilter"  # it moves along
        if not is_filtered and not moved_sort(element, self.follow):
            self._drop(element)

    def _scenario(self, element: Element) -> None:
        for item in children(element, "inputCells"):
            self._place(item, "r")
        left = len(children(element, "inputCells"))
        if not left:
            self._drop(element)
        elif element.get("count"):
            _set(element, "count", str(left))

    def _break(self, element: Element) -> None:
        """Move a page break: it stands before a line, and goes with it."""
        parent = element.getparent()
        kind = local(parent) if parent is not None else ""
        number = element.get("id") or ""
        if kind != _BREAKS[self.shift.axis] or not number.isdigit():
            return
        now = self.shift.line(int(number) + 1)
        if now is None or now < 2:
            self._drop(element)
        else:
            _set(element, "id", str(now - 1))

    # --- views ---------------------------------------------------------------------------------

    def _view(self, element: Element) -> None:
        """Move what a window shows first, and the lines it holds still."""
        pane = child(element, "pane")
        key = "ySplit" if self.shift.axis == "row" else "xSplit"
        top = self._line(element.get("topLeftCell"))
        if pane is not None and (pane.get("state") or "").startswith("frozen"):
            count = _whole(pane.get(key))
            if count:
                self._freeze(element, pane, key, top, count)
        self._scroll(element)

    def _freeze(self, view: Element, pane: Element, key: str, top: int, count: int) -> None:
        shift, held = self.shift, range(top, top + count)
        if shift.by > 0:
            left = count + shift.by if shift.at in held else count
        else:
            left = sum(shift.line(line) is not None for line in held)
        if left != count:
            _hold(view, pane, key, left)
        self._scroll(pane)
        lowest = (top if top == shift.at else shift.line(top) or shift.at) + left
        place = parse_cell(pane.get("topLeftCell") or "")
        if place is not None and self._line(pane.get("topLeftCell")) < lowest:
            row, col = (lowest, place[1]) if shift.axis == "row" else (place[0], lowest)
            _set(pane, "topLeftCell", cell_name(row, col))

    def _line(self, cell: str | None) -> int:
        place = parse_cell(cell or "")
        return (place[0] if self.shift.axis == "row" else place[1]) if place else 1

    def _scroll(self, element: Element) -> None:
        """Let a window show the same cells first; lines that come right there are shown."""
        if element.get("topLeftCell") and self._line(element.get("topLeftCell")) != self.shift.at:
            self._near(element, "topLeftCell")

    def _selection(self, element: Element) -> None:
        self._near(element, "activeCell")
        before = element.get("sqref")
        if before:
            now = self.follow.places(before) or element.get("activeCell") or "A1"
            _set(element, "sqref", now)

    def _pivot_selection(self, element: Element) -> None:
        ends = ("Row",) if self.shift.axis == "row" else ("Col",)
        for key in (f"{word}{end}" for word in ("active", "previous") for end in ends):
            number = element.get(key) or ""
            if number.isdigit():
                now = self.shift.line(int(number) + 1) or self.shift.at
                _set(element, key, str(now - 1))

    # --- columns -------------------------------------------------------------------------------

    def _col(self, element: Element) -> None:
        """Move a run of columns; inserted ones are left out of it, and get their own looks."""
        if self.shift.axis == "row":
            return
        first, last = _whole(element.get("min")), _whole(element.get("max"))
        if not 1 <= first <= last:
            return
        last = min(last, self.shift.most)
        if self.shift.by > 0 and first < self.shift.at <= last:
            rest = _copy(element, self.shift.at + self.shift.by, last + self.shift.by)
            _set(element, "max", str(self.shift.at - 1))
            if rest is not None:
                element.addnext(rest)
            return
        start, end = self._line_or_edge(first), self._line_or_edge(last, is_end=True)
        if start > end or start > self.shift.most:
            self._drop(element)
            return
        _set(element, "min", str(start))
        _set(element, "max", str(min(end, self.shift.most)))

    def _line_or_edge(self, line: int, *, is_end: bool = False) -> int:
        if line < self.shift.at:
            return line
        if self.shift.by > 0:
            return line + self.shift.by
        return max(self.shift.at - is_end, line + self.shift.by)

    def _new_columns(self) -> None:
        """Give inserted columns the width and look of the one they are to look like."""
        columns, pattern = child(self.root, "cols"), self.more.pattern
        if columns is None or pattern is None:
            return
        now = self.shift.line(pattern)
        runs = children(columns, "col")
        model = next(
            (c for c in runs if _whole(c.get("min")) <= (now or 0) <= _whole(c.get("max"))), None
        )
        made = _copy(model, self.shift.at, self.shift.last) if model is not None else None
        if made is None:
            return
        for key in ("hidden", "collapsed", "outlineLevel"):
            made.attrib.pop(key, "")
        level = min(_level(runs, line) for line in (self.shift.at - 1, self.shift.last + 1))
        if level:
            made.set("outlineLevel", str(level))
        after = [c for c in runs if _whole(c.get("min")) > self.shift.last]
        if after:
            after[0].addprevious(made)
        else:
            columns.append(made)


def _level(runs: list[Element], line: int) -> int:
    """Return how deep in an outline a column is."""
    here = (c for c in runs if _whole(c.get("min")) <= line <= _whole(c.get("max")))
    return max((_whole(c.get("outlineLevel")) for c in here), default=0)


def _hold(view: Element, pane: Element, key: str, count: int) -> None:
    """Hold so many lines still; without any in either direction nothing is held."""
    if count:
        _set(pane, key, str(count))
        return
    pane.attrib.pop(key, "")
    if pane.get("xSplit") or pane.get("ySplit"):
        place = "topRight" if pane.get("xSplit") else "bottomLeft"
        pane.set("activePane", place)
        for item in children(view, "selection"):
            if item.get("pane") not in (None, "topLeft", place):
                view.remove(item)
        return
    view.remove(pane)
    kept = children(view, "selection")[-1:]
    for item in children(view, "selection"):
        if item in kept:
            item.attrib.pop("pane", "")
        else:
            view.remove(item)


def _copy(element: Element, first: int, last: int) -> Element | None:
    """Return a run of columns like another one, None where it would leave the sheet."""
    if first > MAX_COL:
        return None
    made = element.makeelement(element.tag)
    for key, value in element.attrib.items():
        made.set(key, value)
    made.set("min", str(first))
    made.set("max", str(min(last, MAX_COL)))
    return made


def _edit_as(anchor: Element) -> str:
    """Return how an object of a sheet's own list moves, in the words of drawings."""
    moves, sizes = (anchor.get(key) in {"1", "true"} for key in ("moveWithCells", "sizeWithCells"))
    return ("twoCell" if sizes else "oneCell") if moves else "absolute"


def _count(element: Element) -> None:
    items = [item for item in element if isinstance(item.tag, str)]
    if element.get("count") is not None:
        _set(element, "count", str(len(items)))
    if element.get("manualBreakCount") is not None:
        manual = sum(item.get("man") in {"1", "true"} for item in items)
        _set(element, "manualBreakCount", str(manual))


def _is_in(element: Element, root: Element) -> bool:
    return any(one is root for one in element.iterancestors())


def _set(element: Element, key: str, value: str) -> None:
    if element.get(key) != value:
        element.set(key, value)


def _set_text(element: Element, value: str) -> None:
    if element.text != value:
        element.text = value


def _whole(text: str | None) -> int:
    try:
        return int(float(text)) if text else 0
    except (ValueError, OverflowError):
        return 0

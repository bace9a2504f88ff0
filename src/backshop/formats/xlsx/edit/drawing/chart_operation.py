"""Operations on charts: one comes, or one that is there is changed (F36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lxml import etree

from backshop.formats.chart import conversion, factory, surrounding
from backshop.formats.chart.facts import facts
from backshop.formats.chart.mask import masked
from backshop.formats.chart.plan import ChartPlan
from backshop.formats.chart.series import is_combined, replace_series
from backshop.formats.chart.vocabulary import (
    AUTOMATIC,
    KINDS,
    LEGENDS,
    NO_LEGEND,
    STACKABLE,
    STACKINGS,
    child,
    groups,
    kind_of,
    local,
    series_of,
    stacking_of,
)
from backshop.formats.errors import FormatError
from backshop.formats.package.guard import Element
from backshop.formats.package.package import serialise
from backshop.formats.package.xml_tree import Trees, loosened
from backshop.formats.protocol import Json, Op
from backshop.formats.write.operation import Arg, nearest, problem, read_as, strip_controls

from ...book.format_name import HINTS, format_code, refusal
from ...book.sheet_edit import SheetEdit
from ...book.workbook import Sheet
from ...drawing.box import Box
from ...drawing.cell_size import CellSizes
from ...drawing.chart_cache import range_of
from ...drawing.drawing_edit import in_dialect, is_strict
from ...drawing.drawing_part import CHART, NEWER_CHART, PICTURE, Drawn, drawn_on
from ...syntax.address import Area, parse_area, parse_cell
from ..session import ExpectedChart, Session, Target
from .attachment import Attachment, free_name, refuse_locked, refuse_locked_chart
from .chart_data import COLUMNS, ROWS, ChartData, DataReader

WIDTH_PX, HEIGHT_PX = 480, 288
MAX_PX = 4096
_LARGEST = 1e300  # of an end of an axis
_MAX_NAME, _MAX_TITLE = 255, 1000
_PERCENTS = ("gapWidth", "overlap", "holeSize", "secondPieSize", "depthPercent", "hPercent")
_DATA_ARGS = (
    Arg("data", str, aliases=("range", "data_range")),
    Arg("data_sheet", str),
    Arg("series_by", str),
    Arg("series", list),
    Arg("categories", str),
)
_AROUND_ARGS = (
    Arg("title", str),
    Arg("x_title", str),
    Arg("y_title", str),
    Arg("legend", str),
    Arg("number_format", str),
    *(Arg(f"{axis}_{end}", object) for axis in ("y", "x") for end in ("min", "max")),
)
PLACE_ARGS = (Arg("name", str), Arg("width", float), Arg("height", float))
ADD_ARGS = (
    Arg("sheet", str, required=True),
    Arg("cell", str, required=True, aliases=("anchor",)),
    Arg("kind", str, required=True, aliases=("chart_type", "type")),
    *_DATA_ARGS,
    Arg("stacking", str, default="none"),
    *_AROUND_ARGS,
    *PLACE_ARGS,
)
CHANGE_ARGS = (
    Arg("sheet", str, required=True),
    Arg("chart", object, required=True, aliases=("name",)),
    Arg("kind", str, aliases=("chart_type", "type")),
    *_DATA_ARGS,
    Arg("stacking", str),
    *_AROUND_ARGS,
)


def add_chart(session: Session, op: Op) -> str:
    """Put a chart of cells onto a sheet."""
    kind, stacking = _kind(op), _stacking(op)
    edit = session.edit_or_name(str(op.args["sheet"]), op.where)
    refuse_locked(edit, f"{op.where}.sheet")
    box = box_of(op, edit, (WIDTH_PX, HEIGHT_PX))
    session.flush()
    edit = session.edit(str(op.args["sheet"]), op.where)
    data = DataReader(session, op, kind).read()
    if data is None:
        raise problem("missing_field", f"{op.where}.data", "a range, or series, is needed")
    if stacking != "none" and kind not in STACKABLE:
        raise problem("op_conflict", f"{op.where}.stacking", f"a {kind} is not stacked")
    plan = ChartPlan(
        kind=kind,
        stacking=stacking,
        series=data.series,
        has_dates=data.has_dates,
        is_1904=session.book.date_1904,
    )
    root = factory.make(plan)
    legend = "bottom" if len(data.series) > 1 or kind == "pie" else NO_LEGEND
    _surround(session, op, root, {"legend": legend})
    name = name_of(session, op, edit.sheet, "Chart")
    part = Attachment(session, edit, op.where).add_chart(box, name, _written(session, root))
    session.charts[part] = ExpectedChart(kind, len(data.series))
    area = aim(session, edit, box, name, "added")
    title = facts(root).title
    titled = f" “{title}”" if title else ""
    return f"{edit.sheet.name}: {_called(kind, stacking)}{titled} added at {area} ({data.words})"


def change_chart(session: Session, op: Op) -> str:
    """Change what is asked for of a chart that is there, and nothing else."""
    session.flush()
    sheet = session.book.sheet(str(op.args["sheet"]), f"{op.where}.sheet")
    if sheet.kind == "worksheet":
        refuse_locked(session.edit(sheet.name, op.where), f"{op.where}.sheet")
    else:
        refuse_locked_chart(session.book, sheet, f"{op.where}.sheet")
    drawn = find_drawn(session, sheet, op.args["chart"], f"{op.where}.chart", only=CHART)
    part = drawn.part
    if part is None:
        raise problem("corrupt_file", f"{op.where}.chart", "the chart's part is missing")
    if drawn.kind == NEWER_CHART:
        what = "charts of this newer sort (waterfall, treemap and the like) are only read"
        raise problem("unsupported_format", f"{op.where}.chart", what)
    trees = Trees(session.book.package)
    root = trees.touch(part)
    if not series_of(root) or local(root) != "chartSpace":
        raise problem("unsupported_format", f"{op.where}.chart", "this chart has no series")
    count = len(series_of(root))
    changed = _change(session, op, root)
    if not changed:
        what = "say what to change: data, series, kind, title, legend …"
        raise problem("missing_field", f"{op.where}.data", what)
    _say_percent(session, root)
    trees.flush()
    known = session.expected_parts.get(part)
    if part not in session.made:
        before = known if isinstance(known, ChartChange) else ChartChange(frozenset(), count)
        kept = min(before.kept, len(series_of(root)))
        session.expected_parts[part] = ChartChange(before.aspects | frozenset(changed), kept)
    if "data" in changed or part in session.charts:
        session.charts[part] = ExpectedChart(None, len(series_of(root)))
    aim_drawn(session, sheet, drawn, "changed")
    return f"{sheet.name}: {drawn.words} changed ({', '.join(changed.values())})"


def _change(session: Session, op: Op, root: Element) -> dict[str, str]:
    """Change a chart; return what was changed, and in which words."""
    (first, *_) = groups(root)
    now = kind_of(first)
    kind = _kind(op) if op.args["kind"] is not None else now
    changed: dict[str, str] = {}
    data = DataReader(session, op, kind, _series_by(session, root)).read()
    if data is not None:
        _refuse_data(op, root, data)
        replace_series(root, data.series)
        changed["data"] = data.words
    if op.args["kind"] is not None or op.args["stacking"] is not None:
        stacking = _new_stacking(op, first, kind)
        if is_combined(root) or (kind, stacking) != (now, stacking_of(first)):
            hindrance = conversion.hindrance(root, kind)
            if hindrance is not None:
                field = "kind" if op.args["kind"] is not None else "stacking"
                raise problem("op_conflict", f"{op.where}.{field}", hindrance)
            conversion.convert(root, kind, stacking)
        changed["kind"] = _called(kind, stacking)
    changed |= _surround(session, op, root, {})
    return changed


def _series_by(session: Session, root: Element) -> str | None:
    """Return how the series of a chart stand now, None where that cannot be told."""
    named = (one.values for one in facts(root).series)
    cells = range_of(session.book, next(named, None) or "")
    if cells is None or cells.area.count == 1:
        return None
    return ROWS if cells.area.width > cells.area.height else COLUMNS


def _new_stacking(op: Op, group: Element, kind: str) -> str:
    if op.args["stacking"] is not None:
        stacking = _stacking(op)
    else:
        stacking = stacking_of(group) if kind in STACKABLE else "none"
    if stacking != "none" and kind not in STACKABLE:
        raise problem("op_conflict", f"{op.where}.stacking", f"a {kind} is not stacked")
    return stacking


def _refuse_data(op: Op, root: Element, data: ChartData) -> None:
    field = "data" if op.args["data"] is not None else "series"
    if child(root, "pivotSource") is not None:
        raise problem("op_conflict", f"{op.where}.{field}", "the chart shows a pivot table")
    kinds = [kind_of(group) for group in groups(root)]
    unfit = next((kind for kind in kinds if kind in ("bubble", "stock", "surface")), None)
    if unfit is not None:
        what = f"a {unfit} chart needs cells in an order of its own; make a new one"
        raise problem("op_conflict", f"{op.where}.{field}", what)
    count = len(series_of(root))
    if is_combined(root) and len(data.series) != count:
        what = f"it draws its {count} series in several ways; give {count} again"
        raise problem("op_conflict", f"{op.where}.{field}", what)


# --- what stands around the series --------------------------------------------------------------


def _surround(
    session: Session, op: Op, root: Element, defaults: Mapping[str, Json]
) -> dict[str, str]:
    """Put titles, legend and axes as asked; return what was changed, in words."""
    args = {**op.args, **{k: v for k, v in defaults.items() if op.args[k] is None}}
    changed: dict[str, str] = {}
    if args["title"] is not None:
        text = _words(session, op, "title")
        surrounding.set_title(root, text)
        changed["title"] = f"title “{text}”" if text else "no title"
    found = surrounding.axes(root)
    for axis in ("x", "y"):
        if args[f"{axis}_title"] is not None:
            text = _words(session, op, f"{axis}_title")
            surrounding.set_axis_title(_axis(op, found, axis, f"{axis}_title"), text)
            changed[f"{axis}_title"] = f"{axis} axis “{text}”" if text else f"{axis} axis unnamed"
        for end in ("min", "max"):
            field = f"{axis}_{end}"
            if args[field] is not None:
                changed[field] = _set_end(op, found, axis, end)
        _refuse_crossed(op, found, axis)
    if args["number_format"] is not None:
        where, given = f"{op.where}.number_format", str(args["number_format"])
        code = format_code(strip_controls(given, session.warnings, where))
        if code is None:
            raise problem("bad_value", where, refusal(given), HINTS)
        surrounding.set_number_format(_axis(op, found, "y", "number_format"), code)
        changed["number_format"] = f"numbers as {code}"
    if args["legend"] is not None:
        place = str(args["legend"]).strip().lower()
        if place not in (*LEGENDS, NO_LEGEND):
            known = ", ".join((*LEGENDS, NO_LEGEND))
            raise problem("bad_value", f"{op.where}.legend", f"one of: {known}")
        surrounding.set_legend(root, place)
        changed["legend"] = f"legend {place}"
    return changed


def _words(session: Session, op: Op, field: str) -> str:
    text = strip_controls(str(op.args[field]), session.warnings, f"{op.where}.{field}")
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if len(text) > _MAX_TITLE:
        raise problem("bad_value", f"{op.where}.{field}", f"at most {_MAX_TITLE} characters")
    return text


def _axis(op: Op, found: Mapping[str, Element], axis: str, field: str) -> Element:
    if axis not in found:
        raise problem("op_conflict", f"{op.where}.{field}", "this chart has no axes")
    if surrounding.is_hidden(found[axis]):
        raise problem("op_conflict", f"{op.where}.{field}", f"the {axis} axis is hidden")
    return found[axis]


def _set_end(op: Op, found: Mapping[str, Element], axis: str, end: str) -> str:
    where = f"{op.where}.{axis}_{end}"
    given = op.args[f"{axis}_{end}"]
    is_auto = isinstance(given, str) and given.strip().lower() == AUTOMATIC
    number = AUTOMATIC if is_auto else _float(given)
    if number is None:
        raise problem("bad_value", where, f"a number, or {AUTOMATIC}")
    element = _axis(op, found, axis, f"{axis}_{end}")
    if local(element) != "valAx":
        raise problem("op_conflict", where, "an axis of categories has no numbers to begin at")
    surrounding.set_end(element, end, number)
    return f"{axis} {end} {given}"


def _float(given: Json) -> float | None:
    """Return a number that an axis can begin at, None for anything else."""
    if not isinstance(given, int | float | str) or isinstance(given, bool):
        return None
    try:
        number = float(given)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < _LARGEST else None


def _refuse_crossed(op: Op, found: Mapping[str, Element], axis: str) -> None:
    """Refuse an axis that would end before it begins."""
    asked = next((end for end in ("max", "min") if op.args[f"{axis}_{end}"] is not None), None)
    if asked is None or axis not in found:
        return
    low, high = (surrounding.end_of(found[axis], end) for end in ("min", "max"))
    if low is not None and high is not None and low >= high:
        what = f"the {axis} axis would begin at {low:g} and end at {high:g}"
        raise problem("bad_value", f"{op.where}.{axis}_{asked}", what)


# --- fields of several operations ---------------------------------------------------------------


def _kind(op: Op) -> str:
    said = str(op.args["kind"]).strip().lower()
    if said not in KINDS:
        hints = nearest(said, KINDS)
        raise problem("bad_value", f"{op.where}.kind", f"one of: {', '.join(KINDS)}", hints)
    return said


def _stacking(op: Op) -> str:
    said = str(op.args["stacking"]).strip().lower()
    if said not in STACKINGS:
        raise problem("bad_value", f"{op.where}.stacking", f"one of: {', '.join(STACKINGS)}")
    return said


def _called(kind: str, stacking: str) -> str:
    words = {"none": "", "stacked": "stacked ", "percent": "percent stacked "}
    return f"{words[stacking]}{kind} chart"


def box_of(op: Op, edit: SheetEdit, size: tuple[float, float]) -> Box:
    """Return where something new is to stand: over a range, or from a cell on in a size."""
    text, where = str(op.args["cell"]), f"{op.where}.cell"
    given = [op.args["width"], op.args["height"]]
    place = parse_cell(text)
    area = parse_area(text) if place is None else None
    if area is not None and area.height * area.width > 1:
        if any(one is not None for one in given):
            what = "over a range it has the size of the range; give one cell, or no size"
            raise problem("op_conflict", where, what)
        return Box(row=area.row1, col=area.col1, last=(area.row2, area.col2))
    if place is None:
        raise problem("bad_range", where, "the cell of its top left corner, such as E2")
    sides = []
    for name, side, default in zip(("width", "height"), given, size, strict=True):
        wanted = default if side is None else side
        if not isinstance(wanted, int | float) or not 1 <= wanted <= MAX_PX:
            raise problem("bad_value", f"{op.where}.{name}", f"pixels, 1 to {MAX_PX}")
        sides.append(float(wanted))
    return Box(row=place[0], col=place[1], size=(sides[0], sides[1]))


def name_of(session: Session, op: Op, sheet: Sheet, stem: str) -> str:
    """Return the name of something new: the one given, or the next that is free."""
    names = [one.name for one in drawn_on(session.book, sheet)]
    given = op.args["name"]
    if given is None:
        return free_name(names, stem)
    where = f"{op.where}.name"
    name = strip_controls(str(given), session.warnings, where).strip()
    if not 1 <= len(name) <= _MAX_NAME or name.isdigit():
        what = f"a name has 1 to {_MAX_NAME} characters, and is no number"
        raise problem("bad_value", where, what)
    if name.lower() in {one.lower() for one in names}:
        raise problem("name_conflict", where, "another drawing of the sheet has this name")
    return name


def aim(session: Session, edit: SheetEdit, box: Box, name: str, aspect: str) -> Area:
    """Note what came, and say where cells with content lie under it."""
    area = box.area(CellSizes(edit.xml, edit.frame))
    assert area is not None, "what comes has a corner"
    sheet = edit.sheet.name
    session.targets.append(Target(sheet, thing=name, aspects=frozenset({aspect})))
    session.touched.setdefault(sheet, []).append(area)
    filled = [place for place in edit.cells_in(area) if not edit.is_empty(*place)]
    if filled:
        session.warnings.add("covers_cells", len(filled), f"{sheet}!{area}")
    return area


def aim_drawn(session: Session, sheet: Sheet, drawn: Drawn, aspect: str) -> None:
    """Note what happens to something that is there."""
    session.targets.append(Target(sheet.name, thing=drawn.called, aspects=frozenset({aspect})))
    area = drawn.box.area(None)
    if area is not None:
        session.touched.setdefault(sheet.name, []).append(area)


def find_drawn(
    session: Session, sheet: Sheet, asked: Json, where: str, only: str | None = None
) -> Drawn:
    """Return the chart or picture that a name or a number of the map means."""
    every = drawn_on(session.book, sheet)
    fitting = [one for one in every if only is None or one.kind in _SORTS[only]]
    asked = read_as(asked, int)
    if isinstance(asked, int) and not isinstance(asked, bool):
        found = [one for one in fitting if one.number == asked]
    elif isinstance(asked, str):
        found = [one for one in fitting if one.name == asked]
        found = found or [one for one in fitting if one.name.lower() == asked.strip().lower()]
    else:
        raise problem("bad_type", where, "a name, or a number as the map lists it")
    if len(found) == 1:
        return found[0]
    listed = [f"{one.number}: {one.words}" for one in (found or fitting)]
    if found:
        what = f"{len(found)} have this name; use the number"
        raise problem("ambiguous_match", where, what, listed[:20])
    raise _not_there(sheet, every, fitting, asked, where, listed, only)


def _not_there(
    sheet: Sheet,
    every: list[Drawn],
    fitting: list[Drawn],
    asked: Json,
    where: str,
    listed: list[str],
    only: str | None,
) -> FormatError:
    what = only or "chart or picture"
    if not fitting:
        said = f"the sheet {sheet.name!r} has no {what}"
        if every:
            said += f"; {every[0].words} is none"
        return problem("no_match", where, said)
    close = nearest(str(asked), [one.name for one in fitting]) if isinstance(asked, str) else []
    order = sorted(
        range(len(fitting)),
        key=lambda at: close.index(fitting[at].name) if fitting[at].name in close else len(close),
    )
    hints = [listed[at] for at in order][:20]
    return problem("no_match", where, f"there is no such {what} on {sheet.name!r}", hints)


_SORTS = {CHART: (CHART, NEWER_CHART), PICTURE: (PICTURE,)}


def _written(session: Session, root: Element) -> bytes:
    """Return a new chart as a part, in the dialect of the workbook."""
    _say_percent(session, root)
    return in_dialect(session.book, serialise(root).decode()).encode()


def _say_percent(session: Session, root: Element) -> None:
    """Let widths in percent say so, as the strict dialect wants it."""
    for item in root.iter(etree.Element) if is_strict(session.book) else ():
        if local(item) in _PERCENTS and not (item.get("val") or "%").endswith("%"):
            item.set("val", f"{item.get('val')}%")


# --- what is expected ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ChartChange:
    """What operations changed of a chart; says whether two versions of it differ in just that."""

    aspects: frozenset[str]
    kept: int  # how many series were there all the time

    def __call__(self, before: bytes, after: bytes) -> bool:
        """Whether both are the same but for what was changed."""
        one, two = (masked(loosened(data), self.aspects, self.kept) for data in (before, after))
        return one == two

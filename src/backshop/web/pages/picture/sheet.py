"""A window of a sheet as it looks, with its changed cells, charts and pictures outlined (U8.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from backshop.base.labels import count_text
from backshop.bench import Cells, Diff, Viewer, views
from backshop.formats import Place, spelled

from ..diffs import column_name, shown_cell
from ..kit import number, tried
from .frozen import Window, kept
from .outline import LINES_SHOWN, Entry, Outline, Rect, Region, Side, cell_rect, outline, regions
from .panel import Data, Goal, Panel, Picture, Scene, Shown, Tab, Version, capped, faulty, numbered
from .target import Target, cell_at

ROWS, COLS = 80, 26  # of one window
_NEAR = 40  # lines from the start of the sheet that need no other window
_ALL = 10**7  # more lines than any sheet has
_SORTS = {"value": "value", "formula": "formula", "result": "result", "style": "look"}
_KINDS = ("chart", "picture")
_UNKNOWN = ("Which cells changed could not be found out here.",)
_UNIT = 1.2  # sheets beside one another are shown at 80 %
Cell = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """A panel with what changed in its window; None where that could not be found out."""

    panel: Panel
    changes: Sequence[Data] | None = ()

    @property
    def drawing(self) -> Data | None:
        return self.panel.drawing


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """An entry with the rectangles of its outlines, by the side they lie on."""

    entry: Entry
    regions: Mapping[str, Region]
    frames: Mapping[str, Data]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The window of a sheet that is shown, in all versions."""

    sheet: str | None
    told: Data | None
    corner: Cell
    made: Mapping[str, _Drawn]

    @property
    def drawings(self) -> list[Data]:
        return [one.drawing for one in self.made.values() if one.drawing]


def sheet_picture(shown: Shown, diff: Diff | None) -> Picture:
    """Return one sheet of a workbook: of both versions where they are compared."""
    body = diff.body if diff is not None and isinstance(diff.body, Cells) else None
    goal = Target.of(shown.visit.query.get("cell", ""))
    seen = _seen(shown, diff, body, goal)
    if goal is not None and goal.sheet and not seen.drawings:
        goal = goal.refused()
        seen = _seen(shown, diff, body, goal)
    chosen, told, made, drawings = seen.sheet, seen.told, seen.made, seen.drawings
    row, col = seen.corner
    sheet = chosen or (drawings[-1]["sheet"] if drawings else "")
    found = list(_found(diff, body, told, sheet, made)) if body and diff else []
    entries, more = capped(numbered([one.entry for one in found]))
    outlines = {
        name: (*_outlines(name, one, found, entries), *_remarked(shown, name, one, sheet))
        for name, one in made.items()
    }
    is_unknown = body is not None and any(one.changes is None for one in made.values())
    return Picture(
        kind="sheet",
        scenes=(
            Scene(
                title=None,
                panels=tuple(
                    replace(one.panel, outlines=outlines[name], here=_here(one, goal))
                    for name, one in made.items()
                ),
            ),
        ),
        tabs=_tabs(shown, body, drawings, sheet, _besides(diff)),
        tabs_label="Sheets",
        entries=entries if body else None,
        more=more,
        also=_also(diff, found),
        ways=_ways(shown, drawings, sheet, row, col),
        part=_part(drawings),
        goal=_goal(shown, sheet, goal, drawings),
        notes=(
            *(diff.notes if diff is not None else ()),
            *(_UNKNOWN if is_unknown else ()),
            *_beyond(goal, drawings),
        ),
    )


# ---------------------------------------------------------------- which window


def _seen(shown: Shown, diff: Diff | None, body: Cells | None, goal: Target | None) -> _Seen:
    chosen = (goal and goal.sheet) or _chosen(shown, diff)
    told = next((one for one in (body.sheets if body else ()) if one["sheet"] == chosen), None)
    row, col = _corner(shown, diff, chosen, told, goal)
    made = {
        one.name: _drawn(shown, one, _name_in(one, chosen, told), row, col)
        for one in shown.versions
    }
    return _Seen(sheet=chosen, told=told, corner=(row, col), made=made)


def _chosen(shown: Shown, diff: Diff | None) -> str | None:
    wanted = shown.wanted
    if wanted is not None and wanted.place is not None and wanted.place.sheet:
        return wanted.place.sheet
    hint = (diff.focus_hint if diff is not None else None) or {}
    besides = next(iter(_besides(diff)), None)  # where no cell changed, but a chart or a rule did
    return shown.visit.query.get("sheet") or hint.get("sheet") or besides


def _besides(diff: Diff | None) -> list[str]:
    """Return the sheets of which something beside cells changed, as B12.22 places it."""
    places = [str(one["place"]) for one in (diff.also if diff is not None else None) or ()]
    named = (
        place.rpartition(" on sheet ")[2] or place.removeprefix("sheet ")
        for place in places
        if " on sheet " in place or place.startswith("sheet ")
    )
    return list(dict.fromkeys(named))


def _name_in(version: Version, sheet: str | None, told: Data | None) -> str | None:
    """Return the name a sheet has in a version."""
    was = told["renamed_from"] if told and version.name == "before" else None
    return was or sheet


def _corner(
    shown: Shown, diff: Diff | None, sheet: str | None, told: Data | None, goal: Target | None
) -> tuple[int, int]:
    """Return where the window begins: where it is asked to, else just before the first change."""
    if goal is not None and goal.area is not None:
        return _before(goal.area.row), _before(goal.area.col, COLS // 2)
    wanted = shown.wanted
    if wanted is not None and wanted.place is not None and wanted.place.range:
        area = _area(wanted.place.range)
        return _before(area.row), _before(area.col)
    asked = number(shown.visit, "row"), number(shown.visit, "col")
    if asked != (None, None):
        return min(asked[0] or 0, _ALL), min(asked[1] or 0, _ALL)
    hint = (diff.focus_hint if diff is not None else None) or {}
    focus = hint if hint.get("sheet") == sheet else (told or {}).get("bounds") or {}
    return _before(focus.get("row_start", 0)), _before(focus.get("col_start", 0), COLS // 2)


def _before(line: int, near: int = _NEAR) -> int:
    return 0 if line < near else line - 3


def _drawn(shown: Shown, version: Version, sheet: str | None, row: int, col: int) -> _Drawn:
    """Draw a window of a version, and find out what changed in it."""
    found, error = _asked(shown, version, sheet, (row, col, ROWS, COLS))
    if found is None:
        return _Drawn(panel=faulty(version, error))
    drawing = found["drawing"]
    if drawing is None:
        words = "There is no such sheet in this version."
        return _Drawn(panel=Panel(name=version.name, label=version.label, absent=words))
    address = _address(shown, version, drawing["sheet"], (row, col, ROWS, COLS))

    def further(window: Window) -> tuple[Data, str] | None:
        more, _ = _asked(shown, version, drawing["sheet"], window)
        if more is None or more["drawing"] is None:
            return None
        return more["drawing"], _address(shown, version, drawing["sheet"], window)

    panel = Panel(
        name=version.name,
        label=version.label,
        drawing=drawing,
        address=address,
        kept=kept(drawing, ROWS, COLS, further),
    )
    return _Drawn(panel=panel, changes=found["changes"])


def _address(shown: Shown, version: Version, sheet: str, window: Window) -> str:
    row, col, rows, cols = window
    asked = {"sheet": sheet, "row": row, "col": col, "rows": rows, "cols": cols}
    return shown.address(version, "sheet", **asked)


def _asked(
    shown: Shown, version: Version, sheet: str | None, window: Window
) -> tuple[Data | None, Data | None]:
    row, col, rows, cols = window
    own: dict[str, Any] = {
        "workbench_id": shown.bench_id,
        "path": shown.path,
        "sheet": sheet,
        "row_start": row,
        "row_count": rows,
        "col_start": col,
        "col_count": cols,
    }
    if shown.is_review:
        wish = views.ReviewGrid(**own, version=version.version, since=shown.since)
        return tried(shown.visit, Viewer.preview_drawn_sheet, wish)
    drawing, error = tried(shown.visit, Viewer.drawn_sheet, views.FileGrid(**own, view=shown.view))
    return None if drawing is None else {"drawing": drawing, "changes": []}, error


def _tabs(
    shown: Shown,
    body: Cells | None,
    drawings: Sequence[Data],
    current: str,
    besides: Sequence[str],
) -> tuple[Tab, ...]:
    told = {one["sheet"]: one for one in (body.sheets if body else ())}
    names = dict.fromkeys(name for one in reversed(drawings) for name in one["sheets"])
    renamed = {one["renamed_from"] for one in told.values()}
    listed = dict.fromkeys([*(one for one in names if one not in renamed), *told])
    tabs = (
        _tab(shown, name, told.get(name), is_current=name == current, is_beside=name in besides)
        for name in listed
    )
    return tuple(
        replace(tab, note="hidden") if _is_hidden(tab.label, drawings) else tab for tab in tabs
    )


def _is_hidden(sheet: str, drawings: Sequence[Data]) -> bool:
    """Say whether the newest version that has a sheet hides it."""
    having = [one for one in drawings if sheet in one["sheets"]]
    return bool(having) and sheet in having[-1]["hidden_sheets"]


def _tab(shown: Shown, name: str, told: Data | None, *, is_current: bool, is_beside: bool) -> Tab:
    badge, tone = "~" if is_beside else None, "changed"
    if told:
        count = count_text(told["cell_count"], "cell") if told["cell_count"] else ""
        tone = "added" if told["added"] else "removed" if told["removed"] else "changed"
        badge = {"added": "+ new", "removed": "− removed"}.get(tone, f"~ {count}".strip())
    href = shown.link(sheet=name)
    return Tab(label=name, href=href, is_current=is_current, badge=badge, tone=tone)


def _ways(shown: Shown, drawings: Sequence[Data], sheet: str, row: int, col: int) -> dict[str, str]:
    """Return the ways to the windows around this one, as far as the sheet goes."""
    rows = max((one["row_count"] for one in drawings), default=0)
    cols = max((one["col_count"] for one in drawings), default=0)
    asked = {
        "Earlier rows": (max(0, row - ROWS), col) if row else None,
        "Later rows": (row + ROWS, col) if row + ROWS < rows else None,
        "Columns to the left": (row, max(0, col - COLS)) if col else None,
        "Columns to the right": (row, col + COLS) if col + COLS < cols else None,
    }
    return {
        words: shown.link(sheet=sheet, row=at[0], col=at[1]) for words, at in asked.items() if at
    }


def _part(drawings: Sequence[Data]) -> str | None:
    """Say which rows and columns are shown, where there are more."""
    if not drawings or not drawings[-1]["rows"]:
        return None
    one = drawings[-1]
    rows = _share(one["row_start"], len(one["rows"]) - 1, one["row_count"])
    cols = _share(one["col_start"], len(one["columns"]) - 1, one["col_count"])
    words = []
    if rows is not None:
        words.append(f"rows {rows[0] + 1:,} to {rows[1]:,} of {one['row_count']:,}")
    if cols is not None:
        names = f"{column_name(cols[0])} to {column_name(cols[1] - 1)}"
        words.append(f"columns {names} of {one['col_count']:,}")
    text = ", ".join(words)
    return f"{text[0].upper()}{text[1:]}" if text else None


def _share(first: int, shown: int, whole: int) -> tuple[int, int] | None:
    """Return the lines that are shown; None where all are, or none of those that hold anything."""
    last = min(first + shown, whole)
    return (first, last) if first < last and last - first < whole else None


# ---------------------------------------------------------------- a cell that is asked for


def _goal(shown: Shown, sheet: str, target: Target | None, drawings: Sequence[Data]) -> Goal | None:
    """Return the field that goes to a cell; where there are no cells there is none."""
    if not drawings or not drawings[-1]["rows"]:
        return None
    address = urlsplit(shown.here)
    still = [("still", "1")] if "still" in shown.visit.query else []
    return Goal(
        action=address.path,
        fields=(*parse_qsl(address.query), ("sheet", sheet), *still),
        typed=target.typed if target else "",
        fault=target.fault if target else None,
    )


def _beyond(target: Target | None, drawings: Sequence[Data]) -> Iterator[str]:
    """Say it where the sheet has nothing at the cells that somebody went to."""
    if target is None or target.area is None or not drawings or not drawings[-1]["rows"]:
        return
    rows, cols = (max(one[key] for one in drawings) for key in ("row_count", "col_count"))
    if target.area.row >= rows or target.area.col >= cols:
        end = f"the sheet ends at {column_name(cols - 1)}{rows:,}" if rows else "it has no cells"
        yield f"There is nothing at {_name(target.area)}: {end.replace(',', '')}."


def _here(side: _Drawn, target: Target | None) -> Rect | None:
    """Return where the cells stand that somebody went to."""
    if target is None or target.area is None or side.drawing is None:
        return None
    return _rect(side.drawing, target.area) if side.drawing["rows"] else None


# ---------------------------------------------------------------- what changed


def _found(
    diff: Diff, body: Cells, told: Data | None, sheet: str, made: Mapping[str, _Drawn]
) -> Iterator[_Found]:
    """Yield what changed on the sheet, as far as the window shows it."""
    if told and (told["added"] or told["removed"]):
        yield _whole(told, sheet)
        return
    lines = [one for one in body.lines if one["sheet"] == sheet]
    yield from (_line(one, sheet) for one in lines)
    yield from _cells(sheet, lines, made)
    yield from _framed(diff, sheet, made)


def _whole(told: Data, sheet: str) -> _Found:
    """Return the entry of a sheet that came or went, around all it holds."""
    change = "added" if told["added"] else "removed"
    bounds = told["bounds"] or {"row_start": 0, "col_start": 0, "row_end": 0, "col_end": 0}
    region = Region(
        bounds["row_start"], bounds["col_start"], bounds["row_end"], bounds["col_end"], ()
    )
    entry = Entry(
        number=0,
        change=change,
        label=f"Sheet {sheet}",
        what="new sheet" if change == "added" else "removed sheet",
        place=spelled(Place(sheet=sheet)) if change == "added" else None,
        facts=(f"{count_text(told['cell_count'], 'cell')} with content",),
    )
    return _Found(
        entry=entry, regions={"after" if change == "added" else "before": region}, frames={}
    )


def _line(one: Data, sheet: str) -> _Found:
    """Return the entry of rows or columns that came or went."""
    is_added, is_rows = one["kind"] != "removed", one["axis"] == "rows"
    first, last = one["at"] - 1, one["at"] + one["count"] - 2
    region = Region(first, 0, last, _ALL, ()) if is_rows else Region(0, first, _ALL, last, ())
    ends = (first + 1, last + 1) if is_rows else (column_name(first), column_name(last))
    axis = one["axis"][:-1].capitalize()
    label = f"{axis} {ends[0]}" if first == last else f"{axis}s {ends[0]}–{ends[1]}"
    area = f"A{ends[0]}" if is_rows else f"{ends[0]}1"
    verb = "inserted" if is_added else "removed"
    entry = Entry(
        number=0,
        change="added" if is_added else "removed",
        label=label,
        what=f"{count_text(one['count'], one['axis'][:-1])} {verb}",
        place=spelled(Place(sheet=sheet, range=area)) if is_added else None,
        near=spelled(Place(sheet=sheet)),
        facts=_held_by(one),
    )
    return _Found(entry=entry, regions={"after" if is_added else "before": region}, frames={})


def _held_by(lines: Data) -> tuple[str, ...]:
    """Return how what lines hold begins, as one line."""
    texts = [str(text) for text in lines["texts"]]
    count = lines["cell_count"]
    more = ("…",) if count is None or count > len(texts) else ()
    return (" · ".join((*texts, *more)),) if texts else ()


def _cells(sheet: str, lines: Sequence[Data], made: Mapping[str, _Drawn]) -> Iterator[_Found]:
    """Yield changed cells, those beside one another to which the same happened together."""
    now = {_cell(one["cell"]): shown_cell(one) for one in (made["after"].changes or ())}
    then: dict[Cell, Cell] = {}
    for one in made["before"].changes or ():
        then[_cell(one.get("cell_after") or one["cell"])] = _cell(one["cell"])
    came = {at for at in now if any(_is_in(one, at) for one in lines)}
    keys = {at: (one["change"], one["kind"]) for at, one in now.items() if at not in came}
    for region in regions(keys):
        was = [then[at] for at in region.cells() if at in then]
        sides = {"after": region}
        if was and region.key[0] != "added":
            rows, cols = [row for row, _ in was], [col for _, col in was]
            sides["before"] = Region(min(rows), min(cols), max(rows), max(cols), region.key)
        cells = [now[at] for at in region.cells()]
        yield _Found(entry=_entry(sheet, region, cells), regions=sides, frames={})


def _is_in(lines: Data, cell: Cell) -> bool:
    """Say whether a cell came with inserted lines."""
    at = cell[0] if lines["axis"] == "rows" else cell[1]
    first = lines["at"] - 1
    return bool(lines["kind"] != "removed" and first <= at < first + lines["count"])


def _entry(sheet: str, region: Region, cells: Sequence[Data]) -> Entry:
    change, kind = region.key
    area = _name(region)
    is_look = kind == "style"
    sides = () if is_look else tuple(_side(one) for one in cells[:LINES_SHOWN])
    looks = list(dict.fromkeys(text for one in cells for text in one["formats"]))
    return Entry(
        number=0,
        change=change,
        label=area,
        what=f"{count_text(len(cells), _SORTS.get(kind, kind))} {_became(change, cells)}",
        place=spelled(Place(sheet=sheet, range=area)),
        sides=sides,
        facts=tuple(looks[:LINES_SHOWN]),
        more=0 if is_look else max(0, len(cells) - LINES_SHOWN),
    )


def _became(change: str, cells: Sequence[Data]) -> str:
    """Return what became of cells; a value in place of a formula is more than a change of it."""
    said = {one["what"] for one in cells}
    return "replaced by a value" if said == {"formula replaced by a value"} else change


def _side(cell: Data) -> Side:
    """Return a cell before and after: what the sheet shows of it, its formulas beside that."""
    change, results = cell["change"], cell["results"]
    before = None if change == "added" else cell["before"]
    after = None if change == "removed" else cell["after"]
    if results is None:
        return Side(at=cell["cell"], before=before, after=after, plain=cell["plain"])
    held = (before, after)
    told = [_result(one, shown) for one, shown in zip(held, results, strict=True)]
    return Side(
        at=cell["cell"],
        before=told[0],
        after=told[1],
        formulas=held,
        plain=cell["plain"],
    )


def _result(held: str | None, shown: str | None) -> str | None:
    """Return what a cell shows; a formula whose result the file does not hold shows none."""
    if held is None or shown:
        return shown
    return "(not stored)" if shown is None and held.startswith("=") else ""


def _framed(diff: Diff, sheet: str, made: Mapping[str, _Drawn]) -> Iterator[_Found]:
    """Yield charts and pictures that came, went or are others, as far as they are in sight."""
    frames = {
        name: {one["label"]: one for one in one_side.drawing["frames"] if one["kind"] in _KINDS}
        for name, one_side in made.items()
        if one_side.drawing
    }
    for label in dict.fromkeys(label for side in reversed(frames.values()) for label in side):
        told = [words for one in diff.also or () for words in _about(one, label, sheet)]
        sides = {name: side[label] for name, side in frames.items() if label in side}
        if not told:
            yield from _other_values(label, sides)
            continue
        change = "changed" if len(sides) > 1 else "added" if "after" in sides else "removed"
        place = sides["after"]["place"] if "after" in sides else None
        kind = next(iter(sides.values()))["kind"]
        facts = tuple(told[:LINES_SHOWN])
        entry = Entry(
            number=0,
            change=change,
            label=label,
            what=f"{kind} {change}",
            place=place,
            near=spelled(Place(sheet=sheet)),
            facts=facts,
        )
        yield _Found(entry=entry, regions={}, frames=sides)


def _other_values(label: str, sides: Mapping[str, Data]) -> Iterator[_Found]:
    """Yield the entry of a chart that is as it was and whose cells are not."""
    if len({one["shows"] for one in sides.values()}) < 2:
        return
    title = sides["after"]["title"]
    entry = Entry(
        number=0,
        change="changed",
        label=f"{label}: {title}" if title else label,
        what="shows other values",
        place=sides["after"]["place"],
        facts=("It follows its cells: there is nothing of its own to take or leave.",),
    )
    yield _Found(entry=entry, regions={}, frames=sides)


def _about(also: Data, label: str, sheet: str) -> Iterable[str]:
    """Return what an entry of B12.22 says of a chart or picture of a sheet."""
    if also["place"] == f"{label} on sheet {sheet}":
        return also["what"] or [also["text"]]
    if not str(also["place"]).endswith(f" on sheet {sheet}"):
        return ()
    begins = (f"{label}:", f"{label} added", f"{label} removed")
    return [one for one in also["what"] if str(one).startswith(begins)]


def _also(diff: Diff | None, found: Sequence[_Found]) -> tuple[str, ...]:
    """Return what else changed in the file and has no place in this picture."""
    said = {fact for one in found if one.frames for fact in one.entry.facts}
    left = []
    for one in (diff.also if diff is not None else None) or ():
        told = [str(text) for text in one["what"]]
        if not told or not set(told) <= said:
            left.append(str(one["text"]))
    return tuple(left)


# ---------------------------------------------------------------- where it is drawn


def _outlines(
    name: str, side: _Drawn, found: Sequence[_Found], entries: Sequence[Entry]
) -> Iterator[Outline]:
    drawing = side.drawing
    if drawing is None:
        return
    for one, entry in zip(found, entries, strict=False):
        if name in one.frames:
            frame = one.frames[name]
            rect = (frame["x"], frame["y"], frame["width"], frame["height"])
            yield outline(rect, entry=entry, unit=_UNIT)
        elif name in one.regions and (placed := _rect(drawing, one.regions[name])):
            yield outline(placed, entry=entry, unit=_UNIT)


def _rect(drawing: Data, area: Region) -> Rect | None:
    """Return where cells stand, merged ones whole; whole rows and columns stay as they are."""
    rect = cell_rect(drawing, area.row, area.col, area.last_row, area.last_col)
    if rect is None or _ALL in (area.last_row, area.last_col):
        return rect
    left, top, right, bottom = rect[0], rect[1], rect[0] + rect[2], rect[1] + rect[3]
    for one in drawing["frames"]:
        x, y, width, height = one["x"], one["y"], one["width"], one["height"]
        is_beside = x >= right or x + width <= left or y >= bottom or y + height <= top
        if one["kind"] == "cell" and not is_beside:
            left, top = min(left, x), min(top, y)
            right, bottom = max(right, x + width), max(bottom, y + height)
    return left, top, right - left, bottom - top


def _remarked(shown: Shown, name: str, side: _Drawn, sheet: str) -> Iterator[Outline]:
    """Yield the places of open comments; they are in the Draft."""
    if name != "after" or side.drawing is None:
        return
    for one in shown.placed:
        place = one.place
        if place is None or place.sheet != sheet or not place.range:
            continue
        if rect := _rect(side.drawing, _area(place.range)):
            yield outline(rect, remark=one.number, unit=_UNIT)


def _area(text: str) -> Region:
    first, _, last = text.partition(":")
    row, col = _cell(first)
    last_row, last_col = _cell(last or first)
    return Region(row, col, last_row, last_col, ())


def _cell(name: str) -> Cell:
    return cell_at(name) or (0, 0)


def _name(area: Region) -> str:
    first = f"{column_name(area.col)}{area.row + 1}"
    last = f"{column_name(area.last_col)}{area.last_row + 1}"
    return first if first == last else f"{first}:{last}"

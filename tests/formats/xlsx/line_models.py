"""Workbooks as plain dictionaries, of which lines come and go, and the files of them."""

from __future__ import annotations

import random
import zipfile
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import xlsxwriter

from backshop.formats.protocol import Source
from backshop.formats.xlsx.syntax.address import Area, cell_name, parse_area, parse_cell
from backshop.formats.xlsx.syntax.line_shift import LineShift
from backshop.formats.xlsx.syntax.reference import moved

from .books import source

Cells = dict[tuple[int, int], object]


@dataclass
class Model:
    """Sheets by their names, each a dictionary of cells; a text that begins with `=` is one."""

    sheets: dict[str, Cells] = field(default_factory=dict)
    merges: dict[str, list[str]] = field(default_factory=dict)

    def shifted(self, sheet: str, *shifts: LineShift, follow: bool = True) -> Model:
        """Return the workbook after lines came or went; without `follow` references stay behind."""
        now = self
        for shift in shifts:
            now = now._shifted(sheet, shift, follow)
        return now

    def _shifted(self, sheet: str, shift: LineShift, follow: bool) -> Model:
        change = shift.on(sheet)
        made: dict[str, Cells] = {}
        for name, cells in self.sheets.items():
            made[name] = {}
            for (row, col), value in cells.items():
                place = [row, col]
                at = 0 if shift.axis == "row" else 1
                if name == sheet:
                    line = shift.line(place[at])
                    if line is None:
                        continue
                    place[at] = line
                if follow and isinstance(value, str) and value.startswith("="):
                    value = "=" + moved(value[1:], name, change)
                made[name][place[0], place[1]] = value
        merges = {
            name: [
                str(area)
                for one in areas
                if (area := _merged(one, shift, name == sheet and follow))
            ]
            for name, areas in self.merges.items()
        }
        return Model(made, merges)

    def edited(self, sheet: str, **cells: object) -> Model:
        """Return the workbook with other values in some cells."""
        made = {name: dict(held) for name, held in self.sheets.items()}
        for name, value in cells.items():
            place = parse_cell(name)
            assert place
            made[sheet][place] = value
        return Model(made, self.merges)

    def write(self, path: Path) -> Source:
        """Write the file; all texts stand in their cells."""
        with xlsxwriter.Workbook(str(path)) as file:
            for name in self.sheets:
                file.add_worksheet(name)
        with zipfile.ZipFile(path) as old:
            parts = {name: old.read(name) for name in old.namelist()}
        for at, (name, cells) in enumerate(self.sheets.items(), 1):
            part = f"xl/worksheets/sheet{at}.xml"
            data = b"<sheetData>" + _rows(cells).encode() + b"</sheetData>"
            areas = self.merges.get(name, [])
            if areas:
                refs = "".join(f'<mergeCell ref="{one}"/>' for one in areas)
                data += f'<mergeCells count="{len(areas)}">{refs}</mergeCells>'.encode()
            parts[part] = parts[part].replace(b"<sheetData/>", data)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
            for part, content in parts.items():
                new.writestr(part, content)
        return source(path)


def _merged(area: str, shift: LineShift, is_moved: bool) -> Area | None:
    found = parse_area(area)
    assert found
    return shift.area(found) if is_moved else found


def _rows(cells: Cells) -> str:
    rows: dict[int, list[int]] = {}
    for row, col in sorted(cells):
        rows.setdefault(row, []).append(col)
    return "".join(
        f'<row r="{row}">'
        + "".join(_cell(cell_name(row, col), cells[row, col]) for col in cols)
        + "</row>"
        for row, cols in rows.items()
    )


def _cell(name: str, value: object) -> str:
    if isinstance(value, str) and value.startswith("="):
        return f'<c r="{name}"><f>{escape(value[1:], quote=False)}</f></c>'
    if isinstance(value, str):
        return f'<c r="{name}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{name}"><v>{value}</v></c>'


def random_model(rnd: random.Random) -> Model:
    """Make a workbook of two sheets with repeated and blank lines, and formulas between them."""
    made: dict[str, Cells] = {}
    for name in ("Sales", "Costs"):
        cells: Cells = {}
        width, height = rnd.randint(2, 7), rnd.randint(4, 25)
        for row in range(1, height + 1):
            if rnd.random() < 0.15:
                continue
            same = rnd.random() < 0.2
            for col in range(1, width + 1):
                if rnd.random() < 0.1:
                    continue
                cells[row, col] = 7 if same else _value(rnd, row, col)
        for col in range(1, width + 1):
            cells[height + 2, col] = f"=SUM({cell_name(2, col)}:{cell_name(height, col)})"
        made[name] = cells
    return Model(made, {"Sales": [f"B{n}:C{n}" for n in range(30, 33)]})


def _value(rnd: random.Random, row: int, col: int) -> object:
    kind = rnd.random()
    if kind < 0.2 and row > 1:
        other = rnd.choice(["", "Sales!", "Costs!"])
        return f"={other}{cell_name(row, rnd.randint(1, 3))}*{rnd.randint(2, 9)}"
    if kind < 0.5:
        return f"item {rnd.randint(1, 400)}"
    return rnd.randint(1, 999)

"""Random workbooks, random lines: what a model that knows every row by itself says is written.

The model has no addresses: a formula names rows and columns as things, and a range is all that
stands from the first to the last of its things that are left.
"""

from __future__ import annotations

import random
import re
import zipfile
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from backshop.formats.xlsx.syntax.address import cell_name

from .books import edit, lines, source

SHEETS = ("One", "It's 2")
SPELLED = {"One": "One", "It's 2": "'It''s 2'"}
Line = int  # a row or column as a thing


@dataclass
class Ref:
    """A rectangle of a sheet, by its lines."""

    sheet: str
    rows: list[Line]
    cols: list[Line]
    dollars: tuple[str, str]
    is_cell: bool


@dataclass
class Grid:
    """A sheet: its rows and columns in order, numbers and formulas by their lines."""

    rows: list[Line]
    cols: list[Line]
    numbers: dict[tuple[Line, Line], int] = field(default_factory=dict)
    formulas: dict[tuple[Line, Line], list[Ref]] = field(default_factory=dict)


class Model:
    """A workbook of things."""

    def __init__(self, dice: random.Random) -> None:
        self.dice, self.line = dice, count(1)
        self.sheets = {name: Grid(self._lines(9), self._lines(6)) for name in SHEETS}
        for grid in self.sheets.values():
            for row in grid.rows:
                for col in grid.cols[:4]:
                    grid.numbers[row, col] = dice.randint(1, 99)
        for grid in self.sheets.values():
            for row in grid.rows:
                for col in grid.cols[4:]:
                    grid.formulas[row, col] = [self._ref() for _ in range(dice.randint(1, 3))]

    def _lines(self, many: int) -> list[Line]:
        return [next(self.line) for _ in range(many)]

    def _ref(self) -> Ref:
        sheet = self.dice.choice(SHEETS)
        grid = self.sheets[sheet]

        def some(given: list[Line]) -> list[Line]:
            first = self.dice.randrange(len(given))
            return given[first : first + self.dice.choice((1, 1, 2, 4))]

        dollars = (self.dice.choice(("", "$")), self.dice.choice(("", "$")))
        rows, cols = some(grid.rows), some(grid.cols[:4])
        return Ref(sheet, rows, cols, dollars, len(rows) == len(cols) == 1)

    def text(self, home: str, refs: list[Ref]) -> str:
        return "+".join(f"SUM({self._spelled(home, ref)})" for ref in refs)

    def _ends(self, ref: Ref) -> tuple[int, int, int, int] | None:
        grid = self.sheets[ref.sheet]
        rows = [at for at, line in enumerate(grid.rows, 1) if line in ref.rows]
        cols = [at for at, line in enumerate(grid.cols, 1) if line in ref.cols]
        return (rows[0], cols[0], rows[-1], cols[-1]) if rows and cols else None

    def _spelled(self, home: str, ref: Ref) -> str:
        ends = self._ends(ref)
        if ends is None:
            return "#REF!"
        prefix = "" if ref.sheet == home else f"{SPELLED[ref.sheet]}!"
        names = [self._cell(*ends[:2], ref.dollars), self._cell(*ends[2:], ref.dollars)]
        return prefix + (names[0] if ref.is_cell else ":".join(names))

    def _cell(self, row: int, col: int, dollars: tuple[str, str]) -> str:
        return f"{dollars[0]}{cell_name(1, col)[:-1]}{dollars[1]}{row}"

    def value(self, refs: list[Ref]) -> int | str:
        total = 0
        for ref in refs:
            ends, grid = self._ends(ref), self.sheets[ref.sheet]
            if ends is None:
                return "#REF!"
            for row in grid.rows[ends[0] - 1 : ends[2]]:
                for col in grid.cols[ends[1] - 1 : ends[3]]:
                    total += grid.numbers.get((row, col), 0)
        return total

    def operation(self) -> dict[str, Any]:
        """Change some lines of a sheet, and return the operation that does it."""
        op = self._changed()
        for grid in self.sheets.values():
            for ref in (one for refs in grid.formulas.values() for one in refs):
                ends, there = self._ends(ref), self.sheets[ref.sheet]
                top, left, bottom, right = ends or (1, 1, 0, 0)  # what came between belongs to it
                ref.rows, ref.cols = there.rows[top - 1 : bottom], there.cols[left - 1 : right]
        return op

    def _changed(self) -> dict[str, Any]:
        sheet = self.dice.choice(SHEETS)
        grid, axis = self.sheets[sheet], self.dice.choice(("row", "column"))
        given = grid.rows if axis == "row" else grid.cols
        at = self.dice.randrange(len(given))
        if self.dice.random() < 0.6:
            many = self.dice.randint(1, 3)
            given[at:at] = self._lines(many)
            return {"op": f"insert_{axis}s", "sheet": sheet, axis: at + 1, "count": many}
        last = min(at + self.dice.randint(0, 1), len(given) - 1)
        del given[at : last + 1]
        return {"op": f"delete_{axis}s", "sheet": sheet, "from": at + 1, "to": last + 1}

    def operations(self) -> list[dict[str, Any]]:
        """Return the operations that write the workbook."""
        ops: list[dict[str, Any]] = []
        for name, grid in self.sheets.items():
            cells = [
                {"cell": cell_name(r, c), "value": self._content(name, grid, row, col)}
                for r, row in enumerate(grid.rows, 1)
                for c, col in enumerate(grid.cols, 1)
            ]
            ops += [
                {"op": "ensure_sheet", "sheet": name},
                {"op": "set_cells", "sheet": name, "cells": cells},
            ]
        return [op for op in ops if op["op"] == "ensure_sheet"] + [
            op for op in ops if op["op"] != "ensure_sheet"
        ]

    def _content(self, name: str, grid: Grid, row: Line, col: Line) -> int | str:
        if (row, col) in grid.numbers:
            return grid.numbers[row, col]
        return "=" + self.text(name, grid.formulas[row, col])

    def shown(self, name: str, *, results: bool) -> list[list[str]]:
        """Return what a read of a sheet shows."""
        grid = self.sheets[name]
        return [
            [self._shown(name, grid, row, col, results) for col in grid.cols] for row in grid.rows
        ]

    def _shown(self, name: str, grid: Grid, row: Line, col: Line, results: bool) -> str:
        if (row, col) in grid.numbers:
            return str(grid.numbers[row, col])
        refs = grid.formulas.get((row, col))
        if refs is None:
            return ""
        text = self.text(name, refs)
        return f"{self.value(refs)} {{={text}}}" if results else f"={text}"


def _read(path: Path, name: str, model: Model, cells: str) -> list[list[str]]:
    grid = model.sheets[name]
    area = f"A1:{cell_name(len(grid.rows), len(grid.cols))}"
    rows = [line.split("\t")[1:] for line in lines(path, sheet=name, range=area, cells=cells)]
    rows = rows[-len(grid.rows) :]
    return [row + [""] * (len(grid.cols) - len(row)) for row in rows]


@pytest.mark.rule("F35.2", "F35.3", "F35.10")
@pytest.mark.parametrize("seed", range(6))
def test_formulas_and_results_are_those_of_the_model(tmp_path, seed):
    dice = random.Random(seed)
    model = Model(dice)
    path, out = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    edit(None, path, *model.operations())

    done = edit(source(path), out, *(model.operation() for _ in range(dice.randint(1, 4))))

    for name in SHEETS:
        assert _read(out, name, model, "both") == model.shown(name, results=True)
    assert done.effects.collateral == ()


@pytest.mark.rule("F35.2", "F35.3")
def test_many_random_workbooks_follow_the_model(tmp_path, scaled):
    path, out = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    for seed in range(100, 100 + scaled(8, 300)):
        model = Model(random.Random(seed))
        edit(None, path, *model.operations(), recalculate=False)
        for _ in range(3):
            op = model.operation()
            done = edit(source(path), out, op, recalculate=False)
            assert done.effects.collateral == (), (seed, op)
            for name in SHEETS:
                read = _read(out, name, model, "formulas")
                assert read == model.shown(name, results=False), (seed, op, name)
            out.replace(path)


def _shared(path: Path, out: Path, area: str, first: str) -> None:
    """Write a workbook whose formulas are one shared formula, held by the cell `first`."""
    with zipfile.ZipFile(path) as file:
        held = {info.filename: file.read(info) for info in file.infolist()}
    name = next(name for name in held if name.endswith("sheet1.xml"))

    def element(match: re.Match[bytes]) -> bytes:
        if match[1].decode() == first:
            mark = f'<f t="shared" ref="{area}" si="3">'.encode()
            return match[0].replace(b"<f>", mark)
        return match[0].replace(match[2], b'<f t="shared" si="3"/>')

    held[name] = re.sub(rb'<c r="([A-Z]+[0-9]+)"[^>]*>(<f>[^<]*</f>)', element, held[name])
    with zipfile.ZipFile(out, "w") as file:
        for part, data in held.items():
            file.writestr(part, data)


@pytest.mark.rule("F35.3")
def test_shared_formulas_follow_as_if_each_were_spelled_out(tmp_path, scaled):
    path, shared, out = tmp_path / "a.xlsx", tmp_path / "s.xlsx", tmp_path / "b.xlsx"
    for seed in range(scaled(10, 200)):
        dice = random.Random(seed)
        cells = [
            f"{dice.choice(('', '$'))}{dice.choice('ABDGHK')}{dice.choice(('', '$'))}{row}"
            for row in (dice.randint(1, 12) for _ in range(5))
        ]
        formula = f"={cells[0]}+SUM({cells[1]}:{cells[2]})+Other!{cells[3]}&SUM({cells[4]}:G:G)"
        formula = formula.replace(f"{cells[4]}:G:G", dice.choice((cells[4], "G:G", "4:5", "$3:7")))
        edit(
            None,
            path,
            {"op": "ensure_sheet", "sheet": "S"},
            {"op": "ensure_sheet", "sheet": "Other"},
            {"op": "fill_formula", "sheet": "S", "range": "C3:F9", "formula": formula},
            recalculate=False,
        )
        _shared(path, shared, "C3:F9", "C3")
        assert lines(shared, sheet="S", cells="formulas") == lines(
            path, sheet="S", cells="formulas"
        )
        axis, at = dice.choice(("row", "column")), dice.randint(1, 11)
        sheet = dice.choice(("S", "S", "Other"))
        op = {"op": f"insert_{axis}s", "sheet": sheet, axis: at, "count": dice.randint(1, 3)}
        if dice.random() < 0.5:
            op = {"op": f"delete_{axis}s", "sheet": sheet, "from": at, "to": at + 1}

        read = []
        for base in (path, shared):
            edit(source(base), out, op, recalculate=False)
            read.append(lines(out, sheet="S", cells="formulas"))

        assert read[0] == read[1], (seed, formula, op)

"""Lines as LibreOffice moves them: what we write, computed there, is what it makes by itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from backshop.formats.errors import FormatError
from backshop.formats.package.package import Package
from backshop.formats.xlsx.book.workbook import Book

from .books import edit, mapped, source
from .test_corpora import workbooks
from .test_line_corpora import operations

pytestmark = [
    pytest.mark.needs("libreoffice", "corpora"),
    pytest.mark.proof,
    pytest.mark.timeout(3600),
]
SCRIPT = Path(__file__).with_name("office_lines.py")
SHEETS = 2  # of every workbook
PARTS = (2, 6)  # lines behind the half of a sheet, and behind its first sixth
NEIGHBOUR = "LibreOffice takes the neighbour of a deleted column of a table"
READS_ONE = "what reads a formula with a deleted column of a table"
Place = tuple[str, int, int]


class Cell(NamedTuple):
    """What a cell shows after both ways."""

    formula: str | None
    kind: str
    value: float | str


@dataclass(frozen=True)
class Trial:
    """One insertion or deletion: by us and computed there, and all done there."""

    name: str
    op: dict[str, Any]
    ours: Path
    theirs: Path

    @property
    def shift(self) -> list[Any]:
        axis = "row" if self.op["op"].endswith("rows") else "column"
        at = self.op.get(axis) or self.op.get("from")
        by = self.op.get("count") or -1
        return [self.op["sheet"], axis, int(at or 1) - 1, by]


def python_with_uno() -> str | None:
    """Return a python that can talk to LibreOffice."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    for folder in dict.fromkeys([*folders, *os.defpath.split(os.pathsep)]):
        found = shutil.which("python3", path=folder)
        if (
            found
            and not subprocess.run([found, "-c", "import uno"], capture_output=True).returncode
        ):
            return found
    return None


def trials(corpora: Path, folder: Path) -> tuple[list[Trial], list[list[Any]], Counter[str]]:
    """Do every operation on every workbook with formulas; return what LibreOffice has to do."""
    made: list[Trial] = []
    jobs: list[list[Any]] = []
    refused: Counter[str] = Counter()
    for number, path in enumerate(workbooks(corpora)):
        try:
            sheets = mapped(source(path))["sheets"]
        except FormatError:
            continue
        if not any(sheet.get("has_formulas") for sheet in sheets):
            continue
        for sheet in [one for one in sheets if one["kind"] == "worksheet"][:SHEETS]:
            for op in (one for part in PARTS for one in operations(sheet, part)):
                stem = f"{number}-{len(made)}"
                ours, theirs = folder / f"{stem}-ours.xlsx", folder / f"{stem}-theirs.xlsx"
                try:
                    edit(source(path), folder / "edited.xlsx", op)
                except FormatError as error:
                    refused[error.reason] += 1
                    continue
                edited = (folder / "edited.xlsx").rename(folder / f"{stem}-edited.xlsx")
                trial = Trial(path.name, op, ours, theirs)
                made.append(trial)
                jobs += [[str(path), str(theirs), trial.shift], [str(edited), str(ours), None]]
    return made, jobs, refused


def cells(path: Path) -> tuple[dict[Place, Cell], dict[tuple[str, int | None], str]]:
    """Return what the cells of a saved workbook show, and its names."""
    book = Book(Package.open(source(path)))
    found: dict[Place, Cell] = {}
    for sheet in book.sheets:
        xml = book.xml(sheet)
        for row in xml.iter_rows() if xml else ():
            for cell in xml.cells(row) if xml else ():
                value, formula = book.value(cell), book.formula(cell, xml) if xml else None
                if formula is not None or value.kind != "blank":
                    number = round(value.number, 9) if value.number is not None else value.text
                    found[sheet.name, cell.row, cell.col] = Cell(formula, value.kind, number)
    return found, {(name.name, name.scope): name.refers_to for name in book.names}


def reason(trial: Trial, place: Place, theirs: Cell | None, ours: Cell | None) -> str | None:
    """Say why a cell is another one in LibreOffice, None where nothing explains it."""
    sheet, axis, at, by = trial.shift
    line = place[1] if axis == "row" else place[2]
    is_new = place[0] == sheet and by > 0 and at < line <= at + by
    if is_new and theirs is None and ours is not None:
        return "a table: as in Excel new rows get its formulas, new columns a header"
    if theirs is None or ours is None:
        return None
    texts = (theirs.formula or "", ours.formula or "")
    if by < 0 and all("#REF!" in text for text in texts):
        return "a reference that broke, spelled in two ways"
    if by < 0 and "#REF!" in texts[1] and "[" in texts[0]:
        return NEIGHBOUR
    if by < 0 and theirs.kind == ours.kind == "error":
        return "what comes of a reference that broke: another error"
    return None


@pytest.mark.rule("F35.2", "F35.3", "F35.10")
def test_every_formula_and_value_is_what_libreoffice_makes_of_the_same_lines(
    corpora, tmp_path, record_property
):
    python = python_with_uno()
    if python is None:
        pytest.skip("no python here can talk to LibreOffice")
    made, jobs, refused = trials(corpora, tmp_path)
    list_ = tmp_path / "jobs.json"
    list_.write_text(json.dumps(jobs))
    done = subprocess.run(
        [python, str(SCRIPT), str(tmp_path / "profile"), str(list_)],
        capture_output=True,
        text=True,
        timeout=3000,
        check=True,
    )
    failed = set(json.loads(done.stdout.splitlines()[-1]))

    told, formulas, names = Counter[str](), 0, 0
    found: list[tuple[object, ...]] = []
    for trial in made:
        if {str(trial.ours), str(trial.theirs)} & failed:
            told["LibreOffice does not load or save it"] += 1
            if str(trial.theirs) not in failed:
                found.append((trial.name, trial.op, "read before, and not what we wrote"))
            continue
        (theirs, their_names), (ours, our_names) = cells(trial.theirs), cells(trial.ours)
        formulas += sum(cell.formula is not None for cell in ours.values())
        places = [p for p in theirs.keys() | ours.keys() if theirs.get(p) != ours.get(p)]
        pairs = {place: (theirs.get(place), ours.get(place)) for place in places}
        whys = {place: reason(trial, place, *pair) for place, pair in pairs.items()}
        for place, (one, two) in pairs.items():
            why = whys[place]
            if why is None and NEIGHBOUR in whys.values() and one and two and two.value == "#REF!":
                why = READS_ONE if one.formula == two.formula else None
            told[why or "?"] += 1
            if why is None:
                found.append((trial.name, trial.op, place, one, two))
        for name in their_names.keys() | our_names.keys():
            names += 1
            both = (their_names.get(name, ""), our_names.get(name, ""))
            if both[0] != both[1] and not all("#REF!" in text for text in both):
                found.append((trial.name, trial.op, name, *both))

    record_property("corpus", "lines of workbooks, in LibreOffice")
    record_property("tried", len(made))
    record_property("formulas compared", formulas)
    record_property("names compared", names)
    for why, count in told.items():
        record_property(f"explained: {why}", count)
    for why, count in refused.items():
        record_property(f"refused: {why}", count)
    print(len(made), formulas, names, told, refused)
    assert found == []

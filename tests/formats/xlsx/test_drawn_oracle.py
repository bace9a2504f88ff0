"""Drawn sheets against LibreOffice: the same texts and series, cells and charts in the same places.

LibreOffice writes each workbook as flat OpenDocument, which says how wide its columns and how tall
its rows became and what its cells show; and as a workbook, which says where in its cells charts and
pictures stand (in OpenDocument it puts some into a wrong column). The machine has to have the faces
we draw in.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from backshop.formats import FormatError, write_samples, xlsx
from backshop.formats.package.guard import parse_xml
from backshop.formats.xlsx.book.opening import open_book
from backshop.formats.xlsx.book.workbook import Sheet
from backshop.formats.xlsx.drawing.drawing_part import PICTURE, DrawingPart, drawn_on
from backshop.formats.xlsx.drawing.listing import chart_facts

from .books import source

pytestmark = [
    pytest.mark.needs("libreoffice", "corpora"),
    pytest.mark.proof,
    pytest.mark.timeout(3600),
]

ROWS, COLUMNS = 60, 26
NEAR = 0.03  # of the page's width
_UNKNOWN = "#NAME?"  # a function that LibreOffice does not have
_IN_PX = {"cm": 96 / 2.54, "mm": 96 / 25.4, "in": 96.0, "pt": 96 / 72}
ODD = ("FormatConditionTests", "Formatting", "Themes2", "TextFormatTests", "WithTwoCharts")


Edges = tuple[float, float, float, float]  # left, right, top, bottom


@dataclass
class Lines:
    """A sheet as LibreOffice has it: edges of columns and rows in pixels, texts by cell."""

    columns: list[float] = field(default_factory=lambda: [0.0])
    rows: list[float] = field(default_factory=lambda: [0.0])
    texts: dict[tuple[int, int], str] = field(default_factory=dict)


def px(text: str | None) -> float:
    unit = (text or "0pt")[-2:]
    return float((text or "0pt")[:-2]) * _IN_PX[unit]


def converted(files: list[Path], kind: str, into: Path) -> None:
    profile = (into / "profile").as_uri()
    command = ["soffice", f"-env:UserInstallation={profile}", "--headless", "--norestore"]
    command += ["--convert-to", kind, "--outdir", str(into), *map(str, files)]
    subprocess.run(command, check=True, capture_output=True, timeout=1800)


def sheets(path: Path) -> dict[str, Lines]:
    root = etree.parse(path, etree.XMLParser(huge_tree=True)).getroot()
    sizes: dict[str, float] = {}
    for style in root.iter("{*}style"):
        for name in ("column-width", "row-height"):
            held = [
                one for item in style for key, one in item.items() if str(key).endswith(f"}}{name}")
            ]
            if held:
                sizes[attr(style, "name") or ""] = px(str(held[0]))
    book = next(root.iter("{*}spreadsheet"))
    tables = [one for one in book if str(one.tag).endswith("}table")]
    return {attr(table, "name") or "": lines(table, sizes) for table in tables}


def of(table: Any, name: str) -> list[Any]:
    """Return the rows or columns of a sheet, not those of charts on it."""
    found = table.iter("{*}" + name)
    return [one for one in found if next(one.iterancestors("{*}table")) is table]


def attr(element: Any, name: str) -> str | None:
    return next((one for key, one in element.items() if key.endswith(f"}}{name}")), None)


def lines(table: Any, sizes: dict[str, float]) -> Lines:
    found = Lines()
    for column in of(table, "table-column"):
        for _ in range(min(int(attr(column, "number-columns-repeated") or 1), COLUMNS)):
            hidden = attr(column, "visibility") in ("collapse", "filter")
            width = 0.0 if hidden else sizes.get(attr(column, "style-name") or "", 85.0)
            found.columns.append(found.columns[-1] + width)
    for row in of(table, "table-row"):
        for _ in range(min(int(attr(row, "number-rows-repeated") or 1), ROWS)):
            hidden = attr(row, "visibility") in ("collapse", "filter")
            height = 0.0 if hidden else sizes.get(attr(row, "style-name") or "", 17.0)
            if not hidden:
                cells(row, len(found.rows), found)
            found.rows.append(found.rows[-1] + height)
    return found


def things(book: Any, sheet: Sheet, lines: Lines) -> dict[str, list[Edges]]:
    """Return where the charts and pictures of a sheet that LibreOffice saved stand, by kind."""
    found: dict[str, list[Edges]] = {}
    for drawn in drawn_on(book, sheet):
        anchor = DrawingPart.of(book, drawn.drawing).children[drawn.at]
        corners = [anchor.find("{*}from"), anchor.find("{*}to")]
        if None not in corners:
            (left, top), (right, bottom) = (corner(one, lines) for one in corners)
            found.setdefault(drawn.sort, []).append((left, right, top, bottom))
    return found


def corner(element: Any, lines: Lines) -> tuple[float, float]:
    """Return a corner in pixels; below and beside the window every line is a usual one."""
    at = {name: int(element.findtext("{*}" + name)) for name in ("col", "colOff", "row", "rowOff")}
    edges = ((lines.columns, at["col"], at["colOff"]), (lines.rows, at["row"], at["rowOff"]))
    x, y = (
        held[number] + offset / 9525 if number < len(held) else 1e6
        for held, number, offset in edges
    )
    return x, y


def cells(row: Any, number: int, found: Lines) -> None:
    col = 1
    for cell in row:
        repeated = int(attr(cell, "number-columns-repeated") or 1)
        is_own = str(cell.tag).endswith("}table-cell") and repeated == 1
        words = [one for one in cell if str(one.tag).endswith("}p")] if is_own else []
        text = "\n".join("".join(one.itertext()) for one in words)
        if text and text != _UNKNOWN and attr(cell, "value-type") == "string":
            found.texts[number, col] = text
        col += repeated


def squeezed(text: str) -> str:
    return "".join(text.split())


def drawn_words(found: Any) -> str:
    root = parse_xml(found["svg"].encode())
    return "\0".join(squeezed("".join(map(str, one.itertext()))) for one in root.iter("{*}text"))


def workbooks(corpora: Path, folder: Path) -> list[Path]:
    folder.mkdir()
    made = [path for path in write_samples(folder) if path.suffix == ".xlsx"]
    named = sorted((corpora / "xlsx-features").glob("*.xlsx"))
    named += [corpora / "ooxml-odd" / f"{name}.xlsx" for name in ODD]
    named += sorted((corpora / "office-fixtures").glob("*.xlsx"))
    return [*made, *(path for path in named if path.exists())]


@dataclass
class Tally:
    """What was compared."""

    sheets: int = 0
    cells: int = 0
    near: int = 0
    things: int = 0
    things_far: list[str] = field(default_factory=list)
    texts: int = 0
    series: int = 0
    lacking: list[str] = field(default_factory=list)

    def take(self, name: str, found: Any, other: Lines) -> None:
        """Compare the cells of a window, each by its four edges, and its texts."""
        self.sheets += 1
        head = found["columns"][0], found["rows"][0]
        width = max(found["columns"][-1] - head[0], 1.0)
        xs = [x - head[0] for x in found["columns"]]
        ys = [y - head[1] for y in found["rows"]]
        last = (min(found["row_count"], len(ys) - 1), min(found["col_count"], len(xs) - 1))
        for row in range(1, min(last[0], len(other.rows) - 1) + 1):
            for col in range(1, min(last[1], len(other.columns) - 1) + 1):
                ours = (xs[col - 1], xs[col], ys[row - 1], ys[row])
                theirs = (*other.columns[col - 1 : col + 1], *other.rows[row - 1 : row + 1])
                far = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
                self.cells += 1
                self.near += far <= NEAR * width
        words = drawn_words(found)
        for (row, col), text in other.texts.items():
            seen = row <= last[0] and col <= last[1] and xs[col] > xs[col - 1]
            if seen and ys[row] > ys[row - 1]:
                self.texts += 1
                if not all(squeezed(part) in words.replace("\0", "") for part in text.split()):
                    self.lacking.append(f"{name} {row},{col}: {text[:40]}")

    def take_things(self, name: str, found: Any, others: dict[str, list[Edges]]) -> None:
        """Compare charts and pictures that end in the window, each by its four edges."""
        head, width = (found["columns"][0], found["rows"][0]), found["width"]
        for kind, theirs in others.items():
            ours = [one for one in found["frames"] if one["kind"] == kind]
            for at, edges in enumerate(theirs):
                if (
                    edges[1] > found["columns"][-1] - head[0]
                    or edges[3] > found["rows"][-1] - head[1]
                ):
                    continue  # the window ends there
                self.things += 1
                if at >= len(ours):
                    self.things_far.append(f"{name}: {kind} {at + 1} has no frame")
                    continue
                left, top = ours[at]["x"] - head[0], ours[at]["y"] - head[1]
                own = (left, left + ours[at]["width"], top, top + ours[at]["height"])
                far = max(abs(a - b) for a, b in zip(own, edges, strict=True))
                if far > NEAR * width:
                    self.things_far.append(f"{name}: {kind} {at + 1} by {far / width:.1%}")


def series_shown(book: Any, sheet: Sheet, found: Any, tally: Tally, name: str) -> None:
    words = drawn_words(found)
    for drawn in drawn_on(book, sheet):
        if drawn.sort == PICTURE:
            continue
        facts = chart_facts(book, drawn)
        is_listed = facts.legend and not {"pie", "doughnut"} & set(facts.kinds)
        root = parse_xml(book.package.read(drawn.part))
        taken_out = {one.get("val") for one in root.iterfind(".//{*}legendEntry/{*}idx")}
        for at, one in enumerate(facts.series if is_listed else ()):
            if str(at) in taken_out:
                continue
            called = one.name or f"Series{at + 1}"
            tally.series += 1
            if squeezed(called) not in words.replace("\0", ""):
                tally.lacking.append(f"{name}: series {called}")


@pytest.mark.rule("F43.25")
def test_sheets_are_drawn_as_libreoffice_lays_them_out(corpora, tmp_path, record_property):
    faces = subprocess.run(["fc-list"], capture_output=True, text=True, check=True).stdout
    if "Carlito" not in faces:
        pytest.skip("LibreOffice has no Carlito here")
    files = []
    for number, path in enumerate(workbooks(corpora, tmp_path / "samples")):
        files.append(tmp_path / f"{number:03}-{path.name}")
        shutil.copyfile(path, files[-1])
    out = tmp_path / "out"
    out.mkdir()
    converted(files, "fods", out)
    converted(files, "xlsx", out)
    tally = Tally()
    for path in files:
        theirs = sheets(out / f"{path.stem}.fods") if (out / f"{path.stem}.fods").exists() else {}
        book = open_book(source(path))
        saved = open_book(source(out / path.name)) if theirs else book
        for sheet in book.sheets:
            if sheet.kind != "worksheet" or sheet.name not in theirs:
                continue
            try:
                found: Any = xlsx.draw_sheet(source(path), sheet.name, 0, 0, ROWS, COLUMNS)
            except FormatError as error:
                tally.lacking.append(f"{path.stem}: {error.reason}")
                continue
            tally.take(f"{path.stem} {sheet.name}", found, theirs[sheet.name])
            again = next(one for one in saved.sheets if one.name == sheet.name)
            tally.take_things(path.stem, found, things(saved, again, theirs[sheet.name]))
            series_shown(book, sheet, found, tally, path.stem)
    for name in ("sheets", "cells", "near", "things", "texts", "series"):
        record_property(name, getattr(tally, name))

    print(tally)
    assert tally.sheets >= 60
    assert tally.lacking == []
    assert tally.near >= 0.95 * tally.cells
    assert tally.things >= 100
    assert len(tally.things_far) <= 0.05 * tally.things, tally.things_far
    assert tally.series >= 200

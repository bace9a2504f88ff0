"""The tasks that `measure_cost` lets an agent do: their files, what is asked, what is right.

A task also knows what a reader has to have seen before it can act, and how it acts then.
"""

from __future__ import annotations

import datetime
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import xlsxwriter
from docx import Document
from pptx import Presentation

Files = Mapping[str, bytes]

ROWS = 190
_TOPICS = (
    *("budget", "harbour", "garden", "insurance", "kitchen", "library", "meeting", "museum"),
    *("onboarding", "orchard", "parking", "payroll", "printer", "pump", "quarry", "railway"),
    *("recycling", "repair", "roof", "safety", "school", "server", "ship", "storage"),
)
_CUSTOMERS = (
    *("Abel Boats", "Brandt Foods", "Calder Mills", "Dorn Optics", "Eskil Print", "Falk Timber"),
    *("Grane Labs", "Halden Marine", "Isar Tools", "Juno Textiles", "Kessel Steel", "Lund Paper"),
    *("Moss Dairy", "Nyberg Rail", "Orla Glass", "Pavo Media", "Quist Salt", "Ravn Energy"),
    *("Sund Cables", "Tove Seeds"),
)
_CITIES = ("Aalborg", "Bergen", "Cork", "Dresden", "Eindhoven", "Faro", "Gdynia")


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of the model."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Read:
    """Something to read: what shows that it was read, and the call that reads it."""

    shown_by: str
    call: Call


class Task(ABC):
    """One task."""

    name: str
    request: str
    plan_item: str
    mode = "agent"

    @abstractmethod
    def files(self) -> Files:
        """Return the files of the bench."""

    @abstractmethod
    def reads(self) -> tuple[Read, ...]:
        """Return what has to be seen before anything can be done."""

    @abstractmethod
    def facts(self) -> tuple[str, ...]:
        """Return what was found out, for whoever goes on without having read."""

    @abstractmethod
    def answer(self, seen: str) -> str:
        """Return the answer, from what can be seen now."""

    @abstractmethod
    def is_right(self, before: Files, after: Files, answer: str) -> bool:
        """Say whether the files and the answer are what was asked for."""

    def writes(self, known: str) -> tuple[Call, ...]:
        """Return the calls that would do the work, the best one first, given all that is known."""
        return ()

    def check(self) -> Call | None:
        """Return the call that looks at what was written, where the answer to it does not show."""
        return None

    def changeset(self, seen: str) -> dict[str, Any]:
        """Return the changes as flow `compat` wants them."""
        nothing: dict[str, Any] = {"writes": [], "ops": []}
        return {"schema_version": 2, "summary": self.plan_item, "no_changes": True, **nothing}


class OneWord(Task):
    """One word in one of thirty small files: notes, and some documents of an office."""

    name = "one word among 30 files"
    path = "pump.md"
    request = "In pump.md the supplier is wrong: it is Nordlicht, not Nordwind. Please correct it."
    _sentence = "The spare seal is delivered by Nordwind on Friday."
    plan_item = f"Correct the supplier — in `pump.md`, Nordlicht for Nordwind in “{_sentence}”"

    def files(self) -> Files:
        """Return 24 notes of some 700 characters, and two documents of each kind of office file."""
        notes = {
            f"{topic}.{'md' if number % 3 else 'txt'}": self._note(topic, number).encode()
            for number, topic in enumerate(_TOPICS, 1)
        }
        agreements = {f"agreement-{n}.docx": _document(_clauses("30 days")) for n in (1, 2)}
        orders = {f"orders-{n}.xlsx": _orders(20 * n) for n in (1, 2)}
        talks = {f"talk-{n}.pptx": _talk(4 * n) for n in (1, 2)}
        return {**notes, **agreements, **orders, **talks}

    def _note(self, topic: str, number: int) -> str:
        mark = "# " if number % 3 else ""
        lines = [f"{mark}About the {topic}", ""]
        for week in range(1, 6):
            lines += [
                f"Week {week}: the {topic} was looked at by {_CUSTOMERS[(number + week) % 20]}, who"
                f" counted {number * week + 11} items and noted {number + week} open points.",
                "",
            ]
        if topic == "pump":
            lines += [self._sentence, ""]
        return "\n".join([*lines, f"Next date: {12 + number % 15} March, room {number}.", ""])

    def reads(self) -> tuple[Read, ...]:
        """Return the one file."""
        return (Read(self._sentence, Call("read_file", {"path": self.path})),)

    def facts(self) -> tuple[str, ...]:
        """Return where the word stands."""
        return (f"`{self.path}`: “{self._sentence}” (once)",)

    def writes(self, known: str) -> tuple[Call, ...]:
        """Return the edit."""
        edits = [{"search": "Nordwind", "replace": "Nordlicht"}]
        return (Call("edit_text_file", {"path": self.path, "edits": edits}),)

    def answer(self, seen: str) -> str:
        """Return what was done."""
        return "Done: `pump.md` now names Nordlicht as the supplier."

    def changeset(self, seen: str) -> dict[str, Any]:
        """Return the whole new text, which has to be visible."""
        plain = super().changeset(seen)
        if self._sentence not in seen:
            return plain
        text = self.files()[self.path].decode().replace("Nordwind", "Nordlicht")
        write = {"path": self.path, "content": text, "summary": "the supplier"}
        return {**plain, "no_changes": False, "writes": [write]}

    def is_right(self, before: Files, after: Files, answer: str) -> bool:
        """Say whether the word changed, and nothing else."""
        return after == {**before, self.path: before[self.path].replace(b"Nordwind", b"Nordlicht")}


class Question(Task):
    """A question whose answer stands in two files."""

    name = "question over two files"
    mode = "ask"
    request = (
        "How many days is the notice period in agreement.pdf, and what do the orders of Halden "
        "Marine in orders.xlsx come to in all?"
    )
    plan_item = "none"
    _notice = "The notice period is 47 days"

    def files(self) -> Files:
        """Return an agreement and a table of orders."""
        return {"agreement.pdf": _paper(_clauses("47 days")), "orders.xlsx": _orders(60)}

    @property
    def _total(self) -> str:
        total = sum(row[5] for row in _order_rows(60) if row[2] == "C-108")
        return f"{total:.2f}".rstrip("0").rstrip(".")

    def reads(self) -> tuple[Read, ...]:
        """Return the end of the agreement and the sum."""
        query = "SELECT sum(amount) AS total FROM data WHERE customer_id = 'C-108'"
        table = {"path": "orders.xlsx", "sheet": "Orders", "query": query}
        return (
            Read(self._notice, Call("read_file", {"path": "agreement.pdf"})),
            Read(self._total, Call("table_query", table)),
        )

    def facts(self) -> tuple[str, ...]:
        """Return both."""
        return (
            f"agreement.pdf, 4.5: {self._notice}",
            f"orders.xlsx: Halden Marine is C-108, in all {self._total}",
        )

    def answer(self, seen: str) -> str:
        """Return what can be read of the two."""
        days = "47 days" if self._notice in seen else "unknown to me"
        total = self._total if self._total in seen else "unknown to me"
        return f"The notice period is {days}; Halden Marine's orders come to {total}."

    def is_right(self, before: Files, after: Files, answer: str) -> bool:
        """Say whether both figures are given and no file changed."""
        return after == before and "47 days" in answer and self._total in answer


class Lookup(Task):
    """A column of 190 formulas that look something up on another sheet."""

    name = "lookup of 190 rows"
    path = "orders.xlsx"
    request = (
        "Add a column City to the sheet Orders of orders.xlsx: for every order the city of its "
        "customer, as a formula that looks it up on the sheet Customers."
    )
    plan_item = (
        f"Add City — `{path}`, Orders!G1:G{ROWS + 1} (order_id O-0001, O-0002, O-0003 … in A), by "
        "customer_id in C, from Customers!A:C (customer_id, name, city; C-103 is Calder Mills)"
    )
    _filled = f"G2:G{ROWS + 1}"

    def files(self) -> Files:
        """Return the workbook."""
        return {self.path: _orders(ROWS)}

    def reads(self) -> tuple[Read, ...]:
        """Return the first rows of both sheets."""
        return (
            Read("O-0003", _rows_of(self.path, "Orders", "A1:F4")),
            Read("Calder Mills", _rows_of(self.path, "Customers", "A1:C4")),
        )

    def facts(self) -> tuple[str, ...]:
        """Return how the sheets are laid out."""
        return (
            f"Orders!A1:F{ROWS + 1}: order_id (O-0001, O-0002, O-0003 …), date, customer_id "
            "(column C), product, quantity, amount; G is free",
            f"Customers!A1:C{len(_CUSTOMERS) + 1}: customer_id, name (Calder Mills is C-103), city",
        )

    def _formula(self, row: int) -> str:
        last = len(_CUSTOMERS) + 1
        return f"=INDEX(Customers!$C$2:$C${last},MATCH(C{row},Customers!$A$2:$A${last},0))"

    def writes(self, known: str) -> tuple[Call, ...]:
        """Return one formula for the range where that is offered, else all of them."""
        title = {"op": "set_cells", "sheet": "Orders", "cells": [{"cell": "G1", "value": "City"}]}
        filled = {"op": "fill_formula", "sheet": "Orders", "range": self._filled}
        once = {"path": self.path, "operations": [title, {**filled, "formula": self._formula(2)}]}
        each = {"path": self.path, "operations": [self._column()]}
        calls = [Call("xlsx_operations", once)] if "fill_formula" in known else []
        return (*calls, Call("xlsx_operations", each))

    def _column(self) -> dict[str, Any]:
        values = [["City"], *([self._formula(row)] for row in range(2, ROWS + 2))]
        return {"op": "set_range", "sheet": "Orders", "start": "G1", "values": values}

    def check(self) -> Call | None:
        """Return a look at the last rows."""
        return _rows_of(self.path, "Orders", f"C{ROWS - 1}:G{ROWS + 1}")

    def answer(self, seen: str) -> str:
        """Return what was done."""
        return f"Done: Orders!G1:G{ROWS + 1} of `{self.path}` now looks up each order's city."

    def changeset(self, seen: str) -> dict[str, Any]:
        """Return the column as one operation."""
        plain = super().changeset(seen)
        column = {"path": self.path, "kind": "xlsx", "summary": "City", "ops": [self._column()]}
        return {**plain, "no_changes": False, "ops": [column]}

    def is_right(self, before: Files, after: Files, answer: str) -> bool:
        """Say whether every row has its formula and all other cells are as they were."""
        was, now = _cells(before[self.path]), _cells(after[self.path])
        column = {("Orders", 1, 7): "City"}
        column |= {("Orders", row, 7): self._formula(row) for row in range(2, ROWS + 2)}
        return now == {**was, **column} and set(after) == set(before)


def _rows_of(path: str, sheet: str, area: str) -> Call:
    return Call("read_file", {"path": path, "sheet": sheet, "range": area})


def _clauses(notice: str) -> list[tuple[str, list[str]]]:
    titles = ("Parties", "Delivery", "Prices", "Termination")
    parts = [
        (
            f"{number}. {title}",
            [
                f"{number}.{part} The parties settle what concerns {title.lower()} in writing; "
                f"changes take effect after {number * 10 + part} working days unless objected."
                for part in range(1, 5)
            ],
        )
        for number, title in enumerate(titles, 1)
    ]
    parts[-1][1].append(f"4.5 The notice period is {notice} to the end of a quarter.")
    return parts


def _document(parts: list[tuple[str, list[str]]]) -> bytes:
    document: Any = Document()
    for title, lines in parts:
        document.add_heading(title, 1)
        for line in lines:
            document.add_paragraph(line)
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


def _paper(parts: list[tuple[str, list[str]]]) -> bytes:
    """Return a PDF of one page with this text on it."""
    lines = [line for title, under in parts for line in (title, *under)]
    shown = "".join(f"({line}) Tj T*\n" for line in lines)
    text = f"BT /F1 7 Tf 40 800 Td 14 TL\n{shown}ET".encode("latin-1")
    page = "/Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< {page} /Resources << /Font << /F1 5 0 R >> >> >>".encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return made + head + table + end % (len(objects) + 1, len(made))


def _talk(slides: int) -> bytes:
    talk: Any = Presentation()
    for number in range(1, slides + 1):
        slide = talk.slides.add_slide(talk.slide_layouts[1])
        slide.shapes.title.text = f"{number}. The {_TOPICS[number]}"
        slide.placeholders[1].text = f"What was found\nWhat it costs: {number * 120}\nWhat is next"
    made = io.BytesIO()
    talk.save(made)
    return made.getvalue()


def _order_rows(count: int) -> list[tuple[str, datetime.date, str, str, int, float]]:
    first = datetime.date(2026, 1, 5)
    return [
        (
            f"O-{number:04}",
            first + datetime.timedelta(days=number // 2),
            f"C-{101 + number * 7 % len(_CUSTOMERS)}",
            ("seal", "hose", "valve", "gauge")[number % 4],
            1 + number * 5 % 9,
            round(19.25 + number * 37 % 811 + number % 4 * 0.25, 2),
        )
        for number in range(1, count + 1)
    ]


def _orders(count: int) -> bytes:
    made = io.BytesIO()
    with xlsxwriter.Workbook(made, {"in_memory": True}) as book:
        bold = book.add_format({"bold": True, "bg_color": "#DDE6F0"})
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet = book.add_worksheet("Orders")
        titles = ("order_id", "date", "customer_id", "product", "quantity", "amount")
        sheet.write_row(0, 0, titles, bold)
        for row, (name, date, *rest) in enumerate(_order_rows(count), 1):
            sheet.write(row, 0, name)
            sheet.write_datetime(row, 1, date, day)
            sheet.write_row(row, 2, rest)
        other = book.add_worksheet("Customers")
        other.write_row(0, 0, ("customer_id", "name", "city"), bold)
        for row, name in enumerate(_CUSTOMERS, 1):
            other.write_row(row, 0, (f"C-{100 + row}", name, _CITIES[row % len(_CITIES)]))
        book.set_properties({"created": datetime.datetime(2026, 1, 1)})
    return made.getvalue()


def _cells(data: bytes) -> dict[tuple[str, int, int], object]:
    book = openpyxl.load_workbook(io.BytesIO(data))
    return {
        (sheet.title, cell.row, cell.column): cell.value
        for sheet in book.worksheets
        for line in sheet.iter_rows()
        for cell in line
        if cell.value is not None
    }


def written(files: Files, folder: Path) -> list[str]:
    """Write files into a folder and return their paths."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [str(folder / name) for name in files]


def as_json(value: object) -> str:
    """Return JSON as a model writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


TASKS: tuple[Task, ...] = (OneWord(), Question(), Lookup())

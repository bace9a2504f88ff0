"""The cells of a workbook as passages that are searched one by one (F33.1)."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.formats.protocol import Json, Passage, Source

from .book.opening import open_book
from .syntax.address import cell_name


def passages(source: Source) -> Iterator[Passage]:
    """Yield what every cell shows, and what its formula says."""
    book = open_book(source)
    for sheet in book.sheets:
        xml = book.xml(sheet)
        if xml is None:
            continue
        for row in xml.iter_rows():
            for cell in xml.cells(row):
                value = book.value(cell)
                formula = book.formula(cell, xml)
                if not value.text and formula is None:
                    continue
                where: dict[str, Json] = {
                    "sheet": sheet.name,
                    "range": cell_name(cell.row, cell.col),
                }
                yield Passage(where, value.seen)
                if formula is not None:
                    yield Passage({**where, "cells": "formulas"}, f"={formula}")

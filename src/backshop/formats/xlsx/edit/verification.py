"""Reads what operations wrote back through the reading path, and compares (F23.8)."""

from __future__ import annotations

from collections.abc import Mapping

from backshop.formats.errors import fail

from .session import Session

_NONE: Mapping[str, set[tuple[int, int]]] = {}


def verify(session: Session, filled: Mapping[str, set[tuple[int, int]]] = _NONE) -> None:
    """Read every written cell back through the reading path (F23.8).

    A cell that was emptied may be among those that a formula has `filled` since.
    """
    for sheet, expected in session.expected.items():
        found = session.book.find(sheet)
        xml = session.book.xml(found) if found else None
        if xml is None:
            raise fail("verify_failed", "a written sheet cannot be read back", detail=sheet)
        seen: dict[tuple[int, int], tuple[str, str]] = {}
        for row in xml.pick({row for row, _ in expected}):
            for cell in xml.cells(row):
                formula = session.book.formula(cell, xml)
                value = session.book.value(cell)
                text = value.text if value.number is None else repr(value.number)
                kind = "number" if value.kind == "date" else value.kind
                shown = ("formula", formula) if formula is not None else (kind, text)
                seen[row.number, cell.col] = shown
        for place, content in expected.items():
            if content.kind == "result":
                continue  # of a formula over several cells: it may have been computed again
            text = content.text
            if content.kind in {"number", "boolean"}:
                text = repr(float(text))
            kind, said = seen.get(place, ("blank", ""))
            if content.kind == "blank" and place in filled.get(sheet, ()):
                continue
            if content.kind == "copied":  # of a kind that only a comparison of bytes would tell
                is_there = kind != "blank"
            else:
                is_there = (kind, said) == (content.kind, text)
            if not is_there:
                raise fail("verify_failed", "a written cell reads back differently", detail=sheet)

"""What customers wrote, in German: a column waiting to be translated."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

import xlsxwriter

from .trade import CATALOGUE

_COMMENTS = (
    ("Sehr leicht und trotzdem stabil.", 5),
    ("Der Reißverschluss klemmt.", 2),
    ("Lieferung kam zwei Wochen zu spät.", 2),
    ("Hält auch bei starkem Regen dicht.", 5),
    ("Die Anleitung ist schwer zu verstehen.", 3),
    ("Preis und Leistung stimmen.", 4),
    ("Nach drei Touren schon ein Loch.", 1),
    ("Passt wie angegossen.", 5),
    ("Farbe weicht vom Foto ab.", 3),
    ("Kundendienst hat schnell geholfen.", 5),
    ("Zu schwer für lange Wanderungen.", 3),
    ("Gerne wieder!", 5),
)
_ANSWERS = 60


def write_feedback(path: Path) -> None:
    """Write the workbook: one sheet with a table of answers."""
    with xlsxwriter.Workbook(str(path)) as book:
        book.set_properties({"title": "Feedback", "created": datetime(2025, 12, 1, 9)})
        sheet = book.add_worksheet("Answers")
        head = book.add_format({"bold": True, "bg_color": "#E2EFDA", "bottom": 1})
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write_row(0, 0, ("answer_id", "answered_on", "product", "rating", "comment"), head)
        for place in range(_ANSWERS):
            comment, rating = _COMMENTS[(place * 7 + place // 12) % len(_COMMENTS)]
            row = place + 1
            sheet.write(row, 0, f"A{row:03}")
            sheet.write_datetime(row, 1, date(2025, 1, 6) + timedelta(days=6 * place), day)
            sheet.write(row, 2, CATALOGUE[place % len(CATALOGUE)].name)
            sheet.write(row, 3, rating)
            sheet.write(row, 4, comment)
        sheet.conditional_format(1, 3, _ANSWERS, 3, {"type": "icon_set", "icon_style": "3_arrows"})
        sheet.autofilter(0, 0, _ANSWERS, 4)
        sheet.freeze_panes(1, 0)
        sheet.set_column(0, 3, 13)
        sheet.set_column(4, 4, 42)

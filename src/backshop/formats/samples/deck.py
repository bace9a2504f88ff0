"""The board's slides, made with the operations an agent has too."""

from __future__ import annotations

from pathlib import Path

from backshop.formats.pptx import apply_ops
from backshop.formats.protocol import Json, OpsRequest

_SLIDES: tuple[dict[str, Json], ...] = (
    {
        "op": "add_slide",
        "layout": "title_slide",
        "title": "Board meeting",
        "body": "Tarn Outfitters, January 2026",
    },
    {
        "op": "add_slide",
        "title": "Agenda",
        "body": "The year in figures\nShops and people\nWhat we decide today",
    },
    {
        "op": "add_slide",
        "title": "Shops",
        "body": "Two new shops, in Kiruna and in Malmö\n  Both were on time and on budget\n"
        "The warehouse in Falun is full",
        "notes": "Ask whether to rent the hall next door.",
    },
    {
        "op": "add_slide",
        "layout": "two_content",
        "title": "What we decide today",
        "body": "The budget for 2026\nA second warehouse",
    },
)


def write_deck(path: Path) -> None:
    """Write the presentation."""
    request = OpsRequest(name=path.name, operations=list(_SLIDES), create_new=True)
    apply_ops(None, request, path)

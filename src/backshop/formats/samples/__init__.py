"""A small company's files, made from a seed: what a sample workbench holds (B18.1)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

_WRITERS = {  # each name is `module:function` here; office libraries load with the first use
    "README.md": "readme:write_readme",
    "annual-report.docx": "report:write_report",
    "board-deck.pptx": "deck:write_deck",
    "budget-2025.xlsx": "budget:write_budget",
    "customer-feedback.xlsx": "feedback:write_feedback",
    "orders.csv": "trade:write_orders",
    "payments.csv": "trade:write_payments",
    "sales-2025.csv": "trade:write_sales",
    "supplier-terms.pdf": "terms:write_terms",
}
SAMPLES = tuple(_WRITERS)


def write_samples(folder: Path) -> tuple[Path, ...]:
    """Write every sample file into an existing folder and return their paths.

    The same bytes on every machine and every day.
    """
    made = []
    for name, place in _WRITERS.items():
        module, _, function = place.partition(":")
        write: Callable[[Path], None] = getattr(import_module(f".{module}", __package__), function)
        write(folder / name)
        made.append(folder / name)
    return tuple(made)


__all__ = ["SAMPLES", "write_samples"]

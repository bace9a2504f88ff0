"""Excel workbooks: read by place in the bytes, changed cell by cell, everything else left alone."""

from __future__ import annotations

from .canvas.answer import draw_sheet, draw_sheet_png, view_sheet
from .edit.application import apply_ops
from .map import get_info, get_map, shown_sheets
from .passage import passages
from .read import read
from .review.grid import diff_cells, diff_window, extract_grid, extract_lines
from .review.note import review_notes
from .review.other_change import diff_rest
from .selection.comparison import separate
from .selection.composition import compose
from .selection.relocation import relocate, require_place
from .style.asset import copy_assets
from .style.report import get_styles

__all__ = [
    "apply_ops",
    "compose",
    "copy_assets",
    "diff_cells",
    "diff_rest",
    "diff_window",
    "draw_sheet",
    "draw_sheet_png",
    "extract_grid",
    "extract_lines",
    "get_info",
    "get_map",
    "get_styles",
    "passages",
    "read",
    "relocate",
    "require_place",
    "review_notes",
    "separate",
    "shown_sheets",
    "view_sheet",
]

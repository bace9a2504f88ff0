"""Word documents: maps, reads, operations that change only what was asked, styles, review."""

from __future__ import annotations

from .edit.operation import apply_ops
from .flow.drawing import draw_document, view_page
from .review.other_change import diff_rest
from .review.section_data import extract_document, extract_section
from .selection.composition import compose, separate
from .selection.relocation import relocate, require_place
from .style.asset import copy_assets
from .style.report import get_styles
from .text.map import get_info, get_map
from .text.passage import passages
from .text.read import extract_lines, read

__all__ = [
    "apply_ops",
    "compose",
    "copy_assets",
    "diff_rest",
    "draw_document",
    "extract_document",
    "extract_lines",
    "extract_section",
    "get_info",
    "get_map",
    "get_styles",
    "passages",
    "read",
    "relocate",
    "require_place",
    "separate",
    "view_page",
]

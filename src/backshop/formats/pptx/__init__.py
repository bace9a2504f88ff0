"""Presentations: maps, reads, operations that change only what was asked, styles, review."""

from __future__ import annotations

from .application import apply_ops
from .assets import copy_assets
from .canvas.slide import draw_slide, draw_slide_png, view_page
from .extract import extract_deck, extract_slide
from .map import get_info, get_map
from .other_change import diff_rest
from .passage import passages
from .read import extract_lines, read
from .selection.relocation import relocate, require_place
from .selection.unit import compose, separate
from .styles import get_styles

__all__ = [
    "apply_ops",
    "compose",
    "copy_assets",
    "diff_rest",
    "draw_slide",
    "draw_slide_png",
    "extract_deck",
    "extract_lines",
    "extract_slide",
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

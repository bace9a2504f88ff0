"""Word documents: maps, reads, operations that change only what was asked, styles, review."""

from __future__ import annotations

from .assets import copy_assets
from .extract import extract_document, extract_section
from .map import get_info, get_map
from .ops import apply_ops
from .read import extract_lines, read
from .rest import diff_rest
from .styles import get_styles

__all__ = [
    "apply_ops",
    "copy_assets",
    "diff_rest",
    "extract_document",
    "extract_lines",
    "extract_section",
    "get_info",
    "get_map",
    "get_styles",
    "read",
]

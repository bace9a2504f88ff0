"""Presentations: maps, reads, operations that change only what was asked, styles, review."""

from __future__ import annotations

from .map import get_info, get_map
from .ops import apply_ops
from .read import extract_lines, read

__all__ = ["apply_ops", "extract_lines", "get_info", "get_map", "read"]

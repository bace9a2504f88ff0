"""What is inside a file: maps, reads, edits that change only what was asked, tables, review."""

from __future__ import annotations

from backshop.base.place import FILE, Place

from .cache_purge import forget
from .canvas.face_folder import faces_folder
from .cell_range import cells_in, column_name, column_number, in_cells, remaining
from .diff.line_diff import CONTEXT_LINES, DiffLine, Hunk, RowChange, TableDiff, TextDiff
from .diff.missing_result import why_uncomputed
from .diff.part_diff import part_words
from .diff.remainder import (
    in_pages,
    lines_said,
    told_sheets,
    told_slides,
    uncompared,
    unsaid,
    without_facts,
)
from .diff.seen_cell import SeenCell, seen_cell
from .errors import FormatError, fail, reasons
from .find import Needle
from .kind import TAIL_BYTES, FileKind, check_end, classify, kind_of_name
from .open_table import OpenTable
from .operation_guide import explained, operation_sheet
from .package.archive import members
from .picture.libreoffice import find_program
from .picture.rendering import DRAWN, PageView, Preview
from .place import for_people, parse_place, spelled
from .protocol import (
    Applied,
    ChunkInfo,
    Effect,
    Effects,
    Found,
    Json,
    JsonObject,
    Kind,
    Limits,
    Map,
    OpsRequest,
    Read,
    Selector,
    Source,
    TextQuery,
)
from .registry import Formats
from .samples import SAMPLES, write_samples
from .selection.change_unit import GROUPS, ChangeUnit, Relocated, unit_id
from .text.dialect_wish import DialectWish
from .warning import NOTED, Warn
from .write.operation import named_files

__all__ = [
    "Applied",
    "CONTEXT_LINES",
    "ChangeUnit",
    "ChunkInfo",
    "DRAWN",
    "DialectWish",
    "DiffLine",
    "Effect",
    "Effects",
    "FILE",
    "FileKind",
    "FormatError",
    "Formats",
    "Found",
    "GROUPS",
    "Hunk",
    "Json",
    "JsonObject",
    "Kind",
    "Limits",
    "Map",
    "NOTED",
    "Needle",
    "OpenTable",
    "OpsRequest",
    "PageView",
    "Place",
    "Preview",
    "Read",
    "Relocated",
    "RowChange",
    "SAMPLES",
    "SeenCell",
    "Selector",
    "Source",
    "TAIL_BYTES",
    "TableDiff",
    "TextDiff",
    "TextQuery",
    "Warn",
    "cells_in",
    "column_number",
    "check_end",
    "column_name",
    "classify",
    "explained",
    "faces_folder",
    "fail",
    "find_program",
    "for_people",
    "forget",
    "in_cells",
    "in_pages",
    "kind_of_name",
    "lines_said",
    "members",
    "named_files",
    "operation_sheet",
    "parse_place",
    "part_words",
    "reasons",
    "remaining",
    "seen_cell",
    "spelled",
    "told_sheets",
    "told_slides",
    "uncompared",
    "unit_id",
    "unsaid",
    "why_uncomputed",
    "without_facts",
    "write_samples",
]

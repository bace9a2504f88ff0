"""What is inside a file: maps, reads, edits that change only what was asked, tables, review."""

from __future__ import annotations

from backshop.base.place import FILE, Place

from .cache_purge import forget
from .canvas.face_folder import faces_folder
from .cell_range import cells_in, remaining
from .diff.line_diff import DiffLine, Hunk, RowChange, TableDiff, TextDiff
from .diff.missing_result import why_uncomputed
from .diff.remainder import (
    in_pages,
    lines_said,
    told_sheets,
    told_slides,
    uncompared,
    unsaid,
    without_facts,
)
from .errors import FormatError, fail, reasons
from .find import Needle
from .kind import TAIL_BYTES, FileKind, check_end, classify, kind_of_name
from .open_table import OpenTable
from .operation_guide import explained, operation_sheet
from .package.archive import members
from .picture.libreoffice import find_program
from .picture.rendering import DRAWN, PageView, Preview
from .place import parse_place, spelled
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
    "DRAWN",
    "FILE",
    "GROUPS",
    "NOTED",
    "SAMPLES",
    "TAIL_BYTES",
    "Applied",
    "ChangeUnit",
    "ChunkInfo",
    "DialectWish",
    "DiffLine",
    "Effect",
    "Effects",
    "FileKind",
    "FormatError",
    "Formats",
    "Found",
    "Hunk",
    "Json",
    "JsonObject",
    "Kind",
    "Limits",
    "Map",
    "Needle",
    "OpenTable",
    "OpsRequest",
    "PageView",
    "Place",
    "Preview",
    "Read",
    "Relocated",
    "RowChange",
    "Selector",
    "Source",
    "TableDiff",
    "TextDiff",
    "TextQuery",
    "Warn",
    "cells_in",
    "check_end",
    "classify",
    "explained",
    "faces_folder",
    "fail",
    "find_program",
    "forget",
    "in_pages",
    "kind_of_name",
    "lines_said",
    "members",
    "named_files",
    "operation_sheet",
    "parse_place",
    "reasons",
    "remaining",
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

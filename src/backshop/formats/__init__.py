"""What is inside a file: maps, reads, edits that change only what was asked, tables, review."""

from __future__ import annotations

from .archive import members
from .diff import DiffLine, Hunk, RowChange, TableDiff, TextDiff
from .errors import FormatError, fail, reasons
from .forgetting import forget
from .kinds import TAIL_BYTES, FileKind, check_end, classify, kind_of_name
from .notes import NOTED, Warn
from .office import find_program
from .opentable import OpenTable
from .protocol import (
    Applied,
    ChunkInfo,
    Effect,
    Effects,
    Json,
    JsonObject,
    Kind,
    Limits,
    Map,
    OpsRequest,
    Read,
    Selector,
    Source,
)
from .registry import Formats
from .remainder import in_pages, told_sheets, told_slides, uncompared, unsaid, without_facts
from .render import Preview
from .samples import SAMPLES, write_samples

__all__ = [
    "NOTED",
    "SAMPLES",
    "TAIL_BYTES",
    "Applied",
    "ChunkInfo",
    "DiffLine",
    "Effect",
    "Effects",
    "FileKind",
    "FormatError",
    "Formats",
    "Hunk",
    "Json",
    "JsonObject",
    "Kind",
    "Limits",
    "Map",
    "OpenTable",
    "OpsRequest",
    "Preview",
    "Read",
    "RowChange",
    "Selector",
    "Source",
    "TableDiff",
    "TextDiff",
    "Warn",
    "check_end",
    "classify",
    "fail",
    "find_program",
    "forget",
    "in_pages",
    "kind_of_name",
    "members",
    "reasons",
    "told_sheets",
    "told_slides",
    "uncompared",
    "unsaid",
    "without_facts",
    "write_samples",
]

"""What is inside a file: maps, reads, edits that change only what was asked, tables, review."""

from __future__ import annotations

from .archive import members
from .errors import FormatError, fail, reasons
from .kinds import FileKind, classify, kind_of_name
from .notes import Warn
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

__all__ = [
    "Applied",
    "ChunkInfo",
    "Effect",
    "Effects",
    "FileKind",
    "FormatError",
    "Formats",
    "Json",
    "JsonObject",
    "Kind",
    "Limits",
    "Map",
    "OpsRequest",
    "Read",
    "Selector",
    "Source",
    "Warn",
    "classify",
    "fail",
    "kind_of_name",
    "members",
    "reasons",
]

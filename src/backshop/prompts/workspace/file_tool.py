"""The file tools a model sees: names, arguments and descriptions, the same over any files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..definition.tool import Effects


def _describe(text: str, **more: Any) -> dict[str, Any]:
    return {"description": text, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFiles:
    """Arguments of `list_files`."""

    prefix: str = field(default="", metadata=_describe("Folder to list; empty for everything"))
    limit: int = field(default=200, metadata=_describe("At most this many", ge=1, le=1000))
    cursor: str | None = field(default=None, metadata=_describe("`next_cursor` of the last call"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GetFileInfo:
    """Arguments of `get_file_info`."""

    path: str = field(metadata=_describe("Path of a file"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """Arguments of `read_file`."""

    path: str = field(metadata=_describe("Path of a file"))
    line_start: int = field(default=1, metadata=_describe("First line, from 1", ge=1))
    line_count: int = field(default=200, metadata=_describe("How many lines", ge=1, le=5000))


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobFiles:
    """Arguments of `glob_files`."""

    pattern: str = field(metadata=_describe("Such as `*.py` or `docs/**/*.md`", max_length=400))
    path: str = field(default="", metadata=_describe("Folder to look in"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GrepFiles:
    """Arguments of `grep_files`."""

    pattern: str = field(metadata=_describe("Regular expression, line by line", max_length=400))
    path: str = field(default="", metadata=_describe("Folder to look in"))
    glob: str | None = field(default=None, metadata=_describe("Only files that match this"))


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTextFile:
    """Arguments of `write_text_file`."""

    path: str = field(metadata=_describe("Path of the file to create or replace"))
    content: str = field(metadata=_describe("The whole new text, at most 1 MiB"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEdit:
    """One replacement."""

    search: str = field(metadata=_describe("Exact text to find", min_length=1))
    replace: str = field(metadata=_describe("What to put there"))
    expect: int = field(default=1, metadata=_describe("How often it must occur", ge=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class EditTextFile:
    """Arguments of `edit_text_file`."""

    path: str = field(metadata=_describe("Path of a text file"))
    edits: tuple[TextEdit, ...] = field(metadata=_describe("Applied in order, all or none"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePath:
    """Arguments of `delete_path`."""

    path: str = field(metadata=_describe("File or folder"))
    recursive: bool = field(default=False, metadata=_describe("Needed for a folder"))


FILE_TOOLS: tuple[tuple[str, type, Effects, str], ...] = (
    ("list_files", ListFiles, "read", "List the files of the workspace, page by page."),
    (
        "get_file_info",
        GetFileInfo,
        "read",
        "Say what a file is: size, hash, text or opaque, number of lines.",
    ),
    (
        "read_file",
        ReadFile,
        "read",
        "Read lines of a text file. `next_line` says where to go on.",
    ),
    ("glob_files", GlobFiles, "read", "Find files by a pattern of their names."),
    ("grep_files", GrepFiles, "read", "Find lines of text files by a regular expression."),
    (
        "write_text_file",
        WriteTextFile,
        "write",
        "Create a text file, or replace one you have read. Only this session sees the change.",
    ),
    (
        "edit_text_file",
        EditTextFile,
        "write",
        "Replace exact pieces of a text file you have read. Only this session sees the change.",
    ),
    ("delete_path", DeletePath, "write", "Delete a file or folder, for this session only."),
)
INFO_WITH_MAP = (
    "Say what a file is: kind, size, hash, and its map: sheets, sections, slides, pages, columns."
)
READ_BY_MAP = (
    "Read part of a file. Use a selector of its kind that the map lists; follow chunk_info.next to "
    "read on."
)

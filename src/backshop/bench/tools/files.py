"""Discovery, reading, and whole or exact edits of text files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backshop.base.field_copy import made_from
from backshop.bench import requests
from backshop.bench.files import published_files
from backshop.formats import Applied, Selector, Source
from backshop.prompts import Tool, ToolContext, ToolResult

from .workspace import Workspace, answered

NOTE_MAX_CHARS = 280


def described(text: str) -> dict[str, object]:
    """Return field metadata with a description for the model."""
    return {"description": text}


VERSION = described("published: before the Draft")
NOTE: dict[str, object] = {"max_length": NOTE_MAX_CHARS}  # in what language: prompts say it once


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFiles:
    """Arguments of list_files."""

    prefix: str = ""
    limit: int = field(default=200, metadata={"ge": 1, "le": 1000})
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnePath:
    """Arguments of tools that take a file."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MapFile(OnePath):
    """Arguments of get_file_map."""

    version: str | None = field(default=None, metadata=VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """Arguments of read_file: the path, and what the map offered for this kind of file."""

    path: str
    sheet: str | None = None
    range: str | None = None
    cells: str | None = field(default=None, metadata=described("or formulas, both, rules, notes"))
    section: str | None = field(default=None, metadata=described("Heading or index"))
    paragraphs: str | None = field(default=None, metadata=described("Body indexes from 0: 10-20"))
    slide_index: int | None = field(default=None, metadata=described("From 0"))
    pages: str | None = field(default=None, metadata=described("From 1, such as 1-5"))
    line_start: int | None = field(default=None, metadata=described("From 1"))
    line_count: int | None = None
    chunk_index: int | None = field(default=None, metadata=described("From 0"))
    char_offset: int | None = None
    version: str | None = field(default=None, metadata=VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteText:
    """Arguments of write_text_file."""

    path: str
    content: str
    change_note: str | None = field(default=None, metadata=NOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One exact replacement."""

    search: str
    replace: str
    expect: int | None = field(default=None, metadata=described("Matches, 1 if absent"))


@dataclass(frozen=True, slots=True, kw_only=True)
class EditText:
    """Arguments of edit_text_file."""

    path: str
    edits: list[Edit]
    change_note: str | None = field(default=None, metadata=NOTE)


def _list_files(params: ListFiles, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)

    def work() -> dict[str, object]:
        request = requests.WorkbenchFilesList(
            workbench_id=room.bench_id,
            prefix=params.prefix,
            limit=params.limit,
            cursor=params.cursor,
        )
        page = published_files.list_files(room.bench.desk, request)
        files = [
            {
                "path": one.path,
                "kind": one.kind,
                "size_bytes": one.size,
                "mime_type": one.mime_type,
                "is_opaque": one.is_opaque,
                "writable": one.access == "read_write",
                "draft_status": one.draft_status,
                **({"unreadable": one.unreadable_reason} if one.unreadable_reason else {}),
            }
            for one in page.files
        ]
        return {"files": files, "next_cursor": page.next_cursor, "total": page.total}

    return answered(work)


def _info(params: OnePath, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)
    return answered(lambda: room.look(params.path, room.bench.formats.get_info))


def _map(params: MapFile, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)

    def ask(source: Source) -> Mapping[str, object]:
        return room.bench.formats.get_map(source, "full")

    return answered(lambda: room.look(params.path, ask, params.version))


def _read(params: ReadFile, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)
    selector = made_from(Selector, params, without=("path", "version"))

    def ask(source: Source) -> Mapping[str, object]:
        return room.bench.formats.read(source, selector).to_json(source.name)

    return answered(lambda: room.look(params.path, ask, params.version))


def _write_text(params: WriteText, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)

    def make(existing: Source | None, out: Path) -> Applied:
        name = room.path(params.path)[0]
        return room.bench.formats.write_text(existing, name, params.content, out)

    return answered(lambda: room.write(params.path, make, params.change_note))


def _edit_text(params: EditText, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)
    edits = [
        {"search": one.search, "replace": one.replace}
        | ({} if one.expect is None else {"expect": one.expect})
        for one in params.edits
    ]

    def make(existing: Source | None, out: Path) -> Applied:
        source = existing or room.source(params.path)  # refuses with the path that was meant
        return room.bench.formats.edit_text(source, edits, out)

    return answered(lambda: room.write(params.path, make, params.change_note))


FILE_TOOLS = (
    Tool(
        "list_files",
        "List the files with kind, size and what the Draft did to them.",
        ListFiles,
        _list_files,
        effects="read",
    ),
    Tool(
        "get_file_info",
        "Return kind, size and a few facts of a file.",
        OnePath,
        _info,
        effects="read",
    ),
    Tool(
        "get_file_map",
        "Return the structure of a file and the regions to read.",
        MapFile,
        _map,
        effects="read",
    ),
    Tool(
        "read_file",
        "Read part of a file by a selector that its map lists; chunk_info.next reads on.",
        ReadFile,
        _read,
        effects="read",
    ),
    Tool(
        "write_text_file",
        "Write a whole text file to the Draft.",
        WriteText,
        _write_text,
        effects="write",
    ),
    Tool(
        "edit_text_file",
        "Replace exact pieces of a text file in the Draft, all or none.",
        EditText,
        _edit_text,
        effects="write",
    ),
)

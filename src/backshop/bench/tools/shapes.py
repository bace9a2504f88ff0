"""What the tools answer, as JSON Schemas: the keys a caller can rely on (S6.2).

Objects are open: each kind of file adds what only it has.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
YES: Schema = {"type": "boolean"}
LIST: Schema = {"type": "array"}
OBJECT: Schema = {"type": "object"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
WARNINGS: Schema = {"type": "array", "items": {"type": ["object", "string"]}}


def shape(required: Schema, **optional: Schema) -> Schema:
    """Return the schema of an object that has at least these keys."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
    }


_FILE = shape(
    {
        "path": TEXT,
        "kind": TEXT,
        "size_bytes": COUNT,
        "is_opaque": YES,
        "writable": YES,
    },
    mime_type=MAYBE_TEXT,
    draft_status=MAYBE_TEXT,
    unreadable=TEXT,
)
LISTED = shape({"files": {"type": "array", "items": _FILE}, "total": COUNT}, next_cursor=MAYBE_TEXT)
INFO = shape(
    {"path": TEXT, "kind": TEXT, "size_bytes": COUNT, "sha256": TEXT, "writable": YES},
    mime=MAYBE_TEXT,
    warnings=WARNINGS,
)
MAP = shape(
    {"map_version": COUNT, "format": TEXT, "size_bytes": COUNT, "sha256": TEXT},
    warnings=WARNINGS,
    security=OBJECT,
)
READ = shape(
    {"path": TEXT, "format": TEXT, "selector": OBJECT, "text": TEXT},
    chunk_info={"type": ["object", "null"]},
    warnings=WARNINGS,
)
_FOUND = shape({"path": TEXT, "count": COUNT, "places": LIST}, more_places=COUNT)
SEARCHED = shape(
    {"matches": COUNT, "searched": COUNT, "files": {"type": "array", "items": _FOUND}},
    next_cursor=MAYBE_TEXT,
    not_searched=LIST,
    not_searched_count=COUNT,
    incomplete=TEXT,
)
DESCRIBED = shape({"row_count": COUNT, "columns": LIST}, warnings=WARNINGS)
ROWS = shape({"columns": LIST, "rows": LIST, "row_count": COUNT}, warnings=WARNINGS)
SHEET = shape({"kind": TEXT, "sheet": TEXT})
STYLES = shape({}, warnings=WARNINGS)
WRITTEN = shape(
    {
        "ok": {"const": True},
        "path": TEXT,
        "created": YES,
        "ops_applied": COUNT,
        "size_bytes": COUNT,
        "sha256": TEXT,
        "changes": LIST,
        "draft_revision_id": MAYBE_TEXT,
    },
    no_changes=YES,
    focus={"type": ["object", "null"]},
    effects=OBJECT,
    warnings=WARNINGS,
)
_REPLACED = shape({"path": TEXT, "count": COUNT}, warnings=WARNINGS, collateral=LIST)
REPLACED = shape(
    {
        "replaced": COUNT,
        "files": {"type": "array", "items": _REPLACED},
        "draft_revision_id": MAYBE_TEXT,
    },
    left=LIST,
    no_changes=YES,
    warnings=WARNINGS,
)
REVERTED = shape({"path": TEXT, "became": TEXT, "draft_revision_id": MAYBE_TEXT}, warnings=WARNINGS)
_CHANGES = shape({"entries": LIST, "counts": OBJECT, "reference_source": TEXT}, tree=TEXT)
_DIFF = shape({"path": TEXT, "strategy": TEXT, "reference_source": TEXT, "body": OBJECT})
COMMENTED = shape({"comments": LIST, "total": COUNT, "open_count": COUNT}, next_cursor=MAYBE_TEXT)
ANSWERED = shape({"number": COUNT, "is_resolved": YES})
RECALLED = shape(
    {
        "entry_id": COUNT,
        "tool": TEXT,
        "offset": COUNT,
        "bytes": COUNT,
        "total_bytes": COUNT,
        "has_more": YES,
        "content": TEXT,
    }
)
REVIEWED: Schema = {"type": "object", "anyOf": [_CHANGES, _DIFF]}

VIEWED = shape(
    {
        "path": TEXT,
        "kind": TEXT,
        "drawn_by": TEXT,
        "shown": TEXT,
        "width": COUNT,
        "height": COUNT,
        "places": LIST,
        "missing": LIST,
    },
    page=COUNT,
    page_count=COUNT,
    sheet=TEXT,
    range=MAYBE_TEXT,
    warnings=WARNINGS,
)

SHAPES: dict[str, Schema] = {
    "list_files": LISTED,
    "get_file_info": INFO,
    "get_file_map": MAP,
    "read_file": READ,
    "search_files": SEARCHED,
    "replace_in_files": REPLACED,
    "revert_file": REVERTED,
    "write_text_file": WRITTEN,
    "edit_text_file": WRITTEN,
    "table_get_map": MAP,
    "table_describe": DESCRIBED,
    "table_stats": DESCRIBED,
    "table_read_rows": ROWS,
    "table_query": ROWS,
    "table_export": WRITTEN,
    "table_update_from_export": WRITTEN,
    **{f"{kind}_operations": WRITTEN for kind in ("xlsx", "docx", "pptx")},
    "describe_operations": SHEET,
    "get_styles": STYLES,
    "copy_assets": WRITTEN,
    "view_page": VIEWED,
    "review_draft": REVIEWED,
    "list_comments": COMMENTED,
    "answer_comment": ANSWERED,
    "recall_tool_result": RECALLED,
}
"""The schema of every tool's answer, by the tool's name."""

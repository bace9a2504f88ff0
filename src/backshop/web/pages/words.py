"""What records and tools are called in front of people. ◆ Words only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from backshop.base.labels import ENDED, record_line
from backshop.workshop.answers import Message

from ..sentences import as_sentence, explained

TOOLS = {
    "list_files": "looking at the list of files",
    "get_file_info": "looking at",
    "get_file_map": "mapping",
    "read_file": "reading",
    "search_files": "searching the files",
    "table_get_map": "mapping the table in",
    "table_describe": "describing the table in",
    "table_stats": "computing figures of",
    "table_read_rows": "reading rows of",
    "table_query": "querying",
    "table_export": "exporting from",
    "table_update_from_export": "updating from",
    "write_text_file": "writing",
    "edit_text_file": "editing",
    "replace_in_files": "replacing text in files",
    "revert_file": "taking back the change of",
    "xlsx_operations": "changing the workbook",
    "docx_operations": "changing the document",
    "pptx_operations": "changing the slides",
    "describe_operations": "looking up how to change files",
    "get_styles": "looking at the styles of",
    "view_page": "looking at a picture of",
    "copy_assets": "copying styles and pictures into",
    "recall_tool_result": "recalling an earlier result",
}
# What an action of an error (M11) is called, and the page that can do it where this one cannot.
ACTIONS = {
    "open_settings": ("Open Settings", "/settings/models?back={here}"),
    "switch_model": ("Switch model", "/bench/{bench}"),
    "grant_consent": ("Allow sending", "/bench/{bench}"),
    "retry": ("Try again", None),
    "resume": ("Resume", "/bench/{bench}"),
    "review_draft": ("Review", "/bench/{bench}/review"),
    "publish_draft": ("Publish", "/bench/{bench}/review"),
    "discard_draft": ("Discard Draft", "/bench/{bench}/review"),
    "confirm_deletions": ("Confirm deletions", "/bench/{bench}/review"),
    "restore_checkpoint": ("History", "/bench/{bench}/checkpoints"),
    "cancel_run": ("Stop the turn", "/bench/{bench}"),
}
FAULTS = {  # why a file is not shown, in place of the reasons of F3 and F29.7
    "archive_bomb": "unpacks to far too much",
    "archive_path_escape": "unsafe",
    "content_mismatch": "not what its name says",
    "corrupt_file": "damaged",
    "encrypted_file": "needs a password",
    "guard_refused": "unsafe",
    "memory_limit": "needs too much memory",
    "render_failed": "LibreOffice could not show it",
    "timeout": "it took too long",
    "too_large": "too large to open",
    "worker_crashed": "reading it failed",
    "xml_dtd_forbidden": "unsafe",
}


KINDS = {
    "csv": "Table of values",
    "docx": "Word document",
    "image": "Picture",
    "odt": "OpenDocument text",
    "pdf": "PDF document",
    "pptx": "PowerPoint presentation",
    "text": "Text",
    "xlsx": "Workbook",
}


def system_line(message: Message, models: Mapping[str, str]) -> str:
    """Return a system event in one line (U3.1); `models` are names for people by id."""
    data: Mapping[str, Any] = message.metadata
    kind = str(message.event_kind)
    if told := record_line(kind, data, models):
        return told
    if kind == "notice":
        return str(data.get("text") or message.text or "Notice")
    if message.text and kind != "run_refused":
        return as_sentence(message.text)
    error = data.get("error")
    why = f". {explained(error)['sentence']}" if isinstance(error, Mapping) else ""
    return ENDED.get(kind, kind.replace("_", " ")) + why


def tool_line(tool: str, path: str | None) -> str:
    """Return what a tool is doing, in words (U3.2)."""
    words = TOOLS.get(tool, tool.replace("_", " "))
    return f"{words} {path}" if path else words


def counts_line(counts: Any) -> str:
    """Return the counts of a publish: 1 added, 2 changed."""
    if isinstance(counts, Mapping):
        words = {"modified": "changed"}
        pairs = [(int(value or 0), words.get(key, str(key))) for key, value in counts.items()]
    else:
        pairs = list(zip(counts or (), ("added", "changed", "deleted", "renamed"), strict=False))
    shown = [f"{number} {word}" for number, word in pairs if number]
    return ", ".join(shown) or "no file changed"


def action_links(actions: Sequence[str], bench_id: str | None, here: str) -> list[tuple[str, str]]:
    """Return the actions that lead to a page, each with its name and address (U1.6)."""
    found = []
    for action in actions:
        name, page = ACTIONS.get(action, (action, None))
        if page is not None and (bench_id or "{bench}" not in page):
            places = {"bench": quote(bench_id or "", safe=""), "here": quote(here, safe="")}
            found.append((name, page.format(**places)))
    return found


def sentence(text: str) -> str:
    """Return words as a page begins them."""
    return text[:1].upper() + text[1:]

"""What records and tools are called in front of people. ◆ Words only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from backshop.workshop.answers import Message

from ..render import count_text
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
REDONE = {  # what was taken back, and what that is called
    "rewind": "The rewind was undone",
    "regenerate": "The other answer is back",
    "restore": "The restore was undone",
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
    kind = message.event_kind
    match kind:
        case "model_switched":
            model_id = str(data.get("to_model_id"))
            return f"Model switched to {models.get(model_id, model_id)}"
        case "draft_created":
            return "Draft begun"
        case "draft_changes_applied":
            return _applied(data.get("paths") or ())
        case "draft_discarded":
            return "Draft discarded; Published is as it was"
        case "draft_brought_back":
            return "The discarded Draft is back"
        case "checkpoint_restored":
            return _gone_back(data.get("publish"))
        case "files_restored":
            return _files_restored(data.get("paths") or ())
        case "undo":
            return _rewound(data)
        case "redo":
            return REDONE.get(str(data.get("of")), REDONE["rewind"])
        case "regenerate":
            return "Answer asked for again"
        case "context_compressed":
            return _compressed(data)
        case "notice":
            return str(data.get("text") or message.text or "Notice")
        case "run_refused":
            return _ended(str(kind), data)
        case _:
            return as_sentence(message.text) if message.text else _ended(str(kind), data)


def _rewound(data: Mapping[str, Any]) -> str:
    if data.get("is_again"):
        return "Answer asked for again"
    if data.get("taken_back"):
        return "Rewound to here, and undone later"
    gone = count_text(int(data.get("discarded_count") or 0), "later message")
    return f"Rewound to here ({gone} set aside)"


def _gone_back(publish: Any) -> str:
    """Return what a restore went back to: before which publish, if it was one (U3.31)."""
    if not publish:
        return "Went back to an earlier version"
    names = _named([one["path"] for one in publish["files"]], sum(publish["counts"].values()))
    if publish["is_undone"]:
        return f"Publish of {names} undone"
    return f"Went back to before the publish of {names}"


def _files_restored(paths: Any) -> str:
    return f"Restored from the history: {_named(paths)}. Everything else stayed as it was"


def _applied(paths: Any) -> str:
    return f"Draft changed: {_named(paths)}" if paths else "Draft changed"


def _named(paths: Any, number: int = 0) -> str:
    """Return the first three of `number` paths, of which more may not be given."""
    names = [str(path) for path in paths]
    number = max(number, len(names))
    more = f" and {number - 3} more" if number > 3 else ""
    return f"{', '.join(names[:3])}{more}"


def _compressed(data: Mapping[str, Any]) -> str:
    covered = count_text(int(data.get("covered_count") or 0), "older message")
    if data.get("fallback"):
        return f"{covered} left out of what the model sees"
    return f"{covered} summarized for the model"


def _ended(kind: str, data: Mapping[str, Any]) -> str:
    words = {
        "run_paused": "The turn paused",
        "run_canceled": "The turn was stopped",
        "run_failed": "The turn failed",
        "run_refused": "Not answered",
        "workshop_stream_failed": "The answer broke off",
        "proposal_failed": "No changes could be proposed",
        "apply_failed": "The changes could not be applied",
    }
    error = data.get("error")
    why = f". {explained(error)['sentence']}" if isinstance(error, Mapping) else ""
    return words.get(kind, kind.replace("_", " ")) + why


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

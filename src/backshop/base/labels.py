"""What people read while an agent works, in the same words at every door (W11.19, W5.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PHASES = {
    "research": "Analyzing files…",
    "plan": "Planning approach…",
    "implement": "Working through the plan…",  # until the first item is begun
    "direct": "Working on it…",  # where there is no plan
    "summary": "Summarizing results…",
}
PROPOSALS = {  # what flow `compat` does beside the reply
    "drafting": "Working out the changes…",
    "repairing": "Correcting the changes…",
    "applying": "Applying draft changes…",
}
MODEL_STATES = {  # while a call runs and nothing of its answer is there (M8.10)
    "waiting": "Waiting for the model…",
    "thinking": "The model is thinking…",
}
FOLDERS = {  # warnings that any command which changes a workbench may give (B3.6, B3.12)
    "outside_edits_salvaged": "files that another program wrote were in the way; they were kept"
    " in meta/salvage of the workbench's folder",
    "view_stale": "the workbench's folders could not be brought up to date; the next opening does"
    " it",
    "folder_behind": "not every file of your folder is what Published is; `backshop folder show`"
    " names them",
}
FOLDER_REASONS = {  # why a followed folder cannot be used, or not be taken in by itself (B23.21)
    word: text
    for key, text in {
        "gone": "it is not there any more; `backshop folder moved` says where it is now",
        "replaced": "another folder is in its place; `backshop folder moved` says that it is meant",
        "not_a_folder": "something that is no folder is in its place",
        "unreadable": "it cannot be read",
        "emptied": "nothing that is followed is in it any more; it is not taken in by itself",
        "too_large": "it holds more than the workbench takes",
    }.items()
    for word in (key, f"folder_{key}")
}
RECOVERY = {  # what opening a workbench had to do (B3.4)
    **FOLDERS,
    "staging_removed": "what an interrupted write had left was removed",
    "altered_bytes_salvaged": "another program wrote over stored contents; its bytes were kept in"
    " meta/salvage of the workbench's folder",
    "folder_written": "what was published was written into your folder to the end",
    "meta_rewritten": "the description of the workbench's folder was written again",
    **{
        f"{view}_{word}": f"the folder of {name} {what}"
        for view, name in (
            ("published", "Published"),
            ("draft", "the Draft"),
            ("context", "the context"),
        )
        for word, what in (
            ("rebuilt", "was brought up to date"),
            ("removed", "was removed"),
            ("parted", "has files of its own now"),
            ("anomaly_replaced", "held links or devices, which were taken out"),
        )
    },
}

NOTES = {
    "read": "read",
    "waiting": "not read yet",
    "late": "came too late to be read",
    "sent": "came too late; sent as a message",
}
"""What became of a note to an agent at work, by `became` of its record (W27.3)."""
REDONE = {  # what was taken back, and what that is called
    "rewind": "The rewind was undone",
    "regenerate": "The other answer is back",
    "restore": "The restore was undone",
}
ENDED = {  # turns and writes that did not come to their end
    "run_paused": "The turn paused",
    "run_canceled": "The turn was stopped",
    "run_failed": "The turn failed",
    "run_refused": "Not answered",
    "workshop_stream_failed": "The answer broke off",
    "proposal_failed": "No changes could be proposed",
    "apply_failed": "The changes could not be applied",
}

RUN_STATES = ("in_progress", "blocked", "dormant", "complete", "complete_with_gaps", "unknown")
"""The states by which runs and sessions are found (R5.9); `unknown` is one nobody can tell."""


def record_line(
    kind: str, data: Mapping[str, Any], models: Mapping[str, str] | None = None
) -> str | None:
    """Return what a record of the conversation tells that nobody said, or None where it has text.

    `models` are names for people by id.
    """
    match kind:
        case "model_switched":
            model_id = str(data.get("to_model_id"))
            return f"Model switched to {(models or {}).get(model_id, model_id)}"
        case "draft_created":
            return "Draft begun"
        case "draft_changes_applied":
            paths = data.get("paths") or ()
            return f"Draft changed: {_named(paths)}" if paths else "Draft changed"
        case "draft_discarded":
            return "Draft discarded; Published is as it was"
        case "draft_brought_back":
            return "The discarded Draft is back"
        case "checkpoint_restored":
            return _gone_back(data.get("publish"))
        case "files_restored":
            named = _named(data.get("paths") or ())
            return f"Restored from the history: {named}. Everything else stayed as it was"
        case "undo":
            return _rewound(data)
        case "redo":
            return REDONE.get(str(data.get("of")), REDONE["rewind"])
        case "regenerate":
            return "Answer asked for again"
        case "context_compressed":
            return _compressed(data)
        case _:
            return None


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


def published_line(data: Mapping[str, Any]) -> str:
    """Return what the card of a publish says, where there are no cards."""
    files, counts = data.get("files") or (), data.get("counts") or {}
    return f"Published: {_named([one['path'] for one in files], sum(counts.values()))}"


def count_text(number: int, one: str, many: str | None = None) -> str:
    """Return a counted thing: 1 file, 3 files."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def headline(text: str, max_chars: int) -> str:
    """Return a text in one line of at most so many characters."""
    words = " ".join(text.split())
    if len(words) <= max_chars:
        return words
    return words[: max_chars - 1].rsplit(" ", 1)[0] + "…"


def size_text(size: int | None) -> str:
    """Return a size for people: 1.4 MB."""
    if size is None:
        return "–"
    amount = float(size)
    for unit in ("bytes", "KB", "MB"):
        if amount < 1000:
            plain = "1 byte" if size == 1 else f"{size} bytes"
            return plain if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GB"

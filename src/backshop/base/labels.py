"""What people read while an agent works, in the same words at every door (W11.19, W5.6)."""

from __future__ import annotations

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

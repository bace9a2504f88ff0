"""What a commit of a written folder could say; whether there is one is the person's business."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backshop.base.labels import headline

from .ignore import repository_of

SUBJECT_MAX_CHARS = 72
_LISTED = 30


def commit_message(folder: str, asked: str | None, written: Sequence[str]) -> str | None:
    """Return a message: what the person asked for, then the files; None outside of git."""
    if not written or repository_of(Path(folder)) is None:
        return None
    lines = [_subject(asked, written), "", *(f"- {path}" for path in written[:_LISTED])]
    if len(written) > _LISTED:
        lines.append(f"- and {len(written) - _LISTED} more")
    return "\n".join(lines)


def _subject(asked: str | None, written: Sequence[str]) -> str:
    words = headline(asked or "", SUBJECT_MAX_CHARS)
    if words:
        return words
    return f"Update {written[0]}" if len(written) == 1 else f"Update {len(written)} files"

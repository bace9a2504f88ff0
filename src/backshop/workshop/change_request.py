"""A request for changes of a Draft as one message: a sentence, then notes as a list (W24.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .conversation.decide import MESSAGE_MAX_BYTES
from .conversation.state import Record

_ITEM = "- "
_LEFT_OUT = "({} more notes did not fit here; they are still open.)"


def composed(text: str, notes: Sequence[str]) -> tuple[str, int]:
    """Return the message and how many notes are in it: what the person writes, then the notes.

    Notes that do not fit a message are counted at its end. A text that is too long by itself stays
    as it is: whoever takes messages refuses it.
    """
    lines = [_item(note) for note in notes]
    said = text.strip()
    whole = _joined(said, lines, 0)
    if len(whole.encode(errors="replace")) <= MESSAGE_MAX_BYTES or not lines:
        return whole, len(lines)
    kept: list[str] = []
    room = MESSAGE_MAX_BYTES - len(_joined(said, ["", ""], len(lines)).encode(errors="replace"))
    for line in lines:
        room -= len(line.encode(errors="replace")) + 1
        if room < 0:
            break
        kept.append(line)
    return _joined(said, kept, len(lines) - len(kept)), len(kept)


def own_words(newest_first: Iterable[Record]) -> str | None:
    """Return what the person said last in words of their own: of a request for changes what stands
    before its notes; one that only brings notes up has none, and the message before it counts."""
    for one in newest_first:
        if one.type != "user_message" or not one.text.strip():
            continue
        if not one.is_on_draft:
            return one.text
        said = one.text.strip().split("\n\n", 1)[0]
        if not said.startswith(_ITEM):
            return said
    return None


def _joined(said: str, lines: Sequence[str], left_out: int) -> str:
    more = [_LEFT_OUT.format(left_out)] if left_out else []
    parts = (said, "\n".join((*lines, *more)))
    return "\n\n".join(part for part in parts if part)


def _item(note: str) -> str:
    """Return a note as an item of a list; its further lines stand under the first."""
    first, *rest = note.strip().splitlines() or [""]
    return "\n".join((f"{_ITEM}{first}", *(f"  {line}" for line in rest)))

"""A tracked change as agents and people are told of it: what, who, when, where (F9.11)."""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol import Json

LISTED_MAX = 200  # changes and comments listed; counts are of all
TEXT_MAX_CHARS = 300


@dataclass(frozen=True, slots=True)
class Tracked:
    """One tracked change; `place` is the body index it stands at, `where` says it in words."""

    kind: str
    author: str
    date: str | None
    text: str
    where: str
    place: int | None

    def to_json(self) -> dict[str, Json]:
        """Return the change as data."""
        return {
            "kind": self.kind,
            "author": self.author,
            "date": self.date,
            "text": clipped(self.text),
            "where": self.where,
            "body_index": self.place,
        }

    @property
    def words(self) -> str:
        """The change as a line for people."""
        when = f", {self.date}" if self.date else ""
        text = f" “{clipped(self.text)}”" if self.text.strip() else ""
        return f"{self.kind.replace('_', ' ')}{text} by {self.author}{when}"

    def lines(self, number: int) -> list[str]:
        """Return the change as it is read by itself."""
        when = f", {self.date}" if self.date else ""
        kind = self.kind.replace("_", " ")
        label = f"[tracked change {number}: {kind} by {self.author}{when}, at {self.where}]"
        return [label, *self.text.split("\n")] if self.text else [label]


def listed(changes: list[Tracked]) -> dict[str, Json]:
    """Return changes for a map or a read; nothing where there are none."""
    if not changes:
        return {}
    return {
        "tracked_change_count": len(changes),
        "tracked_changes": [one.to_json() for one in changes[:LISTED_MAX]],
    }


def clipped(text: str) -> str:
    """Return the beginning of a text that may be long."""
    return text if len(text) <= TEXT_MAX_CHARS else text[: TEXT_MAX_CHARS - 1] + "…"

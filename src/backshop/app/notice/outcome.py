"""What clients are told when a publish failed, or a restore changed context items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

Data = Mapping[str, Any]


class Fact(Protocol):
    """What is looked at of a fact."""

    @property
    def data(self) -> Data:
        """Its fields."""
        ...


_WAYS_OUT = {
    "DISK_FULL": "free_disk_space",
    "CONFLICT_PUBLISHED_CHANGED": "repair_published",
    "CONFIRMATION_REQUIRED": "review_draft",
    "VALIDATION_FAILED": "review_draft",
    "LIMIT_EXCEEDED": "review_draft",
    "STORAGE_CORRUPT": "discard_draft",
}
_ITEMS = 4  # context items a bench has (B14.1)


def publish_failed(fact: Fact) -> Data | None:
    """Say that a publish was refused and what helps; else it may go better next time (B9.12)."""
    noted = fact.data
    if noted["kind"] != "publish_failed":
        return None
    error = {"code": noted["error"], "reason": noted.get("reason")}
    return {"error": error, "recovery_action": _WAYS_OUT.get(noted["error"], "retry")}


def _restored_item(number: int) -> Callable[[Fact], Data | None]:
    def payload(fact: Fact) -> Data | None:
        items = fact.data.get("items") or ()
        return dict(items[number]) if number < len(items) else None

    return payload


RESTORED_ITEMS = tuple(_restored_item(number) for number in range(_ITEMS))
"""One for each context item that a restore may have changed (B10.16)."""

"""What phases and items leave behind: texts cut to size, and how an item says it came out.

Nothing here asks a model, and nothing is added to what one wrote: what is true of a turn stands
beside its answer (`turnfacts`; W11.3, W11.11, W11.16, W11.17).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from backshop.base.limits import RESEARCH_MAX_BYTES

from ..conversation.turn_facts import TurnFacts
from ..cut import cut_bytes

_JSON_BLOCK = re.compile(r"```(?:json)?[ \t]*\n(\{.*?\})[ \t]*\n?```[ \t]*$", re.DOTALL)
_OBJECT_MAX_CHARS = 4_000
NOT_DONE = ("failed", "unfinished")
_STATED = frozenset(("status", "reason", "no_change"))


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """An item's final text without its structured end.

    `no_change` says why nothing had to change; `status` is what the item says of itself, and
    `reason` why it is not done.
    """

    text: str
    no_change: str | None = None
    status: str = "done"
    reason: str = ""


def research_text(text: str) -> str:
    """Return the research as it is kept: at most 48 KiB, cut visibly (W11.3)."""
    return cut_bytes(text.strip(), RESEARCH_MAX_BYTES)


def item_outcome(text: str) -> ItemOutcome:
    """Return an item's report and what its structured end says of it (W11.11, W11.21)."""
    plain = text.strip()
    found = _JSON_BLOCK.search(plain)
    raw, rest = (found[1], plain[: found.start()]) if found else (plain, "")
    value = _object(raw)
    if value is None or not _STATED.issuperset(value):  # an object of the work, not about it
        return ItemOutcome(plain)
    status, reason = stated(value)
    report = rest.strip() or reason
    if status != "done":
        return ItemOutcome(report, status=status, reason=reason)
    return ItemOutcome(report, reason) if value.get("no_change") is True else ItemOutcome(plain)


def stated(value: Mapping[str, object]) -> tuple[str, str]:
    """Return the status an item or step gives itself, `done` if it gives none, and its reason."""
    status, reason = value.get("status"), value.get("reason")
    word = status.strip().casefold() if isinstance(status, str) else ""
    said = " ".join(reason.split()) if isinstance(reason, str) else ""
    return word if word in NOT_DONE else "done", said or "no reason was given"


def engine_summary(facts: TurnFacts | None) -> str:
    """Return an answer written without a model; the facts stand beside it (W11.17)."""
    draft = " The changes are in the Draft; review them before you publish."
    has_changes = facts is not None and bool(facts.files)
    return "The model wrote no answer of its own." + (draft if has_changes else "")


def _object(raw: str) -> dict[str, object] | None:
    if len(raw) > _OBJECT_MAX_CHARS or not raw.startswith("{"):
        return None
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

"""What phases and items leave behind: texts cut to size, outcomes read, answers made honest.

Nothing here asks a model; the engine's own summary says the same facts as the model was given
(W11.3, W11.11, W11.16, W11.17).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from backshop.base.limits import RESEARCH_MAX_BYTES

from .cutting import cut_bytes

_JSON_BLOCK = re.compile(r"```(?:json)?[ \t]*\n(\{.*?\})[ \t]*\n?```[ \t]*$", re.DOTALL)
_OBJECT_MAX_CHARS = 4_000
UNSAID_MAX = 20  # lines the engine adds to an answer


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """An item's final text without its structured end. `no_change` says why nothing changed."""

    text: str
    no_change: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutcome:
    """The facts of a finished turn that its answer must state (W11.17)."""

    changed: tuple[tuple[str, str], ...] = ()
    """Path and what happened to it: `added`, `modified`, `deleted`."""
    done: int = 0
    total: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    """Label and reason of items that failed."""
    no_effect: tuple[str, ...] = ()
    """Labels of items that changed nothing."""
    dropped_amendments: int = 0
    notes: tuple[str, ...] = ()

    def lines(self) -> tuple[str, ...]:
        """Return what has to be mentioned besides the changed files, one line each."""
        found = [f"Item failed: {label} ({reason})" for label, reason in self.failed]
        found += [f"Item changed nothing: {label}" for label in self.no_effect]
        if self.dropped_amendments:
            found.append(
                f"{self.dropped_amendments} further items came up and were not carried out; the "
                f"plan may only double"
            )
        return (*found, *self.notes)


def research_text(text: str) -> str:
    """Return the research as it is kept: at most 48 KiB, cut visibly (W11.3)."""
    return cut_bytes(text.strip(), RESEARCH_MAX_BYTES)


def item_outcome(text: str) -> ItemOutcome:
    """Return an item's report, and whether it says that nothing had to change (W11.11)."""
    plain = text.strip()
    found = _JSON_BLOCK.search(plain)
    raw, rest = (found[1], plain[: found.start()]) if found else (plain, "")
    value = _object(raw)
    if value is None or value.get("no_change") is not True:
        return ItemOutcome(plain)
    reason = value.get("reason")
    said = " ".join(reason.split()) if isinstance(reason, str) else ""
    said = said or "no reason was given"
    return ItemOutcome(rest.strip() or said, said)


def missing_files(text: str, changed: Iterable[str]) -> tuple[str, ...]:
    """Return the changed files that an answer does not name exactly (W11.17)."""
    return tuple(path for path in changed if path not in text)


def file_list(changed: Sequence[tuple[str, str]]) -> str:
    """Return the plain list that is appended to an answer which names too few files."""
    if not changed:
        return ""
    return "\n".join(("", "", "Changed files:", *(f"- {path} ({what})" for path, what in changed)))


def completed(text: str, changed: Sequence[tuple[str, str]]) -> str:
    """Return what has to be appended to an answer so that it names every changed file."""
    return file_list(changed) if missing_files(text, (path for path, _ in changed)) else ""


def unsaid(text: str, outcome: TurnOutcome) -> str:
    """Return what has to be appended to an answer that keeps quiet about how the work came out.

    An item counts as mentioned when its label stands in the text; a number when it does.
    """
    said = text.casefold()
    quiet = replace(
        outcome,
        failed=tuple(one for one in outcome.failed if one[0].casefold() not in said),
        no_effect=tuple(one for one in outcome.no_effect if one.casefold() not in said),
        dropped_amendments=0
        if str(outcome.dropped_amendments) in said
        else outcome.dropped_amendments,
        notes=tuple(one for one in outcome.notes if one.casefold() not in said),
    )
    lines = [*quiet.notes, *replace(quiet, notes=()).lines()]
    if not lines:
        return ""
    more = [f"and {len(lines) - UNSAID_MAX} more"] if len(lines) > UNSAID_MAX else []
    return "\n".join(("", "", "Also:", *(f"- {one}" for one in (*lines[:UNSAID_MAX], *more))))


def engine_summary(outcome: TurnOutcome, lead: str = "") -> str:
    """Return an answer written without a model, from the same facts (W11.17)."""
    if outcome.total:
        first = f"{outcome.done} of {outcome.total} items of the plan were carried out."
    else:
        first = "The work ended without a plan to carry out."
    parts = [lead, first] if lead else [first]
    if outcome.changed:
        parts.append(file_list(outcome.changed).strip())
        parts.append("The changes are in the Draft; review them before you publish.")
    else:
        parts.append("No file was changed.")
    said = outcome.lines()
    if said:
        parts.append("\n".join(f"- {one}" for one in said))
    return "\n\n".join(parts)


def _object(raw: str) -> dict[str, object] | None:
    if len(raw) > _OBJECT_MAX_CHARS or not raw.startswith("{"):
        return None
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

"""A turn at work as its card shows it: steps with their files, what was written so far (U3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backshop.base.labels import count_text
from backshop.base.usage import used_line
from backshop.workshop.answers import ActiveTurn, Message, PlanView, ToolLogEntry, TurnUsage

from ..render import duration, kind_by_name
from .words import tool_line

LAST_CALLS = 5  # shown of work without a plan


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFile:
    """A file a step was about."""

    path: str
    kind: str
    is_written: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStep:
    """An item of the plan, or a call where there is none; `mark` is done, now, open or failed."""

    label: str
    mark: str
    files: tuple[WorkFile, ...] = ()
    seconds: float | None = None
    """How long a call took; of an item nobody knows what its model took."""
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """All that the card of a turn shows."""

    steps: tuple[WorkStep, ...]
    earlier: int
    """How many calls came before those shown."""
    written: tuple[WorkFile, ...]
    used: str | None
    done: int
    total: int


def work_so_far(
    turn: ActiveTurn, plan: PlanView | None, entries: Sequence[ToolLogEntry], used: TurnUsage | None
) -> Work:
    """Return what a turn has done: its items where it has a plan, else its last calls."""
    items = plan.items if plan else ()
    if items:
        by_item = {
            item.number: [one for one in entries if one.item == item.number] for item in items
        }
        steps = tuple(
            WorkStep(
                label=item.label,
                mark=_mark(item.status, is_now=item.number == turn.current_item),
                files=_files(by_item[item.number]),
                reason=item.reason,
            )
            for item in items
        )
    else:
        steps = tuple(_call(one) for one in entries[-LAST_CALLS:])
    return Work(
        steps=steps,
        earlier=0 if items else max(0, len(entries) - LAST_CALLS),
        written=tuple(one for one in _files(entries) if one.is_written),
        used=used_line(used) if used is not None and used.calls else None,
        done=sum(item.status == "done" for item in items),
        total=len(items),
    )


def done_line(message: Message) -> str | None:
    """Return what a turn that is over came to, and how long it took (U3.20)."""
    facts, elapsed = message.metadata.get("facts"), message.metadata.get("job_elapsed_ms")
    if not isinstance(elapsed, int):
        return None
    took = duration(elapsed / 1000)
    if not isinstance(facts, Mapping) or facts.get("files") is None:
        return f"Took {took}"
    files = int(facts.get("files_total") or 0)
    return f"Changed {count_text(files, 'file')} in {took}" if files else f"No file changed, {took}"


def _mark(status: str, *, is_now: bool) -> str:
    if status in {"failed", "unfinished"}:
        return "failed"
    if status == "done":
        return "done"
    return "now" if is_now else "open"


def _call(one: ToolLogEntry) -> WorkStep:
    is_refused = one.success is False  # its file may not be there: it is named and leads nowhere
    return WorkStep(
        label=tool_line(one.tool, one.path if is_refused else None),
        mark="failed" if is_refused else "done",
        files=_files((one,)),
        seconds=None if one.elapsed_ms is None else one.elapsed_ms / 1000,
    )


def _files(entries: Iterable[ToolLogEntry]) -> tuple[WorkFile, ...]:
    """Return each file once, in the order they were come to; written is written."""
    found: dict[str, WorkFile] = {}
    for one in entries:
        if one.success is False:
            continue
        for path in dict.fromkeys((*((one.path,) if one.path else ()), *one.written)):
            is_written = path in one.written or (path in found and found[path].is_written)
            found[path] = WorkFile(path=path, kind=kind_by_name(path), is_written=is_written)
    return tuple(found.values())

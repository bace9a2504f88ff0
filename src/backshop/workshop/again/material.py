"""What a finished turn was about, read from its records: request, work done, files (W25.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import MessageId, TurnId
from backshop.rails import Driving

from .. import mention
from ..answers import facts_of
from ..change_request import own_words
from ..conversation.repository import Conversations
from ..conversation.state import BUILTIN, Record, Turn, WorkshopState
from ..requests import GetPlan
from ..turn import artifact

Role = Literal["changed", "created", "read"]
COMPLETE = "complete"
_ROLES: dict[str, Role] = {"added": "created", "modified": "changed", "": "changed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedFile:
    """A file of the turn, and what the turn did with it."""

    path: str
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One thing the turn did: an item of its plan, or a step of the workflow that drove it."""

    label: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything a workflow is made of; without `works` the request is all the work."""

    request: str
    said: str = ""
    """The request in the person's own words, without the notes it brings up."""
    works: tuple[Work, ...]
    files: tuple[UsedFile, ...]
    failed: int = 0
    """Items of the plan that failed, and so are no steps."""
    is_driven: bool = False
    """Whether a workflow drove the turn: its steps say all there is to say."""


def gather(
    book: Conversations, driving: Driving, known: WorkshopState, turn_id: str | None
) -> Material:
    """Return what a finished turn was about; by default the newest one.

    Raises:
        NotFound: `turn_not_found`.
        ValidationFailed: `turn_unfinished`.
    """
    turn = _turn(known, turn_id)
    request = known.records[turn.user_message_id].text
    works, failed = _works(driving, known, turn)
    said = "\n".join((request, *(one.text for one in works)))
    return Material(
        request=request,
        said=own_words(_back_from(known, turn.user_message_id)) or request,
        works=works,
        files=tuple(_files(book, known, turn, said)),
        failed=failed,
        is_driven=_is_driven(turn),
    )


def _back_from(known: WorkshopState, message_id: MessageId | None) -> Iterator[Record]:
    """Yield a message and what was said before it, the newest first."""
    while message_id is not None:
        record = known.records[message_id]
        yield record
        message_id = record.parent_id


def _turn(known: WorkshopState, turn_id: str | None) -> Turn:
    if turn_id is not None:
        turn = known.turns.get(TurnId(turn_id))
        if turn is None:
            raise NotFound("this workbench has no such turn", reason="turn_not_found")
        if turn.status != COMPLETE:
            raise ValidationFailed(f"this turn is {turn.status}", reason="turn_unfinished")
        return turn
    line = {record.message_id for record in known.active_line()}
    done = [
        one
        for one in known.turns.values()
        if one.status == COMPLETE and known.is_turn_active(one.turn_id, line)
    ]
    if not done:
        raise NotFound("no turn of this workbench is finished", reason="turn_not_found")
    return max(done, key=lambda one: (one.started_ms, one.turn_id))


def _is_driven(turn: Turn) -> bool:
    return turn.workflow_id not in (None, *BUILTIN)


def _works(driving: Driving, known: WorkshopState, turn: Turn) -> tuple[tuple[Work, ...], int]:
    """Return the work that was done, and how many items of the plan failed."""
    if _is_driven(turn):
        at = [driving.standing(place.node_id) for place in turn.places]
        return tuple(Work(label=one.title, text=one.prompt) for one in at if one.prompt), 0
    asked = GetPlan(workbench_id=str(known.bench.bench_id), turn_id=turn.turn_id)
    items = artifact.plan_view(driving, known, asked).items
    done = [one for one in items if one.status != "failed"]
    works = (
        Work(label=one.label, text=" — ".join(filter(None, (one.label, one.description))))
        for one in done
    )
    return tuple(works), len(items) - len(done)


def _files(book: Conversations, known: WorkshopState, turn: Turn, said: str) -> Iterator[UsedFile]:
    """Yield the files it changed or made, then those it read or that its texts name."""
    facts = facts_of(known.records.get(turn.message_id))
    written: dict[str, Role] = {}
    for one in (facts.files or ()) if facts else ():
        if one.change in _ROLES:
            written[one.path] = _ROLES[one.change]
    yield from (UsedFile(path=path, role=role) for path, role in written.items())
    tree = known.bench.draft.tree if known.bench.draft else known.bench.published
    there = {str(path) for path in book.desk.entries(tree)} | written.keys()
    read = {
        one.path: None
        for one in known.tools.values()
        if one.turn_id == turn.turn_id and one.success and one.path in there
    }
    named = dict.fromkeys(mention.files_named(said, there).files)
    for path in {**named, **read}:
        if path and path not in written:
            yield UsedFile(path=path, role="read")

"""Gathers what is true of a turn: from the log, the Draft and the reports of its writes (W11.20).

Here is the reading; what it comes to is `turnfacts`, and nothing a model said counts but the names
in it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backshop.base import tree
from backshop.base.canon import parse
from backshop.base.errors import BackshopError
from backshop.base.ids import BlobId
from backshop.base.labels import FOLDERS
from backshop.bench import look_into
from backshop.bench.first_look import FirstLook
from backshop.bench.revision import Draft
from backshop.formats import NOTED

from . import mention, request_scope
from .conversation import turn_facts, turn_fold
from .conversation.change_count import Counted, counted
from .conversation.repository import Conversations
from .conversation.state import ToolEntry, Turn, WorkshopState
from .conversation.turn_facts import (
    EditDropped,
    FileChanged,
    NotComputed,
    TurnFacts,
    WriteRefused,
)
from .tool.phase import WRITING_TOOLS

RESULTS_READ = 500  # of the newest writes of a turn; far more than a person reads lines about
_RESULT_MAX_BYTES = 1024 * 1024
_PATH_MAX_CHARS = 200
_QUOTE_MAX_CHARS = 60
_PLACE = re.compile(r"\[(\d+)\]")
NOT_MADE = {
    "asset_exists": "it was there already and was not copied",
    "merged_skipped": "cells inside merged ranges were skipped",
    "no_match": "nothing matched",
    "occurrences_left": "more places matched than were changed",
    "style_key_ignored": "a style that does not exist was left out",
    "style_value_ignored": "the value of a style was left out",
    "truncated_to_fit": "text was cut to fit",
    "unknown_field_ignored": "a field nobody knows was left out",
}
"""Warnings that say that a part of what was asked for was not made (F3.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """What the results of writes say besides that they were made."""

    dropped: tuple[EditDropped, ...] = ()
    not_computed: tuple[NotComputed, ...] = ()
    notes: tuple[str, ...] = ()


NOTHING = Noticed()


def facts_of(
    book: Conversations,
    known: WorkshopState,
    turn: Turn,
    *,
    answer: str = "",
    notes: Sequence[str] = (),
    noticed: Noticed = NOTHING,
    files: tuple[FileChanged, ...] | None = None,
) -> TurnFacts | None:
    """Return what is true of a turn as `known` has it; None of one that could not write.

    `answer` is the text of a model, and only what it names is looked at.
    """
    plain = turn_fold.facts_known(known, turn, ())
    if plain is None:
        return None
    entries = list(_writes(known, turn))
    seen = _noticed(book, turn, entries)
    files = changed(book, known, turn) if files is None else files
    look = _first_look(book, known, turn) if files else FirstLook()
    facts = replace(
        plain,
        files=files,
        hosts=look.hosts,
        hosts_more=look.hosts_more,
        unasked=request_scope.not_named(*_asked(known, turn), files),
        gone=look.gone,
        unread=look.unread,
        left_out=look.left_out,
        refused=tuple(_refusal(book, one) for one in _not_made(entries)),
        dropped=tuple(dict.fromkeys((*seen.dropped, *noticed.dropped))),
        not_computed=_largest((*seen.not_computed, *noticed.not_computed)),
        notes=tuple(dict.fromkeys((*notes, *seen.notes, *noticed.notes))),
    )
    return turn_facts.capped(_checked(book, known, facts, answer) if answer.strip() else facts)


def _first_look(book: Conversations, known: WorkshopState, turn: Turn) -> FirstLook:
    """Return what is new and what is gone in the files the turn changed."""
    draft, bench = known.bench.draft, book.bench
    if draft is None:
        return FirstLook()
    try:
        return look_into(bench.desk, bench.formats, turn.began_tree or draft.base_tree, draft.tree)
    except BackshopError:
        if turn.began_tree is None:
            raise
        return look_into(bench.desk, bench.formats, draft.base_tree, draft.tree)


def _asked(known: WorkshopState, turn: Turn) -> tuple[str, tuple[str, ...]]:
    """Return the text of a turn's request, and what was said right before it."""
    own = known.records.get(turn.user_message_id)
    if own is None:
        return "", ()
    said = [
        one
        for one in known.line(own.parent_id)
        if one.type in ("user_message", "assistant_message")
    ]
    more = (turn.note or "", *(one.text for one in turn.notes if one.is_read))
    asked = "\n\n".join(filter(None, (own.text, *more)))
    return asked, tuple(one.text for one in said[-request_scope.RECORDS_BEFORE :])


def _checked(book: Conversations, known: WorkshopState, facts: TurnFacts, answer: str) -> TurnFacts:
    """Mark what an answer names: files that are not there or not changed, items not done."""
    bench = known.bench
    files = {one.path for one in facts.files or ()}
    there = book.bench.desk.entries(bench.published if bench.draft is None else bench.draft.tree)
    named = mention.files_named(answer, {*there, *files})
    touched = {path.rpartition("/")[2] for path in named.files if path in files}
    return replace(
        facts,
        missing=named.missing,
        unchanged=tuple(
            path
            for path in named.files
            if path not in files and path.rpartition("/")[2] not in touched
        ),
        items=tuple(
            replace(one, is_named=one.status != "done" and mention.is_named(answer, one.label))
            for one in facts.items
        ),
    )


# ---------------------------------------------------------------- files


def changed(book: Conversations, known: WorkshopState, turn: Turn) -> tuple[FileChanged, ...]:
    """Return the files of the Draft that are others than when the turn began.

    Where a Draft was there before it, what reports count is of both, and nothing is counted; one
    that it brought back to Published is compared with that (W10.4).
    """
    draft, published = known.bench.draft, known.bench.published
    if draft is None and (turn.began_tree is None or not turn.has_written):
        return ()
    found = []
    began, load = turn.began_tree, book.store.load_tree
    base, now = (published, published) if draft is None else (draft.base_tree, draft.tree)
    try:
        changes = list(tree.diff(began or base, now, load))
    except BackshopError:
        if began is None:
            raise
        changes = list(tree.diff(base, now, load))  # it is not kept any more
    for change in changes:
        kind = "modified"
        if change.before is None or change.after is None:
            kind = "added" if change.before is None else "deleted"
        found.append(
            FileChanged(
                path=change.path,
                change=kind,
                counts=() if began or draft is None else _counts(book, draft, change.path),
                size_before=change.before.size if change.before else None,
                size_after=change.after.size if change.after else None,
            )
        )
    return tuple(sorted(found, key=lambda one: one.path))


def _counts(book: Conversations, draft: Draft, path: str) -> tuple[Counted, ...]:
    """Return what the effect reports of the writes to a file count (F16.13)."""
    known = draft.changes.get(path)
    if known is None or known.effects_ref is None:
        return ()
    try:
        report = parse(book.store.blobs.read(known.effects_ref))
    except BackshopError:
        return ()  # a lost report costs a count (B12.19)
    return counted(report) if isinstance(report, dict) else ()


# ---------------------------------------------------------------- writes


def _writes(known: WorkshopState, turn: Turn) -> Iterator[ToolEntry]:
    """Yield a turn's calls of tools that write, oldest first."""
    found: list[ToolEntry] = []
    for number in range(len(known.tools), 0, -1):
        entry = known.tools[str(number)]
        if entry.at_ms < turn.started_ms:
            break
        if entry.turn_id == turn.turn_id and entry.tool in WRITING_TOOLS:
            found.append(entry)
    yield from reversed(found)


def _not_made(entries: Sequence[ToolEntry]) -> Iterator[ToolEntry]:
    """Yield the writes that failed; one that was only not run not, where it ran later."""
    ran: Counter[tuple[str, str]] = Counter()
    found = []
    for one in reversed(entries):
        key = (one.tool, one.args_sha256)
        if one.success:
            ran[key] += 1
        elif one.success is False and one.error in turn_facts.NOT_RUN and ran[key]:
            ran[key] -= 1
        elif one.success is False:
            found.append(one)
    yield from reversed(found)


def refused_of(known: WorkshopState, turn: Turn, item: int, attempt: int) -> list[ToolEntry]:
    """Return the writes of an attempt at an item that were refused, oldest first."""
    own = (item, attempt)
    return [
        one
        for one in _writes(known, turn)
        if one.success is False and (one.item, one.attempt) == own
    ]


def lacks_plan(known: WorkshopState, turn: Turn) -> bool:
    """Say whether a write was put off until there is a plan, and never made (W11.33)."""
    return any(one.error == turn_facts.NOT_HERE for one in _not_made(list(_writes(known, turn))))


def _refusal(book: Conversations, entry: ToolEntry) -> WriteRefused:
    path = target_of(arguments(book, entry)) or entry.path or ""
    return WriteRefused(tool=entry.tool, reason=entry.error or "failed", path=path)


def _noticed(book: Conversations, turn: Turn, entries: Sequence[ToolEntry]) -> Noticed:
    """Return what the results of the writes that stand say."""
    dropped: list[EditDropped] = []
    left: list[NotComputed] = []
    notes: list[str] = []
    for entry in entries[-RESULTS_READ:]:
        if entry.success and entry.batch_id not in turn.gone:
            given = arguments(book, entry)
            operations = given.get("operations")
            path = target_of(given) or entry.path or ""
            said = result(book, entry)
            for more in (noticed(path, said, operations), *_of_files(said)):
                dropped += more.dropped
                left += more.not_computed
                notes += more.notes
    return Noticed(dropped=tuple(dropped), not_computed=tuple(left), notes=tuple(notes))


def _of_files(said: Mapping[str, Any]) -> Iterator[Noticed]:
    """Yield what the result of a write to many files says about each of them."""
    files = said.get("files")
    for one in files if isinstance(files, list) else ():
        if isinstance(one, Mapping):
            yield noticed(str(one.get("path") or ""), one)


def noticed(path: str, said: Mapping[str, Any], operations: object = None) -> Noticed:
    """Return what the result of one write says about parts of it that were not made."""
    dropped, notes = [], []
    for one in said.get("warnings") or ():
        if isinstance(one, Mapping) and one.get("code") in NOT_MADE:
            what = NOT_MADE[str(one["code"])]
            place = _operation(str(one.get("where") or ""), operations)
            dropped.append(EditDropped(path=path, what=f"{place}{what}"))
        if isinstance(one, Mapping) and one.get("code") in NOTED and one.get("where"):
            dropped.append(EditDropped(path=path, what=str(one["where"])))
        if isinstance(one, Mapping) and one.get("code") in FOLDERS:
            words = FOLDERS[str(one["code"])]
            notes.append(f"{words[0].upper()}{words[1:]}.")
    recalculated = said.get("recalculated")
    count = recalculated.get("not_computed") if isinstance(recalculated, Mapping) else 0
    left = (NotComputed(path=path, count=count),) if isinstance(count, int) and count else ()
    return Noticed(dropped=tuple(dropped), not_computed=left, notes=tuple(notes))


def _operation(where: str, operations: object) -> str:
    """Return which operation of a call is meant, in words."""
    place = _PLACE.search(where)
    number = int(place[1]) if place else -1
    if not isinstance(operations, Sequence) or not 0 <= number < len(operations):
        return f"{where}: " if where else ""
    one = operations[number]
    if not isinstance(one, Mapping):
        return f"{where}: "
    wanted = one.get("search") or one.get("sheet")
    quoted = f" “{str(wanted)[:_QUOTE_MAX_CHARS]}”" if isinstance(wanted, str) else ""
    return f"{one.get('op')}{quoted}: "


def _largest(found: Iterable[NotComputed]) -> tuple[NotComputed, ...]:
    """Return the largest count of each file: what one of its writes left, not a sum of the same."""
    most: dict[str, NotComputed] = {}
    for one in found:
        if one.path not in most or most[one.path].count < one.count:
            most[one.path] = one
    return tuple(most.values())


def arguments(book: Conversations, entry: ToolEntry) -> Mapping[str, Any]:
    """Return the arguments of a call."""
    return _object(book, entry.args_ref)


def result(book: Conversations, entry: ToolEntry) -> Mapping[str, Any]:
    """Return what a call was answered, where that is data of a size worth reading."""
    if entry.result_ref is None or (entry.result_bytes or 0) > _RESULT_MAX_BYTES:
        return {}
    return _object(book, entry.result_ref)


def _object(book: Conversations, ref: BlobId) -> Mapping[str, Any]:
    try:
        value = json.loads(book.store.blobs.read(ref))
    except (BackshopError, ValueError, RecursionError):
        return {}  # lost, or no data: it says nothing
    return value if isinstance(value, dict) else {}


def target_of(given: Mapping[str, Any]) -> str:
    """Return the file a call writes to."""
    for name in ("target_path", "path"):
        value = given.get(name)
        if isinstance(value, str) and value:
            return value[:_PATH_MAX_CHARS]
    return ""

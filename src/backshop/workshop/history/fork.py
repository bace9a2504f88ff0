"""Conversations that go along when a workbench is forked (B5.7).

Only what was said is taken along: turns, tool log and checkpoints stay with the workbench they
happened in, so a card of a publish in a copy says that it cannot be restored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from backshop.base.field_copy import made_from
from backshop.base.ids import MessageId
from backshop.bench import Retold
from backshop.store import Store

from ..conversation import decide
from ..conversation.events import ConversationCopied, CopiedRecord
from ..conversation.repository import conversation_of
from ..conversation.state import WorkshopState
from ..errors import RevisionPruned

_RECORDS_A_FACT = 200
_OF_MOVES = frozenset({"undo", "redo", "regenerate"})
"""System events about moves between records that are not taken along."""


def retell(store: Store, bench_id: str, until: MessageId | None) -> Retold:
    """Tell a conversation again for a fork of its workbench: its active line up to a record."""
    return retold(conversation_of(store, bench_id), until)


def retold(state: WorkshopState, until: MessageId | None) -> Retold:
    """Return the active line up to a record, and what Published was then (B10.13).

    Raises:
        RevisionPruned: a publish or restore lies between, and its checkpoint is gone.
    """
    files, context = state.bench.published, state.bench.context_tree
    if until is not None:
        target = decide.target_of(state, until)
        if target.is_crossing and target.checkpoint is None:
            raise RevisionPruned(
                "the files of that time are not kept any more", reason="revision_pruned"
            )
        if target.checkpoint is not None:
            files, context = target.checkpoint.tree, target.checkpoint.context_tree
    head = state.head_id if until is None else until
    records = list(_told(state, head, is_cut=until is not None))
    facts = [
        ConversationCopied(records=tuple(records[at : at + _RECORDS_A_FACT]))
        for at in range(0, len(records), _RECORDS_A_FACT)
    ]
    return Retold(facts=facts, message_id=head, tree=files, context_tree=context)


def _told(state: WorkshopState, head: MessageId | None, *, is_cut: bool) -> Iterator[CopiedRecord]:
    """Yield the records of a line with the remarks under them, in the order they were made.

    What was remarked under the last one of a line that is cut off happened after it.
    """
    line = {record.message_id for record in state.line(head)}
    under = line - {head} if is_cut else line
    found = [
        record
        for _, record in state.records.items()
        if record.message_id in line
        or (not record.advances_head and (record.parent_id is None or record.parent_id in under))
    ]
    for one in sorted(found, key=lambda record: record.seq):
        if one.event_kind not in _OF_MOVES:
            own = ("seq", "turn_id", "session_seq", "metadata")
            told = json.dumps(dict(one.metadata), sort_keys=True)
            yield made_from(CopiedRecord, one, without=own, metadata_json=told)

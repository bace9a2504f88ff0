"""Another bench from this one's Published; no content is copied (B5.7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backshop.base.errors import ValidationFailed
from backshop.base.ids import MessageId, TreeId, check_id
from backshop.store import Caller

from .. import decide, requests
from ..answers import Created
from ..repository import BenchRepository
from ..values import FileFact


@dataclass(frozen=True, slots=True, kw_only=True)
class Retold:
    """A conversation up to a record, as facts for another bench, and the files of then."""

    facts: Sequence[object]
    message_id: MessageId | None
    """The record it ends at; None when nothing was said yet."""
    tree: TreeId
    context_tree: TreeId


Retell = Callable[[str, MessageId | None], Retold]
"""Tells a bench's conversation again, to its end or up to a record."""


def fork(
    desk: BenchRepository, request: requests.WorkbenchFork, retell: Retell, caller: Caller
) -> Created:
    """Make the bench, with files only, with context items too, or with the conversation."""
    until = None
    if request.from_message_id is not None:
        until = MessageId(check_id(request.from_message_id, "msg"))
        if request.mode != "clone_all":
            raise ValidationFailed("only a whole copy can end at a message", reason="bad_mode")
    bench_id = desk.new_bench()
    with desk.locked(request.workbench_id) as state:
        decide.require_no_draft(state)
        told = retell(request.workbench_id, until) if request.mode == "clone_all" else None
        tree_id = state.published if told is None else told.tree
        wish = decide.ForkWish(
            bench_id=bench_id,
            name=request.name,
            mode=request.mode,
            tree=tree_id,
            context_tree=state.context_tree if told is None else told.context_tree,
            files=_as_facts(desk, tree_id),
            model_id=desk.settings.default_model(),
            message_id=None if told is None else told.message_id,
            is_cut=until is not None,
        )
        facts = [*decide.fork(state, wish), *(told.facts if told else ())]
        desk.commit(bench_id, lambda _: facts, beginning=caller.beginning)
    return Created(workbench_id=bench_id)


def _as_facts(desk: BenchRepository, tree_id: TreeId) -> Sequence[FileFact]:
    return [
        FileFact(
            path=path,
            file_id=desk.new_file(),
            sha256=file.sha256,
            size=file.size,
            imported=True,
        )
        for path, file in desk.entries(tree_id).items()
    ]

"""What the bench room needs of the rest: the settings, and what conversations say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from backshop.base.ids import CheckpointId, MessageId
from backshop.bench import (
    KEYWORDS,
    BenchSettings,
    ChangesAsked,
    Limits,
    Retold,
    Story,
    Vouched,
)
from backshop.store import Store

from ..settings.resolution import Config, in_force

if TYPE_CHECKING:
    from backshop.bench.state import BenchState


class LoggedConversations:
    """What the bench asks of conversations, read from the log alone, not from the agent (B11.8)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def summarise(self, state: BenchState) -> str | None:
        """Say what the Draft is about."""
        if not _is_of_a_turn(state):
            return None
        from backshop.workshop import draft_summary  # loaded when there is something to say

        return draft_summary(self._store, str(state.bench_id))

    def vouch(self, state: BenchState) -> Vouched:
        """Say what is true of the turn that made the Draft."""
        if not _is_of_a_turn(state):
            return Vouched()
        from backshop.workshop import draft_facts  # loaded when there is something to say

        return draft_facts(self._store, str(state.bench_id))

    def unanswered(self, state: BenchState) -> tuple[ChangesAsked, ...]:
        """Say what was asked for about the Draft that nobody has taken up, oldest first."""
        if state.draft is None or not state.draft.is_asked_by(state.conversation_head_id):
            return ()
        from backshop.workshop import unanswered_requests  # loaded when there is something to say

        return unanswered_requests(self._store, str(state.bench_id))

    def asked(self, state: BenchState) -> str | None:
        """Return what the person said last."""
        if state.conversation_head_id is None:
            return None
        from backshop.workshop import last_request  # loaded when there is something to say

        return last_request(self._store, str(state.bench_id))

    def subject(self, state: BenchState) -> str | None:
        """Return the message that the Draft came of."""
        if state.draft is None or state.draft.source.kind != "workshop":
            return None
        from backshop.workshop import draft_request  # loaded when there is something to say

        return draft_request(self._store, str(state.bench_id))

    def stories(self, state: BenchState) -> Mapping[CheckpointId, Story]:
        """Return what followed each checkpoint."""
        if state.conversation_head_id is None:
            return {}
        from backshop.workshop import checkpoint_stories  # loaded when there is something to say

        return checkpoint_stories(self._store, str(state.bench_id))

    def retell(self, bench_id: str, until: MessageId | None) -> Retold:
        """Tell a conversation again for a fork of its workbench."""
        from backshop.workshop import retell  # loaded when a bench is forked

        return retell(self._store, bench_id, until)

    def sisters(self, bench_id: str) -> Iterable[str]:
        """Name the streams that go with a workbench."""
        from backshop.workshop import sister_streams  # loaded when a bench is gone for good

        return sister_streams(bench_id)


def _is_of_a_turn(state: BenchState) -> bool:
    draft = state.draft
    return draft is not None and (draft.source.kind == "workshop" or bool(draft.rounds))


def bench_settings(config: Config) -> BenchSettings:
    """Return what a person set for all workbenches."""
    limits, keywords = config["limits"], config["bench.style_keywords"]
    return BenchSettings(
        profile=config["bench.profile"],
        limits=None if limits is None else Limits(**limits),
        batch_operations=config["bench.batch_operations"],
        batch_files=config["bench.batch_files"],
        batch_bytes=config["bench.batch_bytes"],
        trash_days=config["bench.trash_days"],
        full_view_max=config["bench.full_view_max"],
        max_revisions=config["workshop.max_revisions"],
        checkpoint_max_bytes=config["bench.checkpoint_max_bytes"],
        disk_reserve_bytes=config["bench.disk_reserve_bytes"],
        recalculate=config["formats.recalculate"],
        style_keywords={**KEYWORDS, **(keywords or {})},
        default_model=lambda: in_force(config, "model.default"),
    )

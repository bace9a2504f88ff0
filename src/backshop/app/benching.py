"""What the bench room needs to know of the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from backshop.bench import KEYWORDS, BenchSettings, Limits

from .config import Config, in_force

if TYPE_CHECKING:
    from backshop.bench import Bench
    from backshop.bench.state import BenchState
    from backshop.workshop import Workshop


def ask_conversation(bench: Bench, workshop: Callable[[], Workshop]) -> None:
    """Let the bench ask the conversation what only that knows."""

    def summarise(state: BenchState) -> str | None:
        if state.draft is None or state.draft.source.kind != "workshop":
            return None
        from backshop.workshop import draft_summary  # the log of it, not the agent (B11.8)

        return draft_summary(bench.desk.store, str(state.bench_id))

    def vouch(state: BenchState) -> tuple[str, ...]:
        if state.draft is None or state.draft.source.kind != "workshop":
            return ()
        from backshop.workshop import draft_facts  # the log of it, not the agent (B11.8)

        return draft_facts(bench.desk.store, str(state.bench_id))

    def sisters(bench_id: str) -> Iterable[str]:
        from backshop.workshop import sister_streams  # loaded when a bench is gone for good

        return sister_streams(bench_id)

    bench.summarise = summarise
    bench.vouch = vouch
    bench.sisters = sisters
    bench.retell = lambda bench_id, until: workshop().retell(bench_id, until)


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

"""What models used: tokens, and money where a price is known (M13.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from backshop.base.command import NOTHING
from backshop.base.usage import ModelUsage, Used, money

from .door import Door, DoorCommand, clean, pass_door, table

if TYPE_CHECKING:
    from backshop.app import Backshop
    from backshop.models.requests import UsageReport
    from backshop.workshop.answers import BenchUsage, HomeUsage

_HEAD = ("calls", "tokens in", "cached", "written", "tokens out", "price")
_PAGE = 1000
_ESTIMATED = "?"
_NOTHING = "no model was called yet"


@click.command(cls=DoorCommand)
@click.argument("bench", metavar="[BENCH]", required=False)
@click.option("--turns", is_flag=True, help="Show each turn of BENCH, the newest last.")
@click.option("--run", "run_id", metavar="RUN", help="Only what this run used.")
@pass_door
def usage(door: Door, bench: str | None, turns: bool, run_id: str | None) -> None:
    """Show what models used: of every workbench, or of one, by model and by turn.

    A price is shown for models that have one in the setting `models`.
    """
    if bench is None:
        if turns or run_id:
            raise click.UsageError("--turns and --run are about one workbench: name it")
        from backshop.workshop import Workshop  # loaded when needed (S2.4)

        door.ask(Workshop.list_usage, NOTHING, _home)
        return
    with door.shop() as shop:
        if run_id is None:
            found = _of_bench(shop, bench, with_turns=turns)
            door.show(found, lambda one: _bench(one, with_turns=turns))
            return
        from backshop.models import Permissions, requests  # loaded when needed (S2.4)

        wish = requests.UsageQuery(workbench_id=shop.bench_id(bench), run_id=run_id)
        door.show(shop.ask(Permissions.usage, wish), _run)


def _of_bench(shop: Backshop, bench: str, *, with_turns: bool) -> BenchUsage:
    here = shop.workshop(bench)
    found = here.usage(limit=_PAGE if with_turns else 0)
    while with_turns and found.has_more:
        older = here.usage(limit=_PAGE, before=found.turns[-1].turn_id)
        found = replace(older, turns=(*found.turns, *older.turns))
    return replace(found, has_more=False)


def _home(found: HomeUsage) -> str:
    if not found.calls:
        return _NOTHING
    rows = [
        _row(f"{one.name}{' (deleted)' if one.is_deleted else ''}", one)
        for one in found.benches
        if one.calls
    ]
    if found.elsewhere.calls:
        rows.append(_row("for no workbench", found.elsewhere))
    if len(rows) > 1:
        rows.append(_row("together", found))
    lost = [clean(one.name) for one in found.benches if not one.is_readable]
    missing = [f"not counted, its log cannot be read: {name}" for name in lost]
    return "\n".join([_table(rows, ("workbench",), found), *missing])


def _bench(found: BenchUsage, *, with_turns: bool) -> str:
    if with_turns and found.turns:
        rows = [
            (one.started_at, one.flow, one.status, *_row(", ".join(one.model_ids), one))
            for one in reversed(found.turns)
        ]
        if found.besides.calls:
            rows.append(("", "", "", *_row("for no turn", found.besides)))
        rows.append(("", "", "", *_row("together", found)))
        return _table(rows, ("began", "flow", "status", "model"), found)
    return _models(found, found.by_model)


def _run(found: UsageReport) -> str:
    return _table([_row("the run", found)], ("",), found) if found.calls else _NOTHING


def _models(found: Used, by_model: Sequence[ModelUsage]) -> str:
    if not found.calls:
        return _NOTHING
    rows = [_row(one.model_id, one) for one in by_model]
    if len(rows) > 1:
        rows.append(_row("together", found))
    return _table(rows, ("model",), found)


def _table(rows: Sequence[tuple[str, ...]], first: tuple[str, ...], total: Used) -> str:
    shown = table(rows, (*first, *_HEAD))
    if not total.estimated_calls:
        return shown
    return f"{shown}\n{_ESTIMATED} estimated at least in part: a provider told no tokens"


def _row(name: str, used: Used) -> tuple[str, ...]:
    tokens, mark = used.usage, _ESTIMATED if used.estimated_calls else ""
    counts = (
        *(tokens.input_tokens, tokens.cached_input_tokens, tokens.cache_write_tokens),
        tokens.output_tokens,
    )
    return (name, f"{used.calls:,}", *(f"{count:,}{mark}" for count in counts), money(used))

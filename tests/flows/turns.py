"""Whole turns on a sample workbench with the offline model, through the commands a person has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backshop.app import Backshop

MODEL = "scripted:demo"


@dataclass(frozen=True)
class Turn:
    """What a turn said and did."""

    status: str
    has_draft: bool
    research: str
    plan: str
    reports: tuple[str, ...]
    answer: str
    facts: tuple[str, ...]
    tools: tuple[tuple[str, str], ...]  # phase and tool


def play(shop: Backshop, bench_id: str, text: str, mode: str = "agent") -> Turn:
    """Send a message with the offline model and let the agent answer it."""
    bench = {"workbench_id": bench_id}
    if shop.call("WorkshopGetState", bench).get("model_id") != MODEL:
        shop.call("WorkshopSwitchModel", {**bench, "model_id": MODEL})
    sent = shop.call("WorkshopSendUserMessage", {**bench, "text": text, "mode": mode})
    done = shop.call("WorkshopRunAgent", {**bench, "message_id": sent["message_id"]})
    turn = {**bench, "turn_id": done["turn_id"]}
    made = shop.call("WorkshopGetPlan", turn)
    log = shop.call("WorkshopGetToolLog", {**bench, "limit": 1000})["entries"]
    return Turn(
        status=done["status"],
        has_draft=done["has_draft"],
        research=made["research_md"],
        plan=made["plan_md"],
        reports=tuple(one["text"] for one in made["reports"]),
        answer=_record(shop, bench, done["message_id"])["text"],
        facts=tuple(done["facts_lines"]),
        tools=tuple(
            (one["phase"], one["tool"]) for one in log if one["turn_id"] == done["turn_id"]
        ),
    )


def _record(shop: Backshop, bench: dict[str, str], message_id: str) -> dict[str, Any]:
    messages: list[dict[str, Any]] = shop.call("WorkshopGetConversation", bench)["messages"]
    return next(one for one in messages if one["message_id"] == message_id)

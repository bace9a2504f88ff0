"""Studio and Settings on a small window, and the words of a graph in their boxes."""

from __future__ import annotations

import json

import pytest
from tests.rails.agent import Agent
from tests.rails.workflows import flow, step

from backshop.base.acting import agent_acting
from backshop.web.drawing import LINE_SIZE, fitted

PHONE = {"viewport": {"width": 390, "height": 844}}
WIDER = """() => [...document.querySelectorAll(".table-wrap")]
    .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"""
OUT_OF_PLACE = """() => [...document.querySelectorAll("a.box")].flatMap((box) => {
    const room = box.querySelector("rect").getBBox();
    const words = [...box.querySelectorAll("text")].map((one) => one.getBBox());
    const apart = (a, b) => a.x + a.width <= b.x || b.x + b.width <= a.x || Math.abs(a.y - b.y) > 8;
    const inside = (one) => one.x >= room.x && one.x + one.width <= room.x + room.width;
    return words.every((a, at) => inside(a) && words.slice(at + 1).every((b) => apart(a, b)))
        ? [] : [box.textContent];
})"""


@pytest.fixture(scope="module")
def run(served):
    """A run with wide words, blocked at the person."""
    wide = flow(
        step("w" * 40, title="WWWWW MMMMM @@@@@ WWWWW"),
        step("a_step_with_a_rather_long_name_of_its_own", title="一つの長い題名がここにあります"),
        step("approve", title="Approve", requireConfirmation={"kind": "human_approval"}),
        name="user.wide",
    )
    folder = served.shop.config.home / "workflows"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wide.json").write_text(json.dumps(wide), encoding="utf-8")
    agent = Agent(served.shop.rails)
    with agent_acting("mcp:claude-code"):
        first = agent.start("user.wide", goal="Wide words")
        agent.go(agent.go(agent.go(first, "One."), "Two."), "Ready.")
    return first["session"]


@pytest.mark.needs("browser")
@pytest.mark.rule("U6.22", "U6.24", "U2.2")
def test_records_are_read_without_scrolling_sideways_and_words_keep_to_their_boxes(
    served, run, new_page
):
    served.call("UserAdd", name="Anna with a name that is rather long for a small window")
    page = new_page("/studio", own=True, **PHONE)
    label = page.locator(".run-table td[data-label='Agent']").first
    said = label.evaluate("(one) => getComputedStyle(one, '::before').content")
    wider = {}
    for path in (
        "/studio",
        "/studio/sessions",
        f"/studio/session/{run['sessionId']}",
        "/workflows",
        "/settings/people",
        "/settings/models",
        "/settings/advanced",
    ):
        page.goto(served.address + path)
        wider[path] = page.evaluate(WIDER)
    page.goto(f"{served.address}/studio/run/{run['runId']}")
    page.evaluate("document.fonts.ready")
    shade = page.locator("#graph").evaluate("(one) => getComputedStyle(one).backgroundAttachment")

    assert said == '"Agent"'
    assert {path: found for path, found in wider.items() if found} == {}
    assert page.locator("a.box").count() == 4
    assert page.evaluate(OUT_OF_PLACE) == []
    assert shade == "local, local, scroll, scroll"
    assert fitted("after a step", LINE_SIZE, 10) == "…"

"""What an agent gets wrong is answered so that it gets it right, the same at every door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.mcp.mistakes import FORGIVEN, JARGON, MISTAKES, Mistake
from tests.workshop.conftest import calls, plan, says

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.mcp.server import build
from backshop.mcp.toolbox import Toolbox
from mcp import Client


@pytest.fixture
def home(tmp_path: Path) -> tuple[Path, str]:
    with Backshop.open(tmp_path / "home") as shop:
        bench = shop.call("WorkbenchCreateSample", {})["workbench_id"]
    return tmp_path / "home", bench


def lacks(answer: str, mistake: Mistake) -> list[str]:
    """Return what an answer fails to say, or says in words of our own tools."""
    plain = answer.replace('\\"', '"').replace("\\n", "\n")
    missing = [part for part in mistake.says if part not in plain]
    return [f"{mistake.name}: {part!r} in {answer}" for part in missing] + [
        f"{mistake.name}: {word}" for word in JARGON if word.lower() in answer.lower()
    ]


@pytest.mark.rule("W7.13", "W7.10", "F16.4", "W7.5", "W7.12", "F16.5")
def test_over_mcp_a_mistake_is_answered_with_the_way_to_do_it_and_writes_nothing(home):
    path, bench = home
    offering = Toolbox(path, tool_sets=("bench",), bench_id=bench)
    found: list[str] = []

    async def story() -> None:
        async with Client(build(offering)) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            assert {"get_styles", "copy_assets", "describe_operations"} <= listed
            assert not {name for name, _ in FORGIVEN if name.endswith("_get_styles")} & listed
            draft = offering.shop().benches.desk.state
            for one in MISTAKES:
                before = draft(bench).draft
                wrong = await client.call_tool(one.tool, one.wrong)
                after = draft(bench).draft
                right = await client.call_tool(one.tool, one.right)
                text = "".join(getattr(part, "text", "") for part in wrong.content)
                found.extend(lacks(text, one))
                found.extend(lacks(json.dumps(wrong.structured_content, ensure_ascii=False), one))
                if not wrong.is_error or before != after or right.is_error:
                    found.append(f"{one.name}: {wrong.is_error} {before == after} {right.content}")
            for name, arguments in FORGIVEN:
                taken = await client.call_tool(name, arguments)
                if taken.is_error:
                    found.append(f"{name}: {taken.content}")

    anyio.run(story)
    offering.close()
    assert found == []


@pytest.mark.rule("W7.13", "W7.5", "W7.12", "W8.3")
def test_the_built_in_agent_gets_the_same_answers(home):
    path, bench = home
    made = [  # failures in a row would end the turn
        call
        for number, one in enumerate(MISTAKES, 1)
        for call in ((one.tool, one.wrong), ("list_files", {"limit": number}))
    ]
    with Backshop.open(path) as shop:
        steps = [
            says("research", "Found."),
            says("plan", plan("Do it")),
            calls("implement", 1, *made[:40]),
            calls("implement", 2, *made[40:]),
            calls("implement", 3, *FORGIVEN),
            says("implement", "Done."),
            says("summary", "Done."),
        ]
        shop.models.play("test", steps)
        own = {"workbench_id": bench}
        shop.call("WorkshopSwitchModel", {**own, "model_id": "scripted:test"})
        sent = shop.call("WorkshopSendUserMessage", {**own, "text": "Do it"})
        shop.call("WorkshopRunAgent", {**own, "message_id": sent["message_id"]})
        entries = shop.call("WorkshopGetToolLog", {**own, "limit": 200})["entries"]
        tried = [one for one in entries if one["tool"] != "list_files"]
        answers = [_result(shop, own, one["id"]) for one in tried[: len(MISTAKES)]]

    found = [
        line for one, answer in zip(MISTAKES, answers, strict=True) for line in lacks(answer, one)
    ]
    assert found == []
    assert [one["success"] for one in tried] == [False] * len(MISTAKES) + [True] * len(FORGIVEN)
    names = [one["tool"] for one in tried[len(MISTAKES) :]]
    assert names == [n[5:] if n.endswith("get_styles") else n for n, _ in FORGIVEN]


def _result(shop: Backshop, own: dict[str, Any], entry_id: int) -> str:
    entry = shop.call("WorkshopGetToolLogEntry", {**own, "entry_id": entry_id})
    return str(entry["content"])


@pytest.mark.rule("W7.13", "W7.5", "W7.12", "S8.1")
def test_python_gets_the_same_answers_and_has_every_tool(home):
    path, bench = home
    found: list[str] = []
    with Backshop.open(path) as shop:
        desk = shop.workshop(bench)
        for one in MISTAKES:
            try:
                result = desk.tool(one.tool, **one.wrong)
                assert not result.ok, one.name
                answer = result.text()
            except BackshopError as error:
                answer = "\n".join((error.message, *error.hints))
            found.extend(lacks(answer, one))
        assert shop.benches.desk.state(bench).draft is None
        for name, arguments in FORGIVEN:
            assert desk.tool(name, **arguments).ok, name
        assert desk.tool("review_draft").ok
        assert desk.tool("recall_tool_result", entry_id=1).code == "entry_not_found"
        with pytest.raises(BackshopError) as caught:
            desk.tool("get_style", path="README.md")

    assert found == []
    assert caught.value.hints[0] == "get_styles"

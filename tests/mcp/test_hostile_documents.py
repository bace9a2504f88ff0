"""What an outside agent that obeys every text it reads can do at worst, with a bench of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.workshop.conftest import Chat, calls, plan, says, write

from backshop.app import Backshop
from backshop.mcp.toolbox import Toolbox

SECRET = "topsecret42"
EVIL = "evil.example"
NOT_OFFERED = ("publish", "approve", "delete", "rename", "discard", "setting", "consent", "key")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Chat]:
    """The bench the server is for, beside another one that was worked on."""
    with Backshop.open(tmp_path / "home", settings={"model.default": "scripted:demo"}) as shop:
        other = Chat(shop, tmp_path)
        other.add({"secret.md": f"{SECRET}\n"})
        other.play(
            [
                says("research", f"It says {SECRET}."),
                says("plan", plan("Do it")),
                calls("implement", 1, write("secret.md", f"{SECRET}!\n"), item=1),
                says("implement", f"Wrote {SECRET}."),
                says("summary", f"It is {SECRET}."),
            ]
        )
        other.ask(f"What is {SECRET}?")
        room = Chat(shop, tmp_path)
        room.add({"notes.md": "old https://old.example\n" + "line\n" * 30, "other.md": "x\n"})
        yield room


@pytest.fixture(params=[True, False], ids=["a bench", "no bench"])
def offering(own: Chat, request) -> Iterator[Toolbox]:
    home = own.shop.config.home
    if request.param:
        made = Toolbox(home, tool_sets=("rails", "bench"), bench_id=own.id)
    else:
        made = Toolbox(home, tool_sets=("rails",))
    yield made
    made.close()


@pytest.mark.rule("S6.4", "W11.30")
@pytest.mark.parametrize("asked", [{}, {"query": SECRET}], ids=["anything", "by word"])
def test_no_session_of_another_bench_is_found(own, offering, asked):
    answer = offering.tools()["resume_session"].call(asked, None)

    assert not answer.is_error
    assert answer.structured["candidates"] == []


@pytest.mark.rule("S6.4")
def test_its_own_runs_are_found(own):
    with_bench = Toolbox(own.shop.config.home, tool_sets=("rails", "bench"), bench_id=own.id)
    tools = with_bench.tools()
    begun = {"workflowId": "wr.rpi", "context": {"prompt": "Write a note"}}
    assert not tools["start_workflow"].call(begun, None).is_error

    found = tools["resume_session"].call({}, None).structured["candidates"]
    with_bench.close()

    assert [one["title"] for one in found] == ["Write a note"]


@pytest.mark.rule("W11.30", "B13.10", "W13.9")
def test_it_writes_its_own_draft_and_the_review_says_first_what_is_new(own):
    box = Toolbox(own.shop.config.home, tool_sets=("rails", "bench"), bench_id=own.id)
    tools = box.tools()
    before = own.shop.benches.desk.state(own.id).published

    def do(name: str, **arguments: Any) -> bool:
        return not tools[name].call(arguments, None).is_error

    assert not [one for one in tools if any(word in one for word in NOT_OFFERED)]
    for path in ("../x.md", "/etc/x.md", "../../store.db", "C:\\x.md", "a/../../x.md"):
        assert not do("write_text_file", path=path, content="x")
        assert not do("read_file", path=path)
    assert do("write_text_file", path="notes.md", content=f"[x](https://{EVIL})\n")
    review = tools["review_draft"].call({}, None).structured
    box.close()

    first = [
        f"New host {EVIL}: 1 link in notes.md.",
        "Gone from notes.md: 30 of 31 lines.",
    ]
    assert review["draft_facts"][: review["draft_facts_first"]] == first
    assert own.call("ReviewGetChangeSet")["draft_facts"] == first
    assert own.shop.benches.desk.state(own.id).published == before

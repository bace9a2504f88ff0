"""Words found in names and in what was said (W27.10)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.workshop.conftest import Chat, says

from backshop.app import Backshop
from backshop.base.errors import ValidationFailed
from backshop.workshop import search
from backshop.workshop.search import excerpt_of

ANSWER = """\
## Shares

The **SOUTH** has *2*3 = 6* of [`a_b`](https://a.example)

| Region | Share |
|:-------|------:|
| South  | 6 * 1 |
"""


@pytest.fixture
def chats(tmp_path: Path):
    with Backshop.open(tmp_path / "home", settings={"model.default": "scripted:demo"}) as shop:
        yield [Chat(shop, tmp_path) for _ in range(2)]


def found(chat: Chat, query: str, **more):
    return chat.shop.call("WorkshopSearch", {"query": query, **more})


@pytest.mark.rule("W27.10")
def test_every_word_is_looked_for_in_names_and_in_what_is_still_said(chats):
    one, two = chats
    one.add({"Umsatz Süd.csv": "a"})
    for chat in chats:
        chat.play([says("work", ANSWER)])
        chat.ask("What about the south?")
    two.call("WorkbenchRename", new_name="South 2025")
    two.call(
        "WorkshopUndoToMessage",
        message_id=two.call("WorkshopGetConversation")["messages"][0]["message_id"],
    )

    hits = found(one, "south")
    said = [(one["workbench_id"], one["role"], one["excerpt"]) for one in hits["messages"]]
    assert said == [
        (one.id, "agent", "Shares The SOUTH has 2*3 = 6 of a_b Region · Share South · 6 * 1"),
        (one.id, "person", "What about the south?"),
    ]
    assert [bench["name"] for bench in hits["workbenches"]] == ["South 2025"]
    assert (hits["is_whole"], hits["not_read"], hits["files"]) == (True, 0, [])
    assert [hit["path"] for hit in found(one, "süd UMSATZ")["files"]] == ["Umsatz Süd.csv"]
    assert found(one, "south sea")["messages"] == []


@pytest.mark.rule("W27.10", "T6.4")
def test_nobody_finds_what_they_may_not_see(chats):
    chat = chats[0]
    chat.add({"secret.txt": "a"})
    other = chat.shop.call("UserAdd", {"name": "Other"})["user_id"]

    assert found(chat, "secret")["files"]
    assert chat.shop.call("WorkshopSearch", {"query": "secret"}, user=other)["files"] == []


@pytest.mark.rule("W27.10")
def test_a_search_is_bounded_and_says_so(chats, monkeypatch):
    chat = chats[0]
    chat.add({f"note {n}.txt": "a" for n in range(5)})

    few = found(chat, "note", limit=3)
    assert (len(few["files"]), few["is_whole"]) == (3, False)
    monkeypatch.setattr(search, "SEARCH_S", -1.0)
    assert found(chat, "note") == {
        **{"workbenches": [], "files": [], "messages": []},
        **{"is_whole": False, "not_read": 0},
    }
    for query, limit in (("  ", 30), ("x" * 201, 30), ("x", 0), ("x", 101)):
        with pytest.raises(ValidationFailed):
            found(chat, query, limit=limit)


@pytest.mark.rule("W27.10")
def test_an_excerpt_is_the_part_around_the_word():
    long = " ".join(f"word{n}" for n in range(200)) + " needle " + "end " * 100
    assert excerpt_of("A needle\nhere", "needle") == "A needle here"
    assert "needle" in excerpt_of(long, "needle")
    assert excerpt_of(long, "needle").startswith("… word")
    assert len(excerpt_of(long, "needle")) < 170

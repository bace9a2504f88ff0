"""The same turn on PostgreSQL: stop, go on, go back, answer again."""

from __future__ import annotations

import pytest
from tests.postgres import fresh_database
from tests.workshop.conftest import Chat, story

from backshop.app import Backshop


@pytest.mark.needs("postgres")
@pytest.mark.rule("W13.5", "W12.1", "W15.1", "W15.9")
def test_a_turn_on_postgres_stops_goes_on_and_goes_back(tmp_path):
    failing = {
        "when": {"purpose": "implement", "item": 2},
        "times": 0,
        "respond": {"error": "auth"},
    }
    good = story(("b.txt", "b"), ("c.txt", "c"), answer="b.txt and c.txt")
    with (
        fresh_database() as url,
        Backshop.open(tmp_path / "home", settings={"database_url": url}) as shop,
    ):
        chat = Chat(shop, tmp_path)
        chat.play([failing, *good], "bad")
        question = chat.send()

        stopped = chat.run(question)
        kept = chat.draft()
        chat.play(good, "good")
        done = chat.run(question)
        whole = chat.draft()
        chat.call("WorkshopUndoToMessage", message_id=question)
        gone = chat.draft()
        chat.call("WorkshopRedo")

        assert (stopped["status"], kept) == ("paused", {"b.txt": "b"})
        assert (done["status"], whole) == ("complete", {"b.txt": "b", "c.txt": "c"})
        assert (gone, chat.draft()) == (None, whole)
        again = chat.call("WorkshopRegenerate")
        assert (again["status"], again["run_id"]) == ("complete", done["run_id"])
        assert chat.draft() == whole == chat.on_disk("draft")

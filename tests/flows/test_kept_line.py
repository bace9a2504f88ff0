"""A whole turn speaks to its provider on one connection (M4.13)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.models.provider import serving
from tests.workshop.conftest import Chat, plan

from backshop.app import Backshop

from .test_wire import PROBE, call, connect, said


@pytest.mark.rule("M4.13")
def test_the_calls_of_a_turn_use_one_connection(tmp_path):
    turn = (
        call("list_files"),
        said("# Research\n\n", "One file."),
        said(plan("Write b.txt")),
        call("write_text_file", path="b.txt", content="b\n"),
        said("Wrote b.txt."),
        said("I wrote b.txt."),
    )
    kept = [replace(one, keeps=True) for one in turn]
    with serving(*PROBE, *kept) as server, Backshop.open(tmp_path / "home") as shop:
        room = Chat(shop, tmp_path)
        room.add({"a.txt": "one\n"})
        connect(room, server)
        room.call("WorkshopSetFlow", flow="rpi")
        before = server.connections, len(server.seen)

        done = room.ask("Write b.txt")

        assert (done["status"], room.draft()) == ("complete", {"a.txt": "one\n", "b.txt": "b\n"})
        assert (server.connections - before[0], len(server.seen) - before[1]) == (1, len(turn))

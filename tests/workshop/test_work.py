"""What a turn costs besides its model: no more in a long conversation; counted and not timed."""

from __future__ import annotations

from functools import partial

import pytest
from tests.effort import work
from tests.workshop.conftest import Chat, calls, says

MAX_RATIO = 1.3
TEXT = "Look " + "at this " * 120


@pytest.mark.rule("W17.1", "W17.2", "T7")
def test_a_turn_costs_no_more_after_hundreds_of_messages(chat: Chat) -> None:
    chat.add({f"{number}.txt": "x" for number in range(10)})
    reads = [calls("research", n, ("read_file", {"path": f"{n}.txt"})) for n in range(1, 6)]
    ends = [says("research", "R."), says("plan", "## Items\nnone"), says("summary", "Done.")]
    wire = chat.play([*reads, *ends, says("compression", "In short.")])
    cost, sent, said = {}, {}, 0

    for messages in (50, 60, 230, 240):  # ten more each time, after what is done once
        while said < messages:
            question, said = chat.send(TEXT), said + 1
        cost[messages] = work(partial(chat.run, question))
        sent[messages] = sum(len(one.text) for one in wire.requests[-1].messages)
        said += 1

    assert sent[240] <= sent[60] * 1.1  # the older ones were summed up
    assert cost[240] <= cost[60] * MAX_RATIO

"""What a turn costs the log: a fact is written once, and facts travel together (W13.14)."""

from __future__ import annotations

from collections import Counter

import pytest

from backshop.app import Backshop
from backshop.models.wires.scripted import bundled
from backshop.store import Store

from .turns import MODEL, play

PROMPT = next(task.prompt for task in bundled("demo").script.tasks if task.id == "translate")


@pytest.mark.rule("W13.14", "W13.13")
def test_the_demo_turn_is_at_most_46_events_in_at_most_15_appends(tmp_path, monkeypatch):
    """One item, six tool calls, two writes: the turn the architecture describes."""
    with Backshop.open(tmp_path / "home") as shop:
        bench = shop.call("WorkbenchCreateSample", {})["workbench_id"]
        shop.call("WorkshopSwitchModel", {"workbench_id": bench, "model_id": MODEL})
        before, appends = shop.store.last_seq(), Counter[str]()
        for name in ("append", "update", "update_many"):
            plain = getattr(Store, name)

            def counted(self, *given, plain=plain, name=name, **more):
                appends[name] += 1
                return plain(self, *given, **more)

            monkeypatch.setattr(Store, name, counted)
        turn = play(shop, bench, PROMPT)
        events = shop.store.last_seq() - before
        kinds = Counter(one.kind for one in shop.store.read(f"bench:{bench}"))

    assert turn.status == "complete"
    assert len(turn.tools) == kinds["workshop.tool_called"] == 6
    assert kinds["draft.batch_applied"] == 2
    assert kinds["model.called"] == 8
    assert events <= 46
    assert sum(appends.values()) <= 15

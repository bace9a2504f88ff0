"""The product for asynchronous programs, and events at the doors beside HTTP (S5.2, S8.1)."""

from __future__ import annotations

import asyncio
import json
import queue
from typing import Any

import pytest

from backshop import AsyncBackshop, Backshop, __version__
from backshop.app import RpcLine


@pytest.mark.rule("S8.1", "S5.2")
def test_calls_are_awaited_and_events_are_iterated(tmp_path):
    async def story():
        async with await AsyncBackshop.open(tmp_path / "home") as shop:
            bench = (await shop.call("WorkbenchCreate", {"name": "One"}))["workbench_id"]
            start = shop.shop.hub.position
            await shop.call("WorkbenchRename", {"workbench_id": bench, "new_name": "Two"})
            async for note in shop.events(workbench_id=bench, after=start):
                return note.name, note.payload

    assert asyncio.run(story()) == ("WorkbenchChanged", {"name": "Two"})


def test_what_is_no_facade_is_no_attribute(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        wrapped = AsyncBackshop(shop)

        with pytest.raises(AttributeError):
            _ = wrapped.nothing


@pytest.mark.rule("S5.2")
def test_a_client_on_standard_input_subscribes_and_is_notified(tmp_path):
    said: queue.Queue[dict[str, Any]] = queue.Queue()
    with Backshop.open(tmp_path / "home") as shop:
        client = RpcLine(shop, __version__, said.put)

        def ask(method, **params):
            request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
            client.take(json.dumps(request).encode())

        ask("WorkbenchCreate", name="One")
        bench = said.get(timeout=5)["result"]["workbench_id"]
        ask("rpc.subscribe", workbench_id=bench)
        number = said.get(timeout=5)["result"]["subscription"]
        ask("WorkbenchRename", workbench_id=bench, new_name="Two")
        both = [said.get(timeout=5), said.get(timeout=5)]
        ask("rpc.unsubscribe", subscription=number)
        ended = said.get(timeout=5)
        ask("rpc.unsubscribe", subscription=number)
        refused = said.get(timeout=5)
        client.close()

    note = next(one for one in both if "method" in one)
    assert (note["method"], note["params"]["name"]) == ("WorkbenchChanged", "Two")
    assert note["params"]["workbench_id"] == bench
    assert ended["result"] == {}
    assert refused["error"]["data"]["error_code"] == "VALIDATION_FAILED"

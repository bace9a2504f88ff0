"""Server-sent events (S5.2)."""

from __future__ import annotations

import json
import threading

import pytest


def frames(lines, count):
    """Return the next `count` events as (id, name, data)."""
    found, place, name = [], None, ""
    for line in lines:
        key, _, value = line.partition(": ")
        if key == "id":
            place = int(value)
        elif key == "event":
            name = value
        elif key == "data":
            found.append((place, name, json.loads(value)))
            place = None
            if len(found) == count:
                return found
    raise AssertionError("the stream ended")


@pytest.mark.rule("S5.2")
def test_events_are_resumed_by_last_event_id_with_nothing_lost_or_doubled(served):
    bench = served.bench()
    start = served.shop.hub.position
    for name in ("One", "Two", "Three"):
        served.call("WorkbenchRename", workbench_id=bench, new_name=name)
    about = f"/events?workbench_id={bench}"
    with served.client() as client:
        with client.stream("GET", f"{about}&after={start}") as stream:
            whole = frames(stream.iter_lines(), 3)
        headers = {"last-event-id": str(whole[0][0])}
        with client.stream("GET", f"{about}&after={start}", headers=headers) as stream:
            rest = frames(stream.iter_lines(), 2)
        bad = []
        for one in ("nonsense", "9" * 19):
            with client.stream("GET", f"{about}&after={one}") as stream:
                bad.append(stream.status_code)

    assert [(name, data["name"]) for _, name, data in whole] == [
        ("WorkbenchChanged", "One"),
        ("WorkbenchChanged", "Two"),
        ("WorkbenchChanged", "Three"),
    ]
    assert rest == whole[1:]
    assert bad == [422, 422]


@pytest.mark.rule("W4.1")
def test_signals_carry_no_id(served):
    bench = served.bench()
    with served.client() as client, client.stream("GET", f"/events?workbench_id={bench}") as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("retry:")
        served.shop.hub.signals.send("UsageUpdated", {"n": 1}, workbench_id=bench)
        served.shop.hub.signals.send("UsageUpdated", {"n": 2}, workbench_id="wb_other")
        served.call("WorkbenchRename", workbench_id=bench, new_name="Next")

        (first, second) = frames(lines, 2)

    assert first == (None, "UsageUpdated", {"workbench_id": bench, "n": 1})
    assert second[1] == "WorkbenchChanged"


@pytest.mark.rule("S5.2", "U1.3")
def test_a_client_that_leaves_while_the_hub_is_busy_stops_nobody(served):
    hub = served.shop.hub
    with served.client() as client, client.stream("GET", "/events") as stream:
        lines = stream.iter_lines()  # kept: without it the client would leave at once
        next(lines)
        held, done = threading.Event(), threading.Event()

        def keep_busy():
            with hub._lock:
                held.set()
                done.wait(30)

        busy = threading.Thread(target=keep_busy, daemon=True)
        busy.start()
        held.wait(5)
        stream.close()
        try:
            with served.client(logged_in=False) as other:
                answers = [other.get("/healthz").status_code for _ in range(20)]
        finally:
            done.set()
            busy.join(5)

    assert set(answers) == {200}

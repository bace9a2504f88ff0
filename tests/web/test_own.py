"""Pages of somebody who shares a home: all that is theirs, and nothing of the server (T6.4)."""

from __future__ import annotations

import httpx2
import pytest
from tests.web.browsing import PLAIN, serving
from tests.web.test_people import anna as anna
from tests.web.test_people import rpc


@pytest.mark.rule("T6.4", "S7.5")
def test_a_person_names_no_path_of_a_server_on_loopback_either(anna, tmp_path):
    client, _ = anna
    secret = tmp_path / "secret.json"
    secret.write_text('{"steps": "the owner\'s own"}', encoding="utf-8")
    bench = rpc(client, "WorkbenchCreate", name="Anna's")["result"]["workbench_id"]
    given = {"mode": "file", "source_path": str(secret)}
    calls = [
        rpc(client, "ContextProcess", workbench_id=bench, category="situation", input=given),
        rpc(client, "RailsWorkflowValidate", path=str(secret)),
        rpc(client, "RailsWorkflowValidate", path=str(tmp_path / "not-there.json")),
        rpc(client, "list_workflows", workspacePath=str(tmp_path)),
    ]
    forms = [
        client.post("/do/RailsWorkflowValidate", data={"path": str(secret)}),
        client.get(f"/workflows?workspace={tmp_path}"),
    ]

    assert [one["error"]["data"]["reason"] for one in calls] == ["paths"] * len(calls)
    assert [one.status_code for one in forms] == [403] * len(forms)


@pytest.mark.rule("U5.1", "B5.3", "T6.4")
def test_the_start_page_shows_every_workbench_of_ones_own(tmp_path):
    with serving(tmp_path / "home") as served:
        made = served.call("UserAdd", name="Anna")
        anna = made["user_id"]
        served.shop.call("WorkbenchCreate", {"name": "The oldest is hers"}, user=anna)
        for n in range(201):
            served.call("WorkbenchCreate", name=f"Of the owner {n}")
        with httpx2.Client(base_url=served.address, timeout=60, verify=PLAIN) as client:
            client.post("/login", data={"token": made["token"]})
            hers = client.get("/bench-cards").text
        with served.client() as owner:
            parts = [owner.get(f"/bench-cards?part={n}", timeout=60).text for n in range(1, 6)]

    assert hers.count("data-bench-card") == 1
    assert "The oldest is hers" in hers
    assert sum(part.count("data-bench-card") for part in parts) == 202


@pytest.mark.rule("B18.1", "T6.4")
def test_a_person_opens_a_sample_of_their_own(served, anna):
    client, _ = anna
    answer = client.post("/benches/sample", timeout=60)
    opened = client.get(answer.headers["location"])
    seen = rpc(client, "WorkbenchList")["result"]["workbenches"]

    assert (answer.status_code, opened.status_code) == (303, 200)
    assert [f"/bench/{one['workbench_id']}" for one in seen] == [answer.headers["location"]]

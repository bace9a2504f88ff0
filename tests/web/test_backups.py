"""Backups from the page (U5.54), and usage by person (U5.55)."""

from __future__ import annotations

import zipfile
from contextlib import closing

import pytest
from tests.web.accessible import violations
from tests.web.browsing import serving

from backshop.app import Backshop
from backshop.store import restore_backup


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.54", "T5.4")
def test_a_backup_is_made_downloaded_restored_and_removed(served, new_page, tmp_path):
    bench = served.bench("Kept", {"a.txt": "kept\n"})
    page = new_page("/settings/advanced")
    page.get_by_role("button", name="Make a backup now").click()
    listed = page.get_by_role("region", name="Backups made here")
    listed.wait_for()
    row, found = listed.locator("tbody tr").inner_text(), violations(page)
    with page.expect_download() as coming:
        listed.get_by_role("link", name="Download").click()
    with zipfile.ZipFile(coming.value.path()) as archive:
        archive.extractall(tmp_path)
    [folder] = tmp_path.iterdir()
    restore_backup(folder, tmp_path / "home")
    with Backshop.open(tmp_path / "home") as shop:
        names = [one["name"] for one in shop.call("WorkbenchList", {})["workbenches"]]
        read = {"workbench_id": bench, "path": "a.txt", "view": "published"}
        text = shop.call("WorkbenchFileRead", read)["text"]
    listed.get_by_text("Remove…").click()
    listed.get_by_role("button", name="Remove it for good").click()
    page.get_by_text("No backup was made from here yet.").wait_for()

    assert "KB" in row or "MB" in row
    assert (names, text, found) == (["Kept"], "kept", [])


@pytest.mark.rule("U5.54")
def test_backups_are_for_the_owner_and_no_other_path_is_one(served):
    made = served.call("UserAdd", name="Curious")
    with closing(served.client(logged_in=False)) as client:
        client.post("/login", data={"token": made["token"]})
        theirs = [
            client.post("/settings/backups"),
            client.get("/settings/backups/2026-01-01T00-00-00Z"),
            client.post("/settings/backups/2026-01-01T00-00-00Z/remove"),
        ]
    with closing(served.client()) as client:
        odd = [
            client.get(f"/settings/backups/{name}").status_code
            for name in ("..", "%2e%2e", "settings.json", "2026-01-01T00-00-00Z")
        ]

    assert [one.status_code for one in theirs] == [403] * 3
    assert odd[2:] == [404, 404]


@pytest.mark.rule("U5.55", "T1.6")
def test_usage_is_told_by_person_to_the_owner_alone(tmp_path):
    with serving(tmp_path / "home") as server:
        ada = server.call("UserAdd", name="Ada")
        bench = server.bench("Both", {"a.md": "a\n"})
        about = {"workbench_id": bench}
        server.call("AccessSet", **about, user_id=ada["user_id"], role="publish")
        server.call("WorkshopSwitchModel", **about, model_id="scripted:demo")
        for user in (None, ada["user_id"]):
            wish = {**about, "text": "Hello", "mode": "ask"}
            said = server.shop.call("WorkshopSendUserMessage", wish, user=user)
            turn = {**about, "message_id": said["message_id"]}
            server.shop.call("WorkshopRunAgent", turn, user=user)
        whole = server.call("WorkshopListUsage")
        hers = server.shop.call("WorkshopListUsage", {}, user=ada["user_id"])
        with closing(server.client()) as client:
            page = client.get("/settings/usage").text

    told = {one["person"]: one["calls"] for one in whole["by_person"]}
    assert set(told) == {"owner", ada["user_id"]}
    assert sum(told.values()) == whole["calls"]
    assert not hers.get("by_person")
    assert "Usage by person" in page
    assert "Ada" in page

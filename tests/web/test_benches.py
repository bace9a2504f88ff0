"""The list of workbenches in a real browser (U5.1)."""

from __future__ import annotations

import re

import pytest
from tests.web.accessible import violations
from tests.web.drafts import Drafting
from tests.workshop.conftest import says

from backshop.base.paths import BenchPath

pytestmark = pytest.mark.needs("browser")


@pytest.mark.rule("U5.1")
def test_a_bench_is_made_deleted_and_taken_back(served, page):
    page.get_by_role("button", name="New workbench").click()
    page.get_by_label("Name").first.fill("Quarter <b>one</b>")
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url("**/bench/wb_*")
    page.goto(served.address)

    page.get_by_label("Actions for Quarter <b>one</b>").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_text("is in the trash").first.wait_for()
    names = [one["name"] for one in served.call("WorkbenchList")["workbenches"]]
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("link", name="Quarter <b>one</b>").wait_for()

    assert "Quarter <b>one</b>" not in names


@pytest.mark.rule("U5.1", "B18.2")
def test_the_first_steps_lead_to_the_sample_and_are_not_shown_again(served, new_page):
    page = new_page("/")
    page.get_by_role("button", name="Try it with sample files").click(timeout=60_000)
    page.wait_for_url("**/bench/wb_*")
    suggested = page.locator("#welcome [data-suggest]").count()
    first = page.url
    page.goto(served.address)
    gone = page.get_by_role("button", name="Try it with sample files").count() == 0
    page.get_by_role("button", name="A fresh sample").click(timeout=60_000)
    page.wait_for_url("**/bench/wb_*")

    assert suggested == 8
    assert gone
    assert page.url != first


@pytest.mark.rule("U1.3", "U5.1")
def test_a_bench_made_elsewhere_appears(served, new_page):
    page = new_page("/")
    served.bench("Made by another program")

    page.get_by_role("link", name="Made by another program").wait_for()


@pytest.mark.rule("U5.1")
def test_a_bench_is_forked_and_made_of_a_folder(served, new_page, files):
    served.bench("Original", {"a.txt": "a"})
    page = new_page("/")
    page.get_by_label("Actions for Original").click()
    page.get_by_role("button", name="Fork (files only)").click()
    page.get_by_role("link", name=re.compile("Original.+")).wait_for()
    page.get_by_role("button", name="From a folder").click()
    dialog = page.get_by_role("dialog", name="New workbench from a folder")
    dialog.get_by_label("Name").fill("Of a folder")
    dialog.get_by_label("Folder", exact=True).set_input_files(files)
    dialog.get_by_role("button", name="Create and add files").click()
    page.wait_for_url("**/bench/wb_*")

    made = page.url.rpartition("/")[2]
    assert served.paths(made) == {"notes.md", "sales.csv"}
    assert (files / "notes.md").exists()
    benches = served.call("WorkbenchList")["workbenches"]
    fork = next(
        one for one in benches if one["name"].startswith("Original") and one["name"] != "Original"
    )
    assert served.paths(fork["workbench_id"]) == {"a.txt"}


@pytest.mark.rule("U5.1", "B6.9", "U1.6")
def test_a_bench_made_for_a_folder_that_is_not_added_is_taken_back(served, new_page, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    served.call("SettingsSet", key="onboarding", value={"dismissed": True, "version": 99})
    limit = served.call("WorkbenchGetScope", workbench_id=served.bench("Any"))["limits"]
    for number in range(limit["max_files"] + 1):
        (folder / f"{number}.txt").write_text("x")
    names = {one["name"] for one in served.call("WorkbenchList")["workbenches"]}
    page = new_page("/")
    page.get_by_role("button", name="From a folder").click()
    dialog = page.get_by_role("dialog", name="New workbench from a folder")

    def left():
        now = {one["name"] for one in served.call("WorkbenchList")["workbenches"]}
        return now - names, dialog.locator("[data-error]").count()

    dialog.get_by_label("Name").fill("Too many")
    dialog.get_by_label("Folder", exact=True).set_input_files(folder)
    with page.expect_response(_answers("WorkbenchDelete")):
        dialog.get_by_role("button", name="Create and add files").click()
        page.get_by_role("button", name="Do not add them").click()
    unwanted = left()
    refusal = {"error": {"error_code": "LIMIT_EXCEEDED", "message": "no room"}}
    page.route("**/bench/*/files", lambda route: route.fulfill(status=422, json=refusal))
    small = tmp_path / "few"
    small.mkdir()
    (small / "a.txt").write_text("a")
    dialog.get_by_label("Folder", exact=True).set_input_files(small)
    with page.expect_response(_answers("WorkbenchDelete")):
        dialog.get_by_role("button", name="Create and add files").click()
    dialog.locator("[data-error=LIMIT_EXCEEDED]").wait_for()

    assert unwanted == (set(), 0)
    assert left() == (set(), 1)


def _answers(command):
    """Return what tells the answer to a command from others."""
    return lambda response: f'"{command}"' in (response.request.post_data or "")


@pytest.mark.rule("U5.1", "B3.11")
def test_a_damaged_bench_and_one_with_a_draft_say_so_on_their_cards(served, new_page):
    broken, drafted = served.bench("Broken", {"a.txt": "x" * 100_000}), served.bench("Drafted")
    Drafting(served, drafted).put({"b.txt": "b"})
    desk = served.shop.benches.desk
    file = desk.find(desk.state(broken).published, BenchPath("a.txt"))
    desk.store.blobs.path(file.sha256).unlink()
    (desk.views.folder(broken) / "published" / "a.txt").unlink()  # the copy it would heal from
    served.call("WorkbenchOpen", workbench_id=broken)
    page = new_page("/")
    cards = {
        name: page.locator("[data-bench-card]", has_text=name).locator(".badge").all_inner_texts()
        for name in ("Broken", "Drafted")
    }

    assert cards == {"Broken": ["damaged"], "Drafted": ["Draft in progress"]}


@pytest.mark.rule("U5.40")
def test_a_search_leads_to_a_message_however_old_it_is(served, new_page):
    bench = served.bench("Searched", {"orders.csv": "a,b\n1,2\n"})
    talk = served.shop.workshop(bench)
    served.shop.models.play("searched", [says("work", "Yes.")])
    talk.use_model("scripted:searched")
    talk.send("Where is the <i>walrus</i>?", ask=True)
    for _ in range(60):
        served.call("WorkshopSendUserMessage", workbench_id=bench, text="And then?")
        served.call("WorkshopSendUserMessage", workbench_id=bench, text="And now?")
    page = new_page("/")
    page.get_by_role("searchbox").fill("walrus")
    page.keyboard.press("Enter")
    hit = page.get_by_role("link", name="Where is the <i>walrus</i>?")
    hit.wait_for()
    found = violations(page)
    hit.click()
    page.wait_for_function("() => document.activeElement?.textContent.includes('walrus')")
    with served.client() as client:
        files = client.get("/?q=orders").text

    assert found == []
    assert f"/bench/{bench}/file/orders.csv" in files

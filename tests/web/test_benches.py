"""The list of workbenches in a real browser (U5.1)."""

from __future__ import annotations

import re

import pytest
from tests.web.drafts import Drafting

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
    suggested = page.locator("[data-suggest]").count()
    page.goto(served.address)

    assert suggested == 6
    assert page.get_by_role("button", name="Try it with sample files").count() == 0


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


@pytest.mark.rule("U5.1", "B3.11")
def test_a_damaged_bench_and_one_with_a_draft_say_so_on_their_cards(served, new_page):
    broken, drafted = served.bench("Broken", {"a.txt": "x" * 100_000}), served.bench("Drafted")
    Drafting(served, drafted).put({"b.txt": "b"})
    desk = served.shop.benches.desk
    file = desk.find(desk.state(broken).published, BenchPath("a.txt"))
    desk.store.blobs.path(file.sha256).unlink()
    served.call("WorkbenchOpen", workbench_id=broken)
    page = new_page("/")
    cards = {
        name: page.locator("[data-bench-card]", has_text=name).locator(".badge").all_inner_texts()
        for name in ("Broken", "Drafted")
    }

    assert cards == {"Broken": ["damaged"], "Drafted": ["Draft in progress"]}

"""The list of workbenches in a real browser (U5.1)."""

from __future__ import annotations

import pytest

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

"""Rows sorted and filtered, and files renamed, from the viewer (U5.56, U5.57)."""

from __future__ import annotations

import io
import zipfile
from contextlib import closing

import openpyxl
import pytest
from tests.web.accessible import violations

CSV = 'region,"am""ount"\nnorth,1200\nsouth,900\nEast,\nsouthwest,1000\n'


def book() -> bytes:
    made = openpyxl.Workbook()
    for row in (("city", "people"), ("Bern", 134), ("Basel", 173), ("Chur", 38)):
        made.worksheets[0].append(row)
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def bench(served):
    return served.bench("Rows", {"a.csv": CSV, "b.xlsx": book(), "c.txt": "c\n"})


def column(page, place, number):
    """Return what a column of the grid shows, from top to bottom."""
    page.wait_for_function(
        "place => !document.querySelector(place + ' .grid-holder').textContent.includes('…')",
        arg=place,
    )
    cells = page.locator(f"{place} .grid-cell[aria-colindex='{number + 2}']")
    return cells.all_inner_texts()


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.56", "U9.1")
def test_a_csv_opens_as_a_table_and_its_rows_are_sorted_and_filtered_without_changing_it(
    served, bench, new_page
):
    page = new_page(f"/bench/{bench}/file/a.csv")
    head = page.get_by_role("columnheader", name='am"ount').locator(".sort-head")
    head.wait_for()
    is_asked = page.get_by_label("Ask this table").is_visible()
    whole = column(page, "#table", 0)
    head.click()
    page.get_by_text("sorted by").wait_for()
    up = column(page, "#table", 1)
    state = page.locator("[aria-sort]").get_attribute("aria-sort")
    page.locator(".sort-head:focus", has_text='am"ount').wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("descending. A view only: the file does not change.").wait_for()
    down = column(page, "#table", 0)
    page.get_by_label("Show rows that contain").fill("SOUTH")
    page.get_by_text("2 rows, sorted by").wait_for()
    found, rows = column(page, "#table", 0), column(page, "#table", 2)
    accessible = violations(page)
    page.get_by_role("button", name="As in the file").click()
    page.locator(".sorting [role=status]", has_text="4 rows").wait_for()
    again = column(page, "#table", 0)

    assert not is_asked
    assert whole == again == ["north", "south", "East", "southwest"]
    assert (up, state) == (["900", "1000", "1200", ""], "ascending")
    assert down == ["north", "southwest", "south", "East"]
    assert (found, rows, accessible) == (["southwest", "south"], ["4", "2"], [])
    read = served.call("WorkbenchTableReadRows", workbench_id=bench, path="a.csv", view="published")
    assert [one[0] for one in read["rows"]] == whole


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.56")
def test_where_no_row_is_found_none_is_named(bench, new_page):
    page = new_page(f"/bench/{bench}/file/a.csv")
    page.get_by_text("region, row 1").wait_for()
    page.get_by_label("Show rows that contain").fill("nowhere")
    page.get_by_text("0 rows. A view only").wait_for()
    page.wait_for_timeout(300)
    named = page.get_by_text("region, row 1").count()
    page.get_by_label("Show rows that contain").fill("")
    page.get_by_text("region, row 1").wait_for()

    assert named == 0


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.56")
def test_the_table_on_a_sheet_is_sorted_and_one_goes_back_to_the_cells(bench, new_page):
    page = new_page(f"/bench/{bench}/file/b.xlsx?as=cells")
    page.locator("#sheet .grid-cell").first.wait_for()
    page.get_by_role("button", name="Sort and filter…").click()
    page.locator(".sort-head", has_text="people").click()
    page.get_by_text("3 rows, sorted by people, ascending").wait_for()
    cities = page.locator(".viewer .grid-cell[aria-colindex='2']:visible").all_inner_texts()
    page.get_by_role("button", name="Back to the cells").click()

    assert cities == ["Chur", "Bern", "Basel"]
    assert page.locator("#sheet .grid-cell").first.is_visible()


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.57", "B6.16")
def test_a_file_is_renamed_in_its_viewer_and_the_rename_undone(served, bench, new_page):
    page = new_page(f"/bench/{bench}/file/c.txt")
    page.get_by_role("button", name="Rename…").click()
    page.get_by_label("New name").fill("notes/ä b.txt")
    page.get_by_role("button", name="Rename", exact=True).click()
    page.get_by_role("heading", name="notes/ä b.txt").wait_for()
    renamed = served.paths(bench)
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    page.get_by_role("heading", name="c.txt").wait_for()

    assert "notes/ä b.txt" in renamed
    assert "c.txt" in served.paths(bench)


@pytest.mark.needs("browser")
@pytest.mark.rule("U5.57", "U9.4")
def test_a_removed_file_comes_back_by_undo(served, new_page):
    bench = served.bench("Removing", {"a.txt": "a", "b.txt": "b"})
    page = new_page(f"/bench/{bench}/file/a.txt")
    page.get_by_role("button", name="Remove…").click()
    page.get_by_role("button", name="Remove it").click()
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Restore", exact=True).click()
    page.locator(".file-name", has_text="a.txt").wait_for()

    assert served.paths(bench) == {"a.txt", "b.txt"}


@pytest.mark.rule("U9.2", "S7.5")
def test_files_of_an_archive_have_the_time_they_were_sent(served, bench):
    with closing(served.client()) as client:
        data = client.get(f"/bench/{bench}/files.zip").content
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        years = {one.date_time[0] for one in archive.infolist()}

    assert min(years) > 2020

"""Pictures and charts through an agent's tools: files of the bench, its path rules, its review."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
import xlsxwriter
from PIL import Image


@pytest.fixture
def books(room):
    """A bench with a workbook, a picture and a text."""
    made = BytesIO()
    with xlsxwriter.Workbook(made, {"in_memory": True}) as file:
        sheet = file.add_worksheet("Sales")
        for at, row in enumerate([["Month", "n"], ["Jan", 3], ["Feb", 5]]):
            sheet.write_row(at, 0, row)
    dot = BytesIO()
    Image.new("RGB", (30, 10), "green").save(dot, "PNG")
    files = {"b.xlsx": made.getvalue(), "logo.png": dot.getvalue(), "note.txt": "words\n"}
    room.add(files)
    return room


def image(path: str, **fields: Any) -> dict[str, Any]:
    return {"op": "add_image", "sheet": "Sales", "cell": "E2", "image": path, **fields}


@pytest.mark.rule("F36.11", "F36.12", "B4.1")
def test_a_picture_of_the_bench_comes_into_a_workbook(books, use):
    chart = {"op": "add_chart", "sheet": "Sales", "cell": "E8", "kind": "line", "data": "A1:B3"}

    done = use("xlsx_operations", path="b.xlsx", operations=[image("./logo.png"), chart])
    told = use("get_file_map", path="b.xlsx").value["sheets"][0]

    assert done.ok, done.message
    assert [one["kind"] for one in done.value["effects"]["changed"]] == ["picture", "chart"]
    assert done.value["effects"]["collateral"] == []
    assert (told["images"][0]["pixels"], told["charts"][0]["type"]) == ("30 x 10", "line")
    assert "Picture 1 added at E2" in done.value["changes"][0]["summary"]


@pytest.mark.rule("F36.11", "B8.3", "B4.10")
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("lego.png", "not_found"),
        ("../../etc/passwd", "bad_path"),
        ("/etc/passwd", "bad_path"),
        ("https://example.org/x.png", None),
        ("note.txt", "unsupported_format"),
        ("b.xlsx", "unsupported_format"),
    ],
)
def test_a_picture_that_is_not_in_the_bench_is_refused_with_its_place(books, use, path, why):
    done = use("xlsx_operations", path="b.xlsx", operations=[image(path)])

    assert not done.ok
    assert why is None or done.code == why
    assert done.value["detail"].startswith("operations[0].image")
    assert books.draft() is None
    if why == "not_found":
        assert done.value["hints"] == ["logo.png"]


@pytest.mark.rule("F36.14", "B25.1")
def test_a_reviewer_leaves_a_picture_out_and_keeps_the_chart(books, use):
    chart = {"op": "add_chart", "sheet": "Sales", "cell": "E8", "kind": "line", "data": "A1:B3"}
    use("xlsx_operations", path="b.xlsx", operations=[image("logo.png"), chart])

    listed = books.call("ReviewListChanges", path="b.xlsx")
    ids = {one["label"]: one["id"] for one in listed["changes"]}
    books.call("DraftLeaveChanges", path="b.xlsx", ids=[ids["Picture 1 on Sales added"]])
    told = use("get_file_map", path="b.xlsx").value["sheets"][0]

    assert set(ids) == {"Picture 1 on Sales added", "Chart 1 on Sales added"}
    assert (told["images"], len(told["charts"])) == ([], 1)

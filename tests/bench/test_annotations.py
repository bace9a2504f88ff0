"""Names, notes and links through an agent's tools: what the person is told, what can be left."""

from __future__ import annotations

from io import BytesIO

import pytest
import xlsxwriter


@pytest.fixture
def books(room):
    made = BytesIO()
    with xlsxwriter.Workbook(made, {"in_memory": True}) as file:
        sheet = file.add_worksheet("Sales")
        for at, row in enumerate([["Month", "n"], ["Jan", 3], ["Feb", 5]]):
            sheet.write_row(at, 0, row)
    room.add({"b.xlsx": made.getvalue()})
    return room


@pytest.mark.rule("F41.18", "F41.11", "F41.7", "B13.10", "W11.26")
def test_a_link_brings_a_host_and_the_person_is_told_first(books, use):
    ops = [
        {"op": "set_link", "sheet": "Sales", "range": "A2", "target": "https://new.example/x"},
        {"op": "set_note", "sheet": "Sales", "cell": "B2", "text": "counted twice"},
        {"op": "set_name", "name": "Counts", "refers_to": "Sales!B2:B3"},
    ]

    done = use("xlsx_operations", path="b.xlsx", operations=ops)
    read = use("read_file", path="b.xlsx", cells="notes")

    assert done.ok, done.message
    told = [(one["kind"], one["where"]) for one in done.value["effects"]["changed"]]
    assert told == [("link", "Sales!A2"), ("note", "Sales!B2"), ("name", "Counts")]
    assert done.value["effects"]["collateral"] == []
    assert "A2: link to https://new.example/x" in read.value["text"]
    found = books.call("ReviewGetChangeSet")
    first = found["draft_facts"][: found["draft_facts_first"]]
    assert first == ["New host new.example: 1 link in b.xlsx."]


@pytest.mark.rule("F41.19", "F41.20")
def test_each_name_note_and_link_is_a_change_of_its_own(books, use):
    ops = [
        {"op": "set_link", "sheet": "Sales", "range": "A2", "target": "https://new.example/x"},
        {"op": "set_note", "sheet": "Sales", "cell": "B2", "text": "counted twice"},
        {"op": "set_name", "name": "Counts", "refers_to": "Sales!B2:B3"},
    ]
    use("xlsx_operations", path="b.xlsx", operations=ops)

    listed = books.call("ReviewListChanges", path="b.xlsx")["changes"]

    assert [(one["kind"], one["label"]) for one in listed] == [
        ("cell", "link at Sales!A2 added"),
        ("cell", "note at Sales!B2 added"),
        ("part", "name counts"),
    ]


@pytest.mark.rule("F41.16")
def test_a_link_to_a_program_is_refused_with_its_place(books, use):
    op = {"op": "set_link", "sheet": "Sales", "range": "A2", "target": "javascript:alert(1)"}

    done = use("xlsx_operations", path="b.xlsx", operations=[op])

    assert (done.ok, done.code) == (False, "unsafe_link")
    assert "operations[0].target" in str(done.value)

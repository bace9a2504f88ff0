"""What a review shows: the list, and inside each kind of file what went and came."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from openpyxl import Workbook
from PIL import Image
from tests.bench.conftest import Room, using
from tests.bench.test_story import refused
from tests.conftest import PROOF

from backshop.app import Backshop
from backshop.base.errors import ValidationFailed
from backshop.bench import Author, Source
from backshop.bench.review import effect

PERSON = Author(source=Source(kind="system"), actor="user")


def entries(room) -> dict[str, dict[str, Any]]:
    return {one["path"]: one for one in room.call("ReviewGetChangeSet")["entries"]}


def done(result):
    assert result.ok, result.message
    return result.value


def png(colour: str, size=(40, 30)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "PNG")
    return buffer.getvalue()


def put(room, path: str, data: bytes) -> None:
    """Write bytes to the Draft as the person does."""
    from backshop.bench import Put

    blob = room.shop.store.blobs.put(data)
    room.shop.benches.apply_batch(room.id, [Put(path=path, blob=blob, size=len(data))], PERSON)


# ---------------------------------------------------------------- the list


@pytest.mark.rule("B11.5")
def test_a_file_that_moved_and_changed_a_little_is_one_renamed_file(room):
    lines = [f"line {n}\n" for n in range(10)]
    room.add({"old.md": "".join(lines), "other.txt": "x\n" * 10})
    room.write({"new.md": "".join([*lines[:7], "a\n", "b\n", "c\n"])})
    room.call("DraftDeletePath", path="old.md")
    room.call("DraftDeletePath", path="other.txt")

    found = entries(room)

    assert set(found) == {"new.md", "other.txt"}
    assert (found["new.md"]["kind"], found["new.md"]["old_path"]) == ("RENAMED", "old.md")
    assert found["new.md"]["similarity"] == 70
    assert found["other.txt"]["kind"] == "DELETED"
    lines_now = room.call("ReviewGetTextDiff", path="new.md")
    assert lines_now["body"]["stats"] == {"added": 3, "removed": 3}
    assert room.call("ReviewGetTextDiff", path="old.md")["path"] == "new.md"


@pytest.mark.rule("B11.5", "B22.53")
def test_a_file_rewritten_by_more_than_half_is_deleted_and_added(room):
    lines = [f"line {n}\n" for n in range(10)]
    room.add({"old.md": "".join(lines)})
    room.write({"new.md": "".join([*lines[:4], *(f"other {n}\n" for n in range(6))])})
    room.call("DraftDeletePath", path="old.md")

    assert {(one["path"], one["kind"]) for one in entries(room).values()} == {
        ("new.md", "ADDED"),
        ("old.md", "DELETED"),
    }
    assert refused(room.call, "DraftPublish")[0] == "CONFIRMATION_REQUIRED"


@pytest.mark.rule("B11.5", "B13.5")
def test_an_empty_file_that_went_is_deleted_and_not_taken_for_one_that_came(room):
    room.add({"old.txt": "", "a.txt": "a"})
    room.write({"new.txt": ""})
    room.call("DraftDeletePath", path="old.txt")

    found = room.call("ReviewGetChangeSet")

    assert [(one["path"], one["kind"]) for one in found["entries"]] == [
        ("new.txt", "ADDED"),
        ("old.txt", "DELETED"),
    ]
    assert found["unconfirmed"] == ["old.txt"]


@pytest.mark.rule("B13.4", "B13.5", "B11.3")
def test_the_list_says_what_keeps_it_from_being_published(room):
    room.add({"a.txt": "a", "b.txt": "b"})
    room.write({"c.txt": "c"})
    room.call("DraftDeletePath", path="a.txt")
    room.call("DraftDeletePath", path="b.txt")

    before = room.call("ReviewGetChangeSet")
    room.call("ReviewSetDeletionConfirmations", paths=["a.txt"])

    assert before["unconfirmed"] == ["a.txt", "b.txt"]
    assert before["warnings"] == ["deletions_unconfirmed"]
    assert room.call("ReviewGetDeletionConfirmations") == {"confirmed_paths": ["a.txt"]}
    assert room.call("ReviewGetChangeSet")["unconfirmed"] == ["b.txt"]


@pytest.mark.rule("B13.5")
def test_a_deletion_that_was_agreed_to_has_to_be_agreed_to_again_after_another_write(room):
    room.add({"a.txt": "one", "b.txt": "two"})
    room.write({"b.txt": "three"})
    room.call("DraftDeletePath", path="a.txt")
    room.call("ReviewSetDeletionConfirmations", paths=["a.txt"])
    room.write({"a.txt": "back"})
    room.call("DraftDeletePath", path="a.txt")

    agreed = room.call("ReviewGetDeletionConfirmations")["confirmed_paths"]

    assert agreed == []
    assert refused(room.call, "DraftPublish") == ("CONFIRMATION_REQUIRED", "confirm_deletions")


@pytest.mark.rule("B11.2", "B11.7")
def test_a_file_that_became_something_else_is_compared_as_bytes(room):
    room.add({"a.txt": "text\n", "p.png": png("red"), "m.xlsm": b"PK\x03\x04rest"})
    put(room, "a.txt", b"\x00\x01binary")
    put(room, "p.png", png("blue"))

    found = entries(room)

    assert (found["a.txt"]["type"], found["a.txt"]["access"]) == ("binary", "opaque")
    assert (found["p.png"]["type"], found["p.png"]["access"]) == ("image", "read_only")
    facts = room.call("ReviewGetDiff", path="a.txt")
    assert facts["strategy"] == "metadata"
    assert facts["body"]["after"]["head_hex"].startswith("00 01 62")
    assert refused(room.call, "ReviewGetTextDiff", path="p.png")[1] == "no_text_diff"


@pytest.mark.rule("B13.1", "B22.62")
def test_a_summary_is_the_files_own_else_the_drafts_else_said_to_be_missing(room, use, monkeypatch):
    room.add({"a.md": "one\n", "b.md": "two\n"})
    edits = [{"search": "one", "replace": "ONE"}]
    done(use("edit_text_file", path="a.md", edits=edits, change_note="Louder."))
    room.write({"b.md": "three\n"})

    own = room.call("ReviewGetSummary", path="a.md")
    none = room.call("ReviewGetSummary", path="b.md")
    said = room.shop.benches.conversations
    monkeypatch.setattr(said, "summarise", lambda state: f"About {state.name}.")
    whole = room.call("ReviewGetSummary", path="b.md")

    assert (own["summary_markdown"], own["source"]) == ("Louder.", "file")
    assert own["effects"]["totals"]["collateral"] == 0
    assert none == {"summary_markdown": "Summary unavailable.", "source": "none", "notes": []}
    assert whole == {"summary_markdown": "About Test.", "source": "draft", "notes": []}
    assert room.call("ReviewGetChangeSet")["draft_summary"] == "About Test."


@pytest.mark.rule("B12.21", "B11.9", "F24.10", "F16.14")
def test_what_went_wrong_stands_first_and_a_later_write_does_not_hide_it(room, use):
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "S"
    sheet.append([1, 2, "=A1/B1", "=A1/2"])
    buffer = io.BytesIO()
    book.save(buffer)
    room.add({"w.xlsx": buffer.getvalue(), "a.txt": "a"})
    room.write({"a.txt": "b"})

    def set_cell(cell: str, value: object) -> dict[str, Any]:
        cells = [{"cell": cell, "value": value}]
        op = {"op": "set_cells", "sheet": "S", "cells": cells}
        done(use("xlsx_operations", path="w.xlsx", operations=[op]))
        return dict(room.call("ReviewGetChangeSet"))

    broken = set_cell("B1", 0)
    later = set_cell("E1", "note")
    mended = set_cell("B1", 4)

    for found in (broken, later):
        assert [one["path"] for one in found["entries"]] == ["w.xlsx", "a.txt"]
        assert (found["entries"][0]["new_errors"], found["warnings"]) == (["S!C1"], ["new_errors"])
    assert [one["path"] for one in mended["entries"]] == ["a.txt", "w.xlsx"]
    assert (mended["entries"][1]["new_errors"], mended["warnings"]) == ([], [])
    told = room.call("ReviewGetSummary", path="w.xlsx")["effects"]
    assert told["targets"] == ["S!B1", "S!E1", "S!B1"]
    assert told["totals"]["targets"] == 3


@pytest.mark.rule("B12.21", "F16.13")
def test_reports_are_joined_within_their_bounds():
    change = {"kind": "cell", "where": "S!A1", "aspect": "value"}
    one = {"collateral": [change] * 150, "totals": {"collateral": 150}, "new_errors": ["S!A1"]}
    two = {"changed": [change], "totals": {"changed": 1}, "new_errors": ["S!B1"]}

    found = effect.joined(effect.joined(one, one), two)

    assert len(found["collateral"]) == effect.LISTED
    assert found["totals"] == {"collateral": 300, "changed": 1, "new_errors": 1}
    assert found["new_errors"] == ["S!B1"]  # the other one was changed since


@pytest.mark.rule("F44.6")
def test_a_report_of_an_older_version_is_told_in_the_words_of_today():
    def report(kind, where):
        return {"targets": [where], "changed": [{"kind": kind, "where": where}], "totals": {}}

    old = {
        ("shape", "slide 1 shape 0"): "slide 2 shape 1",
        ("notes", "slide 0 notes"): "slide 1 notes",
        ("slide", "slide order"): "slide order",
        ("cell", "body 4 row 0 cell 1"): "paragraph 4 row 0 column 1",
        ("cell", "body 4!A1"): "body 4!A1",
        ("sheet", "slide 1"): "slide 1",
    }
    for (kind, where), now in old.items():
        found = effect.as_spelled(report(kind, where))
        assert (found["targets"], found["changed"][0]["where"]) == ([now], now)
    later = {**report("shape", "slide 1 shape 1"), **effect.SPELLING}
    mixed = effect.joined(report("shape", "slide 0 shape 0"), later)
    assert mixed["targets"] == ["slide 1 shape 1", "slide 1 shape 1"]
    assert effect.as_spelled(mixed) == mixed


@pytest.mark.rule("B12.21", "F24.10")
def test_new_error_cells_beyond_those_listed_are_counted(room, use):
    ensure = {"op": "ensure_sheet", "sheet": "S"}
    rows = [[1, 2, f"=A{n}/B{n}"] for n in range(1, 71)]
    fill = {"op": "set_range", "sheet": "S", "start": "A1", "values": rows}
    make = {"path": "w.xlsx", "create_if_missing": True}
    done(use("xlsx_operations", **make, operations=[ensure, fill]))
    room.call("DraftPublish")
    zero = [{"cell": f"B{n}", "value": 0} for n in range(1, 71)]
    done(
        use(
            "xlsx_operations",
            path="w.xlsx",
            operations=[{"op": "set_cells", "sheet": "S", "cells": zero}],
        )
    )
    broken = entries(room)["w.xlsx"]
    one = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "B1", "value": 2}]}
    done(use("xlsx_operations", path="w.xlsx", operations=[one]))

    assert (len(broken["new_errors"]), broken["new_error_count"]) == (50, 70)
    assert entries(room)["w.xlsx"]["new_error_count"] == 69


# ---------------------------------------------------------------- inside files


@pytest.mark.rule("B12.16")
def test_a_lost_reference_is_never_claimed_to_have_been_read(room):
    room.add({"a.txt": "one\n" * 2000})
    room.write({"a.txt": "two\n" * 2000})
    draft = room.shop.benches.desk.state(room.id).draft
    old = room.shop.benches.desk.find(draft.base_tree, "a.txt").sha256
    file = room.shop.store.blobs.path(old)
    file.chmod(0o644)
    file.unlink()
    room.shop.store.blobs.copies = lambda _: ()

    found = room.call("ReviewGetTextDiff", path="a.txt")

    assert found["reference_source"] == "none"
    assert found["baseline_missing"] is True
    assert found["reference_warning"]
    assert found["body"]["stats"]["removed"] == 0


@pytest.mark.rule("B12.4", "B12.18")
def test_rows_of_a_table_are_compared_with_the_rest_of_their_row(room):
    room.add({"t.csv": "id,name,amount\n1,a,10\n2,b,20\n3,c,30\n"})
    room.write({"t.csv": "id,name,amount\n1,a,10\n2,b,25\n3,c,30\n4,d,40\n"})

    found = room.call("ReviewGetTableDiff", path="t.csv")

    changed, added = found["body"]["rows"]
    assert found["body"]["columns"]["names"] == ["id", "name", "amount"]
    assert changed["cells"] == [{"column": "amount", "before": "20", "after": "25"}]
    assert changed["values"] == ["2", "b", "25"]
    assert (added["kind"], added["after_row"]) == ("added", 4)
    assert found["focus_hint"] == {"row_start": 2, "row_end": 2}
    assert entries(room)["t.csv"]["focus_hint"] == found["focus_hint"]


@pytest.mark.rule("B12.23", "B12.9", "B12.13", "B12.18")
def test_cells_are_compared_and_shown_in_their_grid(room, use):
    rows = [[n, f"name {n}", n * 2] for n in range(1, 61)]
    fill = {"op": "set_range", "sheet": "Data", "start": "A1", "values": rows}
    done(use("xlsx_operations", path="book.xlsx", operations=[fill]))
    room.call("DraftPublish")
    cells = [{"cell": f"C{n}", "value": -n} for n in range(5, 10)]
    more = [
        {"op": "set_cells", "sheet": "Data", "cells": cells},
        {"op": "ensure_sheet", "sheet": "New"},
        {"op": "set_range", "sheet": "New", "start": "A1", "values": [["x"]]},
    ]
    done(use("xlsx_operations", path="book.xlsx", operations=more))

    diff = room.call("ReviewGetXlsxCellDiff", path="book.xlsx")
    grid = room.call("ReviewGetXlsxPreviewGrid", path="book.xlsx", sheet="Data", row_count=10)
    old = room.call("ReviewGetXlsxPreviewGrid", path="book.xlsx", sheet="New", version="REFERENCE")

    sheets = {one["sheet"]: one for one in diff["body"]["sheets"]}
    assert [cell["cell"] for cell in sheets["Data"]["cells"]] == ["C5", "C6", "C7", "C8", "C9"]
    assert sheets["New"]["added"]
    assert diff["focus_hint"] == {
        **{"sheet": "Data", "row_start": 4, "row_end": 8, "col_start": 2, "col_end": 2}
    }
    assert (len(grid["cells"]), grid["cells"][4][2]["value"]) == (10, -5)
    assert old["missing"] is True
    drawn = room.call("ReviewGetXlsxDrawnSheet", path="book.xlsx", sheet="Data", row_count=10)
    none = room.call("ReviewGetXlsxDrawnSheet", path="book.xlsx", sheet="New", version="REFERENCE")
    seen = room.call("WorkbenchFileGetDrawnSheet", path="book.xlsx", sheet="Data", row_count=10)
    assert drawn == {"drawing": seen, "changes": grid["changes"], "missing": False}
    assert seen["svg"].startswith("<svg ")
    assert none == {"drawing": None, "changes": [], "missing": True}
    one_sheet = room.call("ReviewGetXlsxCellDiff", path="book.xlsx", sheet="New")
    assert [one["sheet"] for one in one_sheet["body"]["sheets"]] == ["New"]
    with pytest.raises(ValidationFailed):
        room.call("ReviewGetXlsxPreviewGrid", path="book.xlsx", sheet="Nowhere")
    with pytest.raises(ValidationFailed):
        room.call("ReviewGetXlsxDrawnSheet", path="book.xlsx", sheet="Nowhere")
    with pytest.raises(ValidationFailed):
        room.call("ReviewGetDocxContentDiff", path="book.xlsx")


@pytest.mark.rule("B12.9", "B12.12")
def test_many_changed_cells_come_in_pages(room, use):
    old = [[n] for n in range(1, 701)]
    fill = {"op": "set_range", "sheet": "S", "start": "A1", "values": old}
    done(use("xlsx_operations", path="b.xlsx", operations=[fill]))
    room.call("DraftPublish")
    new = {**fill, "values": [[-n] for n in range(1, 701)]}
    done(use("xlsx_operations", path="b.xlsx", operations=[new]))

    first = room.call("ReviewGetXlsxCellDiff", path="b.xlsx")["body"]
    second = room.call("ReviewGetXlsxCellDiff", path="b.xlsx", cursor=str(first["cursor"]))["body"]

    got = [cell["cell"] for page in (first, second) for cell in page["sheets"][0]["cells"]]
    assert (len(first["sheets"][0]["cells"]), first["cell_count"]) == (500, 700)
    assert got == [f"A{n}" for n in range(1, 701)]
    assert "cursor" not in second or second["cursor"] is None
    wide = {"path": "b.xlsx", "row_count": 5_000, "col_count": 500}
    top = room.call("ReviewGetXlsxPreviewGrid", **wide)
    more = room.call("ReviewGetXlsxPreviewGrid", **wide, row_start=200)
    assert (len(top["cells"]), top["row_count"]) == (200, 700)
    assert max(len(row) for row in top["cells"]) <= 50
    assert (top["cells"][0][0]["value"], more["cells"][0][0]["value"]) == (-1, -201)


def workbook(names: list[str], rows: int, columns: int, add: int) -> bytes:
    """Return a workbook of numbers, each larger than its place by `add`."""
    made = Workbook(write_only=True)
    for name in names:
        sheet = made.create_sheet(name)
        for row in range(rows):
            sheet.append([row * columns + column + add for column in range(columns)])
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


@pytest.mark.rule("B12.9", "B12.18", "B12.21")
def test_changed_cells_are_counted_marked_and_listed_on_every_sheet_whatever_their_number(room):
    names, rows = [f"Sheet {n}" for n in range(1, 13)], 8_334 if PROOF else 900
    room.add({"big.xlsx": workbook(names, rows, 1, 0)})
    put(room, "big.xlsx", workbook(names, rows, 1, 1))

    first = room.call("ReviewGetXlsxCellDiff", path="big.xlsx")["body"]
    pages = [first]
    while pages[-1]["cursor"] is not None:
        cursor = str(pages[-1]["cursor"])
        pages.append(room.call("ReviewGetDiff", path="big.xlsx", cursor=cursor)["body"])
    last = room.call("ReviewGetXlsxCellDiff", path="big.xlsx", sheet=names[-1])["body"]
    window = {"path": "big.xlsx", "sheet": names[-1], "row_start": 600, "row_count": 100}
    grid = room.call("ReviewGetXlsxPreviewGrid", **window)

    assert first["cell_count"] == 12 * rows
    assert first["counts"] == {"value": 12 * rows, "formula": 0, "result": 0, "style": 0}
    for page in pages:
        assert [(one["sheet"], one["cell_count"]) for one in page["sheets"]] == [
            (name, rows) for name in names
        ]
    listed = [
        (one["sheet"], cell["cell"])
        for page in pages
        for one in page["sheets"]
        for cell in one["cells"]
    ]
    assert listed == [(name, f"A{row}") for name in names for row in range(1, rows + 1)]
    assert (first["more"], pages[-1]["more"]) == (12 * rows - 500, 0)
    own = [cell["cell"] for cell in last["sheets"][0]["cells"]]
    assert own == [f"A{n}" for n in range(1, len(own) + 1)] != []
    assert (last["cell_count"], last["more"], last["cursor"]) == (rows, rows - len(own), len(own))
    assert [(one["cell"], one["before"], one["after"]) for one in grid["changes"]] == [
        (f"A{n}", str(n - 1), str(n)) for n in range(601, 701)
    ]


@pytest.mark.rule("B12.9", "B12.18", "B12.22", "F42.5", "F42.6")
def test_inserted_and_deleted_rows_are_told_once_and_nothing_that_follows_them(room, use):
    rows = [[f"item {n}", n * 7 % 11, f"=B{n}*2"] for n in range(1, 13)]
    ensure = {"op": "ensure_sheet", "sheet": "S"}
    write = {"op": "set_range", "sheet": "S", "start": "A1", "values": rows}
    make = {"path": "b.xlsx", "create_if_missing": True}
    done(use("xlsx_operations", **make, operations=[ensure, write]))
    room.call("DraftPublish")
    lines = [
        {"op": "insert_rows", "sheet": "S", "row": 4, "count": 2},
        {"op": "delete_rows", "sheet": "S", "from": 10},
    ]
    done(use("xlsx_operations", path="b.xlsx", operations=lines))

    first = room.call("ReviewGetDiff", path="b.xlsx")
    done(use("xlsx_operations", path="b.xlsx", operations=[_set("B9", 99)]))
    body = room.call("ReviewGetXlsxCellDiff", path="b.xlsx")["body"]
    window = {"path": "b.xlsx", "sheet": "S", "row_start": 0, "row_count": 20}
    sides = [
        {
            one["cell"]: one
            for one in room.call("ReviewGetXlsxPreviewGrid", **window, **more)["changes"]
        }
        for more in ({}, {"version": "REFERENCE"})
    ]

    told = [(one["kind"], one["axis"], one["at"], one["count"]) for one in first["body"]["lines"]]
    assert told == [("inserted", "rows", 4, 2), ("removed", "rows", 8, 1)]
    assert (first["body"]["cell_count"], first["also"]) == (0, [])
    assert first["body"]["following"] == {"count": 8, "is_all": True}
    ends = {"row_start": 3, "row_end": 4, "col_start": 0, "col_end": 0}
    assert first["focus_hint"] == {"sheet": "S", **ends}
    assert body["counts"] == {"value": 1, "formula": 0, "result": 1, "style": 0}
    assert sorted(sides[0]) == ["B9", "C9"]
    assert sorted(sides[1]) == ["A8", "B7", "B8", "C7", "C8"]
    assert sides[1]["B7"]["cell_after"] == "B9"


def _set(cell: str, value: Any) -> dict[str, Any]:
    return {"op": "set_cells", "sheet": "S", "cells": [{"cell": cell, "value": value}]}


@pytest.mark.rule("B12.9", "B12.13")
def test_a_window_says_what_changed_in_it_on_either_side(room, use):
    cells = [{"cell": "A1", "value": "=B1*2"}, {"cell": "B1", "value": 4}]
    gone = {"op": "set_range", "sheet": "Gone", "start": "A1", "values": [["x"]]}
    ensure = [{"op": "ensure_sheet", "sheet": name} for name in ("S", "Gone")]
    write = {"op": "set_cells", "sheet": "S", "cells": cells}
    make = {"path": "b.xlsx", "create_if_missing": True}
    done(use("xlsx_operations", **make, operations=[*ensure, write, gone]))
    room.call("DraftPublish")
    change = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "B1", "value": 5}]}
    drop = {"op": "delete_sheet", "sheet": "Gone"}
    done(use("xlsx_operations", path="b.xlsx", operations=[change, drop]))

    here = room.call("ReviewGetXlsxPreviewGrid", path="b.xlsx", sheet="S")
    there = {"path": "b.xlsx", "sheet": "Gone", "version": "REFERENCE"}
    went = room.call("ReviewGetXlsxPreviewGrid", **there)
    as_it_was = room.call("ReviewGetXlsxPreviewGrid", path="b.xlsx", version="PUBLISHED")

    assert [(one["cell"], one["kind"], one.get("after")) for one in here["changes"]] == [
        ("A1", "result", "10"),
        ("B1", "value", "5"),
    ]
    assert [(one["cell"], one["before"], one["after"]) for one in went["changes"]] == [
        ("A1", "x", None)
    ]
    assert as_it_was["changes"] == []


@pytest.mark.rule("W7.10", "B12.21", "F44.5")
def test_an_agent_is_shown_changed_cells_as_the_person_is(room, use):
    room.add({"big.xlsx": workbook(["S", "T"], 400, 1, 0)})
    put(room, "big.xlsx", workbook(["S", "T"], 400, 1, 1))

    told = done(use("review_draft", path="big.xlsx"))

    shown = room.call("ReviewGetDiff", path="big.xlsx")
    assert {**told["body"], "sheets": None} == {**shown["body"], "sheets": None}
    assert told["focus_hint"] == {"sheet": "S", "range": "A1:A400"}  # where viewers count from 0
    assert [one["bounds"] for one in told["body"]["sheets"]] == [{"range": "A1:A400"}] * 2
    assert [one["cell_count"] for one in told["body"]["sheets"]] == [400, 400]


@pytest.mark.rule("B12.5", "B12.18", "B13.9")
def test_a_document_is_compared_by_section_with_words_and_looks(room, use):
    paragraphs = [
        {"text": "Overview", "style": "Heading 1"},
        {"text": "The plan is good."},
        {"text": "Costs", "style": "Heading 1"},
        {"text": "The total is 100 euros in all."},
        {"text": "Nothing else."},
    ]
    op = {"op": "set_paragraphs", "paragraphs": paragraphs}
    done(use("docx_operations", path="d.docx", operations=[op]))
    room.call("DraftPublish")
    changes = [
        {"op": "replace_text", "search": "100 euros", "replace": "120 euros"},
        {"op": "append_paragraph", "text": "A new last line."},
    ]
    done(use("docx_operations", path="d.docx", operations=changes))

    found = room.call("ReviewGetDocxContentDiff", path="d.docx")

    body = found["body"]
    assert [(s["heading"], s["kind"]) for s in body["sections"]] == [
        ("Overview", "same"),
        ("Costs", "changed"),
    ]
    assert found["focus_hint"] == {"section_index": 1}
    assert body["section_index"] == 1
    kinds = [block["kind"] for block in body["section"]["blocks"]]
    assert kinds == ["same", "changed", "same", "added"]
    marks = [(p["mark"], p["text"]) for p in body["section"]["blocks"][1]["pieces"]]
    assert ("removed", "100") in marks
    assert ("added", "120") in marks
    same = room.call("ReviewGetDocxContentDiff", path="d.docx", section_index=0)["body"]
    assert {block["kind"] for block in same["section"]["blocks"]} == {"same"}
    lines = room.call("ReviewGetOfficeTextDiff", path="d.docx")
    assert lines["body"]["stats"] == {"added": 2, "removed": 1}


@pytest.mark.rule("B12.6")
def test_texts_of_office_files_are_compared_by_their_stable_lines(room, use):
    def paragraphs(*texts: str) -> dict[str, Any]:
        return {"op": "set_paragraphs", "paragraphs": [{"text": text} for text in texts]}

    def cells(value: int) -> dict[str, Any]:
        return {"op": "set_range", "sheet": "S", "start": "A1", "values": [["n", value]]}

    def slide(title: str) -> dict[str, Any]:
        return {"op": "add_slide", "title": title}

    room.add({"p.pdf": pdf("Old words")})
    for kind, first, second in (
        ("docx", paragraphs("same", "old"), paragraphs("same", "new")),
        ("xlsx", cells(1), cells(2)),
        ("pptx", slide("One"), slide("Two")),
    ):
        done(use(f"{kind}_operations", path=f"a.{kind}", operations=[first]))
        room.call("DraftPublish")
        done(use(f"{kind}_operations", path=f"a.{kind}", operations=[second]))
        old, new = (_lines(room, f"a.{kind}", view) for view in ("published", "draft"))
        assert old != new

        assert _sides(room, f"a.{kind}") == (old, new), kind
        room.call("DraftPublish")
    put(room, "p.pdf", pdf("New words"))
    assert _sides(room, "p.pdf") == (
        _lines(room, "p.pdf", "published"),
        _lines(room, "p.pdf", "draft"),
    )
    assert any("New words" in line for line in _sides(room, "p.pdf")[1])


def _lines(room, path: str, view: str) -> list[str]:
    """Return the stable lines of a file as the formats give them (F29.1)."""
    bench = room.shop.benches
    state = bench.desk.state(room.id)
    file = bench.desk.find(state.published if view == "published" else state.draft.tree, path)
    blob = bench.desk.store.blobs.path(file.sha256)
    return [str(one) for one in bench.formats.extract_lines(bench.formats.source(blob, path))]


def _sides(room, path: str) -> tuple[list[str], list[str]]:
    """Return both sides of a text diff."""
    hunks = room.call("ReviewGetTextDiff", path=path)["body"]["hunks"]
    shown = [(line["type"], line["text"]) for hunk in hunks for line in hunk["lines"]]
    return (
        [text for kind, text in shown if kind != "added"],
        [text for kind, text in shown if kind != "removed"],
    )


def pdf(text: str) -> bytes:
    """Return one page with one line of text."""
    drawn = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R "
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page + b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        font,
    ]
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 6\n0000000000 65535 f \n" + table
    return made + head + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(made)


@pytest.mark.rule("B12.8", "B12.13", "B12.18", "B22.59")
def test_a_presentation_is_compared_slide_by_slide(room, use):
    def slide(title: str, text: str) -> dict[str, str]:
        return {"op": "add_slide", "title": title, "body": text}

    done(use("pptx_operations", path="p.pptx", operations=[slide("One", "a"), slide("Two", "b")]))
    room.call("DraftPublish")
    done(use("pptx_operations", path="p.pptx", operations=[slide("Three", "c")]))

    found = room.call("ReviewGetPptxContentDiff", path="p.pptx")

    body = found["body"]
    assert [(s["title"], s["kind"]) for s in body["slides"]] == [
        ("One", "same"),
        ("Two", "same"),
        ("Three", "added"),
    ]
    assert found["focus_hint"] == {"slide_index": 2}
    assert body["slide"].get("before") is None
    assert body["slide"]["after"]["positioned_shapes"]
    assert "ReviewGetPptxContentDiff" in room.shop.commands


@pytest.mark.rule("B12.11", "B12.14", "B12.10", "F29.7")
def test_pictures_of_pages_have_an_address_and_bytes(room, use):
    room.add({"p.png": png("red", (80, 60)), "v.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>"})
    put(room, "p.png", png("blue", (80, 60)))
    viewer = room.shop.benches.viewer

    now = room.call("ReviewGetImagePreview", path="p.png")
    then = room.call("ReviewGetImagePreview", path="p.png", version="REFERENCE", scale=0.3)
    drawn = viewer.picture(room.id, "REFERENCE", "p.png", 0, 0.25)

    assert now["image_ref"].startswith(f"/bench/{room.id}/preview/DRAFT/0/1.00/p.png?content=")
    assert (now["metadata"]["width"], now["page_count"]) == (80, 1)
    assert then["scale"] == 0.25
    assert Image.open(io.BytesIO(drawn.data)).size == (20, 15)
    assert viewer.picture(room.id, "DRAFT", "v.svg", 0, 1).mime_type == "image/svg+xml"
    assert refused(room.call, "ReviewGetImagePreview", path="p.png", page_index=7) == (
        "VALIDATION_FAILED",
        "bad_params",
    )
    assert refused(room.call, "ReviewGetImagePreview", path="p.png", version="X")[1] == "bad_params"
    assert refused(room.call, "ReviewGetPdfPreviewPage", path="p.png")[1] == "bad_params"


@pytest.fixture
def bare_room(tmp_path):
    """A bench on a machine without LibreOffice."""
    settings = {"formats.renderer_path": str(tmp_path / "no" / "soffice")}
    with Backshop.open(tmp_path / "bare", settings=settings) as shop:
        yield Room(shop, tmp_path)


@pytest.mark.rule("B12.14", "B12.20", "B22.61")
def test_without_a_renderer_a_preview_says_so_and_the_review_works(bare_room):
    room, use = bare_room, using(bare_room)
    op = {"op": "set_paragraphs", "paragraphs": [{"text": "Hello."}]}
    done(use("docx_operations", path="d.docx", operations=[op]))
    slide = {"op": "add_slide", "title": "Hello"}
    done(use("pptx_operations", path="s.pptx", operations=[slide]))

    shown = [
        room.call("ReviewGetDocxPreviewPage", path="d.docx"),
        room.call("ReviewGetPptxPreviewSlide", path="s.pptx"),
    ]
    words = room.call("ReviewGetDocxContentDiff", path="d.docx")
    slides = room.call("ReviewGetPptxContentDiff", path="s.pptx")
    drawn = room.call("ReviewGetPptxDrawnSlide", path="s.pptx")
    before = room.call("ReviewGetPptxDrawnSlide", path="s.pptx", version="REFERENCE")
    flow = room.call("ReviewGetDrawnDocument", path="d.docx")

    assert [(one["preview_unavailable"], one["reason"]) for one in shown] == [
        (True, "renderer_missing")
    ] * 2
    assert words["body"]["section_count"] == 1
    assert "Hello" in json.dumps(slides)
    assert ">Hello</text>" in drawn["drawing"]["svg"]
    assert before == {"drawing": None, "missing": True}
    assert flow["drawing"]["blocks"][0]["runs"][0]["text"] == "Hello."
    assert refused(room.call, "ReviewGetPptxDrawnSlide", path="s.pptx", slide_index=7)[1] == (
        "bad_params"
    )
    room.call("DraftDiscard")
    for name in ("ReviewGetDocxPreviewPage", "ReviewGetTableDiff", "ReviewGetSummary"):
        assert refused(room.call, name, path="d.docx") == ("NOT_FOUND", "no_draft")


# ---------------------------------------------------------------- looking into files


@pytest.mark.rule("B19")
def test_files_can_be_looked_into_in_both_views(room, use):
    room.add({"t.csv": "id,amount\n1,10\n2,20\n", "a.md": "# Title\nold\n"})
    room.write({"t.csv": "id,amount\n1,10\n2,25\n", "a.md": "# Title\nnew\n"})

    def total(**view):
        asked = "SELECT sum(amount) AS total FROM data"
        return room.call("WorkbenchTableQuery", path="t.csv", query=asked, **view)["rows"][0]

    assert total(view="published") != total(view="draft") == total()
    assert "new" in room.call("WorkbenchFileRead", path="a.md")["text"]
    assert "old" in room.call("WorkbenchFileRead", path="a.md", view="published")["text"]
    assert room.call("WorkbenchFileGetInfo", path="a.md")["kind"] == "text"
    assert room.call("WorkbenchFileGetMap", path="t.csv")["format"] == "csv"
    rows = room.call("WorkbenchTableReadRows", path="t.csv", row_start=2, row_count=1)
    assert len(rows["rows"]) == 1
    assert room.call("WorkbenchTableDescribe", path="t.csv")["columns"]
    assert room.call("WorkbenchTableStats", path="t.csv", columns=["amount"])
    before = room.call("AuditList")
    assert refused(room.call, "WorkbenchFileRead", path="a.md", view="x")[1] == "bad_params"
    assert refused(room.call, "WorkbenchFileRead", path="A.md") == ("NOT_FOUND", "not_found")
    assert refused(room.call, "WorkbenchFileRead", path="../a")[1] == "bad_path"
    assert room.call("AuditList") == before


def test_sheets_sections_and_slides_can_be_looked_at_without_a_draft(room, use):
    fill = {"op": "set_range", "sheet": "S", "start": "A1", "values": [["a", 1], ["b", 2]]}
    done(use("xlsx_operations", path="b.xlsx", operations=[fill]))
    text = [{"text": "Top", "style": "Heading 1"}, {"text": "Body."}]
    op = {"op": "set_paragraphs", "paragraphs": text}
    done(use("docx_operations", path="d.docx", operations=[op]))
    done(use("pptx_operations", path="p.pptx", operations=[{"op": "add_slide", "title": "Hi"}]))
    room.call("DraftPublish")

    grid = room.call("WorkbenchFileGetGrid", path="b.xlsx", row_count=9999)
    section = room.call("WorkbenchFileGetSection", path="d.docx")
    slide = room.call("WorkbenchFileGetSlide", path="p.pptx")
    drawn = room.call("WorkbenchFileGetDrawnSlide", path="p.pptx")
    flow = room.call("WorkbenchFileGetDrawnDocument", path="d.docx")

    assert grid["cells"][1][1]["value"] == 2
    assert [one["heading"] for one in section["sections"]] == ["Top"]
    assert section["blocks"][1]["pieces"][0]["text"] == "Body."
    assert slide["slide"]["title"] == "Hi"
    assert drawn["svg"].startswith("<svg")
    assert drawn["frames"][0]["place"] == "slide 1 shape 1"
    assert [block["kind"] for block in flow["blocks"]] == ["heading", "paragraph"]
    assert refused(room.call, "WorkbenchFileGetSection", path="d.docx", section_index=9)[0] == (
        "VALIDATION_FAILED"
    )
    assert refused(room.call, "WorkbenchFileGetGrid", path="b.xlsx", view="draft")[1] == "no_draft"


@pytest.mark.rule("B10.15", "B22.86")
def test_two_checkpoints_are_compared_down_to_the_lines(room):
    room.add({"a.txt": "one\n", "old.txt": "kept content\n"})
    first = room.call("CheckpointCreate")["checkpoint_id"]
    room.write({"a.txt": "two\n"})
    room.call("DraftRenamePath", path="old.txt", new_path="new.txt")
    room.call("DraftPublish")
    second = room.call("CheckpointCreate")["checkpoint_id"]

    found = room.call("CheckpointCompare", checkpoint_id=first, other_id=second)
    page = room.call("CheckpointCompare", checkpoint_id=first, limit=1)
    lines = room.call("CheckpointGetDiff", checkpoint_id=first, path="a.txt")

    assert [(e["path"], e["kind"], e.get("old_path")) for e in found["entries"]] == [
        ("a.txt", "MODIFIED", None),
        ("new.txt", "RENAMED", "old.txt"),
    ]
    assert found["counts"] == {"added": 0, "modified": 1, "renamed": 1, "deleted": 0}
    assert (page["total"], page["next_cursor"]) == (2, "1")
    assert lines["body"]["stats"] == {"added": 1, "removed": 1}


@pytest.mark.rule("F16.10", "B13.2", "F16.1")
def test_without_a_note_the_summary_of_a_file_is_what_its_format_says_was_done(room, use):
    first = {"op": "set_cells", "sheet": "Sum", "cells": [{"cell": "A1", "value": 1}]}
    done(use("xlsx_operations", path="a.xlsx", operations=[first], create_if_missing=True))
    second = {"op": "set_range", "sheet": "Sum", "start": "B2", "values": [[1, 2], [3, 4]]}
    freeze = {"op": "freeze_panes", "sheet": "Sum", "row": 1, "column": 0}
    written = done(use("xlsx_operations", path="a.xlsx", operations=[second, freeze]))

    told = room.call("ReviewGetSummary", path="a.xlsx")

    said = [change["summary"] for change in written["changes"]]
    assert said == ["Sum!B2:C3 set (4 cells)", "Sum: panes frozen at row 1, column 0"]
    assert (told["notes"][1:], told["source"]) == (["; ".join(said)], "file")
    third = {**first, "cells": [{"cell": "A1", "value": 2}]}
    done(use("xlsx_operations", path="a.xlsx", operations=[third], change_note="Twice."))
    assert room.call("ReviewGetSummary", path="a.xlsx")["notes"][2:] == ["Twice."]


@pytest.mark.rule("F16.1", "F16.15")
def test_a_file_that_must_exist_is_not_made_and_one_that_exists_is_not_begun_anew(room, use):
    write = {"op": "append_paragraph", "text": "x"}
    missing = use("docx_operations", path="a.docx", operations=[write], create_if_missing=False)
    done(use("docx_operations", path="a.docx", operations=[write], create_if_missing=True))
    again = done(use("docx_operations", path="a.docx", operations=[write], create_if_missing=True))
    copied = done(use("docx_operations", path="b.docx", operations=[write], copy_from="a.docx"))
    anew = done(use("docx_operations", path="a.docx", operations=[write], create_new=True))

    assert (missing.ok, missing.code) == (False, "not_found")
    assert (again["created"], again["warnings"]) == (False, [])
    assert [w["code"] for w in anew["warnings"]] == ["replaced_existing"]
    texts = {path: use("read_file", path=path).value["text"] for path in ("a.docx", "b.docx")}
    assert texts == {"a.docx": "x", "b.docx": "x\nx\nx"}
    assert copied["created"]


@pytest.mark.rule("F29.6", "B12.16")
def test_what_review_reads_of_the_reference_is_not_stored(room, use):
    write = {"op": "append_paragraph", "text": "one"}
    done(use("docx_operations", path="a.docx", operations=[write]))
    room.call("DraftPublish")
    done(use("docx_operations", path="a.docx", operations=[{**write, "text": "two"}]))
    home = room.shop.config.home
    contents = home / "blobs"

    def files():
        return {path for path in contents.rglob("*") if path.is_file()}

    before = files()
    found = room.call("ReviewGetDiff", path="a.docx")

    assert found["reference_source"] == "draft_start_snapshot"
    assert before
    assert files() == before


# ---------------------------------------------------------------- what was said of it


def note(room, path: str, text: str, said: str | None) -> None:
    """Write a text file to the Draft as an agent does, saying what that does."""
    from backshop.bench import Put

    blob = room.shop.store.blobs.put(text.encode())
    agent = Author(source=Source(kind="workshop", ref="turn"))
    one = Put(path=path, blob=blob, size=len(text.encode()), note=said)
    room.shop.benches.apply_batch(room.id, [one], agent)


@pytest.mark.rule("B13.1", "B13.2")
def test_the_notes_of_all_writes_to_a_file_are_shown_in_their_order(room):
    room.add({"a.txt": "one\n"})
    note(room, "a.txt", "two\n", "rewrote 3,000 rows")
    note(room, "a.txt", "three\n", None)
    note(room, "a.txt", "four\n", "gave dates one format")
    note(room, "a.txt", "five\n", "gave dates one format")

    told = room.call("ReviewGetSummary", path="a.txt")

    assert told["notes"] == ["rewrote 3,000 rows", "gave dates one format"]
    assert told["summary_markdown"] == "- rewrote 3,000 rows\n- gave dates one format"
    assert entries(room)["a.txt"]["summary"] == "rewrote 3,000 rows\ngave dates one format"


@pytest.mark.rule("B13.2", "B8.21")
def test_the_notes_are_of_what_the_file_is_now(room):
    room.add({"a.txt": "one\n"})
    note(room, "a.txt", "two\n", "first try")
    kept = room.call("DraftGetState")["revision_id"]
    room.call("DraftRevertPath", path="a.txt")
    note(room, "a.txt", "three\n", "second try")
    again = room.call("ReviewGetSummary", path="a.txt")["notes"]
    room.call("DraftRenamePath", path="a.txt", new_path="b.txt")
    moved = room.call("ReviewGetSummary", path="b.txt")["notes"]

    room.call("DraftRestoreRevision", revision_id=kept)

    assert (again, moved) == (["second try"], ["second try"])
    assert room.call("ReviewGetSummary", path="a.txt")["notes"] == ["first try"]


@pytest.mark.rule("B13.2")
def test_notes_beyond_what_a_list_holds_are_counted_in_it(room):
    for number in range(40):
        note(room, "a.txt", f"{number}\n", f"{number} {'x' * 270}")

    listed = entries(room)["a.txt"]["summary"].splitlines()

    assert len(room.call("ReviewGetSummary", path="a.txt")["notes"]) == 40
    assert listed[-1] == f"and {40 - (len(listed) - 1)} more notes"
    assert len("\n".join(listed[:-1]).encode()) <= 4096


# ---------------------------------------------------------------- corrections by hand


@pytest.mark.rule("B8.22", "B8.9")
def test_a_reverted_file_comes_back_by_one_undo_with_all_that_was_agreed(room):
    room.add({"a.txt": "one\n", "b.txt": "b\n", "gone.txt": "x\n"})
    note(room, "a.txt", "two\n", "rewrote it")
    room.write({"new.txt": "n\n"})
    room.call("DraftDeletePath", path="gone.txt")
    room.call("ReviewSetDeletionConfirmations", paths=["gone.txt"], confirmed=True)
    before = (room.draft(), entries(room))

    reverted = room.call("DraftRevertPath", path="a.txt")
    offered = room.call("DraftGetState")["undoable"]
    one = room.draft()
    room.call("DraftRevertPath", path="new.txt")
    two = room.draft()
    stale = refused(room.call, "DraftUndo", revision_id=reverted["draft_revision_id"])
    first = room.call("DraftUndo")
    between = room.draft()
    second = room.call("DraftUndo", revision_id=first["draft_revision_id"])

    assert offered == ["a.txt"]
    assert stale == ("VALIDATION_FAILED", "nothing_to_undo")
    assert (first["paths"], second["paths"]) == (["new.txt"], ["a.txt"])
    assert (one["a.txt"], "new.txt" in two, between) == ("one\n", False, one)
    assert (room.draft(), entries(room)) == before
    assert entries(room)["gone.txt"]["deletion_confirmed"] is True


@pytest.mark.rule("B8.22")
def test_an_undo_never_takes_back_what_an_agent_wrote_since(room):
    room.add({"a.txt": "one\n"})
    room.write({"a.txt": "two\n"})
    nothing = refused(room.call, "DraftUndo")
    done = room.call("DraftRevertPath", path="a.txt")
    room.write({"other.txt": "new\n"})

    late = refused(room.call, "DraftUndo", revision_id=done["draft_revision_id"])

    room.call("DraftDeletePath", path="other.txt")
    other = refused(room.call, "DraftUndo", revision_id=done["draft_revision_id"])
    room.call("DraftUndo")

    assert nothing == late == other == ("VALIDATION_FAILED", "nothing_to_undo")
    assert refused(room.call, "DraftUndo") == nothing
    assert room.draft() == {"a.txt": "one\n", "other.txt": "new\n"}
    assert (
        "undoable" not in room.call("DraftGetState") or not room.call("DraftGetState")["undoable"]
    )

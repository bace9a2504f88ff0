"""The agent's tools on a real bench: read what is there, write to the Draft only."""

from __future__ import annotations

import json

import pytest
import xlsxwriter

from backshop.app import Backshop
from backshop.bench import TOOLS, Workspace
from backshop.prompts import ToolContext, invoke

from .conftest import AGENT, BY_NAME, Room

EDIT = {"search": "nope", "replace": "x"}
APPEND = {"op": "append_paragraph", "text": "x"}


@pytest.mark.rule("W7.1", "W7.2")
def test_the_catalog_has_its_tools():
    assert len(TOOLS) == 23
    assert not {"delete", "rename", "publish"} & {word for t in TOOLS for word in t.name.split("_")}


@pytest.mark.rule("W7.6", "B7.3")
def test_text_is_written_to_the_draft_and_read_back(room, use):
    room.add({"a.md": "# Title\nold line\n"})

    missing = use("read_file", path="A.md")
    edited = use(
        "edit_text_file",
        path="draft/a.md",
        edits=[{"search": "old line", "replace": "new line"}],
        change_note="Corrected a line.",
    )
    read = use("read_file", path="a.md")
    review = use("review_draft")

    assert (missing.ok, missing.value["hints"]) == (False, ["a.md"])
    assert edited.ok
    assert {w["code"] for w in edited.value["warnings"]} == {"path_normalised"}
    assert "new line" in read.value["text"]
    assert room.published() == {"a.md": "# Title\nold line\n"}
    [entry] = review.value["entries"]
    assert (entry["kind"], entry["summary"]) == ("MODIFIED", "Corrected a line.")


@pytest.mark.rule("S6.28")
def test_the_list_of_files_says_why_one_cannot_be_read(room, use):
    room.add({"a.txt": "one\n", "bad.xlsx": b"PK\x03\x04 and no workbook"})

    told = {one["path"]: one.get("unreadable") for one in use("list_files").value["files"]}

    assert told == {"a.txt": None, "bad.xlsx": "corrupt_file"}


@pytest.mark.rule("B8.3", "B8.6", "F16.4")
def test_a_refused_write_leaves_the_draft_as_it_was(room, use):
    room.add({"a.txt": "one\n", "p.pdf": b"%PDF-1.4\n%%EOF\n", "b.bin": b"\0\1"})
    room.write({"a.txt": "two\n"})
    before = room.call("DraftGetState")["tree"]

    for name, arguments, code in (
        ("edit_text_file", {"path": "a.txt", "edits": [EDIT]}, "no_match"),
        ("write_text_file", {"path": "../x", "content": "x"}, "bad_path"),
        ("write_text_file", {"path": "p.pdf", "content": "x"}, "read_only_format"),
        ("write_text_file", {"path": "new.pdf", "content": "x"}, "read_only_format"),
        ("edit_text_file", {"path": "p.pdf", "edits": [EDIT]}, "read_only_format"),
        ("edit_text_file", {"path": "b.bin", "edits": [EDIT]}, "read_only_format"),
        ("write_text_file", {"path": "b.bin", "content": "x"}, "read_only_format"),
        ("write_text_file", {"path": "new.docx", "content": "x"}, "unsupported_format"),
        ("docx_operations", {"path": "o.odt", "operations": [APPEND]}, "read_only_format"),
        ("xlsx_operations", {"path": "b.xlsx", "operations": [{"op": "frobnicate"}]}, None),
        ("table_query", {"path": "a.txt", "query": "SELECT * FROM read_csv('/etc/passwd')"}, None),
    ):
        result = use(name, **arguments)
        assert not result.ok, name
        assert result.code == (code or result.code), (name, arguments)
    assert room.call("DraftGetState")["tree"] == before


@pytest.mark.needs("corpora")
@pytest.mark.rule("F16.13", "B11.2")
def test_a_workbook_is_changed_by_operations_and_reviewed_by_cells(room, use, corpora):
    source = corpora / "office-fixtures" / "quarterly_data.xlsx"
    room.call("WorkbenchFilesAdd", source_paths=[str(source)])
    sheet = use("get_file_map", path=source.name).value["sheets"][0]["name"]

    done = use(
        "xlsx_operations",
        path=source.name,
        operations=[
            {"op": "set_cells", "sheet": sheet, "cells": [{"cell": "B2", "value": 4711}]},
        ],
    )
    diff = room.call("ReviewGetDiff", path=source.name)

    assert done.ok, done.message
    assert done.value["effects"]["totals"]["collateral"] == 0
    assert diff["strategy"] == "cells"
    assert "4711" in json.dumps(diff["body"])


def test_tables_are_asked_and_exported_into_the_draft(room, use):
    room.add({"sales.csv": "region,amount\nnorth,10\nsouth,5\nnorth,7\n"})

    asked = use("table_query", path="sales.csv", query="SELECT sum(amount) AS total FROM data")
    exported = use(
        "table_export",
        path="sales.csv",
        query="SELECT region, sum(amount) AS total FROM data GROUP BY region ORDER BY region",
        target_path="totals.csv",
        format="csv",
    )
    merged = use(
        "table_update_from_export",
        path="sales.csv",
        target_path="book.xlsx",
        target_sheet="Sales",
        mode="replace_sheet",
        create_workbook_if_missing=True,
    )

    assert asked.ok, asked.message
    assert "22" in json.dumps(asked.value)
    assert exported.ok, exported.message
    assert merged.ok, merged.message
    assert room.draft_bytes("totals.csv") == b"region,total\nnorth,17\nsouth,5\n"


@pytest.mark.rule("F25.10", "F28.2")
def test_a_table_is_read_in_the_dialect_told_and_written_back_in_it(room, use):
    data = "Sales\r\n\r\nregion~amount\r\nnorth~10\r\nsouth~5\r\n\r\nSource: till\r\n"
    room.add({"sales.csv": data})

    found = use("table_get_map", path="sales.csv")
    wrong = use("table_get_map", path="sales.csv", dialect={"delimiter": ";", "header": 0})
    told = {name: found.value["dialect"][name] for name in ("delimiter", "skip", "header")}
    done = use(
        "table_export",
        path="sales.csv",
        dialect=told,
        query="SELECT region, amount * 2 AS amount FROM data WHERE amount > 5",
        target_path="sales.csv",
        format="csv",
    )

    assert told == {"delimiter": "~", "skip": 2, "header": 1}
    assert wrong.value["column_count"] == 1
    assert done.ok, done.message
    assert room.draft_bytes("sales.csv") == (
        b"Sales\r\n\r\nregion~amount\r\nnorth~20\r\n\r\nSource: till\r\n"
    )


@pytest.mark.needs("corpora")
def test_documents_and_presentations_are_changed_too(room, use, corpora):
    folder = corpora / "office-fixtures"
    names = ["simple.docx", "slides.pptx"]
    room.call("WorkbenchFilesAdd", source_paths=[str(folder / name) for name in names])

    document = use(
        "docx_operations",
        path="simple.docx",
        operations=[{"op": "append_paragraph", "text": "Added by the agent."}],
    )
    deck = use(
        "pptx_operations",
        path="slides.pptx",
        operations=[{"op": "set_notes", "index": 0, "notes": "Say hello."}],
    )

    assert document.ok, document.message
    assert deck.ok, deck.message
    assert "Added by the agent." in json.dumps(use("review_draft", path="simple.docx").value)


@pytest.mark.rule("F24.11")
def test_a_setting_leaves_formulas_to_the_spreadsheet_program(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"formats.recalculate": False}) as shop:
        room = Room(shop, tmp_path)
        tool = BY_NAME["xlsx_operations"]
        cells = [{"cell": "A1", "value": 2}, {"cell": "A2", "value": "=A1*2"}]
        operations = [{"op": "set_cells", "sheet": "S", "cells": cells}]

        done = invoke(
            tool,
            tool.decode({"path": "b.xlsx", "operations": operations, "create_new": True}),
            context=ToolContext(workspace=Workspace(shop.benches, room.id, AGENT)),
        )

    assert done.value["recalculated"]["reasons"] == {"recalculation_off": 1}  # type: ignore[index]


@pytest.mark.rule("F25.8")
def test_what_was_computed_from_a_content_goes_with_it(room, use):
    room.add({"a.csv": "id,n\n1,2\n"})
    assert use("table_query", path="a.csv", query="SELECT sum(n) FROM data").ok
    assert use("get_file_map", path="a.csv").ok
    cache = room.shop.config.home / "cache"
    kept = {path for path in cache.rglob("*") if path.is_file()}
    gone = "0" * 64
    for path in kept:
        (path.parent / (gone + path.name[64:])).write_bytes(path.read_bytes())

    room.shop.call("StoreGc", {"apply": True})

    assert {path for path in cache.rglob("*") if path.is_file()} == kept
    assert use("table_query", path="a.csv", query="SELECT sum(n) FROM data").ok


@pytest.mark.rule("F16.2", "F3.1", "W7.5")
@pytest.mark.parametrize(
    ("tool", "there", "typed", "op"),
    [
        ("xlsx_operations", "sales.xlsx", "slaes.xlsx", {"op": "ensure_sheet", "sheet": "S"}),
        ("docx_operations", "offer.docx", "ofer.docx", {"op": "append_paragraph", "text": "x"}),
        ("pptx_operations", "plan.pptx", "plna.pptx", {"op": "add_slide", "title": "x"}),
    ],
)
def test_a_mistyped_path_makes_no_file_and_is_answered_with_the_nearest(
    room, use, tool, there, typed, op
):
    assert use(tool, path=there, operations=[op]).ok
    before = room.call("DraftGetState")

    done = use(tool, path=typed, operations=[op], create_if_missing=None)

    assert not done.ok
    assert done.value["reason"] == "not_found"
    assert done.value["hints"] == [there, "create_if_missing: true makes it"]
    assert room.call("DraftGetState") == before


@pytest.mark.rule("F19.5", "B8.3")
def test_replacing_text_that_is_nowhere_makes_no_new_revision(room, use):
    op = {"op": "append_paragraph", "text": "hello"}
    assert use("docx_operations", path="a.docx", operations=[op]).ok
    before = room.call("DraftGetState")

    wish = {"op": "replace_text", "search": "absent", "replace": "x"}
    done = use("docx_operations", path="a.docx", operations=[wish])

    assert (done.ok, done.value["reason"]) == (False, "no_match")
    assert "'absent'" in done.message
    assert room.call("DraftGetState") == before


@pytest.mark.rule("F28.1", "F16.2")
def test_an_export_onto_a_file_that_is_there_says_that_it_replaces_it(room, use):
    room.add({"a.csv": "x,y\n1,2\n", "b.csv": "old\n"})
    ask = {"path": "a.csv", "format": "csv"}

    new = use("table_export", target_path="c.csv", **ask)
    over = use("table_export", target_path="b.csv", **ask)

    assert (new.value["created"], new.value["warnings"]) == (True, [])
    assert over.value["created"] is False
    assert [w["code"] for w in over.value["warnings"]] == ["replaced_existing"]


@pytest.mark.rule("F17.13", "B13.2")
@pytest.mark.parametrize("note", [None, "Added April."])
def test_rows_written_under_a_table_are_told_in_the_answer_and_in_the_review(
    room, use, tmp_path, note
):
    with xlsxwriter.Workbook(str(tmp_path / "book.xlsx")) as file:
        table = {"name": "Ledger", "data": [["a", 1], ["b", 2]]}
        file.add_worksheet("S").add_table("A1:B3", table)
    room.call("WorkbenchFilesAdd", source_paths=[str(tmp_path / "book.xlsx")])
    rows = {"op": "set_range", "sheet": "S", "start": "A4", "values": [["c", 3]]}

    done = use("xlsx_operations", path="book.xlsx", operations=[rows], change_note=note)

    (warning,) = done.value["warnings"]
    assert (warning["code"], warning["count"]) == ("table_not_extended", 1)
    (noted,) = room.call("ReviewGetSummary", path="book.xlsx")["notes"]
    assert noted == f"{note or 'S!A4:B4 set (2 cells)'}; {warning['where']}"


@pytest.mark.rule("F35.10", "F16.16", "B13.2")
def test_inserted_rows_are_told_as_lines_in_the_answer_and_in_the_review(room, use):
    rows = [[1, "=A1"], [2, "=A2"], [3, "=SUM(A1:A3)"]]
    made = {"op": "set_range", "sheet": "S", "start": "A1", "values": rows}
    use("xlsx_operations", path="book.xlsx", operations=[made], create_if_missing=True)
    room.call("DraftPublish")
    lines = {"op": "insert_rows", "sheet": "S", "row": 2, "count": 2}

    done = use("xlsx_operations", path="book.xlsx", operations=[lines])

    effects = done.value["effects"]
    assert effects["changed"] == [
        {"kind": "row", "where": "S!2:3", "aspect": "inserted", "count": 2}
    ]
    assert (effects["collateral"], done.value["new_errors"]) == ([], [])
    (noted,) = room.call("ReviewGetSummary", path="book.xlsx")["notes"]
    assert noted == "S: rows 2 to 3 inserted"
    read = use("read_file", path="book.xlsx", range="A1:B5", cells="both")
    assert "5\t3\t6 {=SUM(A1:A5)}" in read.value["text"]


@pytest.mark.rule("B3.12")
def test_a_write_over_an_edit_of_another_program_says_that_it_was_kept(room, use):
    use("write_text_file", path="a.txt", content="one\n")
    file = room.shop.config.home / "benches" / room.id / "draft" / "a.txt"
    file.chmod(0o644)
    file.write_text("theirs\n", encoding="utf-8")

    done = use("write_text_file", path="a.txt", content="two\n")

    assert [one["code"] for one in done.value["warnings"]] == ["outside_edits_salvaged"]


ONE = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": 1}]}
WORD = {"op": "replace_text", "search": "x", "replace": "x"}


@pytest.mark.rule("B7.3", "B8.2", "W10.1")
@pytest.mark.parametrize(
    ("first", "again"),
    [
        (("write_text_file", {"path": "a.txt", "content": "x"}), None),
        (
            ("write_text_file", {"path": "a.txt", "content": "x"}),
            ("edit_text_file", {"path": "a.txt", "edits": [{"search": "x", "replace": "x"}]}),
        ),
        (("xlsx_operations", {"path": "a.xlsx", "operations": [ONE]}), None),
        (
            ("docx_operations", {"path": "a.docx", "operations": [APPEND]}),
            ("docx_operations", {"path": "a.docx", "operations": [WORD]}),
        ),
    ],
)
def test_a_write_that_changes_no_byte_says_so_and_makes_no_revision(room, use, first, again):
    made = use(first[0], **first[1])
    before = room.call("DraftGetState")

    done = use((again or first)[0], **(again or first)[1])

    assert "no_changes" not in made.value
    assert (done.ok, done.value["no_changes"]) == (True, True)
    assert done.value["draft_revision_id"] == made.value["draft_revision_id"]
    assert room.call("DraftGetState") == before


@pytest.mark.rule("B7.3")
def test_a_write_that_changes_nothing_of_published_opens_no_draft_and_says_so(room, use):
    room.add({"a.txt": "x"})

    done = use("write_text_file", path="a.txt", content="x")

    assert (done.value["no_changes"], done.value["draft_revision_id"]) == (True, None)
    assert room.call("DraftGetState")["has_draft"] is False

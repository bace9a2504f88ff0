"""`replace_in_files`: one batch over many files, or nothing at all (F33.5–F33.7)."""

from __future__ import annotations

import io
import json

import openpyxl
import pytest
import xlsxwriter

from backshop.app import Backshop
from backshop.base.codec import compact
from backshop.bench.tools.replacement import REPLACE_IN_FILES

from .conftest import Room, using
from .every_kind import files, pdf

ALL = {"prefix": ""}


@pytest.mark.rule("F33.5", "F33.6", "F33.7", "B8.1", "B8.3", "W7.1")
def test_a_name_is_replaced_in_every_kind_of_file_by_one_batch(room, use):
    room.add(files())

    done = use("replace_in_files", search="Acme", replace="Bolt", **ALL)
    left = use("search_files", query="Acme", match_case=True).value

    assert done.ok, done.message
    counts = {one["path"]: one["count"] for one in done.value["files"]}
    assert counts == {"a.md": 1, "b.csv": 1, "c.xlsx": 1, "d.docx": 3, "e.pptx": 3}
    assert done.value["replaced"] == 9
    assert done.value["left"] == [
        {"path": "f.pdf", "reason": "read_only_format", "count": 1},
        {"path": "g.odt", "reason": "read_only_format", "count": 2},
    ]
    warned = {one["path"]: one.get("warnings") for one in done.value["files"]}
    assert warned["c.xlsx"] == [
        {"code": "occurrences_left", "count": 1, "where": "operations[0]: in formulas"}
    ]
    assert [one["path"] for one in left["files"]] == ["c.xlsx", "d.docx", "f.pdf", "g.odt"]
    assert [
        one for file in left["files"] for one in file["places"] if file["path"] == "d.docx"
    ] == [
        {
            "section": "@comments",
            "paragraphs": "0",
            "text": "…omment 0 by Ada at paragraph 1] is this Acme?",
        }
    ]
    assert room.draft_bytes("b.csv") == b"name,amount\nBolt,3\n"
    assert done.value["draft_revision_id"] == room.call("DraftGetState")["revision_id"]


@pytest.mark.rule("F33.5", "B13.2", "B8.9")
def test_the_batch_is_reviewed_with_a_note_and_taken_back_as_one(room, use):
    room.add({"a.txt": "x one\n", "b.txt": "x two\n"})
    room.write({"a.txt": "x one!\n"})
    before, revision = room.draft(), room.call("DraftGetState")["revision_id"]

    use("replace_in_files", search="x", replace="y", paths=["a.txt", "b.txt"], change_note="All y.")
    entries = room.call("ReviewGetChangeSet")["entries"]
    room.call("DraftRestoreRevision", revision_id=revision)

    assert {one["path"]: one["summary"] for one in entries} == {
        "a.txt": "All y.",
        "b.txt": "All y.",
    }
    assert room.draft() == before


@pytest.mark.rule("F33.6")
@pytest.mark.parametrize(
    ("asked", "text", "count"),
    [
        ({"search": "cat"}, "dog Cat concatenate\r\ndog.", 2),
        ({"search": "cat", "match_case": False}, "dog dog concatenate\r\ndog.", 3),
        ({"search": "cat", "whole_word": True}, "dog Cat concatenate\r\ndog.", 2),
        ({"search": "Cat", "replace": ""}, "cat  concatenate\r\ncat.", 1),
        ({"search": "Cat", "replace": "a\nb"}, "cat a\r\nb concatenate\r\ncat.", 1),
        ({"search": ".", "replace": r"\1"}, "cat Cat concatenate\r\ncat\\1", 1),
    ],
)
def test_text_is_replaced_as_it_stands_and_every_other_byte_stays(room, use, asked, text, count):
    raw = b"\xef\xbb\xbfcat Cat concatenate\r\ncat."
    wanted = {"search": "cat", "replace": "dog", **asked}
    if "concatenate" in text and "whole_word" not in asked:
        raw, text = raw.replace(b"concatenate", b"-"), text.replace("concatenate", "-")
    room.add({"a.txt": raw})

    done = use("replace_in_files", paths=["a.txt"], **wanted)

    assert done.value["files"] == [{"path": "a.txt", "count": count}]
    assert room.draft_bytes("a.txt") == b"\xef\xbb\xbf" + text.encode()


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A bench that nothing below may change."""
    folder = tmp_path_factory.mktemp("still")
    with Backshop.open(folder / "home") as shop:
        room = Room(shop, folder)
        room.add({**files(), "only.pdf": pdf("Acme")})
        yield room, using(room)


@pytest.mark.rule("F33.7", "B8.3", "B8.4")
@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"search": "nowhere"}, "no_match"),
        ({"search": "Acme", "paths": ["only.pdf"], "prefix": None}, "no_match"),
        ({"search": "Acme", "paths": [], "prefix": None}, "no_match"),
        ({"search": "Acme", "expect": 3}, "ambiguous_match"),
        ({"search": "Acme", "expect": 0}, "bad_value"),
        ({"search": ""}, "bad_value"),
        ({"search": "a\nb"}, "bad_value"),
        ({"search": "x" * 1001}, "bad_value"),
        ({"search": "Acme", "replace": "y" * 10_001}, "bad_value"),
        ({"search": "Bolt"}, "bad_value"),
        ({"search": "Acme", "replace": "Acme, Inc."}, "op_conflict"),
        ({"search": "Acme", "prefix": None}, "missing_field"),
        ({"search": "Acme", "paths": ["a.md"], "prefix": "a"}, "op_conflict"),
        ({"search": "Acme", "paths": ["b.md"], "prefix": None}, "not_found"),
        ({"search": "Acme", "paths": ["/etc/passwd"], "prefix": None}, "bad_path"),
    ],
)
def test_what_cannot_be_replaced_changes_nothing(still, asked, reason):
    room, use = still

    refused = use("replace_in_files", **{"replace": "Bolt", **ALL, **asked})

    assert (refused.ok, refused.code) == (False, reason)
    assert room.call("DraftGetState")["has_draft"] is False


@pytest.mark.rule("B8.4", "F33.7")
def test_a_batch_that_would_be_too_large_is_refused_whole(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"bench.batch_files": 2}) as shop:
        room = Room(shop, tmp_path)
        room.add({f"{n}.txt": "x\n" for n in range(3)})
        refused = using(room)("replace_in_files", search="x", replace="y", **ALL)

        assert (refused.code, room.draft()) == ("too_large", None)


@pytest.mark.rule("F33.7", "B8.3")
def test_a_file_that_cannot_be_read_is_named_and_stops_all_of_it(room, use):
    room.add({"a.txt": "x\n", "b.docx": b"PK\3\4 broken"})

    refused = use("replace_in_files", search="x", replace="y", **ALL)

    assert (refused.code, room.draft()) == ("corrupt_file", None)
    assert refused.value["detail"].startswith("b.docx: ")


@pytest.mark.rule("F17.15")
def test_cells_are_changed_and_what_would_lose_something_is_left_and_counted(room, use):
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        bold = book.add_format({"bold": True})
        sheet = book.add_worksheet("S")
        sheet.add_table("A1:B3", {"name": "T", "columns": [{"header": "Acme"}, {"header": "n"}]})
        sheet.write("A2", "Acme and Acme", bold)
        sheet.write_rich_string("A3", "half ", bold, "Acme")
        sheet.write_formula("D1", '=SUM(T[Acme])&"Acme"', None, "0Acme")
        sheet.write_number("D2", 5)
    room.add({"a.xlsx": file.getvalue()})
    op = {"op": "replace_text", "search": "acme", "replace": "Bolt"}

    done = use("xlsx_operations", path="a.xlsx", operations=[op])
    plain = openpyxl.load_workbook(io.BytesIO(room.draft_bytes("a.xlsx")), rich_text=True)["S"]
    asked = use("xlsx_operations", path="a.xlsx", operations=[{**op, "in_formulas": True}])
    nothing = use("xlsx_operations", path="a.xlsx", operations=[{**op, "sheet": "S"}])
    formula = openpyxl.load_workbook(io.BytesIO(room.draft_bytes("a.xlsx")))["S"]["D1"].value

    assert done.value["replaced"] == 3
    assert {one["where"]: one["count"] for one in done.value["warnings"]} == {
        "operations[0]: in cells of several looks": 1,
        "operations[0]: in formulas": 2,  # one of them follows the renamed column
    }
    assert (plain["A1"].value, plain["A2"].value) == ("Bolt", "Bolt and Bolt")
    assert plain["A2"].font.bold
    assert str(plain["A3"].value) == "half Acme"
    assert plain["D1"].value == '=SUM(T[Bolt])&"Acme"'
    assert asked.value["replaced"] == 1
    assert formula == '=SUM(T[Bolt])&"Bolt"'
    assert done.value["effects"]["collateral"] == []
    assert nothing.code == "no_match"


@pytest.mark.rule("W7.3")
def test_the_tool_weighs_little():
    shown = {
        "name": REPLACE_IN_FILES.name,
        "description": REPLACE_IN_FILES.description,
        "input_schema": compact(REPLACE_IN_FILES.schema),
    }

    assert len(json.dumps(shown, separators=(",", ":"))) <= 525

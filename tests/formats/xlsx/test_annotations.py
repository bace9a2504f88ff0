"""Names, notes, links, and number formats by name: written, read, refused."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.comments import Comment

from backshop.formats import FormatError
from backshop.formats.package.guard import parse_xml
from backshop.formats.protocol import Source
from backshop.formats.xlsx.annotation.note_box import Boxes
from backshop.formats.xlsx.book.format_name import NAMES, format_code, is_code

from .books import book, differing, edit, lines, mapped, opened, source, text


def told(result: Any) -> list[tuple[str, str, str, str]]:
    """What changed, without the parts of the package."""
    return [
        (one.kind, one.where, one.aspect, one.now)
        for one in result.effects.changed
        if one.kind != "part"
    ]


def refused(made: Source | None, out: Path, *ops: dict[str, Any]) -> FormatError:
    with pytest.raises(FormatError) as caught:
        edit(made, out, *ops)
    assert not out.exists()
    return caught.value


@pytest.fixture
def sales(tmp_path) -> Source:
    rows = [["Region", "Orders"], ["North", 3], ["South", 4], [None, "=SUM(B2:B3)|7"]]
    return book(tmp_path / "sales.xlsx", ("Sales", rows), ("My costs", [[5, "=Sales!B4|7"]]))


@pytest.fixture
def noted(tmp_path) -> Source:
    """A workbook with notes of another program."""
    file = openpyxl.Workbook()
    sheet = file.active
    assert sheet is not None
    sheet.title = "S"
    for cell in ("A1", "B2", "C3"):
        sheet[cell] = cell
        sheet[cell].comment = Comment(f"about {cell}", "Eve", height=200, width=300)
    file.save(tmp_path / "noted.xlsx")
    return source(tmp_path / "noted.xlsx")


def members(path: Path, pattern: str) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {n: archive.read(n) for n in archive.namelist() if re.search(pattern, n)}


# --- names --------------------------------------------------------------------------------------


@pytest.mark.rule("F41.1", "F41.3", "F41.7", "F16.13")
def test_a_name_means_fixed_cells_and_formulas_may_use_it_in_the_same_call(sales, tmp_path):
    out = tmp_path / "out.xlsx"

    done = edit(
        sales,
        out,
        {"op": "set_name", "name": "Orders", "refers_to": "Sales!B2:B3", "comment": "all of them"},
        {"op": "set_name", "name": "Tax", "refers_to": 0.25},
        {"op": "set_name", "name": "Gross", "refers_to": "=SUM(Orders)*(1+Tax)"},
        {
            "op": "set_cells",
            "sheet": "Sales",
            "cells": [{"cell": "C1", "value": "=Gross"}],
        },
    )

    assert told(done) == [
        ("cell", "Sales!C1", "formula", "=Gross → 8.75"),
        ("cell", "Sales!C1", "value", "=Gross → 8.75"),
        ("name", "Gross", "added", "SUM(Orders)*(1+Tax)"),
        ("name", "Orders", "added", "Sales!$B$2:$B$3"),
        ("name", "Tax", "added", "0.25"),
    ]
    assert done.effects.collateral == ()
    assert mapped(source(out))["defined_names"] == [
        {"name": "Gross", "refers_to": "SUM(Orders)*(1+Tax)"},
        {"name": "Orders", "refers_to": "Sales!$B$2:$B$3", "comment": "all of them"},
        {"name": "Tax", "refers_to": "0.25"},
    ]
    assert set(opened(out).defined_names) == {"Gross", "Orders", "Tax"}


@pytest.mark.rule("F41.4", "F41.5", "F24.8")
def test_what_uses_a_name_is_computed_anew_or_follows_it(sales, tmp_path):
    one, two = tmp_path / "one.xlsx", tmp_path / "two.xlsx"
    edit(
        sales,
        one,
        {"op": "set_name", "name": "Tax", "refers_to": 0.5},
        {"op": "set_name", "name": "Twice", "refers_to": "=2*tax"},
        {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "C1", "value": '=Twice&"Tax"'}]},
    )

    changed = edit(source(one), two, {"op": "set_name", "name": "TAX", "refers_to": 2})
    renamed = edit(
        source(two), tmp_path / "three.xlsx", {"op": "set_name", "name": "Tax", "new_name": "Rate"}
    )

    assert told(changed) == [
        ("cell", "Sales!C1", "value", '=Twice&"Tax" → 4Tax'),
        ("name", "Tax", "changed", "2"),
    ]
    assert told(renamed) == [("name", "Rate", "added", "2"), ("name", "Tax", "removed", "")]
    assert renamed.effects.collateral == changed.effects.collateral == ()
    names = mapped(source(tmp_path / "three.xlsx"))["defined_names"]
    assert names == [{"name": "Rate", "refers_to": "2"}, {"name": "Twice", "refers_to": "2*Rate"}]
    assert lines(tmp_path / "three.xlsx", sheet="Sales", range="C1", cells="both") == [
        '1\t4Tax {=Twice&"Tax"}'
    ]


@pytest.mark.rule("F41.4")
def test_a_name_of_a_sheet_and_one_of_the_workbook_are_two_names(sales, tmp_path):
    one, two = tmp_path / "one.xlsx", tmp_path / "two.xlsx"
    edit(
        sales,
        one,
        {"op": "set_name", "name": "Rate", "refers_to": 1},
        {"op": "set_name", "name": "Rate", "refers_to": 2, "scope": "My costs"},
        {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "D1", "value": "=Rate"}]},
        {"op": "set_cells", "sheet": "My costs", "cells": [{"cell": "D1", "value": "=Rate"}]},
    )
    assert lines(one, sheet="My costs", range="D1") == ["1\t2"]

    edit(
        source(one), two, {"op": "set_name", "name": "Rate", "new_name": "Own", "scope": "my costs"}
    )

    assert lines(two, sheet="My costs", range="D1", cells="formulas") == ["1\t=Own"]
    assert lines(two, sheet="Sales", range="D1", cells="formulas") == ["1\t=Rate"]
    assert mapped(source(two))["defined_names"] == [
        {"name": "Rate", "refers_to": "1"},
        {"name": "Own", "refers_to": "2", "scope": "My costs"},
    ]


@pytest.mark.rule("F41.6")
def test_a_name_that_is_used_goes_only_when_it_may_break_what_uses_it(sales, tmp_path):
    one, out = tmp_path / "one.xlsx", tmp_path / "out.xlsx"
    link = {"op": "set_link", "sheet": "Sales", "range": "A9", "target": "Rate"}
    edit(
        sales,
        one,
        {"op": "set_name", "name": "Rate", "refers_to": "Sales!A1"},
        {"op": "set_name", "name": "More", "refers_to": "=Rate"},
        {"op": "set_cells", "sheet": "My costs", "cells": [{"cell": "C1", "value": "=Rate"}]},
        link,
    )

    error = refused(source(one), out, {"op": "delete_name", "name": "rate"})
    done = edit(source(one), out, {"op": "delete_name", "name": "rate", "break_formulas": True})

    assert (error.reason, error.hints) == (
        "op_conflict",
        ("'My costs'!C1", "name More", "links of Sales"),
    )
    assert done.warnings[0].code == "broken_references"
    assert ("name", "Rate", "removed", "") in told(done)
    assert done.effects.collateral == ()
    assert lines(out, sheet="My costs", range="C1") == ["1\t{=Rate}"]  # no stale result


@pytest.mark.rule("F41.2")
@pytest.mark.parametrize(
    "name",
    [
        *("A1", "xfd1048576", "ABC1", "XFD9999999", "R", "c", "R1C1", "r5", "C12", "TRUE", "False"),
        *("", " ", "two words", "1st", "a-b", "a!b", "x" * 256, "_xlnm.Print_Area", "_xlfn.SUM"),
        *("a\u202eb", "a\u200bb", "a\nb", "[a]", "?x", ".x", "a=b", "😀"),
    ],
)
def test_what_is_no_name_is_refused(sales, tmp_path, name):
    op = {"op": "set_name", "name": name, "refers_to": 1}
    assert refused(sales, tmp_path / "out.xlsx", op).reason == "bad_value"


@pytest.mark.rule("F41.2")
@pytest.mark.parametrize("name", ["x", "Größe_1", "_a", "\\b", "a.b?", "x" * 255, "ABCD1", "東京"])
def test_what_is_a_name_is_one(sales, tmp_path, name):
    out = tmp_path / "out.xlsx"
    cell = {"cell": "F1", "value": f"={name}"}

    edit(
        sales,
        out,
        {"op": "set_name", "name": name, "refers_to": 8},
        {"op": "set_cells", "sheet": "Sales", "cells": [cell]},
    )

    assert lines(out, sheet="Sales", range="F1") == ["1\t8"]
    assert name in opened(out).defined_names


@pytest.mark.rule("F41.2", "F41.3")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"refers_to": "A1:B2"}, "bad_value"),  # no sheet
        ({"refers_to": "Nowhere!A1"}, "unknown_sheet"),
        ({"refers_to": "Sales!A0"}, "bad_value"),
        ({"refers_to": "EUR"}, "bad_value"),
        ({"refers_to": "=New+1"}, "bad_value"),  # itself
        ({"refers_to": "=Other"}, "bad_value"),  # not there
        ({"refers_to": "=WEBSERVICE(1)"}, "unsafe_formula"),
        ({"refers_to": "=[book.xlsx]S!A1"}, "unsafe_formula"),
        ({"refers_to": "=SUM("}, "bad_value"),
        ({"refers_to": "=" + "1+" * 5000 + "1"}, "bad_value"),
        ({"refers_to": ["Sales!A1"]}, "bad_type"),
        ({"refers_to": 1, "scope": "Nowhere"}, "unknown_sheet"),
        ({"refers_to": 1, "comment": "x" * 256}, "bad_value"),
        ({"name": "SUM", "refers_to": "=LAMBDA(x,x+1)"}, "bad_value"),  # hides a function
        ({}, "missing_field"),
        ({"new_name": "Newer"}, "no_match"),
    ],
)
def test_a_meaning_that_cannot_be_is_refused(sales, tmp_path, fields, reason):
    op = {"op": "set_name", "name": "New", **fields}
    assert refused(sales, tmp_path / "out.xlsx", op).reason == reason


@pytest.mark.rule("F41.2", "F41.3")
def test_names_that_go_in_a_circle_or_are_taken_are_refused(sales, tmp_path):
    one, out = tmp_path / "one.xlsx", tmp_path / "out.xlsx"
    edit(
        sales,
        one,
        {"op": "set_name", "name": "First", "refers_to": 1},
        {"op": "set_name", "name": "Second", "refers_to": "=First"},
    )
    made = source(one)

    circle = refused(made, out, {"op": "set_name", "name": "First", "refers_to": "=Second*2"})
    taken = refused(made, out, {"op": "set_name", "name": "First", "new_name": "SECOND"})
    gone = refused(made, out, {"op": "delete_name", "name": "Thrid"})
    elsewhere = refused(made, out, {"op": "delete_name", "name": "First", "scope": "Sales"})

    assert [e.reason for e in (circle, taken, gone, elsewhere)] == [
        *("bad_value", "name_conflict", "no_match", "no_match"),
    ]


# --- notes --------------------------------------------------------------------------------------


@pytest.mark.rule("F41.8", "F41.9", "F41.11", "F8.14")
def test_notes_come_change_and_go(sales, tmp_path):
    one, two, three = (tmp_path / f"{n}.xlsx" for n in "123")
    said = "First line\nعربي \u200f and <b> & “so”"

    added = edit(
        sales,
        one,
        {"op": "set_note", "sheet": "Sales", "cell": "B2", "text": said},
        {"op": "set_note", "sheet": "My costs", "cell": "$A$1", "text": "x", "author": "Ann"},
    )
    changed = edit(
        source(one),
        two,
        {"op": "set_note", "sheet": "Sales", "cell": "B2", "text": "other"},
        {"op": "insert_rows", "sheet": "Sales", "row": 1},
        {"op": "delete_note", "sheet": "My costs", "cell": "A1"},
    )
    edit(source(two), three, {"op": "delete_note", "sheet": "Sales", "cell": "B3"})

    assert told(added) == [
        ("note", "Sales!B2", "added", said),
        ("note", "My costs!A1", "added", "x"),
    ]
    assert ("note", "Sales!B3", "changed", "other") in told(changed)
    assert ("note", "My costs!A1", "removed", "") in told(changed)
    assert added.effects.collateral == changed.effects.collateral == ()
    comment = opened(one)["Sales"]["B2"].comment
    assert (comment.text, comment.author) == (said, "Backshop")
    assert opened(two)["Sales"]["B3"].comment.text == "other"
    assert mapped(source(one))["sheets"][1]["notes"] == [
        {"cell": "A1", "text": "x", "author": "Ann"}
    ]
    assert "B2: note by Backshop: First line\\n" in text(one, sheet="Sales", cells="notes")
    assert not members(three, r"comments|vml")


@pytest.mark.rule("F41.9", "F41.10", "F23.3")
def test_other_notes_keep_their_bytes(noted, tmp_path):
    out = tmp_path / "out.xlsx"

    edit(
        noted,
        out,
        {"op": "set_note", "sheet": "S", "cell": "B2", "text": "new"},
        {"op": "set_note", "sheet": "S", "cell": "D9", "text": "more"},
        {"op": "delete_note", "sheet": "S", "cell": "C3"},
    )

    comments = opened(out)["S"]
    shown = {c.coordinate: c.comment.text for r in comments.iter_rows() for c in r if c.comment}
    assert shown == {"A1": "about A1", "B2": "new", "D9": "more"}
    (before,), (after,) = (
        [*members(path, r"comment\w*\d\.xml$").values()] for path in (noted.path, out)
    )
    first = re.compile(rb'<comment[^>]* ref="A1".*?</comment>', re.S)
    assert first.findall(before) == first.findall(after) != []
    boxes = [b"".join(members(path, r"(?i)\.vml$").values()) for path in (noted.path, out)]
    shapes = [[data[slice(*span)] for span in Boxes(data).shapes()] for data in boxes]
    assert shapes[1][:2] == shapes[0][:2]  # A1 and, with another text, B2
    assert len(shapes[1]) == len(shapes[0]) == 3


@pytest.mark.rule("F41.9")
def test_several_notes_on_a_drawing_of_another_program_leave_it_well_formed(noted, tmp_path):
    out = tmp_path / "out.xlsx"
    ops = [{"op": "set_note", "sheet": "S", "cell": c, "text": "more"} for c in ("D9", "E9")]

    edit(noted, out, *ops)

    (boxes,) = members(out, r"(?i)\.vml$").values()
    shapes = parse_xml(boxes).findall("{urn:schemas-microsoft-com:vml}shape")
    assert len(shapes) == 5


@pytest.mark.rule("F41.9", "F23.7")
def test_the_same_note_again_changes_nothing(noted, tmp_path):
    out = tmp_path / "out.xlsx"

    edit(noted, out, {"op": "set_note", "sheet": "S", "cell": "A1", "text": "about A1"})

    assert out.read_bytes() == noted.path.read_bytes()


@pytest.mark.rule("F41.8", "F41.12")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"cell": "A:A"}, "bad_range"),
        ({"cell": "A1:B2"}, "bad_range"),
        ({"cell": "XFE1"}, "bad_range"),
        ({"text": ""}, "bad_value"),
        ({"text": " \n"}, "bad_value"),
        ({"text": "x" * 32_768}, "too_large"),
        ({"author": ""}, "bad_value"),
        ({"author": "tc={1}"}, "bad_value"),
        ({"author": "x" * 55}, "bad_value"),
        ({"sheet": "Nowhere"}, "unknown_sheet"),
    ],
)
def test_notes_that_cannot_be_are_refused(sales, tmp_path, fields, reason):
    op = {"op": "set_note", "sheet": "Sales", "cell": "A1", "text": "x", **fields}
    assert refused(sales, tmp_path / "out.xlsx", op).reason == reason


@pytest.mark.rule("F41.8", "F16.12", "F17.5")
def test_long_notes_control_characters_edges_and_merged_cells(sales, tmp_path):
    out = tmp_path / "out.xlsx"

    done = edit(
        sales,
        out,
        {"op": "merge_cells", "sheet": "Sales", "range": "D1:E2"},
        {"op": "set_note", "sheet": "Sales", "cell": "E2", "text": "x\0y\r\nz"},
        {"op": "set_note", "sheet": "Sales", "cell": "XFD1048576", "text": "w" * 32_767},
    )

    assert {one.code for one in done.warnings} == {"control_chars_removed", "merged_redirect"}
    assert {one["cell"] for one in mapped(source(out))["sheets"][0]["notes"]} == {
        *("D1", "XFD1048576"),
    }
    vml = b"".join(members(out, r"\.vml$").values())
    corners = [[int(n) for n in a.split(b",")] for a in re.findall(rb"<x:Anchor>([^<]*)<", vml)]
    assert all(0 <= c[0] < c[4] < 16_384 and 0 <= c[2] < c[6] < 1_048_576 for c in corners)


@pytest.mark.rule("F41.12")
def test_a_thread_of_comments_is_neither_changed_nor_deleted(noted, tmp_path):
    path, out = tmp_path / "threaded.xlsx", tmp_path / "out.xlsx"
    with zipfile.ZipFile(noted.path) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if re.search(r"comment\w*\d\.xml$", name):
                data = data.replace(b"<author>Eve</author>", b"<author>tc={9-9}</author>")
            new.writestr(name, data)

    for op in ({"op": "set_note", "text": "x"}, {"op": "delete_note"}):
        error = refused(source(path), out, {"sheet": "S", "cell": "B2", **op})
        assert error.reason == "op_conflict"
    assert mapped(source(path))["sheets"][0]["notes"][1] == {
        **{"cell": "B2", "text": "about B2", "thread": True},
    }


@pytest.mark.rule("F41.13", "F41.17", "F23.10")
def test_protected_sheets_keep_their_notes_and_links(tmp_path):
    file = openpyxl.Workbook()
    sheet = file.active
    assert sheet is not None
    sheet["A1"] = 1
    sheet.protection.sheet = True
    sheet.protection.objects = True
    file.save(tmp_path / "locked.xlsx")
    made, out, on = source(tmp_path / "locked.xlsx"), tmp_path / "out.xlsx", {"sheet": "Sheet"}

    note = refused(made, out, {"op": "set_note", **on, "cell": "A1", "text": "x"})
    link = refused(made, out, {"op": "set_link", **on, "range": "A1", "target": "https://x.org"})

    assert (note.reason, link.reason) == ("sheet_protected", "sheet_protected")


# --- links --------------------------------------------------------------------------------------


@pytest.mark.rule("F41.14", "F41.15", "F41.18", "F8.14")
def test_links_come_change_and_go(sales, tmp_path):
    one, two = tmp_path / "one.xlsx", tmp_path / "two.xlsx"
    url = "https://example.org/a?b=1&c=2#part"

    added = edit(
        sales,
        one,
        {"op": "set_link", "sheet": "Sales", "range": "A2", "target": url, "tooltip": "go"},
        {"op": "set_link", "sheet": "Sales", "range": "A3:B3", "target": "'my costs'!A1:B2"},
        {"op": "set_link", "sheet": "Sales", "range": "D9", "target": "mailto:a@example.org"},
        {"op": "set_link", "sheet": "Sales", "range": "D1", "target": "B2", "text": "see"},
    )
    changed = edit(
        source(one),
        two,
        {"op": "rename_sheet", "sheet": "My costs", "new_name": "Costs"},
        {"op": "set_link", "sheet": "Sales", "range": "A2", "target": "https://other.org/"},
        {"op": "delete_link", "sheet": "Sales", "range": "A3"},
    )

    assert [one for one in told(added) if one[0] == "link"] == [
        ("link", "Sales!A2", "added", url),
        ("link", "Sales!A3:B3", "added", "#'My costs'!A1:B2"),
        ("link", "Sales!D1", "added", "#Sales!B2"),
        ("link", "Sales!D9", "added", "mailto:a@example.org"),
    ]
    assert added.effects.collateral == changed.effects.collateral == ()
    assert [one for one in told(changed) if one[0] == "link"] == [
        ("link", "Sales!A2", "changed", "https://other.org/"),
        ("link", "Sales!A3:B3", "removed", ""),
        ("link", "Sales!B3", "added", "#Costs!A1:B2"),
    ]
    cells = opened(one)["Sales"]
    assert (cells["A2"].hyperlink.target, cells["A2"].hyperlink.location) == tuple(url.split("#"))
    assert cells["A2"].hyperlink.tooltip == "go"
    assert (cells["A2"].value, cells["D9"].value, cells["D1"].value) == (
        *("North", "mailto:a@example.org", "see"),
    )
    assert mapped(source(two))["sheets"][0]["links"] == [
        {"range": "D1", "target": "Sales!B2"},
        {"range": "A2", "target": "https://other.org/"},
        {"range": "B3", "target": "Costs!A1:B2"},
        {"range": "D9", "target": "mailto:a@example.org"},
    ]
    rels = b"".join(members(two, r"worksheets/_rels/sheet1").values())
    assert b"example.org/a" not in rels


@pytest.mark.rule("F41.16", "F24.4")
@pytest.mark.parametrize(
    "target",
    [
        *("javascript:alert(1)", " JavaScript:alert(1)", "vbscript:x", "data:text/html,x"),
        *("file:///etc/passwd", "file:x", "\\\\host\\share", "//host/share", "ftp://host/x"),
        *("C:\\x.exe", "ms-word:ofe|u|http://x", "smb://host", "#javascript:alert(1)"),
    ],
)
def test_links_to_other_programs_files_and_hosts_of_the_house_are_refused(sales, tmp_path, target):
    op = {"op": "set_link", "sheet": "Sales", "range": "A1", "target": target}
    error = refused(sales, tmp_path / "out.xlsx", op)
    assert error.reason in ("unsafe_link", "bad_value")
    assert error.reason == "unsafe_link" or target.startswith("#")


@pytest.mark.rule("F41.16", "F41.15")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"target": "https://" + "x" * 2_076}, "bad_value"),
        ({"target": "https://x.org/a b"}, "bad_value"),
        ({"target": "https://good.org\\@evil.org"}, "bad_value"),
        ({"target": "https://x.org/\u202efdp"}, "bad_value"),
        ({"target": "https://"}, "bad_value"),
        ({"target": "https://[::1"}, "bad_value"),
        ({"target": "mailto:"}, "bad_value"),
        ({"target": "Nowhere!A1"}, "unknown_sheet"),
        ({"target": "NoSuchName"}, "bad_value"),
        ({"target": "[b.xlsx]S!A1"}, "bad_value"),
        ({"target": ""}, "bad_value"),
        ({"tooltip": "x" * 256}, "bad_value"),
        ({"text": "x" * 32_768}, "too_large"),
        ({"range": "A0"}, "bad_range"),
    ],
)
def test_links_that_cannot_be_are_refused(sales, tmp_path, fields, reason):
    op = {"op": "set_link", "sheet": "Sales", "range": "A1", "target": "https://x.org", **fields}
    assert refused(sales, tmp_path / "out.xlsx", op).reason == reason


@pytest.mark.rule("F41.15", "F41.17")
def test_a_link_over_whole_columns_and_as_many_links_as_a_sheet_takes(sales, tmp_path):
    out, full = tmp_path / "out.xlsx", tmp_path / "full.xlsx"
    op = {"op": "set_link", "sheet": "Sales", "range": "A:A", "target": "https://x.org/"}
    done = edit(sales, out, op)
    assert ("link", "Sales!A1:A1048576", "added", "https://x.org/") in told(done)
    sheet = members(sales.path, r"sheet1\.xml$")["xl/worksheets/sheet1.xml"]
    refs = b"".join(b'<hyperlink ref="D%d" location="A1"/>' % n for n in range(1, 65_531))
    with zipfile.ZipFile(sales.path) as old, zipfile.ZipFile(full, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if data == sheet:
                data = data.replace(
                    b"<pageMargins", b"<hyperlinks>" + refs + b"</hyperlinks><pageMargins"
                )
            new.writestr(name, data)

    assert refused(source(full), tmp_path / "no.xlsx", {**op, "range": "F1"}).reason == "too_large"
    edit(source(full), tmp_path / "yes.xlsx", {**op, "range": "D7"})


# --- number formats by name ---------------------------------------------------------------------


@pytest.mark.rule("F18.4")
@pytest.mark.parametrize(
    ("name", "code"),
    [
        *(("percent", "0%"), ("percent1", "0.0%"), ("Number", "#,##0.00"), ("number0", "#,##0")),
        *(("integer", "0"), ("decimal3", "0.000"), ("date", "yyyy-mm-dd"), ("text", "@")),
        *(("currency_eur", '#,##0.00\\ "€"'), ("currency-usd0", '"$"#,##0')),
        *(("currency_jpy", '"¥"#,##0'), ("duration", "[h]:mm:ss"), ("scientific", "0.00E+00")),
        ("accounting", '_-* #,##0.00_-;-* #,##0.00_-;_-* "-"??_-;_-@_-'),
        *(("General", "General"), ("mmm yyyy", "mmm yyyy"), ("0.0;[Red]-0.0", "0.0;[Red]-0.0")),
    ],
)
def test_a_number_format_has_a_name_or_is_a_code(sales, tmp_path, name, code):
    out = tmp_path / "out.xlsx"
    style = {"number_format": name}

    edit(sales, out, {"op": "set_style", "sheet": "Sales", "range": "B2", "style": style})

    assert opened(out)["Sales"]["B2"].number_format == code


@pytest.mark.rule("F18.4")
@pytest.mark.parametrize(
    "given",
    [
        *(
            "percnt",
            "currency",
            "currency_xyz",
            "money",
            "percent12",
            '0.00"x',
            "[Red0",
            "0;0;0;0;0",
        ),
        *("0.00 EUR", "x" * 300),
    ],
)
def test_a_number_format_that_excel_would_not_take_is_refused_or_left_out(sales, tmp_path, given):
    out = tmp_path / "out.xlsx"
    op = {"op": "set_style", "sheet": "Sales", "range": "B2", "style": {"number_format": given}}
    if len(given) > 255:
        assert edit(sales, out, op).warnings[0].code == "style_value_ignored"
        return
    error = refused(sales, out, op)
    assert error.reason == "bad_value"
    assert "currency_eur" in error.hints[0]


@pytest.mark.rule("F18.4")
def test_every_name_stands_for_a_code():
    codes = {name: format_code(name) for name in NAMES}
    assert all(code is not None and is_code(code) and code != name for name, code in codes.items())


@pytest.mark.rule("F16.14")
def test_only_the_parts_that_are_said_to_change_do(sales, tmp_path):
    out = tmp_path / "out.xlsx"
    done = edit(sales, out, {"op": "set_note", "sheet": "Sales", "cell": "A1", "text": "x"})
    assert differing(sales.path, out) == set(done.changed_parts)

from __future__ import annotations

import zipfile

import pytest
import xlsxwriter

from backshop.formats import FormatError, xlsx

from .books import book, edit, lines, mapped, sheet_of, source


def sheet_map(path_source, index=0):
    return mapped(path_source)["sheets"][index]


@pytest.mark.rule("F8.2", "F8.4", "F8.5", "F8.6", "F32.5")
def test_a_title_above_a_table_does_not_hide_the_tables_headers(tmp_path):
    found = sheet_map(
        book(
            tmp_path / "a.xlsx",
            (
                "Ledger",
                [["Bank report"], [], ["Date", "Payee", "Amount"], ["d", "x", 1], ["d", "y", 2]],
            ),
        )
    )

    assert found["islands"] == [
        {
            "range": "A1",
            "label": "header",
            "row_count": 1,
            "col_count": 1,
            "header_row": None,
            "headers": None,
        },
        {
            "range": "A3:C5",
            "label": "table",
            "row_count": 3,
            "col_count": 3,
            "header_row": 3,
            "headers": ["Date", "Payee", "Amount"],
        },
    ]


@pytest.mark.rule("F8.4", "F32.6")
def test_tables_side_by_side_are_two_islands(tmp_path):
    found = sheet_map(
        book(tmp_path / "a.xlsx", ("S", [["a", "b", None, "c", "d"], [1, 2, None, 3, 4]]))
    )

    assert [(i["range"], i["headers"]) for i in found["islands"]] == [
        ("A1:B2", ["a", "b"]),
        ("D1:E2", ["c", "d"]),
    ]


@pytest.mark.rule("F8.3", "F32.3")
def test_formatted_empty_cells_do_not_widen_the_used_range(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet()
        sheet.write(0, 0, "x")
        sheet.write_blank(1_048_575, 9, None, file.add_format({"bold": True}))

    found = sheet_map(source(path))

    assert found["used_range"] == {"min_row": 1, "max_row": 1, "min_col": 1, "max_col": 1}


@pytest.mark.rule("F4.7", "F32.4")
def test_a_huge_declared_dimension_is_only_a_hint(tmp_path):
    made = book(tmp_path / "a.xlsx", ("S", [[1]]))
    lying = tmp_path / "b.xlsx"
    with zipfile.ZipFile(made.path) as old, zipfile.ZipFile(lying, "w") as new:
        for info in old.infolist():
            data = old.read(info).replace(
                b'<dimension ref="A1"/>', b'<dimension ref="A1:XFD1048576"/>'
            )
            new.writestr(info, data)

    assert sheet_map(source(lying))["row_count"] == 1


@pytest.mark.rule("F8.2", "F32.7")
def test_the_map_tells_hidden_sheets_merges_panes_and_names(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        first = file.add_worksheet("One")
        first.write_row(0, 0, ["h1", "h2"])
        first.write_row(1, 0, [1, 2])
        first.merge_range("D1:E1", "wide")
        first.freeze_panes(1, 0)
        first.write_formula("A3", "=A2*2", None, 2)
        first.write_comment("A1", "hello")
        first.data_validation("B2", {"validate": "integer", "criteria": ">", "value": 0})
        first.conditional_format("A1:A9", {"type": "data_bar"})
        chart = file.add_chart({"type": "bar"})
        chart.add_series({"values": "=One!$A$2:$A$3"})
        first.insert_chart("H1", chart)
        first.add_table(
            "A20:B22", {"name": "Prices", "columns": [{"header": "x"}, {"header": "y"}]}
        )
        second = file.add_worksheet("Two")
        second.hide()
        file.define_name("Total", "=One!$A$3")

    found = mapped(source(path))

    one, two = found["sheets"]
    assert (two["state"], two["used_range"], two["islands"]) == ("hidden", None, [])
    assert one["merged_ranges"] == ["D1:E1"]
    assert one["frozen"] == {"row": 1, "column": 0}
    assert one["charts"] == [
        {
            "number": 1,
            "name": "Chart 1",
            "at": "H1:O15",
            "type": "bar",
            "title": None,
            "series": [{"values": "One!$A$2:$A$3"}],
            "refs": ["One!$A$2:$A$3"],
        }
    ]
    assert (one["formula_count"], one["uncached_formula_count"]) == (1, 0)
    flags = ("has_comments", "has_data_validation", "has_conditional_formatting", "has_charts")
    assert all(one[flag] for flag in flags)
    assert one["tables"] == [{"name": "Prices", "range": "A20:B22"}]
    assert found["defined_names"] == [{"name": "Total", "refers_to": "One!$A$3"}]


@pytest.mark.rule("F8.7", "F5.8", "F32.90")
@pytest.mark.rule("F8.15", "F4.8")
def test_the_map_tells_hidden_rows_and_columns_together(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        first = file.add_worksheet("One")
        for row in range(60):
            first.write_row(row, 0, [row, row])
        for row in (7, 9, 10, 11):
            first.set_row(row, None, None, {"hidden": True})
        first.set_column("B:C", None, None, {"hidden": True})
        many = file.add_worksheet("Many")
        for row in range(0, 60, 2):
            many.set_row(row, None, None, {"hidden": True})
        file.add_worksheet("Plain")

    found = mapped(source(path))

    one, many, plain = found["sheets"]
    assert (one["hidden_rows"], one["hidden_columns"]) == (["8", "10-12"], ["B-C"])
    assert len(many["hidden_rows"]) == 20
    assert found["shortened"] == {"sheets[1].hidden_rows": {"kept": 20, "total": 30}}
    assert not {"hidden_rows", "hidden_columns"} & plain.keys()


def test_many_chunks_are_told_by_arithmetic_alone(tmp_path):
    short = sheet_map(book(tmp_path / "a.xlsx", ("S", [[n] for n in range(111)])))
    long = sheet_map(book(tmp_path / "b.xlsx", ("S", [[n] for n in range(2001)])))

    assert short["chunks"][2] == {"index": 2, "range": "A101:A111", "rows": 11}
    assert long["chunks"] is None
    assert long["chunking"] == {"unit": "rows", "size": 50, "count": 41, "origin": 1}


@pytest.mark.rule("F8.12")
def test_info_lists_the_sheets(tmp_path):
    made = book(tmp_path / "a.xlsx", ("S", [[1, 2], [3, 4]]), ("Empty", []))

    assert xlsx.get_info(made) == {
        "sheets": [
            {"name": "S", "row_count": 2, "col_count": 2, "state": "visible"},
            {"name": "Empty", "row_count": 0, "col_count": 0, "state": "visible"},
        ]
    }


@pytest.mark.rule("F8.4")
def test_more_than_fifty_islands_are_counted_not_listed(tmp_path):
    rows = [[n] if n % 2 == 0 else [] for n in range(140)]
    found = mapped(book(tmp_path / "a.xlsx", ("S", rows)))

    assert len(found["sheets"][0]["islands"]) == 50
    assert found["shortened"] == {"sheets[0].islands": {"kept": 50, "total": 70}}


@pytest.mark.rule("F3", "F8.1")
def test_a_large_sheet_that_is_no_xml_somewhere_is_found_by_its_map(tmp_path):
    made = book(tmp_path / "a.xlsx", ("S", [["x" * 300]] * 20_000))
    broken = tmp_path / "b.xlsx"
    with zipfile.ZipFile(made.path) as old, zipfile.ZipFile(broken, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == "xl/worksheets/sheet1.xml":
                data = data.replace(b'<row r="9000"', b'<row oops r="9000"')
                data += b"<!--" + b"." * 5_000_000 + b"-->"
            new.writestr(info, data)

    with pytest.raises(FormatError) as caught:
        mapped(source(broken))

    assert caught.value.reason == "corrupt_file"


@pytest.mark.rule("F8.3", "F17")
def test_rows_without_cells_are_no_damage_however_they_are_written(tmp_path):
    for rows in ('<row r="1"></row>', '<row r="1">\n</row>\n', '<row r="1"/>'):
        assert mapped(sheet_of(tmp_path / "a.xlsx", rows))["sheets"][0]["used_range"] is None
    heights = {"op": "set_row_heights", "sheet": "S", "rows": [{"row": 3, "height": 20}]}
    out = tmp_path / "b.xlsx"

    edit(source(tmp_path / "a.xlsx"), out, heights)
    edit(source(out), tmp_path / "c.xlsx", {"op": "append_rows", "sheet": "S", "values": [[7]]})

    assert mapped(source(out))["sheets"][0]["used_range"] is None
    assert lines(tmp_path / "c.xlsx") == ["1\t7"]


@pytest.mark.rule("F3", "F8.3")
@pytest.mark.parametrize("number", ["0", "1048577", "5000000", "9" * 20])
def test_a_row_beyond_the_sheet_is_damage_whatever_stands_before_it(tmp_path, number):
    cell = '<row r="{0}"><c r="A{0}"><v>1</v></c></row>'
    made = sheet_of(tmp_path / "a.xlsx", cell.format(1) + cell.format(number))

    with pytest.raises(FormatError) as caught:
        xlsx.get_map(made)

    assert caught.value.reason == "corrupt_file"

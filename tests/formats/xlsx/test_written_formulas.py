"""Formulas that are written: done right, or refused with the right form in the answer."""

from __future__ import annotations

import re

import pytest
import xlsxwriter
from tests.formats.xlsx.books import book, edit, lines, members, source

from backshop.formats.errors import FormatError
from backshop.formats.package.package import Package
from backshop.formats.warning import Warnings
from backshop.formats.xlsx.book.cell_xml import Content
from backshop.formats.xlsx.book.workbook import Book
from backshop.formats.xlsx.edit.formula_fit import fitted
from backshop.formats.xlsx.edit.session import Session
from backshop.formats.xlsx.syntax import formula

FOLDERS = ("xlsx-features", "ooxml-odd", "office-fixtures")
LINKED = "SUM('[link-external-workbook-a.xlsx]Sheet0'!A1:B1)"


@pytest.fixture
def made(tmp_path):
    return book(tmp_path / "a.xlsx", ("S", [[n] for n in range(1, 6)]), ("Data", [["x"]]))


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.xlsx"


def write(made, out, formula, cell="C1", **more):
    wish = {"cell": cell, "value": formula, **more}
    return edit(made, out, {"op": "set_cells", "sheet": "S", "cells": [wish]})


def stored(out, cell="C1", part="xl/worksheets/sheet1.xml"):
    """The formula element of a cell, as it stands in the file, and its mark."""
    raw = members(out)[part][0].decode()
    found = re.search(rf'<c r="{cell}"([^>]*)>(<f[^>]*>[^<]*</f>)', raw)
    assert found, raw
    return found[2], "cm=" in found[1]


def refusal(made, out, formula, **more):
    with pytest.raises(FormatError) as caught:
        write(made, out, formula, **more)
    assert not out.exists()
    return caught.value


@pytest.mark.rule("F24.13")
@pytest.mark.parametrize(
    "formula",
    [
        "=SUM(IF(A1:A5>2,A1:A5,0))",
        "=MAX(IF(A1:A5>2,A1:A5))",
        "=SUM(A1:A5*2)",
        "=SUM((A1:A5)*2)",
        "=SUM(COUNTIF(A1:A5,A1:A5))",
        "=INDEX(A1:A5,MATCH(1,(A1:A5=3)*(A1:A5>1),0))",
        "=SUMPRODUCT(IF(A1:A5>2,1,0))",
        "=MIN(ABS(A1:A5-3))",
        "=SUM(LEN(A1:A5))",
        "=SUM(ROW(A1:A5)*1)",
    ],
)
def test_a_formula_that_goes_through_a_range_is_stored_as_an_array_formula(made, out, formula):
    done = write(made, out, formula)

    element, marked = stored(out)
    assert element.startswith('<f t="array" ref="C1">')
    assert marked
    assert [(w.code, w.where) for w in done.warnings] == [("array_formula", "S!C1")]
    assert done.effects.collateral == ()


@pytest.mark.rule("F24.13")
@pytest.mark.parametrize(
    "formula",
    [
        "=SUMPRODUCT((A1:A5>2)*A1:A5)",
        '=SUMPRODUCT(--(LEFT(A1:A5)="1"))',
        "=SUM(LARGE(A1:A5,{1,2}))",
        "=LOOKUP(2,1/(A1:A5<3),A1:A5)",
        "=VLOOKUP(A1,A1:A5,1,0)",
        "=IF(A1>1,SUM(A:A),COUNTIF(A:A,A1))",
        "=RANK(A1,A1:A5)",
        "=SUM((A1:A2,A4:A5))",
        "=ROWS(A1:A5)+COLUMNS(A1:A5)",
    ],
)
def test_a_formula_that_needs_no_array_stays_a_plain_formula(made, out, formula):
    done = write(made, out, formula)

    assert stored(out) == (f"<f>{formula[1:].replace('>', '&gt;').replace('<', '&lt;')}</f>", False)
    assert done.warnings == ()


@pytest.mark.rule("F24.13")
@pytest.mark.parametrize(
    "formula",
    [
        "=A1:A5*2",
        "=LEN(A1:A5)",
        "=A1:A5",
        "=IF(A1:A5>2,1,0)",
        "=IF(A1>0,A1:A5,0)",
        "=CHOOSE(1,A1:A5,2)",
        "=IFS(A1>0,A1:A5)",
    ],
)
def test_a_formula_of_several_values_is_refused_with_both_right_forms(made, out, formula):
    error = refusal(made, out, formula)

    assert error.reason == "bad_value"
    assert error.hints[0].startswith("@A1:A5")
    assert f'"value": "{formula}", "type": "array_formula"' in error.hints[1]


BLOCK = [["a", 1, 10], ["b", 2, 20], ["c", 3, 30]]


@pytest.mark.rule("F24.13")
@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ('=XLOOKUP("b",A1:A3,A1:C3)', ["b\t2\t20"]),
        ('=IFERROR(XLOOKUP("z",A1:A3,A1:C3),"none")', ["none"]),
        ("=IF(B1=1,INDEX(A1:C3,2,0),0)", ["b\t2\t20"]),
        ("=INDEX(A1:C3,0,2)*2", ["2", "4", "6"]),
        ("=OFFSET(A1,1,1,2,2)", ["2\t20", "3\t30"]),
        ("=OFFSET(A1:A2,1,1)", ["2", "3"]),
        ('=INDIRECT("B1:B"&2)', ["1", "2"]),
        ("=B1:INDEX(B1:B3,2)", ["1", "2"]),
        ("={1,2;3,4}", ["1\t2", "3\t4"]),
        ("=LARGE(B1:B3,{1,2})", ["3\t2"]),
        ("=ROW(A1:A2)", ["1", "2"]),
        ("=LET(x,{1,2},x*2)", ["2\t4"]),
    ],
)
def test_what_gives_a_row_or_a_block_spills(tmp_path, out, formula, shown):
    write(book(tmp_path / "a.xlsx", ("S", BLOCK)), out, formula, cell="E1")

    assert stored(out, "E1")[0].startswith('<f t="array" ref="E1')
    assert stored(out, "E1")[1]
    found = [line.partition("\t")[2] for line in lines(out, range="E1:H9")]
    assert [line for line in found if line] == shown


@pytest.mark.rule("F24.13")
@pytest.mark.parametrize(
    "formula",
    [
        '=XLOOKUP("b",A1:A3,C1:C3)',
        "=INDEX(A1:C3,2,3)",
        "=INDEX(A1:C3,B1,B2)",
        "=INDEX(C1:C3,B1)",
        "=OFFSET(A1,1,1)",
        "=OFFSET(A1,1,1,1,1)",
        '=INDIRECT("B"&2)',
        "=SUM(INDEX(A1:C3,0,2))",
        "=A1:C3 B2",
        "=@INDEX(B1:B3,0)",
    ],
)
def test_what_gives_one_cell_stays_a_plain_formula(tmp_path, out, formula):
    done = write(book(tmp_path / "a.xlsx", ("S", BLOCK)), out, formula, cell="E1")

    assert stored(out, "E1")[0].startswith("<f>")
    assert done.warnings == ()


@pytest.mark.rule("F17.1", "F24.13")
def test_array_formulas_are_written_when_they_are_asked_for(made, out, tmp_path):
    write(made, out, "=SUM(A1:A5*2)", type="array_formula")
    assert stored(out) == ('<f t="array" ref="C1">SUM(A1:A5*2)</f>', False)

    write(made, out, "{=A1:A5*2}", cell="C1:C5", type="array_formula")
    assert stored(out) == ('<f t="array" ref="C1:C5">A1:A5*2</f>', False)

    with pytest.raises(FormatError) as caught:
        write(source(out), tmp_path / "x.xlsx", 1, cell="C3")
    assert caught.value.reason == "op_conflict"

    again = write(source(out), tmp_path / "y.xlsx", "=A1:A5*2", "C1:C5", type="array_formula")
    assert again.changed_parts == ()


@pytest.mark.rule("F24.12")
@pytest.mark.parametrize(
    ("formula", "reason", "hint"),
    [
        ("=IF(A1>1;A2,A3)", "bad_value", "=IF(A1>1,A2,A3)"),
        ("=RUNDEN(1,5)", "bad_value", "ROUND"),
        ("=R1C1+1", "bad_value", "R2C3 is $C$2"),
        ("=SUM(RC[-2]:RC[-1])", "bad_value", "RC[-1] is the cell to the left"),
        ("=WEBDIENST(A1)", "bad_value", None),
        ("=Daat!A1", "unknown_sheet", "Data"),
        ("={1,2;3}", "bad_value", None),
        ("={A1,2}", "bad_value", None),
        ("=PI(3)", "bad_value", None),
        ("=ROUND(A1)", "bad_value", None),
        ("=SUMM(A1:A5)", "bad_value", "SUM"),
        ("=Foo(1)", "bad_value", None),
        ("=Undefined*2", "bad_value", None),
        ("=Nothing[Column]", "bad_value", None),
        ("=[@Amount]*2", "bad_value", None),
        ("=(A1)(2)", "bad_value", None),
        ("=(SUM(A1))(2)", "bad_value", None),
        ("=LET(x,[y],x)", "bad_value", None),
        ("=LET(x,1,X,2,x)", "bad_value", None),
        ("=LAMBDA(x,[x],x)(1)", "bad_value", None),
        ("=LAMBDA([y z],1)(2)", "bad_value", None),
        ("=SUM(Nosheet!A1:.A5)", "unknown_sheet", None),
        ("=A1:.", "bad_value", None),
        ("=USDOLLAR()", "bad_value", None),
    ],
)
def test_an_invalid_formula_is_refused_with_the_right_form(made, out, formula, reason, hint):
    error = refusal(made, out, formula)

    assert error.reason == reason
    assert hint is None or hint in error.hints


@pytest.mark.rule("F24.17")
@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("=SUM(A1;A5)", "SUM(A1,A5)"),
        ('=IF(A1>1;"a;,";"b")', 'IF(A1&gt;1,"a;,","b")'),
        ("=SUMME(A1:A5)", "SUM(A1:A5)"),
        ("=wenn(A1>1,5;2;WAHR)", "IF(A1&gt;1.5,2,TRUE)"),
        ("=A1*1,5", "A1*1.5"),
        ("=(A1+0,25)*2", "(A1+0.25)*2"),
        ("=SUM({1\\2;3\\4})", "SUM({1,2;3,4})"),
        ("=SUM({1,5\\2})", "SUM({1.5,2})"),
        ('=SOMME.SI(A1:A5;">5")', 'SUMIF(A1:A5,"&gt;5")'),
        ("=SVERWEIS(A1;A1:A5;1;FALSCH)", "VLOOKUP(A1,A1:A5,1,FALSE)"),
        ("=XVERWEIS(A1,A1:A5,A1:A5)", "_xlfn.XLOOKUP(A1,A1:A5,A1:A5)"),
        ("=RUNDEN(A1,2)", "ROUND(A1,2)"),
    ],
)
def test_a_formula_of_another_country_is_corrected_and_told(made, out, formula, text):
    done = write(made, out, formula)

    assert stored(out)[0] == f"<f>{text}</f>"
    (warning,) = done.warnings
    assert warning.code == "formula_corrected"
    assert done.extra["recalculated"]["not_computed"] == 0


@pytest.mark.rule("F24.17")
@pytest.mark.parametrize(
    "formula",
    [
        "=ROUND(A1*1,5)",
        "=LAMBDA(x,y,x+y)(3,4)",
        "=LET(si,2,si*A1)",
        "=LET(si,LAMBDA(x,x+1),si(2))",
        '=A1&"1,5;SUMME("',
    ],
)
def test_a_formula_that_means_something_as_it_is_stays(made, out, formula):
    done = write(made, out, formula)

    assert done.warnings == ()


@pytest.mark.rule("F24.17", "F24.4")
def test_a_name_of_the_workbook_is_no_word_of_another_language(tmp_path, out):
    path = tmp_path / "n.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        file.add_worksheet("S").write(0, 0, 4)
        file.define_name("Summe", "=_xlfn.LAMBDA(_xlpm.x,_xlpm.x*3)")
        file.define_name("Wahr", "=S!$A$1")

    done = write(source(path), out, "=Summe(Wahr)")

    assert stored(out)[0] == "<f>SUMME(Wahr)</f>"
    assert done.warnings == ()
    assert lines(out, range="C1") == ["1\t12"]


@pytest.mark.rule("F24.1", "F24.12")
@pytest.mark.parametrize(
    ("formula", "text", "is_array"),
    [
        ("=A1#", "_xlfn.ANCHORARRAY(A1)", True),
        ("=SUM(A1#)", "SUM(_xlfn.ANCHORARRAY(A1))", True),
        ("=@A1", "A1", False),
        ("=@A1:A5*2", "A1:A5*2", False),
        ("=SUM(@A1:A5,A1:A5*2)", "SUM(_xlfn.SINGLE(A1:A5),A1:A5*2)", True),
        ("=LAMBDA(x,x+1)(3)", "_xlfn.LAMBDA(_xlpm.x,_xlpm.x+1)(3)", False),
        (
            "=LET(f,LAMBDA(x,x+1),f(2))",
            "_xlfn.LET(_xlpm.f,_xlfn.LAMBDA(_xlpm.x,_xlpm.x+1),_xlpm.f(2))",
            False,
        ),
        ("=(LAMBDA(x,x+1))(3)", "(_xlfn.LAMBDA(_xlpm.x,_xlpm.x+1))(3)", False),
        ("=((LAMBDA(x,x+1)))(3)", "((_xlfn.LAMBDA(_xlpm.x,_xlpm.x+1)))(3)", False),
        (
            "=LAMBDA(x, [y], IF(ISOMITTED(y),x,y))(3)",
            "_xlfn.LAMBDA(_xlpm.x, _xlop.y, IF(_xlfn.ISOMITTED(_xlpm.y),_xlpm.x,_xlpm.y))(3)",
            False,
        ),
        ("=A1:.A5", "_xlfn._TRO_TRAILING(A1:A5)", True),
        ("=SUM(A1.:A5)", "SUM(_xlfn._TRO_LEADING(A1:A5))", True),
        ("=SUM(Data!$A.:.$A)", "SUM(_xlfn._TRO_ALL(Data!$A:$A))", True),
        ("=ROWS('Data'!1:.2)", "ROWS(_xlfn._TRO_TRAILING('Data'!1:2))", True),
        ('=LEN("A1:.A5")', 'LEN("A1:.A5")', False),
        ("=USDOLLAR(A1,2)", "USDOLLAR(A1,2)", False),
        ("=NUMBERSTRING(A1,1)&DATESTRING(A1)", "NUMBERSTRING(A1,1)&amp;DATESTRING(A1)", False),
        ("=THAIDIGIT(THAINUMSTRING(A1))", "THAIDIGIT(THAINUMSTRING(A1))", False),
        ("=LET(r,A1:A5,SUM(r*2))", "_xlfn.LET(_xlpm.r,A1:A5,SUM(_xlpm.r*2))", True),
        ("=TRANSPOSE(A1:A5)", "TRANSPOSE(A1:A5)", True),
        ("=IF(A1,,TRUE())", "IF(A1,,TRUE())", False),
    ],
)
def test_a_valid_formula_is_stored_the_way_excel_stores_it(made, out, formula, text, is_array):
    write(made, out, formula)

    element, marked = stored(out)
    spread = re.sub(r'ref="C1:[A-Z0-9]+"', 'ref="C1"', element)
    assert spread == (f'<f t="array" ref="C1">{text}</f>' if is_array else f"<f>{text}</f>")
    assert marked == is_array


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        columns = [{"header": "Item"}, {"header": "Net Amount"}, {"header": "Gross"}]
        rows = [["a", 1, 2], ["b", 2, 4]]
        sheet.add_table("A1:C3", {"name": "Ledger", "columns": columns, "data": rows})
        file.define_name("Rate", "=S!$B$2")
        file.define_name("Sales", "=S!$B$2:$B$3")
    return source(path)


@pytest.mark.rule("F24.12")
def test_references_to_tables_are_stored_with_the_name_of_the_table(table, out):
    wishes = {
        "C2": ("=[@[Net Amount]]*2", "Ledger[[#This Row],[Net Amount]]*2"),
        "C3": ("=Ledger[@Item]", "Ledger[[#This Row],[Item]]"),
        "E1": ("=SUM(Ledger[Gross])", "SUM(Ledger[Gross])"),
        "E2": ("=Rate*2", "Rate*2"),
        "E3": (
            "=SUM(Ledger)+SUM(Ledger[[#All],[Item]:[Gross]])",
            "SUM(Ledger)+SUM(Ledger[[#All],[Item]:[Gross]])",
        ),
    }
    cells = [{"cell": at, "value": given} for at, (given, _) in wishes.items()]

    edit(table, out, {"op": "set_cells", "sheet": "S", "cells": cells})

    assert {at: stored(out, at)[0] for at in wishes} == {
        at: f"<f>{text}</f>" for at, (_, text) in wishes.items()
    }
    assert refusal(table, out.with_name("x"), "=SUM(Ledger[Grss])", cell="E1").hints[0] == "Gross"
    error = refusal(table, out.with_name("x"), "=Sales*2", cell="E1")
    assert error.hints[0].startswith("@Sales")


@pytest.mark.rule("F24.12", "F17")
def test_a_formula_may_name_a_sheet_that_a_later_operation_makes(made, out):
    name = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "C1", "value": "=New!A1+1"}]}
    fill = {"op": "set_cells", "sheet": "New", "cells": [{"cell": "A1", "value": 4}]}

    edit(made, out, name, {"op": "ensure_sheet", "sheet": "New"}, fill)

    assert lines(out, sheet="S")[0] == "1\t1\t\t5"


@pytest.mark.rule("F24.12")
@pytest.mark.needs("corpora")
def test_no_formula_of_a_real_workbook_is_refused_when_it_is_written_again(corpora):
    refused, count = [], 0
    files = [p for name in FOLDERS for p in (corpora / name).rglob("*.xlsx")]
    for path in sorted(files):
        try:
            session = Session(Book(Package.open(source(path))), Warnings())
            cells = [
                (sheet, cell, session.book.formula(cell, xml) or "")
                for sheet in session.book.sheets
                if (xml := session.book.xml(sheet)) is not None and xml.has_formulas
                for cell in xml.formula_cells()
            ]
        except FormatError:
            continue
        for sheet, cell, text in cells:
            if not text:
                continue
            count += 1
            raw = cell.formula
            array = "fixed" if raw is not None and raw.kind == "array" else ""
            try:
                new = Content("formula", formula.stored("=" + text, "x"), 0, array)
                edit_ = session.edit(sheet.name, "x")
                fitted(session, edit_, (cell.row, cell.col), new, "x")
                session.check_sheets()
            except FormatError as error:
                refused.append((path.name, text, error.reason))

    assert refused == [
        ("link-external-workbook-b.xlsx", LINKED, "unsafe_formula"),
    ]
    assert count > 2000


@pytest.mark.rule("F24.13")
@pytest.mark.parametrize(
    "formula",
    [
        "=SUM(ROW(A1:A5))",
        '=SUM(LARGE(A1:A5,ROW(INDIRECT("1:3"))))',
        "=SUM(OFFSET(A1,0,0,5,1)*2)",
        "=SUM(INDEX(A1:B5,0,1)*2)",
        "=SUM(A1:INDEX(A:A,5)*2)",
    ],
)
def test_a_range_that_a_function_leads_to_is_gone_through_as_any_other(made, out, formula):
    write(made, out, formula)

    element, is_marked = stored(out)
    assert 't="array"' in element
    assert is_marked


@pytest.mark.rule("F24.13")
@pytest.mark.parametrize(
    "formula",
    [
        "=SUM(OFFSET(A1,0,0,5,1))",
        "=OFFSET(A1,1,0)*2",
        "=OFFSET(A1,1,0,1,1)*2",
        '=INDIRECT("A"&amp;2)*2',
        "=INDEX(A1:B1,0,2)*2",
        "=INDEX(A1:A5,2,0)*2",
        "=SUM(A1:INDEX(A:A,5))",
    ],
)
def test_a_function_that_leads_to_one_cell_makes_no_array_formula(made, out, formula):
    write(made, out, formula.replace("&amp;", "&"))

    assert stored(out) == (f"<f>{formula[1:]}</f>", False)


@pytest.mark.rule("F24.12")
def test_the_sign_for_one_cell_is_kept_where_a_range_may_stand(made, out):
    write(made, out, "=SUM(@A1:A5)")

    assert stored(out) == ("<f>SUM(_xlfn.SINGLE(A1:A5))</f>", False)


@pytest.mark.rule("F24.9")
def test_a_whole_column_that_index_gives_is_computed_as_the_cell_of_the_same_row(made, out):
    write(made, out, "=@INDEX(A1:A5,)", cell="C3")

    assert stored(out, "C3") == ("<f>INDEX(A1:A5,)</f>", False)
    assert lines(out, range="C3") == ["3\t3"]


@pytest.mark.rule("F23.8")
def test_a_formula_follows_a_sheet_that_a_later_operation_renames_or_deletes(made, out):
    wish = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "C1", "value": "=Data!A1"}]}

    edit(made, out, wish, {"op": "rename_sheet", "sheet": "Data", "new_name": "New"})
    assert stored(out)[0] == "<f>New!A1</f>"

    edit(made, out, wish, {"op": "delete_sheet", "sheet": "Data"})
    assert stored(out)[0] == "<f>#REF!</f>"


@pytest.mark.rule("F24.13")
@pytest.mark.parametrize("cells", ["B2:B3", "C3:E3", "A3:A5"])
def test_an_array_formula_over_several_cells_of_a_table_is_refused(table, out, cells):
    error = refusal(table, out, "=ROW(A1:A2)", cell=cells, type="array_formula")

    assert error.reason == "op_conflict"
    assert "lies in the table Ledger (A1:C3)" in str(error)


@pytest.mark.rule("F24.13")
@pytest.mark.parametrize("cells", ["C2", "E2:E3"])
def test_an_array_formula_of_one_cell_or_beside_a_table_is_written(table, out, cells):
    write(table, out, "=SUM(B2:B3*2)", cell=cells, type="array_formula")

    assert stored(out, cell=cells.partition(":")[0])[0].startswith('<f t="array"')

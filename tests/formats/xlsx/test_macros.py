"""Workbooks with macros: edited like any other, the macros left to the bit (F40.1-F40.6)."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from backshop.formats import Formats, xlsx
from backshop.formats.errors import FormatError
from backshop.formats.protocol import OpsRequest, Selector, Source

from .books import differing, edit, mapped, members, source

TYPES = "[Content_Types].xml"
MAIN = "application/vnd.ms-excel.sheet.macroEnabled.main+xml"
MACROS = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 the code of macros, which nobody looks into"
XLM = (
    b'<?xml version="1.0"?><xm:macrosheet xmlns:xm="http://schemas.microsoft.com/office/excel/2006/'
    b'main" xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    b'<row r="1"><c r="A1"><f>ACTIVATE("Costs")+Costs!A1</f></c></row></sheetData></xm:macrosheet>'
)


@pytest.fixture
def macros(tmp_path: Path) -> Source:
    """Two sheets with a formula between them, a signed VBA project, a button that runs it."""
    path, code, seal = (tmp_path / name for name in ("a.xlsm", "code.bin", "seal.bin"))
    code.write_bytes(MACROS)
    seal.write_bytes(b"signature of the macros")
    with xlsxwriter.Workbook(str(path)) as made:
        made.add_signed_vba_project(str(code), str(seal))
        sales, costs = made.add_worksheet("Sales"), made.add_worksheet("Costs")
        sales.write_row(0, 0, ["Name", "Amount"])
        sales.write_row(1, 0, ["x", 5])
        sales.write_formula("C2", "=Costs!A1*2", None, 14)
        sales.insert_button("E1", {"macro": "Run", "caption": "Run"})
        costs.write(0, 0, 7)
    return source(path)


def with_parts(base: Source, name: str, parts: dict[str, bytes]) -> Source:
    """Return a workbook with parts put in the place of its own, or beside them."""
    path = base.path.with_name(name)
    with zipfile.ZipFile(base.path) as old, zipfile.ZipFile(path, "w") as new:
        for one in old.namelist():
            new.writestr(one, parts.pop(one, old.read(one)))
        for one, data in parts.items():
            new.writestr(one, data)
    return source(path)


@pytest.fixture
def macro_sheet(macros: Source) -> Source:
    """The same with an old macro sheet, whose formulas name a sheet."""
    with zipfile.ZipFile(macros.path) as old:
        book, rels = old.read("xl/workbook.xml"), old.read("xl/_rels/workbook.xml.rels")
        types = old.read(TYPES)
    kind = b"http://schemas.microsoft.com/office/2006/relationships/xlMacrosheet"
    rel = b'<Relationship Id="rId99" Type="%s" Target="macrosheets/sheet1.xml"/>' % kind
    line = (
        b'<Override PartName="/xl/macrosheets/sheet1.xml" '
        b'ContentType="application/vnd.ms-excel.macrosheet+xml"/>'
    )
    parts = {
        "xl/workbook.xml": book.replace(
            b"</sheets>", b'<sheet name="Macro1" sheetId="99" r:id="rId99"/></sheets>'
        ),
        "xl/_rels/workbook.xml.rels": rels.replace(b"</Relationships>", rel + b"</Relationships>"),
        TYPES: types.replace(b"</Types>", line + b"</Types>"),
        "xl/macrosheets/sheet1.xml": XLM,
    }
    return with_parts(macros, "sheet.xlsm", parts)


def change(value: object = 6) -> dict[str, Any]:
    return {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "B2", "value": value}]}


def refused(act: Any) -> FormatError:
    with pytest.raises(FormatError) as caught:
        act()
    return caught.value


@pytest.mark.rule("F40.1", "F40.2", "F23.1", "F16.14")
def test_a_workbook_with_macros_is_edited_and_they_stay_to_the_bit(macros, tmp_path):
    done = edit(macros, tmp_path / "b.xlsm", change(), {"op": "ensure_sheet", "sheet": "New"})

    before, after = members(macros.path), members(tmp_path / "b.xlsm")
    kept = {name for name in before if "vba" in name or "drawing" in name.lower()}
    assert {"xl/vbaProject.bin", "xl/vbaProjectSignature.bin", "xl/drawings/vmlDrawing1.vml"} < kept
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert MAIN.encode() in after[TYPES][0]
    assert b'codeName="' in after["xl/workbook.xml"][0]
    assert differing(macros.path, tmp_path / "b.xlsm") == set(done.changed_parts)
    assert done.effects.collateral == ()
    assert done.to_json()["macros"] == "kept as they were, not run"
    assert mapped(source(tmp_path / "b.xlsm"))["security"]["macros"] is True


@pytest.mark.rule("F40.1", "F23.9")
def test_macros_under_a_name_without_them_and_signed_packages_are_not_edited(macros, tmp_path):
    disguised = with_parts(macros, "plain.xlsx", {})
    signed = with_parts(macros, "signed.xlsm", {"_xmlsignatures/sig1.xml": b"<s/>"})

    reasons = [
        refused(lambda one=one: edit(one, tmp_path / one.name.replace(".", "2."), change())).reason
        for one in (disguised, signed)
    ]

    assert reasons == ["macro_enabled_read_only", "signed_document"]


@pytest.mark.rule("F40.6", "F16.2")
def test_what_a_new_workbook_is_called_must_be_true_of_it(macros, tmp_path):
    def copied(name: str) -> Any:
        request = OpsRequest(name=name, operations=[change()], copy_from=macros)
        return xlsx.apply_ops(None, request, tmp_path / name)

    assert copied("copy.xlsm").created
    assert refused(lambda: copied("copy.xlsx")).reason == "unsupported_format"
    for name in ("new.xlsm", "new.xltm", "new.xltx"):
        request = OpsRequest(name=name, operations=[change()], create_new=True)
        found = refused(lambda request=request, name=name: xlsx.apply_ops(None, request, tmp_path))
        assert (found.reason, ".xlsx" in found.hints[0]) == ("unsupported_format", True)


@pytest.mark.rule("F40.4", "F3.3")
def test_renaming_and_deleting_a_sheet_says_that_macros_may_name_it(macros, tmp_path):
    renamed = edit(macros, tmp_path / "b.xlsm", _rename("Costs", "Spent"))
    deleted = edit(macros, tmp_path / "c.xlsm", {"op": "delete_sheet", "sheet": "Costs"})

    said = [
        [one.where for one in done.warnings if one.code == "macros_may_name_sheet"]
        for done in (renamed, deleted)
    ]
    assert said == [
        [
            "Sheet Costs is called Spent now. Macros of the workbook may still speak of Costs: "
            "they were not looked at"
        ],
        [
            "Sheet Costs is gone. Macros of the workbook may still speak of Costs: they were not "
            "looked at"
        ],
    ]
    assert xlsx.read(source(tmp_path / "b.xlsm"), Selector(cells="both")).text.endswith(
        "2\tx\t5\t14 {=Spent!A1*2}"
    )


def _rename(old: str, new: str) -> dict[str, Any]:
    return {"op": "rename_sheet", "sheet": old, "new_name": new}


@pytest.mark.rule("F40.2", "F24.12", "F24.9")
def test_a_function_of_macros_is_kept_where_it_is_and_may_be_used_again(macros, tmp_path):
    def formula(text: str, cell: str = "D2") -> dict[str, Any]:
        return {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": cell, "value": text}]}

    with zipfile.ZipFile(macros.path) as old:
        sheet = old.read("xl/worksheets/sheet1.xml")
    sheet = sheet.replace(b"<f>Costs!A1*2</f>", b"<f>Taxed(Costs!A1)</f>")
    using = with_parts(macros, "udf.xlsm", {"xl/worksheets/sheet1.xml": sheet})

    done = edit(using, tmp_path / "b.xlsm", formula("=Taxed(B2)+1"))

    assert xlsx.read(source(tmp_path / "b.xlsm"), Selector(cells="both")).text.endswith(
        "2\tx\t5\t14 {=Taxed(Costs!A1)}\t{=TAXED(B2)+1}"
    )
    recalculated: Any = done.to_json()["recalculated"]
    assert recalculated["reasons"] == {"unknown_function": 1}
    for other in ("=Taxes(B2)", "=Untaxed(B2)"):
        found = refused(lambda other=other: edit(using, tmp_path / "c.xlsm", formula(other)))
        assert found.reason == "bad_value"


@pytest.mark.rule("F40.3")
def test_a_macro_sheet_is_listed_and_never_changed(macro_sheet, tmp_path):
    sheets = mapped(macro_sheet)["sheets"]
    assert [(one["name"], one["kind"]) for one in sheets][-1] == ("Macro1", "macrosheet")

    for op in (
        {**change(), "sheet": "Macro1"},
        _rename("Macro1", "Other"),
        {"op": "delete_sheet", "sheet": "Macro1"},
    ):
        found = refused(lambda op=op: edit(macro_sheet, tmp_path / "b.xlsm", op))
        assert found.reason == "macro_enabled_read_only"

    done = edit(macro_sheet, tmp_path / "c.xlsm", change(), _rename("Costs", "Spent"))
    part = "xl/macrosheets/sheet1.xml"
    assert members(tmp_path / "c.xlsm")[part] == members(macro_sheet.path)[part]
    assert done.effects.collateral == ()


@pytest.mark.rule("F40.5", "F34.30")
def test_changes_beside_macros_are_taken_one_by_one_and_the_review_says_they_are_there(
    macros, tmp_path
):
    out = tmp_path / "b.xlsm"
    edit(macros, out, change(), {**change("y"), "cells": [{"cell": "A2", "value": "y"}]})
    after = source(out)

    with Formats(workers=1) as formats:
        units = formats.separate(macros, after)
        left = frozenset({units[0].id})
        formats.compose(macros, after, left, tmp_path / "c.xlsm")
        notes = formats.review_notes(macros, after)
        alone = formats.review_notes(None, after)

    assert sorted(unit.label for unit in units) == ["Sales!A2", "Sales!B2"]
    made, old = members(tmp_path / "c.xlsm"), members(macros.path)
    assert made["xl/vbaProject.bin"] == old["xl/vbaProject.bin"]
    assert notes == ["The workbook has macros. They were not run, and they are as they were."]
    assert alone == ["The workbook has macros. They were not run."]


@pytest.mark.rule("F40.5")
def test_macros_that_differ_are_one_change_and_are_told_as_such(macros):
    changed = with_parts(macros, "b.xlsm", {"xl/vbaProject.bin": MACROS + b"!"})

    with Formats(workers=1) as formats:
        units = formats.separate(macros, changed)
        notes = formats.review_notes(macros, changed)
        rest: Any = formats.diff_rest(macros, changed)["rest"]

    assert [unit.kind for unit in units] == ["part"]
    assert notes == ["The workbook has macros, and they are not as they were. They were not run."]
    assert [one["text"].split(":")[0] for one in rest] == ["macros"]

"""Operation sheets: true to the formats, short, and every example works."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pptx import Presentation
from pptx.util import Inches

from backshop.formats import FormatError, OpsRequest, operation_sheet
from backshop.formats import docx as docx_format
from backshop.formats import pptx as pptx_format
from backshop.formats import xlsx as xlsx_format
from backshop.formats.capability import SPECS
from backshop.formats.docx.edit import schema as docx
from backshop.formats.operation_example import EXAMPLES
from backshop.formats.operation_guide import explained
from backshop.formats.pptx import schema as pptx
from backshop.formats.write import style as words
from backshop.formats.write.operation import decode
from backshop.formats.xlsx.book.stylesheet import LOOK_FIELDS

from .office import source

OPERATIONS = [(kind, spec.name) for kind, specs in SPECS.items() for spec in specs]
SHEET_MAX_BYTES = 3_584
MODULES: dict[str, Any] = {"xlsx": xlsx_format, "docx": docx_format, "pptx": pptx_format}
START: dict[str, list[dict[str, Any]]] = {
    "xlsx": [
        {"op": "ensure_sheet", "sheet": "Sales"},
        {
            "op": "set_range",
            "sheet": "Sales",
            "start": "A1",
            "values": [["Region", "Orders", "Price"], ["North", 3, 2.5], ["South", 4, 1]],
        },
        {"op": "merge_cells", "sheet": "Sales", "range": "I1:J1"},
        {"op": "ensure_sheet", "sheet": "Costs"},
        {
            "op": "set_range",
            "sheet": "Costs",
            "start": "A1",
            "values": [["Item", "Cost"], ["Rent", 5], ["Rent", 5]],
        },
        {"op": "ensure_sheet", "sheet": "Plan"},
        {"op": "set_range", "sheet": "Plan", "start": "A1", "values": [["North", 3], ["South", 4]]},
        {"op": "ensure_sheet", "sheet": "Books"},
        {"op": "set_range", "sheet": "Books", "start": "A1", "values": [["Day", "Sum"], [1, 5]]},
        {"op": "add_table", "sheet": "Books", "range": "A1:B2", "name": "Ledger"},
        {"op": "set_name", "name": "Total", "refers_to": "Plan!B1:B2"},
        {"op": "set_note", "sheet": "Plan", "cell": "B1", "text": "Without tax."},
        {"op": "set_link", "sheet": "Plan", "range": "A1", "target": "https://example.org/"},
        {
            "op": "add_chart",
            "sheet": "Sales",
            "cell": "E40",
            "kind": "column",
            "data": "Plan!A1:B2",
        },
        {"op": "add_conditional_format", "sheet": "Sales", "range": "B2:B3", "kind": "duplicate"},
        {
            "op": "set_validation",
            "sheet": "Costs",
            "range": "A2:A9",
            "kind": "list",
            "values": ["Rent"],
        },
    ],
    "docx": [
        {
            "op": "set_paragraphs",
            "paragraphs": [{"text": "Results", "style": "Heading 1"}, "Sales were good."],
        },
        {"op": "append_table", "rows": [["Region", "Sales"], ["North", "120"]]},
    ],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """A workbook, a document and a deck that have what the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    made = {kind: folder / f"start.{kind}" for kind in MODULES}
    for kind, operations in START.items():
        request = OpsRequest(name=f"start.{kind}", operations=operations, create_new=True)
        MODULES[kind].apply_ops(None, request, made[kind])
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[0]).shapes.title.text = "Board"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text, second.placeholders[1].text = "Figures", "Sales rose"
    third = deck.slides.add_slide(deck.slide_layouts[5])
    third.shapes.title.text = "Table"
    third.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1))
    deck.save(str(made["pptx"]))
    return made


@pytest.mark.rule("W7.11")
@pytest.mark.parametrize(("kind", "op"), OPERATIONS)
def test_the_example_of_an_operation_works_as_it_stands(files, tmp_path, kind, op):
    tool, call = operation_sheet(kind, op).splitlines()[-1].removeprefix("Example: ").split(" ", 1)
    asked = json.loads(call)
    logo = tmp_path / "logo.png"
    Image.new("RGB", (40, 20), "navy").save(logo)
    request = OpsRequest(
        name=asked["path"], operations=asked["operations"], files={"logo.png": source(logo)}
    )

    done = MODULES[kind].apply_ops(source(files[kind]), request, tmp_path / asked["path"])

    assert tool == f"{kind}_operations"
    assert [one["op"] for one in asked["operations"]] == [op]
    assert (done.ops_applied, done.warnings) == (1, ())
    assert done.changed_parts


@pytest.mark.rule("W7.11", "B15.10", "B15.11")
@pytest.mark.parametrize(
    ("kind", "styles"),
    [
        ("xlsx", LOOK_FIELDS),
        ("docx", (*docx.RUN_STYLE, *docx.PARAGRAPH_STYLE)),
        ("pptx", (*pptx.RUN_STYLE, *pptx.PARAGRAPH_STYLE)),
    ],
)
def test_a_sheet_names_every_operation_and_field_and_is_short(kind, styles):
    text = operation_sheet(kind)
    signatures = dict(re.findall(r"^- (\w+)\((.*?)\)", text, re.MULTILINE))

    everyday = [spec for spec in SPECS[kind] if not spec.topic]
    assert list(signatures) == [spec.name for spec in everyday]
    assert {spec.name for spec in SPECS[kind]} == set(EXAMPLES[kind])
    for spec in SPECS[kind]:
        if spec.topic:
            assert re.search(rf"^- {spec.topic}: .*\b{spec.name}\b", text, re.MULTILINE)
    for spec in everyday:
        shown = re.findall(r"(\w+)(\??)", re.sub(r"=\w+", "", signatures[spec.name]))
        told = {name: not mark for name, mark in shown if name not in {"paragraph"}}
        needed = {arg.name for arg in spec.args if arg.required}
        assert {name for name, must in told.items() if must and name != "style"} <= needed
        assert needed <= {name for name, must in told.items() if must}
        assert {arg.name for arg in spec.args} <= set(told) | set(styles)
        for arg in spec.args:
            assert arg.default is not False or f"{arg.name}?=false" in signatures[spec.name]
    assert set(styles) <= set(re.findall(r"\w+", text))
    assert len(text.encode()) <= SHEET_MAX_BYTES
    assert all(len(operation_sheet(kind, op).encode()) < len(text.encode()) for op in signatures)


@pytest.mark.rule("B15.10")
def test_a_sheet_says_every_fill_pattern():
    said = re.search(
        r"fill_pattern: (.*), or light or dark followed by (.*);", operation_sheet("xlsx")
    )

    assert said is not None
    both = [f"{shade}{kind}" for kind in said[2].split() for shade in ("light", "dark")]
    assert {*said[1].split(), *both} == set(words.FILL_PATTERNS)


@pytest.mark.rule("W7.11")
def test_what_has_no_sheet_is_answered_with_what_has_one():
    with pytest.raises(FormatError) as no_kind:
        operation_sheet("pdf")
    with pytest.raises(FormatError) as no_op:
        operation_sheet("pptx", "add_slides")

    assert (no_kind.value.reason, no_kind.value.hints) == (
        "unsupported_format",
        ("xlsx", "docx", "pptx"),
    )
    assert (no_op.value.reason, no_op.value.hints[0]) == ("unknown_op", "add_slide")


@pytest.mark.rule("W7.13")
@pytest.mark.parametrize(
    ("name", "asked", "meant"),
    [
        ("deck.pptx", "delete_shape", None),  # not the slide it stands on
        ("deck.pptx", "update_slide", "set_slide_text"),
        ("deck.pptx", "duplicate_slide", "add_slide"),
        ("deck.pptx", "delte_slide", "delete_slide"),
        ("deck.pptx", "delete", None),
        ("book.xlsx", "clear_sheet", None),
        ("book.xlsx", "clear_cells", "clear_range"),
        ("book.xlsx", "remove_filter", None),
        ("book.xlsx", "remove_chart", "delete_drawing"),
        ("book.xlsx", "delete_comment", "delete_note"),
        ("text.docx", "delete_section", None),
        ("text.docx", "delete_row", "delete_table_rows"),
        ("text.docx", "replace", "replace_text"),
    ],
)
def test_no_operation_is_suggested_that_takes_away_what_nobody_named(name, asked, meant):
    operations = [{"op": asked}]
    with pytest.raises(FormatError) as refused:
        decode(operations, SPECS[name[-4:]])

    told = explained(refused.value, name, operations)

    assert told.reason == "unknown_op"
    assert (f"did you mean {meant}?" in str(told.detail)) is (meant is not None)
    assert ("did you mean" in str(told.detail)) is (meant is not None)
    assert (told.hints == refused.value.hints) is (meant is None)  # no sheet beside the names


@pytest.mark.rule("W7.11")
def test_several_operations_are_told_at_once_each_with_its_example():
    text = operation_sheet("xlsx", "set_cells, merge_cells")

    assert re.findall(r"^- (\w+)\(", text, re.MULTILINE) == ["set_cells", "merge_cells"]
    assert text.count("Example: xlsx_operations") == 2
    assert text.count("- font_size: ") == 1
    with pytest.raises(FormatError, match="merge_cell'"):
        operation_sheet("xlsx", "set_cells,merge_cell")

"""What lies inside operations: every field of every object and list, missing, extra or of a wrong
type. The table of examples is held against the registry, so that no field is forgotten."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from PIL import Image

from backshop.formats import FormatError, OpsRequest
from backshop.formats import docx as docx_format
from backshop.formats import pptx as pptx_format
from backshop.formats import xlsx as xlsx_format
from backshop.formats.docx.edit import schema as docx_schema
from backshop.formats.pptx import schema as pptx_schema
from backshop.formats.write.operation import Arg, OpSpec
from backshop.formats.xlsx.book.stylesheet import LOOK_FIELDS
from backshop.formats.xlsx.edit import cell_operation, cell_value, sheet_operation
from backshop.formats.xlsx.edit import operation as xlsx_ops
from backshop.formats.xlsx.edit.arrangement import sort_key
from backshop.formats.xlsx.edit.drawing import chart_data
from backshop.formats.xlsx.edit.table import table_operation, totals

from . import test_office_fields
from .office import a_document_and_a_deck, source
from .xlsx import test_every_field
from .xlsx.books import book

MODULES: dict[str, Any] = {"docx": docx_format, "pptx": pptx_format, "xlsx": xlsx_format}
SPECS = {"docx": docx_schema.SPECS, "pptx": pptx_schema.SPECS, "xlsx": xlsx_ops.SPECS}
Path_ = tuple[str | int, ...]


def looks(*names: str) -> tuple[Arg, ...]:
    return tuple(Arg(name, object) for name in names)


DOCX_RUN = (Arg("text", str, required=True), *looks(*docx_schema.RUN_STYLE))
PPTX_RUN = (Arg("text", str, required=True), *looks(*pptx_schema.RUN_STYLE))
P = {"text": "a"}
CELL = {"row": 0, "column": 0, "text": "a"}


class Inside(NamedTuple):
    """An object inside an operation, and the fields it may have."""

    kind: str
    op: dict[str, Any]
    path: Path_
    args: tuple[Arg, ...]

    @property
    def where(self) -> str:
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return "operations[0]" + "".join(steps)

    def with_item(self, change: Any) -> dict[str, Any]:
        """Return the operation with `change` made of the object."""
        made = copy.deepcopy(self.op)
        holder: Any = made
        for step in self.path[:-1]:
            holder = holder[step]
        holder[self.path[-1]] = change(holder[self.path[-1]])
        return made


def op(name: str, **fields: Any) -> dict[str, Any]:
    return {"op": name, **fields}


OBJECTS = [
    Inside("docx", op("set_paragraphs", paragraphs=[P]), ("paragraphs", 0), docx_schema.PARAGRAPH),
    Inside(
        "docx",
        op("insert_paragraphs", anchor={"paragraph": 0}, paragraphs=[P]),
        ("paragraphs", 0),
        docx_schema.PARAGRAPH,
    ),
    Inside(
        "docx",
        op("insert_paragraphs", anchor={"paragraph": 0}, paragraphs=[P]),
        ("anchor",),
        docx_schema.ANCHOR,
    ),
    Inside(
        "docx",
        op("replace_section", section="One", paragraphs=[P]),
        ("paragraphs", 0),
        docx_schema.PARAGRAPH,
    ),
    Inside("docx", op("append_paragraph", runs=[P]), ("runs", 0), DOCX_RUN),
    Inside(
        "docx", op("append_table", rows=[["a"]], anchor={"text": "One"}), ("anchor",),
        docx_schema.ANCHOR,
    ),
    Inside("docx", op("set_table_cells", table=0, cells=[CELL]), ("cells", 0), docx_schema.CELL),
    Inside(
        "docx",
        op("set_table_cells", table=0, cells=[{"row": 0, "column": 0, "runs": [P]}]),
        ("cells", 0, "runs", 0),
        DOCX_RUN,
    ),
    *(
        Inside("pptx", op(name, index=0, **{field: [P]}), (field, 0), PPTX_RUN)
        for name in ("add_slide", "set_slide_text")
        for field in ("title_runs", "body_runs")
    ),
    Inside("pptx", op("append_bullets", index=0, bullets=[P]), ("bullets", 0), pptx_schema.BULLET),
    Inside(
        "pptx", op("set_table_cells", index=1, shape=0, cells=[CELL]), ("cells", 0),
        pptx_schema.CELL,
    ),
    Inside(
        "xlsx", op("set_cells", sheet="S", cells=[{"cell": "A1", "value": 1}]), ("cells", 0),
        cell_operation.CELL_ARGS,
    ),
    Inside(
        "xlsx", op("set_column_widths", sheet="S", columns=[{"column": "A", "width": 9}]),
        ("columns", 0), sheet_operation.COLUMN_ARGS,
    ),
    Inside(
        "xlsx", op("set_row_heights", sheet="S", rows=[{"row": 1, "height": 9}]), ("rows", 0),
        sheet_operation.ROW_ARGS,
    ),
    Inside(
        "xlsx", op("set_style", sheet="S", range="A1", style={}), ("style",), looks(*LOOK_FIELDS)
    ),
    Inside(
        "xlsx", op("set_range", sheet="S", start="A1", values=[[1]], style={}), ("style",),
        looks(*LOOK_FIELDS),
    ),
    Inside(
        "xlsx", op("fill_formula", sheet="S", range="A1", formula="=1", style={}), ("style",),
        looks(*LOOK_FIELDS),
    ),
    Inside(
        "xlsx", op("append_rows", sheet="S", values=[[1]], style={}), ("style",),
        looks(*LOOK_FIELDS),
    ),
    Inside(
        "xlsx", op("set_cells", sheet="S", cells=[{"cell": "A1", "value": 1, "style": {}}]),
        ("cells", 0, "style"), looks(*LOOK_FIELDS),
    ),
    Inside(
        "xlsx", op("set_link", sheet="S", range="A1", target="https://example.org/", style={}),
        ("style",), looks(*LOOK_FIELDS),
    ),
    Inside(
        "xlsx", op("add_conditional_format", sheet="S", range="A1:B2", kind="duplicate",
                   style={"font_bold": True, "fill_color": "#FFC7CE"}), ("style",),
        looks(*LOOK_FIELDS),
    ),
    *(
        Inside("xlsx", op(name, sheet="S", series=[{"values": "B2:B2"}], **given), ("series", 0),
               chart_data.SERIES_ARGS)
        for name, given in (("add_chart", {"cell": "H2", "kind": "line"}),
                            ("change_chart", {"chart": 1}))
    ),
    Inside(
        "xlsx", op("sort_range", sheet="S", range="A1:B2", by=[{"column": "A"}]), ("by", 0),
        sort_key.KEY_ARGS,
    ),
    Inside(
        "xlsx", op("add_table", sheet="S", range="A1:B2", totals=[{"column": "n", "label": "x"}]),
        ("totals", 0), totals.TOTAL_ARGS,
    ),
    Inside(
        "xlsx", op("change_table", table="Known", totals=[{"column": "n", "label": "x"}]),
        ("totals", 0), totals.TOTAL_ARGS,
    ),
    Inside(
        "xlsx", op("change_table", table="Known", columns=[{"column": "n", "name": "x"}]),
        ("columns", 0), table_operation.COLUMN_NAME_ARGS,
    ),
]  # fmt: skip
LISTS: list[tuple[str, dict[str, Any], str, Any]] = [  # of values: what may not be in them
    ("docx", op("append_table", rows=[["a"]]), "rows", ["a", 5, {}, [5], [["a"]], [{}]]),
    ("docx", op("add_table_rows", table=0, rows=[["a"]]), "rows", ["a", 5, {}, [5], [["a"]]]),
    ("pptx", op("replace_text", search="One", replace="b", slides=[0]), "slides", ["a", 0.5, True]),
    ("xlsx", op("set_range", sheet="S", start="A1", values=[[1]]), "values", ["a", 5, {}, [[1]]]),
    ("xlsx", op("append_rows", sheet="S", values=[[1]]), "values", ["a", 5, {}, [[1]], [{}]]),
    ("xlsx", op("insert_rows", sheet="S", row=2, values=[[1]]), "values", ["a", 5, {}, [[1]]]),
    ("xlsx", op("insert_columns", sheet="S", column=2, values=[[1]]), "values", ["a", 5, {}, [{}]]),
    (
        "xlsx", op("add_table", sheet="S", range="A1:B2", columns=["a", "b"]), "columns",
        [5, {}, [], True],
    ),
    (
        "xlsx", op("remove_duplicates", sheet="S", range="A1:B2", columns=["A"]), "columns",
        [{}, [], True, 1.5],
    ),
    (
        "xlsx", op("set_range", sheet="S", start="A1", values=[[1]], types=["number"]), "types",
        [5, "numbr", {}, []],
    ),
    (
        "xlsx", op("append_rows", sheet="S", values=[[1]], types=["number"]), "types",
        [5, "numbr", {}, []],
    ),
    (
        "xlsx", op("insert_rows", sheet="S", row=2, values=[[1]], types=["number"]), "types",
        [5, "numbr", {}, []],
    ),
    (
        "xlsx", op("insert_columns", sheet="S", column=2, values=[[1]], types=["number"]), "types",
        [5, "numbr", {}, []],
    ),
    (
        "xlsx", op("add_conditional_format", sheet="S", range="B2", kind="icon_set",
                   icons="3Arrows", thresholds=["40%", "60%"]), "thresholds", [{}, [], True],
    ),
    (
        "xlsx", op("set_validation", sheet="S", range="A2", kind="list", values=["x"]), "values",
        [{}, [], ["x"]],
    ),
    (
        "xlsx", op("summarize_by_category", sheet="T", source_sheets=["S"], category_col="A",
                   amount_col="B"), "source_sheets", [5, {}, [], True],
    ),
]  # fmt: skip
FIELDS = [(one, arg) for one in OBJECTS for arg in one.args]
OTHER_TYPES: dict[type, list[Any]] = {
    str: [5, True, [], {}],
    int: ["5th", 1.5, True, [], {}],
    float: ["5 m", True, [], {}],
    list: ["a", 5, {"a": 1}],
    bool: [5, "perhaps"],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    book(folder / "bare.xlsx", ("S", [["k", "n"], ["x", 2]]), ("T", []), ("U", []))
    chart = op("add_chart", sheet="S", cell="H20", kind="line", data="A1:B2")
    table = op("add_table", sheet="U", range="F1:G2", columns=["k", "n"])
    table["name"] = "Known"
    ask = OpsRequest(name="a.xlsx", operations=[chart, table])
    xlsx_format.apply_ops(source(folder / "bare.xlsx"), ask, folder / "a.xlsx")
    Image.new("1", (2, 2)).save(folder / "dot.png")
    return {**a_document_and_a_deck(folder), "xlsx": folder / "a.xlsx"}


def apply(path: Path, operation: dict[str, Any]) -> Any:
    """Carry an operation out; what is refused leaves nothing behind."""
    out = path.with_name("out-" + path.name)
    out.unlink(missing_ok=True)
    files = {"dot.png": source(path.with_name("dot.png"))}
    ask = OpsRequest(name=path.name, operations=[operation], files=files)
    try:
        return MODULES[path.suffix[1:]].apply_ops(source(path), ask, out)
    except FormatError:
        assert not out.exists()
        raise


def refusal(path: Path, operation: dict[str, Any]) -> tuple[str | None, str]:
    with pytest.raises(FormatError) as caught:
        apply(path, operation)
    return caught.value.reason, (caught.value.detail or "").partition(":")[0]


def label(value: object) -> str:
    if isinstance(value, Inside):
        return f"{value.kind}-{value.op['op']}-{'.'.join(map(str, value.path))}"
    return value.name if isinstance(value, Arg | OpSpec) else str(value)


@pytest.mark.rule("F16.4")
def test_no_object_and_no_list_of_the_registry_is_forgotten():
    inside = {(one.kind, one.op["op"], one.path[0]) for one in OBJECTS}
    inside |= {(kind, operation["op"], field) for kind, operation, field, _ in LISTS}
    of_the_registry = {
        (kind, spec.name, arg.name)
        for kind, specs in SPECS.items()
        for spec in specs
        for arg in spec.args
        if arg.kind in (list, dict)
        or (kind == "xlsx" and arg.kind is object and arg.name in ("style", "totals"))
    }

    assert inside == of_the_registry


@pytest.mark.rule("F16.4", "F16.6", "F16.7")
@pytest.mark.parametrize("one", OBJECTS, ids=label)
def test_an_object_works_and_a_field_nobody_knows_is_refused(files, one):
    apply(files[one.kind], one.with_item(lambda item: {**item, "of_the_sky": None}))

    operation = one.with_item(lambda item: {**item, "of_the_sky": 1})
    assert refusal(files[one.kind], operation) == ("unknown_field", f"{one.where}.of_the_sky")


@pytest.mark.rule("F16.4")
@pytest.mark.parametrize("wrong", [5, True, 1.5, [1]], ids=str)
@pytest.mark.parametrize("one", OBJECTS, ids=label)
def test_something_else_than_an_object_is_refused(files, one, wrong):
    operation = one.with_item(lambda _: wrong)

    assert refusal(files[one.kind], operation) == ("bad_type", one.where)


@pytest.mark.rule("F16.4")
@pytest.mark.parametrize(
    ("one", "arg"), [(one, arg) for one, arg in FIELDS if arg.required], ids=label
)
def test_a_needed_field_of_an_object_that_is_missing_is_named(files, one, arg):
    for absent in (
        lambda item: {key: value for key, value in item.items() if key != arg.name},
        lambda item: {**item, arg.name: None},
    ):
        refused = refusal(files[one.kind], one.with_item(absent))
        assert refused == ("missing_field", f"{one.where}.{arg.name}")


def _is_object(one: Inside, arg: Arg) -> bool:
    return one.kind == "xlsx" and (arg.name == "style" or arg.name.startswith("border_"))


@pytest.mark.rule("F16.4", "F16.7")
@pytest.mark.parametrize(("one", "arg"), FIELDS, ids=label)
def test_a_field_of_an_object_of_a_wrong_type_is_named_or_as_a_look_left_out(files, one, arg):
    place = f"{one.where}.{arg.name}"

    def put(value: Any) -> dict[str, Any]:
        made: dict[str, Any] = one.with_item(lambda item: {**item, arg.name: value})
        return made

    if arg.kind is not object:
        for wrong in OTHER_TYPES[arg.kind]:
            assert refusal(files[one.kind], put(wrong)) == ("bad_type", place), wrong
    elif arg.name in {"value", "type", "column"} or _is_object(one, arg):
        reason, where = refusal(files[one.kind], put([1] if _is_object(one, arg) else {"a": [1]}))
        assert reason in {"bad_type", "bad_range", "unknown_column"}
        assert where == place
    else:
        noted = [(w.code, w.where) for w in apply(files[one.kind], put([["a"]])).warnings]
        assert noted == [("style_value_ignored", place)]


@pytest.mark.rule("F16.4")
@pytest.mark.parametrize(("kind", "operation", "field", "wrong"), LISTS, ids=str)
def test_a_value_in_a_list_that_cannot_be_is_named(files, kind, operation, field, wrong):
    apply(files[kind], operation)
    for item in wrong:
        reason, where = refusal(files[kind], {**operation, field: [item]})
        assert reason in {"bad_type", "bad_value"}, item
        assert where.startswith(f"operations[0].{field}[0]"), item


WHOLE = {
    "docx": test_office_fields.DOCX,
    "pptx": test_office_fields.PPTX,
    "xlsx": test_every_field.GOOD,
}
EXTREMES: dict[type, list[Any]] = {
    str: ["", "\0\ufffe", "\ud800", "9" * 5000, "x" * 40_000],
    int: [10**400, -(10**400)],
    float: [10**400, float("nan"), float("inf")],
    object: ["\0\ufffe", "9" * 5000, 10**400, float("nan")],
}


def carried_out_or_refused(path: Path, operation: dict[str, Any]) -> None:
    try:
        apply(path, operation)
    except FormatError as error:
        gone = {"NOT_FOUND"} if operation["op"] == "add_image" else set()  # the file it names
        assert error.code in {"VALIDATION_FAILED", "LIMIT_EXCEEDED", *gone}, error.reason


@pytest.mark.rule("F16.4", "F3", "F3.2")
@pytest.mark.parametrize(
    ("kind", "spec"), [(kind, spec) for kind in SPECS for spec in SPECS[kind]], ids=label
)
def test_no_value_of_a_field_makes_a_write_fail_otherwise_than_by_a_refusal(files, kind, spec):
    whole = {"op": spec.name, **WHOLE[kind][spec.name]}
    for arg in spec.args:
        for value in EXTREMES.get(arg.kind, []):
            carried_out_or_refused(files[kind], {**whole, arg.name: value})


@pytest.mark.rule("F16.4", "F3", "F3.2")
@pytest.mark.parametrize("one", OBJECTS, ids=label)
def test_nor_does_any_value_inside_an_object(files, one):
    for arg in one.args:
        for value in EXTREMES.get(arg.kind, []):
            put = one.with_item(lambda item, n=arg.name, v=value: {**item, n: v})
            carried_out_or_refused(files[one.kind], put)


@pytest.mark.rule("F17.1", "F3")
@pytest.mark.parametrize("kind", cell_value.TYPES)
def test_nor_does_any_value_of_a_cell_of_any_type(files, kind):
    texts = ["9" * 5000, "-1e999", "0" * 30 + "12", "9999-12-31T23:59:59.999999", "\0", "=", "=\0"]
    for value in [*texts, "\u0661", True, 10**400, float("nan"), 1e308, 5e-324, -0.0]:
        cells = [{"cell": "A1", "value": value, "type": kind}]
        carried_out_or_refused(files["xlsx"], op("set_cells", sheet="S", cells=cells))

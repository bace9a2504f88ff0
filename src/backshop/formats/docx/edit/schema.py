"""The operations of documents and the shapes of their paragraphs and runs (F19)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from backshop.base import limits as numbers
from backshop.formats.protocol import Json, JsonObject, Op
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import (
    Arg,
    Decoded,
    OpSpec,
    RunSpec,
    as_list,
    decode,
    item_fields,
    problem,
    read_runs,
    strip_controls,
)
from backshop.formats.write.unoffered import of_documents

PARAGRAPH_STYLE = (
    *("style", "alignment", "space_before", "space_after", "line_spacing", "indent_left"),
    *("indent_right", "indent_first_line", "list", "level", "page_break_before"),
)
RUN_STYLE = (
    *("font_name", "font_size", "bold", "italic", "underline", "font_color", "highlight_color"),
    "hyperlink",
)
# Style values have any type here: a wrong one is left out with a warning, not refused (F16.7).
PARAGRAPH = (
    Arg("text", str),
    Arg("runs", list),
    *(Arg(name, object) for name in PARAGRAPH_STYLE),
)
CELL = (
    Arg("row", int, required=True),
    Arg("column", int, required=True),
    Arg("text", str),
    Arg("runs", list),
)
_COLUMNS_MAX = 63  # of a table that Word opens
ANCHOR = (Arg("paragraph", int), Arg("section", str), Arg("text", str), Arg("at", str))
_PLACES = {
    "paragraph": ("after", "before"),
    "section": ("end", "start"),
    "text": ("after", "before"),
}  # the first is the default

SPECS = (
    OpSpec("set_paragraphs", (Arg("paragraphs", list, required=True),)),
    OpSpec("append_paragraph", PARAGRAPH),
    OpSpec(
        "insert_paragraphs",
        (
            Arg("anchor", dict, required=True),
            Arg("paragraphs", list, required=True),
            Arg("copy_format", bool, default=True),
        ),
    ),
    OpSpec(
        "replace_section",
        (Arg("section", str, required=True), Arg("paragraphs", list, required=True)),
    ),
    OpSpec("delete_paragraphs", (Arg("from", int, required=True), Arg("to", int, required=True))),
    OpSpec(
        "replace_text",
        (
            Arg("search", str, required=True, aliases=("find", "text_to_find")),
            Arg("replace", str, required=True),
            Arg("match_case", bool, default=False),
            Arg("whole_word", bool, default=False),
            Arg("scope", str, default="all"),
            Arg("expect", int),
        ),
    ),
    OpSpec(
        "append_table",
        (
            Arg("rows", list, required=True),
            Arg("header", bool, default=True),
            Arg("style", object),
            Arg("column_widths", object),
            Arg("anchor", dict),
        ),
    ),
    OpSpec(
        "set_table_cells", (Arg("table", int, required=True), Arg("cells", list, required=True))
    ),
    OpSpec(
        "add_table_rows",
        (
            Arg("table", int, required=True),
            Arg("rows", list, required=True),
            Arg("at", int),
        ),
    ),
    OpSpec(
        "delete_table_rows",
        (
            Arg("table", int, required=True),
            Arg("from", int, required=True),
            Arg("to", int, required=True),
        ),
    ),
)
SCOPES = ("all", "body", "tables", "headers")


@dataclass(frozen=True, slots=True)
class ParagraphSpec:
    """A paragraph to write."""

    runs: tuple[RunSpec, ...]
    style: JsonObject
    where: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in the document: before or after a block, at the start or end of a section."""

    by: str  # paragraph, section, text
    value: int | str
    at: str
    where: str


@dataclass(frozen=True, slots=True)
class CellSpec:
    """The new content of a table cell."""

    row: int
    column: int
    runs: tuple[RunSpec, ...]
    where: str


@dataclass(frozen=True, slots=True)
class Edit:
    """An operation with its nested parts read as well."""

    op: Op
    paragraphs: tuple[ParagraphSpec, ...] = ()
    anchor: Anchor | None = None
    cells: tuple[CellSpec, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def read_edits(operations: Json, warnings: Warnings) -> list[Edit]:
    """Check every operation with all that is inside it, before any is applied (F16.4)."""
    decoded: Decoded = decode(operations, SPECS, of_documents)
    warnings.extend(decoded.warnings)
    edits = [_read_edit(op, warnings) for op in decoded.ops]
    written = sum(len(edit.paragraphs) + len(edit.rows) for edit in edits)
    if written > numbers.OPS_MAX_PARAGRAPHS:
        most = numbers.OPS_MAX_PARAGRAPHS
        raise problem("too_large", "operations", f"at most {most} paragraphs in one call")
    return edits


def _read_edit(op: Op, warnings: Warnings) -> Edit:
    args = op.args
    paragraphs: tuple[ParagraphSpec, ...] = ()
    if op.name == "append_paragraph":
        paragraphs = (_paragraph(args, op.where, warnings),)
    elif args.get("paragraphs") is not None:
        paragraphs = tuple(
            read_paragraph(item, f"{op.where}.paragraphs[{at}]", warnings)
            for at, item in enumerate(as_list(args["paragraphs"]))
        )
    anchor = args.get("anchor")
    cells = args.get("cells")
    rows = args.get("rows")
    _check_values(op)
    return Edit(
        op,
        paragraphs,
        _anchor(anchor, f"{op.where}.anchor", warnings) if isinstance(anchor, Mapping) else None,
        tuple(
            _cell(item, f"{op.where}.cells[{at}]", warnings)
            for at, item in enumerate(as_list(cells))
        )
        if cells is not None
        else (),
        _rows(op, as_list(rows), warnings) if rows is not None else (),
    )


def _check_values(op: Op) -> None:
    args = op.args
    if op.name == "replace_text":
        if args["search"] == "":
            raise problem("bad_value", f"{op.where}.search", "must not be empty")
        if args["scope"] not in SCOPES:
            raise problem("bad_value", f"{op.where}.scope", "is not a scope", SCOPES)
        expect = args["expect"]
        if isinstance(expect, int) and expect < 0:
            raise problem("bad_value", f"{op.where}.expect", "must not be negative")
        bounded(str(args["replace"]), f"{op.where}.replace")


def read_paragraph(item: Json, where: str, warnings: Warnings) -> ParagraphSpec:
    """Read a paragraph object; a plain string is one with only a text."""
    given: Json = {"text": item} if isinstance(item, str) else item
    return _paragraph(item_fields(given, PARAGRAPH, where, warnings), where, warnings)


def _paragraph(args: JsonObject, where: str, warnings: Warnings) -> ParagraphSpec:
    runs = _runs(args.get("text"), args.get("runs"), where, warnings)
    style = {name: args[name] for name in PARAGRAPH_STYLE if args.get(name) is not None}
    return ParagraphSpec(runs, style, where)


def _runs(text: Json, runs: Json, where: str, warnings: Warnings) -> tuple[RunSpec, ...]:
    """Read `runs`, or `text` as one run without a look of its own."""
    if runs is not None:
        return tuple(read_runs(runs, f"{where}.runs", partial(_clean, warnings)))
    if not isinstance(text, str):
        raise problem("missing_field", f"{where}.text", "text or runs is needed")
    return (RunSpec(_clean(warnings, text, where), {}, where),)


def _clean(warnings: Warnings, text: str, where: str) -> str:
    return bounded(strip_controls(text, warnings, where), where)


def bounded(text: str, where: str) -> str:
    """Return the text, or refuse one beyond the limit of F2.5."""
    if len(text) > numbers.WRITE_TEXT_MAX_BYTES:
        raise problem("too_large", where, "a text has at most 1 MiB")
    return text


def _anchor(given: Mapping[str, Json], where: str, warnings: Warnings) -> Anchor:
    args = item_fields(given, ANCHOR, where, warnings)
    chosen = [name for name in _PLACES if args[name] is not None]
    if not chosen:
        raise problem("missing_field", where, "needs one of paragraph, section, text", _PLACES)
    if len(chosen) > 1:
        raise problem("op_conflict", where, f"only one of {', '.join(chosen)} may be set")
    by = chosen[0]
    at = args["at"] or _PLACES[by][0]
    if at not in _PLACES[by]:
        raise problem("bad_value", f"{where}.at", f"is not a place by {by}", _PLACES[by])
    value = args[by]
    if value == "":
        raise problem("bad_value", f"{where}.{by}", "must not be empty")
    assert isinstance(value, int | str)
    return Anchor(by, value, str(at), where)


def _cell(item: Json, where: str, warnings: Warnings) -> CellSpec:
    args = item_fields(item, CELL, where, warnings)
    row, column = args["row"], args["column"]
    assert isinstance(row, int)
    assert isinstance(column, int)
    return CellSpec(row, column, _runs(args["text"], args["runs"], where, warnings), where)


def _rows(op: Op, rows: Sequence[Json], warnings: Warnings) -> tuple[tuple[str, ...], ...]:
    where = f"{op.where}.rows"
    if not rows:
        raise problem("bad_value", where, "at least one row is needed")
    found = []
    for at, row in enumerate(rows):
        if not isinstance(row, Sequence) or isinstance(row, str):
            raise problem("bad_type", f"{where}[{at}]", "a row is a list of texts")
        if op.name == "append_table" and len(row) > _COLUMNS_MAX:
            raise problem("bad_value", f"{where}[{at}]", f"at most {_COLUMNS_MAX} columns")
        cells = []
        for column, value in enumerate(row):
            if value is not None and not isinstance(value, str):
                raise problem("bad_type", f"{where}[{at}][{column}]", "must be text")
            place = f"{where}[{at}][{column}]"
            cells.append(_clean(warnings, value or "", place))
        found.append(tuple(cells))
    return tuple(found)

"""The operations of presentations and the shapes of their runs, bullets and cells (F20)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backshop.base import limits as numbers
from backshop.formats.protocol import Json, JsonObject, Op
from backshop.formats.warning import Warnings
from backshop.formats.write import style as looks
from backshop.formats.write.operation import (
    Arg,
    OpSpec,
    RunSpec,
    as_list,
    decode,
    item_fields,
    problem,
    read_as,
    read_runs,
    strip_controls,
)
from backshop.formats.write.unoffered import of_slides

PARAGRAPH_STYLE = ("alignment", "space_before", "space_after", "line_spacing")
RUN_STYLE = (
    *("font_name", "font_size", "bold", "italic", "underline", "font_color", "highlight_color"),
)
FONT_SIZE = looks.number(1, 4000)  # points
_PARAGRAPH = tuple(Arg(name, object) for name in PARAGRAPH_STYLE)
_TEXTS = (
    Arg("title", str),
    Arg("title_runs", list),
    Arg("body", str),
    Arg("body_runs", list),
    *_PARAGRAPH,
)
_INDEX = Arg("index", int, required=True, also=("slide_index",))
CELL = (
    Arg("row", int, required=True),
    Arg("column", int, required=True),
    Arg("text", str, required=True),
)
BULLET = (Arg("text", str, required=True), Arg("level", int))
MAX_LEVEL = 8

SPECS = (
    OpSpec(
        "add_slide",
        (
            Arg("layout", str, default="title_and_content"),
            *_TEXTS,
            Arg("index", int, also=("slide_index",)),
            Arg("notes", str),
        ),
    ),
    OpSpec("set_slide_text", (_INDEX, *_TEXTS, Arg("placeholder", int))),
    OpSpec(
        "append_bullets",
        (_INDEX, Arg("bullets", list, required=True), *_PARAGRAPH, Arg("placeholder", int)),
    ),
    OpSpec(
        "replace_text",
        (
            Arg("search", str, required=True, aliases=("find", "text_to_find")),
            Arg("replace", str, required=True),
            Arg("match_case", bool, default=False),
            Arg("whole_word", bool, default=False),
            Arg("slides", list),
            Arg("expect", int),
        ),
    ),
    OpSpec(
        "set_table_cells",
        (_INDEX, Arg("shape", int, required=True), Arg("cells", list, required=True)),
    ),
    OpSpec("set_notes", (_INDEX, Arg("notes", str, required=True))),
    OpSpec("move_slide", (_INDEX, Arg("to", int, required=True))),
    OpSpec("delete_slide", (_INDEX,)),
    OpSpec("set_hidden", (_INDEX, Arg("hidden", bool, required=True))),
)


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph to write: its level and its runs."""

    level: int
    runs: tuple[RunSpec, ...]

    @property
    def text(self) -> str:
        """The text of the whole line."""
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True, slots=True)
class Text:
    """What a placeholder is to say; `styled` when runs were given."""

    lines: tuple[Line, ...]
    styled: bool


@dataclass(frozen=True, slots=True)
class CellSpec:
    """The new text of a table cell."""

    row: int
    column: int
    text: str
    where: str


@dataclass(frozen=True, slots=True)
class Edit:
    """An operation with its nested parts read as well."""

    op: Op
    title: Text | None = None
    body: Text | None = None
    style: JsonObject | None = None
    cells: tuple[CellSpec, ...] = ()
    slides: tuple[int, ...] | None = None
    notes: str | None = None


def read_edits(operations: Json, warnings: Warnings) -> list[Edit]:
    """Check every operation with all that is inside it, before any is applied (F16.4)."""
    decoded = decode(operations, SPECS, of_slides)
    warnings.extend(decoded.warnings)
    edits = [_read_edit(op, warnings) for op in decoded.ops]
    added = sum(1 for edit in edits if edit.op.name == "add_slide")
    if added > numbers.OPS_MAX_SLIDES:
        most = numbers.OPS_MAX_SLIDES
        raise problem("too_large", "operations", f"at most {most} slides in one call")
    return edits


def clean_text(text: str, warnings: Warnings, where: str) -> str:
    """Return text as a slide can hold it: no control characters, lines that end in a newline."""
    clean = strip_controls(text, warnings, where)
    return clean.replace("\r\n", "\n").replace("\r", "\n")


def _read_edit(op: Op, warnings: Warnings) -> Edit:
    args, where = op.args, op.where
    body = _text(args, "body", where, warnings)
    if args.get("bullets") is not None:
        body = Text(_bullets(as_list(args["bullets"]), f"{where}.bullets", warnings), False)
    cells = args.get("cells")
    slides = args.get("slides")
    notes = args.get("notes")
    if op.name == "replace_text":
        _check_replace(op)
    return Edit(
        op,
        _text(args, "title", where, warnings),
        body,
        {name: args[name] for name in PARAGRAPH_STYLE if args.get(name) is not None},
        tuple(_cell(c, f"{where}.cells[{i}]", warnings) for i, c in enumerate(as_list(cells)))
        if cells is not None
        else (),
        _slides(as_list(slides), f"{where}.slides") if slides is not None else None,
        clean_text(notes, warnings, f"{where}.notes") if isinstance(notes, str) else None,
    )


def _check_replace(op: Op) -> None:
    if op.args["search"] == "":
        raise problem("bad_value", f"{op.where}.search", "must not be empty")
    expect = op.args["expect"]
    if isinstance(expect, int) and expect < 0:
        raise problem("bad_value", f"{op.where}.expect", "must not be negative")


def _text(args: JsonObject, name: str, where: str, warnings: Warnings) -> Text | None:
    """Read `title` and `title_runs`, or `body` and `body_runs`; runs win."""
    runs = args.get(f"{name}_runs")
    if runs is not None:
        place = f"{where}.{name}_runs"
        read = read_runs(runs, place, lambda text, at: clean_text(text, warnings, at))
        return Text(tuple(_lines_of_runs(read)), True)
    text = args.get(name)
    if not isinstance(text, str):
        return None
    clean = clean_text(text, warnings, f"{where}.{name}")
    if name == "title":
        return Text((Line(0, (RunSpec(clean, {}, where),)),), False)
    lines = (_levelled(line, f"{where}.{name}") for line in clean.split("\n") if line.strip())
    return Text(tuple(lines) or (Line(0, ()),), False)


def _levelled(line: str, where: str) -> Line:
    """Read the level from leading tabs or pairs of spaces (F20.4)."""
    level = 0
    while line.startswith(("\t", "  ")):
        line = line[1:] if line[0] == "\t" else line[2:]
        level += 1
    return Line(min(level, MAX_LEVEL), (RunSpec(line.strip(), {}, where),))


def _lines_of_runs(runs: Sequence[RunSpec]) -> list[Line]:
    """Break runs into paragraphs at newlines (F20.1)."""
    lines: list[list[RunSpec]] = [[]]
    for run in runs:
        first, *others = run.text.split("\n")
        if first:
            lines[-1].append(RunSpec(first, run.style, run.where))
        for text in others:
            lines.append([RunSpec(text, run.style, run.where)] if text else [])
    return [Line(0, tuple(line)) for line in lines]


def _bullets(items: Sequence[Json], where: str, warnings: Warnings) -> tuple[Line, ...]:
    if not items:
        raise problem("bad_value", where, "at least one bullet is needed")
    found = []
    for at, item in enumerate(items):
        place = f"{where}[{at}]"
        given: Json = {"text": item} if isinstance(item, str) else item
        args = item_fields(given, BULLET, place, warnings)
        level = args["level"] or 0
        if not isinstance(level, int) or not 0 <= level <= MAX_LEVEL:
            raise problem("bad_value", f"{place}.level", f"must be 0 to {MAX_LEVEL}")
        text = clean_text(str(args["text"]), warnings, place).replace("\n", " ")
        found.append(Line(level, (RunSpec(text, {}, place),)))
    return tuple(found)


def _cell(item: Json, where: str, warnings: Warnings) -> CellSpec:
    args = item_fields(item, CELL, where, warnings)
    row, column = args["row"], args["column"]
    assert isinstance(row, int)
    assert isinstance(column, int)
    return CellSpec(row, column, clean_text(str(args["text"]), warnings, where), where)


def _slides(items: Sequence[Json], where: str) -> tuple[int, ...]:
    found = []
    for at, given in enumerate(items):
        item = read_as(given, int)
        if not isinstance(item, int) or isinstance(item, bool):
            raise problem("bad_type", f"{where}[{at}]", "must be a whole number")
        found.append(item)
    return tuple(found)

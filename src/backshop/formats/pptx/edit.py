"""Carries out the operations on slides and remembers what each of them addressed (F20)."""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

from backshop.formats.find import Needle
from backshop.formats.package.drawing import replace_drawn
from backshop.formats.package.drawing_text import paragraph_text, replace_in
from backshop.formats.package.guard import Element
from backshop.formats.protocol import JsonObject
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import RunSpec, problem

from . import names as n
from .deck import Deck, Slide
from .numbering import in_both, no_slide
from .place import body_shape, excess_lines, find_layout, is_bulleted
from .schema import Edit, Line, Text, clean_text
from .shape import (
    Shape,
    append_shape,
    body_text,
    drop,
    empty_body,
    ensure_body,
    free_shape_id,
    level_of,
    set_box,
    table_grid,
    whole,
)
from .slides import add_slide, ensure_notes, move_slide, remove_slide
from .text import Writer

_MARGIN = 0.08  # of the slide's width and height, around an added text box


class Editor:
    """A presentation being changed, and what the operations aimed at.

    `shapes` are addressed shape elements, `frames` slides whose own attributes are, `notes` slides
    whose notes are, `drawn` those whose charts or diagrams are; all by slide part. `order` is set
    when slides were added, moved or removed.
    """

    def __init__(self, deck: Deck, warnings: Warnings) -> None:
        self.deck = deck
        self.warnings = warnings
        self.writer = Writer(warnings)
        self.shapes: dict[Element, str] = {}
        self.frames: dict[str, None] = {}
        self.notes: dict[str, None] = {}
        self.parts: dict[str, None] = {}  # other parts that are meant to change
        self.drawn: dict[str, None] = {}  # slides whose charts or diagrams are
        self.order = False
        self.replaced = 0  # occurrences of texts
        self.unmatched: list[tuple[str, str]] = []  # what was sought in vain, and where it says so
        self._numbers = [slide.part for slide in deck.slides]  # as they were before the call

    def slide(self, edit: Edit) -> Slide:
        """Return the slide an operation names."""
        return self.numbered(edit.op.number("index"), f"{edit.op.where}.index")

    def numbered(self, index: int, where: str) -> Slide:
        """Return the slide that had a number before the call; those it adds count on (F20.8).

        Raises:
            FormatError: `unknown_slide`, `op_conflict` when an earlier operation took it out.
        """
        if not 0 <= index < len(self._numbers):
            raise no_slide(index, len(self._numbers), where)
        part = self._numbers[index]
        found = next((slide for slide in self.deck.slides if slide.part == part), None)
        if found is None:
            said = f"{in_both(index)} was taken out by an earlier operation of this call"
            raise problem("op_conflict", where, said)
        return found

    def number(self, slide: Slide) -> int:
        """Give an added slide the number by which the rest of the call names it."""
        self._numbers.append(slide.part)
        return len(self._numbers) - 1

    def called(self, slide: Slide) -> str:
        """Return a slide as the call names it, in words and by its number (F20.8)."""
        return in_both(self._numbers.index(slide.part))

    def aim(self, slide: Slide, element: Element) -> None:
        """Note that a shape is addressed and its slide going to change."""
        self.deck.trees.touch(slide.part)
        self.shapes[element] = slide.part


def apply(editor: Editor, edit: Edit) -> str:
    """Apply one operation and say in plain words what it did (F16.10)."""
    return _ACTS[edit.op.name](editor, edit)


# --- slides --------------------------------------------------------------------------------------


def _add_slide(editor: Editor, edit: Edit) -> str:
    deck = editor.deck
    wanted = str(edit.op.args["layout"])
    found = find_layout(deck, wanted)
    if found is None:
        raise problem("bad_value", f"{edit.op.where}.layout", "the file has no layouts")
    layout, substituted = found
    if substituted:
        editor.warnings.add("layout_substituted", where=f"{edit.op.where}.layout: {layout.name}")
    count = len(deck.slides)
    index = edit.op.args["index"]
    place = count if index is None else index
    assert isinstance(place, int)
    if not 0 <= place <= count:
        said = f"slide_index {place}: there are {count} slides, a new one goes to 0 to {count}"
        raise problem("unknown_slide", f"{edit.op.where}.index", said)
    slide = add_slide(deck, layout, place)
    number = editor.number(slide)
    editor.order = True
    _write_texts(editor, edit, slide, None)
    _drop_unfilled(slide)
    if edit.notes:
        _write_notes(editor, edit, slide)
    named = "" if number == place else f", called slide_index {number} in this call"
    return f"{in_both(place)} added ({layout.name}){named}"


def _drop_unfilled(slide: Slide) -> None:
    """Remove the places of a new slide that got no text (F20.5)."""
    for shape in slide.shapes:
        placeholder = shape.placeholder
        if placeholder is None or placeholder.is_furniture or body_text(shape.text_body).strip():
            continue
        drop(shape.element)


def _move_slide(editor: Editor, edit: Edit) -> str:
    slide = editor.slide(edit)
    to = edit.op.number("to")
    editor.deck.slide(to, f"{edit.op.where}.to", "to")
    called = editor.called(slide)
    if to == slide.index:
        return f"{called} stays"
    move_slide(editor.deck, slide, to)
    editor.order = True
    return f"{called} moved, now {in_both(to)}"


def _delete_slide(editor: Editor, edit: Edit) -> str:
    slide = editor.slide(edit)
    if len(editor.deck.slides) == 1:
        raise problem("op_conflict", f"{edit.op.where}.index", "the only slide cannot go")
    editor.parts.update(dict.fromkeys(remove_slide(editor.deck, slide)))
    editor.order = True
    return f"{editor.called(slide)} deleted"


def _set_hidden(editor: Editor, edit: Edit) -> str:
    slide = editor.slide(edit)
    hidden = bool(edit.op.args["hidden"])
    if hidden != slide.is_hidden:
        root = editor.deck.trees.touch(slide.part)
        if hidden:
            root.set("show", "0")
        else:
            del root.attrib["show"]
        editor.frames[slide.part] = None
    return f"{editor.called(slide)} {'hidden' if hidden else 'shown'}"


# --- text ----------------------------------------------------------------------------------------


def _set_slide_text(editor: Editor, edit: Edit) -> str:
    slide = editor.slide(edit)
    if edit.title is None and edit.body is None:
        raise problem("missing_field", f"{edit.op.where}.title", "title or body is needed")
    placeholder = edit.op.args["placeholder"]
    _write_texts(editor, edit, slide, placeholder if isinstance(placeholder, int) else None)
    return f"{editor.called(slide)} text set"


def _write_texts(editor: Editor, edit: Edit, slide: Slide, wanted: int | None) -> None:
    if edit.title is not None:
        shape = slide.title_shape
        if shape is None:
            shape = _text_box(editor, edit, slide, "Title", top=True)
        _write(editor, edit, slide, shape, edit.title)
    if edit.body is not None:
        shape = body_shape(editor.deck, slide, wanted, edit.op.where)
        if shape is None:
            shape = _text_box(editor, edit, slide, "TextBox")
        _write(editor, edit, slide, shape, edit.body)


def _write(editor: Editor, edit: Edit, slide: Slide, shape: Shape, text: Text) -> None:
    changed = editor.writer.set_lines(
        ensure_body(shape),
        text.lines,
        edit.style or {},
        edit.op.where,
        styled=text.styled,
        bulleted=is_bulleted(editor.deck, slide, shape),
    )
    if changed:
        editor.aim(slide, shape.element)
    _check_fit(editor, edit, slide, shape, list(text.lines))


def _check_fit(editor: Editor, edit: Edit, slide: Slide, shape: Shape, lines: list[Line]) -> None:
    over = excess_lines(editor.deck, slide, shape, lines)
    if over:
        editor.warnings.add("text_overflow", over, edit.op.where)


def _append_bullets(editor: Editor, edit: Edit) -> str:
    slide = editor.slide(edit)
    assert edit.body is not None
    placeholder = edit.op.args["placeholder"]
    wanted = placeholder if isinstance(placeholder, int) else None
    shape = body_shape(editor.deck, slide, wanted, edit.op.where)
    if shape is None:
        shape = _text_box(editor, edit, slide, "TextBox")
    bulleted = is_bulleted(editor.deck, slide, shape)
    body = ensure_body(shape)
    editor.writer.append_lines(body, edit.body.lines, edit.style or {}, edit.op.where, bulleted)
    editor.aim(slide, shape.element)
    there = list(body.iterchildren(n.P_T))[: -len(edit.body.lines)]
    _check_fit(editor, edit, slide, shape, [*map(_as_line, there), *edit.body.lines])
    return f"{editor.called(slide)}: {len(edit.body.lines)} bullets appended"


def _as_line(paragraph: Element) -> Line:
    """Return what a paragraph of the file says, in its largest size."""
    sizes = (whole(look.get("sz")) for look in paragraph.iterfind(f"{n.R_T}/{n.RPR}"))
    size = max(filter(None, sizes), default=None)
    style: JsonObject = {"font_size": size / 100} if size is not None else {}
    return Line(level_of(paragraph), (RunSpec(paragraph_text(paragraph), style, ""),))


def _text_box(editor: Editor, edit: Edit, slide: Slide, name: str, *, top: bool = False) -> Shape:
    """Add a text box inside the margins, so that text never vanishes (F20.3)."""
    width, height = editor.deck.size
    left, above = round(width * _MARGIN), round(height * _MARGIN)
    number = free_shape_id(slide.tree)
    shape = etree.Element(n.SP)
    append_shape(slide.tree, shape)
    outer = etree.SubElement(shape, n.p("nvSpPr"))
    properties = etree.SubElement(outer, n.C_NV_PR)
    properties.set("id", str(number))
    properties.set("name", f"{name} {number - 1}")
    etree.SubElement(outer, n.p("cNvSpPr")).set("txBox", "1")
    etree.SubElement(outer, n.NV_PR)
    look = etree.SubElement(shape, n.SP_PR)
    start = above if top else round(height * 0.25)
    tall = round(height * 0.12) if top else height - start - above
    set_box(etree.SubElement(look, n.XFRM), left, start, width - 2 * left, tall)
    etree.SubElement(etree.SubElement(look, n.a("prstGeom")), n.a("avLst"))
    look[-1].set("prst", "rect")
    body = empty_body(n.TX_BODY)
    body[0].set("wrap", "square")
    shape.append(body)
    editor.warnings.add("textbox_added", where=edit.op.where)
    editor.aim(slide, shape)
    return next(found for found in slide.shapes if found.element is shape)


def _replace_text(editor: Editor, edit: Edit) -> str:
    deck, args = editor.deck, edit.op.args
    search = str(args["search"]).replace("\r\n", "\n").replace("\r", "\n")
    needle = Needle(search, bool(args["match_case"]), bool(args["whole_word"]))
    by = clean_text(str(args["replace"]), editor.warnings, f"{edit.op.where}.replace")
    slides = deck.slides
    if edit.slides is not None:
        where = f"{edit.op.where}.slides"
        slides = [editor.numbered(index, where) for index in dict.fromkeys(edit.slides)]
    count = 0
    for slide in slides:
        for paragraph, matches in replace_in(slide.tree, needle, by):
            editor.aim(slide, paragraph)
            count += matches
        notes = deck.notes_part(slide)
        found = list(replace_in(deck.trees.root(notes), needle, by)) if notes else []
        if notes and found:
            deck.trees.touch(notes)
            editor.notes[slide.part] = None
            count += sum(matches for _, matches in found)
    chosen = [drawing for slide in slides for drawing in slide.drawings]
    parts = {slide.part for slide in slides}
    others = [d for slide in deck.slides if slide.part not in parts for d in slide.drawings]
    changed, drawn, left = replace_drawn(deck.trees, chosen, others, needle, by)
    count += drawn
    for drawing, part in changed:
        editor.parts[part] = editor.drawn[drawing.part] = None
    if left:
        editor.warnings.add("occurrences_left", left, f"{edit.op.where}: data of charts")
    expect = args["expect"]
    if expect is not None and expect != count:
        reason = "no_match" if count == 0 else "ambiguous_match"
        raise problem(
            reason, f"{edit.op.where}.search", f"{expect} expected", (f"{count} matches",)
        )
    if count == 0:
        editor.unmatched.append((edit.op.where, search))
        editor.warnings.add("no_match", where=edit.op.where)
        chosen_slides = "" if edit.slides is None else " on these slides"
        return f"nothing replaced: {search!r} occurs nowhere{chosen_slides}"
    editor.replaced += count
    return f"{count} occurrence{'' if count == 1 else 's'} replaced"


def _set_notes(editor: Editor, edit: Edit) -> str:
    slide = editor.slide(edit)
    _write_notes(editor, edit, slide)
    return f"{editor.called(slide)} notes set"


def _write_notes(editor: Editor, edit: Edit, slide: Slide) -> None:
    text = edit.notes or ""
    if editor.deck.notes(slide) == text.strip():
        return
    body = ensure_notes(editor.deck, slide)
    lines = [Line(0, ()) if not line else _plain(line, edit.op.where) for line in text.split("\n")]
    editor.writer.set_lines(body, lines, {}, edit.op.where)
    part = editor.deck.notes_part(slide)
    assert part is not None
    editor.deck.trees.touch(part)
    editor.notes[slide.part] = None


def _plain(text: str, where: str) -> Line:
    return Line(0, (RunSpec(text, {}, where),))


# --- tables --------------------------------------------------------------------------------------


def _set_table_cells(editor: Editor, edit: Edit) -> str:
    slide = editor.slide(edit)
    shapes = slide.shapes
    wanted = edit.op.number("shape")
    tables = [shape for shape in shapes if shape.table is not None]
    table = next((shape.table for shape in tables if shape.index == wanted), None)
    if table is None:
        known = [f"table at shape: {shape.index}" for shape in tables]
        raise problem(
            "bad_index",
            f"{edit.op.where}.shape",
            f"shape: {wanted} is no table of {editor.called(slide)}",
            known or ("the slide has no tables",),
        )
    rows = [list(row.iterchildren(n.TC)) for row in table.iterchildren(n.TR)]
    for spec in edit.cells:
        if not 0 <= spec.row < len(rows) or not 0 <= spec.column < len(rows[spec.row]):
            grid = table_grid(table)
            size = f"{len(grid)} rows, {max(map(len, grid), default=0)} columns"
            raise problem("bad_index", spec.where, f"no cell {spec.row},{spec.column}", (size,))
        cell, redirected = _anchor_cell(rows, spec.row, spec.column)
        if redirected:
            editor.warnings.add("merged_redirect", where=spec.where)
        body = cell.find(n.A_TX_BODY)
        if body is None:
            body = empty_body(n.A_TX_BODY)
            cell.insert(0, body)
        lines = [_plain(line, spec.where) for line in spec.text.split("\n")]
        if editor.writer.set_lines(body, lines, {}, spec.where):
            editor.aim(slide, cell)
    return f"{editor.called(slide)}: {len(edit.cells)} cells set"


def _anchor_cell(rows: list[list[Element]], row: int, column: int) -> tuple[Element, bool]:
    """Return the cell that shows at a place of the grid, and whether a merge led to it."""
    start = (row, column)
    while row and rows[row][column].get("vMerge") in ("1", "true"):
        if column >= len(rows[row - 1]):  # rows of a damaged table differ in length
            break
        row -= 1
    while column and rows[row][column].get("hMerge") in ("1", "true"):
        column -= 1
    return rows[row][column], (row, column) != start


_ACTS: dict[str, Callable[[Editor, Edit], str]] = {
    "add_slide": _add_slide,
    "set_slide_text": _set_slide_text,
    "append_bullets": _append_bullets,
    "replace_text": _replace_text,
    "set_table_cells": _set_table_cells,
    "set_notes": _set_notes,
    "move_slide": _move_slide,
    "delete_slide": _delete_slide,
    "set_hidden": _set_hidden,
}

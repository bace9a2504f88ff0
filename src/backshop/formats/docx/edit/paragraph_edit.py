"""Carries out the operations on paragraphs and text (F19)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from lxml import etree

from backshop.formats.find import Needle
from backshop.formats.package.drawing import replace_drawn
from backshop.formats.package.guard import Element
from backshop.formats.write.operation import problem, strip_controls

from ..text import name as n
from ..text.document import Block, Section, block_elements, parent_of
from ..text.stylesheet import list_place
from . import table_edit
from .builder import one_line_end
from .editor import Editor, beside, count_of
from .removal import splits_field
from .replacement import drawings, replace_in
from .schema import Anchor, Edit

_QUOTED_CHARS = 40


def apply(editor: Editor, edit: Edit) -> str:
    """Apply one operation and say in plain words what it did (F16.10)."""
    editor.number()
    summary = _ACTS[edit.op.name](editor, edit)
    followers = editor.settle(edit)
    editor.renew()
    if followers:
        summary += f", and {count_of(followers, 'content control')} with the same data"
    return summary


def _set_paragraphs(editor: Editor, edit: Edit) -> str:
    container = editor.document.body_element
    old = [block.element for block in editor.body.blocks]
    editor.touch()
    editor.note_lost(old, edit.op.where)
    emptied = editor.remove(old)
    for breaks in emptied:
        _lift(container, breaks)
    for child in list(container):  # what stood between the blocks: bookmarks, imported chunks
        if child.tag not in (n.P, n.SECT_PR):
            container.remove(child)
            editor.frame_aimed = True
    at = container.index(emptied[0]) if emptied else 0
    new = _paragraphs(editor, edit, like=None, before=None)
    container[at:at] = new
    if emptied:  # the last section needs a paragraph of its own
        editor.insert(editor.end_of_text(), etree.Element(n.P))
    editor.renumber()
    return f"body set to {count_of(len(new), 'paragraph')}"


def _lift(container: Element, block: Element) -> None:
    """Move a block out of the content controls it is in, to the place before them."""
    top = block
    while (parent := parent_of(top)) is not container:
        top = parent
    if top is not block:
        container.insert(container.index(top), block)


def _append_paragraph(editor: Editor, edit: Edit) -> str:
    editor.touch()
    last = next(iter(deque(block_elements(editor.document.body_element), maxlen=1)), None)
    new = _paragraphs(editor, edit, like=None, before=last)
    editor.append(new)
    return "1 paragraph appended"


def _insert_paragraphs(editor: Editor, edit: Edit) -> str:
    assert edit.anchor is not None
    parent, at, neighbour, above = editor.place(edit.anchor)
    editor.touch()
    like = neighbour if edit.op.args["copy_format"] else None
    new = _paragraphs(editor, edit, like=like, before=above)
    parent[at:at] = new
    return f"{count_of(len(new), 'paragraph')} inserted {_named(edit.anchor)}"


def _replace_section(editor: Editor, edit: Edit) -> str:
    where = f"{edit.op.where}.section"
    section = editor.section(str(edit.op.args["section"]), where)
    content = _content_of(editor, section)
    elements = [block.element for block in content]
    if splits_field(elements):
        raise problem("op_conflict", where, "the section holds part of a field")
    heading = section.blocks[0].element if section.level else None
    editor.touch()
    like = _plain_neighbour(editor, content)
    new = _paragraphs(editor, edit, like=like, before=heading)
    parent, at = beside(section.blocks[0].element, after=heading is not None)
    parent[at:at] = new
    editor.note_lost(elements, edit.op.where)
    editor.remove(elements)
    return f"section {section.heading!r} replaced by {count_of(len(new), 'paragraph')}"


def _delete_paragraphs(editor: Editor, edit: Edit) -> str:
    first, last = edit.op.number("from"), edit.op.number("to")
    blocks = editor.numbered(first, last, f"{edit.op.where}.from")
    elements = [block.element for block in blocks]
    if splits_field(elements):
        raise problem("op_conflict", edit.op.where, "the paragraphs hold part of a field")
    editor.touch()
    editor.note_lost(elements, edit.op.where)
    editor.remove(elements)
    said = f"{first}" if first == last else f"{first}-{last}"
    return f"{count_of(len(elements), 'paragraph')} deleted: {said}, {_quoted(blocks)}"


def _quoted(blocks: Sequence[Block]) -> str:
    """Return how the first and the last of some blocks begin, so that a mistake is seen."""
    shown = [blocks[0]] if len(blocks) == 1 else [blocks[0], blocks[-1]]
    return " to ".join(
        f"table {block.table}" if block.table is not None else f"“{_cut(block.text)}”"
        for block in shown
    )


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED_CHARS else line[: _QUOTED_CHARS - 1] + "…"


def _content_of(editor: Editor, section: Section) -> list[Block]:
    """Return what a section holds up to the next heading of its level or higher."""
    blocks = editor.body.blocks
    if section.level == 0:
        return list(section.blocks)
    found = []
    for block in blocks[section.start + 1 :]:
        if block.level is not None and block.level <= section.level:
            break
        found.append(block)
    return found


def _plain_neighbour(editor: Editor, blocks: Sequence[Block]) -> Element | None:
    """Return a paragraph of running text whose format new ones can take."""
    for block in blocks:
        if block.table is None and block.level is None and block.text.strip():
            document = editor.document
            item = list_place(block.element, document.styles, document.numberings)
            return block.element if item is None else None
    return None


def _paragraphs(
    editor: Editor, edit: Edit, *, like: Element | None, before: Element | None
) -> list[Element]:
    new: list[Element] = []
    for spec in edit.paragraphs:
        element = editor.builder.paragraph(spec, like=like, before=new[-1] if new else before)
        editor.aimed[element] = None
        new.append(element)
    return new


def _replace_text(editor: Editor, edit: Edit) -> str:
    args = edit.op.args
    search, scope = str(args["search"]), str(args["scope"])
    by = strip_controls(str(args["replace"]), editor.warnings, f"{edit.op.where}.replace")
    by = one_line_end(by)
    needle = Needle(search, bool(args["match_case"]), bool(args["whole_word"]))
    count = 0
    for part, root, within in _scope(editor, scope):
        found = list(replace_in(root, needle, by, within))
        if found:
            editor.document.trees.touch(part)
        for paragraph, matches in found:
            editor.aimed[paragraph] = None
            count += matches
    drawn, left = _replace_drawn(editor, scope, needle, by)
    count += drawn
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
        return f"nothing replaced: {search!r} occurs nowhere" + (
            "" if scope == "all" else f" in the scope {scope}"
        )
    editor.replaced += count
    return f"{count_of(count, 'occurrence')} replaced"


def _replace_drawn(editor: Editor, scope: str, needle: Needle, by: str) -> tuple[int, int]:
    """Replace in charts and diagrams; return the matches replaced, and those left in their data."""
    chosen = [d for place in _scope(editor, scope) for d in drawings(*place)]
    shown = {drawing.graphic for drawing in chosen}
    everywhere = (d for place in _scope(editor, "all") for d in drawings(*place))
    others = [drawing for drawing in everywhere if drawing.graphic not in shown]
    trees = editor.document.trees
    changed, count, left = replace_drawn(trees, chosen, others, needle, by)
    for drawing, part in changed:
        editor.parts[part] = editor.showing[drawing.graphic] = None
    return count, left


def _scope(editor: Editor, scope: str) -> list[tuple[str, Element, str]]:
    document = editor.document
    found: list[tuple[str, Element, str]] = []
    if scope in ("all", "body", "tables"):
        found.append((document.part, document.body_element, scope))
    if scope in ("all", "headers"):
        found.extend((margin.part, margin.root, "all") for margin in document.margins())
    if scope == "all":
        parts = document.note_parts()
        found.extend((part, document.trees.root(part), "all") for part in parts)
    return found


def _named(anchor: Anchor) -> str:
    if anchor.by == "section":
        return f"at the {anchor.at} of section {anchor.value!r}"
    return f"{anchor.at} paragraph" + (f" {anchor.value}" if anchor.by == "paragraph" else "")


_ACTS: dict[str, Callable[[Editor, Edit], str]] = {
    "set_paragraphs": _set_paragraphs,
    "append_paragraph": _append_paragraph,
    "insert_paragraphs": _insert_paragraphs,
    "replace_section": _replace_section,
    "delete_paragraphs": _delete_paragraphs,
    "replace_text": _replace_text,
    "append_table": table_edit.append_table,
    "set_table_cells": table_edit.set_table_cells,
    "add_table_rows": table_edit.add_table_rows,
    "delete_table_rows": table_edit.delete_table_rows,
}

"""A document being changed: its blocks as they are now, places in it, and what was addressed."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from backshop.formats.find import Needle
from backshop.formats.notes import Warnings
from backshop.formats.ops import problem, section_hints

from . import names as n
from .bound import Bindings
from .build import Builder
from .document import WRAPPERS, Block, Body, Section, block_elements, parent_of, table_rows
from .read import find_section
from .remove import content_lost, remove_blocks
from .schema import Anchor, Edit
from .source import Document
from .stock import Stock
from .tables import delete_rows

Element = etree._Element

_HINTS = 3  # how many places an ambiguous anchor names


class Editor:
    """A document being changed.

    `aimed` holds the elements the operations addressed and that are still there, `around` those of
    which only the frame was, such as a table that lost a row, `gone` those they took out; the
    effect report compares them with what really differs.
    """

    def __init__(self, document: Document, warnings: Warnings) -> None:
        self.document = document
        self.warnings = warnings
        self.builder = Builder(Stock(document), warnings)
        self.aimed: dict[Element, None] = {}
        self.gone: dict[Element, None] = {}
        self.parts: dict[str, None] = {}  # other parts that are meant to change
        self.showing: dict[Element, None] = {}  # where charts and diagrams among them are shown
        self.around: dict[Element, None] = {}
        self.frame_aimed = False
        self._bindings = Bindings(document)
        self._body: Body | None = None
        self._known: dict[Element, Block] = {}

    @property
    def body(self) -> Body:
        """The blocks as they are now."""
        if self._body is None:
            self._body = self.document.body(self._known)
        return self._body

    def addressed(self) -> set[Element]:
        """Return what the operations addressed, with everything around it."""
        found = {*self.aimed, *self.around, *self.showing}
        for element in tuple(found):
            found.update(element.iterancestors())
        return found

    def append(self, elements: Sequence[Element]) -> None:
        """Put blocks at the end of the text."""
        at = self.end_of_text()
        for offset, element in enumerate(elements):
            self.insert(at + offset, element)

    def insert(self, at: int, element: Element) -> None:
        """Put a block at a place of the body."""
        self.document.body_element.insert(at, element)
        self.aimed[element] = None

    def remove(self, elements: Sequence[Element]) -> list[Element]:
        """Take blocks out; return the paragraphs that stay, empty, for their section breaks."""
        emptied, frame_changed = remove_blocks(elements)
        kept = set(emptied)
        for element in elements:
            if element in kept:
                self.aimed[element] = None
            else:
                self.aimed.pop(element, None)
                self.gone[element] = None
        self.frame_aimed |= frame_changed
        return emptied

    def remove_rows(self, table: Element, first: int, last: int) -> None:
        """Take rows out of a table."""
        gone, changed = delete_rows(table, first, last)
        for row in gone:
            self.aimed.pop(row, None)
            self.gone[row] = None
        self.aimed.update(dict.fromkeys(changed))
        self.around[table] = None

    def note_lost(self, elements: Sequence[Element], where: str) -> None:
        """Tell what disappears along with blocks, rows or the content of a cell."""
        lost = content_lost(elements)
        if lost:
            self.warnings.add("content_removed", lost, where)

    def place(self, anchor: Anchor) -> tuple[Element, int, Element | None, Element | None]:
        """Return parent, index, the paragraph to look like, and the block above the place."""
        blocks = self.body.blocks
        if anchor.by == "section":
            section = self.section(str(anchor.value), f"{anchor.where}.section")
            at_start = anchor.at == "start"
            if at_start and section.level == 0:
                block, after = section.blocks[0], False
            else:
                block, after = section.blocks[0 if at_start else -1], True
        else:
            block, after = self._anchor_block(anchor), anchor.at == "after"
        index = block.index if after else block.index - 1
        above = blocks[index].element if index >= 0 else None
        parent, at = beside(block.element, after)
        return parent, at, self._neighbour(block, after), above

    def _neighbour(self, block: Block, after: bool) -> Element | None:
        """Return whose format is copied: the anchor, but running text rather than a heading."""
        if block.table is None and block.level is None:
            return block.element
        others = self.body.blocks[block.index + 1 :] if after else []
        for other in others:
            if other.level is not None:
                break
            if other.table is None:
                return other.element
        return None

    def _anchor_block(self, anchor: Anchor) -> Block:
        blocks = self.body.blocks
        if isinstance(anchor.value, int):
            if not 0 <= anchor.value < len(blocks):
                raise problem(
                    "bad_index",
                    f"{anchor.where}.paragraph",
                    f"there is no paragraph {anchor.value}",
                    (f"0-{len(blocks) - 1}" if blocks else "the document is empty",),
                )
            return blocks[anchor.value]
        needle = Needle(anchor.value)
        found = [
            block
            for block in blocks
            if needle.spans(block.text) or any(needle.spans(c) for row in block.rows for c in row)
        ]
        if not found:
            raise problem("no_match", f"{anchor.where}.text", "no paragraph contains this text")
        if len(found) > 1:
            places = ", ".join(str(block.index) for block in found[:_HINTS])
            raise problem(
                "ambiguous_match",
                f"{anchor.where}.text",
                "several paragraphs contain this text",
                (f"{len(found)} matches, paragraphs {places}",),
            )
        return found[0]

    def section(self, name: str, where: str) -> Section:
        """Return a section of the body by heading or index."""
        if name.startswith("@"):
            known = [(section.index, section.heading) for section in self.body.sections]
            hints = section_hints(name, known)
            raise problem("unknown_section", where, f"{name!r} is no section of the body", hints)
        return find_section(self.body, name, self.warnings, where)

    def span(self, edit: Edit, count: int, what: str) -> tuple[int, int]:
        """Return `from` and `to` of an operation, checked against `count`."""
        first, last = edit.op.args["from"], edit.op.args["to"]
        assert isinstance(first, int)
        assert isinstance(last, int)
        if not 0 <= first <= last < count:
            valid = f"0-{count - 1}" if count else f"there are no {what}"
            raise problem("bad_index", f"{edit.op.where}.from", f"no such {what}", (valid,))
        return first, last

    def settle(self, edit: Edit) -> int:
        """Carry what was written into content controls to their data; return how many follow."""
        done = self._bindings.settle(edit.op.where)
        self.parts.update(dict.fromkeys(done.parts))
        self.aimed.update(dict.fromkeys(done.followers))
        self.frame_aimed |= done.frame
        return len(done.followers)

    def touch(self) -> None:
        """Note that the main part is going to change."""
        self.document.trees.touch(self.document.part)

    def end_of_text(self) -> int:
        """Return the index behind the last block, before the properties of the last section."""
        container, last = self.document.body_element, self.document.last_section()
        return container.index(last) if last is not None else len(container)

    def renew(self) -> None:
        """Forget the blocks; they are read again when next asked for, unchanged ones not."""
        if self._body is not None:
            touched = self.addressed()
            blocks = (block for block in self._body.blocks if block.element not in touched)
            self._known = {block.element: block for block in blocks}
        self._body = None


def beside(element: Element, after: bool) -> tuple[Element, int]:
    """Return the place before or after a block or row, outside a content control ending there.

    Between the choices of a place that has several there is none.
    """
    is_row = element.tag == n.TR
    parent = parent_of(element)
    while parent.tag in WRAPPERS:
        inside = table_rows(parent) if is_row else list(block_elements(parent))
        edge = inside[-1] if after else inside[0]
        is_edge = edge is element or any(a is element for a in edge.iterancestors())
        if not is_edge and parent.tag != n.ALTERNATE:
            break
        element, parent = parent, parent_of(parent)
    return parent, parent.index(element) + (1 if after else 0)


def count_of(number: int, noun: str) -> str:
    """Return `3 paragraphs`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")

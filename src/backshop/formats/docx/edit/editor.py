"""A document being changed: its blocks as they are now, places in it, and what was addressed."""

from __future__ import annotations

from collections.abc import Sequence

from backshop.formats.errors import FormatError
from backshop.formats.find import Needle
from backshop.formats.package.guard import Element
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import problem, section_hints

from ..text import name as n
from ..text.document import WRAPPERS, Block, Body, Section, block_elements, parent_of, table_rows
from ..text.read import find_section
from ..text.source import Document
from ..text.stylesheet import whole
from .builder import Builder
from .content_control import Bindings
from .removal import content_lost, remove_blocks
from .schema import Anchor, Edit
from .stock import Stock
from .table import delete_rows

_HINTS = 3  # how many places an ambiguous anchor names


class Editor:
    """A document being changed.

    `aimed` holds the elements the operations addressed and that are still there, `around` those of
    which only the frame was, such as a table that lost a row, `gone` those they took out; the
    effect report compares them with what really differs.

    Numbers in operations mean the blocks, tables and rows as they were before the call, so that
    one operation does not shift what the next one names; what the call adds counts on after them
    (F19.13).
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
        self._numbers: dict[Element, int] = {}  # of blocks
        self._tables: dict[Element, int] = {}
        self._rows: dict[Element, dict[Element, int]] = {}  # of each table
        self._headings: dict[int, Element] = {}  # the first block of each section, as it was
        self.replaced = 0  # occurrences of texts
        self.unmatched: list[tuple[str, str]] = []  # what was sought in vain, and where it says so

    @property
    def body(self) -> Body:
        """The blocks as they are now."""
        if self._body is None:
            self._body = self.document.body(self._known)
        return self._body

    def number(self) -> None:
        """Number the blocks and tables that have no number yet."""
        if not self._numbers:
            self._headings = {s.index: s.blocks[0].element for s in self.body.sections if s.blocks}
        for block in self.body.blocks:
            self._numbers.setdefault(block.element, len(self._numbers))
        for block in self.body.tables:
            self._tables.setdefault(block.element, len(self._tables))

    def renumber(self) -> None:
        """Let numbers count anew: the whole body was replaced."""
        self._numbers, self._tables, self._headings = {}, {}, {}

    def numbered(self, first: int, last: int, where: str) -> list[Block]:
        """Return the blocks of some numbers, the last one among them.

        Raises:
            FormatError: `bad_index`, `op_conflict` when an earlier operation took one out.
        """
        self.number()
        count = len(self._numbers)
        if not 0 <= first <= last < count:
            wrong = first if not 0 <= first < count else last
            raise problem("bad_index", where, _missing("paragraph", wrong, count))
        here = {block.element: block for block in self.body.blocks}
        wanted = list(self._numbers)[first : last + 1]
        gone = next((self._numbers[one] for one in wanted if one not in here), None)
        if gone is not None:
            raise _taken_out(where, f"paragraph {gone}")
        return [here[element] for element in wanted]

    def table(self, index: int, where: str) -> Element:
        """Return the table of a number."""
        self.number()
        element = next((e for e, number in self._tables.items() if number == index), None)
        if element is None:
            count = len(self._tables)
            raise problem("bad_index", where, _missing("table", index, count))
        if all(block.element is not element for block in self.body.tables):
            raise _taken_out(where, f"table {index}")
        return element

    def row_places(self, table: Element) -> dict[int, int | None]:
        """Return where the rows stand now, by their numbers; None: not any more."""
        numbers = self._rows.setdefault(table, {})
        now = {row: place for place, row in enumerate(table_rows(table))}
        for row in now:
            numbers.setdefault(row, len(numbers))
        return {number: now.get(row) for row, number in numbers.items()}

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
            return self.numbered(anchor.value, anchor.value, f"{anchor.where}.paragraph")[0]
        needle = Needle(anchor.value)
        found = [
            block
            for block in blocks
            if needle.spans(block.text) or any(needle.spans(c) for row in block.rows for c in row)
        ]
        if not found:
            raise problem("no_match", f"{anchor.where}.text", "no paragraph contains this text")
        if len(found) > 1:
            self.number()
            places = ", ".join(str(self._numbers[block.element]) for block in found[:_HINTS])
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
        self.number()
        index = whole(name)
        named = any(s.heading.casefold() == name.strip().casefold() for s in self.body.sections)
        first = None if named or index is None else self._headings.get(index)
        if first is None:
            return find_section(self.body, name, self.warnings, where)
        block = next((b for b in self.body.blocks if b.element is first), None)
        section = self.body.section_of(block.index) if block is not None else None
        if section is None:
            raise _taken_out(where, f"section {index}")
        return section

    def span(self, edit: Edit, count: int, what: str) -> tuple[int, int]:
        """Return `from` and `to` of an operation, checked against `count`."""
        first, last = edit.op.number("from"), edit.op.number("to")
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


def _missing(what: str, index: int, count: int) -> str:
    there = (
        f"{what} 0 to {count - 1}" if count > 1 else f"{what} 0 only" if count else "none at all"
    )
    return f"there is no {what} {index}; there is {there}"


def _taken_out(where: str, what: str) -> FormatError:
    said = f"{what} was taken out by an earlier operation of this call"
    return problem("op_conflict", where, said)


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

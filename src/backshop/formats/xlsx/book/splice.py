"""Puts the changes of a sheet into its bytes in one pass; the rest is copied (F23.3)."""

from __future__ import annotations

import re

from backshop.formats.package.guard import Element
from backshop.formats.package.package import serialise

from ..syntax.address import Area, cell_name, parse_area
from ..syntax.formula import shift
from . import cell_xml
from .sheet_edit import Patch, SheetEdit
from .sheet_xml import RawCell, RowSpan, SheetXml, attributes

_FEW_ROWS = 32
_DIMENSION = re.compile(rb"(<(?:[\w.\-]+:)?dimension\b[^>]*?\bref\s*=\s*\")([^\"]*)(\")")


def render(edit: SheetEdit) -> bytes:
    """Return the part with every change in place."""
    return _Splice(edit).render()


def frame_halves(xml: SheetXml, root: Element) -> tuple[bytes, bytes]:
    """Return what stands before and behind the sheet data, from the tree of a sheet's frame."""
    whole = serialise(root, like=xml.data[:300])
    opening = xml.words.data.search(whole)
    assert opening is not None, "the frame keeps its hole"
    end = opening.end()
    if not opening[2]:
        closing = xml.words.data_end.search(whole, end)
        assert closing is not None, "the frame is well-formed"
        end = closing.end()
    return whole[: opening.start()], whole[end:]


class _Splice:
    def __init__(self, edit: SheetEdit) -> None:
        self.edit = edit
        self.xml = edit.xml

    def render(self) -> bytes:
        """Return the part with every change in place."""
        self._move_shared_formulas()
        xml, data = self.xml, self.xml.data
        head, tail = data[: xml.start], data[xml.end :]
        if self.edit.frame_changed:
            head, tail = frame_halves(self.xml, self.edit.frame.root)
        head = self._dimension(head)
        p = xml.words.prefix
        opening = data[xml.start : xml.inner]
        if opening.rstrip().endswith(b"/>"):
            opening = b"<" + p + b"sheetData>"
        closing = data[xml.close : xml.end] or b"</" + p + b"sheetData>"
        return b"".join([head, opening, *self._body(), closing, tail])

    def _body(self) -> list[bytes]:
        by_row: dict[int, dict[int, Patch]] = {}
        for (number, col), patch in self.edit.patches.items():
            by_row.setdefault(number, {})[col] = patch
        pending = sorted({*by_row, *self.edit.row_changes}, reverse=True)
        if len(pending) <= _FEW_ROWS and self.xml.plain_rows:
            return self._few(by_row, pending)
        data, pieces, at = self.xml.data, [], self.xml.inner
        for row in self.xml.iter_rows():
            if not pending:
                break
            while pending and pending[-1] < row.number:
                number = pending.pop()
                pieces += [data[at : row.start], self._new_row(number, by_row.get(number, {}))]
                at = row.start
            if pending and pending[-1] == row.number:
                pending.pop()
                pieces += [data[at : row.start], self._row(row, by_row.get(row.number, {}))]
                at = row.end
        pieces.append(data[at : self.xml.close])
        pieces += [self._new_row(number, by_row.get(number, {})) for number in reversed(pending)]
        return pieces

    def _few(self, by_row: dict[int, dict[int, Patch]], pending: list[int]) -> list[bytes]:
        """Splice a handful of rows without passing the others."""
        data, pieces, at = self.xml.data, [], self.xml.inner
        for number in reversed(pending):
            row = self.xml.locate(number)
            patches = by_row.get(number, {})
            if row is None:
                place = self.xml.place_of(number)
                pieces += [data[at:place], self._new_row(number, patches)]
                at = place
            else:
                pieces += [data[at : row.start], self._row(row, patches)]
                at = row.end
        return [*pieces, data[at : self.xml.close]]

    def _new_row(self, number: int, patches: dict[int, Patch]) -> bytes:
        p = self.xml.words.prefix
        cells = b"".join(self._new_cell(number, col, patches[col]) for col in sorted(patches))
        changes = self.edit.row_changes.get(number, {})
        if not cells and not any(changes.values()):
            return b""
        tag = cell_xml.row_tag(b'<%srow r="%d">' % (p, number), changes)
        return tag + cells + b"</%srow>" % p

    def _new_cell(self, row: int, col: int, patch: Patch) -> bytes:
        if patch.content is None and patch.cache is not None and patch.cache[0] is not None:
            return cell_xml.result_cell(row, col, patch.style or 0, patch.cache[0], self.xml.words)
        return cell_xml.new_cell(
            row, col, patch.style or 0, patch.content or cell_xml.EMPTY, self.xml.words
        )

    def _row(self, row: RowSpan, patches: dict[int, Patch]) -> bytes:
        data, p = self.xml.data, self.xml.words.prefix
        waiting = sorted(patches, reverse=True)
        pieces, at = [], row.inner
        implicit = False
        for cell in self.xml.cells(row):
            while waiting and waiting[-1] < cell.col:
                col = waiting.pop()
                pieces += [data[at : cell.start], self._new_cell(row.number, col, patches[col])]
                at = cell.start
            if waiting and waiting[-1] == cell.col:
                waiting.pop()
                pieces += [data[at : cell.start], self._cell(cell, patches[cell.col])]
                at = cell.end
            elif implicit or b" r=" not in data[cell.start : data.index(b">", cell.start)]:
                implicit = True  # its place followed from its neighbours, which may go
                pieces += [data[at : cell.start], self._placed(cell)]
                at = cell.end
        pieces.append(data[at : row.close])
        pieces += [self._new_cell(row.number, col, patches[col]) for col in reversed(waiting)]
        tag = data[row.start : row.inner]
        changes = {**self._spans(tag, patches), **self.edit.row_changes.get(row.number, {})}
        if changes:
            tag = cell_xml.row_tag(tag, changes)
        closing = data[row.close : row.end] or b"</%srow>" % p
        if tag.endswith(b"/>"):
            tag = tag[:-2].rstrip() + b">"
        return b"".join([tag, *pieces, closing])

    def _placed(self, cell: RawCell) -> bytes:
        raw = self.xml.data[cell.start : cell.end]
        tag = b"<" + self.xml.words.prefix + b"c"
        if b" r=" in raw[: raw.index(b">")]:
            return raw
        return b'%s r="%s"%s' % (tag, cell_name(cell.row, cell.col).encode(), raw[len(tag) :])

    def _spans(self, tag: bytes, patches: dict[int, Patch]) -> dict[str, str | None]:
        """Widen the hint about a row's columns when a cell lies outside it."""
        first, _, last = attributes(tag).get(b"spans", b"").partition(b":")
        if not (first.isdigit() and last.isdigit()) or not patches:
            return {}
        low, high = min(int(first), *patches), max(int(last), *patches)
        return {} if (low, high) == (int(first), int(last)) else {"spans": f"{low}:{high}"}

    def _cell(self, cell: RawCell, patch: Patch) -> bytes:
        words = self.xml.words
        raw = self.xml.data[cell.start : cell.end]
        if patch.content is not None:
            style = cell.style if patch.style is None else patch.style
            return cell_xml.new_cell(cell.row, cell.col, style, patch.content, words)
        if patch.formula is not None:
            raw = cell_xml.reformulated(raw, patch.formula, words)
        if patch.cache is not None:
            raw = cell_xml.recached(raw, patch.cache[0], words)
        if patch.style is not None:
            raw = cell_xml.restyled(raw, patch.style)
        return raw

    def _dimension(self, head: bytes) -> bytes:
        """Widen the declared range when something was written outside it."""
        match = _DIMENSION.search(head)
        area = parse_area(match[2].decode("ascii", "replace")) if match else None
        if match is None or area is None:
            return head
        wide = area
        for (row, col), patch in self.edit.patches.items():
            shows = patch.cache is not None and patch.cache[0] is not None
            if shows or (patch.content is not None and patch.content.kind != "blank"):
                wide = wide.join(Area(row, col, row, col))
        if wide == area:
            return head
        return head[: match.start(2)] + str(wide).encode() + head[match.end(2) :]

    def _move_shared_formulas(self) -> None:
        """Hand a shared formula's text on when the cell that holds it is overwritten."""
        gone = {
            group: cell
            for group, cell in self.xml.masters().items()
            if (patch := self.edit.patches.get((cell.row, cell.col))) and patch.content is not None
        }
        if not gone:
            return
        for cell in self.xml.formula_cells():
            raw = cell.formula
            master = gone.get(raw.group or "") if raw and raw.kind == "shared" else None
            if master is None or master.formula is None or cell is master:
                continue
            if (cell.row, cell.col) == (master.row, master.col):
                continue
            patch = self.edit.patches.get((cell.row, cell.col))
            if patch and patch.content is not None:
                continue
            text = shift(master.formula.text, cell.row - master.row, cell.col - master.col)
            ref = master.formula.ref or cell_name(cell.row, cell.col)
            marks = f' t="shared" ref="{ref}" si="{master.formula.group}"'
            self.edit.patch(cell.row, cell.col).formula = cell_xml.formula_element(
                text, self.xml.words, marks
            )
            del gone[raw.group or ""]  # type: ignore[union-attr]  # it had a group

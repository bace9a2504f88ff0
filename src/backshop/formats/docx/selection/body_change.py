"""What differs between two bodies, block by block, row by row, word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from backshop.base.place import Place
from backshop.formats.diff.alignment import Change
from backshop.formats.package.guard import Element
from backshop.formats.selection.block_alignment import Step, align, holds_apart

from ..text import name as n
from ..text.document import grid_cells, vertical_merge
from .atom import Atom, Ties
from .imprint import digest, words_of
from .item import Item
from .mixture import Inner, Piece, Row, Swap, Table, Words
from .side import PARA_ID, Side
from .wording import Wording, compare, line_of

_REPEATED = "the changed passages repeat one another, so they cannot be told apart"
_MOVED = "it was moved and changed"
_BLANK = "blank lines go along with the paragraph beside them"
_AROUND_TABLE = "a table and the paragraph that ends it belong together"
_WHOLE = {
    "p": "the changes in this paragraph reach into one another",
    "t": "columns, merged cells or all rows of the table changed",
    "control": "it is inside a content control",
}


@dataclass(frozen=True, slots=True)
class BodyChange:
    """Both bodies as one row of pieces, and the changes among them."""

    pieces: list[Piece]
    section: Swap | None  # the properties of the last section

    @property
    def atoms(self) -> list[Atom]:
        """All changes in order."""
        found = [atom for piece in self.pieces for atom in piece.atoms]
        return [*dict.fromkeys(found), *([self.section.atom] if self.section else [])]


class Comparison:
    """Compares two sides; `ties` learns which changes hang together."""

    def __init__(self, old: Side, new: Side, ties: Ties) -> None:
        self._old, self._new, self._ties = old, new, ties
        self._texts = Counter(item.text for item in old.items if not item.is_blank)

    def run(self) -> BodyChange:
        """Return the changes of the body."""
        old, new = self._old.items, self._new.items
        steps = align(old, new)
        pieces = [self._piece(at, step) for at, step in enumerate(steps)]
        pieces = list(self._moved(pieces))
        change = BodyChange(pieces, self._section(len(steps)))
        self._ties.atoms.extend(change.atoms)
        self._tie_equals(pieces)
        self._tie_blanks(pieces)
        self._tie_tables(pieces)
        if not any(p.old is not None and p.new is not None and p.old.count for p in pieces):
            self._ties.tie(_of(pieces), "nothing of the document stayed")
        self._tie_seams(change.atoms)
        if not holds_apart(old, new, steps, self._groups(pieces)):
            self._ties.tie(_of(pieces), _REPEATED)
        return change

    # --- one step ------------------------------------------------------------------------------

    def _piece(self, at: int, step: Step) -> Piece:
        old = self._old.items[step.old] if step.old is not None else None
        new = self._new.items[step.new] if step.new is not None else None
        if old is not None and new is not None:
            if old.print == new.print:
                return Piece(step, old, new)
            return self._changed(at, step, old, new)
        return Piece(step, old, new, self._one_sided(at, step, old, new))

    def _one_sided(self, at: int, step: Step, old: Item | None, new: Item | None) -> Atom:
        item = old or new
        assert item is not None
        shown = item.text if item.type != "mark" else "a mark between paragraphs"
        where = step.old if old is not None else step.gap
        anchor = ("removed" if old is not None else "added", where, item.print)
        return Atom(
            kind="table" if item.type == "t" else "paragraph",
            group="other" if item.type == "mark" else "text",
            label=_label(item) if new is not None else f"{_label(item)} (removed)",
            anchor=anchor,
            order=(at,),
            place=_place(new) if new is not None else None,
            before=shown if old is not None else None,
            after=shown if new is not None else None,
            old=(old.element,) if old is not None else (),
            new=(new.element,) if new is not None else (),
        )

    def _changed(self, at: int, step: Step, old: Item, new: Item) -> Piece:
        inner: Inner | None = None
        if old.type == "p":
            inner = self._words(at, step, old, new)
        elif old.type == "t":
            inner = self._table(at, step, old, new)
        if inner is not None and inner.atoms:
            return Piece(step, old, new, None, inner)
        return Piece(step, old, new, self._whole(at, step, old, new))

    def _whole(self, at: int, step: Step, old: Item, new: Item) -> Atom:
        is_said = words_of(old.element) != words_of(new.element)
        return Atom(
            kind="table" if new.type == "t" else "paragraph",
            group="text" if is_said else "looks",
            label=_label(new),
            anchor=("changed", step.old, old.print, new.print),
            order=(at,),
            place=_place(new),
            before=old.text,
            after=new.text,
            tied=_WHOLE.get(new.type) if is_said else None,
            old=(old.element,),
            new=(new.element,),
        )

    # --- words ---------------------------------------------------------------------------------

    def _words(self, at: int, step: Step, old: Item, new: Item) -> Words | None:
        wording = compare(
            line_of(old.element, self._old.imprint),
            line_of(new.element, self._new.imprint),
            is_known=old.ident is not None and old.ident == new.ident,
        )
        if wording is None or not self._is_whole(wording):
            return None
        if wording.is_mixed_into(lambda text: self._texts[text] > (text == old.text)):
            return None
        by_change = {one: self._word_change(at, step, new, wording, one) for one in wording.changes}
        look = self._look(at, step, new, wording) if wording.has_other_look else None
        return Words(wording, by_change, look)

    def _is_whole(self, wording: Wording) -> bool:
        """Whether no end of a range, and no note, is among the changed words."""
        return all(
            self._old.anchors(wording.old.elements(one.old_start, one.old_end))
            == self._new.anchors(wording.new.elements(one.new_start, one.new_end))
            for one in wording.changes
        )

    def _word_change(self, at: int, step: Step, item: Item, wording: Wording, one: Change) -> Atom:
        gone = wording.old.tokens[one.old_start : one.old_end]
        come = wording.new.tokens[one.new_start : one.new_end]
        before, after = ("".join(token.text for token in side) for side in (gone, come))
        keys = tuple("".join(token.key for token in side) for side in (gone, come))
        words = after.strip()
        return Atom(
            kind="paragraph",
            group="text",
            label=_label(item),
            anchor=("words", step.old, one.old_start, one.old_end, *keys),
            order=(at, one.old_start),
            place=replace(_place(item), words=words or None),
            before=before,
            after=after,
            old=wording.old.elements(one.old_start, one.old_end),
            new=wording.new.elements(one.new_start, one.new_end),
        )

    def _look(self, at: int, step: Step, item: Item, wording: Wording) -> Atom:
        sides = (wording.old.head, wording.new.head, repr(wording.looks))
        heads = [p for p in (wording.old.properties, wording.new.properties) if p is not None]
        told = "look of the paragraph" if wording.old.head != wording.new.head else "look of words"
        return Atom(
            kind="paragraph",
            group="looks",
            label=_label(item),
            anchor=("look", step.old, *map(digest, sides)),
            order=(at, len(wording.old.tokens) + 1),
            place=_place(item),
            before=told,
            after=item.text,
            old=[*heads[:1], *wording.old.elements(0, len(wording.old.tokens))],
            new=[*heads[-1:], *wording.new.elements(0, len(wording.new.tokens))],
        )

    # --- tables --------------------------------------------------------------------------------

    def _table(self, at: int, step: Step, old: Item, new: Item) -> Table | None:
        if not (_is_plain(old.element, _IN_TABLE) and _is_plain(new.element, _IN_TABLE)):
            return None
        grids = [item.element.find(n.TBL_GRID) for item in (old, new)]
        if self._old.imprint.of(grids[0]) != self._new.imprint.of(grids[1]):
            return None
        sides = [list(_rows(side, item)) for side, item in ((self._old, old), (self._new, new))]
        steps = align(*sides)
        if not any(one.old is not None and one.new is not None for one in steps):
            return None
        rows = [self._row(at, step, new, number, one, *sides) for number, one in enumerate(steps)]
        lone = [row for row in rows if row.atom is not None and None in (row.old, row.new)]
        merges = any(
            vertical_merge(cell) is not None
            for row in lone
            for item in (row.old, row.new)
            if item is not None
            for cell in item.element.iterchildren(n.TC)
        )
        groups = [frozenset({k}) for k, row in enumerate(rows) if row.atoms]
        if merges or not holds_apart(sides[0], sides[1], steps, groups):
            return None
        repeated = [item.print for row in lone for item in (row.old, row.new) if item is not None]
        if len(set(repeated)) < len(repeated):
            return None
        return Table(old.element, self._table_look(at, step, old, new), rows)

    def _table_look(self, at: int, step: Step, old: Item, new: Item) -> Swap | None:
        before, after = old.element.find(n.TBL_PR), new.element.find(n.TBL_PR)
        prints = self._old.imprint.of(before), self._new.imprint.of(after)
        if prints[0] == prints[1]:
            return None
        atom = Atom(
            kind="table",
            group="looks",
            label=_label(new),
            anchor=("table look", step.old, *map(digest, prints)),
            order=(at, -1),
            place=_place(new),
            before="look of the table",
            after="look of the table",
            old=[before] if before is not None else [],
            new=[after] if after is not None else [],
        )
        return Swap(before, after, atom)

    def _row(
        self,
        at: int,
        above: Step,
        table: Item,
        number: int,
        step: Step,
        olds: Sequence[Item],
        news: Sequence[Item],
    ) -> Piece:
        old = olds[step.old] if step.old is not None else None
        new = news[step.new] if step.new is not None else None
        if old is not None and new is not None:
            if old.print == new.print:
                return Piece(step, old, new)
            cells = self._cells(at, above, table, number, step, old, new)
            if cells:
                return Piece(step, old, new, None, Row(old.element, cells))
        row = step.new if step.new is not None else step.old
        is_said = old is None or new is None or old.text != new.text
        place = replace(_place(table), table_row=step.new) if new is not None else None
        prints = [item.print if item is not None else None for item in (old, new)]
        removed = "" if new is not None else " (removed)"
        atom = Atom(
            kind="table",
            group="text" if is_said else "looks",
            label=f"{_label(table)} row {row}{removed}",
            anchor=("row", above.old, step.old, step.gap, *prints),
            order=(at, number),
            place=place,
            before=old.text if old is not None else None,
            after=new.text if new is not None else None,
            tied="the cells of the row changed together" if old and new and is_said else None,
            old=[old.element] if old is not None else [],
            new=[new.element] if new is not None else [],
        )
        return Piece(step, old, new, atom)

    def _cells(
        self, at: int, above: Step, table: Item, number: int, step: Step, old: Item, new: Item
    ) -> list[Swap]:
        """Return the cells that changed; none where more than cells of the row did."""
        olds, news = (list(item.element.iterchildren(n.TC)) for item in (old, new))
        plain = _is_plain(old.element, _IN_ROW) and _is_plain(new.element, _IN_ROW)
        heads = [
            side.imprint.of(*(one for one in item.element if one.tag != n.TC))
            + "".join(side.imprint.of(cell.find(n.TC_PR)) for cell in cells)
            for side, item, cells in ((self._old, old, olds), (self._new, new, news))
        ]
        if not plain or len(olds) != len(news) or heads[0] != heads[1]:
            return []
        grid = grid_cells(new.element)
        found = []
        for column, (a, b) in enumerate(zip(olds, news, strict=True)):
            prints = self._old.imprint.of(a), self._new.imprint.of(b)
            if prints[0] == prints[1]:
                continue
            shown = grid.index(b) if b in grid else column
            place = replace(_place(table), table_row=step.new, table_column=shown)
            texts = self._old.texts.cell(a), self._new.texts.cell(b)
            atom = Atom(
                kind="table",
                group="text" if words_of(a) != words_of(b) else "looks",
                label=f"{_label(table)} row {step.new} column {shown}",
                anchor=("cell", above.old, step.old, column, *map(digest, prints)),
                order=(at, number, column),
                place=place,
                before=texts[0],
                after=texts[1],
                old=(a,),
                new=(b,),
            )
            found.append(Swap(a, b, atom))
        return found

    # --- the end of the body -------------------------------------------------------------------

    def _section(self, at: int) -> Swap | None:
        old, new = self._old.section, self._new.section
        prints = self._old.imprint.of(old), self._new.imprint.of(new)
        if prints[0] == prints[1]:
            return None
        atom = Atom(
            kind="part",
            group="looks",
            label="page set-up",
            anchor=("section", *map(digest, prints)),
            order=(at,),
            before="page set-up",
            after="page set-up",
            old=[old] if old is not None else [],
            new=[new] if new is not None else [],
        )
        return Swap(old, new, atom)

    # --- what hangs together -------------------------------------------------------------------

    def _moved(self, pieces: Sequence[Piece]) -> Iterator[Piece]:
        """Yield the pieces, blocks that only went elsewhere with one atom for both their places."""
        gone = _by_print(piece for piece in pieces if piece.new is None)
        come = _by_print(piece for piece in pieces if piece.old is None)
        moves: dict[Step, Atom] = {}
        for shown, (one, *others) in gone.items():
            to = come.get(shown, [])
            if not others and len(to) == 1 and one.old is not None and one.old.text.strip():
                assert one.atom is not None
                assert to[0].atom is not None
                moves[one.step] = moves[to[0].step] = replace(
                    to[0].atom,
                    label=f"{to[0].atom.label} (moved)",
                    group="structure",
                    anchor=("moved", one.atom.anchor, to[0].atom.anchor),
                    before=one.atom.before,
                    old=one.atom.old,
                )
        for piece in pieces:
            atom = moves.get(piece.step)
            yield replace(piece, atom=atom) if atom is not None else piece

    def _tie_equals(self, pieces: Sequence[Piece]) -> None:
        """Tie equal blocks that came at one place, or went here and came there."""
        places: dict[tuple[object, ...], list[Atom]] = {}
        lone = [piece for piece in pieces if None in (piece.old, piece.new) and piece.atom]
        idents: dict[str, list[Atom]] = {}
        both = {p.new.print for p in lone if p.new} & {p.old.print for p in lone if p.old}
        for piece in lone:
            item = piece.new or piece.old
            assert item is not None
            assert piece.atom is not None
            if piece.old is None:
                places.setdefault((piece.step.gap, item.print), []).append(piece.atom)
            if item.print in both and item.text.strip():
                places.setdefault(("moved", item.print), []).append(piece.atom)
            if item.ident is not None:
                idents.setdefault(item.ident, []).append(piece.atom)
        for atoms in places.values():
            self._ties.tie(atoms, _REPEATED)
        for atoms in idents.values():
            self._ties.tie(atoms, _MOVED)

    def _tie_blanks(self, pieces: Sequence[Piece]) -> None:
        """Tie blank lines that came or went to the paragraph above them, or below, that did."""
        for (is_old, is_new), run in groupby(pieces, lambda p: (p.old is None, p.new is None)):
            if is_old == is_new:
                continue
            above: list[Atom] = []
            is_strong = False
            for piece in run:
                item = piece.new or piece.old
                assert item is not None
                assert piece.atom is not None
                if is_strong and not item.is_blank:
                    self._ties.tie(above, _BLANK)
                    above, is_strong = [], False
                above.append(piece.atom)
                is_strong |= not item.is_blank
            self._ties.tie(above, _BLANK)

    def _tie_tables(self, pieces: Sequence[Piece]) -> None:
        """Tie tables that came or went to the paragraph beside them that did: it parts them."""
        for above, piece, below in zip([None, *pieces], pieces, [*pieces[1:], None], strict=False):
            item = piece.new or piece.old
            if item is None or item.type != "t" or None not in (piece.old, piece.new):
                continue
            for beside in (below, above):
                if beside is not None and _came_together(piece, beside):
                    assert piece.atom is not None
                    assert beside.atom is not None
                    self._ties.tie((piece.atom, beside.atom), _AROUND_TABLE)
                    break

    def _tie_seams(self, atoms: Sequence[Atom]) -> None:
        """Tie changes that hold the ends of one range, or the two places of one note."""
        by_anchor: dict[str, list[Atom]] = {}
        for atom in atoms:
            old, new = self._old.anchors(atom.old), self._new.anchors(atom.new)
            for word in {key for key, _ in (old - new) + (new - old)}:
                by_anchor.setdefault(word, []).append(atom)
        for word, found in by_anchor.items():
            what = word.partition(" ")[0] if word != "section break" else word
            self._ties.tie(found, f"a {what} reaches across them")

    def _groups(self, pieces: Sequence[Piece]) -> list[frozenset[int]]:
        """Return the steps that change something, those together that hang together."""
        owner: dict[Atom, int] = {}
        groups: dict[int, set[int]] = {}
        for at, piece in enumerate(pieces):
            if not piece.atoms:
                continue
            known = {owner[top] for atom in piece.atoms if (top := self._ties.top(atom)) in owner}
            first = min(known, default=at)
            groups.setdefault(first, set()).add(at)
            for other in known - {first}:
                groups[first] |= groups.pop(other)
            for atom in piece.atoms:
                owner[self._ties.top(atom)] = first
            owner.update((top, first) for top, have in owner.items() if have in known)
        return [frozenset(group) for group in groups.values()]


def _of(pieces: Sequence[Piece]) -> list[Atom]:
    return [atom for piece in pieces for atom in piece.atoms]


def _came_together(piece: Piece, other: Piece) -> bool:
    """Whether the other is a paragraph that came or went as the piece did."""
    item = other.new if piece.old is None else other.old
    is_alike = (other.old is None, other.new is None) == (piece.old is None, piece.new is None)
    return is_alike and item is not None and item.type == "p"


def _by_print(pieces: Iterator[Piece]) -> dict[str, list[Piece]]:
    found: dict[str, list[Piece]] = {}
    for piece in pieces:
        item = piece.old or piece.new
        assert item is not None
        found.setdefault(f"{item.type} {item.print}", []).append(piece)
    return found


def _label(item: Item) -> str:
    if item.type == "t":
        return f"table (paragraph {item.first})"
    if item.count > 1:
        return f"paragraphs {item.first}–{item.first + item.count - 1}"
    return f"paragraph {item.first}"


def _place(item: Item) -> Place:
    last = item.first + item.count - 1 if item.count > 1 else None
    return Place(paragraph=item.first, paragraph_end=last)


_IN_TABLE = frozenset({n.TBL_PR, n.TBL_GRID, n.TR})
_IN_ROW = frozenset({n.w("tblPrEx"), n.TR_PR, n.TC})


def _is_plain(element: Element, tags: frozenset[str]) -> bool:
    """Whether nothing but its own parts stands in a table or row."""
    return all(not isinstance(child.tag, str) or child.tag in tags for child in element)


def _rows(side: Side, table: Item) -> Iterator[Item]:
    for row in table.element.iterchildren(n.TR):
        texts = (side.texts.cell(cell) for cell in row.iterchildren(n.TC))
        shown = digest(side.imprint.of(row))
        text = "\t".join(texts)
        yield Item("row", row, shown, text, row.get(PARA_ID))

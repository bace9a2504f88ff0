"""Pieces of a document that can be put together with some of their changes and without others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from backshop.formats.diff.alignment import Change
from backshop.formats.package.guard import Element
from backshop.formats.selection.block_alignment import Step

from ..text import name as n
from .atom import Atom
from .item import Item
from .wording import Wording

Taken = Callable[[Atom], bool]
Adopt = Callable[[Element], Element]


class Inner(Protocol):
    """A pair of versions with changes of its own inside."""

    @property
    def atoms(self) -> Sequence[Atom]:
        """The changes inside, in order."""

    def composed(self, taken: Taken, adopt: Adopt) -> Element:
        """Return the old element with some of the changes; it may be changed itself."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A step from one side to the other; neither `atom` nor `inner`: nothing changed there."""

    step: Step
    old: Item | None
    new: Item | None
    atom: Atom | None = None
    inner: Inner | None = None

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The changes of this step."""
        if self.atom is not None:
            return (self.atom,)
        return tuple(self.inner.atoms) if self.inner is not None else ()


def place(container: Element, pieces: Sequence[Piece], taken: Taken, adopt: Adopt) -> None:
    """Give a container of the old side what the pieces have with the changes that are taken."""
    last: Element | None = None  # the one behind which new ones go
    for piece in pieces:
        shown = _shown(piece, taken, adopt)
        old = piece.old.element if piece.old is not None else None
        if old is not None and shown is not old:
            at = container.index(old)
            container.remove(old)
            if shown is not None:
                container.insert(at, shown)
        elif old is None and shown is not None:
            container.insert(_place_after(container, last, pieces), shown)
        last = shown if shown is not None else last


def _place_after(container: Element, last: Element | None, pieces: Sequence[Piece]) -> int:
    """Return where the next new element goes; the first one goes before all that are compared."""
    if last is not None:
        return container.index(last) + 1
    elements = {piece.old.element for piece in pieces if piece.old is not None}
    there = (
        at for at, child in enumerate(container) if child in elements or child.tag == n.SECT_PR
    )
    return next(there, len(container))


def _shown(piece: Piece, taken: Taken, adopt: Adopt) -> Element | None:
    old = piece.old.element if piece.old is not None else None
    new = piece.new.element if piece.new is not None else None
    if piece.inner is not None:
        assert old is not None
        assert new is not None
        chosen = [taken(atom) for atom in piece.inner.atoms]
        if all(chosen):
            return adopt(new)
        return piece.inner.composed(taken, adopt) if any(chosen) else old
    if piece.atom is not None and taken(piece.atom):
        return adopt(new) if new is not None else None
    return old


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph with word changes and a change of its look."""

    wording: Wording
    by_change: dict[Change, Atom]
    look: Atom | None

    @property
    def atoms(self) -> list[Atom]:
        """The changes of words, then that of the look."""
        return [*self.by_change.values(), *([self.look] if self.look is not None else [])]

    def composed(self, taken: Taken, adopt: Adopt) -> Element:
        """Return the paragraph with some of the changes."""
        chosen = [change for change, atom in self.by_change.items() if taken(atom)]
        with_look = self.look is not None and taken(self.look)
        return self.wording.composed(chosen, with_look, adopt)


@dataclass(frozen=True, slots=True)
class Swap:
    """An element of which both sides have a version, or one of them none."""

    old: Element | None
    new: Element | None
    atom: Atom


@dataclass(frozen=True, slots=True)
class Row:
    """A row of which some cells changed."""

    element: Element
    cells: Sequence[Swap]

    @property
    def atoms(self) -> list[Atom]:
        """The changes of the cells."""
        return [cell.atom for cell in self.cells]

    def composed(self, taken: Taken, adopt: Adopt) -> Element:
        """Put changed cells in the place of the old ones."""
        for cell in self.cells:
            if taken(cell.atom):
                swap(self.element, cell, adopt)
        return self.element


@dataclass(frozen=True, slots=True)
class Table:
    """A table of which the look, rows or cells changed."""

    element: Element
    look: Swap | None
    rows: Sequence[Piece]

    @property
    def atoms(self) -> list[Atom]:
        """The change of the look, then those of rows and cells."""
        return [*([self.look.atom] if self.look else []), *self._of_rows()]

    def _of_rows(self) -> Iterator[Atom]:
        for row in self.rows:
            yield from row.atoms

    def composed(self, taken: Taken, adopt: Adopt) -> Element:
        """Change the table in its place."""
        if self.look is not None and taken(self.look.atom):
            swap(self.element, self.look, adopt)
        place(self.element, self.rows, taken, adopt)
        return self.element


def swap(parent: Element, pair: Swap, adopt: Adopt, at: int = 0) -> None:
    """Put the new version of a child in the place of the old; one that is missing goes to `at`."""
    if pair.old is not None:
        at = parent.index(pair.old)
        parent.remove(pair.old)
    if pair.new is not None:
        parent.insert(at, adopt(pair.new))

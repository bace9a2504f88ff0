"""An atom: the smallest thing that differs; those that hang together make up one change unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from backshop.base.place import Place
from backshop.formats.package.guard import Element
from backshop.formats.selection.change_unit import ChangeUnit, shortened, unit_id


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Atom:
    """One difference: what a person reads of it, and the elements of both sides it is made of."""

    kind: str
    group: str
    label: str
    anchor: tuple[object, ...]  # where it stands before, and both its sides
    order: tuple[int, ...]
    place: Place | None = None
    before: str | None = None
    after: str | None = None
    tied: str | None = None
    old: Sequence[Element] = ()
    new: Sequence[Element] = ()
    part: str | None = None  # the part the elements stand in; None: the main one


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Atoms that are taken or left together."""

    atoms: tuple[Atom, ...]
    told: ChangeUnit


@dataclass(slots=True)
class Ties:
    """Which atoms hang together, and why."""

    atoms: list[Atom] = field(default_factory=list)
    _above: dict[Atom, Atom] = field(default_factory=dict)
    _why: dict[Atom, str] = field(default_factory=dict)

    def add(self, atom: Atom) -> Atom:
        """Take in one more."""
        self.atoms.append(atom)
        return atom

    def top(self, atom: Atom) -> Atom:
        """Return the one that stands for all that hang together with an atom."""
        while (above := self._above.get(atom)) is not None:
            atom = above
        return atom

    def tie(self, atoms: Iterable[Atom], why: str) -> None:
        """Have atoms be taken or left together."""
        first: Atom | None = None
        for atom in atoms:
            top = self.top(atom)
            if first is None:
                first = top
            elif top is not first:
                self._above[top] = first
                self._why.setdefault(first, self._why.get(top, why))

    def units(self) -> list[Unit]:
        """Return the units in file order."""
        groups: dict[Atom, list[Atom]] = {}
        for atom in self.atoms:
            groups.setdefault(self.top(atom), []).append(atom)
        found = [
            _unit(sorted(group, key=lambda atom: atom.order), self._why.get(top))
            for top, group in groups.items()
        ]
        return sorted(found, key=lambda unit: unit.atoms[0].order)


def _unit(atoms: list[Atom], why: str | None) -> Unit:
    first = atoms[0]
    anchors = sorted(repr(atom.anchor) for atom in atoms)
    groups = [atom.group for atom in atoms]
    group = next((one for one in ("text", "structure") if one in groups), groups[0])
    more = f" and {len(atoms) - 1} more" if len(atoms) > 1 else ""
    placed = next((atom.place for atom in atoms if atom.place is not None), None)
    told = ChangeUnit(
        id=unit_id(first.kind, anchors),
        kind=first.kind,
        group=group,
        label=first.label + more,
        place=placed,
        before=shortened(_joined(atom.before for atom in atoms)),
        after=shortened(_joined(atom.after for atom in atoms)),
        tied=why or first.tied,
    )
    return Unit(tuple(atoms), told)


def _joined(texts: Iterable[str | None]) -> str | None:
    said = [text for text in texts if text is not None]
    return "\n".join(said) if said else None

"""Writes a document with some of its changes: the old one, and what is taken put into it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from backshop.formats.output import write_file
from backshop.formats.package.archive import unverified
from backshop.formats.package.guard import Element
from backshop.formats.package.package import Package
from backshop.formats.protocol import Limits, Source
from backshop.formats.selection.change_unit import ChangeUnit, unit_id

from ..edit.unit import seams
from ..text.source import Document
from .mixture import place, swap
from .plan import Inseparable, Plan
from .side import Ref
from .supply import Supply, entry_key
from .transfer import Transfer, with_names


def separate(before: Source, after: Source) -> list[ChangeUnit]:
    """Return every change between two documents that can be taken or left by itself."""
    if before.sha256 == after.sha256:
        return []
    try:
        plan = Plan(Document.open(before), Document.open(after))
    except Inseparable as error:
        return [_whole(before, after, str(error))]
    told = _told(plan)
    if told and not _leads_there(before, after, plan):
        return [_whole(before, after, "the changes of this document hang together")]
    return told


def compose(before: Source, after: Source, left_out: frozenset[str], out: Path) -> None:
    """Write the old document with all changes that are not left out.

    Raises:
        FormatError: `verify_failed`: it would show something else; nothing is written.
    """
    plan = _plan(before, after)
    units = {unit.id for unit in _told(plan)} if plan is not None else set()
    if not left_out <= units:
        units = {unit.id for unit in separate(before, after)}
    if plan is None or not units & left_out or units <= left_out:
        taken = before if units <= left_out else after
        write_file(out, taken.path.read_bytes())
        return
    _Composer(plan, left_out).run()
    package = plan.old.package
    found = Plan(Document.open(before), Document(_reopened(package, before.limits)))
    if {unit.id for unit in _told(found)} != units - left_out:
        raise unverified("the document would show other changes than those that stay")
    package.save(out)


def _plan(before: Source, after: Source) -> Plan | None:
    try:
        return Plan(Document.open(before), Document.open(after))
    except Inseparable:
        return None


def _told(plan: Plan) -> list[ChangeUnit]:
    return [unit.told for unit in plan.units]


def _leads_there(before: Source, after: Source, plan: Plan) -> bool:
    """Whether the old document with all changes is the new one, and they are found in it again.

    The plan is used up.
    """
    ids = [unit.id for unit in _told(plan)]
    if len(set(ids)) < len(ids):
        return False
    try:
        _Composer(plan, frozenset()).run()
        result = _reopened(plan.old.package, before.limits)
        rest = Plan(Document(result.fresh()), plan.new)
        again = Plan(Document.open(before), Document(result))
    except Inseparable:
        return False
    return not rest.units and [unit.id for unit in _told(again)] == ids


def _reopened(package: Package, limits: Limits) -> Package:
    return Package.from_bytes(package.to_bytes(), limits)


def _whole(before: Source, after: Source, why: str) -> ChangeUnit:
    return ChangeUnit(
        id=unit_id("file", before.sha256, after.sha256),
        kind="file",
        group="other",
        label="the document",
        tied=why,
    )


class _Composer:
    """Puts what is taken of a plan into its old document."""

    def __init__(self, plan: Plan, left_out: frozenset[str]) -> None:
        self._plan = plan
        self._taken = {
            atom for unit in plan.units if unit.told.id not in left_out for atom in unit.atoms
        }
        self._transfer = Transfer(plan.new, plan.old, dict(plan.back))
        self._atoms = [atom for unit in plan.units for atom in unit.atoms]
        sides = (side.trees.root(side.part) for side in (plan.old, plan.new))
        self._loose = [seams(root).loose for root in sides]

    def run(self) -> None:
        """Change the old document."""
        plan = self._plan
        document = plan.old
        taken = self._taken.__contains__
        if any(plan.body.atoms) and self._taken:
            with_names(document, plan.new)
        root = document.trees.touch(document.part)
        place(document.body_element, plan.body.pieces, taken, self._transfer.adopt)
        section = plan.body.section
        if section is not None and taken(section.atom):
            body = document.body_element
            swap(body, section, self._transfer.adopt, len(body))
        for beside in plan.frame:
            if taken(beside.atom):
                swap(root, beside, self._transfer.adopt)
        needed = frozenset[Ref]().union(*(plan.needs(atom) for atom in self._taken))
        for supply in plan.supplies:
            self._stock(supply, needed)
        self._parts(needed)
        self._check_seams(root)
        document.trees.flush()

    # --- styles, lists, notes, comments --------------------------------------------------------

    def _stock(self, supply: Supply, needed: frozenset[Ref]) -> None:
        plan = self._plan
        owner = plan.entries.get
        come = [k for k in supply.added if k in needed or owner(k) in self._taken]
        gone = [k for k in supply.removed if self._is_released(k)]
        other = [k for k in supply.changed if owner(k) in self._taken]
        if not (come or gone or other):
            return
        if supply.old is None:
            self._found(supply, come)
            return
        if supply.new is None and len(gone) == len(supply.removed):
            self._transfer.drop(supply.old.part)
            return
        root = plan.old.trees.touch(supply.old.part)
        for key in gone:
            root.remove(supply.old.entries[key].element)
        for key in (*other, *come):
            self._put_entry(supply, key, root)

    def _is_released(self, ref: Ref) -> bool:
        """Whether nothing that stays as it was needs what the new side has not."""
        owner = self._plan.entries.get(ref)
        if owner is not None:
            return owner in self._taken
        return all(atom in self._taken for atom in self._atoms if ref in self._plan.held(atom))

    def _put_entry(self, supply: Supply, key: Ref, root: Element) -> None:
        assert supply.new is not None
        assert supply.old is not None
        theirs = supply.new.entries[key].element
        entry = self._transfer.adopt_into(theirs, supply.new.part, supply.old.part)
        there = {
            entry_key(child, supply.kind): child for child in root if isinstance(child.tag, str)
        }
        if key in there:
            root.replace(there[key], entry)
            return
        above = (
            there.get(entry_key(one, supply.kind))
            for one in theirs.itersiblings("*", preceding=True)
        )
        last = next((one for one in above if one is not None), None)
        root.insert(root.index(last) + 1 if last is not None else 0, entry)

    def _found(self, supply: Supply, keys: Iterable[Ref]) -> None:
        """Add a part that the old document has not, with the entries that are needed."""
        assert supply.new is not None
        plan, shelf = self._plan, supply.new
        wanted = set(keys)
        self._transfer.carry(shelf.part)
        self._transfer.relate(shelf.part)
        root = plan.old.trees.touch(shelf.part)
        for child in list(root):
            if isinstance(child.tag, str) and entry_key(child, supply.kind) not in wanted:
                root.remove(child)

    # --- other parts ---------------------------------------------------------------------------

    def _parts(self, needed: frozenset[Ref]) -> None:
        plan, transfer = self._plan, self._transfer
        for one in plan.parts:
            if one.atom not in self._taken:
                continue
            if one.kind == "removed":
                assert one.old is not None
                transfer.drop(one.old)
            elif one.old is not None and one.new is not None:
                transfer.put(one.new, one.old)
            elif one.new is not None:
                transfer.carry(one.new)
                transfer.relate(one.new)
        for ref in sorted(needed):
            if ref[0] == "part":
                transfer.carry(ref[1])
        own = {one.old for one in plan.parts if one.kind == "removed"}
        held = {ref for atom in self._atoms for ref in plan.held(atom) if ref[0] == "part"}
        for ref in sorted(held):
            if ref[1] not in own and ref[1] in plan.old.package and self._is_released(ref):
                transfer.drop(ref[1])

    def _check_seams(self, root: Element) -> None:
        """Refuse a document in which something is torn that is whole on both sides."""
        loose = seams(root).loose
        for known in self._loose:
            loose = loose - known
        if loose:
            raise unverified(f"torn: {', '.join(sorted(loose)[:5])}")

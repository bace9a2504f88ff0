"""The plan of a selection: every difference between two documents as atoms, tied into units.

Whatever the pieces of this package do not know to part makes the whole file one unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from backshop.formats.diff import part_diff
from backshop.formats.package.guard import Element
from backshop.formats.package.package import CONTENT_TYPES

from ..text import name as n
from ..text.source import Document
from .atom import Atom, Ties, Unit
from .body_change import BodyChange, Comparison
from .imprint import digest, words_of
from .mixture import Swap
from .side import Ref, Side, references
from .supply import JOINED, KINDS, Supply, supplies

# Where these lead shows in the elements that name them.
_NAMED_RELATIONS = frozenset(
    (
        *("image", "hyperlink", "header", "footer", "chart", "chartEx", "oleObject", "package"),
        *("diagramData", "diagramLayout", "diagramQuickStyle", "diagramColors", "diagramDrawing"),
        *("aFChunk", "control", "video", "audio", "media", "subDocument", "frame"),
        *("attachedTemplate", "customXmlProps", *KINDS),
    )
)
_TOGETHER = (("/diagrams/", "diagram"), ("omment", "comment"), ("/people.xml", "comment"))
_BINDING = n.w("dataBinding")
_WORDS_OF = frozenset(("hdr", "ftr", "footnotes", "endnotes", "comments", "chartSpace"))


class Inseparable(Exception):
    """The two files differ in a way that cannot be taken apart; the message says which."""


@dataclass(frozen=True, slots=True)
class PartChange:
    """A part that came, went or is another; its atom."""

    kind: str  # changed, added, removed
    old: str | None
    new: str | None
    atom: Atom


class Plan:
    """Two documents and every change between them."""

    def __init__(self, old: Document, new: Document) -> None:
        self.old, self.new = old, new
        self._refuse()
        self._ties = Ties()
        self._parts = part_diff.Comparison(old.package, new.package, self._rules())
        self.twins = dict(self._parts.old.renamed)  # old part → new part
        self.back = {after: before for before, after in self.twins.items()}
        leads = (self._leads(self._parts.old), self._leads(self._parts.new))
        self.supplies = list(supplies(old, new, leads))
        self._told = {shelf.part for one in self.supplies for shelf in (one.old, one.new) if shelf}
        sides = [
            Side(doc, lead.get(doc.part, {})) for doc, lead in zip((old, new), leads, strict=True)
        ]
        self.sides = sides[0], sides[1]
        self.body: BodyChange = Comparison(*self.sides, self._ties).run()
        self.frame: list[Swap] = list(self._frame())
        self._needs: dict[Atom, frozenset[Ref]] = {}
        self._held: dict[Atom, frozenset[Ref]] = {}
        self.entries: dict[Ref, Atom] = {}  # the atom of entries that have one of their own
        self.parts: list[PartChange] = []
        self._compare_parts()
        self._tie_parts()

    @cached_property
    def units(self) -> list[Unit]:
        """The units in file order."""
        return self._ties.units()

    # --- what cannot be taken apart ------------------------------------------------------------

    def _refuse(self) -> None:
        for document in (self.old, self.new):
            package = document.package
            if package.has_macros or package.is_signed:
                raise Inseparable("a document with macros or a signature is only exchanged whole")
        same = (
            self.old.part == self.new.part and self.old.trees.is_strict == self.new.trees.is_strict
        )
        if not same:
            raise Inseparable("the document is stored in another way")
        old, new = (side.trees.root(side.part) for side in (self.old, self.new))
        if any(old.nsmap.get(prefix, uri) != uri for prefix, uri in new.nsmap.items()):
            raise Inseparable("the document is stored in another way")

    def _rules(self) -> part_diff.Rules:
        return part_diff.Rules(
            place=lambda part, _: part_diff.Place(part_diff.part_words(part)),
            told=lambda pair: [] if self._is_told(pair.new_name) else None,
            is_told=lambda part, _: self._is_told(part),
            differs=lambda _: False,
            skipped_relations=_NAMED_RELATIONS,
        )

    def _is_told(self, part: str) -> bool:
        return part == self.new.part or part in self._told

    def _leads(self, side: part_diff.Side) -> dict[str, dict[str, str]]:
        document = self.old if side is self._parts.old else self.new
        parts = [
            document.part,
            *(p for k in KINDS for _, p in document.trees.related(document.part, k)),
        ]
        return {part: side.targets(part) for part in parts}

    def _frame(self) -> Iterator[Swap]:
        """Yield what stands beside the body in the main part: the background of pages."""
        sides = [
            {
                str(child.tag): child
                for child in side.root
                if child.tag != n.BODY and isinstance(child.tag, str)
            }
            for side in self.sides
        ]
        for tag in dict.fromkeys((*sides[0], *sides[1])):
            old, new = sides[0].get(tag), sides[1].get(tag)
            prints = self.sides[0].imprint.of(old), self.sides[1].imprint.of(new)
            if prints[0] != prints[1]:
                atom = Atom(
                    kind="part",
                    group="looks",
                    label="background",
                    anchor=("frame", tag, *map(digest, prints)),
                    order=(-1,),
                    old=[old] if old is not None else [],
                    new=[new] if new is not None else [],
                )
                yield Swap(old, new, self._ties.add(atom))

    # --- parts and entries ---------------------------------------------------------------------

    def _compare_parts(self) -> None:
        rest = self._parts.run()["rest"]
        assert isinstance(rest, list)
        lone: list[tuple[str, str]] = []
        for one in rest:
            part, kind = str(one["part"]), str(one["kind"])
            if part in (CONTENT_TYPES, "_rels/.rels", self.new.part):
                raise Inseparable("what the parts of the document are to one another changed")
            if kind == "changed":
                self._add_part(kind, self.back.get(part, part), part, one)
            else:
                lone.append((part, kind))
        for supply in self.supplies:
            self._changed_entries(supply)
        self._lone_parts(lone)
        for supply in self.supplies:
            self._lone_entries(supply)

    def _add_part(
        self, kind: str, old: str | None, new: str | None, said: Mapping[str, object] | None = None
    ) -> Atom:
        name = new or old or ""
        roots = [
            document.trees.root(part)
            if part is not None and part.endswith((".xml", ".rels"))
            else None
            for document, part in ((self.old, old), (self.new, new))
        ]
        words = [words_of(root) if root is not None else "" for root in roots]
        has_words = any(r is not None and part_diff.local(r) in _WORDS_OF for r in roots)
        group = "looks" if part_diff.part_words(name) in ("theme", "fonts", "settings") else "other"
        if has_words:
            group = "text" if words[0] != words[1] else "looks"
        what = "; ".join(map(str, said["what"])) if said else ""  # type: ignore[call-overload]
        digests = [
            side.digest(part) if part is not None else None
            for side, part in ((self._parts.old, old), (self._parts.new, new))
        ]
        atom = Atom(
            kind="part",
            group=group,
            label=part_diff.part_words(name) + (" (removed)" if new is None else ""),
            anchor=("part", kind, old, *self._sides_of(kind, old, new, digests)),
            order=(1_000_000, len(self.parts)),
            before=(words[0] or what or name) if old is not None else None,
            after=(words[1] or what or name) if new is not None else None,
            part=new or old,
        )
        self.parts.append(PartChange(kind, old, new, self._ties.add(atom)))
        return atom

    def _sides_of(
        self, kind: str, old: str | None, new: str | None, digests: list[str | None]
    ) -> list[object]:
        return [old, new, *digests]

    def _changed_entries(self, supply: Supply) -> None:
        """Give entries that are another atoms of their own, those of styles and lists one."""
        if supply.kind in JOINED:
            if supply.changed:
                self._add_entries(supply, supply.changed)
        else:
            for key in supply.changed:
                self._add_entries(supply, [key])

    def _add_entries(self, supply: Supply, keys: list[Ref]) -> Atom:
        olds = [supply.entry(key, is_new=False) for key in keys]
        news = [supply.entry(key, is_new=True) for key in keys]
        sides = [[one.print if one is not None else None for one in side] for side in (olds, news)]
        elements = [[one.element for one in side if one is not None] for side in (olds, news)]
        shelf = supply.new or supply.old
        assert shelf is not None
        texts = [words_of(*side) or _named(keys) if side else None for side in elements]
        is_text = supply.kind not in JOINED and texts[0] != texts[1]
        atom = Atom(
            kind="part",
            group="text" if is_text else "looks",
            label=part_diff.part_words(shelf.part) if len(keys) > 1 else _named(keys),
            anchor=("entries", supply.kind, keys, *sides),
            order=(900_000 + KINDS.index(supply.kind), len(self.entries)),
            before=texts[0],
            after=texts[1],
            old=elements[0],
            new=elements[1],
            part=shelf.part,
        )
        self.entries.update(dict.fromkeys(keys, atom))
        return self._ties.add(atom)

    def _lone_parts(self, lone: Iterable[tuple[str, str]]) -> None:
        """Give parts that came or went atoms of their own where no other change accounts for it."""
        added = [part for part, kind in lone if kind == "added"]
        removed = [part for part, kind in lone if kind == "removed"]
        needed = frozenset[Ref]().union(*(self.needs(atom) for atom in self._ties.atoms))
        held = frozenset[Ref]().union(*(self.held(atom) for atom in self._ties.atoms))
        for part in added:
            if ("part", part) not in needed:
                self._add_part("added", None, part)
        for part in removed:
            if ("part", part) not in held:
                self._add_part("removed", part, None)

    def _lone_entries(self, supply: Supply) -> None:
        """Give entries that came or went an atom where no other change accounts for it."""
        needed = frozenset[Ref]().union(*(self.needs(atom) for atom in self._ties.atoms))
        held = frozenset[Ref]().union(*(self.held(atom) for atom in self._ties.atoms))
        lone = [key for key in supply.added if key not in needed]
        lone += [key for key in supply.removed if key not in held]
        if supply.kind in JOINED:
            if lone:
                self._add_entries(supply, lone)
        else:
            for key in lone:
                self._add_entries(supply, [key])

    # --- what changes need ---------------------------------------------------------------------

    def needs(self, atom: Atom) -> frozenset[Ref]:
        """Return what only the new side has and an atom cannot be taken without."""
        if atom not in self._needs:
            self._needs[atom] = frozenset(self._reached(atom, is_new=True))
        return self._needs[atom]

    def held(self, atom: Atom) -> frozenset[Ref]:
        """Return what only the old side has and an atom cannot be left without."""
        if atom not in self._held:
            self._held[atom] = frozenset(self._reached(atom, is_new=False))
        return self._held[atom]

    def _reached(self, atom: Atom, *, is_new: bool) -> Iterator[Ref]:
        document = self.new if is_new else self.old
        own = self._own_part(atom, is_new=is_new)
        queue: list[Ref] = []
        if own is not None:
            queue += self._of_part(own, is_new=is_new)
        part = self._entry_part(atom, is_new=is_new) or document.part
        queue += references(atom.new if is_new else atom.old, part)
        seen: set[Ref] = set()
        while queue:
            ref = queue.pop()
            if ref in seen:
                continue
            seen.add(ref)
            if ref[0] == "rel":
                queue += self._led(ref, is_new=is_new)
            elif ref[0] == "part":
                if not self._is_shared(ref[1], is_new=is_new):
                    yield ref
                    queue += self._of_part(ref[1], is_new=is_new)
            else:
                entry = self._only(ref, is_new=is_new)
                if entry is not None:
                    yield ref
                    queue += entry

    def _own_part(self, atom: Atom, *, is_new: bool) -> str | None:
        for one in self.parts:
            if one.atom is atom:
                return one.new if is_new else one.old
        return None

    def _entry_part(self, atom: Atom, *, is_new: bool) -> str | None:
        """Return the part in which the elements of an atom stand; None: the main one."""
        for supply in self.supplies:
            shelf = supply.new if is_new else supply.old
            known = {one.part for one in (supply.old, supply.new) if one is not None}
            if shelf is not None and atom.part in known:
                return shelf.part
        return None

    def _led(self, ref: Ref, *, is_new: bool) -> list[Ref]:
        document = self.new if is_new else self.old
        part = document.package.rel_part(ref[1], ref[2])
        return [("part", part)] if part is not None else []

    def _is_shared(self, part: str, *, is_new: bool) -> bool:
        return part in (self.back if is_new else self.twins)

    def _of_part(self, part: str, *, is_new: bool) -> list[Ref]:
        """Return what a part names: other parts, and styles and the like where it holds text."""
        document = self.new if is_new else self.old
        found: list[Ref] = []
        for rel in document.package.rels(part):
            name = document.package.find(rel.part) if rel.part else None
            if name is not None:
                found.append(("part", name))
        if part.endswith(".xml") and part in document.package:
            root = document.trees.root(part)
            if str(root.tag).startswith(f"{{{n.W_NS}}}"):
                found += references([root], part)
        return found

    def _only(self, ref: Ref, *, is_new: bool) -> frozenset[Ref] | None:
        """Return what an entry names that only one side has; None for other entries."""
        for supply in self.supplies:
            entry = supply.entry(ref, is_new=is_new)
            if entry is not None and supply.entry(ref, is_new=not is_new) is None:
                return entry.needs
        return None

    # --- what hangs together -------------------------------------------------------------------

    def _tie_parts(self) -> None:
        own = set(self.entries)
        own |= {("part", one.new or one.old or "") for one in self.parts if one.kind != "changed"}
        for atom in list(self._ties.atoms):
            for ref in (self.needs(atom) | self.held(atom)) & own:
                other = self._owner(ref)
                if other is not None and other is not atom:
                    self._ties.tie((atom, other), "one needs the other")
        self._tie_lone_needs()
        self._tie_related()
        self._tie_bound()

    def _owner(self, ref: Ref) -> Atom | None:
        if ref in self.entries:
            return self.entries[ref]
        named = (one for one in self.parts if ref == ("part", one.new or one.old))
        return next((one.atom for one in named), None)

    def _tie_lone_needs(self) -> None:
        """Tie what came for no reason of its own to the changes that need the same things."""
        lone = {*self.entries.values(), *(one.atom for one in self.parts)}
        for atom in lone:
            for is_new in (True, False):
                mine = self.needs(atom) if is_new else self.held(atom)
                mine -= {ref for ref, owner in self.entries.items() if owner is atom}
                for other in self._ties.atoms if mine else ():
                    if other is not atom and mine & (self.needs if is_new else self.held)(other):
                        self._ties.tie((other, atom), "they need the same styles or parts")

    def _tie_related(self) -> None:
        by_name = {one.new: one.atom for one in self.parts if one.new is not None}
        for name, atom in by_name.items():
            for rel in self.new.package.rels(name):
                part = self.new.package.find(rel.part) if rel.part else None
                if part in by_name:
                    self._ties.tie((atom, by_name[part]), "one part shows the other")
        for mark, word in _TOGETHER:
            found = [one.atom for one in self.parts if mark in f"/{one.new or one.old}"]
            if found and word == "comment":
                found += [atom for ref, atom in self.entries.items() if ref[0] == "comment"]
                found += [a for a in self._ties.atoms if self._names_new_comment(a)]
            self._ties.tie(found, f"the parts of a {word} belong together")

    def _names_new_comment(self, atom: Atom) -> bool:
        return any(ref[0] == "comment" for ref in self.needs(atom) | self.held(atom))

    def _tie_bound(self) -> None:
        """Tie controls that show data to the parts that hold it: Word fills them from there."""
        data = [
            one.atom
            for one in self.parts
            if (one.new or one.old or "").startswith(("customXml/", "docProps/"))
        ]
        bound = [atom for atom in self._ties.atoms if data and _is_bound((*atom.old, *atom.new))]
        if bound:
            self._ties.tie((*bound, *data), "a content control shows data of the document")


def _is_bound(elements: Iterable[Element]) -> bool:
    for element in elements:
        if next(element.iter(_BINDING), None) is not None:
            return True
        for control in element.iterancestors(n.SDT):
            if control.find(f"{n.SDT_PR}/{_BINDING}") is not None:
                return True
    return False


def _named(keys: Iterable[Ref]) -> str:
    return ", ".join(" ".join(filter(None, key)) for key in keys)

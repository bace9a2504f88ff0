"""Writes a presentation: operations in, a verified file and an honest report out (F16, F20)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from backshop.formats.diff.effect import Unit, by_position, compare, fingerprint, part_effects
from backshop.formats.package.archive import unverified
from backshop.formats.package.guard import Element
from backshop.formats.package.package import Package
from backshop.formats.package.xml_tree import Trees, loosened
from backshop.formats.protocol import Applied, Effect, Effects, Json, OpsRequest, Source
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import nowhere, resolve_base

from . import names as n
from .blank import blank_presentation
from .deck import Deck
from .edit import Editor, apply
from .numbering import in_words
from .schema import read_edits
from .shape import shapes_of

_LISTS = frozenset(  # what of the presentation part follows from the order of slides
    {n.SLD_ID_LST, n.p("notesMasterIdLst"), n.p("custShowLst"), n.p("extLst")}
)


def apply_ops(base: Source | None, request: OpsRequest, out: Path) -> Applied:
    """Write the edited presentation to `out`, or raise and write nothing."""
    start = resolve_base(base, request)
    warnings = Warnings(start.warnings)
    edits = read_edits(request.operations, warnings)
    deck = open_for_writing(start.source)
    watch = Watch(deck)
    editor = Editor(deck, warnings)
    changes = tuple((edit.op.index, apply(editor, edit)) for edit in edits)
    effects = watch.report(editor)
    if editor.unmatched and not effects.changed:
        raise nowhere(editor.unmatched)
    written = deck.package.save(out)
    return Applied(
        name=request.name,
        created=start.created,
        ops_applied=len(edits),
        size_bytes=written.size_bytes,
        sha256=written.sha256,
        changes=changes,
        focus=focus_of(effects, deck, editor),
        warnings=warnings.all(),
        changed_parts=written.changed_parts,
        effects=effects,
        replaced=editor.replaced,
    )


def open_for_writing(source: Source | None) -> Deck:
    """Open the base of a write, or a blank presentation."""
    return Deck(Package.open_base(source, blank_presentation, (".pptm", ".potm")))


class Watch:
    """Remembers which slides there were, to compare the file as it was with what was written."""

    def __init__(self, deck: Deck) -> None:
        self._deck = deck
        self._before = {slide.part: slide.index for slide in deck.slides}
        self._known_parts = set(deck.package.names)

    def report(self, editor: Editor) -> Effects:
        """Serialise, read back, and sort the differences into intended and collateral."""
        deck = self._deck
        deck.trees.flush()
        self._read_back()
        after = {slide.part: slide.index for slide in deck.slides}
        notes = {part: s for s in deck.slides if (part := deck.notes_part(s)) is not None}
        changed: list[Effect] = []
        explained: set[str] = set()
        for part in deck.package.changed_parts:
            if part in after or part in self._before:
                explained.add(part)
                changed.extend(self._slide_effects(part, after))
            elif part in notes and part in self._known_parts:
                explained.add(part)
                changed.append(Effect(kind="notes", where=f"{in_words(notes[part].index)} notes"))
            elif part == deck.part:
                explained.add(part)
                changed.extend(self._presentation_effects(part))
        changed.extend(part_effects(deck.package, explained))
        aims = _Aims(self._deck, editor, self._before, after, self._known_parts)
        return Effects.compare(targets=list(aims.targets), changed=changed, aimed_at=aims.covers)

    def _read_back(self) -> None:
        """Prove that what was serialised reads as what is meant (F23.8)."""
        deck = self._deck
        fresh = Deck(deck.package)
        for slide, again in zip(deck.slides, fresh.slides, strict=True):
            if slide.part not in deck.package.changed_parts:
                continue
            if (slide.part, fingerprint(slide.root)) != (again.part, fingerprint(again.root)):
                raise unverified(f"{slide.part} does not read back as it was written")
        before = Trees(deck.package.fresh())
        for part in deck.package.changed_parts:
            if part.endswith(".xml") and part in deck.package:
                lost = _lost_relations(fresh.trees, part)
                if part in before.package:
                    lost -= _lost_relations(before, part)
                if lost:
                    raise unverified(f"{part} names relationships it has not: {sorted(lost)[:5]}")

    def _slide_effects(self, part: str, after: dict[str, int]) -> Iterator[Effect]:
        package = self._deck.package
        original = package.original(part)
        if part not in after:
            where = in_words(self._before[part])
            yield Effect(kind="slide", where=where, aspect="removed")
        elif part not in self._before or original is None:
            yield Effect(kind="slide", where=in_words(after[part]), aspect="added")
        else:
            before = slide_units(loosened(original), after[part])
            now = slide_units(loosened(package.read(part)), after[part])
            yield from compare(before, now, by_position(before, now))

    def _presentation_effects(self, part: str) -> Iterator[Effect]:
        package = self._deck.package
        original = package.original(part)
        before, after = loosened(original or b""), loosened(package.read(part))
        kept = [[fingerprint(c) for c in root if c.tag not in _LISTS] for root in (before, after)]
        if kept[0] != kept[1] or before.items() != after.items():
            yield Effect(kind="part", where=part)
        lists = [[fingerprint(c) for c in root if c.tag in _LISTS] for root in (before, after)]
        if lists[0] != lists[1]:
            yield Effect(kind="slide", where="slide order", aspect="structure")


def _lost_relations(trees: Trees, part: str) -> set[str]:
    """Return the relationships a part speaks of and does not have."""
    named = trees.root(part).xpath("//@r:*", namespaces={"r": n.R_NS})
    assert isinstance(named, list)
    return {str(name) for name in named} - {rel.id for rel in trees.package.rels(part)} - {""}


class _Aims:
    """What the operations addressed, as the places of the report."""

    def __init__(
        self,
        deck: Deck,
        editor: Editor,
        before: dict[str, int],
        after: dict[str, int],
        known_parts: set[str],
    ) -> None:
        self.targets: dict[str, None] = {}
        self._order = editor.order
        self._known = known_parts
        self._touched = {*editor.notes, *editor.parts}
        self._parts = set(editor.parts)
        for part, index in after.items():
            if part not in before:
                self.targets[in_words(index)] = None
        self._gone = {in_words(index) for part, index in before.items() if part not in after}
        self.targets.update({f"{where} (removed)": None for where in self._gone})
        self.targets.update(dict.fromkeys(_shape_targets(deck, editor, after)))
        for part in editor.frames:
            if part in after:
                self.targets[in_words(after[part])] = None
        for part in editor.notes:
            if part in after:
                self.targets[f"{in_words(after[part])} notes"] = None
        if editor.order or editor.notes:
            self.targets["slide order"] = None

    def covers(self, effect: Effect) -> bool:
        """Whether an effect lies inside what was addressed (F23.2)."""
        if effect.kind == "part":
            return self._covers_part(effect)
        if effect.aspect == "removed":
            return effect.where in self._gone
        return effect.where in self.targets

    def _covers_part(self, effect: Effect) -> bool:
        if effect.where in self._parts:
            return True
        structural = self._order or bool(self._touched)
        if effect.aspect == "added":  # new parts, or lines added to rels and content types
            lists = effect.where.endswith(".rels") or effect.where.startswith("[Content_Types]")
            return structural and (effect.where not in self._known or lists)
        if effect.where.endswith(".rels") or effect.where.startswith("[Content_Types]"):
            return self._order
        return self._order and effect.aspect == "removed" and bool(self._gone)


def _shape_targets(deck: Deck, editor: Editor, after: dict[str, int]) -> Iterator[str]:
    """Yield where the shapes of the addressed elements stand now."""
    slides = deck.slides
    shapes: dict[str, dict[Element, int]] = {}
    for element, part in editor.shapes.items():
        if part not in after:
            continue
        if part not in shapes:
            found = slides[after[part]].shapes
            shapes[part] = {shape.element: shape.index for shape in found}
        for around in (element, *element.iterancestors()):
            if around in shapes[part]:
                yield in_words(after[part], shapes[part][around])
                break
        else:  # text outside the shapes, in files that have some
            yield in_words(after[part])


def slide_units(root: Element, index: int) -> list[Unit]:
    """Return the units of a slide: its shapes, and the frame with everything else."""
    tree = root.find(f"{n.C_SLD}/{n.SP_TREE}")
    shapes = shapes_of(tree) if tree is not None else []
    units = [
        Unit("shape", in_words(index, shape.index), fingerprint(shape.element)) for shape in shapes
    ]
    inside = {shape.element for shape in shapes}
    holders = {tree, *tree.iterancestors()} if tree is not None else set()
    return [*units, Unit("slide", in_words(index), b"".join(_around(root, inside, holders)))]


def _around(element: Element, inside: set[Element], holders: set[Element]) -> Iterator[bytes]:
    """Yield an element without the shapes in it; `holders` may hold shapes, and do or do not."""
    yield f"{element.tag}{sorted(element.items())}{element.text}".encode()
    for child in element:
        if child in inside:
            continue
        if child in holders or any(grand in inside for grand in child.iter()):
            yield from _around(child, inside, holders)
        else:
            yield fingerprint(child)


def focus_of(effects: Effects, deck: Deck, editor: Editor) -> dict[str, Json] | None:
    """Return the first changed or added slide, else the one beside a removal (F16.11)."""
    slides = deck.slides
    live = [slide.index for slide in slides if slide.part in editor.drawn]
    gone: list[int] = []
    for effect in effects.changed:
        words = effect.where.split()
        if words[0] == "slide" and words[1].isdigit():
            is_gone = effect.aspect == "removed" and len(words) == 2
            (gone if is_gone else live).append(int(words[1]) - 1)
    if live:
        return {"slide_index": min(live)}
    if gone:
        return {"slide_index": max(min(min(gone), len(slides) - 1), 0)}
    return None

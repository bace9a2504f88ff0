"""Writes a document: operations in, a verified file and an honest report out (F16, F19)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from backshop.formats.diff.effect import Unit, compare, fingerprint, part_effects
from backshop.formats.package.archive import unverified
from backshop.formats.package.guard import Element
from backshop.formats.package.package import Package
from backshop.formats.package.xml_tree import Trees
from backshop.formats.protocol import Applied, Effect, Effects, Json, OpsRequest, Source
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import nowhere, resolve_base

from ..text import name as n
from ..text.revision import revisions
from ..text.source import Document
from .blank import blank_document
from .editor import Editor
from .paragraph_edit import apply
from .schema import read_edits
from .unit import Placed, body_units, nothing, part_units, seams


def apply_ops(base: Source | None, request: OpsRequest, out: Path) -> Applied:
    """Write the edited document to `out`, or raise and write nothing."""
    start = resolve_base(base, request)
    warnings = Warnings(start.warnings)
    edits = read_edits(request.operations, warnings)
    document = open_for_writing(start.source)
    if document.has_revisions():
        count = len(revisions(document, document.body()))
        warnings.add("tracked_changes_present", count or 1)  # 1: tracking is only on
    watch = Watch(document)
    editor = Editor(document, warnings)
    changes = tuple((edit.op.index, apply(editor, edit)) for edit in edits)
    effects, focus = watch.report(editor)
    if editor.unmatched and not effects.changed:
        raise nowhere(editor.unmatched)
    written = document.package.save(out)
    return Applied(
        name=request.name,
        created=start.created,
        ops_applied=len(edits),
        size_bytes=written.size_bytes,
        sha256=written.sha256,
        changes=changes,
        focus=focus,
        warnings=warnings.all(),
        changed_parts=written.changed_parts,
        effects=effects,
        replaced=editor.replaced,
    )


def open_for_writing(source: Source | None) -> Document:
    """Open the base of a write, or a blank document."""
    return Document(Package.open_base(source, blank_document, (".docm", ".dotm")))


class Watch:
    """Remembers the units of a document as it was, to compare them with what was written."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._before = {document.part: body_units(document.body_element, document.part)}
        asides = [margin.part for margin in document.margins()]
        for part in dict.fromkeys((*asides, *document.note_parts())):
            self._before[part] = part_units(document.trees.root(part), part)
        self._seams = {part: seams(document.trees.root(part)) for part in self._before}

    def report(self, editor: Editor) -> tuple[Effects, dict[str, Json] | None]:
        """Serialise, read back, and sort the differences into intended and collateral."""
        self._document.trees.flush()
        changed: list[Effect] = []
        aimed: dict[str, None] = {}
        aimed_gone: dict[str, None] = {}
        for part, before in self._before.items():
            if part not in self._document.package.changed_parts:
                continue
            after = self._units_now(part)
            root = _written(self._document, part)
            written = _units_of(root, part, self._document.part)
            torn = self._seams[part].torn_in(seams(root))
            for name in torn:
                changed.append(Effect(kind="part", where=f"{part} {name}", aspect="structure"))
            places = {placed.element: at for at, placed in enumerate(before)}
            origin = [places.get(placed.element) for placed in after]
            changed.extend(compare([p.unit for p in before], written, origin))
            aimed.update(_aimed(after, editor.aimed))
            aimed.update((p.unit.where, None) for p in after if p.element in editor.around)
            aimed_gone.update(_aimed(before, editor.gone))
            if editor.frame_aimed:
                aimed[f"{part} frame"] = None
        aimed.update(editor.parts)
        changed.extend(part_effects(self._document.package, set(self._before)))
        effects = Effects.compare(
            targets=[*aimed, *(f"{where} (removed)" for where in aimed_gone)],
            changed=changed,
            aimed_at=lambda effect: _is_aimed(effect, aimed, aimed_gone),
        )
        return effects, self._focus(editor)

    def _units_now(self, part: str) -> list[Placed]:
        document = self._document
        if part == document.part:
            return body_units(document.body_element, part, nothing)
        return part_units(document.trees.root(part), part, nothing)

    def _focus(self, editor: Editor) -> dict[str, Json] | None:
        """Return the first changed paragraph by section (F16.11)."""
        body = editor.body
        addressed = editor.addressed()
        for block in body.blocks:
            if block.element in addressed:
                section = body.section_of(block.index)
                if section is not None:
                    return {"section_index": section.index, "paragraph": block.index}
        return self._focus_of_removal(editor)

    def _focus_of_removal(self, editor: Editor) -> dict[str, Json] | None:
        """Return what stands now where the first removed block was."""
        blocks = editor.body.blocks
        for placed in self._before[self._document.part]:
            if placed.element in editor.gone and blocks:
                words = placed.unit.where.split()
                index = min(int(words[1]), len(blocks) - 1)
                section = editor.body.section_of(index)
                if section is not None:
                    return {"section_index": section.index, "paragraph": index}
        return None


def _written(document: Document, part: str) -> Element:
    """Return the root of a part, parsed from what was written."""
    root = Trees(document.package).root(part)
    if fingerprint(root) != fingerprint(document.trees.root(part)):
        raise unverified(f"{part} does not read back as it was written")
    return root


def _units_of(root: Element, part: str, main: str) -> list[Unit]:
    body = root.find(n.BODY) if part == main else None
    placed = part_units(root, part) if body is None else body_units(body, part)
    return [one.unit for one in placed]


def _aimed(units: Sequence[Placed], elements: dict[Element, None]) -> dict[str, None]:
    """Return where the units stand that are addressed: themselves, from inside, or as a part."""
    known = {placed.element for placed in units}
    addressed = set(elements)
    for element in elements:
        if element not in known:
            inside = next((a for a in element.iterancestors() if a in known), None)
            if inside is not None:
                addressed.add(inside)
    return {
        placed.unit.where: None
        for placed in units
        if placed.element in addressed
        or any(ancestor in elements for ancestor in placed.element.iterancestors())
    }


_GROWING = re.compile(r"(?:.*/)?(?:styles|numbering)\d*\.xml|.*\.rels|\[Content_Types\]\.xml")


def _is_aimed(effect: Effect, aimed: dict[str, None], gone: dict[str, None]) -> bool:
    if effect.aspect == "removed":
        return effect.where in gone
    if effect.kind == "part" and effect.aspect == "added" and _GROWING.fullmatch(effect.where):
        return True  # styles, lists and links may be added to (F23.2)
    return effect.where in aimed

"""Copies styles, images, headers and footers from one document into another (F22.3)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.protocol import Applied, Json, Source
from backshop.formats.warning import Warnings
from backshop.formats.write.asset_request import (
    AssetRequest,
    applied,
    copy_each,
    no_target,
    read_requests,
)

from ..edit.editor import Editor
from ..edit.margin import add_margin, use_margin
from ..edit.operation import Watch, open_for_writing
from ..edit.schema import Anchor
from ..text import name as n
from ..text.document import parent_of
from ..text.inline import image_relation
from ..text.line import image_numbers
from ..text.source import Document
from ..text.stylesheet import whole
from .carriage import Carriage
from .report import known_assets

_DOC_PR = n.DOC_PR


def copy_assets(source: Source, target: Source, assets: Json, out: Path) -> Applied:
    """Write `target` with assets of `source` to `out`; all or none."""
    warnings = Warnings()
    requests = read_requests(assets, warnings)
    giver = Document.open(source)
    taker = open_for_writing(target)
    watch = Watch(taker)
    editor = Editor(taker, warnings)
    copier = _Copier(giver, editor)
    copied = copy_each(
        requests,
        lambda one: _ACTS[one.kind](copier, one) if one.kind in _ACTS else None,
        lambda: known_assets(source),
    )
    effects, focus = watch.report(editor)
    return applied(target, taker.package.save(out), copied, effects, focus, warnings)


class _Copier:
    """Copies into one document; an act returns whether it copied, None for an unknown asset."""

    def __init__(self, giver: Document, editor: Editor) -> None:
        self.giver = giver
        self.editor = editor
        self.taker = editor.document
        self.carry = Carriage(giver, editor)

    def style(self, request: AssetRequest) -> bool | None:
        """Copy a style with all it is based on and the list it uses."""
        wanted = self.giver.styles.find(request.name, request.kind.removesuffix("_style"))
        if wanted is None:
            return None
        existing = self.taker.styles.find(wanted.name, wanted.type)
        if existing is None:
            self.carry.style(wanted)
            return True
        if not request.overwrite:
            self.editor.warnings.add("asset_exists", where=request.where)
            return False
        for base in list(self.giver.styles.chain(wanted.based_on)):
            self.carry.style(base)
        element = self.carry.rewritten(wanted, existing.id)
        part = self.taker.trees.first_related(self.taker.part, "styles")
        assert part is not None
        self.taker.trees.touch(part)
        if existing.is_default:
            element.set(n.DEFAULT, "1")
        parent_of(existing.element).replace(existing.element, element)
        del self.taker.styles.by_id[existing.id]
        self.taker.styles.register(element)
        self.editor.parts[part] = None
        return True

    def image(self, request: AssetRequest) -> bool | None:
        """Insert an image after the target, at the size it has in its document."""
        drawings = image_numbers(self.giver.body_element)
        drawing = next((d for d in drawings if image_relation(d) == request.name), None)
        if drawing is None or not self.carry.is_picture(self.giver.part, request.name):
            return None
        parent, at = self._place(request)
        copied = copy.deepcopy(drawing)
        copied.tail = None
        paragraph = etree.Element(n.P)
        etree.SubElement(paragraph, n.R).append(copied)
        if self.carry.relink(paragraph, self.giver.part, self.taker.part):
            return None
        self.carry.restyle(paragraph)
        numbers = [whole(e.get("id")) or 0 for e in self.taker.body_element.iter(_DOC_PR)]
        for properties in copied.iter(_DOC_PR):
            properties.set("id", str(max(numbers, default=0) + 1))
        self.editor.touch()
        parent.insert(at, paragraph)
        self.editor.aimed[paragraph] = None
        self.editor.renew()
        return True

    def _place(self, request: AssetRequest) -> tuple[Element, int]:
        if not request.target:
            raise no_target(request, "target is needed: a body index, or text of one paragraph")
        number = whole(request.target)
        by_index = number is not None and number >= 0
        value = number if by_index and number is not None else request.target
        where = f"{request.where}.target"
        blocks = self.editor.body.blocks
        if isinstance(value, int) and value >= len(blocks):
            raise no_target(request, f"there is no paragraph {value}")
        anchor = Anchor("paragraph" if by_index else "text", value, "after", where)
        parent, at, _, _ = self.editor.place(anchor)
        return parent, at

    def margin(self, request: AssetRequest) -> bool | None:
        """Copy a header or footer, and use it in every section of the document."""
        found = next(
            (m for m in self.giver.margins() if (m.kind, m.type) == (request.kind, request.name)),
            None,
        )
        if found is None:
            return None
        root = self.editor.builder.stock.at_home(copy.deepcopy(found.root))
        name, relation = add_margin(self.editor, request.kind, root)
        lost = self.carry.relink(root, found.part, name)
        if lost:
            self.editor.warnings.add("content_removed", lost, request.where)
        self.carry.restyle(root)
        use_margin(self.editor, request.kind, request.name, relation)
        return True


_ACTS: dict[str, Callable[[_Copier, AssetRequest], bool | None]] = {
    "paragraph_style": _Copier.style,
    "character_style": _Copier.style,
    "table_style": _Copier.style,
    "image": _Copier.image,
    "header": _Copier.margin,
    "footer": _Copier.margin,
}

"""Copies styles, images, headers and footers from one document into another (F22.3)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from backshop.formats.protocol import Applied, Json, Source
from backshop.formats.warning import Warnings
from backshop.formats.write.asset_request import Wish, no_target, read_wishes, unknown

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
from .carriage import Carry
from .report import get_styles

Element = etree._Element

_DOC_PR = n.DOC_PR


def copy_assets(source: Source, target: Source, assets: Json, out: Path) -> Applied:
    """Write `target` with assets of `source` to `out`; all or none."""
    warnings = Warnings()
    wishes = read_wishes(assets, warnings)
    giver = Document.open(source)
    taker = open_for_writing(target)
    watch = Watch(taker)
    editor = Editor(taker, warnings)
    copier = _Copier(giver, editor)
    copied: list[Json] = []
    for wish in wishes:
        act = _ACTS.get(wish.kind)
        done = act(copier, wish) if act is not None else None
        if done is None:
            raise unknown(wish, _known(source))
        if done:
            copied.append(wish.asset_id)
    effects, focus = watch.report(editor)
    written = taker.package.save(out)
    return Applied(
        name=target.name,
        size_bytes=written.size_bytes,
        sha256=written.sha256,
        changes=tuple((at, f"{asset} copied") for at, asset in enumerate(copied)),
        focus=focus,
        warnings=warnings.all(),
        changed_parts=written.changed_parts,
        effects=effects,
        extra={"copied_count": len(copied), "copied": copied},
    )


def _known(source: Source) -> list[str]:
    listed = get_styles(source)
    found: list[str] = []
    for key in ("styles", "image_assets", "headers_footers"):
        entries = listed[key]
        assert isinstance(entries, list)
        found.extend(str(entry["asset_id"]) for entry in entries)
    return found


class _Copier:
    """Copies into one document; an act returns whether it copied, None for an unknown asset."""

    def __init__(self, giver: Document, editor: Editor) -> None:
        self.giver = giver
        self.editor = editor
        self.taker = editor.document
        self.carry = Carry(giver, editor)

    def style(self, wish: Wish) -> bool | None:
        """Copy a style with all it is based on and the list it uses."""
        wanted = self.giver.styles.find(wish.name, wish.kind.removesuffix("_style"))
        if wanted is None:
            return None
        existing = self.taker.styles.find(wanted.name, wanted.type)
        if existing is None:
            self.carry.style(wanted)
            return True
        if not wish.overwrite:
            self.editor.warnings.add("asset_exists", where=wish.where)
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

    def image(self, wish: Wish) -> bool | None:
        """Insert an image after the target, at the size it has in its document."""
        drawings = image_numbers(self.giver.body_element)
        drawing = next((d for d in drawings if image_relation(d) == wish.name), None)
        if drawing is None or not self.carry.is_picture(self.giver.part, wish.name):
            return None
        parent, at = self._place(wish)
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

    def _place(self, wish: Wish) -> tuple[Element, int]:
        if wish.target is None:
            raise no_target(wish, "target is needed: a body index, or text of one paragraph")
        number = whole(wish.target)
        by_index = number is not None and number >= 0
        value = number if by_index and number is not None else wish.target
        where = f"{wish.where}.target"
        blocks = self.editor.body.blocks
        if isinstance(value, int) and value >= len(blocks):
            raise no_target(wish, f"there is no paragraph {value}")
        anchor = Anchor("paragraph" if by_index else "text", value, "after", where)
        parent, at, _, _ = self.editor.place(anchor)
        return parent, at

    def margin(self, wish: Wish) -> bool | None:
        """Copy a header or footer, and use it in every section of the document."""
        found = next(
            (m for m in self.giver.margins() if (m.kind, m.type) == (wish.kind, wish.name)), None
        )
        if found is None:
            return None
        root = self.editor.builder.stock.at_home(copy.deepcopy(found.root))
        name, relation = add_margin(self.editor, wish.kind, root)
        lost = self.carry.relink(root, found.part, name)
        if lost:
            self.editor.warnings.add("content_removed", lost, wish.where)
        self.carry.restyle(root)
        use_margin(self.editor, wish.kind, wish.name, relation)
        return True


_ACTS: dict[str, Callable[[_Copier, Wish], bool | None]] = {
    "paragraph_style": _Copier.style,
    "character_style": _Copier.style,
    "table_style": _Copier.style,
    "image": _Copier.image,
    "header": _Copier.margin,
    "footer": _Copier.margin,
}

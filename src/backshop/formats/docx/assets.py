"""Copies styles, images, headers and footers from one document into another (F22.3)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from backshop.formats.media import Carrier, relative
from backshop.formats.notes import Warnings
from backshop.formats.protocol import Applied, Json, Source
from backshop.formats.wish import Wish, no_target, read_wishes, unknown

from . import names as n
from .editor import Editor
from .inline import image_relation
from .ops import Watch, open_for_writing
from .render import image_numbers
from .schema import Anchor
from .source import Document
from .styles import get_styles
from .stylesheet import Style, child_value, whole

Element = etree._Element

_DOC_PR = n.DOC_PR
_LINKS = (n.BASED_ON, n.w("next"), n.w("link"))


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
        self.carrier = Carrier(giver.trees, self.taker.trees)

    # --- styles --------------------------------------------------------------------------------

    def style(self, wish: Wish) -> bool | None:
        """Copy a style with all it is based on and the list it uses."""
        wanted = self.giver.styles.find(wish.name, wish.kind.removesuffix("_style"))
        if wanted is None:
            return None
        existing = self.taker.styles.find(wanted.name, wanted.type)
        if existing is not None and not wish.overwrite:
            self.editor.warnings.add("asset_exists", where=wish.where)
            return False
        for base in reversed(list(self.giver.styles.chain(wanted.id))[1:]):
            if self.taker.styles.find(base.name, base.type) is None:
                self.editor.builder.stock.add_style(self._rewritten(base, self._free_id(base.id)))
        element = self._rewritten(wanted, existing.id if existing else self._free_id(wanted.id))
        if existing is None:
            self.editor.builder.stock.add_style(element)
            return True
        part = self.taker.trees.first_related(self.taker.part, "styles")
        assert part is not None
        self.taker.trees.touch(part)
        parent = existing.element.getparent()
        assert parent is not None
        if existing.is_default:
            element.set(n.DEFAULT, "1")
        parent.replace(existing.element, element)
        del self.taker.styles.by_id[existing.id]
        self.taker.styles.register(element)
        self.editor.parts[part] = None
        return True

    def _free_id(self, wanted: str) -> str:
        taken = self.taker.styles.by_id
        number = 1
        name = wanted
        while name in taken:
            number += 1
            name = f"{wanted}{number}"
        return name

    def _rewritten(self, style: Style, style_id: str) -> Element:
        """Return a copy of a style that names styles and lists of the other document."""
        element = copy.deepcopy(style.element)
        element.tail = None
        element.set(n.STYLE_ID, style_id)
        if n.DEFAULT in element.attrib:
            del element.attrib[n.DEFAULT]
        for link in [child for child in element if child.tag in _LINKS]:
            other = self.giver.styles.by_id.get(link.get(n.VAL) or "")
            here = self.taker.styles.find(other.name, other.type) if other is not None else None
            if here is not None:
                link.set(n.VAL, here.id)
            else:
                element.remove(link)
        number = element.find(f"{n.PPR}/{n.NUM_PR}/{n.NUM_ID}")
        if number is not None:
            copied = self._list(number.get(n.VAL) or "")
            if copied is not None:
                number.set(n.VAL, copied)
            else:
                properties = element.find(n.PPR)
                listing = properties.find(n.NUM_PR) if properties is not None else None
                if properties is not None and listing is not None:
                    properties.remove(listing)
        return element

    def _list(self, num_id: str) -> str | None:
        """Copy a list definition and return its number in the other document."""
        part = self.giver.trees.first_related(self.giver.part, "numbering")
        root = self.giver.trees.root(part) if part else None
        if root is None:
            return None
        num = next((e for e in root.iterchildren(n.w("num")) if e.get(n.NUM_ID) == num_id), None)
        abstract_id = child_value(num, n.w("abstractNumId"))
        abstract = next(
            (
                e
                for e in root.iterchildren(n.w("abstractNum"))
                if e.get(n.w("abstractNumId")) == abstract_id
            ),
            None,
        )
        if abstract is None:
            return None
        definition = copy.deepcopy(abstract)
        for tag in (n.w("styleLink"), n.w("numStyleLink")):
            for child in definition.findall(tag):
                definition.remove(child)
        for level in definition.iterchildren(n.w("lvl")):
            for child in level.findall(n.PSTYLE):
                level.remove(child)
        return self.editor.builder.stock.add_list(definition)

    # --- images --------------------------------------------------------------------------------

    def image(self, wish: Wish) -> bool | None:
        """Insert an image after the target, at the size it has in its document."""
        drawings = image_numbers(self.giver.body_element)
        drawing = next((d for d in drawings if image_relation(d) == wish.name), None)
        if drawing is None:
            return None
        parent, at = self._place(wish)
        copied = copy.deepcopy(drawing)
        copied.tail = None
        self._relink(copied, self.giver.part, self.taker.part)
        numbers = [whole(e.get("id")) or 0 for e in self.taker.body_element.iter(_DOC_PR)]
        for properties in copied.iter(_DOC_PR):
            properties.set("id", str(max(numbers, default=0) + 1))
        paragraph = etree.Element(n.P)
        etree.SubElement(paragraph, n.R).append(copied)
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

    def _relink(self, element: Element, giver_part: str, taker_part: str) -> None:
        """Point every relationship of a copied element at a copied part; drop the other ones."""
        for inner in list(element.iter()):
            for key, value in list(inner.items()):
                if not str(key).startswith("{" + n.R_NS):
                    continue
                part = self.giver.package.rel_part(giver_part, str(value))
                content = self.giver.package.content_type(part) if part else None
                if part is None or not (content or "").startswith("image/"):
                    del inner.attrib[key]
                    continue
                name = self.carrier.copy(part)
                self.editor.parts[name] = None
                relation = self.taker.trees.add_rel(
                    taker_part, n.OFFICE_REL + "image", relative(taker_part, name)
                )
                inner.set(key, relation)

    # --- headers and footers -------------------------------------------------------------------

    def margin(self, wish: Wish) -> bool | None:
        """Copy a header or footer, and use it in every section of the document."""
        found = next(
            (m for m in self.giver.margins() if (m.kind, m.type) == (wish.kind, wish.name)), None
        )
        if found is None:
            return None
        trees = self.taker.trees
        folder = self.taker.part.rpartition("/")[0]
        name = self._free_part(f"{folder}/{wish.kind}".lstrip("/"))
        root = copy.deepcopy(found.root)
        trees.add(name, root, f"{n.CONTENT_TYPE}{wish.kind}+xml")
        self._relink(root, found.part, name)
        relation = trees.add_rel(
            self.taker.part, n.OFFICE_REL + wish.kind, relative(self.taker.part, name)
        )
        self.editor.touch()
        tag = n.w(f"{wish.kind}Reference")
        for section in self._sections():
            for old in section.findall(tag):
                if (old.get(n.TYPE) or "default") == wish.name:
                    section.remove(old)
            reference = etree.Element(tag)
            reference.set(n.TYPE, wish.name)
            reference.set(n.R_ID, relation)
            section.insert(0, reference)
            if wish.name == "first" and section.find(n.w("titlePg")) is None:
                _insert_title_page(section)
        self.editor.parts[name] = None
        self.editor.frame_aimed = True
        return True

    def _sections(self) -> list[Element]:
        body = self.taker.body_element
        if len(body) == 0 or body[-1].tag != n.SECT_PR:
            etree.SubElement(body, n.SECT_PR)
        found = list(body.iter(n.SECT_PR))
        for section in found:
            paragraph = next(section.iterancestors(n.P), None)
            if paragraph is not None:
                self.editor.aimed[paragraph] = None
        return found

    def _free_part(self, stem: str) -> str:
        taken = {name.lower() for name in self.taker.package.names}
        number = 1
        while f"{stem}{number}.xml".lower() in taken:
            number += 1
        return f"{stem}{number}.xml"


_AFTER_TITLE_PAGE = frozenset(
    n.w(name)
    for name in ("textDirection", "bidi", "rtlGutter", "docGrid", "printerSettings", "sectPrChange")
)


def _insert_title_page(section: Element) -> None:
    at = next((i for i, c in enumerate(section) if c.tag in _AFTER_TITLE_PAGE), len(section))
    section.insert(at, etree.Element(n.w("titlePg")))


_ACTS: dict[str, Callable[[_Copier, Wish], bool | None]] = {
    "paragraph_style": _Copier.style,
    "character_style": _Copier.style,
    "table_style": _Copier.style,
    "image": _Copier.image,
    "header": _Copier.margin,
    "footer": _Copier.margin,
}

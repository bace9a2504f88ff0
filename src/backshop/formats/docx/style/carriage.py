"""Carries styles, lists, pictures and links of one document into another."""

from __future__ import annotations

import copy

from backshop.formats.package.guard import Element
from backshop.formats.package.media import Carrier, relative
from backshop.formats.package.relationship import Relationship
from backshop.formats.write import style as looks

from ..edit.editor import Editor
from ..text import name as n
from ..text.document import parent_of
from ..text.source import Document
from ..text.stylesheet import Style

_STYLE_USES = {n.PSTYLE: "paragraph", n.RSTYLE: "character", n.TBL_STYLE: "table"}
_HOLDERS = (n.DRAWING, n.PICT, n.OBJECT)
_CLICKS = tuple(f"{{{n.A_NS}}}{name}" for name in ("hlinkClick", "hlinkHover"))


class Carriage:
    """The way from a giver to the document of an editor."""

    def __init__(self, giver: Document, editor: Editor) -> None:
        self._giver = giver
        self._editor = editor
        self._taker = editor.document
        self._stock = editor.builder.stock
        self._media = Carrier(giver.trees, self._taker.trees)
        self._lists: dict[str, str | None] = {}
        self._bullets: dict[str, str | None] = {}

    # --- styles and lists ----------------------------------------------------------------------

    def style(self, wanted: Style) -> Style:
        """Return the taker's style of that name, brought with all it is based on when missing."""
        for style in reversed(list(self._giver.styles.chain(wanted.id))):
            if self._taker.styles.find(style.name, style.type) is None:
                free = self._stock.free_id(style.id)
                self._stock.add_style(self.rewritten(style, free))
        found = self._taker.styles.find(wanted.name, wanted.type)
        assert found is not None
        return found

    def rewritten(self, style: Style, style_id: str) -> Element:
        """Return a copy of a style that names styles and lists of the taker."""
        return self._stock.rewritten(style, style_id, self._giver.styles, self._list)

    def restyle(self, root: Element) -> None:
        """Have copied text name the styles and lists of the taker, brought along when missing."""
        for use in list(root.iter(*_STYLE_USES)):
            style = self._giver.styles.by_id.get(use.get(n.VAL) or "")
            if style is not None and style.type == _STYLE_USES[str(use.tag)]:
                use.set(n.VAL, self.style(style).id)
            else:
                parent_of(use).remove(use)
        for number in list(root.iter(n.NUM_ID)):
            listing = parent_of(number)
            here = "0" if number.get(n.VAL) == "0" else self._list(number.get(n.VAL) or "")
            if here is not None:
                number.set(n.VAL, here)
            elif listing.tag == n.NUM_PR:
                parent_of(listing).remove(listing)

    def _list(self, num_id: str) -> str | None:
        """Copy a list definition, once, and return its number in the taker."""
        if num_id not in self._lists:
            given = self._giver.numberings.definition(num_id)
            if given is None:
                self._lists[num_id] = None
            else:
                abstract, *overrides = map(copy.deepcopy, (given.abstract, *given.overrides))
                for tag in (n.w("styleLink"), n.w("numStyleLink")):
                    for child in abstract.findall(tag):
                        abstract.remove(child)
                for holder in (abstract, *overrides):
                    self._rehome_levels(holder)
                self._lists[num_id] = self._stock.add_list(abstract, overrides)
        return self._lists[num_id]

    def _rehome_levels(self, holder: Element) -> None:
        """Have copied levels of a list name no style, and pictures of the taker as bullets."""
        for level in holder.iterchildren(n.w("lvl")):
            for child in level.findall(n.PSTYLE):
                level.remove(child)
            for child in level.findall(n.PIC_BULLET_ID):
                here = self._bullet(child.get(n.VAL) or "")
                if here is not None:
                    child.set(n.VAL, here)
                else:  # the level has a character for readers without pictures
                    level.remove(child)

    def _bullet(self, bullet_id: str) -> str | None:
        """Copy a picture used as a bullet, once, and return its number in the taker."""
        if bullet_id not in self._bullets:
            part = self._giver.trees.first_related(self._giver.part, "numbering")
            root = self._giver.trees.root(part) if part else None
            bullets = root.iterchildren(n.w("numPicBullet")) if root is not None else iter(())
            found = next((e for e in bullets if e.get(n.w("numPicBulletId")) == bullet_id), None)
            self._bullets[bullet_id] = None
            if found is not None and part is not None:
                copied = copy.deepcopy(found)
                here = self._stock.part_name("numbering")
                if self.relink(copied, part, here) == 0:
                    self._bullets[bullet_id] = self._stock.add_bullet(copied)
        return self._bullets[bullet_id]

    # --- what relationships lead to ------------------------------------------------------------

    def is_picture(self, part: str, relation: str) -> bool:
        """Whether a relationship of a part of the giver leads to a picture in the file."""
        return self._media.picture(part, relation) is not None

    def relink(self, root: Element, giver_part: str, taker_part: str) -> int:
        """Point the relationships of copied content at copied pictures and the same addresses.

        What leads elsewhere, such as a chart, goes with the drawing that shows it; returns how
        many such things went.
        """
        relations = {rel.id: rel for rel in self._giver.package.rels(giver_part)}
        lost = 0
        for element in list(root.iter()):
            if not any(a is root for a in (element, *element.iterancestors())):
                continue  # went with something around it
            for key, value in list(element.items()):
                if not str(key).startswith("{" + n.R_NS):
                    continue
                here = self._carried(relations.get(str(value)), giver_part, taker_part)
                if here is not None:
                    element.set(key, here)
                elif not _unlink(element, str(key)):
                    _remove_shown(element)
                    lost += 1
                    break
        return lost

    def _carried(
        self, relation: Relationship | None, giver_part: str, taker_part: str
    ) -> str | None:
        """Return the taker's relationship to a copied picture or to the same address."""
        if relation is None:
            return None
        trees = self._taker.trees
        kind = relation.type.rpartition("/")[2]
        if kind == "hyperlink" and relation.part is None and looks.link(relation.target):
            target = relation.target
            return trees.add_rel(taker_part, n.OFFICE_REL + kind, target, external=True)
        picture = self._media.picture(giver_part, relation.id)
        if picture is None:
            return None
        name = self._media.copy(picture)
        self._editor.parts[name] = None
        return trees.add_rel(taker_part, relation.type, relative(taker_part, name))


def _unlink(element: Element, key: str) -> bool:
    """Take off a link that cannot be kept, if the content is whole without it."""
    if element.tag == n.BLIP and key == n.R_LINK and n.R_EMBED in element.attrib:
        del element.attrib[key]
    elif element.tag in _CLICKS:
        parent_of(element).remove(element)
    elif element.tag == n.HYPERLINK:
        parent = parent_of(element)
        at = parent.index(element)
        parent[at : at + 1] = list(element)
    else:
        return False
    return True


def _remove_shown(element: Element) -> None:
    """Take out what an element shows: the drawing or object around it, with its other forms."""
    holders = (outer for outer in element.iterancestors() if outer.tag in _HOLDERS)
    holder = next(holders, element)
    for outer in holder.iterancestors(n.ALTERNATE, n.P):
        holder = outer if outer.tag == n.ALTERNATE else holder
        break
    parent_of(holder).remove(holder)

"""Tells which text of a document nobody sees on the page, so that it is labelled (F4.8)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from backshop.formats.package.guard import Element

from . import name as n
from .inline import run_of
from .stylesheet import StyleSheet, child_value
from .table_condition import PART, Conditions, parts_of

_VANISH, _COLOUR, _SHADE, _HIGHLIGHT = map(n.w, ("vanish", "color", "shd", "highlight"))
_HIDDEN = n.w("hidden")
_OFF = frozenset({"0", "false", "off"})
_WHITE = frozenset({"FFFFFF", "WHITE"})
_NO_GROUND = frozenset({"AUTO", "WHITE", "NONE", *_WHITE})
_REMEMBERED = 1_000  # properties of what lies around: the same for all the text in it


class Sight:
    """Knows the styles of one document, and what they hide or colour."""

    def __init__(self, body: Element, styles: StyleSheet) -> None:
        self._styles = styles
        self._looks: dict[tuple[str | None, str], str | None] = {}
        self._child = lru_cache(_REMEMBERED)(_child)
        self._conditions = Conditions(styles)
        self._hiding: dict[str | None, bool] = {}  # table styles by whether a condition may hide
        root = body.getparent()
        page = root.find(n.w("background")) if root is not None else None
        ground = page.get(_COLOUR) if page is not None else None
        self._white_page = ground is None or ground.upper() in _NO_GROUND

    def label(self, text: Element) -> str | None:
        """Return `hidden` or `white text` for what is kept from being seen, else None."""
        run = run_of(text)
        if run is None:
            return None
        around = list(text.iterancestors(n.P, n.TC, n.TR, n.TBL, n.TXBX))
        paragraph = around[0] if around and around[0].tag == n.P else None
        table = next((place for place in around if place.tag in (n.TBL, n.TXBX)), None)
        parts = self._met(around, table)
        hidden = self._look(run, paragraph, table, parts, _VANISH)
        if (hidden is not None and hidden not in _OFF) or any(map(self._is_hidden_row, around)):
            return "hidden"
        if any(_is_on(part.find(f"{n.TR_PR}/{_HIDDEN}")) for part in parts):
            return "hidden"
        colour = self._look(run, paragraph, table, parts, _COLOUR)
        if colour is None or colour.upper() not in _WHITE or not self._white_page:
            return None
        seen = _is_ground(self._child(run, n.RPR)) or any(
            self._has_ground(place) for place in around
        )
        return None if seen else "white text"

    def hides_in(self, table: Element) -> bool:
        """Whether a table can hold unseen text at all; most do not, and are read quickly."""
        if next(table.iter(_VANISH, _HIDDEN), None) is not None:
            return True
        if any(self._may_hide(self._table_style(one)) for one in table.iter(n.TBL)):
            return True
        if any((c.get(n.VAL) or "").upper() in _WHITE for c in table.iter(_COLOUR)):
            return True
        used = {name.get(n.VAL) for name in table.iter(n.PSTYLE, n.RSTYLE, n.TBL_STYLE)}
        return any(
            self._of_style(style, tag) is not None
            for style in (*used, self._styles.default_paragraph, self._styles.default_table)
            for tag in (_VANISH, _COLOUR)
        )

    def _met(self, around: list[Element], table: Element | None) -> list[Element]:
        """Return the conditional parts of the table's style that hold here, the first decides."""
        style = self._table_style(table)
        if table is None or not self._may_hide(style):
            return []
        cell = next((place for place in around if place.tag == n.TC), None)
        met = self._conditions.of(table, cell, style) if cell is not None else ()
        chain = list(self._styles.chain(style))
        return [part for name in met for one in chain for part in parts_of(one, name)]

    def _may_hide(self, style_id: str | None) -> bool:
        """Whether a condition of a table style says anything about what is seen."""
        if style_id not in self._hiding:
            self._hiding[style_id] = any(
                next(part.iter(_VANISH, _HIDDEN, _COLOUR), None) is not None
                for style in self._styles.chain(style_id)
                for part in style.element.iterchildren(PART)
            )
        return self._hiding[style_id]

    def _look(
        self,
        run: Element,
        paragraph: Element | None,
        table: Element | None,
        parts: list[Element],
        tag: str,
    ) -> str | None:
        """Return what a run says, its style, that of its paragraph or table; `` for a bare tag."""
        own = self._child(run, n.RPR)
        found = own.find(tag) if own is not None else None
        if found is not None:
            return found.get(n.VAL) or ""
        look = self._child(paragraph, n.PPR) if paragraph is not None else None
        styles = (
            child_value(own, n.RSTYLE),
            child_value(look, n.PSTYLE) or self._styles.default_paragraph,
        )
        met = (part.find(f"{n.RPR}/{tag}") for part in parts)
        said = (
            *(self._of_style(style, tag) for style in styles),
            *(one.get(n.VAL) or "" for one in met if one is not None),
            self._of_style(self._table_style(table), tag),
        )
        return next((value for value in said if value is not None), None)

    def _table_style(self, table: Element | None) -> str | None:
        if table is None or table.tag != n.TBL:  # a text box inherits nothing from its table
            return None
        look = self._child(table, n.TBL_PR)
        return child_value(look, n.TBL_STYLE) or self._styles.default_table

    def _is_hidden_row(self, place: Element) -> bool:
        look = self._child(place, n.TR_PR) if place.tag == n.TR else None
        return _is_on(look.find(_HIDDEN) if look is not None else None)

    def _of_style(self, style_id: str | None, tag: str) -> str | None:
        key = (style_id, tag)
        if key not in self._looks:
            found = (s.element.find(f"{n.RPR}/{tag}") for s in self._styles.chain(style_id))
            first = next((element for element in found if element is not None), None)
            self._looks[key] = None if first is None else first.get(n.VAL) or ""
        return self._looks[key]

    def _has_ground(self, place: Element) -> bool:
        """Whether a paragraph, cell, row or table gives its text another ground than paper."""
        if place.tag == n.TXBX:  # drawn over whatever lies there
            return True
        return any(map(_is_ground, self._grounds(place)))

    def _grounds(self, place: Element) -> Iterator[Element | None]:
        if place.tag == n.P:
            look = self._child(place, n.PPR)
            yield look
            style = child_value(look, n.PSTYLE) or self._styles.default_paragraph
            yield from (s.element.find(n.PPR) for s in self._styles.chain(style))
        elif place.tag == n.TC:
            yield self._child(place, n.TC_PR)
        elif place.tag == n.TBL:
            look = self._child(place, n.TBL_PR)
            yield look
            for base in self._styles.chain(self._table_style(place)):
                yield from (shade.getparent() for shade in base.element.iter(_SHADE))


def _is_on(switch: Element | None) -> bool:
    """Whether a switch is there and not turned off."""
    return switch is not None and switch.get(n.VAL) not in _OFF


def _child(element: Element, tag: str) -> Element | None:
    """Return the child of that tag; lxml looks at all children, also where the first is it."""
    return element.find(tag)


def _is_ground(look: Element | None) -> bool:
    """Whether the properties fill the ground with something else than white."""
    if look is None:
        return False
    marker = child_value(look, _HIGHLIGHT)
    if marker is not None and marker.upper() not in _NO_GROUND:
        return True
    shade = look.find(_SHADE)
    if shade is None:
        return False
    pattern = shade.get(n.VAL) or "clear"
    filled = (shade.get(n.w("fill")) or "auto").upper() not in _NO_GROUND
    return filled or pattern not in ("clear", "nil")

"""Tells which text of a document nobody sees on the page, so that it is labelled (F4.8)."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from . import names as n
from .inline import run_of
from .stylesheet import StyleSheet, child_value

Element = etree._Element

_VANISH, _COLOUR, _SHADE, _HIGHLIGHT = map(n.w, ("vanish", "color", "shd", "highlight"))
_OFF = frozenset({"0", "false", "off"})
_WHITE = frozenset({"FFFFFF", "WHITE"})
_NO_GROUND = frozenset({"AUTO", "WHITE", "NONE", *_WHITE})


class Sight:
    """Knows the styles of one document, and what they hide or colour."""

    def __init__(self, body: Element, styles: StyleSheet) -> None:
        self._styles = styles
        self._looks: dict[tuple[str | None, str], str | None] = {}
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
        hidden = self._look(run, paragraph, _VANISH)
        if (hidden is not None and hidden not in _OFF) or any(map(_is_hidden_row, around)):
            return "hidden"
        colour = self._look(run, paragraph, _COLOUR)
        if colour is None or colour.upper() not in _WHITE or not self._white_page:
            return None
        seen = _is_ground(run.find(n.RPR)) or any(self._has_ground(place) for place in around)
        return None if seen else "white text"

    def hides_in(self, table: Element) -> bool:
        """Whether a table can hold unseen text at all; most do not, and are read quickly."""
        if next(table.iter(_VANISH, n.w("hidden")), None) is not None:
            return True
        if any((c.get(n.VAL) or "").upper() in _WHITE for c in table.iter(_COLOUR)):
            return True
        used = {name.get(n.VAL) for name in table.iter(n.PSTYLE, n.RSTYLE)}
        return any(
            self._of_style(style, tag) is not None
            for style in (*used, self._styles.default_paragraph)
            for tag in (_VANISH, _COLOUR)
        )

    def _look(self, run: Element, paragraph: Element | None, tag: str) -> str | None:
        """Return what a run, its style or the style of its paragraph says; `` for a bare tag."""
        own = run.find(n.RPR)
        found = own.find(tag) if own is not None else None
        if found is not None:
            return found.get(n.VAL) or ""
        look = paragraph.find(n.PPR) if paragraph is not None else None
        below = child_value(look, n.PSTYLE) or self._styles.default_paragraph
        by_run = self._of_style(child_value(own, n.RSTYLE), tag)
        return by_run if by_run is not None else self._of_style(below, tag)

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
            look = place.find(n.PPR)
            yield look
            style = child_value(look, n.PSTYLE) or self._styles.default_paragraph
            yield from (s.element.find(n.PPR) for s in self._styles.chain(style))
        elif place.tag == n.TC:
            yield place.find(n.TC_PR)
        elif place.tag == n.TBL:
            look = place.find(n.TBL_PR)
            yield look
            for base in self._styles.chain(child_value(look, n.TBL_STYLE)):
                yield from (shade.getparent() for shade in base.element.iter(_SHADE))


def _is_hidden_row(place: Element) -> bool:
    if place.tag != n.TR:
        return False
    hidden = place.find(f"{n.TR_PR}/{n.w('hidden')}")
    return hidden is not None and hidden.get(n.VAL) not in _OFF


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

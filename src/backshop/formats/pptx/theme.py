"""What a slide has from its layout and master: backgrounds, colours, fonts, stock fills."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from backshop.formats.package.guard import Element

from . import names as n
from .deck import Deck, Slide

_ALIASES = {"bg1": "lt1", "tx1": "dk1", "bg2": "lt2", "tx2": "dk2"}  # of the usual colour map
_OVERRIDE = f"{n.p('clrMapOvr')}/{n.a('overrideClrMapping')}"
_FONTS = (("+mj-lt", "majorFont"), ("+mn-lt", "minorFont"))


class Sheet(NamedTuple):
    """A slide, layout or master: its part, and the root of it."""

    part: str
    root: Element


class Theme:
    """The theme of one slide; of none, that of the first master."""

    def __init__(self, deck: Deck, slide: Slide | None) -> None:
        self._deck = deck
        self._slide = slide

    @cached_property
    def sheets(self) -> list[Sheet]:
        """The slide, its layout and its master, as backgrounds are inherited."""
        found: list[Sheet] = []
        if self._slide is not None:
            found.append(Sheet(self._slide.part, self._slide.root))
            layout = self._deck.layout_of(self._slide)
            if layout is not None:
                found.append(Sheet(layout.part, layout.root))
        if self.master is not None:
            found.append(Sheet(self.master, self._deck.trees.root(self.master)))
        return found

    @cached_property
    def master(self) -> str | None:
        """The part of the master the slide's layout belongs to, else the first one."""
        layout = self._deck.layout_of(self._slide) if self._slide is not None else None
        found = self._deck.trees.first_related(layout.part, "slideMaster") if layout else None
        return found or next(iter(self._deck.masters), None)

    @cached_property
    def part(self) -> str | None:
        """The part of the theme."""
        return self._deck.trees.first_related(self.master, "theme") if self.master else None

    @cached_property
    def root(self) -> Element | None:
        """The root of the theme."""
        return self._deck.trees.root(self.part) if self.part else None

    @cached_property
    def colours(self) -> dict[str, str]:
        """The colours of the theme, six digits each, by the names the slide gives them."""
        entries = next(self.root.iter(n.a("clrScheme")), None) if self.root is not None else None
        colours = {}
        for entry in entries.iterchildren("*") if entries is not None else ():
            shown = next(entry.iterchildren("*"), None)
            value = (shown.get("lastClr") or shown.get("val") or "") if shown is not None else ""
            colours[str(entry.tag).rpartition("}")[2]] = value.upper()
        meant = {**_ALIASES, **self._colour_map}
        return {**colours, **{name: colours.get(by, "") for name, by in meant.items()}}

    @cached_property
    def _colour_map(self) -> dict[str, str]:
        """Which theme colour is text and which is background: dark decks swap them."""
        own = next((m for s in self.sheets if (m := s.root.find(_OVERRIDE)) is not None), None)
        if own is None and self.sheets:
            own = self.sheets[-1].root.find(n.p("clrMap"))
        return {str(name): str(by) for name, by in own.items()} if own is not None else {}

    @cached_property
    def fonts(self) -> dict[str, str]:
        """What the theme words for the heading and the text font mean."""
        found: dict[str, str] = {}
        if self.root is None:
            return found
        for word, name in _FONTS:
            font = next((f.find(n.a("latin")) for f in self.root.iter(n.a(name))), None)
            if font is not None:
                found[word] = font.get("typeface") or ""
        return found

    def stock(self, name: str, number: int) -> Element | None:
        """Return a fill or line of the theme that shapes refer to by a number from 1."""
        lists = self.root.iter(n.a(name)) if self.root is not None else iter(())
        found = next(lists, None)
        kinds = list(found.iterchildren("*")) if found is not None else []
        return kinds[number - 1] if 0 < number <= len(kinds) else None

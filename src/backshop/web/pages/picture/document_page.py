"""LibreOffice's pages of a document, before and after, with its changed blocks outlined (U8.16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from backshop.base.labels import count_text
from backshop.bench import Diff, Parts, Viewer, views

from ..kit import number, tried
from .document import DiffOf, Run, changed_runs, entry_of, near_of, own_blocks
from .outline import SHOWN_MAX, Entry, Outline, Rect, outline, unit_of
from .page import BY_OFFICE, SCALE, lacks_office, not_drawn
from .page_place import Places, around, same_blocks
from .panel import (
    Data,
    PageImage,
    Panel,
    Picture,
    Scene,
    Shown,
    Tab,
    Version,
    capped,
    faulty,
    numbered,
)

PAGES = 6  # changed ones that are shown one below another
_TABS = 150  # more pages than that: those with changes, and those beside the one that is shown


class _Told(NamedTuple):
    """Blocks that are one change, its entry, and the later block beside which it stands."""

    run: Run
    entry: Entry
    beside: int


def document_pages(shown: Shown, diff: Diff | None, diff_of: DiffOf | None) -> Picture:
    """Return the pages with changes, each beside the page it was; of one version one page."""
    if lacks_office(shown):
        return Picture(kind="pages", scenes=(), lacks_office=True)
    return _Pages(shown, diff, diff_of).picture()


@dataclass(frozen=True)
class _Side:
    """One version: where its blocks stand."""

    version: Version
    places: Places


@dataclass(frozen=True)
class _Pages:
    shown: Shown
    diff: Diff | None
    diff_of: DiffOf | None

    def picture(self) -> Picture:
        changed = self._by_page
        asked = self._asked
        wanted = [asked] if asked is not None else (sorted(changed) or [0])[:PAGES]
        seen = list(dict.fromkeys(at for page in wanted for at in changed.get(page, ())))
        told = numbered([self._told[at].entry for at in seen])
        listed = dict(zip(seen, told, strict=True))  # one that stands on two pages is one entry
        scenes: list[Scene] = []
        for page in wanted:
            own = [at for at in changed.get(page, ()) if listed[at].number <= SHOWN_MAX]
            here = [_Told(self._told[at].run, listed[at], self._told[at].beside) for at in own]
            scenes += self._scenes(page, here)
        kept, more = capped(told)
        left = len(changed) - len(wanted) if asked is None else 0
        diff = self.diff
        return Picture(
            kind="pages",
            drawn_by=BY_OFFICE,
            scenes=tuple(scenes),
            tabs=tuple(self._tabs(wanted)),
            tabs_label="Pages",
            entries=kept if self._body is not None else None,
            more=more,
            also=tuple(str(one["text"]) for one in (diff.also if diff else None) or ()),
            notes=(
                *(diff.notes if diff is not None else ()),
                *(
                    [f"{count_text(left, 'more page')} with changes; choose above."]
                    if left > 0
                    else ()
                ),
            ),
        )

    # ------------------------------------------------------------ what stands where

    @cached_property
    def _sides(self) -> tuple[_Side, ...]:
        viewer = self.shown.visit.shop.benches.viewer
        about = ((one, one.version, one.path) for one in self.shown.versions)
        return tuple(
            _Side(one, Places(viewer.landmarks_of(self.shown.bench_id, *where)))
            for one, *where in about
        )

    @property
    def _after(self) -> _Side:
        return self._sides[-1]

    @property
    def _before(self) -> _Side | None:
        return self._sides[0] if len(self._sides) > 1 else None

    @cached_property
    def _body(self) -> Parts | None:
        body = self.diff.body if self.diff is not None else None
        return body if isinstance(body, Parts) and self.diff_of else None

    @cached_property
    def _told(self) -> tuple[_Told, ...]:
        if self._body is None or self.diff_of is None:
            return ()
        runs = list(changed_runs(self._body, self.diff_of))
        return tuple(_Told(run, entry_of(*run, near=at), at) for run, at in near_of(runs))

    @cached_property
    def _by_page(self) -> dict[int, list[int]]:
        """The changes of each page of the later version; what went stands where it was."""
        found: dict[int, list[int]] = {}
        for at, told in enumerate(self._told):
            for page in self._pages_of(told):
                found.setdefault(page, []).append(at)
        return found

    def _pages_of(self, told: _Told) -> list[int]:
        places = self._after.places
        blocks = _blocks(told, "after")
        if not blocks:
            return [places.page_of(told.beside)]
        return sorted({page for at in blocks for page in places.pages_of(at)})

    @cached_property
    def _was(self) -> dict[int, int]:
        """The block before of each block after."""
        if self._before is None or self._body is None:
            return {}
        runs = [one.run for one in self._told]
        counts = (self._before.places.block_count, self._after.places.block_count)
        own = (own_blocks("before", runs), own_blocks("after", runs))
        return {after: before for before, after in same_blocks(counts, own)}

    def _page_before(self, page: int) -> int:
        """Return the earlier page on which stands what is the first thing of a page."""
        assert self._before is not None
        first = self._after.places.first_on(page)
        known = [at for at in self._was if first is not None and at <= first]
        if known:
            return self._before.places.page_of(self._was[max(known)])
        return min(page, max(0, self._before.places.page_count - 1))

    @property
    def _asked(self) -> int | None:
        """The page that is asked for, by its number or by the place of a comment."""
        wanted = self.shown.wanted
        last = max(0, self._after.places.page_count - 1)
        if wanted is not None and wanted.place is not None and wanted.place.paragraph is not None:
            return self._after.places.page_of(wanted.place.paragraph)
        asked = number(self.shown.visit, "page")
        return None if asked is None else min(asked, last)

    # ------------------------------------------------------------ what is shown

    def _tabs(self, wanted: Sequence[int]) -> Iterator[Tab]:
        count = self._after.places.page_count
        near = {page + step for page in wanted for step in (-1, 0, 1)}
        for page in range(count):
            own = self._by_page.get(page, ())
            if count > _TABS and not own and page not in near:
                continue
            yield Tab(
                label=f"Page {page + 1}",
                href=self.shown.link(page=page),
                is_current=page in wanted,
                badge=f"~ {len(own)}" if own else None,
            )

    def _scenes(self, page: int, told: Sequence[_Told]) -> Iterator[Scene]:
        """Yield a page beside the page it was; beside each of them, where it was several."""
        title = f"Page {page + 1}"
        if self._before is None:
            panel = self._panel(self._after, page, told)
            yield Scene(title=title, panels=(panel,), is_fitted=True)
            return
        by_page: dict[int, list[_Told]] = {}
        for one in told:
            blocks = _blocks(one, "before")
            own = self._before.places.page_of(blocks[0]) if blocks else None
            known = next(iter(by_page), self._page_before(page))
            by_page.setdefault(known if own is None else own, []).append(one)
        for was, some in (by_page or {self._page_before(page): []}).items():
            panels = (self._panel(self._before, was, some), self._panel(self._after, page, some))
            yield Scene(title=title, panels=panels, is_fitted=True)

    def _panel(self, side: _Side, page: int, told: Sequence[_Told]) -> Panel:
        version = side.version
        wish = views.ReviewPage(
            workbench_id=self.shown.bench_id,
            path=self.shown.path,
            version=version.version,
            since=self.shown.since,
            page_index=page,
            scale=SCALE,
        )
        found, error = tried(self.shown.visit, Viewer.docx_page, wish)
        if found is None or found.image_ref is None:
            return faulty(version, error or not_drawn(found))
        size = (0.0, 0.0, (found.width or 1) / SCALE, (found.height or 1) / SCALE)
        viewer = self.shown.visit.shop.benches.viewer
        layout = viewer.page_layout_of(self.shown.bench_id, version.version, version.path, page)
        texts = tuple((x, y, width, height) for x, y, width, height in layout.get("texts", ()))
        drawing: Data = {
            "width": round(size[2], 1),
            "height": round(size[3], 1),
            "missing": [],
            "label": f"Page {page + 1}",
        }
        outlines = [*_outlines(side, page, texts, size, told)]
        if version.name == "after":
            outlines += self._remarked(side, page, texts, size)
        return Panel(
            name=version.name,
            label=f"{version.label}, page {page + 1}" if version.label else "",
            drawing=drawing,
            page=PageImage(src=found.image_ref, texts=texts),
            outlines=tuple(outlines),
        )

    def _remarked(
        self, side: _Side, page: int, texts: Sequence[Rect], size: Rect
    ) -> Iterator[Outline]:
        for one in self.shown.placed:
            at = None if one.place is None else one.place.paragraph
            rect = None if at is None else side.places.rect(at, page, texts, size)
            if rect is not None:
                yield outline(rect, remark=one.number, unit=unit_of(size[2]))


def _blocks(told: _Told, name: str) -> list[int]:
    return [at for one in told.run[1] if (at := one.get(f"at_{name}")) is not None]


def _outlines(
    side: _Side, page: int, texts: Sequence[Rect], size: Rect, told: Sequence[_Told]
) -> Iterator[Outline]:
    for one in told:
        rects = (side.places.rect(at, page, texts, size) for at in _blocks(one, side.version.name))
        whole = around([rect for rect in rects if rect is not None])
        if whole is not None:
            yield outline(whole, entry=one.entry, unit=unit_of(size[2]))

"""Documents as Backshop draws them: what a page shows of one, before and after (U8).

The parts of a picture, the addresses of its drawings, and what the three kinds have in common.
Drawings are named by their content, so that a browser keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlencode

from backshop.bench import CommentInfo
from backshop.formats import DRAWN

from ...sentences import explained
from ..kit import Visit
from .frozen import Kept
from .outline import SHOWN_MAX, Entry, Outline, Rect

Data = Mapping[str, Any]
PICTURED = ("xlsx", "docx", "odt", "pptx")
"""The kinds of files that have a picture."""
SHAPES = {"xlsx": "grid", "docx": "text", "odt": "text", "pptx": "page"}
"""What their skeletons look like."""

_SHARE = re.compile(r"[0-9][0-9,]* of [0-9]")

PARTS = ("sheet", "row", "col", "cell", "slide", "block", "page", "remark")
"""What of an address says which part of a picture is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a file that is shown."""

    name: str
    """`before`, `after`, or `only` where there is nothing to be compared with."""
    version: str
    label: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageImage:
    """A page as LibreOffice draws it."""

    src: str
    texts: tuple[Rect, ...] = ()
    """Where text stands, in the measures of the drawing, so that no sign covers it (U8.12)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One version of one sheet, slide or document; without a drawing it says why."""

    name: str
    label: str
    drawing: Data | None = None
    address: str | None = None
    page: PageImage | None = None
    """LibreOffice's page in place of the drawing; the measures of `drawing` are laid over it."""
    outlines: tuple[Outline, ...] = ()
    marks: Mapping[str, Data] = field(default_factory=dict)
    """Of a document: what became of a block, by its place."""
    own: tuple[int, ...] = ()
    """Of a document: the numbers, as places spell them, of blocks the other side does not have."""
    kept: Kept | None = None
    """Of a sheet: what stays in sight while it scrolls."""
    here: Rect | None = None
    """Of a sheet: the cells that somebody went to."""
    absent: str | None = None
    fault: Data | None = None
    """Why it is not drawn and what can be done (U9.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What is compared: a window of a sheet, a slide, a part of a document."""

    title: str | None
    panels: tuple[Panel, ...]
    is_fitted: bool = False
    """Shown as wide as there is room, not at its size."""

    @property
    def is_pair(self) -> bool:
        """Whether two versions share the room: one that is not there needs none."""
        return len(self.panels) > 1 and not any(one.absent for one in self.panels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """A way to another sheet or slide."""

    label: str
    href: str
    is_current: bool
    badge: str | None = None
    tone: str = "changed"
    note: str | None = None
    """What there is to know of it besides, such as that the file hides it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The field that goes to a cell: what was typed, and what is wrong with it."""

    action: str
    fields: tuple[tuple[str, str], ...]
    """What the address says besides."""
    typed: str = ""
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """All that the template shows."""

    kind: str
    scenes: tuple[Scene, ...]
    tabs: tuple[Tab, ...] = ()
    tabs_label: str = ""
    entries: tuple[Entry, ...] | None = None
    """The changes of what `scope` says; None where nothing is compared."""
    more: int = 0
    """Changes here that are neither outlined nor listed."""
    also: tuple[str, ...] = ()
    ways: Mapping[str, str] = field(default_factory=dict)
    part: str | None = None
    """Which part of the whole is shown; None where that is all of it."""
    goal: Goal | None = None
    notes: tuple[str, ...] = ()
    drawn_by: str = "Backshop"
    lacks_office: bool = False
    """These would be pages of LibreOffice, which is not there."""

    @property
    def is_drawn(self) -> bool:
        """Whether anything of it is."""
        return any(one.drawing for scene in self.scenes for one in scene.panels)

    @property
    def scope(self) -> str:
        """Where the changes are that are listed; one may have to scroll to see them."""
        if self.kind == "document":
            return "in this document"
        if self.kind == "pages":
            return "on this page" if len(self.scenes) == 1 else "on these pages"
        if self.kind == "slides":
            return "on this slide" if len(self.scenes) == 1 else "on these slides"
        return "in this part of the sheet" if self.part else "on this sheet"

    @property
    def missing(self) -> list[str]:
        """What of the file is not drawn as it is, each said once."""
        drawings = [one.drawing for scene in self.scenes for one in scene.panels if one.drawing]
        return list(dict.fromkeys(text for one in drawings for text in one["missing"]))

    @property
    def shares(self) -> list[str]:
        """How much of it is drawn, where that is not all (F43.76)."""
        return [text for text in self.missing if _SHARE.match(text)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Which file is shown, in which versions, and how addresses of its picture begin."""

    visit: Visit
    path: str
    versions: tuple[Version, ...]
    here: str
    is_review: bool = False
    since: str | None = None
    remarks: tuple[CommentInfo, ...] = ()
    is_pages: bool = False
    """Pages of LibreOffice are looked at, not drawings of Backshop."""

    @property
    def view(self) -> str:
        """The view of a bench that is looked at where nothing is compared."""
        return "draft" if self.versions[0].version == "DRAFT" else "published"

    @property
    def bench_id(self) -> str:
        """The bench it is a file of."""
        return self.visit.params["bench_id"]

    @property
    def wanted(self) -> CommentInfo | None:
        """The comment whose place is asked for, if that is still there."""
        asked = self.visit.query.get("remark")
        return next((one for one in self.placed if str(one.number) == asked), None)

    @property
    def placed(self) -> tuple[CommentInfo, ...]:
        """The open comments that have a place in the Draft."""
        return tuple(one for one in self.remarks if one.place and not one.is_resolved)

    def link(self, **query: object) -> str:
        """Return the address of another part of the picture."""
        still = {"still": 1} if "still" in self.visit.query else {}
        return f"{self.here}&{urlencode({**query, **still})}"

    def address(self, version: Version, what: str, **query: object) -> str:
        """Return where a drawing is to be had, named by the content it is of."""
        viewer = self.visit.shop.benches.viewer
        content = viewer.content(self.bench_id, version.version, version.path) or ""
        named = {**query, "by": DRAWN, "content": content[:16]}
        place = f"{version.version}/{what}/{quote(version.path)}"
        return f"/bench/{self.bench_id}/drawn/{place}?{urlencode(named)}"


def faulty(version: Version, error: Mapping[str, Any] | None) -> Panel:
    """Return the panel of a version that could not be drawn: sentences in a frame."""
    told = explained(error or {"message": "this file cannot be read"})
    return Panel(name=version.name, label=version.label, fault=told)


def capped(entries: Sequence[Entry]) -> tuple[tuple[Entry, ...], int]:
    """Return the entries that are shown, and how many are not."""
    return tuple(entries[:SHOWN_MAX]), max(0, len(entries) - SHOWN_MAX)


def numbered(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries counted from 1, as their outlines are."""
    return [replace(one, number=at) for at, one in enumerate(entries, 1)]

"""LibreOffice's slides in place of our drawings, with the same outlines over them (U8.15).

An outline stands where it is certain that the page is the one that is meant and is laid out as
its file says; otherwise the change is an entry without one.
"""

from __future__ import annotations

from backshop.bench import PagePreview, Viewer, views

from ..kit import tried
from ..words import FAULTS
from .outline import Rect
from .panel import Data, PageImage, Panel, Shown, Version, faulty

SCALE = 1.5
BY_OFFICE, BY_US = "LibreOffice", "Backshop"
_LIKE = 0.01  # by which the sides of a page may differ from those its file says: it is rounded


def lacks_office(shown: Shown) -> bool:
    """Whether there is no LibreOffice that could draw pages."""
    return not shown.visit.shop.benches.viewer.has_office()


def drawn_by(shown: Shown) -> str:
    """Return who draws what is shown."""
    return BY_OFFICE if shown.is_pages else BY_US


def slide_page(shown: Shown, version: Version, index: int, drawn: Panel) -> Panel:
    """Return LibreOffice's page of a slide that Backshop drew, as a panel of the same measures."""
    if drawn.absent:
        return drawn
    wish = views.ReviewSlide(
        workbench_id=shown.bench_id,
        path=shown.path,
        version=version.version,
        since=shown.since,
        slide_index=index,
        scale=SCALE,
    )
    found, error = tried(shown.visit, Viewer.slide_preview, wish)
    if found is None or found.image_ref is None:
        return faulty(version, error or not_drawn(found))
    count = (drawn.drawing or {}).get("slide_count", found.page_count)
    if count != found.page_count:
        told = f"LibreOffice drew {found.page_count} pages of {count} slides"
        return faulty(version, {"message": f"{told}; which one this slide is, is not known"})
    measures = _measures(drawn.drawing, found, index)
    return Panel(
        name=version.name,
        label=version.label,
        drawing=measures,
        page=PageImage(src=found.image_ref, texts=_texts(shown, version, index, measures)),
    )


def not_drawn(found: PagePreview | None) -> Data:
    """Return why there is no page, as an error of reads."""
    reason = (found and found.reason) or "render_failed"
    return {
        "error_code": "FILE_READ_FAILED",
        "reason": reason,
        "message": f"no picture could be drawn: {FAULTS.get(reason, 'the file cannot be read')}",
    }


def _measures(drawing: Data | None, found: PagePreview, index: int) -> Data:
    """Return the measures of a drawn slide, with its frames where the page has its form."""
    width, height = (found.width or 1) / SCALE, (found.height or 1) / SCALE
    if drawing is not None and _is_like(drawing["width"] / drawing["height"], width / height):
        return {**drawing, "missing": []}
    own = {"width": round(width, 1), "height": round(height, 1), "frames": [], "missing": []}
    return {**own, "label": f"Slide {index + 1}"}


def _is_like(one: float, other: float) -> bool:
    return abs(one / other - 1) <= _LIKE


def _texts(shown: Shown, version: Version, index: int, measures: Data) -> tuple[Rect, ...]:
    viewer = shown.visit.shop.benches.viewer
    layout = viewer.page_layout_of(shown.bench_id, version.version, version.path, index)
    if not layout:
        return ()
    scale = measures["width"] / layout["width"]
    rects = ([round(side * scale, 1) for side in one] for one in layout["texts"])
    return tuple((x, y, width, height) for x, y, width, height in rects)

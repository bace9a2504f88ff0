"""Slides as they look, the changed ones before and after, with their shapes outlined (U8.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from backshop.bench import Diff, Parts, Viewer, views
from backshop.formats import Place, spelled

from ..kit import number, tried
from .outline import SHOWN_MAX, Entry, Outline, outline, unit_of
from .page import drawn_by, lacks_office, slide_page
from .panel import Data, Panel, Picture, Scene, Shown, Tab, Version, capped, faulty, numbered

SLIDES = 6  # that are shown one below another
DiffOf = Callable[[int | None], Diff | None]
"""Gives the difference with one of its slides whole."""
_Marked = tuple[Entry, Data | None]
"""An entry with its shape; an empty one is the whole slide, None has no place in the picture."""


def deck_picture(shown: Shown, diff: Diff | None, diff_of: DiffOf | None = None) -> Picture:
    """Return the slides of a presentation: those that changed where versions are compared."""
    if shown.is_pages and lacks_office(shown):
        return Picture(kind="slides", scenes=(), lacks_office=True)
    if diff is None or diff_of is None or not isinstance(diff.body, Parts):
        return _one_version(shown)
    pairs = diff.body.listed
    asked = _asked(shown, pairs)
    changed = [one["index"] for one in pairs if one["kind"] != "same"]
    wanted = [asked] if asked is not None else (changed or [0])[:SLIDES]
    scenes: list[Scene] = []
    entries: list[Entry] = []
    for index in wanted:
        found = diff_of(index)
        if found is None or not isinstance(found.body, Parts) or not found.body.chosen:
            continue
        slide = found.body.chosen
        own = list(_entries(slide, _near(pairs, index)))
        told = numbered([*entries, *(entry for entry, _ in own)])[len(entries) :]
        marked = [(entry, shape) for entry, (_, shape) in zip(told, own, strict=True)]
        scenes.append(_scene(shown, slide, marked[: max(0, SHOWN_MAX - len(entries))]))
        entries += told
    kept, more = capped(entries)
    left = len(changed) - len(wanted) if asked is None else 0
    return Picture(
        kind="slides",
        drawn_by=drawn_by(shown),
        scenes=tuple(scenes),
        tabs=tuple(_tab(shown, one, one["index"] in wanted) for one in pairs),
        tabs_label="Slides",
        entries=kept,
        more=more,
        also=tuple(str(one["text"]) for one in diff.also or ()),
        notes=(
            *diff.notes,
            *([f"{left} more changed slides; choose them above."] if left > 0 else ()),
        ),
    )


def _asked(shown: Shown, pairs: Sequence[Data]) -> int | None:
    """Return the pair that is asked for, by its number or by the place of a comment."""
    wanted = shown.wanted
    if wanted is not None and wanted.place is not None and wanted.place.slide_index is not None:
        at = wanted.place.slide_index
        return next((one["index"] for one in pairs if one["index_after"] == at), None)
    asked = number(shown.visit, "slide")
    return None if asked is None else min(asked, max(0, len(pairs) - 1))


def _one_version(shown: Shown) -> Picture:
    """Return one slide of a presentation that is not compared, and ways to the others."""
    index = number(shown.visit, "slide") or 0
    panels = tuple(_panel(shown, version, index) for version in shown.versions)
    drawing = panels[0].drawing or {}
    count = drawing.get("slide_count", 0)
    about = views.FileRequest(workbench_id=shown.bench_id, path=shown.path, view=shown.view)
    mapped = (None if shown.is_review else tried(shown.visit, Viewer.map, about)[0]) or {}
    slides = [one if isinstance(one, dict) else {} for one in mapped.get("slides", ())]
    slides += [{}] * (count - len(slides))
    tabs = tuple(
        Tab(
            label=f"{at + 1} {slides[at].get('title') or ''}".strip(),
            href=shown.link(slide=at),
            is_current=at == index,
            note="hidden" if slides[at].get("hidden") else None,
        )
        for at in range(count)
    )
    scene = Scene(title=None, panels=panels, is_fitted=True)
    told = drawn_by(shown)
    return Picture(kind="slides", drawn_by=told, scenes=(scene,), tabs=tabs, tabs_label="Slides")


def _tab(shown: Shown, pair: Data, is_current: bool) -> Tab:
    signs = {"added": "+ new", "removed": "− removed", "changed": "~ changed", "moved": "→ moved"}
    at = pair["index_after"] if pair["index_after"] is not None else pair["index_before"]
    return Tab(
        label=f"{at + 1} {pair['title'] or '(no title)'}",
        href=shown.link(slide=pair["index"]),
        is_current=is_current,
        badge=signs.get(pair["kind"]),
        tone="changed" if pair["kind"] == "moved" else pair["kind"],
    )


def _scene(shown: Shown, slide: Data, marked: Sequence[_Marked]) -> Scene:
    """Return a slide before and after."""
    panels = []
    for version in shown.versions:
        index = slide[f"index_{version.name}"]
        if index is None:
            words = "This slide is new." if version.name == "before" else "This slide is removed."
            panels.append(Panel(name=version.name, label=version.label, absent=words))
            continue
        panel = _panel(shown, version, index)
        lines = (*_outlines(panel, slide, marked), *_remarked(shown, panel, index))
        panels.append(replace(panel, outlines=lines))
    at = slide["index_after"] if slide["index_after"] is not None else slide["index_before"]
    title = f"Slide {at + 1}" + (f": {slide['title']}" if slide["title"] else "")
    return Scene(title=title, panels=tuple(panels), is_fitted=True)


def _panel(shown: Shown, version: Version, index: int) -> Panel:
    drawn = _drawn(shown, version, index)
    return slide_page(shown, version, index, drawn) if shown.is_pages else drawn


def _drawn(shown: Shown, version: Version, index: int) -> Panel:
    own = {"workbench_id": shown.bench_id, "path": shown.path}
    if shown.is_review:
        wish = views.ReviewDrawnSlide(
            **own, version=version.version, since=shown.since, slide_index=index
        )
        found, error = tried(shown.visit, Viewer.preview_drawn_slide, wish)
        drawing = found and found["drawing"]
    else:
        about = views.FileSlide(**own, view=shown.view, slide_index=index)
        drawing, error = tried(shown.visit, Viewer.drawn_slide, about)
    if drawing is None and (error or {}).get("reason") == "unknown_slide":
        words = f"There is no slide {index + 1}." if index else "This presentation has no slides."
        return Panel(name=version.name, label=version.label, absent=words)
    if drawing is None:
        return faulty(version, error)
    address = shown.address(version, "slide", slide=index)
    return Panel(name=version.name, label=version.label, drawing=drawing, address=address)


# ---------------------------------------------------------------- what changed


def _near(pairs: Sequence[Data], index: int) -> str:
    """Return the slide of the Draft that stands before a place of the order, else after it."""
    order = (*reversed(pairs[: index + 1]), *pairs[index + 1 :])
    at = next((one["index_after"] for one in order if one["index_after"] is not None), None)
    return "" if at is None else spelled(Place(slide_index=at))


def _entries(slide: Data, near: str) -> Iterator[_Marked]:
    """Yield what changed on a slide; a slide that came or went is one change."""
    at = slide["index_after"]
    place = None if at is None else spelled(Place(slide_index=at))
    if slide["kind"] in ("added", "removed"):
        words = "new slide" if slide["kind"] == "added" else "removed slide"
        whole = Entry(number=0, change=slide["kind"], label=_name(slide), place=place)
        yield replace(whole, what=words, near=near), {}
        return
    for shape in slide["shapes"]:
        if shape["kind"] != "same":
            yield _entry(slide, shape), shape
    whole = Entry(number=0, change="changed", label=_name(slide), place=place)
    if slide["facts"]:
        yield replace(whole, what="the slide", facts=tuple(slide["facts"])), None
    if slide["notes"]:
        yield replace(whole, what="speaker notes", pieces=(slide["notes"],)), None
    if slide["moved"]:
        was = slide["index_before"] + 1
        yield replace(whole, change="moved", what=f"moved; it was slide {was}"), None


def _entry(slide: Data, shape: Data) -> Entry:
    index = shape["index_after"]
    place = None
    if index is not None:
        place = spelled(Place(slide_index=slide["index_after"], shape=index))
    what = ", ".join(shape["what"]) or shape["kind"]
    return Entry(
        number=0,
        change=shape["kind"],
        label=str(shape["name"] or "Shape"),
        what=what,
        place=place,
        near=spelled(Place(slide_index=slide["index_after"])),
        pieces=tuple(shape["lines"]),
        facts=tuple(shape["facts"]),
    )


def _name(slide: Data) -> str:
    at = slide["index_after"] if slide["index_after"] is not None else slide["index_before"]
    return f"Slide {at + 1}"


def _outlines(panel: Panel, slide: Data, marked: Sequence[_Marked]) -> Iterator[Outline]:
    drawing = panel.drawing
    if drawing is None:
        return
    frames = {one["place"]: one for one in drawing["frames"]}
    index, unit = slide[f"index_{panel.name}"], unit_of(drawing["width"])
    for entry, shape in marked:
        if shape is None:
            continue
        if not shape:  # the slide as a whole
            inset = 2 * unit
            sides = drawing["width"] - 2 * inset, drawing["height"] - 2 * inset
            yield outline((inset, inset, *sides), entry=entry, unit=unit)
            continue
        at = shape[f"index_{panel.name}"]
        frame = None if at is None else frames.get(spelled(Place(slide_index=index, shape=at)))
        if frame is not None:
            yield outline(_rect(frame), entry=entry, unit=unit)


def _remarked(shown: Shown, panel: Panel, index: int) -> Iterator[Outline]:
    """Yield the places of open comments; they are in the Draft."""
    drawing = panel.drawing
    if panel.name != "after" or drawing is None:
        return
    frames = {one["place"]: one for one in drawing["frames"]}
    unit = unit_of(drawing["width"])
    for one in shown.placed:
        if one.place is None or one.place.slide_index != index:
            continue
        where = spelled(Place(slide_index=index, shape=one.place.shape))
        frame = frames.get(where)
        page = (0.0, 0.0, drawing["width"], drawing["height"])
        yield outline(_rect(frame) if frame else page, remark=one.number, unit=unit)


def _rect(frame: Mapping[str, float]) -> tuple[float, float, float, float]:
    return frame["x"], frame["y"], frame["width"], frame["height"]

"""What differs between two presentations, slide by slide and shape by shape (B12.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest
from typing import Any

from .words import marked

Data = Mapping[str, Any]

_PLACE = ("left", "top", "width", "height", "rotation")
_LOOKS = ("bold", "italic", "underline", "size_pt", "font_name", "color")


def diff_decks(before: Data | None, after: Data | None) -> list[Data]:
    """Return the slides of both sides paired, in the order of the new deck.

    A slide is found again by its id, else by its title, else by its place among what is left.
    """
    old = list(before["slides"]) if before else []
    new = list(after["slides"]) if after else []
    twins = _twins(old, new)
    steady = _in_order([twins[at] for at in range(len(new)) if at in twins])
    found = []
    for at, slide in enumerate(new):
        twin = twins.get(at)
        pair = None if twin is None else old[twin]
        found.append(_slide(pair, slide, moved=twin is not None and twin not in steady))
    gone = [at for at in range(len(old)) if at not in twins.values()]
    for at in gone:  # where it stood: before the first slide that came after it
        place = next(
            (n for n, one in enumerate(found) if (one["index_before"] or -1) > at), len(found)
        )
        found.insert(place, _slide(old[at], None))
    return [{"index": index, **one} for index, one in enumerate(found)]


def _twins(old: list[Data], new: list[Data]) -> dict[int, int]:
    """Return new index → old index."""
    found: dict[int, int] = {}
    keys: tuple[Callable[[Data], Any], ...] = (
        lambda slide: slide["slide_id"],
        lambda slide: slide["title"] or None,
    )
    for key in keys:
        free: dict[Any, int] = {}
        for at in range(len(old) - 1, -1, -1):
            if at not in found.values() and key(old[at]) is not None:
                free[key(old[at])] = at
        for at, slide in enumerate(new):
            if at not in found and key(slide) in free:
                found[at] = free.pop(key(slide))
    return found


def _in_order(places: list[int]) -> set[int]:
    """Return the places of a longest rising row: slides that stayed where they were."""
    best: list[list[int]] = []
    for place in places:
        lower = [row for row in best if row[-1] < place]
        best.append([*max(lower, key=len), place] if lower else [place])
    longest: list[int] = max(best, key=len) if best else []
    return set(longest)


def _slide(old: Data | None, new: Data | None, *, moved: bool = False) -> Data:
    shown = new or old or {}
    shapes = _shapes(old, new)
    notes = _notes(old, new)
    number = sum(shape["kind"] != "same" for shape in shapes) + (notes is not None)
    facts = [
        f"{name}: {old[name] or 'none'} → {new[name] or 'none'}"
        for name in ("layout", "hidden")
        if old and new and old[name] != new[name]
    ]
    kind = "changed" if number or facts else "moved" if moved else "same"
    kind = "added" if old is None else "removed" if new is None else kind
    return {
        "index_before": old["index"] if old else None,
        "index_after": new["index"] if new else None,
        "title": shown.get("title"),
        "kind": kind,
        "moved": moved,
        "changes": number + len(facts),
        "facts": facts,
        "shapes": shapes,
        "notes": notes,
        "before": old["positioned"] if old else None,
        "after": new["positioned"] if new else None,
    }


def _notes(old: Data | None, new: Data | None) -> list[Data] | None:
    before, after = ((side or {}).get("notes") or "" for side in (old, new))
    if before == after:
        return None
    return [{"mark": piece.mark, "text": piece.text} for piece in marked(before, after)]


def _shapes(old: Data | None, new: Data | None) -> list[Data]:
    left = list(old["shapes"]) if old else []
    found: list[Data] = []
    for shape in new["shapes"] if new else ():
        twin = _same_shape(shape, left)
        if twin is not None:
            left.remove(twin)
        found.append(_shape(twin, shape))
    return [*found, *(_shape(shape, None) for shape in left)]


def _same_shape(shape: Data, among: Iterable[Data]) -> Data | None:
    alike = [one for one in among if one["shape_type"] == shape["shape_type"]]
    named = [one for one in alike if one["name"] == shape["name"]]
    for group in (named, alike):
        for one in group:
            if one["index"] == shape["index"]:
                return one
    return named[0] if named else None


def _shape(old: Data | None, new: Data | None) -> Data:
    shown = new or old or {}
    what = []
    if old and new:
        what += ["text"] if _text(old) != _text(new) else []
        what += ["moved"] if any(old[name] != new[name] for name in _PLACE) else []
        what += ["picture"] if old["image_ref"] != new["image_ref"] else []
        what += ["format"] if not what and _looks(old) != _looks(new) else []
    kind = "added" if old is None else "removed" if new is None else "changed" if what else "same"
    lines = []
    if kind != "same" and ("text" in what or kind in ("added", "removed")):
        lines = [
            [{"mark": piece.mark, "text": piece.text} for piece in marked(a or "", b or "")]
            for a, b in zip_longest(_text(old), _text(new))
        ]
    return {
        "index_before": old["index"] if old else None,
        "index_after": new["index"] if new else None,
        "name": shown.get("name"),
        "shape_type": shown.get("shape_type"),
        "kind": kind,
        "what": what,
        "lines": lines,
    }


def _text(shape: Data | None) -> list[str]:
    if shape is None:
        return []
    cells = ["\t".join(row) for row in shape["table"] or ()]
    return [*(str(block["text"]) for block in shape["text_blocks"]), *cells, *shape["drawn"]]


def _looks(shape: Data) -> list[Any]:
    return [
        [[run["text"], *(run[name] for name in _LOOKS)] for run in block["runs"]]
        for block in shape["text_blocks"]
    ]

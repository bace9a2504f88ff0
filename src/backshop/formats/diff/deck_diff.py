"""What differs between two presentations, slide by slide and shape by shape (B12.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

from .word_diff import Words, marked

Data = Mapping[str, Any]
Key = Callable[[Data], Any]  # None for what has none

_PLACE = ("left", "top", "width", "height", "rotation")
_AHEAD = 20  # slides looked at for one without id and title; decks of a thousand exist
_SLIDE_KEYS: tuple[Key, ...] = (
    lambda slide: slide["slide_id"],
    lambda slide: slide["title"] or None,
)
_SHAPE_KEYS: tuple[Key, ...] = (
    lambda shape: (shape["shape_type"], shape["shape_id"], shape["name"]),
    lambda shape: (shape["shape_type"], shape["shape_id"]) if shape["shape_id"] else None,
    lambda shape: (shape["shape_type"], shape["name"]),
    lambda shape: (shape["shape_type"], shape["index"]),
)


def diff_decks(before: Data | None, after: Data | None, rest: Sequence[Data] = ()) -> list[Data]:
    """Return the slides of both sides paired, in the order of the new deck.

    A slide is found again by its id, else by its title, else by its place: between the same
    neighbours, with words that are alike. `rest` is what changed in parts that belong to slides
    (B12.22); it becomes facts of theirs.
    """
    old = list(before["slides"]) if before else []
    new = list(after["slides"]) if after else []
    twins = _twins(old, new, _SLIDE_KEYS)
    twins.update(_by_place(old, new, twins))
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
    return [{"index": index, **_with_rest(one, rest)} for index, one in enumerate(found)]


def _with_rest(slide: Data, rest: Sequence[Data]) -> Data:
    """Return a slide with what changed in its parts, which makes it a changed one."""
    if slide["kind"] in ("added", "removed"):
        return slide
    side = {True: "index_before", False: "index_after"}
    facts = [
        ", ".join(one["what"]) if one["place"].startswith("slide") else one["text"]
        for one in rest
        if one["place_kind"] == "slide" and one["index"] == slide[side[one["kind"] == "removed"]]
    ]
    if not facts:
        return slide
    return {
        **slide,
        "kind": "changed",
        "facts": [*slide["facts"], *facts],
        "changes": slide["changes"] + len(facts),
    }


def _twins(old: list[Data], new: list[Data], keys: Iterable[Key]) -> dict[int, int]:
    """Return new index → old index of what has the same key; the first key that fits decides."""
    found: dict[int, int] = {}
    for key in keys:
        free: dict[Any, list[int]] = {}
        taken = set(found.values())
        for at in range(len(old) - 1, -1, -1):
            if at not in taken and key(old[at]) is not None:
                free.setdefault(key(old[at]), []).append(at)
        for at, one in enumerate(new):
            if at not in found and free.get(key(one)):
                found[at] = free[key(one)].pop()
    return found


def _by_place(old: list[Data], new: list[Data], twins: dict[int, int]) -> dict[int, int]:
    """Return new index → old index for slides left between the same neighbours."""
    found: dict[int, int] = {}
    taken = set(twins.values())
    until = [len(old)]  # for every new slide, backwards: where in the old deck its neighbour is
    for at in range(len(new) - 1, -1, -1):
        until.append(twins.get(at, until[-1]))
    before = -1
    for at, slide in enumerate(new):
        if at in twins:
            before = twins[at]
            continue
        words = _words(slide)
        free = (place for place in range(before + 1, until[-1 - at]) if place not in taken)
        for place in islice(free, _AHEAD):
            if _words(old[place]).is_like(words):
                found[at] = before = place
                break
    return found


def _words(slide: Data) -> Words:
    return Words.of("\n".join(line for shape in slide["shapes"] for line in _text(shape)))


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
        f"{name}: {_shown(old[name])} → {_shown(new[name])}"
        for name in ("layout", "hidden")
        if old and new and old[name] != new[name]
    ]
    facts += ["order in which shapes are drawn"] if _is_reordered(shapes) else []
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


def _shown(fact: Any) -> str:
    return ("yes" if fact else "no") if isinstance(fact, bool) else str(fact or "none")


def _is_reordered(shapes: list[Data]) -> bool:
    """Whether shapes that are on both sides lie over one another in another order."""
    both = [
        (one["index_after"], one["index_before"])
        for one in shapes
        if one["index_after"] is not None and one["index_before"] is not None
    ]
    order = [before for _, before in sorted(both)]
    return order != sorted(order)


def _notes(old: Data | None, new: Data | None) -> list[Data] | None:
    before, after = ((side or {}).get("notes") or "" for side in (old, new))
    if before == after:
        return None
    return [{"mark": piece.mark, "text": piece.text} for piece in marked(before, after)]


def _shapes(old: Data | None, new: Data | None) -> list[Data]:
    before, after = (list(side["shapes"]) if side else [] for side in (old, new))
    twins = _twins(before, after, _SHAPE_KEYS)
    left = set(range(len(before))) - set(twins.values())
    return [
        *(_shape(before[twins[at]] if at in twins else None, s) for at, s in enumerate(after)),
        *(_shape(before[at], None) for at in sorted(left)),
    ]


def _shape(old: Data | None, new: Data | None) -> Data:
    shown = new or old or {}
    what = []
    if old and new:
        what += ["text"] if _text(old) != _text(new) else []
        what += ["moved"] if any(old[name] != new[name] for name in _PLACE) else []
        what += ["picture"] if old["image_sha256"] != new["image_sha256"] else []
        what += ["format"] if "text" not in what and old["look"] != new["look"] else []
        what += ["link"] if _links(old) != _links(new) else []
        what += _beyond(old, new, what)
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
        "facts": _links_told(old, new),
        "lines": lines,
    }


def _beyond(old: Data, new: Data, what: list[str]) -> list[str]:
    """Name what differs in a shape and is neither its words nor the look that is compared."""
    before, after = old.get("rest") or {}, new.get("rest") or {}
    if "format" in what:
        return []
    if before.get("frame") != after.get("frame"):
        return ["format"] if "text" in what else ["other"]
    is_told = "text" in what or before.get("text") == after.get("text")
    return [] if is_told else ["other"]


def _links(shape: Data | None) -> list[str]:
    return [str(one) for one in (shape or {}).get("links") or ()]


def _links_told(old: Data | None, new: Data | None) -> list[str]:
    """Name every link of a shape that leads elsewhere than before."""
    before, after = _links(old), _links(new)
    if before == after:
        return []
    return [f"link: {a or 'none'} → {b or 'none'}" for a, b in zip_longest(before, after) if a != b]


def _text(shape: Data | None) -> list[str]:
    if shape is None:
        return []
    cells = ["\t".join(row) for row in shape["table"] or ()]
    return [*(str(block["text"]) for block in shape["text_blocks"]), *cells, *shape["drawn"]]

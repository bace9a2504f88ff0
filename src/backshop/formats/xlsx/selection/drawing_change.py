"""Charts and pictures that came, went or changed, each for itself (F36.14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from backshop.base.place import Place

from ..book.workbook import Book
from ..drawing.drawing_diff import SheetDrawings, chart_words
from ..drawing.drawing_part import DrawingPart, Drawn, drawing_parts, identity
from ..drawing.drawn_key import drawn_key, is_picture
from ..drawing.listing import chart_facts
from .slot import DRAWN, SheetPair, Slot


def drawing_slots(
    pair: SheetPair, old: Book, new: Book, translate: Callable[[str], str]
) -> list[Slot] | None:
    """Compare the charts and pictures of a sheet; None where they cannot be told one by one.

    `translate` gives references in the names that sheets had before.
    """
    if pair.old is None or pair.new is None:
        return None
    sheet = SheetDrawings((old, new), (pair.old, pair.new))
    if not any(sheet.parts):
        return []
    if not all(_is_plain(sheet, side) for side in (0, 1)) or not _is_ordered(sheet):
        return None
    has_cells = pair.new.kind == "worksheet"
    found = []
    for was, now in sheet.pairs:
        if was is not None and now is not None and was.id != now.id:
            return None  # numbered anew
        if not has_cells and (was is None or now is None):
            return None  # the chart of a chart sheet is all of it
        slot = _slot(pair, sheet, was, now, translate)
        if slot is not None:
            found.append(slot)
    return found


def _is_plain(sheet: SheetDrawings, side: int) -> bool:
    """Whether a side has one drawing at most, of its own, and its things have numbers."""
    book, parts, drawn = sheet.books[side], sheet.parts[side], sheet.drawn[side]
    if len(parts) > 1:
        return False
    for part in parts:
        users = [one for one in book.sheets if part in drawing_parts(book, one)]
        if len(users) > 1:
            return False
        everything = DrawingPart.of(book, part).children
        if not sheet.parts[1 - side] and len(everything) != len({one.at for one in drawn}):
            return False  # a drawing that came or went with other things on it
    counts = Counter((one.sort, one.id) for one in drawn)
    return all(one.id and counts[one.sort, one.id] == 1 for one in drawn)


def _is_ordered(sheet: SheetDrawings) -> bool:
    """Whether what is on both sides is drawn in the same order."""
    orders = []
    for side, book in enumerate(sheet.books):
        drawn = {one.at: (one.sort, one.id) for one in sheet.drawn[side]}
        orders.append(
            [
                drawn.get(at) or identity(anchor)
                for part in sheet.parts[side]
                for at, anchor in enumerate(DrawingPart.of(book, part).children)
            ]
        )
    both = set(orders[0]) & set(orders[1])
    one, two = ([key for key in order if key in both] for order in orders)
    return one == two


def _slot(
    pair: SheetPair,
    sheet: SheetDrawings,
    was: Drawn | None,
    now: Drawn | None,
    translate: Callable[[str], str],
) -> Slot | None:
    if was is not None and now is not None and sheet.is_untouched(was, now):
        return None
    sides = [
        None if one is None else drawn_key(book, one, translate)
        for book, one in zip(sheet.books, (was, now), strict=True)
    ]
    if sides[0] == sides[1]:
        return None
    drawn = now or was
    assert drawn is not None, "a pair has a side"
    corner = drawn.box
    verb = "" if was and now else " added" if now else " removed"
    facts = [
        chart_facts(book, one) if one is not None and not is_picture(one) else None
        for book, one in zip(sheet.books, (was, now), strict=True)
    ]
    texts = tuple(dict.fromkeys(text for one in facts if one for text in one.formulas))
    first = was or now
    assert first is not None, "a pair has a side"
    is_same = all(facts) and facts[0] and facts[1] and facts[0].formulas == facts[1].formulas
    group = "structure" if verb else "looks" if is_same or is_picture(drawn) else "values"
    return Slot(
        what=DRAWN,
        pair=pair,
        sides=(sides[0], sides[1]),
        group=group,
        label=f"{drawn.words} on {pair.shown}{verb}",
        detail=(first.sort, first.id),
        row=corner.row or 0,
        col=corner.col or 0,
        place=Place(sheet=pair.shown, range=corner.corner) if now and corner.corner else None,
        before=_shown(sheet, was, now, 0),
        after=_shown(sheet, was, now, 1),
        texts=texts,
    )


def _shown(sheet: SheetDrawings, was: Drawn | None, now: Drawn | None, side: int) -> str | None:
    own = (was, now)[side]
    if own is None:
        return None
    words: list[str] = []
    if side and was is not None and now is not None:
        words = sheet.anchored(was, now)
        if not is_picture(now):
            words += chart_words(sheet.books, was, now)[0]
    return "; ".join(words) or sheet.shown(own, bool(side))

"""Which charts and pictures of two workbooks are versions of one another, and how they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from backshop.formats.chart.facts import ChartFacts
from backshop.formats.chart.mask import masked
from backshop.formats.chart.vocabulary import LEGENDS
from backshop.formats.diff import part_diff
from backshop.formats.package.guard import Element
from backshop.formats.package.relationship import rels_name
from backshop.formats.package.xml_tree import loosened

from ..book.workbook import Book, Sheet
from .drawing_edit import links_in
from .drawing_part import DrawingPart, Drawn, drawing_parts, drawn_on
from .drawn_key import anchor_key, content_key, is_picture
from .listing import chart_facts, told
from .pairing import Pairs, paired

_SHOWN_CHARS = 80
LEGEND_WORDS = {place: word for word, place in LEGENDS.items()}


@dataclass
class SheetDrawings:
    """Both versions of the drawings of one sheet. What stands in groups is left to others."""

    books: tuple[Book, Book]
    sheets: tuple[Sheet, Sheet]

    @cached_property
    def parts(self) -> tuple[list[str], list[str]]:
        """The drawings of both sides."""
        one, two = (drawing_parts(b, s) for b, s in zip(self.books, self.sheets, strict=True))
        return one, two

    @cached_property
    def drawn(self) -> tuple[list[Drawn], list[Drawn]]:
        """The charts and pictures of both sides that stand by themselves."""
        one, two = (
            [drawn for drawn in drawn_on(book, sheet) if drawn.is_alone]
            for book, sheet in zip(self.books, self.sheets, strict=True)
        )
        return one, two

    @cached_property
    def pairs(self) -> Pairs:
        """Those that are versions of one another; one that came or went has None beside it."""
        return paired(*self.drawn)

    def is_untouched(self, was: Drawn, now: Drawn) -> bool:
        """Whether all parts of a chart or picture have the same bytes on both sides."""
        old, new = self.books
        names = {was.drawing, rels_name(was.drawing), *parts_of(old, was)}
        if names != {now.drawing, rels_name(now.drawing), *parts_of(new, now)}:
            return False
        one, two = (
            [book.package.read(name) if name in book.package else b"" for name in sorted(names)]
            for book in (old, new)
        )
        return one == two

    def words(self, *, with_verb: bool = True) -> list[str]:
        """Say what came, went, or stands elsewhere."""
        said = (self._said(was, now, with_verb=with_verb) for was, now in self.pairs)
        return [text for text in said if text]

    def _said(self, was: Drawn | None, now: Drawn | None, *, with_verb: bool) -> str | None:
        if was is None or now is None:
            drawn = now or was
            assert drawn is not None, "a pair has a side"
            verb = f" {'added' if now else 'removed'}" if with_verb else ""
            return f"{drawn.words}{verb}: {self.shown(drawn, bool(now))}"
        changed = self.anchored(was, now)
        return f"{now.words}: {', '.join(changed)}" if changed else None

    def shown(self, drawn: Drawn, is_new: bool) -> str:
        """Say what a chart or picture of one side shows, and where it stands."""
        words = told(self.books[is_new], drawn)
        place = f"at {drawn.box.corner}" if drawn.box.corner else ""
        return ", ".join(one for one in (words, place) if one)

    def anchored(self, was: Drawn, now: Drawn) -> list[str]:
        """Say how two versions differ in where they stand, and pictures in what they show."""
        return list(self._anchored(was, now))

    def _anchored(self, was: Drawn, now: Drawn) -> Iterator[str]:
        """Yield how the anchors of two versions differ, and pictures themselves."""
        old, new = self.books
        if was.name != now.name:
            yield f"named {was.called} before"
        if was.description != now.description:
            yield f"description {_quoted(was.description)} → {_quoted(now.description)}"
        is_moved = was.box != now.box
        if is_moved:
            yield "moved or resized"
        is_called_so = (was.name, was.description) == (now.name, now.description)
        if is_called_so and not is_moved and anchor_key(old, was) != anchor_key(new, now):
            yield "frame and properties"
        if is_picture(now) and content_key(old, was.part) != content_key(new, now.part):
            sizes = [
                part_diff.measured(book.package.read(one.part)) if one.part else "none"
                for book, one in ((old, was), (new, now))
            ]
            yield f"another picture, {' → '.join(sizes)}"


@dataclass
class DrawingChanges:
    """The drawings of all sheets that are there on both sides."""

    books: tuple[Book, Book]
    pairs: Sequence[tuple[Sheet, Sheet]]
    sheets: list[SheetDrawings] = field(init=False)

    def __post_init__(self) -> None:
        made = (SheetDrawings(self.books, pair) for pair in self.pairs)
        self.sheets = [one for one in made if any(one.parts)]

    @cached_property
    def parts(self) -> tuple[set[str], set[str]]:
        """The parts of both sides that charts and pictures are made of, or that a click opens."""
        found: tuple[set[str], set[str]] = (set(), set())
        for sheet in self.sheets:
            for side, (book, drawn) in enumerate(zip(self.books, sheet.drawn, strict=True)):
                for one in drawn:
                    found[side].update(parts_of(book, one))
        return found

    @cached_property
    def twins(self) -> dict[str, str]:
        """The parts of the first side by those of the second that are versions of them."""
        found: dict[str, str] = {}
        for sheet in self.sheets:
            one, two = sheet.parts
            if len(one) == len(two) == 1:
                found[one[0]] = two[0]
            for was, now in sheet.pairs:
                if was and now and was.part and now.part and not is_picture(now):
                    found[was.part] = now.part
        return found

    @cached_property
    def apart(self) -> frozenset[str]:
        """The parts of the first side that went, whatever has their names now."""
        return frozenset(
            was.part
            for sheet in self.sheets
            for was, now in sheet.pairs
            if was and now is None and was.part and not is_picture(was)
        )

    def sheet_of(self, drawing: str, is_new: bool) -> SheetDrawings | None:
        """Return the sheet that a drawing is of."""
        return next((one for one in self.sheets if drawing in one.parts[is_new]), None)

    def chart_pair(self, part: str) -> tuple[SheetDrawings, Drawn, Drawn] | None:
        """Return both versions of the chart that a part of the second side holds."""
        for sheet in self.sheets:
            for was, now in sheet.pairs:
                if was and now and now.part == part and not is_picture(now):
                    return sheet, was, now
        return None

    def chart_of(self, part: str, is_new: bool) -> Drawn | None:
        """Return the chart that a part holds."""
        return next(
            (one for sheet in self.sheets for one in sheet.drawn[is_new] if one.part == part), None
        )

    def leftover(self, pair: part_diff.Pair) -> part_diff.Found:
        """Return what else differs in a drawing: shapes, groups, their order."""
        sheet = self.sheet_of(pair.new_name, True)
        if sheet is not None:
            for root, drawn in zip((pair.old, pair.new), sheet.drawn, strict=True):
                _strip(root, (one.at for one in drawn))
        return part_diff.groups(pair)


def _strip(root: Element, numbers: Iterable[int]) -> None:
    children = [item for item in root if isinstance(item.tag, str)]
    for at in set(numbers):
        root.remove(children[at])


def parts_of(book: Book, drawn: Drawn) -> set[str]:
    """Return all parts that a chart or picture leads to, and the parts that say where."""
    found: set[str] = set()
    used = links_in(DrawingPart.of(book, drawn.drawing).children[drawn.at])
    rels = (rel for rel in book.package.rels(drawn.drawing) if rel.id in used)
    targets = (book.package.find(rel.part) for rel in rels if rel.part)
    waiting = [target for target in targets if target]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.update((name, rels_name(name)))
        targets = (book.package.find(rel.part) for rel in book.package.rels(name) if rel.part)
        waiting += [target for target in targets if target]
    return found


def chart_words(books: tuple[Book, Book], was: Drawn, now: Drawn) -> tuple[list[str], bool]:
    """Say how kind, words and cells of two versions of a chart differ, and whether that is all."""
    old, new = (chart_facts(book, one) for book, one in zip(books, (was, now), strict=True))
    found = list(_differing(old, new))
    aspects = {aspect for names, _ in found for aspect in names}
    kept = min(len(old.series), len(new.series))
    one, two = (
        masked(loosened(book.package.read(side.part)), aspects, kept) if side.part else b""
        for book, side in zip(books, (was, now), strict=True)
    )
    return [words for _, words in found], one == two


def _differing(old: ChartFacts, new: ChartFacts) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield aspects of a chart that differ, and how."""
    kinds = [f"{one.kind}, {one.stacking}" for one in (old, new)]
    if kinds[0] != kinds[1]:
        yield ("kind",), f"kind {_kind(old)} → {_kind(new)}"
    if old.title != new.title:
        yield ("title",), f"title {_quoted(old.title)} → {_quoted(new.title)}"
    if old.axis_titles != new.axis_titles:
        one, two = (", ".join(map(_quoted, side.axis_titles)) or "none" for side in (old, new))
        yield ("x_title", "y_title"), f"axis titles {one} → {two}"
    if old.legend != new.legend:
        place = [LEGEND_WORDS.get(one.legend or "", "none") for one in (old, new)]
        yield ("legend",), f"legend {place[0]} → {place[1]}"
    if old.ends != new.ends:
        yield ("x_min", "x_max", "y_min", "y_max"), f"ends of axes {old.ends} → {new.ends}"
    cells = [[(one.values, one.categories) for one in side.series] for side in (old, new)]
    if cells[0] != cells[1]:
        yield ("data",), f"cells {_cells(old)} → {_cells(new)}"
    elif [one.name for one in old.series] != [one.name for one in new.series]:
        yield ("data",), "names of series"


def _kind(found: ChartFacts) -> str:
    stacked = {"stacked": "stacked ", "percent": "percent stacked "}.get(found.stacking, "")
    return f"{stacked}{found.kind}"


def _quoted(text: str | None) -> str:
    return f"“{text[:_SHOWN_CHARS]}”" if text else "none"


def _cells(found: ChartFacts) -> str:
    shown = [(one.values or "none").replace("$", "") for one in found.series]
    more = f" and {len(shown) - 4} more" if len(shown) > 4 else ""
    return ", ".join(shown[:4]) + more

"""What differs between two workbooks beyond the values, formulas and looks of cells (B12.22)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import get_args

from backshop.formats.diff import part_diff
from backshop.formats.diff.remainder import entry
from backshop.formats.kind import OTHER_WORKBOOKS
from backshop.formats.package.guard import Element
from backshop.formats.protocol import JsonObject, Source

from ..alignment.column_run import ColumnDifference, column_runs, differing_columns, parted
from ..alignment.line_run import Lines, SheetLines
from ..annotation.annotation_diff import AnnotationDiff
from ..book import number_format
from ..book.hidden_line import turned_words
from ..book.sheet_xml import SheetXml, attributes, row_pairs
from ..book.workbook import Book, child, children, local, truth
from ..drawing.drawing_diff import DrawingChanges, chart_words
from ..edit.effect import only_appended
from ..rule.difference import compare_rules, strip
from ..rule.difference import told as rule_told
from ..rule.entry import RuleKind
from ..style.look import Looks
from ..style.rule_look import rule_words
from ..syntax.formula import quote_sheet
from .aligned import aligned
from .hidden_line import differs_besides, turned_columns
from .table_change import changed_words, whole_words

_SHARED = ("worksheet", "styles", "sharedStrings", "theme")
_SKIPPED = frozenset({"image", "worksheet", "calcChain", "chart", "drawing", "table"})
_NOT_ROW = frozenset({b"r", b"spans"})
_SIZES = frozenset({b"hidden", b"ht", b"customHeight"})  # what hides and shows a row
_TABLES = frozenset({"numFmts", "fonts", "fills", "borders", "cellStyleXfs", "cellXfs", "dxfs"})
_STRING = re.compile(rb"<(?:[\w.\-]+:)?si\b.*?</(?:[\w.\-]+:)?si\s*>", re.S)
_RICH = re.compile(rb"<(?:[\w.\-]+:)?(?:r|rPh|phoneticPr)[\s>]")
_HINTS = re.compile(rb"""\s(?:spans|[\w.\-]+:dyDescent)=("[^"]*"|'[^']*')""")
_SAME = SheetLines()
_NAMED_CHARS = 80  # of what a name means
_COUNTS = frozenset({"calcId", "fullCalcOnLoad", "calcCompleted", "forceFullCalc"})


def diff_rest(before: Source, after: Source) -> JsonObject:
    """Return what changed and the cells' own difference does not tell; what follows lines did not.

    Lines that came say what they look like by being there.
    """
    if OTHER_WORKBOOKS & {before.extension, after.extension}:
        said = "what is not in its cells was not compared"
        told = {**entry("the file", [said], kind="uncompared"), "text": said}
        return {"rest": [told], "described": []}
    both = aligned(before, after)
    old, new = both.moved.book, both.new.book
    known = Knowledge(old, new, both.lines)
    return part_diff.Comparison(old.package, new.package, known.rules()).run()


class Knowledge:
    """Which parts belong to which sheet, and which sheets are versions of one another."""

    def __init__(self, old: Book, new: Book, lines: Mapping[str, SheetLines] | None = None) -> None:
        self._books = (old, new)
        self._lines = lines or {}  # by the names of sheets now: what came says its own looks
        sheets = [[sheet for sheet in book.sheets if sheet.part] for book in self._books]
        self._sheets = sheets
        self._owners = [
            part_diff.Owners(book.package, [sheet.part or "" for sheet in own], _SHARED)
            for book, own in zip(self._books, sheets, strict=True)
        ]
        names = {sheet.name.lower(): sheet for sheet in sheets[0]}
        pairs = [(names[s.name.lower()], s) for s in sheets[1] if s.name.lower() in names]
        taken = ({a.part for a, _ in pairs}, {b.part for _, b in pairs})
        parts = {sheet.part: sheet for sheet in sheets[0] if sheet.part not in taken[0]}
        pairs += [
            (parts[s.part], s) for s in sheets[1] if s.part not in taken[1] and s.part in parts
        ]
        self._pairs = pairs
        self._known = ({a.part for a, _ in pairs}, {b.part for _, b in pairs})
        self._drawn = DrawingChanges(self._books, pairs)
        self._tables = [
            {table.part: table.name for sheet in own for table in book.tables(sheet)}
            for book, own in zip(self._books, sheets, strict=True)
        ]

    @cached_property
    def _annotations(self) -> dict[str, AnnotationDiff]:
        """The notes and links of sheets with cells, by the parts of the sheets now."""
        found = {}
        for pair in self._pairs:
            xmls = [book.xml(sheet) for book, sheet in zip(self._books, pair, strict=True)]
            if pair[1].part is not None and xmls[0] is not None and xmls[1] is not None:
                frames = (xmls[0].frame(), xmls[1].frame())
                found[pair[1].part] = AnnotationDiff(self._books, pair, frames)
        return found

    @cached_property
    def _noted(self) -> tuple[dict[str, AnnotationDiff], dict[str, AnnotationDiff]]:
        """The lists and boxes of notes that are told one by one, on both sides."""
        diffs = self._annotations.values()
        old, new = ({part: one for one in diffs for part in one.parts(at)} for at in (0, 1))
        return old, new

    def rules(self) -> part_diff.Rules:
        """Return what is known of the parts."""
        alone = (sheet.part or "" for sheet in self._sheets[0] if sheet.part not in self._known[0])
        return part_diff.Rules(
            place=self._place,
            twins={a.part: b.part for a, b in self._pairs if a.part and b.part} | self._drawn.twins,
            apart=frozenset(alone) | self._drawn.apart,
            words=self._words,
            told=self._told,
            told_relations=self._relations,
            told_links=self._links,
            is_told=self._is_told,
            differs=self._differs,
            unseen=self._unseen,
            skipped_relations=_SKIPPED,
        )

    def _place(self, part: str, is_new: bool) -> part_diff.Place | None:
        at = self._owners[is_new].of(part)
        if at is None:
            main = self._books[is_new].part
            return part_diff.Place("workbook") if part == main else None
        name = self._sheets[is_new][at].name
        if part in self._owners[is_new].index:
            return part_diff.Place(f"sheet {name}", "sheet", at)
        if part in self._tables[is_new]:
            words = f"table {self._tables[is_new][part]} on sheet {name}"
            return part_diff.Place(words, "sheet", at)
        if (drawn := self._drawn.chart_of(part, is_new)) is not None:
            return part_diff.Place(f"{drawn.words} on sheet {name}", "sheet", at)
        if self._drawn.sheet_of(part, is_new) is not None:
            return part_diff.Place(f"charts and pictures on sheet {name}", "sheet", at)
        return part_diff.Place(f"{part_diff.part_words(part)} on sheet {name}", "sheet", at)

    def _is_told(self, part: str, is_new: bool) -> bool:
        at = self._owners[is_new].of(part)
        alone = at is not None and self._sheets[is_new][at].part not in self._known[is_new]
        is_drawn = part in self._drawn.parts[is_new]  # told by the drawing it is shown on
        is_box = self._is_box(part, is_new)  # told by its note
        return alone or is_drawn or is_box or part == self._books[is_new].related("sharedStrings")

    def _is_box(self, part: str, is_new: bool) -> bool:
        return part.lower().endswith(".vml") and part in self._noted[is_new]

    def _relations(self, part: str) -> frozenset[str]:
        """Return the relationships of a sheet that notes and links tell."""
        known = self._annotations.get(part)
        return known.relations if known is not None else frozenset()

    def _links(self, part: str, is_new: bool) -> frozenset[str]:
        """Return the relationships of a part that are told by what uses them: none in words."""
        return frozenset()

    def _words(self, part: str, is_new: bool) -> part_diff.Found | None:
        if (noted := self._noted[is_new].get(part)) is not None:
            return [(one, 1) for one in noted.note_words(is_new=is_new)] or None
        if part in self._tables[is_new]:
            return [(whole_words(self._books[is_new].package.xml(part)), 1)]
        sheet = self._drawn.sheet_of(part, is_new)
        words = sheet.words(with_verb=False) if sheet is not None else []
        return [(one, 1) for one in words] or None

    def _told(self, pair: part_diff.Pair) -> part_diff.Found | None:
        new = self._books[1]
        if pair.new_name == new.part:
            return self._of_workbook(pair)
        if pair.new_name == new.related("styles"):
            return _of_styles(pair)
        if pair.new_name == new.related("sharedStrings"):
            return _of_strings(
                *(book.package.read(book.related("sharedStrings") or "") for book in self._books)
            )
        if (xmls := self._xmls(pair)) is not None:
            pair.old, pair.new = (xml.frame() for xml in xmls)  # a tree of the cells is too large
            return self._of_sheet(pair, *xmls)
        if (noted := self._noted[1].get(pair.new_name)) and pair.old_name in self._noted[0]:
            is_box = self._is_box(pair.new_name, True)
            return [] if is_box else [(one, 1) for one in noted.note_words()]
        if self._drawn.sheet_of(pair.new_name, True) is not None:
            return self._of_drawing(pair)
        if local(pair.new) == local(pair.old) == "table":
            return [(one, 1) for one in changed_words(pair.old, pair.new)]
        return self._of_chart(pair) if local(pair.new) == "chartSpace" else None

    def _of_drawing(self, pair: part_diff.Pair) -> part_diff.Found:
        """Return which charts and pictures came, went or stand elsewhere, and what else is new."""
        sheet = self._drawn.sheet_of(pair.new_name, True)
        words = [(one, 1) for one in sheet.words()] if sheet is not None else []
        return [*words, *self._drawn.leftover(pair)]

    def _of_chart(self, pair: part_diff.Pair) -> part_diff.Found:
        """Return what changed in a chart, in words where they say it all."""
        found = self._drawn.chart_pair(pair.new_name)
        rest = part_diff.of_chart(pair)
        if found is None:
            return rest
        words, is_all = chart_words(self._books, *found[1:])
        return [*((one, 1) for one in words), *([] if words and is_all else rest)]

    def _xmls(self, pair: part_diff.Pair) -> tuple[SheetXml, SheetXml] | None:
        """Return both versions of a sheet with cells, None for other parts."""
        found = [
            book.xml(sheet)
            for book, own, part in zip(
                self._books, self._sheets, (pair.old_name, pair.new_name), strict=True
            )
            for sheet in own
            if sheet.part == part and sheet.kind == "worksheet"
        ]
        old, new = found if len(found) == len(self._books) else (None, None)
        return None if old is None or new is None else (old, new)

    def _differs(self, pair: part_diff.Pair) -> bool:
        """Whether two versions differ in more than packaging; cells by their bytes."""
        if pair.new_name == self._books[1].related("sharedStrings"):
            return True
        xmls = self._xmls(pair)
        if xmls is None:
            return part_diff.differs(pair)
        old, new = (_HINTS.sub(b"", xml.data[xml.start : xml.end]) for xml in xmls)
        return old != new

    def _unseen(self, part: str) -> list[str]:
        is_sheet = any(sheet.part == part for sheet in self._sheets[1])
        return ["how its cells are stored"] if is_sheet else []

    def _of_workbook(self, pair: part_diff.Pair) -> part_diff.Found:
        for root in (pair.old, pair.new):
            for item in children(root, "calcPr"):
                for name in _COUNTS & set(item.attrib):
                    del item.attrib[str(name)]
                if not item.attrib and not len(item):
                    root.remove(item)
        found = part_diff.groups(pair, frozenset({"sheets", "definedNames"}))
        found += [(one, 1) for one in self._name_words(pair)]
        order = [
            self._books[0].sheets.index(a)
            for a, _ in sorted(self._pairs, key=lambda two: two[1].index)
        ]
        found += [("order of sheets", 1)] if order != sorted(order) else []
        states = [(b.name, b.state == "visible") for a, b in self._pairs if a.state != b.state]
        return [
            *found,
            *((f"sheet {name} {'shown' if on else 'hidden'}", 1) for name, on in states),
        ]

    def _name_words(self, pair: part_diff.Pair) -> list[str]:
        """Return which names came, went or mean something else."""
        old, new = (
            _names(root, [sheet.name for sheet in book.sheets])
            for root, book in zip((pair.old, pair.new), self._books, strict=True)
        )
        found = []
        for key in sorted({*old, *new}):
            was, now = old.get(key), new.get(key)
            if was == now:
                continue
            if was is None or now is None:
                said = (was or now or ("", ""))[0][:_NAMED_CHARS]
                found.append(f"name {key} {'added' if was is None else 'removed'}: {said}")
            elif was[0] != now[0]:
                sides = " → ".join(one[0][:_NAMED_CHARS] for one in (was, now))
                found.append(f"name {key}: {sides}")
            else:
                found.append(f"name {key}: properties")
        return found

    # --- one sheet -----------------------------------------------------------------------------

    def _of_sheet(self, pair: part_diff.Pair, old: SheetXml, new: SheetXml) -> part_diff.Found:
        names = {sheet.part: sheet.name for sheet in self._sheets[1]}
        lines = self._lines.get(names.get(pair.new_name, ""), _SAME)
        attached = self._annotations[pair.new_name]
        told = {"sheetData", *attached.told}
        told |= set() if pair.leads_elsewhere("drawing") else {"drawing"}
        told |= set() if pair.leads_elsewhere("tablePart") else {"tableParts"}
        differing = _columns(old, new, lines.columns)
        turned = turned_columns(differing)
        told |= {"cols"} if lines.columns or turned else set()
        compared = _Rows(*self._books, lines)
        rows, cells, formulas = compared.compare(old, new)
        said = turned_words(compared.turned, turned)
        said += [*self._of_rules(pair), *attached.link_words()]
        found = [*((one, 1) for one in said), *part_diff.groups(pair, frozenset(told))]
        if "cols" in told:
            columns = sum(
                one.last - one.first + 1
                for one in differing
                if one.first not in turned or differs_besides(one)
            )
            found += [(part_diff.child_words("cols"), columns)] if columns else []
        found += [("heights, outline or formats of rows", rows)] if rows else []
        found += [("other formats of cells", cells)] if cells else []
        return [*found, ("kind of formula", formulas)] if formulas else found

    def _of_rules(self, pair: part_diff.Pair) -> list[str]:
        """Return which rules came, went or changed, and take those off that are told by it."""
        said: list[str] = []
        words = rule_words(self._books[0]), rule_words(self._books[1])
        roots = pair.old, pair.new
        for kind in get_args(RuleKind):
            found = compare_rules(kind, roots, words)
            said += rule_told(found, words)
            if found.differences:
                strip(roots, kind)
        return said


def _names(root: Element, sheets: list[str]) -> dict[str, tuple[str, str]]:
    """Return what names mean, by how formulas write them; those of a sheet with it."""
    found = {}
    lists = children(root, "definedNames")  # one, in files as they should be
    for item in (item for one in lists for item in children(one, "definedName")):
        scope = item.get("localSheetId") or ""
        at = int(scope) if scope.isdigit() else -1
        home = f"{quote_sheet(sheets[at])}!" if 0 <= at < len(sheets) else ""
        name = (item.get("name") or "").removeprefix("_xlnm.")
        text = "".join(str(piece) for piece in item.itertext())
        rest = sorted((str(k), str(v)) for k, v in item.attrib.items() if k != "localSheetId")
        found[home + name] = (text, repr(rest))
    return found


def _columns(old: SheetXml, new: SheetXml, lines: Lines) -> list[ColumnDifference]:
    """Return the columns that differ and did not come just now."""
    sides = [column_runs(xml.frame(), str) for xml in (old, new)]
    return parted(differing_columns(*sides), lines.came).get(None, [])


class _Rows:
    """Compares what rows and cells say beside values, formulas and the looks a diff knows."""

    def __init__(self, old: Book, new: Book, lines: SheetLines) -> None:
        self._lines = lines
        self._looks = (Looks(old), Looks(new))
        self._formats = tuple(whole_formats(looks) for looks in self._looks)
        self._same: dict[tuple[int, int], bool] = {}
        self.turned: dict[int, bool] = {}
        """The rows that were hidden (true) or shown (false), after `compare`."""
        one, two = self._formats
        self._is_comparable = two[: len(one)] == one  # the same bytes mean the same look

    def compare(self, old: SheetXml, new: SheetXml) -> tuple[int, int, int]:
        """Return how many rows, cells and formulas differ."""
        rows = cells = formulas = 0
        for number, left, right in row_pairs(old.iter_rows(), new.iter_rows()):
            if self._lines.rows.came(number):
                continue
            if left is None or right is None:
                row, xml, side = (left, old, 0) if left else (right, new, 1)
                said = self._row(xml.data[row.start : row.end], side) if row else {}
                rows += self._differ(number, {} if side else said, said if side else {})
                continue
            one, two = old.data[left.start : left.end], new.data[right.start : right.end]
            if one == two and self._is_comparable:
                continue
            rows += self._differ(number, self._row(one, 0), self._row(two, 1))
            olds = {cell.col: cell for cell in old.cells(left)}
            for cell in new.cells(right):
                was = olds.get(cell.col)
                if was is None or self._lines.columns.came(cell.col):
                    continue
                cells += not self._alike(was.style, cell.style)
                kinds = [
                    (one.formula.kind, one.formula.ref if one.formula.kind != "shared" else None)
                    if one.formula
                    else None
                    for one in (was, cell)
                ]
                plain = [None if k and k[0] in ("normal", "shared") else k for k in kinds]
                formulas += bool(kinds[0]) and bool(kinds[1]) and plain[0] != plain[1]
        return rows, cells, formulas

    def _differ(self, number: int, old: Mapping[bytes, str], new: Mapping[bytes, str]) -> bool:
        """Note whether a row was hidden or shown; return whether it differs in more than that."""
        was, now = (truth(said.get(b"hidden")) for said in (old, new))
        if was == now:
            return old != new
        self.turned[number] = now
        sides = [{k: v for k, v in said.items() if k not in _SIZES} for said in (old, new)]
        return sides[0] != sides[1]

    def _row(self, row: bytes, side: int) -> dict[bytes, str]:
        tag = attributes(row[: row.find(b">") + 1])
        said = {
            name: value.decode("utf-8", "replace")
            for name, value in tag.items()
            if name not in _NOT_ROW and not name.endswith(b"dyDescent")
        }
        if (style := said.get(b"s", "")).isdigit():
            said[b"s"] = self._format(side, int(style))
        return said

    def _format(self, side: int, style: int) -> str:
        formats = self._formats[side]
        return formats[style] if style < len(formats) else ""

    def _alike(self, one: int, two: int) -> bool:
        """Whether two formats are the same, or differ in what the cells' difference tells."""
        if (one, two) not in self._same:
            same = self._format(0, one) == self._format(1, two)
            told = self._looks[0].whole(one) != self._looks[1].whole(two)
            self._same[one, two] = same or told
        return self._same[one, two]


def whole_formats(looks: Looks) -> list[str]:
    """Return every cell format with all that it says, its font and the like in place."""
    lists = {
        name: [part_diff.printed(item, {}) for item in looks.table(table)]
        for name, table in (("fontId", "fonts"), ("fillId", "fills"), ("borderId", "borders"))
    }
    codes = {str(number): code for number, code in number_format.IMPLIED.items()}
    codes |= {
        str(item.get("numFmtId")): item.get("formatCode") or "" for item in looks.table("numFmts")
    }
    found = []
    for xf in looks.xfs:
        said = [
            part_diff.printed(one, {}) for one in xf if local(one) in ("alignment", "protection")
        ]
        for name, entries in lists.items():
            at = xf.get(name) or "0"
            said.append(entries[int(at)] if at.isdigit() and int(at) < len(entries) else "")
        number = xf.get("numFmtId") or "0"
        said.append(codes.get(number) or number)
        said.append("quoted" if xf.get("quotePrefix") in ("1", "true") else "")
        found.append("\1".join(said))
    return found


def _of_styles(pair: part_diff.Pair) -> part_diff.Found:
    """Return what changed in the style tables and is not seen at a cell."""
    if only_appended(pair.old, pair.new):
        return []
    found = part_diff.groups(pair, _TABLES | {"cellStyles"})
    sides = []
    for root in (pair.old, pair.new):
        said: dict[str, Counter[str]] = {}
        tables = _Tables(root)
        for item in children(child(root, "dxfs"), "dxf"):
            said.setdefault("formats of conditions", Counter())[part_diff.printed(item, {})] += 1
        for item in children(child(root, "cellStyles"), "cellStyle"):
            said.setdefault(f"cell style {item.get('name')}", Counter())[tables.named(item)] += 1
        sides.append(said)
    return [*found, *part_diff.differing(sides[0], sides[1])]


class _Tables:
    """The lists of a styles part, read once: some have thousands of entries."""

    def __init__(self, root: Element) -> None:
        self._xfs = children(child(root, "cellStyleXfs"), "xf")
        self._entries = [
            (name, children(child(root, table), entry))
            for name, table, entry in (
                ("fontId", "fonts", "font"),
                ("fillId", "fills", "fill"),
                ("borderId", "borders", "border"),
            )
        ]

    def named(self, style: Element) -> str:
        """Return a named style with its format in place."""
        at = style.get("xfId") or "0"
        xf = self._xfs[int(at)] if at.isdigit() and int(at) < len(self._xfs) else None
        if xf is None:
            return ""
        said = [part_diff.printed(one, {}) for one in xf]
        for name, entries in self._entries:
            index = xf.get(name) or "0"
            known = index.isdigit() and int(index) < len(entries)
            said.append(part_diff.printed(entries[int(index)], {}) if known else "")
        return "\1".join([*said, xf.get("numFmtId") or "0"])


def _of_strings(old: bytes, new: bytes) -> part_diff.Found:
    """Return texts with looks of their own inside a cell; plain ones are told cell by cell."""
    sides = [
        Counter(text for text in _STRING.findall(data) if _RICH.search(text)) for data in (old, new)
    ]
    count = max((sides[0] - sides[1]).total(), (sides[1] - sides[0]).total())
    return [("formatting inside the text of cells", count)] if count else []

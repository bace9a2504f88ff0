"""What differs between two packages beyond what the diffs of their formats tell (B12.22).

Every part of both packages is compared. A format names the parts that its own diff describes and
says what is left of them; everything else that differs is named by its part, in words where it has
some. So nothing that changed is passed over: two packages are the same here only if they differ in
nothing but packaging (the order and the compression of members, names that programs give anew when
they save, comments of XML, and what `_TRIVIAL_PARTS` and the two sets beside it list).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from lxml import etree

from ..package.guard import Element
from ..package.package import CONTENT_TYPES, Package
from ..package.picture_size import pixels
from ..package.relationship import rels_name, rels_owner
from ..package.xml_tree import loosened
from ..protocol import Json, JsonObject
from .remainder import entry

QUOTE_MAX_CHARS = 60
WHAT_MAX = 12  # kinds of change named for one part

# Packaging: what office programs write anew at every save, and nobody sees.
_TRIVIAL_PARTS = re.compile(r"(?i)(^|/)calcChain\.xml$|(^|/)thumbnails?[./]|^mimetype$")
_TRIVIAL_ATTRIBUTES = (
    "}rsid",
    "}paraId",
    "}textId",
    "}anchorId",
    "}editId",
    "}dyDescent",
    "}uid",
    "}Ignorable",
)
_TRIVIAL_NAMES = frozenset(("spans", "dirty", "err", "smtClean"))  # hints; what spelling found
_TRIVIAL_ELEMENTS = frozenset(
    (
        *("proofErr", "lastRenderedPageBreak", "rsids", "revisionPtr", "absPath", "dimension"),
        *("fileVersion", "creationId", "modId", "editing-cycles", "editing-duration"),
        *("document-statistic", "generator"),
    )
)
_SAVED = frozenset(("modified", "revision", "lastPrinted", "date"))  # of the properties of a file
_COUNTED = frozenset(
    (
        *("TotalTime", "Pages", "Words", "Characters", "Lines", "Paragraphs", "Slides", "Notes"),
        *("CharactersWithSpaces", "HiddenSlides", "MMClips", "AppVersion", "Application"),
        *("HeadingPairs", "TitlesOfParts"),
    )
)
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_RELATIONS = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}",
    "{http://purl.oclc.org/ooxml/officeDocument/relationships}",
)
_XML = (".xml", ".rels", ".vml")
_PARAGRAPHS = frozenset(("p", "h"))
_OPENED = frozenset(
    ("cSld", "spTree", "themeElements", "body", "master-styles", "automatic-styles")
)

_PART_WORDS = (  # of names nobody would know; the first that fits
    (r"/slideLayouts/", "layout"),
    (r"/slideMasters/", "master"),
    (r"/notesMasters/", "notes master"),
    (r"/handoutMasters/", "handout master"),
    (r"/notesSlides/", "notes"),
    (r"/theme/|/themeOverride", "theme"),
    (r"(?i)vbaProject|vbaData", "macros"),
    (r"/activeX/|/ctrlProps/", "control"),
    (r"/embeddings/|/externalLinks/", "embedded or linked object"),
    (r"/charts/(chart|chartEx)\w*\.xml", "chart"),
    (r"/charts/", "chart style"),
    (r"/diagrams/", "diagram"),
    (r"(?i)/media/.*\.(mp4|m4v|mov|avi|wmv|mpg|mp3|m4a|wav|wma|aac)$", "film or sound"),
    (r"/media/|^Pictures/", "picture"),
    (r"/drawings/vmlDrawing", "old-style drawing"),
    (r"/drawings/", "drawing"),
    (r"(?i)comment", "comments"),
    (r"/persons/|/people\.xml", "people named in comments"),
    (r"/pivotCache/", "pivot cache"),
    (r"/pivotTables/", "pivot table"),
    (r"/tables/", "table"),
    (r"/slicers?(Caches)?/", "slicer"),
    (r"/queryTables/|/connections\.xml", "data connection"),
    (r"/printerSettings/", "printer settings"),
    (r"^docProps/|^meta\.xml$", "file properties"),
    (r"^customXml/", "custom data"),
    (r"/styles\.xml$|/stylesWithEffects\.xml$|^styles\.xml$", "styles"),
    (r"/numbering\.xml$", "lists"),
    (r"/settings\.xml$|/webSettings\.xml$|^settings\.xml$", "settings"),
    (r"/fontTable\.xml$|/fonts/", "fonts"),
    (r"/header\d*\.xml$", "header"),
    (r"/footer\d*\.xml$", "footer"),
    (r"/footnotes\.xml$", "footnotes"),
    (r"/endnotes\.xml$", "endnotes"),
    (r"/glossary/", "building blocks"),
    (r"/tableStyles\.xml$", "table styles"),
    (r"/presProps\.xml$", "show settings"),
    (r"/viewProps\.xml$", "view settings"),
    (r"/metadata\.xml$", "cell metadata"),
    (r"_xmlsignatures|META-INF/.*signature", "digital signature"),
)
_WORDS = {  # of names whose own words would not be understood
    "timing": "animations",
    "bg": "background",
    **dict.fromkeys(("clrMapOvr", "clrMap", "clrScheme"), "colours"),
    "fontScheme": "fonts",
    "font-face-decls": "fonts",
    "fmtScheme": "effects",
    "txStyles": "text styles",
    "sldSz": "slide size",
    "notesSz": "size of notes pages",
    "sldMasterIdLst": "masters",
    "notesMasterIdLst": "notes masters",
    "handoutMasterIdLst": "handout masters",
    "sldLayoutIdLst": "layouts",
    "custShowLst": "custom shows",
    "conditionalFormatting": "conditional formats",
    "dataValidations": "data validation",
    "mergeCells": "merged cells",
    "cols": "columns",
    "sheetViews": "view",
    **dict.fromkeys(
        ("pageSetup", "pageMargins", "printOptions", "headerFooter", "rowBreaks", "colBreaks"),
        "print set-up",
    ),
    **dict.fromkeys(
        ("sheetProtection", "protectedRanges", "workbookProtection", "documentProtection"),
        "protection",
    ),
    "autoFilter": "filter",
    "hyperlinks": "links",
    **dict.fromkeys(("drawing", "legacyDrawing", "legacyDrawingHF"), "drawings"),
    **dict.fromkeys(("twoCellAnchor", "oneCellAnchor", "absoluteAnchor"), "drawings"),
    "picture": "background picture",
    "tableParts": "tables",
    "sheetPr": "sheet properties",
    "sheetFormatPr": "default sizes",
    "definedNames": "names",
    "bookViews": "window",
    "calcPr": "calculation settings",
    "workbookPr": "workbook properties",
    "externalReferences": "links to other workbooks",
    "oleObjects": "objects",
    "extLst": "extensions",
    "sectPr": "page set-up",
    "page-layout": "page set-up",
    "docDefaults": "default formatting",
    "latentStyles": "list of styles offered",
    "trackRevisions": "tracking of changes",
    "sp": "shapes",
    "cxnSp": "shapes",
    "pic": "pictures",
    "graphicFrame": "charts and tables",
    "grpSp": "groups",
    "lastModifiedBy": "last saved by",
    "creator": "author",
    "abstractNum": "lists",
    "num": "lists",
    "master-page": "page set-up, headers and footers",
    "meta": "file properties",
}

Targets = Mapping[str, str]  # where relationships lead, by their ids
Found = list[tuple[str, int]]  # what changed, and how many of it


class Place(NamedTuple):
    """Where a part belongs for a reader: `slide 3` with its index on each side."""

    words: str
    kind: str = "file"  # slide, sheet, file
    at: int | None = None  # the index of the slide or sheet, on its own side


class Relation(NamedTuple):
    """Where one relationship of a part leads."""

    kind: str
    target: str
    is_outside: bool
    is_missing: bool = False
    """Whether it leads to a part that the package does not hold."""


class Pair:
    """One part on both sides: its names there, and its trees, parsed when they are asked for."""

    def __init__(self, old: tuple[Side, str], new: tuple[Side, str]) -> None:
        (self._old, self.old_name), (self._new, self.new_name) = old, new

    @cached_property
    def old(self) -> Element:
        """The tree as it was."""
        return loosened(self._old.package.read(self.old_name))

    @cached_property
    def new(self) -> Element:
        """The tree as it is."""
        return loosened(self._new.package.read(self.new_name))

    @cached_property
    def sides(self) -> tuple[tuple[Element, Targets], tuple[Element, Targets]]:
        """Both trees, each with where its relationships lead."""
        return (
            (self.old, self._old.targets(self.old_name)),
            (self.new, self._new.targets(self.new_name)),
        )

    def leads_elsewhere(self, name: str) -> bool:
        """Whether elements of this name lead, on one side only, to a part that both sides have."""
        twins = self._old.renamed
        parts = (
            [self._old.package.rel_part(self.old_name, rel) for rel in _links(self.old, name)],
            [self._new.package.rel_part(self.new_name, rel) for rel in _links(self.new, name)],
        )
        had = {twins[part] for part in parts[0] if part in twins}
        return had != {part for part in parts[1] if part in twins.values()}


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a format knows of its parts.

    `twins` are parts known again by something else than their names. `told` says, for a part that
    the format's own diff describes, what is left beyond that; None for all other parts. `is_told`
    says whether the coming or going of a part is in the format's own diff.
    """

    place: Callable[[str, bool], Place | None]  # the part, whether it is one of the new side
    twins: Mapping[str, str] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()  # old parts that are no versions of their namesakes
    told: Callable[[Pair], Found | None] = lambda _: None
    is_told: Callable[[str, bool], bool] = lambda _, __: False
    differs: Callable[[Pair], bool] = lambda pair: differs(pair)  # of a part that is told
    unseen: Callable[[str], Sequence[str]] = lambda _: ()
    """What to say of a part that differs and whose diff shows nothing."""
    skipped_relations: frozenset[str] = frozenset()  # told by a diff
    told_relations: Callable[[str], frozenset[str]] = lambda _: frozenset()  # those of one part
    told_links: Callable[[str, bool], frozenset[str]] = lambda _, __: frozenset()
    """The ids of relationships of a part that are told by the elements that use them."""
    words: Callable[[str, bool], Found | None] = lambda _, __: None  # of a part that came or went


class Side:
    """One of two packages, and the words its relationships are compared by."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.names = [name for name in package.names if not name.endswith("/")]
        self.renamed: dict[str, str] = {}
        self._digests: dict[str, str] = {}

    def digest(self, name: str) -> str:
        """Return a hash of a part's bytes."""
        if name not in self._digests:
            data = self.package.read(name)
            self._digests[name] = hashlib.sha256(data).hexdigest()[:16]
        return self._digests[name]

    def target(self, part: str | None, outside: str) -> str:
        """Return what a relationship leads to, whatever its part is called on this side."""
        name = self.package.find(part) if part is not None else None
        if name is None:
            return outside
        return self.renamed.get(name, name)

    def targets(self, part: str) -> dict[str, str]:
        """Return where the relationships of a part lead, by their ids."""
        rels = self.package.rels(part)
        return {rel.id: self.target(rel.part, rel.target) for rel in reversed(rels)}


class Comparison:
    """Two packages, and what differs between them."""

    def __init__(self, old: Package, new: Package, rules: Rules) -> None:
        self.old, self.new, self._rules = Side(old), Side(new), rules
        self._twins = self._paired()
        self.old.renamed = dict(self._twins)
        self._said: dict[tuple[str, str], dict[str, None]] = {}
        self._described: list[str] = []

    def run(self) -> JsonObject:
        """Return `rest`, what no diff tells, and `described`, the parts whose changes one does."""
        back = {new: old for old, new in self._twins.items()}
        for name in self.new.names:
            if name in back:
                self._part(back[name], name)
            else:
                self._one_sided(name, is_new=True)
        for name in self.old.names:
            if name not in self._twins:
                self._one_sided(name, is_new=False)
        described = [
            self._entry(part, "changed", self._rules.unseen(part)) for part in self._described
        ]
        return {"rest": self._listed(), "described": described}

    def _paired(self) -> dict[str, str]:
        """Return old name → new name: by what a format knows, by name, by equal content."""
        found = dict(self._rules.twins)
        taken = set(found.values())
        for old in list(found):
            rels = rels_name(old), rels_name(found[old])
            if self.old.package.find(rels[0]) and self.new.package.find(rels[1]):
                found[rels[0]] = rels[1]
                taken.add(rels[1])
        have = set(self.new.names)
        for name in self.old.names:
            if name in self._rules.apart or name in found or name in taken:
                continue
            if name in have:
                found[name] = name
                taken.add(name)
        left = {self._key(self.new, name): name for name in self.new.names if name not in taken}
        for name in self.old.names:
            twin = left.pop(self._key(self.old, name), None) if name not in found else None
            if twin is not None:
                found[name] = twin
        return found

    def _key(self, side: Side, name: str) -> tuple[str, str]:
        folder, _, file = name.rpartition("/")
        return f"{folder}.{file.rpartition('.')[2]}", side.digest(name)

    # --- one part ------------------------------------------------------------------------------

    def _part(self, old: str, new: str) -> None:
        if _TRIVIAL_PARTS.search(new):
            return
        if new == CONTENT_TYPES:
            self._content_types()
        elif new.endswith(".rels"):
            self._relations(old, new)
        elif self.old.digest(old) != self.new.digest(new):
            if new.endswith(_XML):
                self._xml(old, new)
            else:
                self._binary(old, new)
        elif new.endswith(_XML) and self.old.targets(old) != self.new.targets(new):
            self._xml(old, new)

    def _binary(self, old: str, new: str) -> None:
        if self._rules.is_told(new, True):
            self._described.append(new)
            return
        sides = ((self.old, old), (self.new, new))
        sizes = [measured(side.package.read(name)) for side, name in sides]
        self._say(new, "changed", [(" → ".join(sizes), 1)])

    def _xml(self, old: str, new: str) -> None:
        pair = Pair((self.old, old), (self.new, new))
        left = self._rules.told(pair)
        if left is None:
            left = groups(pair)
        elif not left and self._rules.differs(pair):
            self._described.append(new)
        if left:
            self._say(new, "changed", left)

    # --- packaging that may mean something -----------------------------------------------------

    def _content_types(self) -> None:
        changed = [
            new
            for old, new in self._twins.items()
            if self.old.package.content_type(old) != self.new.package.content_type(new)
        ]
        if changed:
            self._say(CONTENT_TYPES, "changed", [("kind of part", len(changed))])

    def _relations(self, old: str, new: str) -> None:
        if self.old.digest(old) == self.new.digest(new) and old == new:
            return
        self._compare_relations(rels_owner(old), rels_owner(new))

    def _compare_relations(self, old: str, new: str) -> None:
        told = self._rules.told_links(old, False), self._rules.told_links(new, True)
        sides = [
            Counter(
                Relation(
                    rel.type.rpartition("/")[2],
                    side.target(rel.part, rel.target),
                    rel.part is None,
                    rel.part is not None and side.package.find(rel.part) is None,
                )
                for rel in side.package.rels(owner)
                if rel.id not in ids
            )
            for side, owner, ids in zip((self.old, self.new), (old, new), told, strict=True)
        ]
        gone, come = sides[0] - sides[1], sides[1] - sides[0]
        found = list(self._led(gone, come, self._rules.told_relations(new)))
        if found:
            self._say(new or "_rels/.rels", "changed", found)

    def _led(
        self, gone: Counter[Relation], come: Counter[Relation], told: frozenset[str]
    ) -> Iterator[tuple[str, int]]:
        kept = set(self._twins.values())
        told |= self._rules.skipped_relations
        lost = {key.kind for key in (*gone, *come) if key.is_missing}  # no diff looks for it
        lost = {kind for kind in lost if not _TRIVIAL_PARTS.search(f"{kind}.xml")}
        for kind in sorted(lost & told):
            yield f"which {_spaced(kind)} it uses", 1
        for kind in sorted({key.kind for key in (*gone, *come)} - told):
            before = [key for key in gone.elements() if key.kind == kind]
            after = [key for key in come.elements() if key.kind == kind]
            if any(key.is_outside for key in (*before, *after)):
                leads = (", ".join(key.target for key in one) or "none" for one in (before, after))
                yield f"link: {' → '.join(leads)}", 1
            elif len(before) == len(after) or {key.target for key in (*before, *after)} & kept:
                yield f"which {_spaced(kind)} it uses", max(len(before), len(after))
            # else a part came or went, which is told by itself

    def _one_sided(self, name: str, *, is_new: bool) -> None:
        if _TRIVIAL_PARTS.search(name) or self._rules.is_told(name, is_new):
            return
        if name.endswith(".rels"):
            self._one_sided_relations(rels_owner(name), is_new=is_new)
            return
        known = self._rules.words(name, is_new)
        if known is None:
            size = measured((self.new if is_new else self.old).package.read(name))
            known = [(size, 1)]
        self._say(name, "added" if is_new else "removed", known)

    def _one_sided_relations(self, owner: str, *, is_new: bool) -> None:
        """Compare the relationships of a part that has some on one side only."""
        back = {new: old for old, new in self._twins.items()}
        twin = owner if not owner else (back if is_new else self._twins).get(owner)
        if twin is not None:  # else the part itself came or went
            self._compare_relations(*((twin, owner) if is_new else (owner, twin)))

    # --- the answer ----------------------------------------------------------------------------

    def _say(self, part: str, kind: str, found: Found) -> None:
        words = [word if number == 1 else f"{word} ({number})" for word, number in found]
        known = self._said.setdefault((part, kind), {})
        known.update(dict.fromkeys(words))

    def _entry(self, part: str, kind: str, what: Sequence[str]) -> JsonObject:
        place = self._rules.place(part, kind != "removed") or Place(part_words(part))
        if len(what) > WHAT_MAX:
            what = [*what[:WHAT_MAX], f"{len(what) - WHAT_MAX} more"]
        return entry(place.words, what, kind=kind, place_kind=place.kind, index=place.at, part=part)

    def _listed(self) -> list[Json]:
        def order(key: tuple[str, str]) -> tuple[bool, int, str]:
            place = self._rules.place(key[0], key[1] != "removed")
            at = place.at if place else None
            return at is None, at or 0, key[0]

        return [self._entry(*key, list(self._said[key])) for key in sorted(self._said, key=order)]


def _links(root: Element, name: str) -> Iterator[str]:
    for element in root.iter(f"{{*}}{name}"):
        for key, value in element.attrib.items():
            if str(key).startswith(_RELATIONS):
                yield str(value)


def measured(data: bytes) -> str:
    """Return how large a part is, a picture in pixels as well."""
    shown = pixels(data)
    return f"{len(data)} bytes, {shown} pixels" if shown else f"{len(data)} bytes"


def local(element: Element) -> str:
    """Return an element's name without namespace, empty for comments."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def part_words(name: str) -> str:
    """Return a name for a part that a person may know, with the part's own where that helps."""
    file = name.rpartition("/")[2]
    for pattern, words in _PART_WORDS:
        if re.search(pattern, f"/{name}" if pattern.startswith("/") else name):
            is_plain = words.endswith(("s", "properties", "data"))
            return words if is_plain else f"{words} {file}"
    return name


def printed(element: Element, targets: Targets, skipped: frozenset[str] = frozenset()) -> str:
    """Return an element with all that is in it as text to be compared; packaging is left out."""
    out: list[str] = []
    _print(element, targets, skipped, out)
    return "".join(out)


def _print(element: Element, targets: Targets, skipped: frozenset[str], out: list[str]) -> None:
    name = local(element)
    if not name or name in _TRIVIAL_ELEMENTS or name in skipped:
        return
    out.append(f"\0{element.tag}")
    out.append(_own(element, targets))
    out.append(_words(element.text))
    for child in element:
        _print(child, targets, skipped, out)
        out.append(_words(child.tail))
    out.append("\0end")


def _own(element: Element, targets: Mapping[str, str]) -> str:
    said = []
    for key, value in sorted((str(k), str(v)) for k, v in element.items()):
        if key in _TRIVIAL_NAMES or any(mark in key for mark in _TRIVIAL_ATTRIBUTES):
            continue
        if key == _SPACE and (element.text or "") == (element.text or "").strip():
            continue
        if key.startswith(_RELATIONS) or key.endswith("}relid"):
            value = targets.get(value, value)
        said.append(f" {key}={value}")
    return "".join(said)


def _words(text: str | None) -> str:
    """Return text between elements; what only indents them counts for nothing."""
    return "" if not text or (not text.strip() and "\n" in text) else text


def _children(root: Element, skipped: frozenset[str]) -> Iterator[tuple[str, Element]]:
    for child in root:
        name = local(child)
        if not name or name in _TRIVIAL_ELEMENTS or name in skipped:
            continue
        if name == "AlternateContent":
            inner = next((local(e) for choice in child for e in choice if local(e)), name)
            if inner not in skipped and inner not in _TRIVIAL_ELEMENTS:
                yield inner, child
        elif name in _OPENED:
            yield from _children(child, skipped)
        else:
            yield name, child


def _grouped(root: Element, targets: Targets, skipped: frozenset[str]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for name, child in _children(root, skipped):
        found.setdefault(child_words(name), Counter())[printed(child, targets)] += 1
    return found


def groups(pair: Pair, skipped: frozenset[str] = frozenset()) -> Found:
    """Return which children of the roots differ, by their names; `skipped` ones are told."""
    skipped = skipped | written_anew(pair.new_name)
    old, new = (_grouped(root, targets, skipped) for root, targets in pair.sides)
    found = differing(old, new)
    if _own(pair.old, {}) != _own(pair.new, {}):
        found.append(("properties", 1))
    if not found and not skipped and differs(pair):
        found.append(("order", 1))
    return found


def written_anew(name: str) -> frozenset[str]:
    """Return the elements of a part that programs write anew at every save."""
    is_properties = name.startswith("docProps/") or name == "meta.xml"
    return _SAVED | _COUNTED if is_properties else frozenset()


def is_packaging(name: str) -> bool:
    """Whether a part is nothing but packaging."""
    return _TRIVIAL_PARTS.search(name) is not None


def differs(pair: Pair) -> bool:
    """Whether two versions of a part differ in more than packaging."""
    old, new = (printed(root, targets) for root, targets in pair.sides)
    return old != new


def differing(old: Mapping[str, Counter[str]], new: Mapping[str, Counter[str]]) -> Found:
    """Return the words whose things differ, with how many do."""
    found = []
    for word in dict.fromkeys((*old, *new)):
        before, after = old.get(word, Counter()), new.get(word, Counter())
        if before != after:
            found.append((word, max((before - after).total(), (after - before).total())))
    return found


def child_words(name: str) -> str:
    """Return what an element of a part is called in words."""
    return _WORDS.get(name) or _spaced(name)


def _spaced(name: str) -> str:
    """Return a name of a standard as words: `numFmts` → `num fmts`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("-", " ").lower()


def outermost(root: Element) -> Iterator[Element]:
    """Yield the paragraphs of a part; those inside another belong to it."""
    for child in root:
        if local(child) in _PARAGRAPHS:
            yield child
        elif isinstance(child.tag, str):
            yield from outermost(child)


def of_paragraphs(pair: Pair, text: Callable[[Element], str]) -> Found:
    """Return what is left of a part whose words are told: paragraphs with the same words."""
    old, new = (
        [(text(one), printed(one, targets)) for one in outermost(root)]
        for root, targets in pair.sides
    )
    left = Counter(old) - Counter(new), Counter(new) - Counter(old)
    gone, come = (Counter(words for words, _ in side.elements()) for side in left)
    same = (gone & come).total()
    found: Found = [("formatting or marks of the text", same)] if same else []
    if len(old) == len(new):
        before, after = (printed(root, targets, _PARAGRAPHS) for root, targets in pair.sides)
        found += [("layout", 1)] if before != after else []
    return found


def of_chart(pair: Pair) -> Found:
    """Return what changed in a chart: its values, its words, or how it looks."""
    sides = []
    for root, targets in pair.sides:
        found: dict[str, Counter[str]] = {}
        for element in root.iter(etree.Element):
            word = _CHART.get(local(element))
            if word:
                found.setdefault(word, Counter())[printed(element, targets)] += 1
        found["colours and look"] = Counter([printed(root, targets, frozenset(_CHART))])
        sides.append(found)
    return differing(sides[0], sides[1])


_CHART = {
    **dict.fromkeys(("val", "yVal", "xVal", "bubbleSize", "numDim"), "values"),
    "tx": "names and titles",
    **dict.fromkeys(("cat", "strDim"), "categories"),
}


class Owners:
    """Which slide or sheet a part belongs to, by following relationships from them."""

    def __init__(self, package: Package, tops: Sequence[str], stops: Iterable[str]) -> None:
        self._package = package
        self.index = {name: at for at, name in enumerate(tops)}
        self._of: dict[str, int] = {}
        self._stops = frozenset(stops)  # kinds of relationship that lead to what others share
        for at, name in enumerate(tops):
            self._follow(name, at)

    def _follow(self, name: str, at: int) -> None:
        for rel in self._package.rels(name):
            part = self._package.find(rel.part) if rel.part else None
            if part is None or rel.type.rpartition("/")[2] in self._stops:
                continue
            if part not in self._of and part not in self.index:
                self._of[part] = at
                self._follow(part, at)

    def of(self, part: str) -> int | None:
        """Return the index of the slide or sheet that a part, or its relationships, belong to."""
        part = rels_owner(part) if part.endswith(".rels") else part
        return self.index.get(part, self._of.get(part))


def quoted(text: str) -> str:
    """Return the beginning of a text in quotes."""
    text = " ".join(text.split())
    return f"“{text[:QUOTE_MAX_CHARS]}{'…' if len(text) > QUOTE_MAX_CHARS else ''}”"

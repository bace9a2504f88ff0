"""What paragraphs and cells look like beside their words: where links lead, and a hash of the rest.

A reviewer has to see what words do not tell (F29.2). Nothing here depends on ids that programs
give anew when they save: of a relationship its target counts, revision ids do not.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from backshop.formats.diff.part_diff import printed
from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json

from ..text import name as n
from ..text.inline import alt_text, run_of
from ..text.source import Document

_INSTRUCTION = n.w("instrText")
_CLICKED = f"{{{n.A_NS}}}hlinkClick"
_FIELD_LINK = re.compile(r'\s*HYPERLINK(?:\s+"([^"]*)"|\s+([^\s"\\]+))?', re.IGNORECASE)
_FIELD_PLACE = re.compile(r'\\l\s+"?([^\s"]+)', re.IGNORECASE)

_NOT_LOOK = frozenset(
    {
        *n.REVISIONS,
        *map(n.w, ("proofErr", "lastRenderedPageBreak", "bookmarkStart", "bookmarkEnd")),
        *map(n.w, ("commentRangeStart", "commentRangeEnd", "commentReference")),
        *map(n.w, ("moveFromRangeStart", "moveFromRangeEnd", "moveToRangeStart", "moveToRangeEnd")),
        *map(n.w, ("permStart", "permEnd", "lang", "noProof", "cnfStyle", "id")),
        *map(n.w, ("headerReference", "footerReference")),
        n.FALLBACK,
    }
) - {n.INS, n.DEL, n.MOVE_FROM, n.MOVE_TO}
_LAST_PLACE = "_GoBack"  # a bookmark Word sets where somebody worked last
_MARKS = {
    n.w("bookmarkStart"): "bookmarks",
    n.w("commentRangeStart"): "places of comments",
    n.w("commentReference"): "places of comments",
    n.w("lang"): "language",
    n.w("noProof"): "language",
    n.w("permStart"): "who may edit it",
    n.SDT_PR: "content control",
}
_IN_RUNS = frozenset(map(n.w, ("lang", "noProof")))
_BY_ID = frozenset(map(n.w, ("commentRangeStart", "commentReference")))
_NOT_SHOWN = frozenset(
    {*map(n.w, ("id", "author", "date", "history", "dirty", "fldLock")), n.XML_SPACE}
)
_IDS = ("}paraId", "}textId", "}anchorId", "}editId")
_NAMED = ("}docPr", "}cNvPr")  # what they say of a drawing, less its number and name
_SAID = ("descr", "title", "hidden")


@dataclass(slots=True)
class Links:
    """The links of a block in order, and where the runs lead that are inside one."""

    found: dict[Element, tuple[str, list[str]]] = field(default_factory=dict)  # address, words
    by_run: dict[Element, str] = field(default_factory=dict)

    def listed(self) -> list[Json]:
        """Return every link with its words and its address."""
        return [
            {"text": "".join(words), "address": address} for address, words in self.found.values()
        ]


@dataclass(slots=True)
class _Field:
    """A field that has begun, and what its result leads to, or that of the one around it."""

    begin: Element
    instruction: list[str]
    link: Element | None = None


class Looks:
    """Knows where the relationships of one part of a document lead."""

    def __init__(self, document: Document, part: str | None = None) -> None:
        rels = document.package.rels(part or document.part)
        self._targets = {rel.id: rel.target for rel in reversed(rels)}

    def hash(self, *elements: Element | None) -> str:
        """Return a hash of all that shows in elements; those that are missing count for nothing."""
        out: list[str] = []
        self._walk((element for element in elements if element is not None), out)
        return hashlib.sha256("".join(out).encode()).hexdigest()[:16]

    def _walk(self, elements: Iterable[Element], out: list[str]) -> None:
        before: str | None = None  # the look of the run before: parts of one run count as one
        for element in elements:
            tag = element.tag
            if tag in _NOT_LOOK or not isinstance(tag, str):
                continue
            if tag == n.T:
                out.append(element.text or "")
            elif tag == n.R:
                before = self._run(element, before, out)
            else:
                before = None
                self._other(element, tag, out)

    def _run(self, run: Element, before: str | None, out: list[str]) -> str | None:
        """Add a run, its look only where the run before had another; return its look."""
        own: list[str] = []
        self._walk(run.iterchildren(n.RPR), own)
        look = "".join(own)
        start = len(out)
        out.append(f"\0run{look}" if look != before else "")
        self._walk((child for child in run if child.tag != n.RPR), out)
        if any(out[start + 1 :]):
            return look
        del out[start:]
        return before

    def _other(self, element: Element, tag: str, out: list[str]) -> None:
        said = [
            f" {name}={self._targets.get(value, '') if name.startswith(_RELATION) else value}"
            for name, value in sorted((str(k), str(v)) for k, v in element.items())
            if not (name in _NOT_SHOWN or name.endswith(_IDS) or "}rsid" in name)
            and (name in _SAID or not tag.endswith(_NAMED))
        ]
        start = len(out)
        words = (element.text or "") if not len(element) else ""
        out.append(f"\0{tag}{''.join(said)}\0{words}")
        self._walk(element, out)
        if tag == n.TXBX:  # its words are told apart, as lines of their own
            out[start:] = [piece for piece in out[start:] if piece.startswith("\0")]
        if tag in (n.PPR, n.RPR) and not said and len(out) == start + 1:
            del out[start:]
        else:
            out.append("\0end")

    def marks(self, block: Element) -> dict[str, Json]:
        """Return what stands in a block and shows neither in its words nor in its look, hashed."""
        found: dict[str, list[str]] = {}
        for element in block.iter(*_MARKS):
            said = " ".join(
                f"{key}={value}"
                for key, value in sorted((str(k), str(v)) for k, v in element.items())
                if "}rsid" not in key and (key != n.ID or element.tag in _BY_ID)
            )
            inner = printed(element, self._targets) if element.tag == n.SDT_PR else ""
            told = found.setdefault(_MARKS[str(element.tag)], [])
            text = f"{element.tag}{said}{inner}"
            is_again = element.tag in _IN_RUNS and told[-1:] == [text]  # a run that was cut in two
            if element.get(n.NAME) != _LAST_PLACE and not is_again:
                told.append(text)
        return {
            word: hashlib.sha256("\0".join(said).encode()).hexdigest()[:16]
            for word, said in found.items()
            if said
        }

    def links(self, block: Element) -> Links:
        """Return the links in a paragraph or cell: elements, fields and pictures that lead away."""
        links = Links()
        if next(block.iter(n.HYPERLINK, n.FLD_SIMPLE, _INSTRUCTION, _CLICKED), None) is None:
            return links
        copies = {one for copy in block.iter(n.FALLBACK) for one in copy.iter()}
        fields: list[_Field] = []
        kinds = (n.HYPERLINK, n.FLD_SIMPLE, n.FLD_CHAR, _INSTRUCTION, _CLICKED, n.T)
        for element in block.iter(*kinds):
            if element in copies:
                continue
            if element.tag == n.T:
                _add_words(links, element, fields)
            elif element.tag == n.FLD_CHAR:
                self._follow(links, element, fields)
            elif element.tag == _INSTRUCTION:
                if fields:
                    fields[-1].instruction.append(element.text or "")
            elif address := self._address(element):
                drawn = next(element.iterancestors(n.DRAWING), None)
                words = [alt_text(drawn)] if element.tag == _CLICKED and drawn is not None else []
                links.found[element] = (address, words)
        return links

    def _follow(self, links: Links, char: Element, fields: list[_Field]) -> None:
        kind = char.get(n.w("fldCharType"))
        if kind == "begin":
            fields.append(_Field(char, []))
        elif kind == "separate" and fields:
            top = fields[-1]
            top.link = fields[-2].link if len(fields) > 1 else None
            if address := _of_instruction("".join(top.instruction)):
                top.link = top.begin
                links.found[top.begin] = (address, [])
        elif kind == "end" and fields:
            fields.pop()

    def _address(self, element: Element) -> str:
        if element.tag == n.FLD_SIMPLE:
            return _of_instruction(element.get(n.w("instr")) or "")
        outside = self._targets.get(element.get(n.R_ID) or "", "")
        place = element.get(n.w("anchor")) or element.get(n.w("docLocation"))
        return f"{outside}#{place}" if place else outside


_RELATION = f"{{{n.R_NS}}}"


def _add_words(links: Links, text: Element, fields: list[_Field]) -> None:
    around = next(text.iterancestors(n.HYPERLINK, n.FLD_SIMPLE, n.P), None)
    owner = around if around in links.found else fields[-1].link if fields else None
    run = run_of(text)
    if owner is None or run is None:
        return
    address, words = links.found[owner]
    words.append(text.text or "")
    links.by_run[run] = address


def _of_instruction(instruction: str) -> str:
    """Return where the field code of a link leads, nothing for other fields."""
    match = _FIELD_LINK.match(instruction)
    if match is None:
        return ""
    place = _FIELD_PLACE.search(instruction, match.end())
    return f"{match[1] or match[2] or ''}{'#' + place[1] if place else ''}"

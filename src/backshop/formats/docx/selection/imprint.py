"""Elements of a document as text to be compared, less what programs write anew at every save.

Of a relationship its target counts, of a bookmark its name; where runs of one look are cut, ids of
paragraphs and marks of spelling count for nothing (B12.22).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache

from backshop.formats.package.guard import Element

from ..text import name as n

_SPACE = n.XML_SPACE
_TRIVIAL = frozenset(map(n.w, ("proofErr", "lastRenderedPageBreak", "rsids")))
_SAVED = ("}rsid", "}paraId", "}textId", "}anchorId", "}editId", "}Ignorable")
BOOKMARK, BOOKMARK_END = n.w("bookmarkStart"), n.w("bookmarkEnd")
LAST_PLACE = "_GoBack"  # a bookmark Word sets where somebody worked last
_RELATIONS = f"{{{n.R_NS}}}"


def digest(text: str) -> str:
    """Return a short hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def words_of(*elements: Element) -> str:
    """Return all words in elements, those of text boxes too."""
    return "".join(text.text or "" for one in elements for text in one.iter(n.T))


@lru_cache(1_000)
def _is_saved(key: str) -> bool:
    """Whether programs write an attribute anew at every save."""
    return key == _SPACE or any(mark in key for mark in _SAVED)


class Imprint:
    """Prints the elements of one part; `targets` says where its relationships lead."""

    def __init__(self, root: Element, targets: Mapping[str, str]) -> None:
        self._targets = targets
        starts = root.iter(BOOKMARK)
        self._last_place = {s.get(n.ID) for s in starts if s.get(n.NAME) == LAST_PLACE}

    def of(self, *elements: Element | None) -> str:
        """Return elements with all that is in them; those that are missing count for nothing."""
        out: list[str] = []
        self._walk((element for element in elements if element is not None), out)
        return "".join(out)

    def is_trivial(self, element: Element) -> bool:
        """Whether an element counts for nothing."""
        tag = element.tag
        if not isinstance(tag, str) or tag in _TRIVIAL:
            return True
        return tag in (BOOKMARK, BOOKMARK_END) and element.get(n.ID) in self._last_place

    def _walk(self, elements: Iterable[Element], out: list[str]) -> None:
        before: str | None = None  # the look of the run before: parts of one run count as one
        for element in elements:
            if self.is_trivial(element):
                continue
            if element.tag == n.T:
                self._text(element, out)
            elif element.tag == n.R:
                before = self._run(element, before, out)
            else:
                before = None
                self._other(element, out)

    def _text(self, element: Element, out: list[str]) -> None:
        text = element.text or ""
        is_cut = text != text.strip() and element.get(_SPACE) != "preserve"
        out.append(f"\0cut{text}\0end" if is_cut else text)

    def _run(self, run: Element, before: str | None, out: list[str]) -> str | None:
        look = self.look(run)
        start = len(out)
        out.append(f"\0run{look}\0look" if look != before else "")
        self._walk((child for child in run if child.tag != n.RPR), out)
        if any(out[start + 1 :]):
            return look
        del out[start:]
        return before

    def look(self, run: Element) -> str:
        """Return the look of a run; no properties and empty ones are the same."""
        properties = run.find(n.RPR)
        return self.of(*properties) if properties is not None else ""

    def _other(self, element: Element, out: list[str]) -> None:
        start = len(out)
        own = self._own(element)
        words = element.text or ""
        out.append(f"\0{element.tag}{own}\0{words if words.strip() or not len(element) else ''}")
        self._walk(element, out)
        is_bare = element.tag in (n.PPR, n.RPR) and not own and len(out) == start + 1
        if is_bare:
            del out[start:]
        else:
            out.append("\0end")

    def _own(self, element: Element) -> str:
        own = element.items()
        if not own:
            return ""
        is_bookmark = element.tag in (BOOKMARK, BOOKMARK_END)
        said = []
        for key, value in sorted((str(k), str(v)) for k, v in own):
            if _is_saved(key) or (is_bookmark and key == n.ID):
                continue
            if key.startswith(_RELATIONS):
                value = self._targets.get(value, value)
            said.append(f" {key}={value}")
        return "".join(said)

"""Names of files in an answer as links to them (U3.24).

A model's text stays what it is: after the sanitiser had its word, whole paths of files that the
bench has become links, made here, to pages of our own. Nothing else does, nothing inside blocks of
code or inert links does, and a link of a model stays inert.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote

from markupsafe import Markup, escape

from .answer_place import Answer, AnswerPlaces, escape_text, unescape_text

_TAG = re.compile(r"(<[^>]*>)")
_INERT = re.compile(r'<(?:pre\b|a\b|span class="link")')
_AROUND = ".,;:!?()[]{}“”„‘’'\"*"
_BEFORE = r"(?<![\w./\\@-])"
_AFTER = r"(?![\w/\\@-]|\.\w)"
_PLACE = r"(?:(?P<unit>[Ss]lide|[Pp]age) (?P<number>[1-9]\d{0,3}) (?:of|in) )?"
_UNITS = {".pptx": "slide", ".pdf": "page"}


@dataclass(frozen=True)
class FileLinks:
    """The files of a bench that answers may name; `base` is the address of the bench."""

    base: str
    paths: frozenset[str]
    places: AnswerPlaces | None = None

    @cached_property
    def _by_end(self) -> dict[str, list[str]]:
        """The paths as markup spells them, by their last word: what a text is looked through for.

        A name without an ending may be any word: it counts only where it is set as code.
        """
        found: dict[str, list[str]] = {}
        for path in self.paths:
            if "." in path.rpartition("/")[2].lstrip(".") and path.split():
                found.setdefault(str(escape_text(path)).split()[-1], []).append(path)
        return found

    def linked(self, html: Markup, turn_id: str | None = None) -> Markup:
        """Return rendered text with links where it names files, and places inside them."""
        named = self._named(html)
        answer = self.places.about(html, named, turn_id) if self.places else None
        text = str(html) if answer is None else "".join(self._placed(html, answer))
        pattern = _pattern(named)
        if pattern is not None or "<code>" in text:
            text = "".join(self._parts(text, pattern))
        return Markup(text)  # noqa: S704  # cleaned text, our links

    def _named(self, html: str) -> list[str]:
        """Return the files whose paths can stand in a text."""
        words = {one.strip(_AROUND) for one in _TAG.sub(" ", html).split()}
        return [path for end, paths in self._by_end.items() if end in words for path in paths]

    def _placed(self, html: str, answer: Answer) -> Iterator[str]:
        """Yield a text with links where it names cells, sheets, slides and pages for certain."""

        def link(match: re.Match[str]) -> str:
            found = answer.place(match)
            return match[0] if found is None else self._link(found[0], match[0], found[1])

        for piece, is_inert in _pieces(html):
            yield piece if is_inert else answer.pattern.sub(link, piece)

    def _parts(self, html: str, pattern: re.Pattern[str] | None) -> Iterator[str]:
        pieces = _TAG.split(html)
        inert: list[str] = []  # the tags around here that nothing is linked in
        for at, piece in enumerate(pieces):
            if at % 2:
                _follow(inert, piece)
                yield piece
            elif inert or not piece:
                yield piece
            elif _is_code(pieces, at) and (path := unescape_text(piece)) in self.paths:
                yield self._link(path, piece)
            else:
                yield pattern.sub(self._found, piece) if pattern else piece

    def _found(self, match: re.Match[str]) -> str:
        path, unit = unescape_text(match["path"]), match["unit"]
        place = _UNITS.get(path[path.rfind(".") :].lower())
        if unit is None:
            return self._link(path, match[0])
        if place != unit.lower():  # a page of a workbook is none of ours
            return match[0].removesuffix(match["path"]) + self._link(path, match["path"])
        return self._link(path, match[0], f"?{place}={int(match['number']) - 1}")

    def _link(self, path: str, shown: str, place: str = "") -> str:
        """Return a link; `shown` is markup already, the address is ours."""
        href = escape(f"{self.base}/file/{quote(path)}{place}")
        return f'<a class="file-link" href="{href}">{shown}</a>'


def file_links(base: str, paths: Iterable[str], places: AnswerPlaces | None = None) -> FileLinks:
    """Return the links of a bench."""
    return FileLinks(base=base, paths=frozenset(paths), places=places)


def _pattern(named: Sequence[str]) -> re.Pattern[str] | None:
    if not named:
        return None
    names = "|".join(re.escape(escape_text(one)) for one in sorted(named, key=len)[::-1])
    return re.compile(f"{_BEFORE}{_PLACE}(?P<path>{names}){_AFTER}")


def _pieces(html: str) -> Iterator[tuple[str, bool]]:
    """Yield a text in pieces as long as can be, and whether nothing is linked in them."""
    inert: list[str] = []
    held: list[str] = []
    for at, piece in enumerate(_TAG.split(html)):
        was = bool(inert)
        if at % 2:
            _follow(inert, piece)
        if bool(inert) != was:
            yield "".join(held), was
            held = []
        held.append(piece)
    yield "".join(held), bool(inert)


def _is_code(pieces: Sequence[str], at: int) -> bool:
    return 0 < at < len(pieces) - 1 and (pieces[at - 1], pieces[at + 1]) == ("<code>", "</code>")


def _follow(inert: list[str], tag: str) -> None:
    """Keep count of where nothing is linked: inside code blocks and links of models."""
    name = re.match(r"</?(\w+)", tag)
    if name is None or name[1] not in ("pre", "span", "a"):
        return
    if tag.startswith("</"):
        if inert and inert[-1] == name[1]:
            inert.pop()
    elif inert or _INERT.match(tag):
        inert.append(name[1])

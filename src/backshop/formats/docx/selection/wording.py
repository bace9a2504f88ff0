"""A paragraph as its words, each with its look, so that word changes can be taken one by one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lxml import etree

from backshop.formats.diff.alignment import Change, Effort
from backshop.formats.diff.word_diff import WORD
from backshop.formats.package.guard import Element
from backshop.formats.selection.block_alignment import (
    EVERY_MAX,
    apart,
    are_words_apart,
    merged,
    mixtures,
)

from ..edit.builder import set_text
from ..edit.removal import splits_field
from ..text import name as n
from .imprint import Imprint, digest, words_of

_MAX_WORDS = 2_000  # of one paragraph; longer ones are taken or left whole
_MAX_STEPS = 400_000
_SHOWN = {n.TAB: "\t", n.BR: "\n", n.CR: "\n"}

Adopt = Callable[[Element], Element]  # a copy of an element of the new side, at home in the old
Looks = tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Bit:
    """Characters of a run, or one thing in it; without a run: something that holds runs."""

    run: Element | None
    text: str
    node: Element | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or what stands among words; `key` is what it is, `looks` how its characters look."""

    key: str
    bits: tuple[Bit, ...]
    looks: Looks = ()

    @property
    def text(self) -> str:
        """The characters that show."""
        return "".join(
            one.text or ("" if one.node is None else words_of(one.node)) for one in self.bits
        )


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph: its own properties and its tokens."""

    element: Element
    properties: Element | None
    head: str  # the properties, printed
    tokens: tuple[Token, ...]

    @property
    def keys(self) -> list[str]:
        """What the tokens are, whatever their looks."""
        return [token.key for token in self.tokens]

    def elements(self, start: int, end: int) -> list[Element]:
        """Return what some tokens are made of: the properties of their runs, and things."""
        found: dict[Element, None] = {}
        for token in self.tokens[start:end]:
            for bit in token.bits:
                look = bit.run.find(n.RPR) if bit.run is not None else None
                found.update((one, None) for one in (look, bit.node) if one is not None)
        return list(found)


@dataclass(frozen=True, slots=True)
class Wording:
    """Two versions of a paragraph and the word changes between them."""

    old: Line
    new: Line
    changes: tuple[Change, ...]
    looks: tuple[tuple[int, Looks, Looks], ...]  # of words that stayed, where they differ

    @property
    def has_other_look(self) -> bool:
        """Whether the paragraph or words that stayed look different."""
        return bool(self.looks) or self.old.head != self.new.head

    @property
    def kept(self) -> Iterator[tuple[int, int]]:
        """The tokens that stayed, by their places on both sides."""
        i = j = 0
        end = Change(len(self.old.tokens), 0, len(self.new.tokens), 0)
        for one in [*self.changes, end]:
            yield from zip(range(i, one.old_start), range(j, one.new_start), strict=True)
            i, j = one.old_end, one.new_end

    def is_mixed_into(self, others: Callable[[str], bool]) -> bool:
        """Whether some of the changes, or all without their look, make one of other texts of it."""
        if len(self.changes) > EVERY_MAX:
            return False
        for taken in mixtures(self.changes):
            is_all = len(taken) == len(self.changes) and not self.has_other_look
            bits = self._bits(frozenset(taken), with_look=False)
            if not is_all and others("".join(bit.text for bit, _ in bits)):
                return True
        return False

    def composed(self, taken: Sequence[Change], with_look: bool, adopt: Adopt) -> Element:
        """Return the paragraph with some of the changes."""
        paragraph = _copied(self.old.element)
        paragraph[:] = []
        paragraph.text = None
        if with_look and self.new.properties is not None:
            paragraph.append(adopt(self.new.properties))
        elif not with_look and self.old.properties is not None:
            paragraph.append(copy.deepcopy(self.old.properties))
        _write(paragraph, self._bits(frozenset(taken), with_look), adopt)
        return paragraph

    def _bits(self, taken: frozenset[Change], with_look: bool) -> Iterator[tuple[Bit, bool]]:
        """Yield the bits of a mixture, each with whether it is one of the new side."""
        i = j = 0
        end = Change(len(self.old.tokens), 0, len(self.new.tokens), 0)
        for one in [*self.changes, end]:
            for a, b in zip(range(i, one.old_start), range(j, one.new_start), strict=True):
                is_new = with_look and bool(self.old.tokens[a].looks)
                token = self.new.tokens[b] if is_new else self.old.tokens[a]
                yield from ((bit, is_new) for bit in token.bits)
            i, j = one.old_end, one.new_end
            is_new = one in taken
            line, start, stop = (
                (self.new, one.new_start, one.new_end)
                if is_new
                else (self.old, one.old_start, one.old_end)
            )
            for token in line.tokens[start:stop]:
                yield from ((bit, is_new) for bit in token.bits)


def compare(old: Line | None, new: Line | None, *, is_known: bool) -> Wording | None:
    """Return two versions of a paragraph taken apart; None where that would not be sound.

    `is_known`: the two are one paragraph for another reason than that they have words in common.
    """
    if old is None or new is None or max(len(old.tokens), len(new.tokens)) > _MAX_WORDS:
        return None
    a, b = old.keys, new.keys
    found = merged(a, apart(a, b, effort=Effort(_MAX_STEPS)))
    if not is_known and not _stays_alike(a, b, found):
        return None
    if not are_words_apart(a, b, found):
        return None
    wording = Wording(old, new, tuple(found), ())
    looks = tuple(
        (i, old.tokens[i].looks, new.tokens[j].looks)
        for i, j in wording.kept
        if old.tokens[i].looks != new.tokens[j].looks
    )
    return Wording(old, new, tuple(found), looks)


def _stays_alike(old: Sequence[str], new: Sequence[str], found: Sequence[Change]) -> bool:
    """Whether the old side and any mixture are known as versions of one another."""
    total = sum(map(_is_word, old))
    gone = sum(_is_word(w) for one in found for w in old[one.old_start : one.old_end])
    come = sum(_is_word(w) for one in found for w in new[one.new_start : one.new_end])
    return 2 * total >= 3 * gone + come


def _is_word(key: str) -> bool:
    return key[:1].isalnum() or key[:1] == "_"


def line_of(paragraph: Element, imprint: Imprint) -> Line | None:
    """Return a paragraph as tokens; None where something in it reaches beyond it."""
    properties = paragraph.find(n.PPR)
    if splits_field([paragraph]):
        return None
    if properties is not None and properties.find(n.SECT_PR) is not None:
        return None
    found = _Tokens(imprint)
    held: list[Element] = []  # runs of a field that has begun
    depth = 0
    for child in paragraph:
        if child.tag == n.PPR or imprint.is_trivial(child):
            continue
        depth += _depth(child)
        if depth or held:
            held.append(child)
            if not depth:
                found.whole(held)
                held = []
        elif child.tag == n.R:
            found.run(child)
        else:
            found.whole([child])
    found.close()
    return Line(paragraph, properties, imprint.of(properties), tuple(found.tokens))


def _depth(element: Element) -> int:
    kinds = [char.get(n.w("fldCharType")) for char in element.iter(n.FLD_CHAR)]
    return kinds.count("begin") - kinds.count("end")


class _Tokens:
    """Collects the tokens of a paragraph; words go on over the borders of runs."""

    def __init__(self, imprint: Imprint) -> None:
        self.tokens: list[Token] = []
        self._imprint = imprint
        self._open: list[tuple[Bit, str]] = []  # characters not yet cut into words

    def run(self, run: Element) -> None:
        """Take in the content of a run."""
        look = self._imprint.look(run)
        if any(child.tag == n.FLD_CHAR for child in run):  # a whole field in one run
            self.whole([run])
            return
        for child in run:
            if child.tag == n.RPR or self._imprint.is_trivial(child):
                continue
            if child.tag == n.T and self._imprint.of(child) == (child.text or ""):
                self._open.append((Bit(run, child.text or ""), look))
            else:
                self.close()
                shown = "" if child.get(n.TYPE) else _SHOWN.get(str(child.tag), "")
                key = f"\0{digest(self._imprint.of(child))}"
                self.tokens.append(Token(key, (Bit(run, shown, child),), ((1, look),)))

    def whole(self, elements: Sequence[Element]) -> None:
        """Take in what is not cut."""
        self.close()
        key = f"\0{digest(self._imprint.of(*elements))}"
        self.tokens.append(Token(key, tuple(Bit(None, "", one) for one in elements)))

    def close(self) -> None:
        """Cut the characters so far into words."""
        queue = [(bit, look) for bit, look in self._open if bit.text]
        self._open = []
        for word in WORD.findall("".join(bit.text for bit, _ in queue)):
            bits: list[Bit] = []
            looks: list[tuple[int, str]] = []
            left = len(word)
            while left:
                bit, look = queue[0]
                piece = bit.text[:left]
                bits.append(Bit(bit.run, piece))
                if looks and looks[-1][1] == look:
                    looks[-1] = (looks[-1][0] + len(piece), look)
                else:
                    looks.append((len(piece), look))
                left -= len(piece)
                rest = bit.text[len(piece) :]
                queue[:1] = [(Bit(bit.run, rest), look)] if rest else []
            self.tokens.append(Token(word, tuple(bits), tuple(looks)))


def _write(paragraph: Element, bits: Iterator[tuple[Bit, bool]], adopt: Adopt) -> None:
    """Write bits as runs; those of one run that follow one another are one run again."""
    current: tuple[Element, bool] | None = None
    run: Element | None = None
    for bit, is_new in bits:
        if bit.run is None:
            assert bit.node is not None
            paragraph.append(adopt(bit.node) if is_new else _copied(bit.node))
            current, run = None, None
            continue
        if run is None or current != (bit.run, is_new):
            run = _empty_run(paragraph, bit.run, is_new, adopt)
            current = (bit.run, is_new)
        if bit.node is not None:
            run.append(adopt(bit.node) if is_new else _copied(bit.node))
        elif len(run) and run[-1].tag == n.T:
            set_text(run[-1], (run[-1].text or "") + bit.text)
        else:
            text = etree.SubElement(run, n.T)
            set_text(text, bit.text)


def _empty_run(paragraph: Element, like: Element, is_new: bool, adopt: Adopt) -> Element:
    run = etree.SubElement(paragraph, n.R)
    for key, value in like.items():
        run.set(key, value)
    look = like.find(n.RPR)
    if look is not None:
        run.append(adopt(look) if is_new else _copied(look))
    return run


def _copied(element: Element) -> Element:
    copied = copy.deepcopy(element)
    copied.tail = None
    return copied

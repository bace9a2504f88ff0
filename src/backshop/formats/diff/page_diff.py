"""Which pages of two versions belong together, by what stands on them (B12.10).

Pages have no ids: one is found again by its words, a page without words by how it looks. A page
that was put in stands beside nothing, and the pages behind it beside their own former selves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..protocol import JsonObject
from .alignment import aligned
from .word_diff import Words


@dataclass(frozen=True, slots=True)
class Page:
    """The words of a page, and a hash of its look; None where nobody looked."""

    text: str
    look: str | None = None

    @property
    def key(self) -> str:
        """What a page is known by."""
        return self.text if self.text.strip() else f"\0{self.look}"


def pair_pages(old: Sequence[Page], new: Sequence[Page]) -> list[JsonObject]:
    """Return the pages of both sides paired, in order.

    `kind` is same, changed (other words), look (the same words, drawn otherwise), added, removed.
    """
    pairs: list[tuple[int | None, int | None]] = []
    keys = [[page.key for page in side] for side in (old, new)]
    for same, gone, come in aligned(*keys):
        pairs += same
        pairs += _replaced(old, new, gone, come)
    return [
        {"index": at, "index_before": a, "index_after": b, "kind": _kind(old, new, a, b)}
        for at, (a, b) in enumerate(pairs)
    ]


def _replaced(
    old: Sequence[Page], new: Sequence[Page], gone: range, come: range
) -> list[tuple[int | None, int | None]]:
    """Pair versions of one another; where as many went as came, those left go by their place."""
    if len(gone) == len(come):
        return list(zip(gone, come, strict=True))
    words = {at: Words.of(new[at].text) for at in come}
    found: list[tuple[int | None, int | None]] = []
    at = come.start
    for place in gone:
        own = Words.of(old[place].text)
        twin = next((one for one in range(at, come.stop) if own.is_like(words[one])), None)
        if twin is None or not old[place].text.strip():
            found.append((place, None))
            continue
        found += [(None, one) for one in range(at, twin)]
        found.append((place, twin))
        at = twin + 1
    return found + [(None, one) for one in range(at, come.stop)]


def _kind(old: Sequence[Page], new: Sequence[Page], a: int | None, b: int | None) -> str:
    if a is None or b is None:
        return "added" if a is None else "removed"
    if old[a].text != new[b].text:
        return "changed"
    looks = {old[a].look, new[b].look}
    return "look" if len(looks) > 1 and None not in looks else "same"

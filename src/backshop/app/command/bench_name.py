"""Which workbench somebody means who says a name, an id or the beginning of one (S4.3)."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from backshop.base.command import Ask
from backshop.base.errors import NotFound, ValidationFailed

if TYPE_CHECKING:  # loaded with the first command about a bench (S2.4)
    from backshop.bench import answers

PAGE = 200  # the longest there is (B5.3)
_NONE_YET = "there is none yet; `backshop bench create NAME` makes one"
_ALL = "`backshop bench list` names them"


def every_bench(ask: Ask, *, include_trash: bool) -> list[answers.BenchInfo]:
    """Return all workbenches that whoever calls may see, newest change first."""
    from backshop.bench import Bench, requests

    found: list[answers.BenchInfo] = []
    wish = requests.WorkbenchList(limit=PAGE, include_trash=include_trash)
    while True:
        page = ask(Bench.list, wish)
        found += page.workbenches
        if page.next_cursor is None:
            return found
        wish = replace(wish, cursor=page.next_cursor)


def named_bench(ask: Ask, text: str) -> str:
    """Return the id of the one workbench that `text` stands for.

    Raises:
        NotFound: nothing is called so; the hints list names that are near, or how to make one.
        ValidationFailed: `ambiguous`; the hints list the candidates.
    """
    found = every_bench(ask, include_trash=True)
    exact = [one for one in found if text in (one.workbench_id, one.name)]
    matches = exact or [one for one in found if one.workbench_id.startswith(text)]
    live = [one for one in matches if one.deleted_at is None]
    matches = live or matches
    if not matches or not text:
        hints = _near(text, found) or (_ALL if found else _NONE_YET,)
        raise NotFound(f"there is no workbench {text!r}", reason="not_found", hints=hints)
    if len(matches) > 1:
        hints = tuple(
            f"{one.workbench_id} ({one.name}, last changed {one.updated_at})"
            for one in matches[:10]
        )
        raise ValidationFailed(
            f"{text!r} could be {len(matches)} workbenches", reason="ambiguous", hints=hints
        )
    return matches[0].workbench_id


def _near(text: str, found: list[answers.BenchInfo]) -> tuple[str, ...]:
    """Return up to three names that begin like `text` or are spelled much like it."""
    names = {one.name.casefold(): one.name for one in found}
    said = text.casefold()
    begin = [one for one in names if said and one.startswith(said)]
    alike = get_close_matches(said, names, n=3, cutoff=0.5)
    return tuple(names[one] for one in dict.fromkeys([*begin, *alike]))[:3]

"""The rules of a sheet as a read shows them, numbered as operations name them (F38.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from backshop.formats.package.guard import Element

from ..syntax.address import Area
from .entry import Rule, RuleKind, rules
from .words import RuleWords

CALLED: dict[RuleKind, str] = {"condition": "conditional format", "validation": "validation"}


def listed(root: Element, words: RuleWords, area: Area | None = None) -> list[str]:
    """Return a line for each rule of a sheet, or for those that hold for cells of an area."""
    return [
        f"{CALLED[kind]} {number}\t{rule.where}\t{words.told(rule)}"
        for kind in get_args(RuleKind)
        for number, rule in enumerate(rules(root, kind), 1)
        if area is None or rule.meets(area)
    ]


def shown(found: Sequence[Rule], words: RuleWords, most: int) -> list[str]:
    """Return the first of some rules with their numbers, as hints."""
    pairs = list(enumerate(found, 1))[:most]
    return [f"{number}: {rule.where}: {words.told(rule)}" for number, rule in pairs]

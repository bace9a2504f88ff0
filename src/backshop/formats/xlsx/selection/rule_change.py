"""Conditional formats and validations that came, went or changed, each by itself (F38.12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from lxml import etree

from backshop.base.place import Place
from backshop.formats.package.guard import Element

from ..alignment.geometry import Run
from ..book.workbook import Book, local
from ..rule.difference import RuleDifference, RuleKey, compare_rules, key
from ..rule.entry import FORMULAS, Rule, RuleKind, rules
from ..rule.listing import CALLED
from ..rule.words import RuleWords
from ..style.rule_look import rule_words
from .naming import Naming
from .slot import RULE, SheetPair, Slot

ELEMENTS: dict[RuleKind, str] = {
    "condition": "conditionalFormatting",
    "validation": "dataValidations",
}
_GROUPS: dict[RuleKind, str] = {"condition": "looks", "validation": "other"}


def told_rules(kind: RuleKind) -> str:
    """Return how it is noted that slots tell the rules of a kind, those of extensions too."""
    return f"rules {kind}"


def rules_of(slot: Slot) -> tuple[RuleKind, list[int], list[int]]:
    """Return the kind of rules that a slot is about, and their numbers before and after."""
    kind, *sides = slot.detail
    before, after = ([int(one) for one in side.split(",") if one] for side in sides)
    return "condition" if kind == "condition" else "validation", before, after


@dataclass(frozen=True, slots=True)
class RuleSlot:
    """A slot of rules, and the lines it needs."""

    slot: Slot
    runs: set[Run]


def rule_slots(
    pair: SheetPair,
    books: tuple[Book, Book],
    roots: tuple[Element, Element],
    naming: Naming | None,
) -> dict[RuleKind, list[RuleSlot]]:
    """Return the slots of each kind of rule whose rules can be told apart."""
    words = rule_words(books[0]), rule_words(books[1])
    found: dict[RuleKind, list[RuleSlot]] = {}
    for kind in get_args(RuleKind):
        slots = _Comparison(pair, kind, roots, words, naming).slots()
        if slots is not None:
            found[kind] = slots
    return found


class _Comparison:
    """The rules of one kind of two versions of a sheet."""

    def __init__(
        self,
        pair: SheetPair,
        kind: RuleKind,
        roots: tuple[Element, Element],
        words: tuple[RuleWords, RuleWords],
        naming: Naming | None,
    ) -> None:
        self.pair, self.kind, self.words, self.naming = pair, kind, words, naming
        self.roots = roots
        self.compared = compare_rules(kind, roots, words)
        self.sides, self.keys = self.compared.sides, self.compared.keys

    def slots(self) -> list[RuleSlot] | None:
        """Return what differs; None where it can only be taken as a whole."""
        found = self.compared.differences
        if not found:
            return None if found is None else []
        groups = [[one] for one in found] if self.kind == "condition" else self._met(found)
        if self.naming is None:
            return [RuleSlot(self._slot(group, self.keys), set()) for group in groups]
        return self._named(self.naming, groups)

    def _met(self, found: Sequence[RuleDifference]) -> list[list[RuleDifference]]:
        """Part validations into groups that share cells: a cell has one of them."""
        groups: list[list[RuleDifference]] = []
        for one in found:
            met = [group for group in groups if any(self._meet(one, other) for other in group)]
            groups = [group for group in groups if not any(group is other for other in met)]
            groups.append([*(other for group in met for other in group), one])
        return groups

    def _meet(self, one: RuleDifference, two: RuleDifference) -> bool:
        return any(
            a.meets(area) for a in self._rules(one) for b in self._rules(two) for area in b.areas
        )

    def _rules(self, one: RuleDifference) -> Iterator[Rule]:
        for at, side in zip((one.before, one.after), self.sides, strict=True):
            if at is not None:
                yield side[at]

    # --- lines that came or went ---------------------------------------------------------------

    def _named(self, naming: Naming, groups: list[list[RuleDifference]]) -> list[RuleSlot]:
        """Return slots in names that hold whichever lines are there."""
        home = self.pair.shown
        trees = (
            naming.frame(naming.origin, self.pair),
            naming.geometry.element(self.roots[1], home),
            naming.frame(naming.undone(), self.pair),
        )
        origin, named, alone = (rules(tree, self.kind) for tree in trees)
        words = rule_words(naming.origin), self.words[1], self.words[1]
        keys = [
            [key(rule, own) for rule in side]
            for side, own in zip((origin, named, alone), words, strict=True)
        ]
        counts = [len(side) for side in self.sides]
        is_same = (len(origin), len(named), len(alone)) == (counts[0], counts[1], counts[1])
        made = []
        for group in groups:
            if not is_same:
                made.append(RuleSlot(self._slot(group, self.keys), naming.near(home)))
                continue
            lost = [origin[one.before].holder for one in group if one.before is not None]
            runs = naming.runs_of(lost, home)
            come = [one.after for one in group if one.after is not None]
            ours = [*self._all(group)]
            if any(rule.is_extended for rule in ours) or any(
                keys[1][at] != keys[2][at] for at in come
            ):
                runs |= naming.near(home)
            made.append(RuleSlot(self._slot(group, keys[:2]), runs))
        return made

    def _all(self, group: Sequence[RuleDifference]) -> Iterator[Rule]:
        for one in group:
            yield from self._rules(one)

    def _slot(self, group: Sequence[RuleDifference], keys: Sequence[Sequence[RuleKey]]) -> Slot:
        numbers = [
            sorted(at for one in group if (at := (one.before, one.after)[side]) is not None)
            for side in (0, 1)
        ]
        sides = tuple(
            tuple(sorted((keys[side][at].place, keys[side][at].content) for at in numbers[side]))
            for side in (0, 1)
        )
        told = [self._told(side, numbers[side]) for side in (0, 1)]
        shown = [self.sides[side][at] for side in (1, 0) for at in numbers[side]]
        first = shown[0].areas[0] if shown[0].areas else None
        return Slot(
            what=RULE,
            pair=self.pair,
            sides=(sides[0], sides[1]),
            group=_GROUPS[self.kind],
            label=f"{CALLED[self.kind]} on {self.pair.shown}!{shown[0].where}",
            row=first.row1 if first else 0,
            col=first.col1 if first else 0,
            told=(0, 0),
            detail=(self.kind, *(",".join(map(str, side)) for side in numbers)),
            named=(self.kind,),
            place=Place(sheet=self.pair.shown, range=str(first) if first else None),
            before=told[0],
            after=told[1],
            texts=tuple(_formulas(shown)),
        )

    def _told(self, side: int, numbers: list[int]) -> str | None:
        own = (self.sides[side][at] for at in numbers)
        said = [f"{rule.where}: {self.words[side].told(rule)}" for rule in own]
        return "; ".join(said) or None


def _formulas(found: Sequence[Rule]) -> Iterator[str]:
    for rule in found:
        for element in (rule.element, rule.twin):
            for item in element.iter(etree.Element) if element is not None else ():
                if local(item) in FORMULAS and item.text:
                    yield item.text

"""Rules that go over from one version of a sheet to another (F38.12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from backshop.formats.package.guard import Element

from ..book.stylesheet import StyleSheet
from ..book.workbook import Book
from ..rule.difference import RuleKey, key
from ..rule.entry import (
    Rule,
    RuleKind,
    add,
    add_extended,
    add_validation,
    free_number,
    remove,
    rules,
    twin_element,
)
from ..rule.words import RuleWords
from ..style.rule_look import rule_words
from ..style.transplant import adopted


@dataclass(frozen=True, slots=True)
class RuleTransfer:
    """Lets rules of a sheet be as another version has them."""

    root: Element
    styles: StyleSheet
    words: RuleWords
    other: Element
    giver: Book
    plain: Callable[[Element], Element]  # a copy that its new root understands

    def put(self, kind: RuleKind, gone: Iterable[int], come: Iterable[int]) -> None:
        """Take rules out by their numbers here, and add others by their numbers there."""
        here, there = rules(self.root, kind), rules(self.other, kind)
        words = rule_words(self.giver)
        keys = {key(rule, self.words): rule for rule in here}
        out = [here[at] for at in gone]
        order = [rule for rule in here if not any(rule is one for one in out)]
        known: dict[RuleKey, Rule] = {
            one: rule for one, rule in keys.items() if any(rule is two for two in order)
        }
        for rule in out:
            remove(rule)
        wanted = {*come}
        names = [key(rule, words) for rule in there]
        for at in sorted(wanted):
            made = self._added(kind, there[at], words)
            before = next((known[one] for one in names[:at][::-1] if one in known), None)
            place = next((n for n, rule in enumerate(order) if rule is before), -1)
            order.insert(place + 1, made)
            known[names[at]] = made
        if kind == "condition":
            _number(order)

    def _added(self, kind: RuleKind, rule: Rule, words: RuleWords) -> Rule:
        element = self.plain(rule.element)
        look = words.look_of(rule.element)
        if element.get("dxfId") and look is not None:
            number = self.styles.append("dxfs", adopted(look, self.styles.root))
            element.set("dxfId", str(number))
        if rule.is_extended:
            add_extended(self.root, kind, element, rule.place)
        elif kind == "validation":
            add_validation(self.root, element)
        else:
            said = {str(k): str(v) for k, v in rule.holder.attrib.items() if "}" not in str(k)}
            said.pop("sqref", None)
            add(self.root, element, rule.place, said)
        twin = None
        if rule.twin is not None:
            twin = self.plain(rule.twin)
            taken = any(one.get("id") == twin.get("id") for one in self.root.iter("{*}cfRule"))
            if taken:
                number_of = free_number(self.root, rule.place)
                twin.set("id", number_of)
                named = twin_element(element)
                assert named is not None, "a rule with a twin names it"
                named.text = number_of
            add_extended(self.root, kind, twin, rule.place)
        holder = element.getparent()
        assert holder is not None, "it was just added"
        return Rule(kind, element, holder, rule.areas, twin, rule.is_extended, rule.is_pivot)


def _number(order: Sequence[Rule]) -> None:
    """Let conditional formats be applied in an order; numbers that say it already stay."""
    last = 0
    for rule in order:
        if rule.priority <= last:
            rule.element.set("priority", str(last + 1))
        last = rule.priority

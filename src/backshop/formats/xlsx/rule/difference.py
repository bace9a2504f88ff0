"""Which rules of a sheet came, went or are others, by what they say (F38.11, F38.12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass

from lxml import etree

from backshop.formats.diff.part_diff import printed
from backshop.formats.package.guard import Element

from ..book.workbook import child, children
from .entry import Rule, RuleKind, extensions, parsed, remove, rules
from .listing import CALLED
from .words import RuleWords

_SEATS = ("count", "xWindow", "yWindow")  # of a list; nobody sees them


@dataclass(frozen=True, slots=True)
class RuleKey:
    """What a rule says: for which cells, and what; not its number among others."""

    place: str
    content: str


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """A rule before and after, by their places in the lists of both; None where there is none."""

    before: int | None
    after: int | None


def key(rule: Rule, words: RuleWords) -> RuleKey:
    """Return what a rule says, its look spelled out."""
    element = deepcopy(rule.element)
    for name in ("priority", "dxfId", "id", "sqref"):
        element.attrib.pop(name, "")
    for name in ("sqref", *(("extLst",) if rule.twin is not None else ())):
        item = child(element, name)
        if item is not None:
            element.remove(item)
    said = [printed(element, {}), "pivot" if rule.is_pivot else ""]
    look = words.look_of(rule.element) if rule.element.get("dxfId") else None
    said.append(printed(look, {}) if look is not None else "")
    if rule.twin is not None:
        twin = deepcopy(rule.twin)
        for name in ("id", "priority"):
            twin.attrib.pop(name, "")
        said.append(printed(twin, {}))
    return RuleKey(rule.place, "\1".join((*said, "newer" if rule.is_extended else "")))


@dataclass(frozen=True, slots=True)
class ComparedRules:
    """The rules of one kind of two sheets; without any where not even a byte differs."""

    sides: tuple[Sequence[Rule], Sequence[Rule]] = ((), ())
    keys: tuple[Sequence[RuleKey], Sequence[RuleKey]] = ((), ())
    differences: Sequence[RuleDifference] | None = ()  # None: they cannot be told apart


def compare_rules(
    kind: RuleKind, roots: tuple[Element, Element], words: tuple[RuleWords, RuleWords]
) -> ComparedRules:
    """Compare the rules of two versions of a sheet."""
    one, two = ([etree.tostring(item, with_tail=False) for item in _all(r, kind)] for r in roots)
    if one == two and words[0].means_same(words[1]):
        return ComparedRules()
    old, new = (rules(root, kind) for root in roots)
    keys = [key(rule, words[0]) for rule in old], [key(rule, words[1]) for rule in new]
    return ComparedRules((old, new), keys, differences(kind, *keys))


def _all(root: Element, kind: RuleKind) -> list[Element]:
    name = "conditionalFormatting" if kind == "condition" else "dataValidations"
    return [*children(root, name), *extensions(root, kind)]


def differences(
    kind: RuleKind, old: Sequence[RuleKey], new: Sequence[RuleKey]
) -> list[RuleDifference] | None:
    """Return what differs; None where rules cannot be told apart or stand in another order.

    The order of validations means nothing.
    """
    if len({*old}) < len(old) or len({*new}) < len(new):
        return None
    here, there = {one: at for at, one in enumerate(old)}, {one: at for at, one in enumerate(new)}
    common = [there[one] for one in old if one in there]
    if kind == "condition" and common != sorted(common):
        return None
    gone = [at for at, one in enumerate(old) if one not in there]
    come = [at for at, one in enumerate(new) if one not in here]
    found = []
    for same in (_is_other_range, _is_other_content):
        for before in list(gone):
            after = next((at for at in come if same(old[before], new[at])), None)
            if after is not None:
                found.append(RuleDifference(before, after))
                gone.remove(before)
                come.remove(after)
    found += [RuleDifference(at, None) for at in gone]
    found += [RuleDifference(None, at) for at in come]
    return sorted(found, key=lambda one: (one.after is None, one.after or 0, one.before or 0))


def _is_other_range(old: RuleKey, new: RuleKey) -> bool:
    """Whether a rule says the same for other cells, some of which it had."""
    here, there = parsed(old.place), parsed(new.place)
    return old.content == new.content and any(one.meets(two) for one in here for two in there)


def _is_other_content(old: RuleKey, new: RuleKey) -> bool:
    return old.place == new.place


def told(found: ComparedRules, words: tuple[RuleWords, RuleWords]) -> Iterator[str]:
    """Go through differences in words."""
    for one in found.differences or ():
        old = found.sides[0][one.before] if one.before is not None else None
        new = found.sides[1][one.after] if one.after is not None else None
        if new is not None and old is None:
            yield f"{CALLED[new.kind]} on {new.where} added: {words[1].told(new)}"
        elif old is not None and new is None:
            yield f"{CALLED[old.kind]} on {old.where} removed: {words[0].told(old)}"
        elif old is not None and new is not None:
            yield _changed(old, new, words)


def _changed(old: Rule, new: Rule, words: tuple[RuleWords, RuleWords]) -> str:
    name = CALLED[new.kind]
    before, after = words[0].told(old), words[1].told(new)
    if before == after and old.where != new.where:
        return f"{name} holds for {new.where}, before for {old.where}: {after}"
    if before == after:
        return f"{name} on {new.where} changed: {after}"
    return f"{name} on {new.where} changed: {before} → {after}"


def strip(roots: Iterable[Element], kind: RuleKind) -> None:
    """Take all rules of a kind off the trees of two versions of a sheet.

    What lists of validations say of themselves stays where both versions have one.
    """
    shells = []
    for root in roots:
        listed = child(root, "dataValidations") if kind == "validation" else None
        for rule in rules(root, kind):
            remove(rule)
        if listed is not None and listed.getparent() is None:
            shells.append((root, listed))
    for root, listed in shells if len(shells) > 1 else ():
        for name in _SEATS:
            listed.attrib.pop(name, "")
        root.append(listed)

"""The rules of a sheet as a list: where each holds, and what of the file it is made of (F38).

A conditional format stands in an element for all rules of a range; what newer programs know of it,
or all of it, stands in an extension at the end of the sheet. Here it is one thing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lxml import etree

from backshop.formats.package.guard import Element

from ..book.element_order import SHEET_ORDER, insert_in_order
from ..book.workbook import child, children, like, local, truth
from ..syntax.address import Area, parse_area
from ..syntax.formula import shift

X14 = "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"
XM = "http://schemas.microsoft.com/office/excel/2006/main"
TWIN_EXT = "{B025F937-C7B1-47D3-B67F-A62EFF666E3E}"
FORMULAS = frozenset({"formula", "formula1", "formula2", "f"})
_EMPTIED = frozenset(
    (*("conditionalFormatting", "conditionalFormattings", "dataValidations", "ext", "extLst"),)
)

RuleKind = Literal["condition", "validation"]
_LISTS: dict[RuleKind, str] = {
    "condition": "conditionalFormattings",
    "validation": "dataValidations",
}
_EXTENSIONS: dict[RuleKind, str] = {
    "condition": "{78C0D931-6437-407d-A8EE-F0AAD7539E65}",
    "validation": "{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One conditional format or validation of a sheet."""

    kind: RuleKind
    element: Element  # what it says
    holder: Element  # what names its cells: the element itself, or one around several rules
    areas: tuple[Area, ...]
    twin: Element | None = None  # more about it, for newer programs
    is_extended: bool = False  # only newer programs know it
    is_pivot: bool = False  # it belongs to a pivot table

    @property
    def where(self) -> str:
        """Its cells."""
        return ", ".join(str(area.lines or area) for area in self.areas)

    @property
    def place(self) -> str:
        """Its cells as the file writes them."""
        listed = child(self.holder, "sqref")
        said = listed.text if listed is not None else self.holder.get("sqref")
        return " ".join((said or "").split())

    @property
    def priority(self) -> int:
        """Which of several conditional formats comes first: the smaller number."""
        said = self.element.get("priority") or ""
        return int(said) if said.isdigit() else 0

    def meets(self, area: Area) -> bool:
        """Whether it holds for a cell of an area."""
        return any(one.meets(area) for one in self.areas)


def rules(root: Element, kind: RuleKind) -> list[Rule]:
    """Return the rules of a sheet, conditional formats in the order in which they are applied."""
    if kind == "validation":
        return list(_validations(root))
    return sorted(_conditions(root), key=lambda one: one.priority)


def _conditions(root: Element) -> Iterator[Rule]:
    extended = list(_extended(root, "condition"))
    twins = {item.get("id"): item for holder in extended for item in _own(holder)}
    used: set[Element] = set()
    for holder in children(root, "conditionalFormatting"):
        areas = parsed(holder.get("sqref") or "")
        for item in _own(holder):
            number = twin_id(item)
            twin = twins.pop(number, None) if number else None
            used |= {twin} if twin is not None else set()
            is_pivot = truth(holder.get("pivot"))
            yield Rule("condition", item, holder, areas, twin, is_pivot=is_pivot)
    for holder in extended:
        for item in _own(holder):
            if item not in used:
                is_pivot = truth(holder.get("pivot"))
                yield Rule("condition", item, holder, _said(holder), None, True, is_pivot)


def _own(holder: Element) -> list[Element]:
    return children(holder, "cfRule")


def _validations(root: Element) -> Iterator[Rule]:
    for item in children(child(root, "dataValidations"), "dataValidation"):
        yield Rule("validation", item, item, parsed(item.get("sqref") or ""))
    for item in _extended(root, "validation"):
        yield Rule("validation", item, item, _said(item), is_extended=True)


def _extended(root: Element, kind: RuleKind) -> Iterator[Element]:
    for listed in extensions(root, kind):
        yield from (item for item in listed if child(item, "sqref") is not None)


def extensions(root: Element, kind: RuleKind) -> list[Element]:
    """Return the lists of rules that only newer programs know."""
    return [
        listed
        for ext in children(child(root, "extLst"), "ext")
        for listed in children(ext, _LISTS[kind])
    ]


def twin_element(rule: Element) -> Element | None:
    """Return the element with the number under which newer programs know more about a rule."""
    listed = children(child(rule, "extLst"), "ext")
    return next((item for ext in listed for item in children(ext, "id")), None)


def twin_id(rule: Element) -> str | None:
    """Return the number under which newer programs know more about a rule."""
    item = twin_element(rule)
    return ((item.text or "").strip() or None) if item is not None else None


def forget_twins(holder: Element) -> None:
    """Let copied rules stand for themselves: what newer programs know is of their models."""
    for rule in _own(holder):
        named = twin_element(rule)
        if named is not None:
            ext = named.getparent()
            assert ext is not None, "it stands in an extension"
            ext.remove(named)
            _take_out(ext)


def _said(holder: Element) -> tuple[Area, ...]:
    listed = child(holder, "sqref")
    return parsed((listed.text or "") if listed is not None else "")


def parsed(text: str) -> tuple[Area, ...]:
    """Return the rectangles of a list of places."""
    return tuple(area for one in text.split() if (area := parse_area(one)) is not None)


def corner(areas: Sequence[Area]) -> tuple[int, int]:
    """Return the cell for which the formulas of a rule are written."""
    return min(area.row1 for area in areas), min(area.col1 for area in areas)


# --- changing -----------------------------------------------------------------------------------


def remove(rule: Rule) -> None:
    """Take a rule out of a sheet, with the lists that nothing is left in then."""
    for item in (rule.element, rule.twin):
        if item is not None:
            _take_out(item)


def _take_out(item: Element) -> None:
    """Take an element out, and those around it as far as these are empty then."""
    parent = item.getparent()
    if parent is None:
        return
    parent.remove(item)
    count_validations(parent)
    left = [one for one in parent if isinstance(one.tag, str) and local(one) != "sqref"]
    if not left and local(parent) in _EMPTIED:
        _take_out(parent)


def count_validations(listed: Element) -> None:
    """Let a list of validations say how many there are."""
    if local(listed) == "dataValidations":
        listed.set("count", str(len(children(listed, "dataValidation"))))


def restrict(rule: Rule, left: Sequence[Area]) -> None:
    """Let a rule hold for some of its cells only; without any it goes."""
    if not left:
        remove(rule)
        return
    rows, cols = (b - a for a, b in zip(corner(rule.areas), corner(left), strict=True))
    rule = _alone(rule)
    for item in (rule.element, rule.twin):
        if item is None:
            continue
        for formula in item.iter(etree.Element):
            if local(formula) in FORMULAS and formula.text:
                formula.text = shift(formula.text, rows, cols)
    place = " ".join(map(str, left))
    holders = [rule.holder, rule.twin.getparent() if rule.twin is not None else None]
    for holder in holders:
        if holder is not None:
            set_place(holder, place)


def add(root: Element, rule: Element, place: str, attributes: Mapping[str, str]) -> None:
    """Add a conditional format for some cells; `attributes` are those beside its cells."""
    holder = etree.Element(like(root, "conditionalFormatting"), {**attributes, "sqref": place})
    holder.append(rule)
    insert_in_order(root, holder, SHEET_ORDER)


def add_validation(root: Element, rule: Element) -> None:
    """Add a validation, which names its cells itself."""
    listed = child(root, "dataValidations")
    if listed is None:
        listed = etree.Element(like(root, "dataValidations"))
        insert_in_order(root, listed, SHEET_ORDER)
    listed.append(rule)
    count_validations(listed)


def add_extended(root: Element, kind: RuleKind, rule: Element, place: str) -> None:
    """Add a rule, or more about one, to the list for newer programs."""
    listed = _extended_list(root, kind)
    if kind == "validation":
        listed.append(rule)
        count_validations(listed)
        return
    holder = etree.SubElement(listed, f"{{{X14}}}conditionalFormatting", nsmap={"xm": XM})
    holder.append(rule)
    etree.SubElement(holder, f"{{{XM}}}sqref").text = place


def _extended_list(root: Element, kind: RuleKind) -> Element:
    found = next(iter(extensions(root, kind)), None)
    if found is not None:
        return found
    outer = child(root, "extLst")
    if outer is None:
        outer = etree.Element(like(root, "extLst"))
        insert_in_order(root, outer, SHEET_ORDER)
    ext = etree.Element(like(root, "ext"), nsmap={"x14": X14}, uri=_EXTENSIONS[kind])
    outer.insert(0, ext)
    return etree.SubElement(ext, f"{{{X14}}}{_LISTS[kind]}")


def free_number(root: Element, key: str) -> str:
    """Return a number under which newer programs find more about a rule; no other has it."""
    taken = {item.get("id") for item in root.iter("{*}cfRule")}
    for at in range(len(taken) + 1):
        digest = hashlib.sha256(f"{key} {at}".encode()).hexdigest().upper()
        pieces = (digest[:8], digest[8:12], f"4{digest[12:15]}", f"8{digest[15:18]}", digest[18:30])
        number = "{" + "-".join(pieces) + "}"
        if number not in taken:
            return number
    raise AssertionError("more numbers than rules were tried")


def set_place(holder: Element, place: str) -> None:
    """Let an element name other cells."""
    listed = child(holder, "sqref")
    if listed is not None:
        listed.text = place
    else:
        holder.set("sqref", place)


def _alone(rule: Rule) -> Rule:
    """Return a rule that shares the element with its cells with no other."""
    if rule.kind == "validation":
        return rule
    for item in (rule.element, rule.twin):
        holder = item.getparent() if item is not None else None
        if item is None or holder is None or len(_own(holder)) < 2:
            continue
        new = etree.Element(
            holder.tag, {str(k): str(v) for k, v in holder.attrib.items()}, nsmap=_prefixes(holder)
        )
        for key in [key for key in new.attrib if str(key).endswith("}uid")]:
            del new.attrib[key]
        listed = child(holder, "sqref")
        new.append(item)
        if listed is not None:
            etree.SubElement(new, listed.tag).text = listed.text
        holder.addnext(new)
    own = rule.element.getparent()
    assert own is not None, "a rule stands in an element"
    return Rule(
        rule.kind, rule.element, own, rule.areas, rule.twin, rule.is_extended, rule.is_pivot
    )


def _prefixes(element: Element) -> dict[str, str]:
    return {prefix: uri for prefix, uri in element.nsmap.items() if prefix}


def outside(areas: Iterable[Area], holes: Iterable[Area]) -> list[Area]:
    """Return what of some rectangles lies in none of others."""
    left = list(areas)
    for hole in holes:
        left = [piece for one in left for piece in one.without(hole)]
    return left

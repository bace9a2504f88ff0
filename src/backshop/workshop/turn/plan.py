"""The plan of a turn: a checklist taken in leniently, kept canonically (W11.4–W11.8, W11.15).

A plan is text with item lines in it. Models write such lines in many ways; here they become one
form, so that a plan that looks like a plan is executed and nothing is done twice. Marks are not
part of a plan: they follow from item results and are drawn in by `render`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from backshop.base.limits import (
    ITEM_LABEL_MAX_CHARS,
    ITEM_REASON_MAX_CHARS,
    ITEM_REPORT_MAX_BYTES,
    PLAN_ITEMS_MAX,
    PLAN_MAX_BYTES,
)

from ..cut import cut_bytes

DASH = " — "
_TITLE = "# Execution Plan"
_DESCRIPTION_MAX_CHARS = 600  # of items in a plan that is too long, and of amendments
_ITEM = re.compile(r"^ {0,8}[-*+][ \t]*\[([ xX!])\][ \t]*(?:(\d{1,9})[.)](?:[ \t]+|$))?(.*)$")
_EMPHASISED = re.compile(r"^(\*\*|__)(?=\S)((?:(?!\1).)+?)(?<=\S)\1(?: ?[:—–-] ?| *$)(.*)$")
_COLON_INSIDE = re.compile(r"^(\*\*|__)(?=\S)((?:(?!\1).)+?):\1 ?(.*)$")
_OWN_NUMBER = re.compile(r"^\d{1,9}[.)] +(?=\S)")
_COUNT = re.compile(r"^[ \t]*<!--[ \t]*original_count[ \t]*:[ \t]*(\S*?)[ \t]*-->[ \t]*$")
_FAILED = " [Failed: "
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^`]*$")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$")
_NONE = re.compile(r"^[\W_]*none[\W_]*$", re.IGNORECASE)
_ITEMS_NONE = re.compile(r"^[\W_]*items[\W_]+none[\W_]*$", re.IGNORECASE)


class Status(StrEnum):
    """What became of an item; the value is its mark."""

    PENDING = " "
    DONE = "x"
    FAILED = "!"


@dataclass(frozen=True, slots=True)
class Mark:
    """An item's status, and for a failed one why, in one line."""

    status: Status = Status.PENDING
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to do. `label` names it in progress and reports, `description` says more."""

    number: int
    label: str
    description: str = ""

    @property
    def text(self) -> str:
        """What stands behind the number."""
        return f"{self.label}{DASH}{self.description}" if self.description else self.label

    @property
    def line(self) -> str:
        """The canonical line of the item while it is pending."""
        return f"- [ ] {self.number}. {self.text}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Items 1..N and the text they stand in, every one of them pending there."""

    items: tuple[Item, ...]
    original_count: int
    text: str


@dataclass(frozen=True, slots=True)
class Intake:
    """What a plan text came to.

    `problem` is what the model is asked to repair; `plan` is then what can be used if it does
    not. `answer_only` says that the plan itself says there is nothing to do. `left_out` counts
    items that did not fit.
    """

    plan: Plan | None = None
    problem: str | None = None
    answer_only: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Amended:
    """A plan after an item's report: what was added, how many did not fit, the rest of the text."""

    plan: Plan
    added: tuple[Item, ...] = ()
    dropped: int = 0
    report: str = ""


def intake(text: str) -> Intake:
    """Return the plan a model wrote, or what is wrong with it (W11.5, W11.7, W11.8)."""
    lines = [_unemphasised(line) for line in _without_fence(_lines(text))]
    plan = _canonical(lines)
    if not plan.items:
        if _says_none(lines):
            return Intake(answer_only=True)
        return Intake(problem=_no_items())
    size = len(plan.text.encode())
    if len(plan.items) <= PLAN_ITEMS_MAX and size <= PLAN_MAX_BYTES:
        return Intake(plan=plan)
    short = _shortened(plan)
    problem = (
        f"The plan has {len(plan.items)} items and {size} bytes; at most {PLAN_ITEMS_MAX} items "
        f"and {PLAN_MAX_BYTES} bytes can be executed. Group them and write the whole plan again "
        f"in the same form."
    )
    return Intake(plan=short, problem=problem, left_out=len(plan.items) - len(short.items))


def read(text: str) -> tuple[Plan, dict[int, Mark]]:
    """Return a stored or imported plan with its marks; position counts, not numbers (W11.6)."""
    lines = _lines(text)
    marks: dict[int, Mark] = {}
    for line in lines:
        found = _item(line)
        if found is not None:
            box, _, failure = found
            marks[len(marks) + 1] = Mark(Status(box.lower()), failure if box == "!" else "")
    plan = _canonical(lines)
    count = next((one[1] for line in lines if (one := _COUNT.match(line))), "")
    is_number = re.fullmatch(r"[1-9][0-9]{0,5}", count)
    original = min(int(count), PLAN_ITEMS_MAX) if is_number else len(plan.items)
    return _with_count(plan, original), marks


def render(plan: Plan, statuses: Mapping[int, Mark]) -> str:
    """Return the canonical text with the marks drawn in (W11.4)."""
    by_number = {item.number: item for item in plan.items}
    found = []
    for line in plan.text.split("\n"):
        number = _number(line)
        item = by_number.get(number) if number is not None else None
        found.append(line if item is None else _marked(item, statuses.get(item.number, Mark())))
    return "\n".join(found)


def amend(plan: Plan, report_text: str) -> Amended:
    """Return the plan with the new items a report asks for, and the report without them (W11.15).

    Nothing that is there changes; labels that are there already are ignored; what goes beyond
    twice the original count is dropped and counted.
    """
    wished, rest = _wishes(report_text)
    known = {_folded(item.label) for item in plan.items}
    new: list[Item] = []
    dropped = 0
    size = len(plan.text.encode())
    for label, description in wished:
        if _folded(label) in known:
            continue
        known.add(_folded(label))
        item = Item(len(plan.items) + len(new) + 1, label, description[:_DESCRIPTION_MAX_CHARS])
        size += len(item.line.encode()) + 1
        if item.number > 2 * plan.original_count or size > 2 * PLAN_MAX_BYTES:
            dropped += 1
        else:
            new.append(item)
    report = cut_bytes(rest.strip(), ITEM_REPORT_MAX_BYTES)
    return Amended(_extended(plan, new), tuple(new), dropped, report)


def one_line(text: str, max_chars: int = ITEM_REASON_MAX_CHARS) -> str:
    """Return text as one line that fits behind an item (W11.12)."""
    plain = " ".join(text.split()).replace("[Failed:", "(Failed:")
    return plain if len(plain) <= max_chars else f"{plain[: max_chars - 1].rstrip()}…"


def _lines(text: str) -> list[str]:
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return [_spaces(line).rstrip() for line in plain.strip("\n").split("\n")]


def _spaces(line: str) -> str:
    """Return the line with tabs at its beginning as four spaces."""
    rest = line.lstrip(" \t")
    return line[: len(line) - len(rest)].expandtabs(4) + rest


def _without_fence(lines: list[str]) -> list[str]:
    said = [index for index, line in enumerate(lines) if line.strip()]
    if len(said) < 2:
        return lines
    first, last = said[0], said[-1]
    opened = _FENCE.match(lines[first])
    closes = opened is not None and lines[last].strip() == opened[1]
    return lines[first + 1 : last] if closes else lines


def _item(line: str) -> tuple[str, str, str] | None:
    """Return box, text and failure note of an item line, or None."""
    found = _ITEM.match(line)
    if found is None:
        return None
    text, failure = f" {' '.join(found[3].split())}", ""
    while text.endswith("]") and _FAILED in text:
        text, _, note = text.rpartition(_FAILED)
        failure = failure or note[:-1]
    return (found[1], text.strip(), failure) if text.strip("—–- ") else None


def _unemphasised(line: str) -> str:
    """Return an item line whose label is set in bold with the words of the label alone.

    Answers name an item by its words, and people read them in places that draw no Markdown.
    """
    found = _ITEM.match(line)
    bold = found and (_COLON_INSIDE.match(found[3]) or _EMPHASISED.match(found[3]))
    if not found or not bold:
        return line
    label, rest = _OWN_NUMBER.sub("", bold[2].strip()), bold[3].strip()
    return line[: found.start(3)] + (f"{label}{DASH}{rest}" if rest else label)


def _split(text: str) -> tuple[str, str]:
    """Return label and description; what a label cannot hold stays in the description."""
    label, _, description = text.partition(DASH)
    label = label.strip() or description.strip()
    description = description.strip() if label != description.strip() else ""
    if len(label) > ITEM_LABEL_MAX_CHARS:
        cut = label.rfind(" ", ITEM_LABEL_MAX_CHARS // 2, ITEM_LABEL_MAX_CHARS + 1)
        cut = cut if cut > 0 else ITEM_LABEL_MAX_CHARS
        rest = label[cut:].strip()
        label = label[:cut].strip()
        description = DASH.join(part for part in (rest, description) if part)
    return label, description


def _canonical(lines: Iterable[str]) -> Plan:
    items: list[Item] = []
    out: list[str] = []
    for line in lines:
        found = _item(line)
        if found is not None:
            items.append(Item(len(items) + 1, *_split(found[1])))
            out.append(items[-1].line)
        elif not _COUNT.match(line):
            out.append(line)
    body = "\n".join(out).strip("\n")
    if not any(line.startswith("# ") for line in out):
        body = f"{_TITLE}\n\n{body}".rstrip("\n")
    return _with_count(Plan(tuple(items), len(items), body), len(items))


def _with_count(plan: Plan, original: int) -> Plan:
    lines = plan.text.split("\n")
    body = lines[1:] if _COUNT.match(lines[0]) else lines
    head = f"<!-- original_count: {original} -->"
    return replace(plan, original_count=original, text="\n".join((head, *body)))


def _number(line: str) -> int | None:
    """Return the number of a canonical item line, or None."""
    found = _ITEM.match(line)
    return int(found[2]) if found and found[2] and _item(line) else None


def _marked(item: Item, mark: Mark) -> str:
    reason = one_line(mark.reason) if mark.status is Status.FAILED else ""
    note = f"{_FAILED}{reason}]" if reason else ""
    return f"- [{mark.status.value}] {item.number}. {item.text}{note}"


def _says_none(lines: list[str]) -> bool:
    inside = False
    for line in lines:
        if _ITEMS_NONE.match(line):
            return True
        heading = _HEADING.match(line)
        if heading:
            inside = heading[1].strip(" :*_").lower() == "items"
        elif inside and line.strip():
            if _NONE.match(line):
                return True
            inside = False
    return False


def _no_items() -> str:
    return (
        "The plan has no item lines. Write it again with a section `## Items` that has one line "
        "for each piece of work, in this form:\n"
        f"- [ ] 1. Label{DASH}Description\n"
        "If nothing is to be changed, write `none` under `## Items`."
    )


def _shortened(plan: Plan) -> Plan:
    """Return the first items that fit, without the text around them (W11.8)."""
    head = f"{_TITLE}\n\n## Items"
    size = len(head.encode()) + 40  # the line with the count
    kept: list[Item] = []
    for item in plan.items[:PLAN_ITEMS_MAX]:
        short = replace(item, description=item.description[:_DESCRIPTION_MAX_CHARS].rstrip())
        size += len(short.line.encode()) + 1
        if size > PLAN_MAX_BYTES:
            break
        kept.append(short)
    text = "\n".join((head, *(item.line for item in kept)))
    return _with_count(Plan(tuple(kept), len(kept), text), len(kept))


def _wishes(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the pending item lines of a report, and the report without them."""
    wished: list[tuple[str, str]] = []
    rest: list[str] = []
    for line in _lines(text):
        found = _item(_unemphasised(line))
        if found is not None and found[0] == " ":
            wished.append(_split(found[1]))
        else:
            rest.append(line)
    return wished, "\n".join(rest)


def _folded(label: str) -> str:
    return " ".join(label.casefold().split())


def _extended(plan: Plan, new: list[Item]) -> Plan:
    if not new:
        return plan
    lines = plan.text.split("\n")
    numbered = [at for at, line in enumerate(lines) if _number(line) is not None]
    end = numbered[-1] + 1 if numbered else len(lines)
    text = "\n".join((*lines[:end], *(item.line for item in new), *lines[end:]))
    return replace(plan, items=(*plan.items, *new), text=text)

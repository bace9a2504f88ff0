"""What is true of a turn, as data: drawn beside its answer, whatever the answer says (W11.20).

The rule takes evidence and gives facts; it asks no model, reads no disk and judges no sentence.
`told` is the one place where facts become words, for every door and for the model itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from backshop.base.labels import size_text
from backshop.bench.first_look import (
    ContentGone,
    FirstLook,
    HostAdded,
    plain,
    told_gone,
    told_hosts,
    told_unread,
)

from .change_count import Counted, changes_said

LISTED = 200
"""Files, refusals and edits that are kept by name; totals count on."""
SHOWN = 20
"""Lines of one kind that people are shown."""
OVER_CAP, NOT_HERE = "too_many_calls", "tool_not_available"
NOT_RUN = (OVER_CAP, NOT_HERE)  # nothing is wrong with the call itself

DONE, FAILED, UNFINISHED, WAITING = "done", "failed", "unfinished", "waiting"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanged:
    """One file that is another one since the turn; `change` is empty where nobody kept it."""

    path: str
    change: str = ""
    """`added`, `modified` or `deleted`."""
    counts: tuple[Counted, ...] = ()
    size_before: int | None = None
    size_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFact:
    """One item of the plan, or step of a workflow, that was begun."""

    number: int
    label: str
    status: str
    """`done`, `failed`, `unfinished`, or `waiting`: begun, and made again when the turn goes on."""
    reason: str = ""
    no_effect: bool = False
    """Whether it is done and wrote nothing."""
    kept: int = 0
    """Writes that stay although it is not done."""
    taken_back: int = 0
    """Writes that were taken back."""
    is_named: bool = False
    """Whether the answer names it although it is not done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRefused:
    """Calls that were to write and did not, for one reason."""

    tool: str
    reason: str
    path: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EditDropped:
    """A part of a write that came to nothing while the rest of it was made."""

    path: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotComputed:
    """Formulas that a write left without a value; later ones may have given them one."""

    path: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFacts:
    """Everything that can be said of a turn without believing anybody.

    `files` is None where the log does not tell. Items that were never begun are those that
    `items_total` counts and `items` does not hold.
    """

    files: tuple[FileChanged, ...] | None = None
    files_total: int = 0
    unit: str = "item"
    """What `items` are: each an `item` of a plan, a `step` of a workflow, or all the `work`."""
    items: tuple[ItemFact, ...] = ()
    items_total: int = 0
    refused: tuple[WriteRefused, ...] = ()
    dropped: tuple[EditDropped, ...] = ()
    not_computed: tuple[NotComputed, ...] = ()
    notes: tuple[str, ...] = ()
    """What else went otherwise than asked, in the engine's words."""
    missing: tuple[str, ...] = ()
    """Files the answer names and the workbench does not have."""
    unchanged: tuple[str, ...] = ()
    """Files the answer names and the turn did not change."""
    hosts: tuple[HostAdded, ...] = ()
    """Hosts that changed files name and did not before (W11.26)."""
    hosts_more: int = 0
    """New hosts beyond those that are listed."""
    unasked: tuple[str, ...] = ()
    """Changed files that the request does not name (W11.27)."""
    unasked_total: int = 0
    gone: tuple[ContentGone, ...] = ()
    """What changed files have less of (W11.28)."""
    unread: tuple[str, ...] = ()
    """Changed files that could not be looked into."""
    left_out: int = 0
    """Changed files beyond those that are looked into."""

    @property
    def done(self) -> int:
        """How many items are done."""
        return sum(one.status == DONE for one in self.items)


# ---------------------------------------------------------------- words


def told(facts: TurnFacts) -> tuple[str, ...]:
    """Return the facts as lines, one sentence each; the only words there are for them."""
    return (*first(facts), *plain(_files(facts)), *besides(facts))


def first(facts: TurnFacts) -> tuple[str, ...]:
    """Return the lines that stand before all others: new hosts, unasked files, what is gone."""
    look = FirstLook(unread=facts.unread, left_out=facts.left_out)
    lines = told_hosts(facts.hosts, facts.hosts_more)
    if facts.unasked:
        total = max(facts.unasked_total, len(facts.unasked))
        lines.append(f"Not named in the request: {_names(facts.unasked, total)}.")
    return plain((*lines, *told_gone(facts.gone), *told_unread(look)))


def besides(facts: TurnFacts) -> tuple[str, ...]:
    """Return the lines about everything but the changed files."""
    lines = _items(facts)
    lines += _shown((_refused(one) for one in facts.refused), "more refusals")
    lines += _shown((f"Not made in {one.path}: {one.what}" for one in facts.dropped), "more")
    lines += _shown(map(_uncomputed, facts.not_computed), "more")
    lines += facts.notes
    if facts.missing:
        lines.append(
            f"The answer names files this workbench does not have: {_names(facts.missing)}"
        )
    if facts.unchanged and facts.files:
        lines.append(f"The answer names files that were not changed: {_names(facts.unchanged)}")
    return plain(lines)


def _files(facts: TurnFacts) -> list[str]:
    if facts.files is None:
        return []
    if not facts.files:
        return ["No file was changed."]
    if len(facts.files) == 1 and facts.files_total <= 1:
        return [f"1 file was changed: {_file(facts.files[0])}"]
    more = facts.files_total - min(len(facts.files), SHOWN)
    lines = [f"{facts.files_total} files were changed:"]
    lines += [f"- {_file(one)}" for one in facts.files[:SHOWN]]
    return [*lines, f"- and {more} more"] if more > 0 else lines


def _file(one: FileChanged) -> str:
    about = [one.change] if one.change else []
    about += changes_said(one.counts)
    if sum(counted.count for counted in one.counts) > 1:
        about.append("counted write by write")  # a comparison counts each place once
    if not one.counts and one.size_after is not None:
        before = "" if one.size_before is None else f"{size_text(one.size_before)} → "
        about.append(f"{before}{size_text(one.size_after)}")
    return f"{one.path} ({', '.join(about)})" if about else one.path


def _items(facts: TurnFacts) -> list[str]:
    if not facts.items_total:
        return []
    if facts.unit == "work":  # whether files changed is said already; what went wrong is not
        told = (one for one in facts.items if one.status != DONE and _says_more(one))
        return [_item("work", one) for one in told]
    unit, total = facts.unit, facts.items_total
    counted = f"{total} {unit}{'' if total == 1 else 's'}"
    is_step = unit == "step"  # how many of them a workflow takes nobody knows
    lines = [
        f"{counted} begun, {facts.done} done." if is_step else f"{facts.done} of {counted} done."
    ]
    lines += _shown((_item(unit, one) for one in facts.items if _is_told(one)), "more")
    begun = len(facts.items)
    if begun < total:
        lines.append(f"{total - begun} {unit}{'s' if total - begun > 1 else ''} not begun.")
    return lines


def _says_more(one: ItemFact) -> bool:
    """Whether work that is not done has more to say than that no file was changed."""
    return one.status != UNFINISHED or bool(one.reason or one.kept or one.taken_back)


def _is_told(one: ItemFact) -> bool:
    return one.status != DONE or one.no_effect


def _item(unit: str, one: ItemFact) -> str:
    named = f"{unit} {one.number}, {one.label}" if one.label else f"{unit} {one.number}"
    named = "the work" if unit == "work" else named
    head = named[0].upper() + named[1:]
    if one.status == DONE:
        return f"{head}: changed nothing."
    head += "," * (bool(one.label) and unit != "work")
    if one.is_named:
        head = f"The answer names {named}: it"
    words = {
        FAILED: " failed",
        UNFINISHED: " is unfinished",
        WAITING: " is not done; it is made when the turn goes on",
    }
    said = head + words.get(one.status, f" is {one.status}")
    said += f" ({one.reason})" if one.reason else ""
    if one.kept:
        said += f"; {_writes(one.kept)} of it stay" + ("s" if one.kept == 1 else "")
    if one.taken_back:
        verb = "was" if one.taken_back == 1 else "were"
        said += f"; {_writes(one.taken_back)} of it {verb} taken back"
    if not one.kept and not one.taken_back and one.status != WAITING:
        said += "; it wrote nothing"
    return said + "."


def _writes(count: int) -> str:
    return f"{count} write{'' if count == 1 else 's'}"


def _refused(one: WriteRefused) -> str:
    where = f" to {one.path}" if one.path else ""
    verb = "was" if one.times == 1 else "were"
    if one.reason == OVER_CAP:
        return f"{_writes(one.times)}{where} {verb} not run: too many calls in one answer."
    if one.reason == NOT_HERE:
        return f"{_writes(one.times)}{where} {verb} not run: the turn could not write then."
    return f"{_writes(one.times)}{where} {verb} refused ({one.reason})."


def _uncomputed(one: NotComputed) -> str:
    noun = "formula" if one.count == 1 else "formulas"
    return f"A write left {one.count} {noun} without a computed value in {one.path}."


def _shown(lines: Iterable[str], more: str) -> list[str]:
    found = list(lines)
    rest = len(found) - SHOWN
    return [*found[:SHOWN], f"And {rest} {more}."] if rest > 0 else found


def _names(paths: Sequence[str], total: int = 0) -> str:
    rest = max(total, len(paths)) - SHOWN
    return ", ".join(paths[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


# ---------------------------------------------------------------- the rule


def capped(facts: TurnFacts) -> TurnFacts:
    """Return the facts as they are kept: lists bounded, totals true."""
    files = facts.files
    return replace(
        facts,
        files=None if files is None else files[:LISTED],
        files_total=len(files or ()),
        refused=grouped(facts.refused)[:LISTED],
        dropped=facts.dropped[:LISTED],
        not_computed=facts.not_computed[:LISTED],
        unasked=facts.unasked[:LISTED],
        unasked_total=len(facts.unasked),
    )


def grouped(refusals: Iterable[WriteRefused]) -> tuple[WriteRefused, ...]:
    """Return refusals of one tool on one file for one reason as one, in their first order."""
    found: dict[tuple[str, str, str], WriteRefused] = {}
    for one in refusals:
        key = (one.tool, one.path, one.reason)
        known = found.get(key)
        found[key] = one if known is None else replace(known, times=known.times + one.times)
    return tuple(found.values())

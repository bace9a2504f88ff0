"""What people should see first of a change: new hosts, what is gone, what is hidden (B13.10).

Pure: takes what files hold before and after, and gives what differs, and the words for it. It does
not ask who wrote them, or what they say about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

HOSTS_LISTED = 200
"""Places of new hosts that are kept by name; the hosts beyond them are counted."""
SHOWN = 20
"""Lines of one kind that people are shown."""
FEWER_MIN = 10
"""So many lines, cells or paragraphs fewer are told; or more than half, however few."""
_MANY = frozenset(("cell", "line", "line of notes", "paragraph"))
_WAYS = {
    "fetched": ("address fetched on opening", "addresses fetched on opening"),
    "link": ("link", "links"),
    "text": ("mention", "mentions"),
}
_HIDDEN = "hidden "
"""Begins what things are called that are there and that nobody sees."""
_PLURALS = {"line of notes": "lines of notes"}
_ALL = {"line": "every line", "cell": "every cell", "paragraph": "every paragraph"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAdded:
    """A host that a file names in a way it did not before; empty where it cannot be read."""

    host: str
    way: str
    """`fetched`, `link` or `text`: on opening, on a click, or by nobody but a reader."""
    path: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentGone:
    """Things of a file that are fewer than before, or the file itself (`what` is empty).

    Of what is hidden now (`hidden row`) there are more, and those are counted.
    """

    path: str
    what: str = ""
    count: int = 0
    before: int = 0
    names: tuple[str, ...] = ()
    """Of sheets and slides, which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """What is new and what is gone in a set of changed files."""

    hosts: tuple[HostAdded, ...] = ()
    hosts_more: int = 0
    """New hosts beyond those that are listed."""
    gone: tuple[ContentGone, ...] = ()
    unread: tuple[str, ...] = ()
    """Changed files that could not be looked into, or not wholly."""
    left_out: int = 0
    """Changed files beyond those that are looked into."""


# ---------------------------------------------------------------- the rule


def hosts_added(
    path: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[HostAdded, ...]:
    """Return the hosts a file names in a way it did not name them before."""
    known = {(host, way) for host, way, _ in before["hosts"]}
    return tuple(
        HostAdded(host=host, way=way, path=path, count=count)
        for host, way, count in after["hosts"]
        if (host, way) not in known
    )


def kept(hosts: Sequence[HostAdded]) -> tuple[tuple[HostAdded, ...], int]:
    """Return the places that are kept, what is fetched first, and how many hosts are beyond."""
    order = list(_WAYS)
    ranked = sorted(hosts, key=lambda one: order.index(one.way))
    named = {one.host for one in ranked[:HOSTS_LISTED]}
    return tuple(ranked[:HOSTS_LISTED]), len({one.host for one in hosts} - named)


def content_gone(
    path: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[ContentGone, ...]:
    """Return what a file has less of: any sheet, slide or table; of cells and lines many or most.

    Sheets and slides are compared by ids that renaming keeps; all else is counted.
    """
    found = []
    there = {(what, key) for what, key, _ in after["named"]}
    for kind in ("sheet", "slide"):
        own = [one for one in before["named"] if one[0] == kind]
        names = tuple(name for what, key, name in own if (what, key) not in there)
        if names:
            found.append(
                ContentGone(
                    path=path, what=kind, count=len(names), before=len(own), names=names[:SHOWN]
                )
            )
    for what, number in before["units"].items():
        if what.startswith(_HIDDEN):
            continue
        fewer = number - after["units"].get(what, 0)
        is_told = fewer >= FEWER_MIN or 2 * fewer > number if what in _MANY else fewer > 0
        if is_told:
            found.append(ContentGone(path=path, what=what, count=fewer, before=number))
    return (*found, *_content_hidden(path, before, after))


def _content_hidden(
    path: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[ContentGone]:
    """Yield what a file hides and did not hide before: sheets, slides, rows, columns."""
    there = {(what, key) for what, key, _ in before["named"]}
    named = [one for one in after["named"] if one[0] == "hidden sheet"]
    names = tuple(name for what, key, name in named if (what, key) not in there)
    if names:
        known = len(named) - len(names)
        yield ContentGone(
            path=path, what="hidden sheet", count=len(names), before=known, names=names[:SHOWN]
        )
    for what, number in after["units"].items():
        known = before["units"].get(what, 0)
        if what.startswith(_HIDDEN) and number > known:
            yield ContentGone(path=path, what=what, count=number - known, before=known)


# ---------------------------------------------------------------- words


def told_hosts(hosts: Sequence[HostAdded], more: int = 0) -> list[str]:
    """Return a line for each new host, those that are fetched on opening first."""
    by_host: dict[str, list[HostAdded]] = {}
    order = list(_WAYS)
    for one in sorted(hosts, key=lambda one: (order.index(one.way), one.host, one.path)):
        by_host.setdefault(one.host, []).append(one)
    lines = [_host(host, places) for host, places in by_host.items()]
    return _shown(lines, "new hosts", more)


def _host(host: str, places: Sequence[HostAdded]) -> str:
    where = [f"{_counted(one)} in {one.path}" for one in places[:SHOWN]]
    if len(places) > SHOWN:
        where.append(f"and {len(places) - SHOWN} more files")
    name = f"New host {_spelled(host)}" if host else "A new address that shows no host"
    return f"{name}: {', '.join(where)}."


def _spelled(host: str) -> str:
    """Return a host, with the name that is asked for where its letters can look like others."""
    if host.isascii():
        return host
    try:
        return f"{host} ({host.encode('idna').decode()})"
    except UnicodeError:
        return host


def _counted(one: HostAdded) -> str:
    return f"{one.count} {_WAYS[one.way][one.count != 1]}"


def told_gone(gone: Sequence[ContentGone]) -> list[str]:
    """Return a line for each file that is gone or has lost something."""
    by_path: dict[str, list[ContentGone]] = {}
    for one in gone:
        by_path.setdefault(one.path, []).append(one)
    deleted = [path for path, lost in by_path.items() if any(not one.what for one in lost)]
    lines = [f"Deleted: {path}." for path in deleted]
    for path, lost in by_path.items():
        if path in deleted:
            continue
        hidden = [one for one in lost if one.what.startswith(_HIDDEN)]
        missing = [one for one in lost if one not in hidden]
        if missing:
            lines.append(f"Gone from {path}: {', '.join(map(_lost, missing))}.")
        if hidden:
            lines.append(f"Hidden now in {path}: {', '.join(map(_hidden, hidden))}.")
    return _shown(lines, "files that lost something")


def _hidden(one: ContentGone) -> str:
    what = one.what.removeprefix(_HIDDEN)
    if one.names:
        return _lost(replace(one, what=what))
    return f"{one.count} {'more ' * bool(one.before)}{what}{'s'[: one.count != 1]}"


def _lost(one: ContentGone) -> str:
    plural = _PLURALS.get(one.what, f"{one.what}s")
    if one.names:
        listed = ", ".join(f"“{name}”" if one.what == "sheet" else name for name in one.names)
        rest = one.count - len(one.names)
        more = f" and {rest} more" if rest else ""
        return f"{one.what if one.count == 1 else plural} {listed}{more}"
    if one.count == one.before and one.what in _ALL:
        return f"{_ALL[one.what]} ({one.count})"
    return f"{one.count} of {one.before} {plural if one.before != 1 else one.what}"


def told_unread(look: FirstLook) -> list[str]:
    """Return what was not looked into, where there is any."""
    lines = [f"Not wholly looked into for new hosts: {path}." for path in look.unread]
    lines = _shown(lines, "files that were not wholly looked into")
    if look.left_out:
        lines.append(
            f"{look.left_out} more changed files were not looked into for new hosts and deletions."
        )
    return lines


def told(look: FirstLook) -> tuple[str, ...]:
    """Return all of it as lines, in the order they are to be read."""
    return plain(
        (*told_hosts(look.hosts, look.hosts_more), *told_gone(look.gone), *told_unread(look))
    )


def plain(lines: Iterable[str]) -> tuple[str, ...]:
    """Return lines in which no sign can end a line, hide, or turn the others around (W11.31)."""
    return tuple(
        "".join(sign if sign.isprintable() else "\ufffd" for sign in line) for line in lines
    )


def _shown(lines: Iterable[str], what: str, more: int = 0) -> list[str]:
    found = list(lines)
    rest = max(0, len(found) - SHOWN) + more
    return [*found[:SHOWN], f"And {rest} more {what}."] if rest else found

"""What the terminal says of a folder that a workbench follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backshop.base.labels import FOLDER_REASONS

from .door import clean, word

if TYPE_CHECKING:
    from backshop.bench import FolderState, FolderWritten

_SHOWN = 20  # paths in one list
_SIGNS = {"ADDED": "+", "MODIFIED": "~", "DELETED": "-", "UNREADABLE": "?"}


def state_lines(found: FolderState, bench: str, *, whole: bool = False) -> list[str]:
    """Say where a folder is and what stands between it and Published, and what to do."""
    lines = [f"folder   {clean(found.folder or found.name)}"]
    if found.reason is not None:
        lines.append(f"         {FOLDER_REASONS.get(found.reason, found.reason)}")
    if found.in_step:
        return [*lines, "         holds what is Published", *_skipped(found, whole=whole)]
    if found.to_write_count:
        lines.append(f"         {found.to_write_count} file(s) are still to be written:")
        lines += _listed(found.to_write, found.to_write_count, "~")
        lines.append(f"         `backshop folder write {word(bench)}` writes them")
    for one in found.conflicts:
        lines.append(f"         conflict at {clean(one.path)}: {IN_THE_WAY[one.became]}")
    if found.conflicts:
        lines.append(f"         `backshop folder settle {word(bench)} PATH --keep theirs|ours`")
    if found.outside_count:
        lines.append(f"         {found.outside_count} file(s) were changed by others:")
        for other in found.outside[:_SHOWN]:
            why = f" ({other.reason})" if other.reason else ""
            lines.append(f"         {_SIGNS[other.kind]} {clean(other.path)}{why}")
        lines += _more(found.outside_count)
        lines.append(f"         {_taking(found, bench)} takes them over")
    return [*lines, *_skipped(found, whole=whole)]


def left_alone_lines(found: FolderState, bench: str) -> list[str]:
    """Say where nothing was written because others had been there, and what to do about it."""
    if not found.outside_count:
        return []
    gone = [one.path for one in found.outside if one.kind == "DELETED"]
    what = f"others removed {len(gone)} file(s)" if gone else "others changed files"
    if 0 < len(gone) < found.outside_count:
        what += f" and changed {found.outside_count - len(gone)} more"
    lines = [
        f"{what} in the folder, and nothing is written over what others did:",
        f"  {_taking(found, bench)} takes that over into Published",
    ]
    if gone:
        place = word(found.folder or found.name)
        lines.append(
            f"  `backshop bench extract {word(bench)} {place} PATH…` puts removed files back"
        )
    return lines


def _taking(found: FolderState, bench: str) -> str:
    paths = " PATH…" if found.reason == "emptied" else ""  # all of it is not taken unnamed (B23.15)
    return f"`backshop folder take {word(bench)}{paths}`"


IN_THE_WAY = {
    "changed": "another program changed it",
    "missing": "it was deleted or renamed",
    "not_a_file": "a link, a folder or a device is in its place",
    "open": "another program has it open and may write into it",
}


def _skipped(found: FolderState, *, whole: bool) -> list[str]:
    if not found.skipped_count:
        return []
    lines = [f"         {found.skipped_count} passed over"]
    if not whole:
        return [f"{lines[0]}; `backshop folder show` names them"]
    told = [f"         {clean(one.path)}: {one.reason}" for one in found.skipped[:_SHOWN]]
    return [*lines, *told, *_more(found.skipped_count)]


def _listed(paths: tuple[str, ...], count: int, sign: str) -> list[str]:
    return [*(f"         {sign} {clean(path)}" for path in paths[:_SHOWN]), *_more(count)]


def _more(count: int) -> list[str]:
    return [f"         and {count - _SHOWN} more"] if count > _SHOWN else []


def written_lines(done: FolderWritten) -> list[str]:
    """Say what became of Published in the folder."""
    lines = [f"{len(done.written)} file(s) written into the folder"] if done.written else []
    if not done.is_atomic:
        lines.append("its file system cannot exchange files in one step; they were moved in turn")
    lines += [f"not written: {clean(one.path)}; {_way(one.reason)}" for one in done.in_the_way]
    lines += [f"not written: {clean(one.path)} ({one.reason})" for one in done.failed]
    lines += [f"never written into a folder: {clean(path)}" for path in done.kept_out]
    lines += [f"kept: meta/salvage/{clean(path)}" for path in done.salvaged]
    if done.left:
        lines.append(f"{done.left} file(s) are still to be written")
    if done.reason in FOLDER_REASONS:
        lines.append(FOLDER_REASONS[done.reason])
    if done.commit_message:
        lines += ["a commit message, if you want one:", *_indented(done.commit_message)]
    return lines


def _way(became: str) -> str:
    return IN_THE_WAY.get(became, became)


def _indented(text: str) -> list[str]:
    return [f"  {clean(line)}".rstrip() for line in text.splitlines()]

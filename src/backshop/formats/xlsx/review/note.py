"""What a person should know of a workbook beside its changes: macros, what is not read (F40)."""

from __future__ import annotations

import hashlib
import re

from backshop.formats.protocol import Source

from ..book.extent import opened

_MACROS = re.compile(r"(?i)vbaProject|vbaData|macrosheets/")


def review_notes(before: Source | None, after: Source | None) -> list[str]:
    """Return what is so of both versions and no change (F40.5)."""
    return [*_of_macros(before, after), *_of_origins(before, after)]


def _of_origins(before: Source | None, after: Source | None) -> list[str]:
    """Return what is not read of workbooks of other formats (F40.13)."""
    origins = (opened(side).book.origin for side in (before, after) if side is not None)
    return list(
        dict.fromkeys(
            f"Of a .{origin.format} file these are neither shown nor compared: "
            f"{', '.join(origin.not_read)}."
            for origin in origins
            if origin is not None
        )
    )


def _of_macros(before: Source | None, after: Source | None) -> list[str]:
    given = [side for side in (before, after) if side is not None]
    origins = [opened(side).book.origin for side in given]
    if any(origins):
        has_macros = any(one is not None and one.security.get("macros") for one in origins)
        return ["The workbook has macros. They were not run or compared."] if has_macros else []
    sides = [_macros(side) for side in given]
    if not any(sides):
        return []
    if len(sides) == 1:
        return ["The workbook has macros. They were not run."]
    old, new = sides
    if old == new:
        return ["The workbook has macros. They were not run, and they are as they were."]
    if not old:
        return ["The workbook has macros now and had none before. They were not run."]
    if not new:
        return ["The workbook had macros before and has none now."]
    return ["The workbook has macros, and they are not as they were. They were not run."]


def _macros(source: Source) -> dict[str, str]:
    """Return the parts of a workbook that hold macros, by their names: the hash of each."""
    package = opened(source).book.package
    found = (name for name in package.names if _MACROS.search(name) and not name.endswith(".rels"))
    return {name: hashlib.sha256(package.read(name)).hexdigest() for name in found}

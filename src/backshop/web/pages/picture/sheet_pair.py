"""The pages of a workbook: its visible sheets, before and after paired by what they are (U4.3)."""

from __future__ import annotations

from typing import Any

from backshop.bench import Cells, ChangeEntry, Diff, Differ, Viewer, views

from ..kit import Visit, tried


def sheet_names(visit: Visit, about: views.FileRequest, count: int) -> list[str]:
    """Return what the sheets that have a page are called; their numbers where that is not known."""
    found = _visible(visit, about)
    return found if len(found) == count else [f"Sheet {at + 1}" for at in range(count)]


def piece_told(name: str, index: int, count: int) -> str:
    """Return which piece of a sheet a picture shows."""
    return f"{name}, part {index + 1:,} of {count:,}" if count > 1 else name


def sheet_pairs(visit: Visit, entry: ChangeEntry) -> tuple[Diff | None, list[dict[str, Any]]]:
    """Return the sheets that have a page, each with its number on both sides.

    A sheet is known by its name, or by the one it had; without a difference there are no pairs.
    """
    bench_id = visit.params["bench_id"]
    about = views.ReviewPath(workbench_id=bench_id, path=entry.path)
    diff, _ = tried(visit, Differ.cell_diff, about)
    if diff is None or not isinstance(diff.body, Cells):
        return diff, []
    told = {one["sheet"]: one for one in diff.body.sheets}
    old = entry.old_path or entry.path
    now = _visible(visit, views.FileRequest(workbench_id=bench_id, path=entry.path, view="draft"))
    then = _visible(visit, views.FileRequest(workbench_id=bench_id, path=old, view="published"))
    pairs: list[dict[str, Any]] = []
    for at, name in enumerate(now):
        was = (told.get(name) or {}).get("renamed_from") or name
        before = then.index(was) if was in then else None
        kind = "added" if before is None else "changed" if name in told else "same"
        own = {"name": name, "was": was if was != name and before is not None else None}
        pairs.append({"index_before": before, "index_after": at, "kind": kind, **own})
    paired = {one["index_before"] for one in pairs}
    pairs += [
        {"index_before": at, "index_after": None, "kind": "removed", "name": name, "was": None}
        for at, name in enumerate(then)
        if at not in paired
    ]
    return diff, [{"index": index, **one} for index, one in enumerate(pairs)]


def _visible(visit: Visit, about: views.FileRequest) -> list[str]:
    mapped = tried(visit, Viewer.map, about)[0] or {}
    return [str(one["name"]) for one in mapped.get("sheets") or () if one["state"] == "visible"]

"""The pages of a workbook before and after: its visible sheets, paired by what they are (U4.3)."""

from __future__ import annotations

from typing import Any

from backshop.bench import Cells, ChangeEntry, Diff, Differ, Viewer, views

from ..kit import Visit, tried


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
    now = _visible(visit, entry.path, "draft")
    then = _visible(visit, entry.old_path or entry.path, "published")
    pairs: list[dict[str, Any]] = []
    for at, name in enumerate(now):
        was = (told.get(name) or {}).get("renamed_from") or name
        before = then.index(was) if was in then else None
        kind = "added" if before is None else "changed" if name in told else "same"
        pairs.append({"index_before": before, "index_after": at, "kind": kind})
    paired = {one["index_before"] for one in pairs}
    pairs += [
        {"index_before": at, "index_after": None, "kind": "removed"}
        for at in range(len(then))
        if at not in paired
    ]
    return diff, [{"index": index, **one} for index, one in enumerate(pairs)]


def _visible(visit: Visit, path: str, view: str) -> list[str]:
    about = views.FileRequest(workbench_id=visit.params["bench_id"], path=path, view=view)
    mapped = tried(visit, Viewer.map, about)[0] or {}
    return [str(one["name"]) for one in mapped.get("sheets") or () if one["state"] == "visible"]

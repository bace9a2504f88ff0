"""Differences as templates draw them: rows of text, cells, sections, slides, pictures (U4.2).

Takes what the review commands answer; decides nothing about what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from backshop.base.labels import count_text
from backshop.bench import Cells
from backshop.formats import CONTEXT_LINES, DiffLine, TableDiff, TextDiff, lines_said, seen_cell

Data = Mapping[str, Any]
EMU_PER_POINT = 12_700
_TITLE_PT, _BODY_PT = 40, 26  # where a slide does not say how large its text is
_LINES_MARKED = 2_000  # of one run, in a page without scripts
_FOLD_OVER = 2  # unchanged blocks in a row before the rest is folded


# ---------------------------------------------------------------- text


def text_rows(body: TextDiff, *, split: bool) -> list[dict[str, Any]]:
    """Return hunks with what lies folded before each, lines unified or in two columns."""
    found, end_old, end_new = [], 0, 0
    for hunk in body.hunks:
        start = hunk.new_start if hunk.new_count else hunk.new_start + 1
        old = hunk.old_start if hunk.old_count else hunk.old_start + 1
        lines = [_line(line) for line in hunk.lines]
        found.append(
            {
                "fold": {
                    "first": end_new + 1,
                    "count": start - end_new - 1,
                    "shift": end_old - end_new,
                },
                "lines": list(_changes(lines)),
                "pairs": list(_pairs(lines)) if split else [],
            }
        )
        end_old, end_new = old + hunk.old_count - 1, start + hunk.new_count - 1
    return found


def last_line(body: TextDiff) -> dict[str, int]:
    """Return where the text goes on after the last hunk: first new line, old minus new.

    `first` is 0 where it ends there: a hunk has less around it only at an end of the file.
    """
    if not body.hunks:
        return {"first": 1, "shift": 0}
    hunk = body.hunks[-1]
    new = hunk.new_start + hunk.new_count + (0 if hunk.new_count else 1)
    old = hunk.old_start + hunk.old_count + (0 if hunk.old_count else 1)
    around = [line.type for line in hunk.lines[-CONTEXT_LINES:]]
    goes_on = around == ["context"] * CONTEXT_LINES
    return {"first": new if goes_on else 0, "shift": old - new}


def _line(line: DiffLine) -> dict[str, Any]:
    return {
        "type": line.type,
        "sign": {"added": "+", "removed": "−"}.get(line.type, " "),
        "old": line.old_line,
        "new": line.new_line,
        "segments": list(segments(line.text, line.spans)),
        "truncated": line.truncated,
    }


def segments(text: str, spans: Iterable[Sequence[int]]) -> Iterator[tuple[str, bool]]:
    """Yield a text in pieces: each with whether it is one of the changed ones."""
    at = 0
    for start, end in spans:
        if at < start:
            yield text[at:start], False
        yield text[start:end], True
        at = end
    if at < len(text):
        yield text[at:], False


def _changes(lines: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Mark the first line of every run of changed lines: the places to jump to."""
    before = "context"
    for line in lines:
        yield {**line, "begins": line["type"] != "context" and before == "context"}
        before = line["type"]


def _pairs(lines: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Put removed lines beside the added ones that stand in their place."""
    gone: list[dict[str, Any]] = []
    come: list[dict[str, Any]] = []
    for line in [*lines, {"type": "context", "end": True}]:
        if line["type"] == "removed" and not come:
            gone.append(line)
        elif line["type"] == "added":
            come.append(line)
        else:
            for place, (left, right) in enumerate(zip_longest(gone, come)):
                yield {"left": left, "right": right, "begins": place == 0}
            gone, come = ([line], []) if line["type"] == "removed" else ([], [])
            if line["type"] == "context" and "end" not in line:
                yield {"left": line, "right": line, "begins": False}


# ---------------------------------------------------------------- tables and sheets


def table_rows(body: TableDiff) -> list[dict[str, Any]]:
    """Return changed rows of a delimited file with a cell for every column."""
    found = []
    for row in body.rows:
        before = {column: old for column, old, _ in row.cells}
        side = {column: new if row.kind == "added" else old for column, old, new in row.cells}
        is_changed = row.kind == "changed"
        cells = [
            {
                "value": value if is_changed else side.get(name) or "",
                "before": before.get(name) if is_changed else None,
                "changed": is_changed and name in before,
            }
            for name, value in zip_longest(body.columns, row.values, fillvalue="")
        ]
        at = row.after_row or row.before_row
        found.append({"kind": row.kind, "cells": cells, "number": at})
    return found


def cell_list(body: Cells) -> list[dict[str, Any]]:
    """Return every changed cell that is listed, with its sheet, in words."""
    return [
        {"sheet": sheet["sheet"], **shown_cell(cell)}
        for sheet in body.sheets
        for cell in sheet["cells"]
    ]


def line_list(body: Cells) -> list[dict[str, Any]]:
    """Return rows and columns that came or went, with the words for them."""
    return [
        {**one, "words": lines_said(one), "held": _held(one), "is_added": one["kind"] == "inserted"}
        for one in body.lines
    ]


def _held(lines: Data) -> str:
    """Return what removed lines held; what came into others is told cell by cell."""
    texts = list(lines["texts"]) if lines["kind"] == "removed" else []
    count = lines["cell_count"]
    is_all = count is not None and count <= len(texts)
    return ", ".join(texts if is_all or not texts else [*texts, "…"])


def marked_lines(lines: Sequence[Data], sheet: str, axis: str) -> dict[int, tuple[str, str]]:
    """Return the lines of a sheet, from 1, that came or before which some went, in words."""
    found: dict[int, tuple[str, str]] = {}
    for one in lines:
        if one["sheet"] != sheet or one["axis"] != axis:
            continue
        if one["kind"] == "removed":
            words = f"{lines_said(one)} before this"
            found.setdefault(one["beside"], ("removed", words))
        else:
            places = range(one["at"], one["at"] + min(one["count"], _LINES_MARKED))
            found |= dict.fromkeys(places, ("added", "inserted"))
    return found


def following_in_words(body: Cells) -> str:
    """Return how many formulas and names only follow lines, in a sentence."""
    told = body.following
    if not told or not told["count"]:
        return ""
    more = "" if told["is_all"] else "At least "
    return f"{more}{count_text(told['count'], 'formula or name', 'formulas and names')} follow."


def shown_cell(cell: Data) -> dict[str, Any]:
    """Return what changed in a cell: what it held, what it holds, and how it looks since then."""
    is_look = cell["kind"] == "style"
    unknown = "(not stored)" if cell["kind"] == "result" else ""
    seen = None if is_look else seen_cell(cell)
    before, after = seen.sides if seen else ("", "")
    return {
        "cell": cell["cell"],
        "was": cell.get("cell_before"),
        "kind": cell["kind"],
        "what": cell["what"],
        "change": _cell_change(cell),
        "before": unknown if before is None else before,
        "after": unknown if after is None else after,
        "formula": cell.get("formula"),
        "formats": list(cell.get("formats") or ()),
        "results": seen and seen.results,
        "plain": seen and seen.plain,
    }


def _cell_change(cell: Data) -> str:
    """Say whether a cell came, went or became another; a look or a result only changes."""
    if cell["kind"] in ("style", "result"):
        return "changed"
    if cell.get("before") is None:
        return "added"
    return "removed" if cell.get("after") is None else "changed"


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Return how many cells changed in which way: `302 values, 300 results`."""
    words = {"style": "look"}
    told = [(number, words.get(kind, kind)) for kind, number in counts.items()]
    return ", ".join(count_text(number, word) for number, word in told if number)


def column_name(index: int) -> str:
    """Return the letters of a column counted from 0."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


# ---------------------------------------------------------------- documents


def folded(blocks: Sequence[Data]) -> list[dict[str, Any]]:
    """Group blocks: changed ones with a neighbour on each side, the rest folded away."""
    near = {
        place + step
        for place, block in enumerate(blocks)
        if block["kind"] != "same"
        for step in (-1, 0, 1)
    }
    groups: list[dict[str, Any]] = []
    for place, block in enumerate(blocks):
        is_folded = bool(near) and place not in near
        if not groups or groups[-1]["folded"] != is_folded:
            groups.append({"folded": is_folded, "blocks": []})
        groups[-1]["blocks"].append(block)
    for group in groups:
        if group["folded"] and len(group["blocks"]) <= _FOLD_OVER:
            group["folded"] = False
    return groups


# ---------------------------------------------------------------- slides


def drawn_slide(
    positioned: Data | None, shapes: Sequence[Data], side: str, address: Callable[[str], str]
) -> dict[str, Any] | None:
    """Return a slide ready to be drawn: sizes in points, every shape with its mark.

    `side` is `before` or `after`; `shapes` are those of the difference, for the marks; `address`
    gives where a picture inside the file is to be had.
    """
    if positioned is None:
        return None
    size = positioned["slide_size"]
    width, height = size["width"] / EMU_PER_POINT, size["height"] / EMU_PER_POINT
    marks = {shape.get(f"index_{side}"): shape for shape in shapes}
    drawn = []
    for shape in positioned["positioned_shapes"]:
        bounds = shape["bounds"]
        mark = marks.get(shape["index"], {})
        x, y = bounds["x"] * width, bounds["y"] * height
        w, h = bounds["width"] * width, bounds["height"] * height
        turn = shape.get("rotation") or 0
        drawn.append(
            {
                "name": shape["name"],
                "x": round(x, 1),
                "y": round(y, 1),
                "width": round(max(w, 1), 1),
                "height": round(max(h, 1), 1),
                "turn": f"rotate({turn} {x + w / 2:.1f} {y + h / 2:.1f})" if turn else None,
                "kind": mark.get("kind", "same"),
                "what": mark.get("what", ()),
                "is_picture": bool(shape.get("has_image")),
                "picture": address(shape["image_ref"]) if shape.get("image_ref") else None,
                "paragraphs": [
                    *(_paragraph(shape, block) for block in shape["text_blocks"]),
                    *(_plain(line) for line in shape["drawn"]),
                ],
                "table": shape.get("table"),
            }
        )
    return {
        "width": round(width, 1),
        "height": round(height, 1),
        "shapes": drawn,
        "missing": positioned["missing_features"],
    }


def _plain(line: str) -> dict[str, Any]:
    """Return a line of a chart or diagram, which is told and not drawn."""
    return {"runs": [{"text": line}], "size": _BODY_PT, "level": 0, "bullet": False}


def _paragraph(shape: Data, block: Data) -> dict[str, Any]:
    kind = shape.get("placeholder_type") or ""
    usual = _TITLE_PT if "itle" in kind else _BODY_PT
    runs = [
        {
            "text": run["text"],
            "bold": run.get("bold"),
            "italic": run.get("italic"),
            "underline": run.get("underline"),
        }
        for run in block["runs"]
    ]
    sizes = [run["size_pt"] for run in block["runs"] if run.get("size_pt")]
    return {
        "runs": runs or [{"text": block["text"]}],
        "size": max(sizes, default=usual),
        "level": block["level"],
        "bullet": shape.get("placeholder_type") in ("body", "obj") and bool(block["text"]),
    }

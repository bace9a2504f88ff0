"""What a review adds to a diff: all that changed and the diff does not show (B12.22).

An entry says where (`place`, with its `index` where that is a slide, sheet or section), `what`
changed there, and both as one line of `text`; `part` is the part of the package, where it is one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..cell_range import column_name

Data = Mapping[str, Any]
Entry = dict[str, Any]

_WHAT_MAX = 20
_HEADING_MAX_CHARS = 40
_PACKAGING = "how the file is stored, or when and how often it was saved"


def entry(
    place: str,
    what: Sequence[str],
    *,
    kind: str = "changed",
    place_kind: str = "file",
    index: int | None = None,
    part: str | None = None,
) -> Entry:
    """Return one entry; without `what` it says that something else changed there."""
    where = place if kind == "changed" else f"{place} {kind}"
    said = list(what[:_WHAT_MAX])
    if len(what) > _WHAT_MAX:
        said.append(f"{len(what) - _WHAT_MAX} more")
    return {
        "part": part,
        "place": place,
        "place_kind": place_kind,
        "index": index,
        "kind": kind,
        "what": said,
        "text": f"{where}: {'; '.join(said)}" if said else f"something else in {where}",
    }


def uncompared(reason: str) -> Entry:
    """Return the entry that says that a file was not compared to its end."""
    found = entry("the file", [reason], kind="uncompared")
    return {**found, "text": f"the rest of the file could not be compared ({reason})"}


def unsaid(found: Data, told: Collection[str], *, is_anything_told: bool) -> list[Entry]:
    """Return what a review has to add to its diff; never nothing where that is the same.

    `told` are the slides and sheets (`slide 3`, `sheet Q1`) whose own difference shows something.
    A part that changed where none does is named all the same.
    """
    rest = [dict(one) for one in found["rest"]]
    for one in found["described"]:
        is_own = one["place_kind"] in ("slide", "sheet")
        if (is_own and one["place"] not in told) or not (is_own or is_anything_told or rest):
            rest.append(dict(one))
    if rest or is_anything_told:
        return rest
    return [{**entry("packaging", [_PACKAGING]), "kind": "packaging"}]


def in_sections(sections: Sequence[Data]) -> list[Entry]:
    """Return what lines do not show of compared sections: looks, links, pictures."""
    found = []
    for section in sections:
        words = [word for block in section["blocks"] for word in _of_block(block)]
        if words:
            heading = str(section["heading"] or "")
            cut = "…" if len(heading) > _HEADING_MAX_CHARS else ""
            place = f"section “{heading[:_HEADING_MAX_CHARS]}{cut}”"
            said = list(dict.fromkeys(words))
            found.append(entry(place, said, place_kind="section", index=section["index"]))
    return found


def _of_block(block: Data) -> list[str]:
    cells = [cell for row in block.get("rows", ()) for cell in row["cells"]]
    return [*block["formats"], *(word for cell in cells for word in cell.get("formats", ()))]


def in_slides(slides: Sequence[Data]) -> list[Entry]:
    """Return what lines do not show of compared slides: places, looks, facts."""
    found = []
    for slide in slides:
        if slide["kind"] in ("added", "removed"):
            continue
        what = [*(["moved"] if slide["moved"] else []), *slide["facts"]]
        for shape in slide["shapes"]:
            said = [one for one in shape["what"] if one not in ("text", "link")]
            what += [f"{shape['name']} ({', '.join(said)})"] if said else []
            what += shape["facts"]
        if what:
            at = slide["index_after"]
            found.append(entry(f"slide {at + 1}", what, place_kind="slide", index=at))
    return found


def in_cells(sheets: Sequence[Data], lines: Sequence[Data] = ()) -> list[Entry]:
    """Return lines that came or went, other looks, and values of another kind: text hides them."""
    found = [entry(f"sheet {one['sheet']}", [lines_said(one)], place_kind="sheet") for one in lines]
    for one in sheets:
        counts = one.get("counts")  # of all, where not all are listed
        looks = sum(cell["kind"] == "style" for cell in one["cells"])
        count = looks if counts is None else counts.get("style", 0)
        what = [f"looks of cells ({count})"] if count else []
        turned = sum(_is_turned(cell) for cell in one["cells"])
        if turned:  # the number 1 and the text 1
            more = " or more" if one.get("cell_count", 0) > len(one["cells"]) else ""
            what.append(f"kinds of values ({turned}{more})")
        if what:
            found.append(entry(f"sheet {one['sheet']}", what, place_kind="sheet"))
    return found


def _is_turned(cell: Data) -> bool:
    is_same = cell["kind"] != "style" and cell["before"] == cell["after"]
    return is_same and cell["before"] is not None


def lines_said(lines: Data) -> str:
    """Return rows or columns that came or went in words: `rows 5-7 inserted`."""
    first, last = lines["at"], lines["at"] + lines["count"] - 1
    is_row = lines["axis"] == "rows"
    ends = [str(at) if is_row else column_name(at) for at in (first, last)]
    word = lines["axis"].removesuffix("s") if first == last else lines["axis"]
    return f"{word} {'-'.join(dict.fromkeys(ends))} {lines['kind']}"


def in_pages(pages: Sequence[Data], *, is_anything_told: bool) -> list[Entry]:
    """Return what lines do not show of compared pages; never nothing where those are the same."""
    found = [
        entry(
            f"page {one['index_after'] + 1}", ["look"], place_kind="page", index=one["index_after"]
        )
        for one in pages
        if one["kind"] == "look"
    ]
    return found if found or is_anything_told else [entry("the file", [])]


def without_facts(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries that do not stand among the facts of a slide already."""
    return [one for one in entries if one["place_kind"] != "slide" or not one["what"]]


def told_sheets(sheets: Sequence[Data], lines: Sequence[Data] = ()) -> tuple[str, ...]:
    """Return the sheets whose own difference shows something; another name alone is not one."""
    own = {one["sheet"] for one in lines}
    shown = (
        one
        for one in sheets
        if one["added"]
        or one["removed"]
        or one["sheet"] in own
        or one.get("cell_count", len(one["cells"]))
    )
    return tuple(f"sheet {one['sheet']}" for one in shown)


def told_slides(slides: Sequence[Data]) -> tuple[str, ...]:
    """Return the slides of the new side whose own difference shows something."""
    changed = (one for one in slides if one["kind"] in ("changed", "added"))
    return tuple(f"slide {one['index_after'] + 1}" for one in changed)

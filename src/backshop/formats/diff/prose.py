"""What differs between two documents, section by section, as text to be read (B12.5).

Takes what `extract_document` gives for both sides. Paragraphs are aligned by their text; those that
are versions of one another show the words that went and came, those with the same text say what
changed in their look. Where a link leads is said whenever that is new, whatever else changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import Any

from .alignment import aligned, changes
from .word_diff import Words, marked

_LOOKS = {
    "bold": "bold",
    "italic": "italic",
    "underline": "underline",
    "size_pt": "size",
    "font_name": "font",
    "color": "colour",
    "highlight": "highlight",
}
_LAYOUT = {
    "list": ("list", ""),
    "indent_left_in": ("left indent", " in"),
    "indent_right_in": ("right indent", " in"),
    "indent_first_line_in": ("first line indent", " in"),
    "space_before_pt": ("space before", " pt"),
    "space_after_pt": ("space after", " pt"),
    "line_height_pt": ("line height", " pt"),
    "line_spacing": ("line spacing", ""),
    "page_break_before": ("page break before", ""),
}
_LOOK_MAX_CHARS = 20_000  # of one paragraph; looks of longer ones are not compared
_FORMATS_MAX = 20
_NEAR = 50  # blocks looked through for another version of one: all of them take too long
_QUOTE_MAX_CHARS = 40
_BESIDE = ("pictures", "tracked", "comments")
_ASIDE = ("[header] ", "[footer] ", "[footnote] ", "[endnote] ")
ASIDE_HEADING = "Headers, footers and notes"

Data = Mapping[str, Any]
Block = Data


def diff_documents(
    before: Data | None,
    after: Data | None,
    old_lines: Sequence[str] = (),
    new_lines: Sequence[str] = (),
) -> list[Data]:
    """Return the sections of both sides, paired, each with its blocks.

    Headers, footers and notes make up a last section where they differ: the `asides` of a document,
    or those among its lines (of `extract_lines`) where it has none.
    """
    old, new = _sections(before), _sections(after)
    pairs = _recut(_recut(_pairs(old, new), OLD), NEW)
    found = [_section(index, *pair) for index, pair in enumerate(pairs)]
    sides = [
        {"heading": ASIDE_HEADING, "level": 1, "blocks": _aside(document, lines)}
        for document, lines in ((before, old_lines), (after, new_lines))
    ]
    aside = _section(len(found), (None, sides[0]), (None, sides[1]))
    return found if aside["kind"] == "same" else [*found, aside]


def _sections(document: Data | None) -> list[Data]:
    if document is None:
        return []
    return [
        {
            "heading": section["heading"],
            "level": section["level"],
            "blocks": list(_blocks(section)),
        }
        for section in document["sections"]
    ]


def _blocks(section: Data) -> Iterator[Block]:
    for place in section["order"]:
        if "p" in place:
            block = section["paragraphs"][place["p"]]
            yield {"type": "p", **block}
        else:
            block = section["tables"][place["t"]]
            whole = {name: block.get(name) for name in ("at", "look", "marks", *_BESIDE)}
            yield {"type": "t", **whole, "rows": list(_rows(block))}
        yield from map(_plain, block.get("drawn", ()))


def _rows(table: Data) -> Iterator[list[Block]]:
    """Yield the rows of a table; a cell is compared as a paragraph is."""
    looks = table.get("cells") or [()] * len(table["rows"])
    for texts, row in zip(table["rows"], looks, strict=True):
        cells = row or [{}] * len(texts)
        yield [
            {**_plain(str(text)), "runs": ({"text": str(text)},), **look}
            for text, look in zip(texts, cells, strict=True)
        ]


def _aside(document: Data | None, lines: Sequence[str]) -> list[Block]:
    if document is not None and "asides" in document:
        return [{**_plain(str(aside["text"])), **aside} for aside in document["asides"]]
    return [_plain(line) for line in lines if line.startswith(_ASIDE)]


def _plain(text: str) -> Block:
    return {"type": "p", "text": text, "style": None, "alignment": None, "runs": ()}


Numbered = tuple[int | None, Data | None]
Pair = tuple[Numbered, Numbered]
OLD, NEW = 0, 1  # the sides of a pair


def _pairs(old: list[Data], new: list[Data]) -> list[Pair]:
    """Pair sections by heading in order; what lies between two pairs goes by its place."""
    heads = [[f"{s['level']} {s['heading']}" for s in side] for side in (old, new)]
    pairs: list[Pair] = []
    for same, gone, come in aligned(*heads):
        pairs += [((a, old[a]), (b, new[b])) for a, b in same]
        for a, b in zip_longest(gone, come):
            alike = a is not None and b is not None and _alike(old[a], new[b])
            if alike:
                pairs.append(((a, old[a]), (b, new[b])))
                continue
            pairs += [((a, old[a]), (None, None))] if a is not None else []
            pairs += [((None, None), (b, new[b]))] if b is not None else []
    return pairs


def _recut(pairs: list[Pair], side: int) -> list[Pair]:
    """Divide sections of a side as the other does: a heading that came moved no paragraph."""
    found: list[Pair] = []
    at = 0
    while at < len(pairs):
        end = at + 1
        while end < len(pairs) and pairs[end][side][1] is None:
            end += 1
        found += _divided(pairs[at:end], side) if end - at > 1 else pairs[at:end]
        at = end
    return found


def _divided(run: list[Pair], side: int) -> list[Pair]:
    """Give each section that only the other side has what the first one has of its blocks."""
    number, whole = run[0][side]
    others = [pair[1 - side] for pair in run]
    if whole is None:
        return run
    blocks = whole["blocks"]
    theirs = [(at, block) for at, (_, one) in enumerate(others) if one for block in one["blocks"]]
    keys = [[_key(block) for block in blocks], [_key(block) for _, block in theirs]]
    begins: dict[int, int] = {}  # of each section its first block among those of the first
    last = (-1, -1, 0)
    begin = 0
    for a, b in (pair for same, _, _ in aligned(*keys) for pair in same):
        owner = theirs[b][0]
        begin = begin if last == (a - 1, b - 1, owner) else a
        last = (a, b, owner)
        if _text(blocks[a]).strip():  # an empty paragraph alone says not where it belongs
            begins.setdefault(owner, begin)
    parts = sorted((owner, begin) for owner, begin in begins.items() if owner)
    if not parts or not parts[0][1]:
        return run
    ends = [begin for _, begin in parts[1:]] + [len(blocks)]
    cut = {own: blocks[begin:end] for (own, begin), end in zip(parts, ends, strict=True)}
    own: list[Numbered] = [(number, {**whole, "blocks": blocks[: parts[0][1]]})]
    for at, (_, one) in enumerate(others[1:], 1):
        own.append((None, {**one, "blocks": cut[at]} if one and at in cut else None))
    both = zip(own, others, strict=True)
    return [(a, b) if side == OLD else (b, a) for a, b in both]


def _alike(old: Data, new: Data) -> bool:
    return Words.of(_whole(old)).is_like(Words.of(_whole(new)))


def _whole(section: Data) -> str:
    return "\n".join(_text(block) for block in section["blocks"])


def _text(block: Block) -> str:
    if block["type"] == "t":
        return "\n".join("\t".join(cell["text"] for cell in row) for row in block["rows"])
    return str(block["text"])


def _key(block: Block) -> str:
    return f"{block['type']} {_text(block)}"


def _section(index: int, before: Numbered, after: Numbered) -> Data:
    (at_old, old), (at_new, new) = before, after
    shown = new or old or {}
    blocks = _diff_blocks(old["blocks"] if old else [], new["blocks"] if new else [])
    number = sum(block["kind"] != "same" for block in blocks)
    kind = "added" if old is None else "removed" if new is None else "changed"
    if old is not None and new is not None and not number:
        kind = "same"
    return {
        "index": index,
        "index_before": at_old,
        "index_after": at_new,
        "heading": shown.get("heading"),
        "level": shown.get("level"),
        "kind": kind,
        "changes": number,
        "blocks": blocks,
    }


# --- blocks ------------------------------------------------------------------------------------


def _diff_blocks(old: Sequence[Block], new: Sequence[Block]) -> list[Data]:
    keys = [[_key(block) for block in side] for side in (old, new)]
    found: list[Data] = []
    for same, gone, come in aligned(*keys):
        found += [_placed(old[a], new[b]) for a, b in same]
        found += _replaced(old[gone.start : gone.stop], new[come.start : come.stop])
    return found


def _replaced(old: Sequence[Block], new: Sequence[Block]) -> Iterator[Data]:
    """Yield changed blocks: versions of one another together, the rest as gone and come."""
    words = [Words.of(_text(block)) for block in new]
    j = 0
    for block in old:
        own = Words.of(_text(block))
        near = range(j, min(j + _NEAR, len(new)))
        same_type = (at for at in near if new[at]["type"] == block["type"])
        twin = next((at for at in same_type if own.is_like(words[at])), None)
        if twin is None:
            yield _placed(block, None)
            continue
        yield from (_placed(None, one) for one in new[j:twin])
        yield _placed(block, new[twin])
        j = twin + 1
    yield from (_placed(None, one) for one in new[j:])


def _placed(old: Block | None, new: Block | None) -> Data:
    """Return what became of a block, and where it stands in the body of each side (B12.5)."""
    sides = {"at_before": (old or {}).get("at"), "at_after": (new or {}).get("at")}
    at = {name: place for name, place in sides.items() if place is not None}
    if old is not None and new is not None:
        return {**_pair(old, new), **at}
    block, kind = (new, "added") if new is not None else (old, "removed")
    assert block is not None, "a block stands on a side"
    return {**_one_sided(block, kind), **at}


def _one_sided(block: Block, kind: str) -> Data:
    if block["type"] == "t":
        sides = [(row, ()) if kind == "removed" else ((), row) for row in block["rows"]]
        rows = [_row(kind, *side) for side in sides]
        pictures = _pictures(*((block, {}) if kind == "removed" else ({}, block)))
        found = {"type": "t", "kind": kind, "rows": rows, "formats": pictures}
        return {**found, **_beside(block)}
    text = str(block["text"])
    pieces = [{"mark": kind, "text": text, **look} for text, look in _spans(block, 0, len(text))]
    old, new = (block, {}) if kind == "removed" else ({}, block)
    formats = [*_links(old, new), *_pictures(old, new)]
    return {
        "type": "p",
        "kind": kind,
        "style": block["style"],
        "pieces": pieces,
        "formats": formats,
        **_beside(block),
    }


def _beside(block: Block) -> Data:
    """Return the tracked changes and comments that stand in a block, where there are some."""
    return {name: block[name] for name in ("tracked", "comments") if block.get(name)}


def _pair(old: Block, new: Block) -> Data:
    if new["type"] == "t":
        return _table(old, new)
    pieces: list[Data] = []
    for piece in marked(str(old["text"]), str(new["text"])):
        side, at = (old, piece.old_at) if piece.mark == "removed" else (new, piece.new_at)
        for text, look in _spans(side, at, at + len(piece.text)):
            pieces.append({"mark": piece.mark, "text": text, **look})
    same_text = old["text"] == new["text"]
    formats = _formats(old, new)
    kind = "changed" if not same_text else "format" if formats else "same"
    return {
        "type": "p",
        "kind": kind,
        "style": new["style"],
        "pieces": pieces,
        "formats": formats,
        **_beside(new),
    }


def _table(before: Block, after: Block) -> Data:
    old, new = before["rows"], after["rows"]
    keys = [["\x1f".join(cell["text"] for cell in row) for row in side] for side in (old, new)]
    rows: list[Data] = []
    for same, gone, come in aligned(*keys):
        rows += [_row("same", old[a], new[b]) for a, b in same]
        for a, b in zip_longest((old[at] for at in gone), (new[at] for at in come)):
            kind = "added" if a is None else "removed" if b is None else "changed"
            rows.append(_row(kind, a or (), b or ()))
    formats = ["look of the table"] if before["look"] != after["look"] else []
    formats += [*_pictures(before, after), *_marks(before, after)]
    kinds = {row["kind"] for row in rows} - {"same"}
    kind = "changed" if kinds - {"format"} else "format" if kinds or formats else "same"
    return {"type": "t", "kind": kind, "rows": rows, "formats": formats, **_beside(after)}


def _row(kind: str, old: Sequence[Block], new: Sequence[Block]) -> Data:
    cells = [_cell(kind, a, b) for a, b in zip_longest(old, new)]
    if kind == "same" and any(cell["kind"] == "format" for cell in cells):
        kind = "format"
    return {"kind": kind, "cells": cells}


def _cell(kind: str, old: Block | None, new: Block | None) -> Data:
    """Return what became of a cell; `formats` says what changed in its look, where that did."""
    shown = new if new is not None else old or {}
    found = {"kind": kind, "text": shown["text"]}
    formats = _formats(old, new) if old and new else _links(old or {}, new or {})
    if kind not in ("added", "removed"):
        before = old["text"] if old else ""
        after = new["text"] if new else ""
        found = {"kind": "format" if formats else "same", "text": after}
        if before != after:
            pieces = [{"mark": one.mark, "text": one.text} for one in marked(before, after)]
            found = {"kind": "changed", "before": before, "text": after, "pieces": pieces}
    return {**found, "formats": formats} if formats else found


# --- looks -------------------------------------------------------------------------------------


def _spans(block: Block, start: int, end: int) -> list[tuple[str, Data]]:
    """Return a stretch of a paragraph cut where bold, italic or underline begin or end."""
    text = str(block["text"])
    looks = _looks(block)
    if looks is None:
        return [(text[start:end], {})] if end > start else []
    found: list[tuple[str, Data]] = []
    shown = [
        tuple(name for name in ("bold", "italic", "underline") if looks[at].get(name))
        for at in range(start, end)
    ]
    at = start
    for names, group in groupby(shown):
        length = len(list(group))
        found.append((text[at : at + length], {"look": names} if names else {}))
        at += length
    return found


def _looks(block: Block) -> list[Data] | None:
    """Return the look of every character, None where runs and text do not match up."""
    runs = block["runs"]
    text = str(block["text"])
    if len(text) > _LOOK_MAX_CHARS or "".join(run["text"] for run in runs) != text:
        return None
    return [run for run in runs for _ in range(len(run["text"]))]


def _formats(old: Block, new: Block) -> list[str]:
    """Name what changed in the look: the paragraph's, and of the same text the characters'."""
    found = [*_links(old, new), *_pictures(old, new), *_places(old, new), *_marks(old, new)]
    if old["text"] != new["text"]:
        return found
    found += _characters(old, new)
    if not found and old.get("look") != new.get("look"):
        found.append("other formatting")
    return found


def _pictures(old: Block, new: Block) -> list[str]:
    """Name every picture that came, went or was replaced by another, with its size."""
    sides = [list(side.get("pictures") or ()) for side in (old, new)]
    found = []
    for change in changes(*([_content(one) for one in side] for side in sides)):
        gone = sides[0][change.old_start : change.old_end]
        come = sides[1][change.new_start : change.new_end]
        for a, b in zip_longest(gone, come):
            shown = (_picture(one) if one else "none" for one in (a, b))
            found.append(f"picture: {' → '.join(shown)}")
    return found


def _content(picture: Data) -> str:
    return str(picture.get("sha256") or picture.get("target") or picture.get("rel_id"))


def _picture(picture: Data) -> str:
    name = str(picture.get("target") or "linked picture").rpartition("/")[2]
    size = f"{picture['size_bytes']} bytes" if "size_bytes" in picture else ""
    pixels = f"{picture['pixels']} pixels" if picture.get("pixels") else ""
    told = ", ".join(one for one in (pixels, size) if one)
    return f"{name} ({told})" if told else name


def _marks(old: Block, new: Block) -> Iterator[str]:
    """Name what changed in a block and shows neither in its words nor in its look."""
    before, after = old.get("marks") or {}, new.get("marks") or {}
    for word in dict.fromkeys((*before, *after)):
        if before.get(word) != after.get(word):
            yield f"{word} changed"
    sides = [[str(one["words"]) for one in side.get("tracked") or ()] for side in (old, new)]
    for change in changes(*sides):
        for words in sides[0][change.old_start : change.old_end]:
            yield f"tracked change settled or gone: {words}"
        for words in sides[1][change.new_start : change.new_end]:
            yield f"new tracked change: {words}"


def _places(old: Block, new: Block) -> Iterator[str]:
    """Yield what changed in the look of a paragraph as a whole."""
    for key in ("style", "alignment"):
        if old[key] != new[key]:
            yield f"{key}: {old[key] or 'default'} → {new[key] or 'default'}"
    before, after = old.get("layout") or {}, new.get("layout") or {}
    for key, (name, unit) in _LAYOUT.items():
        if before.get(key) != after.get(key):
            shown = (_shown(side.get(key), unit) for side in (before, after))
            yield f"{name}: {' → '.join(shown)}"


def _links(old: Block, new: Block) -> list[str]:
    """Name every link that leads elsewhere than before; all of them, however many."""
    sides = [
        [(str(link["address"]), str(link["text"])) for link in side.get("links") or ()]
        for side in (old, new)
    ]
    keys = [[f"{address}\n{text}" for address, text in side] for side in sides]
    found = []
    for change in changes(*keys):
        gone = sides[0][change.old_start : change.old_end]
        come = sides[1][change.new_start : change.new_end]
        for a, b in zip_longest(gone, come):
            words = (b or a or ("", ""))[1]
            leads = (one[0] if one else "none" for one in (a, b))
            found.append(f"link: {' → '.join(leads)}: {_quoted(words, 0, len(words))}")
    return found


def _characters(old: Block, new: Block) -> list[str]:
    """Name what changed in the look of characters of a text that is the same."""
    before, after = _looks(old), _looks(new)
    if before is None or after is None:
        return []
    found: list[str] = []
    text = str(new["text"])
    for key, name in _LOOKS.items():
        differs = [(a.get(key), b.get(key)) for a, b in zip(before, after, strict=True)]
        at = 0
        for (a, b), group in groupby(differs):
            length = len(list(group))
            if (a or None) != (b or None) and len(found) < _FORMATS_MAX:
                found.append(f"{name}: {_shown(a)} → {_shown(b)}: {_quoted(text, at, length)}")
            at += length
    return found


def _shown(value: Any, unit: str = "") -> str:
    words = {True: "on", False: "off", None: "default"}
    return words[value] if value is None or isinstance(value, bool) else f"{value}{unit}"


def _quoted(text: str, at: int, length: int) -> str:
    piece = text[at : at + length]
    return f"“{piece[:_QUOTE_MAX_CHARS]}{'…' if len(piece) > _QUOTE_MAX_CHARS else ''}”"

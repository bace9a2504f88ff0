"""What differs between two documents beyond their text, tables, headers and notes (B12.22)."""

from __future__ import annotations

from collections import Counter

from backshop.formats.diff import part_diff
from backshop.formats.package.guard import Element
from backshop.formats.package.package import Package
from backshop.formats.protocol import JsonObject, Source

from ..text import name as n
from ..text.picture import body_pictures
from ..text.source import Document

_BLOCKS = frozenset({"p", "tbl", "customXml"})
_SAID_MAX = 5  # comments quoted


def diff_rest(before: Source, after: Source) -> JsonObject:
    """Return what changed and the document's own difference does not tell."""
    old, new = (Document(Package.open(side)) for side in (before, after))
    shown = tuple({one.part for one in body_pictures(document)} for document in (old, new))
    rules = part_diff.Rules(
        place=_place,
        is_told=lambda part, is_new: part in shown[is_new],
        told=lambda pair: _told(pair, new.part),
        skipped_relations=frozenset({"image", "hyperlink"}),
    )
    return part_diff.Comparison(old.package, new.package, rules).run()


def _place(part: str, _: bool) -> part_diff.Place | None:
    if part.endswith("/document.xml"):
        return part_diff.Place("the document")
    return part_diff.Place(part_diff.part_words(part))


def _told(pair: part_diff.Pair, main: str) -> part_diff.Found | None:
    match part_diff.local(pair.new):
        case "document" if pair.new_name == main:
            return _of_main(pair)
        case "hdr" | "ftr" | "footnotes" | "endnotes":
            return part_diff.of_paragraphs(pair, _text)
        case "comments":
            return _of_comments(pair)
        case "styles":
            return _of_styles(pair)
        case "chartSpace":
            return part_diff.of_chart(pair)
    return None


def _text(paragraph: Element) -> str:
    return "".join(text.text or "" for text in paragraph.iter(n.T))


def _of_main(pair: part_diff.Pair) -> part_diff.Found:
    """Return what changed around the blocks: page set-up, bookmarks, content controls."""
    sides = []
    for root, targets in pair.sides:
        body = root.find(n.BODY)
        found: dict[str, Counter[str]] = {}
        for child in [*(one for one in root if one.tag != n.BODY), *(() if body is None else body)]:
            tag = part_diff.local(child)
            if tag in _BLOCKS:
                continue
            word = _AROUND.get(tag, "marks around paragraphs")
            skipped = frozenset({"sdtContent"}) if tag == "sdt" else _BLOCKS
            text = part_diff.printed(child, targets, skipped)
            if text:
                found.setdefault(word, Counter())[text] += 1
        sides.append(found)
    return part_diff.differing(sides[0], sides[1])


_AROUND = {"sectPr": "page set-up", "background": "background", "sdt": "content controls"}


def _of_comments(pair: part_diff.Pair) -> part_diff.Found:
    sides = []
    for root, targets in pair.sides:
        sides.append(
            {
                one.get(n.ID) or "": (_comment(one), part_diff.printed(one, targets))
                for one in root.iterchildren(n.w("comment"))
            }
        )
    old, new = sides
    found = [f"{words} added" for key, (words, _) in new.items() if key not in old]
    found += [f"{words} removed" for key, (words, _) in old.items() if key not in new]
    found += [f"{new[key][0]} changed" for key in new if key in old and new[key][1] != old[key][1]]
    said: part_diff.Found = [(words, 1) for words in found[:_SAID_MAX]]
    return [*said, ("more comments", len(found) - _SAID_MAX)] if len(found) > _SAID_MAX else said


def _comment(comment: Element) -> str:
    words = " ".join(_text(one) for one in comment.iter(n.P))
    return f"comment by {comment.get(n.w('author')) or 'unknown'} {part_diff.quoted(words)}"


def _of_styles(pair: part_diff.Pair) -> part_diff.Found:
    """Return the styles that changed, by the names people know."""
    sides = []
    for root, targets in pair.sides:
        found: dict[str, str] = {}
        for child in root:
            if child.tag == n.STYLE:
                label = child.find(n.NAME)
                words = label.get(n.VAL) if label is not None else child.get(n.STYLE_ID)
                found[f"{words or 'without name'}"] = part_diff.printed(child, targets)
            elif part_diff.local(child):
                word = {"docDefaults": "default formatting"}.get(
                    part_diff.local(child), "styles offered"
                )
                found[word] = part_diff.printed(child, targets)
        sides.append(found)
    old, new = sides
    changed: part_diff.Found = [(name, 1) for name in new if name in old and new[name] != old[name]]
    changed += [(f"{name} added", 1) for name in new if name not in old]
    return changed + [(f"{name} removed", 1) for name in old if name not in new]

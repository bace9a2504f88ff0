"""The bytes of one cell: written new, or changed in one respect with the rest kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from ..syntax.address import cell_name
from .sheet_xml import Grammar

_STYLE = re.compile(rb"\s+s\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_KIND = re.compile(rb"\s+t\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_LOOKS_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")


@dataclass(frozen=True, slots=True)
class Content:
    """What a cell is to hold. `text` is the number, string, `1` or `0`, error or formula."""

    kind: str  # blank number string boolean error formula copied result
    text: str = ""
    spill: int = 0  # of a formula that may fill its neighbours: its entry in the metadata part
    array: str = ""  # of a formula: "dynamic" or "fixed" when it is computed cell by cell
    ref: str = ""  # of an array formula over several cells: all of them
    cell: bytes = b""  # a whole cell as it stands elsewhere, written but for its style


EMPTY = Content("blank")
_KINDS = {"number": "n", "boolean": "b", "error": "e", "string": "str"}


def text_element(text: str, words: Grammar, name: str = "t") -> bytes:
    """Return a `<t>` with characters no reader may misread."""
    safe = escape(_LOOKS_ESCAPED.sub("_x005F_", text), quote=False).replace("\r", "&#13;")
    keep = ' xml:space="preserve"' if text != text.strip() or "\n" in text or "  " in text else ""
    p = words.prefix.decode()
    return f"<{p}{name}{keep}>{safe}</{p}{name}>".encode("utf-8", "surrogatepass")


def formula_element(text: str, words: Grammar, attributes: str = "") -> bytes:
    """Return an `<f>`."""
    p = words.prefix.decode()
    return f"<{p}f{attributes}>{escape(text, quote=False)}</{p}f>".encode()


def new_cell(row: int, col: int, style: int, content: Content, words: Grammar) -> bytes:
    """Return a whole cell; nothing when it would hold neither content nor style."""
    p = words.prefix
    head = b'<%sc r="%s"' % (p, cell_name(row, col).encode())
    if style:
        head += b' s="%d"' % style
    if content.cell:
        return restyled(content.cell, style)
    match content.kind:
        case "blank":
            return head + b"/>" if style else b""
        case "string":
            inner = b"<%sis>%s</%sis>" % (p, text_element(content.text, words), p)
            return b'%s t="inlineStr">%s</%sc>' % (head, inner, p)
        case "formula" if content.array:
            array = f' t="array" ref="{content.ref or cell_name(row, col)}"'
            element = formula_element(content.text, words, array)
            mark = b' cm="%d"' % content.spill if content.spill else b""
            return b"%s%s>%s</%sc>" % (head, mark, element, p)
        case "formula":
            return b"%s>%s</%sc>" % (head, formula_element(content.text, words), p)
    kind = _KINDS[content.kind]
    mark = b"" if kind == "n" else b' t="%s"' % kind.encode()
    return b"%s%s><%sv>%s</%sv></%sc>" % (head, mark, p, escape(content.text).encode(), p, p)


def restyled(raw: bytes, style: int) -> bytes:
    """Return a cell with another style and everything else as it was."""
    end = raw.index(b">")
    tag = _STYLE.sub(b"", raw[:end], count=1)
    slash = tag.endswith(b"/")
    tag = tag.removesuffix(b"/").rstrip()
    if style:
        tag += b' s="%d"' % style
    return tag + (b"/" if slash else b"") + raw[end:]


def result_cell(row: int, col: int, style: int, value: Content, words: Grammar) -> bytes:
    """Return a new cell that shows a value of a formula elsewhere."""
    look = b' s="%d"' % style if style else b""
    empty = b'<%sc r="%s"%s/>' % (words.prefix, cell_name(row, col).encode(), look)
    return recached(empty, value, words)


def recached(raw: bytes, value: Content | None, words: Grammar) -> bytes:
    """Return a cell with another stored result of a formula, or none."""
    end = raw.index(b">")
    tag, body = raw[:end], raw[end + 1 :]
    if tag.endswith(b"/"):
        if value is None:
            return raw
        tag, body = tag[:-1].rstrip(), b"</%sc>" % words.prefix
    tag = _KIND.sub(b"", tag, count=1)
    closing = body.rindex(b"</")
    inner = words.inline.sub(b"", words.value.sub(b"", body[:closing], count=1), count=1)
    if value is not None and value.kind != "blank":
        kind = _KINDS[value.kind]
        if kind != "n":
            tag += b' t="%s"' % kind.encode()
        inner += text_element(value.text, words, "v")
    return tag + b">" + inner + body[closing:]


def reformulated(raw: bytes, formula: bytes, words: Grammar) -> bytes:
    """Return a cell whose `<f>` is another, its stored result kept."""
    return words.formula.sub(lambda _: formula, raw, count=1)


def row_tag(raw: bytes, changes: dict[str, str | None]) -> bytes:
    """Return a row's start tag with attributes set or removed."""
    slash = raw.rstrip().endswith(b"/>")
    tag = raw.rstrip()[: -2 if slash else -1].rstrip()
    for name, value in changes.items():
        tag = re.sub(rb"\s+%s\s*=\s*(?:\"[^\"]*\"|'[^']*')" % name.encode(), b"", tag, count=1)
        if value is not None:
            tag += f' {name}="{value}"'.encode()
    return tag + (b"/>" if slash else b">")

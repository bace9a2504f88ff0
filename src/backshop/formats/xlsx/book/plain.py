"""A part of a workbook brought into the shape in which its text can be found by place."""

from __future__ import annotations

import re
from typing import TypeVar

from lxml import etree

from backshop.base.system.mapped_bytes import Content
from backshop.formats.package.guard import parse_xml
from backshop.formats.package.package import serialise

T = TypeVar("T", bound=Content)
_DECLARED = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._\-]+)[\"']")


def plain_xml(data: T) -> T | bytes:
    """Return a part in UTF-8 without CDATA, so that its text can be found by place."""
    declared = _DECLARED.match(data[:200].removeprefix(b"\xef\xbb\xbf"))
    wide = data[:2] in {b"\xff\xfe", b"\xfe\xff"} or b"\0" in data[:4]
    foreign = declared and declared[1].lower() not in {b"utf-8", b"us-ascii", b"ascii"}
    if wide or foreign or b"<![CDATA[" in data:
        return reserialised(data[:])
    return data


def reserialised(data: bytes) -> bytes:
    """Return a part without comments and CDATA that could be taken for rows."""
    root = parse_xml(data)
    for element in root.iter():
        text = element.text
        if isinstance(element, etree._Comment) and text and "<" in text:
            text = text.replace("<", "(")  # or it would be taken for rows
        element.text = text  # also turns CDATA into text
    return serialise(root)


def with_data(data: bytes) -> bytes:
    """Return a sheet that has the element its rows belong into."""
    root = parse_xml(data)
    namespace = etree.QName(root).namespace
    before = {"sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols"}
    children = [child for child in root if isinstance(child.tag, str)]
    at = sum(1 for child in children if etree.QName(child).localname in before)
    root.insert(at, etree.Element(f"{{{namespace}}}sheetData" if namespace else "sheetData"))
    return serialise(root)

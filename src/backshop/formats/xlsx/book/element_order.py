"""Puts elements where the schema wants them."""

from __future__ import annotations

from lxml import etree


def insert_in_order(root: etree._Element, element: etree._Element, order: tuple[str, ...]) -> None:
    """Put a child where the schema wants it."""
    name = etree.QName(element).localname
    before = set(order[: order.index(name) + 1])
    at = 0
    for index, item in enumerate(root):
        if isinstance(item.tag, str) and etree.QName(item).localname in before:
            at = index + 1
    root.insert(at, element)

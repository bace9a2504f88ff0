"""Drawings of our own as pages take them in: nothing in them runs or leads elsewhere (U8.4).

The writer of drawings makes no other markup (F43.3); this holds if it ever should.
"""

from __future__ import annotations

import re

_ATTRIBUTE = r"""\s+[A-Za-z][\w:-]*=(?:"[^"<>]*"|'[^'<>]*')"""
_TAG = re.compile(rf"<(/?)([A-Za-z]+)((?:{_ATTRIBUTE})*)\s*/?>")
_NAME = re.compile(r"""\s+([A-Za-z][\w:-]*)=(["'])""")
_TAGS = frozenset(
    ("svg", "g", "rect", "ellipse", "path", "text", "image", "title", "clipPath", "stop")
) | {"linearGradient"}
_DRAWING = "x y cx cy rx ry d width height viewBox points transform offset gradientTransform"
_LOOKS = (
    "fill stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin stop-color opacity "
    "fill-opacity stroke-opacity stop-opacity clip-path fill-rule preserveAspectRatio font-family "
    "font-size font-weight font-style text-decoration text-anchor"
)
_NAMES = frozenset(
    (*_DRAWING.split(), *_LOOKS.split(), "xmlns", "role", "aria-label", "id", "href", "xml:space")
)
_LEADS = re.compile(r"""\shref=(?!"data:image/(?:png|jpeg);base64,)|url\((?!#)""")


def is_inert(svg: str) -> bool:
    """Say whether a drawing consists of figures alone."""
    end = 0
    for tag in _TAG.finditer(svg):
        if "<" in svg[end : tag.start()] or tag[2] not in _TAGS:
            return False
        attributes = tag[3]
        if attributes:
            is_known = all(one[1] in _NAMES for one in _NAME.finditer(attributes))
            if not is_known or _LEADS.search(attributes):
                return False
        end = tag.end()
    return bool(end) and "<" not in svg[end:]

"""Puts a new package together from the texts of its parts, the same bytes every time (F16.3)."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO

from .package import CONTENT_TYPES, RELS_TYPE, TYPES_NS
from .relationship import RELS_NS

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3


def relationships(*lines: tuple[str, str]) -> str:
    """Return a part of relationships: the kind (`styles`) and the target of each, in order."""
    body = "".join(
        f'<Relationship Id="rId{at}" Type="{OFFICE_REL}{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(lines, start=1)
    )
    return f'{HEAD}<Relationships xmlns="{RELS_NS}">{body}</Relationships>'


def packed(
    types: Mapping[str, str], parts: Mapping[str, str], *, made_by_system: int = _UNIX
) -> bytes:
    """Return a package of parts; `types` are the content types of those that are no plain XML."""
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, kind in types.items()
    )
    listed = (
        f'{HEAD}<Types xmlns="{TYPES_NS}"><Default Extension="rels" ContentType="{RELS_TYPE}"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )
    return archived({CONTENT_TYPES: listed, **parts}, made_by_system)


def archived(members: Mapping[str, str | bytes], made_by_system: int = _UNIX) -> bytes:
    """Return a ZIP file of members in their order."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = made_by_system
            archive.writestr(entry, data)
    return buffer.getvalue()

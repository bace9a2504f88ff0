"""Small archives for tests, good and hostile."""

from __future__ import annotations

import hashlib
import zipfile
from io import BytesIO
from pathlib import Path

from backshop.formats import Source

TYPES = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
    b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    b'<Default Extension="xml" ContentType="application/xml"/>'
    b'<Default Extension="rels" '
    b'ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>'
)


def archive(members: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name, (2020, 2, 3, 4, 5, 6)), data, method)
    return buffer.getvalue()


def source(tmp_path: Path, name: str, data: bytes) -> Source:
    path = tmp_path / "blob"
    path.write_bytes(data)
    return Source(path, hashlib.sha256(data).hexdigest(), name)


def file_source(path: Path) -> Source:
    return Source(path, hashlib.sha256(path.read_bytes()).hexdigest(), path.name)

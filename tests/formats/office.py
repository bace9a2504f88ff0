"""Small office files for tests, and a short way to edit them."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

from docx import Document as WordDocument
from pptx import Presentation
from pptx.util import Inches

from backshop.formats import Applied, OpsRequest, Source
from backshop.formats import docx as docx_format
from backshop.formats import pptx as pptx_format

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def source(path: Path) -> Source:
    return Source(path, hashlib.sha256(path.read_bytes()).hexdigest(), path.name)


def edit(path: Path, *operations: dict[str, Any], **request: Any) -> tuple[Applied, Path]:
    """Apply operations to a copy beside `path`; return the result and the new file."""
    out = path.with_name("out-" + path.name)
    module: Any = docx_format if path.suffix == ".docx" else pptx_format
    base = source(path) if path.exists() else None
    if base is None:
        request = {"create_if_missing": True, **request}
    ask = OpsRequest(name=path.name, operations=list(operations), **request)
    applied: Applied = module.apply_ops(base, ask, out)
    return applied, out


def word(path: Path) -> Any:
    """Open a document with the second reader."""
    return WordDocument(str(path))


def map_of(path: Path) -> Any:
    """Return the whole map of a file as JSON."""
    module: Any = docx_format if path.suffix == ".docx" else pptx_format
    here = source(path)
    return module.get_map(here).to_json(here)


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def raw_members(path: Path) -> dict[str, bytes]:
    """Return the compressed bytes of every member, headers left out."""
    data = path.read_bytes()
    found = {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            at = entry.header_offset
            lengths = int.from_bytes(data[at + 26 : at + 28], "little") + int.from_bytes(
                data[at + 28 : at + 30], "little"
            )
            start = at + 30 + lengths
            found[entry.filename] = data[start : start + entry.compress_size]
    return found


def warnings(applied: Applied) -> dict[str, int]:
    found: dict[str, int] = {}
    for warning in applied.warnings:
        found[warning.code] = found.get(warning.code, 0) + warning.count
    return found


def with_body(path: Path, body: str, extra: dict[str, str] | None = None) -> Path:
    """Write a document whose body is the given WordprocessingML (prefix `w`)."""
    document = WordDocument()
    buffer = io.BytesIO()
    document.save(buffer)
    xml = (
        f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<w:document xmlns:w="{W}" '
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
        f'xmlns:v="urn:schemas-microsoft-com:vml"><w:body>{body}</w:body></w:document>'
    )
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, xml if name == "word/document.xml" else old.read(name))
        for name, content in (extra or {}).items():
            new.writestr(name, content)
    return path


def paragraph(*runs: str, style: str | None = None) -> str:
    """Return a paragraph element; a run may be given as `(properties)text`."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}{''.join(map(run, runs))}</w:p>"


def run(text: str) -> str:
    properties = ""
    if text.startswith("("):
        inner, _, text = text[1:].partition(")")
        properties = f"<w:rPr>{''.join(f'<w:{name}/>' for name in inner.split())}</w:rPr>"
    return f'<w:r>{properties}<w:t xml:space="preserve">{text}</w:t></w:r>'


def reworked(
    path: Path, edits: dict[str, tuple[str, str]], extra: dict[str, bytes | str] | None = None
) -> Path:
    """Write a copy with words of some members replaced, and members added."""
    made = path.with_name("reworked-" + path.name)
    with zipfile.ZipFile(made, "w") as new:
        for name, data in members(path).items():
            old, by = edits.get(name, ("", ""))
            assert old.encode() in data
            new.writestr(name, data.replace(old.encode(), by.encode()) if old else data)
        for name, content in (extra or {}).items():
            new.writestr(name, content)
    return made


def show(path: Path) -> Any:
    """Open a presentation with the second reader."""
    return Presentation(str(path))


def a_document_and_a_deck(folder: Path) -> dict[str, Path]:
    """Make a document and a deck, small ones with a heading and a table each."""
    document = WordDocument()
    document.add_heading("One", 1)
    document.add_paragraph("words")
    document.add_table(2, 2)
    document.save(str(folder / "a.docx"))
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[1]).shapes.title.text = "One"
    deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_table(
        1, 2, Inches(1), Inches(1), Inches(4), Inches(1)
    )
    deck.save(str(folder / "a.pptx"))
    return {kind: folder / f"a.{kind}" for kind in ("docx", "pptx")}

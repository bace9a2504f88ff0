"""Page pictures by the real LibreOffice: right pages, nothing fetched, nothing run (F29.7)."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import ClassVar

import pytest
from PIL import Image

from backshop.formats import FormatError, Formats, Source

from .archives import archive, file_source, source
from .office import show, with_body

pytestmark = pytest.mark.needs("libreoffice")

RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
ODF = "urn:oasis:names:tc:opendocument:xmlns"
MANIFEST = (
    f'<manifest:manifest xmlns:manifest="{ODF}:manifest:1.0"><manifest:file-entry '
    'manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
    "</manifest:manifest>"
)
RED = (255, 0, 0)


@pytest.fixture
def formats(tmp_path) -> Iterator[Formats]:
    with Formats(cache=tmp_path / "cache", plugins={}) as made:
        yield made


def drawn(formats: Formats, file: Source, index: int = 0) -> tuple[Image.Image, int]:
    preview = formats.render_page(file, index)
    assert preview.available, preview.reason
    return Image.open(BytesIO(preview.image or b"")).convert("RGB"), preview.page_count or 0


def colours(picture: Image.Image) -> set[object]:
    return {colour for _, colour in picture.getcolors(1 << 24) or ()}


@pytest.mark.rule("F29.7", "F29.8")
def test_every_slide_has_its_own_page_hidden_ones_too(tmp_path, formats):
    deck = tmp_path / "a.pptx"
    shown = show_slides(deck, ["FF0000", "00FF00", "0000FF"])
    shown.slides[1]._element.set("show", "0")
    shown.save(str(deck))

    pictures = [drawn(formats, file_source(deck), index) for index in range(3)]

    assert [count for _, count in pictures] == [3, 3, 3]
    middles = [
        picture.getpixel((picture.width // 2, picture.height // 2)) for picture, _ in pictures
    ]
    assert middles == [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    with pytest.raises(FormatError) as caught:
        formats.render_page(file_source(deck), 3)
    assert caught.value.reason == "bad_index"


@pytest.mark.rule("F29.7")
def test_a_hidden_sheet_has_no_page_and_shifts_none(tmp_path, formats):
    from openpyxl import Workbook
    from openpyxl.styles import PatternFill

    book = Workbook()
    sheets = [book.active, book.create_sheet("kept back"), book.create_sheet("last")]
    for sheet, fill in zip(sheets, ("FF0000", "00FF00", "0000FF"), strict=True):
        sheet["A1"].fill = PatternFill("solid", fgColor=fill)
    sheets[1].sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")

    pictures = [drawn(formats, file_source(tmp_path / "a.xlsx"), index) for index in range(2)]

    assert [count for _, count in pictures] == [2, 2]
    assert (255, 0, 0) in colours(pictures[0][0])
    assert (0, 0, 255) in colours(pictures[1][0])


def show_slides(path: Path, fills: list[str]):
    """Return a deck with one coloured rectangle on each slide."""
    from pptx import Presentation
    from pptx.dml.color import RGBColor

    deck = Presentation()
    for fill in fills:
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        box = slide.shapes.add_shape(1, 0, 0, deck.slide_width, deck.slide_height)
        box.fill.solid()
        box.fill.fore_color.rgb = RGBColor.from_string(fill)
    deck.save(str(path))
    return show(path)


@pytest.mark.needs("corpora")
@pytest.mark.rule("F29.7", "F29.8", "B12.7")
@pytest.mark.parametrize("name", ["invoice_template.docx", "notes.odt"])
def test_documents_are_drawn_as_pages(formats, corpora, name):
    picture, count = drawn(formats, file_source(corpora / "office-fixtures" / name))

    assert count == 1
    assert picture.height > picture.width
    assert len(colours(picture)) > 10  # letters, with their grey edges


class Listener(BaseHTTPRequestHandler):
    """Notes who calls."""

    calls: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.calls.append(self.path)
        self.send_error(404)

    do_HEAD = do_OPTIONS = do_PROPFIND = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def listening() -> Iterator[str]:
    Listener.calls.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def without_namespaces(tmp_path, monkeypatch) -> None:
    """A system that cannot cut a program off from the network."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "unshare").write_text("#!/bin/sh\nexit 1\n")
    (folder / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def relation(number: int, kind: str, target: str) -> str:
    return (
        f'<Relationship Id="rOut{number}" Type="{OFFICE}/{kind}" Target="{target}" '
        'TargetMode="External"/>'
    )


def picture(relation_id: str) -> str:
    pic = "http://schemas.openxmlformats.org/drawingml/2006/picture"
    return (
        '<w:p><w:r><w:drawing><wp:inline><wp:extent cx="2000000" cy="2000000"/><wp:docPr id="1" '
        f'name="x"/><a:graphic><a:graphicData uri="{pic}"><pic:pic xmlns:pic="{pic}"><pic:nvPicPr>'
        '<pic:cNvPr id="0" name="x"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>'
        f'<a:blip r:link="{relation_id}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>'
        '<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="2000000" cy="2000000"/></a:xfrm>'
        '<a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline>'
        "</w:drawing></w:r></w:p>"
    )


def reaching_docx(path: Path, url: str, secrets: Path) -> Path:
    """Return a document that links pictures, a part and a template, and asks for a file."""
    include = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>INCLUDETEXT '
        f'"{secrets / "secret.txt"}"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/>'
        '</w:r><w:r><w:t>old</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    body = picture("rOut1") + picture("rOut2") + '<w:altChunk r:id="rOut3"/>' + include
    plain = with_body(path.with_name("plain.docx"), body)
    rels = (
        relation(1, "image", url + "docx.png"),
        relation(2, "image", (secrets / "secret.png").as_uri()),
        relation(3, "aFChunk", url + "chunk.html"),
    )
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name).decode("latin-1")
            if name == "word/_rels/document.xml.rels":
                data = data.replace("</Relationships>", "".join(rels) + "</Relationships>")
            new.writestr(name, data.encode("latin-1"))
        template = relation(4, "attachedTemplate", url + "evil.dotm")
        new.writestr(
            "word/_rels/settings.xml.rels",
            f'<Relationships xmlns="{RELS}">{template}</Relationships>',
        )
    return path


def reaching_odt(url: str, secrets: Path) -> bytes:
    """Return a text that links sections, pictures and objects, and calls a script when opened."""
    names = "".join(
        f' xmlns:{short}="{ODF}:{long}:1.0"'
        for short, long in [
            *(("office", "office"), ("text", "text"), ("draw", "drawing")),
            *(("svg", "svg-compatible"), ("script", "script")),
        ]
    )
    text, image = (secrets / "secret.txt").as_uri(), (secrets / "secret.png").as_uri()
    sections = "".join(
        f'<text:section text:name="s{n}"><text:section-source xlink:href="{link}" '
        'xlink:type="simple"/><text:p>old</text:p></text:section>'
        for n, link in enumerate((text, url + "section.odt"))
    )
    frames = "".join(
        f'<draw:frame svg:width="5cm" svg:height="5cm"><draw:{kind} xlink:href="{link}" '
        'xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame>'
        for kind, link in [
            *(("image", url + "odt.png"), ("image", image), ("object", url + "object.ods")),
            ("floating-frame", text),
        ]
    )
    script = (
        "<office:scripts><office:event-listeners><script:event-listener "
        'script:language="ooo:script" script:event-name="dom:load" xlink:href="vnd.sun.star.script:'
        'x.py$main?language=Python&amp;location=user" xlink:type="simple"/>'
        "</office:event-listeners></office:scripts>"
    )
    content = (
        f'<office:document-content{names} xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'office:version="1.2">{script}<office:body><office:text>{sections}<text:p>{frames}'
        "</text:p></office:text></office:body></office:document-content>"
    )
    kind = b"application/vnd.oasis.opendocument.text"
    return archive({
        "mimetype": kind,
        "META-INF/manifest.xml": MANIFEST.encode(),
        "content.xml": content.encode(),
    })  # fmt: skip


@pytest.mark.usefixtures("without_namespaces")
@pytest.mark.rule("F29.7", "F4.4")
def test_no_link_is_followed_even_where_the_network_cannot_be_cut_off(tmp_path, formats, listening):
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "secret.txt").write_text("TOPSECRET")
    Image.new("RGB", (90, 90), RED).save(secrets / "secret.png")
    docx = reaching_docx(tmp_path / "a.docx", listening, secrets)

    pictures = [
        drawn(formats, file_source(docx))[0],
        drawn(formats, source(tmp_path, "a.odt", reaching_odt(listening, secrets)))[0],
    ]

    assert Listener.calls == []
    assert all(RED not in colours(picture) for picture in pictures)
    texts = [formats.read(file_source(kept)).text for kept in (tmp_path / "cache").rglob("*.pdf")]
    assert len(texts) == 2
    assert not any("TOPSECRET" in text for text in texts)


@pytest.mark.rule("F29.7", "B12.14")
def test_a_document_libreoffice_cannot_open_has_no_picture_and_a_reason(tmp_path, formats):
    broken = archive({"word/document.xml": b"<w:document><w:body>", "[Content_Types].xml": b"<a/>"})

    preview = formats.render_page(source(tmp_path, "a.docx", broken), 0)

    assert (preview.available, preview.reason) == (False, "render_failed")


@pytest.mark.rule("F29.13")
def test_blocks_of_a_document_stand_where_libreoffice_draws_their_words(tmp_path, formats):
    texts = [f"Paragraph{at:03} " + "says what happened in that week. " * 3 for at in range(60)]
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in texts)
    file = file_source(with_body(tmp_path / "a.docx", body))

    found = formats.landmarks(file) or {}
    apart = []
    for at, (page, x, y) in enumerate(found["begins"]):
        rects = (formats.page_layout(file, page) or {})["texts"]
        apart.append((at, min(abs(left - x) + abs(top - y) for left, top, *_ in rects)))
    pages = [one[0] for one in found["begins"]]

    assert found["page_count"] == pages[-1] + 1 > 1
    assert found["block_count"] == len(pages) == 60
    assert sorted(pages) == pages
    assert [at for at, far in apart if far > 12] == []  # pixels, between a line and its letters
    assert all(end[0] >= page for end, page in zip(found["ends"], pages, strict=True))

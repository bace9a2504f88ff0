"""A file of every kind that can be searched, each with the same word in all its corners."""

from __future__ import annotations

import io
import zipfile

import xlsxwriter
from docx import Document
from pptx import Presentation
from pptx.util import Inches

WORD = "Acme"
_ODT = "urn:oasis:names:tc:opendocument:xmlns:"
_NAMES = "".join(
    f' xmlns:{name}="{_ODT}{name}:1.0"' for name in ("office", "text", "table", "style")
)


def workbook() -> bytes:
    """Two sheets: the word in a cell, in text around it, and in a formula."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        first, second = book.add_worksheet("It's A"), book.add_worksheet("B")
        first.write_row(0, 0, ["Name", 5])
        first.write("C7", "sold to Acme, acme and ACMEs")
        second.write_formula("A1", '=IF(1=1,"Acme","x")', None, "Acme")
    return file.getvalue()


def document() -> bytes:
    """The word in a paragraph (in two runs), a table, the header and a comment."""
    made = Document()
    made.add_heading("Title", 1)
    paragraph = made.add_paragraph("Signed by Ac")
    run = paragraph.add_run("me Ltd.")
    run.bold = True
    table = made.add_table(2, 2)
    table.cell(1, 0).text = "for Acme"
    made.sections[0].header.paragraphs[0].text = "Acme confidential"
    made.add_comment(run, text="is this Acme?", author="Ada")
    return _saved(made)


def deck() -> bytes:
    """The word in a title, a table and the notes."""
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "About Acme"
    box = Inches(1), Inches(2), Inches(4), Inches(1)
    slide.shapes.add_table(1, 2, *box).table.cell(0, 1).text = "Acme"
    slide.notes_slide.notes_text_frame.text = "say Acme twice"
    return _saved(made)


def open_document() -> bytes:
    """The word in a paragraph and a table."""
    cell = "<table:table-cell><text:p>Acme</text:p></table:table-cell>"
    body = (
        "<text:p>From Acme.</text:p>"
        f"<table:table><table:table-row>{cell}</table:table-row></table:table>"
    )
    content = (
        f"<office:document-content{_NAMES}><office:body><office:text>{body}</office:text>"
        "</office:body></office:document-content>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content)
    return file.getvalue()


def pdf(*lines: str) -> bytes:
    """One page with some lines."""
    shown = " 0 -14 Td ".join(f"({line}) Tj" for line in lines)
    drawn = f"BT /F1 12 Tf 20 100 Td {shown} ET".encode()
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R "
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page + b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 6\n0000000000 65535 f \n" + table
    return made + head + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(made)


def files() -> dict[str, str | bytes]:
    """A file of every kind."""
    return {
        "a.md": "# Notes\nfor Acme\n",
        "b.csv": "name,amount\nAcme,3\n",
        "c.xlsx": workbook(),
        "d.docx": document(),
        "e.pptx": deck(),
        "f.pdf": pdf("Paid by Acme", "Ltd. today"),
        "g.odt": open_document(),
        "h.bin": b"Acme\0\1\2",
        "i.png": b"\x89PNG\r\n\x1a\n broken Acme",
    }


def _saved(made: object) -> bytes:
    file = io.BytesIO()
    made.save(file)  # type: ignore[attr-defined]  # a document or a presentation
    return file.getvalue()

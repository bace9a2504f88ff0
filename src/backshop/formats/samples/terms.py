"""A supplier's terms as a PDF of two pages, written by hand: text in a standard font."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_PAGES = (
    (
        "Terms of delivery and payment",
        "Corrie Weavers Ltd, for Tarn Outfitters, from 1 January 2025",
        "",
        "1. Orders",
        "Orders are binding once confirmed in writing. The smallest order is 2,000 euros.",
        "",
        "2. Delivery",
        "Goods leave our works within 15 working days of confirmation.",
        "For each full week of delay the buyer may deduct 2 percent of the price of the",
        "late goods, up to 10 percent in all.",
    ),
    (
        "3. Payment",
        "Invoices are due 30 days after delivery. 3 percent discount is granted for",
        "payment within 10 days.",
        "",
        "4. Returns",
        "Faulty goods are replaced free of charge if reported within 14 days.",
        "",
        "5. End",
        "Either side may end this agreement with three months' notice.",
    ),
)


def write_terms(path: Path) -> None:
    """Write the document."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for lines in _PAGES:
        content = _drawn(lines)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    path.write_bytes(_file(objects))


def _drawn(lines: Sequence[str]) -> bytes:
    """Return the drawing of a page: one line of text below the other."""
    escaped = (line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines)
    text = "\n".join(f"({line}) Tj T*" for line in escaped)
    return f"BT /F1 11 Tf 16 TL 72 770 Td\n{text}\nET".encode("ascii")


def _file(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)

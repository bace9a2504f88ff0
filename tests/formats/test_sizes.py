"""How much is read at a time, and how much room a large file takes."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from typing import Any

import pytest
from docx import Document as WordDocument
from pptx import Presentation

from backshop.bench.manifest.listing import INLINE_MAX_BYTES
from backshop.formats import FormatError, Formats, Limits, Selector

from .archives import file_source
from .xlsx.books import book


def made(path, data):
    path.write_bytes(data)
    return file_source(path)


@pytest.mark.needs("corpora")
@pytest.mark.rule("F2.6", "F5.8")
def test_each_kind_is_read_in_pieces_of_its_size(tmp_path, corpora):
    word = WordDocument()
    for _ in range(90):
        word.add_paragraph("x" * 99)
    word.save(str(tmp_path / "a.docx"))
    deck = Presentation()
    for number in range(3):
        deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = f"{number}" * 9000
    deck.save(str(tmp_path / "a.pptx"))
    book(tmp_path / "a.xlsx", ("S", [["x" * 200]] * 101))
    with Formats(plugins={}, workers=1) as formats:
        workbook: Any = formats.get_map(file_source(tmp_path / "a.xlsx"))
        document: Any = formats.get_map(file_source(tmp_path / "a.docx"))["chunking"]
        slide: Any = formats.read(
            file_source(tmp_path / "a.pptx"), Selector(chunk_index=1)
        ).to_json("a.pptx")
        pages: Any = formats.get_map(file_source(corpora / "office-fixtures" / "report.pdf"))[
            "chunking"
        ]
        lines = formats.get_map(made(tmp_path / "a.txt", b"line\n" * 401))["chunking"]
        rows = formats.get_map(made(tmp_path / "a.csv", b"a,b\n" + b"1,2\n" * 1001))["chunking"]

    assert workbook["sheets"][0]["chunking"] == {
        "unit": "rows",
        "size": 50,
        "count": 3,
        "origin": 1,
    }
    assert (document["unit"], document["size"], document["count"]) == ("chars", 4000, 3)
    assert slide["text"].startswith("# slide 2 (slide_index 1): 111")
    assert (slide["chunk_info"]["total_chunks"], "# slide 3" in slide["text"]) == (3, False)
    assert (pages["unit"], pages["size"]) == ("pages", 5)
    assert lines == {"unit": "lines", "size": 200, "count": 3, "origin": 1}
    assert rows == {"unit": "rows", "size": 500, "count": 3, "origin": 1}
    assert INLINE_MAX_BYTES == 4_000  # used: tests/workshop/test_params.py


@pytest.mark.rule("F2.2", "F2.5")
def test_csv_is_text_in_all_but_its_map_and_its_queries(tmp_path):
    limits = Limits(max_file_bytes=10, max_text_bytes=200)
    old = made(tmp_path / "a.csv", b"id,name\r\n1,one\r\n2,two\r\n")
    large = made(tmp_path / "b.csv", b"a,b\n" * 51)
    with Formats(plugins={}, limits=limits, workers=1) as formats:
        assert formats.get_map(old)["row_count"] == 2  # above the limit of office files
        with pytest.raises(FormatError) as caught:
            formats.get_map(large)
        edits = [{"search": "two", "replace": "zwei"}]
        edited = formats.edit_text(old, edits, tmp_path / "c.csv")
        new = file_source(tmp_path / "c.csv")
        written = formats.write_text(old, "a.csv", "id,name\n9,nine\n", tmp_path / "d.csv")
        hunks = formats.diff_text(old, new)

    assert caught.value.reason == "too_large"
    assert (tmp_path / "c.csv").read_bytes() == b"id,name\r\n1,one\r\n2,zwei\r\n"
    assert (tmp_path / "d.csv").read_bytes() == b"id,name\r\n9,nine\r\n"  # ends its lines as before
    assert edited.focus == {"line_start": 3, "line_end": 3}
    assert written.warnings == ()
    assert (hunks.added, hunks.removed) == (1, 1)


MEASURED = """
import hashlib, json, pathlib, re, sys, time
from backshop.formats import Selector, Source, xlsx
path = pathlib.Path(sys.argv[1])
source = Source(path, hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
start = time.process_time()
sheet = xlsx.get_map(source).data["sheets"][0]
seconds = time.process_time() - start
last = xlsx.read(source, Selector(sheet="S", range="A100000:J100000")).text.split("\\n")[-1]
status = pathlib.Path("/proc/self/status").read_text()
peak = int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1024  # of this program alone
print(json.dumps([sheet["row_count"], sheet["col_count"], last, seconds, peak]))
"""


@pytest.mark.rule("F2.9")
def test_a_workbook_of_a_million_cells_is_mapped_and_read_in_little_room(tmp_path):
    path = tmp_path / "a.xlsx"
    book(path, ("S", [[1]]))
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    rows = (
        f'<row r="{row}">'
        + "".join(f'<c r="{col}{row}"><v>{row * 7}.5</v></c>' for col in "ABCDEFGHIJ")
        + "</row>"
        for row in range(1, 100_001)
    )
    name = "xl/worksheets/sheet1.xml"
    head, _, rest = parts[name].partition(b"<sheetData>")
    tail = rest.partition(b"</sheetData>")[2]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for other in parts.keys() - {name}:
            archive.writestr(other, parts[other])
        with archive.open(name, "w") as sheet:
            sheet.write(head + b"<sheetData>")
            sheet.writelines(row.encode() for row in rows)
            sheet.write(b"</sheetData>" + tail)

    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)], capture_output=True, check=True, text=True
    )

    row_count, col_count, last, seconds, peak_mib = json.loads(done.stdout)
    assert (row_count, col_count) == (100_000, 10)
    assert last == "\t".join(["100000", *["700000.5"] * 10])
    assert seconds < 4
    assert peak_mib < 300

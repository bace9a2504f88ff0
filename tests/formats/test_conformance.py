from __future__ import annotations

import io

import pytest
from PIL import Image

from backshop.formats import Formats
from backshop.testing.conformance.formats import EditableFormat, ReadableFormat

from .archives import archive, source


@pytest.fixture(scope="module")
def formats(tmp_path_factory):
    with Formats(cache=tmp_path_factory.mktemp("cache"), plugins={}) as formats:
        yield formats


def odt(blocks: str) -> bytes:
    names = "".join(
        f' xmlns:{p}="urn:oasis:names:tc:opendocument:xmlns:{u}:1.0"'
        for p, u in [("office", "office"), ("text", "text"), ("table", "table")]
    )
    content = (
        f"<office:document-content{names}><office:body><office:text>{blocks}"
        "</office:text></office:body></office:document-content>"
    )
    return archive({"mimetype": b"application/vnd.oasis.opendocument.text"} | {
        "content.xml": content.encode()
    })  # fmt: skip


class TestText(ReadableFormat):
    @pytest.fixture
    def sample(self, tmp_path_factory):
        lines = "".join(f"line {n} {'é' * 90}\n" for n in range(900))
        return source(tmp_path_factory.mktemp("s"), "a.txt", lines.encode())


class TestPicture(ReadableFormat):
    @pytest.fixture
    def sample(self, tmp_path_factory):
        buffer = io.BytesIO()
        Image.new("RGBA", (30, 20)).save(buffer, "PNG")
        return source(tmp_path_factory.mktemp("s"), "a.png", buffer.getvalue())


class TestOdt(ReadableFormat):
    @pytest.fixture
    def sample(self, tmp_path_factory):
        blocks = "".join(
            f'<text:h text:outline-level="{n % 3 + 1}">Part {n}</text:h>'
            f"<text:p>{'word ' * 60}</text:p>"
            "<table:table><table:table-row><table:table-cell><text:p>a|b</text:p></table:table-cell>"
            "</table:table-row></table:table>"
            for n in range(80)
        )
        return source(tmp_path_factory.mktemp("s"), "a.odt", odt(blocks))


@pytest.mark.needs("corpora")
class TestPdf(ReadableFormat):
    @pytest.fixture
    def sample(self, tmp_path_factory, corpora):
        data = next((corpora / "pdf").rglob("pdflatex-4-pages.pdf")).read_bytes()
        return source(tmp_path_factory.mktemp("s"), "a.pdf", data)


def fixture(tmp_path_factory, corpora, name):
    data = (corpora / "office-fixtures" / name).read_bytes()
    return source(tmp_path_factory.mktemp("s"), name, data)


@pytest.mark.needs("corpora")
class TestDocx(EditableFormat):
    @pytest.fixture
    def sample(self, tmp_path_factory, corpora):
        return fixture(tmp_path_factory, corpora, "keenbench_company_overview.docx")

    @pytest.fixture
    def edit(self):
        return {"op": "append_paragraph", "text": "One more line."}


@pytest.mark.needs("corpora")
class TestPptx(EditableFormat):
    @pytest.fixture
    def sample(self, tmp_path_factory, corpora):
        return fixture(tmp_path_factory, corpora, "keenbench_pitch_deck.pptx")

    @pytest.fixture
    def edit(self):
        return {"op": "set_notes", "index": 0, "notes": "Speak slowly."}


@pytest.mark.needs("corpora")
class TestXlsx(EditableFormat):
    @pytest.fixture
    def sample(self, tmp_path_factory, corpora):
        return fixture(tmp_path_factory, corpora, "multi-sheet.xlsx")

    @pytest.fixture
    def edit(self, formats, sample):
        sheet = formats.get_map(sample)["sheets"][0]["name"]
        return {"op": "set_cells", "sheet": sheet, "cells": [{"cell": "B2", "value": 12.5}]}


class TestCsv(ReadableFormat):
    @pytest.fixture
    def sample(self, tmp_path_factory):
        rows = "".join(f'{n},"name {n}",{n * 0.5}\n' for n in range(3000))
        return source(tmp_path_factory.mktemp("s"), "a.csv", b"id,name,half\n" + rows.encode())

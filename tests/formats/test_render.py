from __future__ import annotations

import fcntl
import json
import os
import stat
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import openpyxl
import pytest
from PIL import Image

from backshop.app import load, open_formats
from backshop.formats import FormatError, Formats, Limits, Preview

from .archives import archive, file_source, source

PRINTS_PDF = """#!{python}
import pathlib, shutil, sys
out = pathlib.Path(sys.argv[sys.argv.index("--outdir") + 1])
profile = [a for a in sys.argv if a.startswith("-env:UserInstallation=file://")][0]
settings = pathlib.Path(profile.partition("file://")[2]) / "user" / "registrymodifications.xcu"
assert "DisableMacrosExecution" in settings.read_text()
shutil.copyfile({pdf!r}, out / (pathlib.Path(sys.argv[-1]).stem + ".pdf"))
pathlib.Path({log!r}).open("a").write("run\\n")
"""
TALL = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/Resources<<>>/MediaBox[0 0 100 2100]
/UserUnit 2/Contents 4 0 R>>endobj
4 0 obj<</Length 43>>stream
1 0 0 rg 0 1050 100 1050 re f 0 0 1 rg 0 %d 100 9 re f
endstream endobj
trailer<</Root 1 0 R>>
"""  # a sheet as LibreOffice writes it: a unit is two points, and nothing stands in the lower half
HANGS = """#!{python}
import fcntl, os, subprocess, sys, time
held = os.open({log!r}, os.O_RDWR | os.O_CREAT)
fcntl.flock(held, fcntl.LOCK_EX)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], pass_fds=[held])
time.sleep(600)
"""
FAILS = """#!{python}
import pathlib
pathlib.Path({log!r}).open("a").write("run\\n")
hoard = bytearray({size})
raise SystemExit(77)
"""
CROWDS = """#!{python}
import os, pathlib, shutil, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--outdir") + 1])
here = pathlib.Path({log!r}) / out.name
here.touch()
time.sleep(0.3)
(here.parent / "seen").open("a").write(str(len(list(here.parent.glob("backshop-*")))) + "\\n")
here.unlink()
shutil.copyfile({pdf!r}, out / (pathlib.Path(sys.argv[-1]).stem + ".pdf"))
"""


def program(tmp_path: Path, text: str, **names: object) -> str:
    path = tmp_path / "soffice"
    path.write_text(text.format(python=sys.executable, **names), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.needs("corpora")
@pytest.mark.rule("F29.7", "F29.8")
def test_pdf_pages_and_pictures_are_drawn_and_fit(tmp_path, corpora):
    with Formats(cache=tmp_path / "cache", plugins={}) as formats:
        pdf = file_source(corpora / "office-fixtures" / "report.pdf")
        page = formats.render_page(pdf, 0, 1.0)
        large = formats.render_page(pdf, 0, 9.0)
        again = formats.render_page(pdf, 0, 1.1)
        buffer = BytesIO()
        Image.new("RGB", (5000, 50)).save(buffer, "PNG")
        wide = formats.render_page(source(tmp_path, "a.png", buffer.getvalue()), 0)

        assert (page.available, page.page_count, page.scaled_down) == (True, 1, False)
        assert again == page
        assert max(Image.open(BytesIO(large.image or b"")).size) <= 2048
        assert wide.scaled_down
        assert max(Image.open(BytesIO(wide.image or b"")).size) == 2048
        with pytest.raises(FormatError) as caught:
            formats.render_page(pdf, 1)
        assert caught.value.reason == "bad_index"


@pytest.mark.rule("F29.7", "F32.88", "F32.89", "F4.5")
def test_what_cannot_be_drawn_says_why(tmp_path):
    svg = source(tmp_path, "a.svg", b'<svg width="9" height="9"><script>x</script></svg>')
    with Formats(renderer=str(tmp_path / "absent"), plugins={}) as formats:
        assert formats.render_page(svg, 0) == Preview(available=False, reason="no_pages")
        with pytest.raises(FormatError) as caught:
            formats.render_page(svg, 0, float("nan"))
        assert caught.value.reason == "bad_value"
        assert formats.render_part(svg, "\ud800").available is False
        assert formats.get_map(svg)["width"] == 9


@pytest.mark.needs("corpora")
@pytest.mark.rule("F29.7", "F32.88")
def test_office_files_need_a_renderer(tmp_path, corpora):
    docx = file_source(corpora / "office-fixtures" / "simple.docx")
    with Formats(renderer=str(tmp_path / "absent"), plugins={}) as formats:
        missing = formats.render_page(docx, 0)

    assert missing == Preview(available=False, reason="renderer_missing")


@pytest.mark.needs("corpora")
@pytest.mark.rule("F29.7", "F29.8", "B12.15")
def test_office_files_are_converted_once_and_kept(tmp_path, corpora):
    log = tmp_path / "log"
    pdf = corpora / "office-fixtures" / "report.pdf"
    soffice = program(tmp_path, PRINTS_PDF, pdf=str(pdf), log=str(log))
    docx = file_source(corpora / "office-fixtures" / "simple.docx")

    with Formats(cache=tmp_path / "cache", renderer=soffice, plugins={}) as formats:
        first = formats.render_page(docx, 0)
        second = formats.render_page(docx, 0, 0.5)

    assert first.available
    assert second.available
    assert log.read_text() == "run\n"


@pytest.mark.needs("corpora")
@pytest.mark.rule("F43.74", "F43.75", "F29.7")
def test_a_document_is_shown_by_its_pages_where_libreoffice_draws_them(tmp_path, corpora):
    log = tmp_path / "log"
    pdf = corpora / "office-fixtures" / "report.pdf"
    docx = file_source(corpora / "office-fixtures" / "simple.docx")
    drawn = {}
    for name, text in (("draws", PRINTS_PDF), ("fails", FAILS)):
        soffice = program(tmp_path, text, pdf=str(pdf), log=str(log), size=1)
        with Formats(cache=tmp_path / name, renderer=soffice, plugins={}) as formats:
            drawn[name] = [formats.view_page(docx) for _ in range(2)]
            with pytest.raises(FormatError) as caught:
                formats.view_page(docx, 9)
            assert caught.value.reason == "bad_range"

    assert drawn["draws"][0] == drawn["draws"][1]
    shown = [(one.facts["drawn_by"], one.facts["shown"]) for (one, _) in drawn.values()]
    assert shown == [("LibreOffice", "page 1 of 1"), ("Backshop", "part 1 of 1")]
    assert log.read_text() == "run\n" * 2  # each was asked once


@pytest.mark.rule("F29.7")
def test_a_page_is_that_of_a_sheet_which_is_shown(tmp_path):
    book = openpyxl.Workbook()
    book.create_sheet("kept back").sheet_state = "hidden"
    book.create_sheet("last")
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    pages = [Image.new("RGB", (60, 60), colour) for colour in colours]
    pages[0].save(tmp_path / "all", "PDF", save_all=True, append_images=pages[1:])
    pages[0].save(tmp_path / "shown", "PDF", save_all=True, append_images=pages[2:])
    file = source(tmp_path, "a.xlsx", packed(book))

    found = {}
    for name in ("all", "shown"):  # with the hidden sheet, and by a LibreOffice without it
        soffice = program(tmp_path, PRINTS_PDF, pdf=str(tmp_path / name), log=str(tmp_path / "log"))
        with Formats(cache=tmp_path / f"{name}-kept", renderer=soffice, plugins={}) as formats:
            drawn = [formats.render_page(file, index) for index in range(2)]
            with pytest.raises(FormatError) as caught:
                formats.render_page(file, 2)
        assert caught.value.reason == "bad_index"
        pictures = [Image.open(BytesIO(one.image or b"")).convert("RGB") for one in drawn]
        middles = [one.resize((1, 1), box=_middle(one)).tobytes() for one in pictures]
        found[name] = (
            [one.page_count for one in drawn],
            [max(range(3), key=m.__getitem__) for m in middles],
        )

    assert found == {name: ([2, 2], [0, 2]) for name in ("all", "shown")}


def _middle(image: Image.Image) -> tuple[int, int, int, int]:
    x, y = image.width // 2, image.height // 2
    return x, y, x + 1, y + 1


@pytest.mark.rule("F29.11", "F29.7")
def test_a_long_sheet_is_drawn_in_pieces_and_what_is_left_out_is_said(tmp_path):
    book = source(tmp_path, "a.xlsx", packed(openpyxl.Workbook()))
    found = {}
    for name, lowest in (("short", 1050), ("whole", 0)):
        (tmp_path / name).write_bytes(TALL.replace(b"%d", b"%d" % lowest))
        soffice = program(tmp_path, PRINTS_PDF, pdf=str(tmp_path / name), log=str(tmp_path / "log"))
        with Formats(cache=tmp_path / f"{name}-kept", renderer=soffice, plugins={}) as formats:
            first = formats.render_page(book, 0)
            found[name] = (first.piece_count, first.is_cut_short)
            pieces = [formats.render_page(book, 0, 1.0, at) for at in range(first.piece_count)]
            with pytest.raises(FormatError) as caught:
                formats.render_page(book, 0, 1.0, first.piece_count)
            again = formats.render_page(book, 0, 1.0, 1)
    sizes = [Image.open(BytesIO(one.image or b"")).size for one in pieces]

    assert found == {"short": (2, True), "whole": (4, False)}
    assert sizes == [(267, 1424), (267, 1424), (267, 1424), (267, 1400)]  # pixels of a screen
    assert caught.value.reason == "bad_index"
    assert again == pieces[1] != pieces[0]


@pytest.mark.needs("libreoffice")
@pytest.mark.rule("F29.11")
def test_libreoffice_draws_all_rows_of_a_sheet_or_it_is_said(tmp_path):
    drawn = {}
    for rows in (900, 2000):
        book = openpyxl.Workbook()
        for row in range(rows):
            book.worksheets[0].append([row] * 11)
        with Formats(cache=tmp_path / "cache", plugins={}) as formats:
            page = formats.render_page(source(tmp_path, f"{rows}.xlsx", packed(book)), 0)
        drawn[rows] = (page.available, page.piece_count, page.is_cut_short)

    assert drawn == {900: (True, 13, False), 2000: (True, 15, True)}


def packed(book: openpyxl.Workbook) -> bytes:
    buffer = BytesIO()
    book.save(buffer)
    return buffer.getvalue()


@pytest.mark.needs("libreoffice", "corpora")
@pytest.mark.rule("F29.7")
def test_libreoffice_draws_a_visible_sheet_as_one_page(tmp_path, corpora):
    book = file_source(corpora / "office-fixtures" / "quarterly_data.xlsx")
    with Formats(cache=tmp_path / "cache", plugins={}) as formats:
        sheets = formats.draw_sheet(book)["sheets"]
        page = formats.render_page(book, 1)

    assert page.available
    assert isinstance(sheets, list)
    assert page.page_count == len(sheets)


@pytest.mark.needs("corpora")
@pytest.mark.rule("F29.7")
def test_a_renderer_that_hangs_is_killed_with_its_children(tmp_path, corpora):
    log = tmp_path / "log"
    soffice = program(tmp_path, HANGS, log=str(log))
    docx = file_source(corpora / "office-fixtures" / "simple.docx")

    with Formats(renderer=soffice, plugins={}, limits=Limits(render_timeout_s=2)) as formats:
        preview = formats.render_page(docx, 0)

    assert preview == Preview(available=False, reason="timeout")
    assert _is_free(log)


def _is_free(held: Path) -> bool:
    """Wait until the last process that holds the file is gone, which takes a moment at most."""
    deadline = time.monotonic() + 30
    with held.open("a+b") as file:
        while time.monotonic() < deadline:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.sched_yield()
            else:
                return True
    return False


@pytest.mark.needs("corpora")
@pytest.mark.rule("F29.7")
@pytest.mark.parametrize("size", [0, 8 << 30], ids=["fails", "takes too much memory"])
def test_a_file_that_cannot_be_drawn_is_not_tried_again_and_again(tmp_path, corpora, size):
    log = tmp_path / "log"
    soffice = program(tmp_path, FAILS, log=str(log), size=size)
    docx = file_source(corpora / "office-fixtures" / "simple.docx")

    with Formats(cache=tmp_path / "cache", renderer=soffice, plugins={}) as formats:
        previews = {formats.render_page(docx, index) for index in range(3)}

    assert previews == {Preview(available=False, reason="render_failed")}
    assert log.read_text() == "run\n"


@pytest.mark.rule("F29.7", "F4.1")
def test_a_hostile_package_never_reaches_the_other_program(tmp_path):
    log = tmp_path / "log"
    soffice = program(tmp_path, FAILS, log=str(log), size=0)
    entity = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'
    files = {
        "xml_dtd_forbidden": ("a.docx", {"word/document.xml": entity}),
        "archive_path_escape": ("b.odt", {"../content.xml": b"<x/>"}),
        "archive_bomb": ("c.pptx", {"ppt/a.bin": bytes(64 << 20)}),
    }

    with Formats(renderer=soffice, plugins={}) as formats:
        for reason, (name, members) in files.items():
            file = source(tmp_path, name, archive(members))
            with pytest.raises(FormatError) as caught:
                formats.render_page(file, 0)
            assert caught.value.reason == reason

    assert not log.exists()


@pytest.mark.needs("corpora")
@pytest.mark.rule("F29.7", "B12.15")
def test_many_who_ask_at_once_wait_for_one_conversion_of_each_file(tmp_path, corpora):
    log = tmp_path / "at work"
    log.mkdir()
    pdf = corpora / "office-fixtures" / "report.pdf"
    soffice = program(tmp_path, CROWDS, pdf=str(pdf), log=str(log))
    files = [
        file_source(corpora / "office-fixtures" / name)
        for name in ("simple.docx", "invoice_template.docx", "slides.pptx", "notes.odt")
    ]

    with (
        Formats(cache=tmp_path / "cache", renderer=soffice, plugins={}) as formats,
        ThreadPoolExecutor(12) as people,
    ):
        found = list(people.map(lambda n: formats.render_page(files[n % 4], 0), range(12)))

    assert all(preview.available for preview in found)
    seen = [int(line) for line in (log / "seen").read_text().split()]
    assert len(seen) == len(files)
    assert max(seen) <= 2


@pytest.mark.rule("B12.15", "S3.1")
def test_pictures_take_no_more_room_than_the_home_allows_and_the_longest_unused_go_first(tmp_path):
    sources = []
    for number in range(3):
        path = tmp_path / f"{number}.png"
        Image.effect_noise((100, 100), 50 + number).save(path)
        sources.append(file_source(path))
    first, second, third = sources
    home = tmp_path / "home"
    home.mkdir()
    room = 70_000  # each picture takes some 30,000 bytes
    (home / "settings.json").write_text(json.dumps({"formats.preview_cache_bytes": room}))
    kept = home / "cache" / "previews"

    def age(path: Path, seconds: int) -> None:
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - seconds))

    with open_formats(load(home=home, environ={}), home / "cache", workers=1) as formats:
        for age_s, file in ((200, first), (100, second)):
            formats.render_page(file, 0)
            age(next(kept.glob(f"{file.sha256}*")), age_s)
        formats.render_page(first, 0)  # asked for again
        formats.render_page(third, 0)

        names = {path.name.partition("-")[0] for path in kept.iterdir()}
        assert names == {first.sha256, third.sha256}
        assert sum(path.stat().st_size for path in kept.iterdir()) <= room
        for path in kept.iterdir():
            path.unlink()
        assert all(formats.render_page(file, 0).available for file in sources)

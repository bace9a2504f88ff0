from __future__ import annotations

import hashlib
import json
import time
from dataclasses import replace

import pytest

from backshop.formats import FormatError, Formats, Limits, OpsRequest, Selector, forget
from backshop.formats.package.package import Package
from backshop.formats.window import shorten

from .archives import file_source, source


@pytest.fixture(scope="module")
def formats(tmp_path_factory):
    with Formats(cache=tmp_path_factory.mktemp("cache"), plugins={}) as formats:
        yield formats


def reason_of(call, *args, **kwargs):
    with pytest.raises(FormatError) as caught:
        call(*args, **kwargs)
    return caught.value.reason


@pytest.mark.rule("F2.1", "F32.59", "F32.56", "F12.2")
@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.pdf", b"%PDF-1.4", "read_only_format"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "read_only_format"),
        ("a.odt", b"PK\3\4", "read_only_format"),
        ("blob", b"\0\1", "read_only_format"),
        ("a.docm", b"PK\3\4", "macro_enabled_read_only"),
        ("a.potm", b"PK\3\4", "macro_enabled_read_only"),
        ("a.ods", b"PK\3\4", "read_only_format"),
        ("a.xlsb", b"PK\3\4", "read_only_format"),
        ("a.xls", b"\xd0\xcf\x11\xe0", "read_only_format"),
        ("a.xls", b"<html>", "read_only_format"),
        ("a.txt", b"x", "unsupported_format"),
        ("a.xlsx", b"plain", "content_mismatch"),
    ],
)
def test_only_office_files_that_are_written_take_operations(formats, tmp_path, name, data, reason):
    request = OpsRequest(name=name, operations=[{"op": "x"}])

    assert reason_of(formats.apply_ops, source(tmp_path, name, data), request, tmp_path / "o") == (
        reason
    )
    assert not (tmp_path / "o").exists()


@pytest.mark.needs("corpora")
@pytest.mark.rule("F32.57", "F32.58", "F23.9")
@pytest.mark.parametrize(
    ("name", "part", "edit", "reason"),
    [
        (
            "multi-sheet.xlsx",
            "xl/vbaProject.bin",
            {"op": "ensure_sheet", "sheet": "x"},
            "macro_enabled_read_only",
        ),
        (
            "simple.docx",
            "_xmlsignatures/sig1.xml",
            {"op": "append_paragraph", "text": "x"},
            "signed_document",
        ),
    ],
)
def test_macros_and_signatures_inside_refuse_writes(
    formats, tmp_path, corpora, name, part, edit, reason
):
    package = Package.open(file_source(corpora / "office-fixtures" / name))
    package.put(part, b"<x/>")
    file = source(tmp_path, name, package.to_bytes())
    request = OpsRequest(name=name, operations=[edit])
    copied = OpsRequest(name=f"new {name}", operations=[edit], copy_from=file)

    assert reason_of(formats.apply_ops, file, request, tmp_path / "o") == reason
    assert reason_of(formats.apply_ops, None, copied, tmp_path / "o") == reason
    formats.read(file)


@pytest.mark.rule("F15.1", "F14.1")
def test_info_never_fails_for_a_file_that_is_there(formats, tmp_path):
    broken = source(tmp_path, "a.xlsx", b"PK\3\4 not really")
    info = formats.get_info(broken)
    assert (info["kind"], info["warnings"]) == (
        "xlsx",
        [{"code": "corrupt_file", "count": 1, "where": None}],
    )
    opaque = source(tmp_path, "a.bin", b"\0\1\2")
    assert formats.get_info(opaque) == {
        "path": "a.bin",
        "kind": "binary",
        "mime": "application/octet-stream",
        "size_bytes": 3,
        "sha256": hashlib.sha256(b"\0\1\2").hexdigest(),
        "writable": False,
        "warnings": [],
    }
    assert reason_of(formats.get_map, opaque) == "unsupported_format"
    assert reason_of(formats.read, opaque) == "unsupported_format"
    gone = replace(opaque, path=tmp_path / "absent")
    assert reason_of(formats.get_info, gone) == "not_found"


@pytest.mark.rule("F2.5")
def test_files_beyond_their_limit_are_refused(tmp_path):
    with Formats(limits=Limits(max_text_bytes=10), plugins={}) as small:
        large, edits = source(tmp_path, "a.txt", b"x" * 11), [{"search": "x", "replace": "y"}]
        assert reason_of(small.read, large) == "too_large"
        assert reason_of(small.edit_text, large, edits, tmp_path / "o") == "too_large"
    assert reason_of(Formats, limits=Limits(map_timeout_s=31)) == "bad_value"


@pytest.mark.rule("F5.11")
def test_a_known_map_comes_back_at_once(formats, tmp_path):
    big = source(tmp_path, "a.md", b"".join(b"# Heading %d\n\ntext\n" % n for n in range(5000)))
    first = formats.get_map(big)

    times = []
    for _ in range(20):  # the quickest tells the cost; the others, what else the machine does
        started = time.thread_time()
        assert formats.get_map(big) == first
        times.append(time.thread_time() - started)

    assert min(times) < 0.005


@pytest.mark.rule("F5.11")
def test_a_broken_cache_file_counts_as_absent(tmp_path):
    file = source(tmp_path, "a.txt", b"one\ntwo\n")
    with Formats(cache=tmp_path / "c", plugins={}) as formats:
        first = formats.get_map(file)
    for kept in (tmp_path / "c" / "maps").rglob("*.json"):
        kept.write_bytes(b"{broken")
    with Formats(cache=tmp_path / "c", plugins={}) as formats:
        assert formats.get_map(file) == first


@pytest.mark.rule("F5.9", "F32.90", "F5.8")
def test_a_long_map_is_shortened_and_says_so(formats, tmp_path):
    text = "".join(f"# {'Heading ' * 20}{n}\n" + "x\n" * 4000 for n in range(100))
    file = source(tmp_path, "a.md", text.encode())

    full, brief = formats.get_map(file), formats.get_map(file, "prompt")

    assert full["chunks"] is None
    assert full["chunking"] == {"unit": "lines", "size": 200, "count": 2001, "origin": 1}
    assert len(json.dumps(brief, ensure_ascii=False).encode()) <= 16 * 1024
    assert brief["shortened"]["structure.headings"]["total"] == 100
    assert full == shorten(full, 256 * 1024)


@pytest.mark.rule("F1.3")
def test_reading_gives_the_same_bytes_in_every_process(tmp_path):
    file = source(tmp_path, "a.txt", "".join(f"{n} é\n" for n in range(9000)).encode())
    answers = set()
    for _ in range(2):
        with Formats(plugins={}) as formats:
            part = formats.read(file, Selector(chunk_index=3))
            answers.add(json.dumps(part.to_json("a.txt")))

    assert len(answers) == 1


def test_a_plugin_reads_an_ending_nobody_claims(tmp_path, monkeypatch):
    (tmp_path / "my_format.py").write_text(
        "from backshop.formats import Map, Read\n"
        "def get_info(source): return {'beans': 3}\n"
        "def get_map(source): return Map(format='beans', data={'beans': 3})\n"
        "def read(source, selector): return Read(format='beans', text=source.path.read_text())\n"
        "def extract_lines(source): return ['beans']\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    file = source(tmp_path, "a.beans", b"haricot")

    with Formats(plugins={"beans": "my_format"}) as formats:
        assert formats.get_map(file)["beans"] == 3
        assert formats.read(file).text == "haricot"
        assert formats.get_info(file)["beans"] == 3


@pytest.mark.rule("F25.8")
def test_tables_can_be_asked_without_a_cache(tmp_path):
    file = source(tmp_path, "a.csv", b"town,n\nOslo,1\nRome,2\n")
    formats = Formats(plugins={})

    for _ in range(2):  # also after it was closed and used again
        assert formats.get_map(file)["row_count"] == 2
        assert formats.open_table(file).query("SELECT sum(n) AS s FROM data")["rows"] == [[3]]
        formats.close()


@pytest.mark.rule("F25.8")
def test_of_contents_that_are_gone_nothing_is_kept_and_all_else_stays(tmp_path):
    here, gone = "a" * 64, "b" * 64
    asked = []
    for kind in ("tables", "maps", "previews", "others"):
        for name in (f"{here}.db", f"{gone}.db", f"sub/{gone}-0.png", f"{gone}x", "lock"):
            path = tmp_path / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x")

    def is_there(sha256: str) -> bool:
        asked.append(sha256)
        return sha256 == here

    assert forget(tmp_path, is_there) == 6

    kinds = ("tables", "maps", "previews")
    left = {path.name for kind in kinds for path in (tmp_path / kind).rglob("*") if path.is_file()}
    assert sorted(asked) == [here, gone]  # once each
    assert left == {f"{here}.db", f"{gone}x", "lock"}
    assert len([path for path in (tmp_path / "others").rglob("*") if path.is_file()]) == 5

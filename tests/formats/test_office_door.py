"""Documents and decks through the door of the room: in workers, under their limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backshop.formats import FormatError, Formats, OpsRequest, Selector, Source
from backshop.formats.place import for_people

from .office import source


@pytest.fixture(scope="module")
def formats():
    with Formats(workers=1) as door:
        yield door


@pytest.mark.rule("F1.4", "F2.7", "F16.9")
@pytest.mark.parametrize(
    ("name", "op", "shown"),
    [
        ("a.docx", {"op": "append_paragraph", "text": "hello", "style": "Heading 1"}, "# hello"),
        ("a.pptx", {"op": "add_slide", "title": "hello", "body": "b"}, "# slide 1: hello\nb"),
    ],
)
def test_office_files_are_made_mapped_read_and_extracted(formats, tmp_path, name, op, shown):
    out = tmp_path / name
    applied: Any = formats.apply_ops(
        None, OpsRequest(name=name, operations=[op], create_if_missing=True), out
    ).to_json()
    made = source(out)

    assert applied["ok"] is True
    assert (applied["size_bytes"], applied["sha256"]) == (out.stat().st_size, made.sha256)
    assert applied["effects"]["collateral"] == []
    assert for_people(formats.read(made, Selector()).text) == shown
    assert formats.get_map(made)["format"] == name.rpartition(".")[2]
    assert formats.get_styles(made)["format"] == name.rpartition(".")[2]
    assert formats.extract_lines(made) == shown.split("\n")
    if name.endswith("docx"):
        assert formats.extract_section(made, 1)["section_count"] == 2
    else:
        assert formats.extract_slide(made, 0)["slide_count"] == 1


def test_a_macro_file_is_read_and_never_written(formats, tmp_path):
    out = tmp_path / "a.docx"
    op = {"op": "append_paragraph", "text": "x"}
    ask = OpsRequest(name="a.docx", operations=[op], create_if_missing=True)
    formats.apply_ops(None, ask, out)
    made = source(out)
    macro = Source(out, made.sha256, "a.docm")

    assert formats.read(macro, Selector()).text == "x"
    again = OpsRequest(name="a.docm", operations=[{"op": "append_paragraph", "text": "y"}])
    with pytest.raises(FormatError) as caught:
        formats.apply_ops(macro, again, tmp_path / "b.docm")

    assert caught.value.reason == "macro_enabled_read_only"


@pytest.mark.rule("F1.2")
def test_paths_are_those_of_the_caller_wherever_a_worker_runs(formats, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = Path("a.docx")
    op = {"op": "append_paragraph", "text": "x"}
    ask = OpsRequest(name="a.docx", operations=[op], create_if_missing=True)
    formats.apply_ops(None, ask, here)
    copied = OpsRequest(name="b.docx", operations=[op], copy_from=source(here))

    formats.apply_ops(None, copied, Path("b.docx"))

    assert formats.read(source(Path("b.docx")), Selector()).text == "x\nx"

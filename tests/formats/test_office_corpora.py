"""Every document and deck of the corpora: read or refused cleanly, edited without loss."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from backshop.formats import FormatError, OpsRequest, Selector
from backshop.formats import docx as docx_format
from backshop.formats import pptx as pptx_format
from backshop.formats.errors import REASONS

from .office import members, raw_members, show, source, word
from .rates import Rate
from .second_reader import convert

_HERE = Path(__file__).resolve()
CORPORA = Path(os.environ.get("BACKSHOP_CORPORA") or _HERE.parents[3] / "shared" / "corpora")
FILES = sorted(
    path
    for folder in ("ooxml-odd", "office-fixtures")
    for ending in ("docx", "pptx")
    for path in (CORPORA / folder).glob(f"*.{ending}")
)
NEW_TEXT = "Zebra crossing 7"
DOCX_OPS: list[dict[str, Any]] = [{"op": "append_paragraph", "text": NEW_TEXT}]
PPTX_OPS: list[dict[str, Any]] = [{"op": "add_slide", "title": NEW_TEXT}]
CORPUS = {".docx": "documents", ".pptx": "decks"}
FORBIDDEN = frozenset({"signed_document", "macro_enabled_read_only"})


def module_of(path: Path) -> Any:
    return docx_format if path.suffix == ".docx" else pptx_format


def opened(path: Path) -> bool:
    try:
        word(path) if path.suffix == ".docx" else show(path)
    except Exception:  # the second reader fails on some of these files in its own ways
        return False
    return True


def texts(path: Path) -> str:
    if path.suffix == ".docx":
        return "\n".join(p.text for p in word(path).paragraphs)
    return "\n".join(
        shape.text_frame.text
        for slide in show(path).slides
        for shape in slide.shapes
        if shape.has_text_frame
    )


@pytest.mark.needs("corpora")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.rule("F3.2", "F32.51")
def test_every_file_is_read_or_refused_with_a_reason(path):
    module = module_of(path)
    here = source(path)

    try:
        module.get_map(here).to_json(here)
        first = module.read(here, Selector())
        lines = module.extract_lines(here)
        module.get_info(here)
        module.get_styles(here)
    except FormatError as error:
        assert error.reason in REASONS
    else:
        assert first.chunk_info.next is not None or len(first.text.split("\n")) <= len(lines) + 9


@pytest.mark.needs("corpora")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.rule("F23.1", "F23.4", "F16.14")
def test_one_edit_leaves_every_other_member_as_it_was(path, tmp_path, record_property):
    out = tmp_path / path.name
    operations = DOCX_OPS if path.suffix == ".docx" else PPTX_OPS
    ask = OpsRequest(name=path.name, operations=operations)
    rate = Rate(CORPUS[path.suffix])

    try:
        applied = module_of(path).apply_ops(source(path), ask, out)
    except FormatError as error:
        assert error.reason in REASONS
        assert not out.exists()
        if error.reason not in FORBIDDEN:
            with pytest.raises(FormatError):
                module_of(path).read(source(path), Selector())
        rate.refuse(error)
        rate.record(record_property)
        return

    before, after = raw_members(path), raw_members(out)
    assert [name for name in after if name in before] == list(before)
    changed = {name for name in after if before.get(name) != after[name]}
    assert changed == set(applied.changed_parts)
    assert changed <= allowed(path, before, after)
    assert applied.effects.collateral == ()
    if opened(path):
        assert NEW_TEXT in texts(out)
    assert NEW_TEXT in "\n".join(module_of(path).extract_lines(source(out)))
    rate.edited += 1
    rate.record(record_property)


def allowed(path: Path, before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    """Return the parts F23.2 lets these edits touch."""
    if path.suffix == ".docx":
        return {"word/document.xml"}
    new = set(after) - set(before)
    return {
        "[Content_Types].xml",
        "ppt/presentation.xml",
        "ppt/_rels/presentation.xml.rels",
        *(name for name in new if name.startswith("ppt/slides/")),
    }


@pytest.mark.needs("corpora")
@pytest.mark.parametrize(
    "path", [path for path in FILES if path.suffix == ".docx"], ids=lambda path: path.name
)
@pytest.mark.rule("F23.3")
def test_inside_the_changed_part_only_the_addressed_nodes_differ(path, tmp_path):
    out = tmp_path / path.name
    ask = OpsRequest(name=path.name, operations=DOCX_OPS)

    try:
        docx_format.apply_ops(source(path), ask, out)
    except FormatError:
        return

    before = etree.fromstring(members(path)["word/document.xml"])
    after = etree.fromstring(members(out)["word/document.xml"])
    added = [p for p in after.iter("{*}p") if "".join(map(str, p.itertext("{*}t"))) == NEW_TEXT]
    parent = added[-1].getparent()
    assert parent is not None
    parent.remove(added[-1])
    assert etree.tostring(after, method="c14n") == etree.tostring(before, method="c14n")


@pytest.mark.needs("corpora", "libreoffice")
@pytest.mark.parametrize(("ending", "form"), [(".docx", "fodt"), (".pptx", "fodp")])
@pytest.mark.rule("F16.14", "F23.4")
def test_libreoffice_opens_what_it_opened_before_and_shows_the_new_text(
    ending, form, tmp_path, scaled
):
    files = [path for path in FILES if path.suffix == ending]
    edited, shown = tmp_path / "edited", tmp_path / "shown"
    edited.mkdir()
    written = []
    for path in files[:: scaled(5, 1)]:
        ask = OpsRequest(name=path.name, operations=DOCX_OPS if ending == ".docx" else PPTX_OPS)
        try:
            module_of(path).apply_ops(source(path), ask, edited / path.name)
        except FormatError:
            continue
        written.append(path)

    opened = {made.stem: made for made in convert([edited / p.name for p in written], shown, form)}

    assert len(opened) > len(written) / 2
    lost = [path for path in written if path.stem not in opened]
    assert lost == [] or convert(lost, tmp_path / "before", form) == []
    for made in opened.values():
        text = "".join(map(str, etree.parse(made).getroot().itertext()))
        assert NEW_TEXT in text, made.name


EVERY_OP: dict[str, list[dict[str, Any]]] = {
    ".docx": [
        {"op": "insert_paragraphs", "anchor": {"paragraph": 0}, "paragraphs": [{"text": "x"}]},
        {"op": "delete_paragraphs", "from": 0, "to": 0},
        {"op": "replace_text", "search": "e", "replace": "\u00eb"},
        {"op": "replace_section", "section": "1", "paragraphs": [{"text": "x", "list": "number"}]},
        {"op": "append_table", "rows": [["a", "b"]], "anchor": {"paragraph": 0, "at": "before"}},
        {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "column": 0, "text": "x"}]},
        {"op": "add_table_rows", "table": 0, "rows": [["x"]]},
        {"op": "delete_table_rows", "table": 0, "from": 0, "to": 0},
        {"op": "set_paragraphs", "paragraphs": [{"text": "x", "style": "Heading 2"}]},
    ],
    ".pptx": [
        {"op": "set_slide_text", "index": 0, "title": "x", "body": "y"},
        {"op": "append_bullets", "index": 0, "bullets": [{"text": "x", "level": 1}]},
        {"op": "replace_text", "search": "e", "replace": "\u00eb"},
        {"op": "set_table_cells", "index": 0, "shape": 0, "cells": [
            {"row": 0, "column": 0, "text": "x"}]},
        {"op": "set_notes", "index": 0, "notes": "x"},
        {"op": "move_slide", "index": 0, "to": 1},
        {"op": "set_hidden", "index": 0, "hidden": True},
        {"op": "delete_slide", "index": 0},
    ],
}  # fmt: skip


@pytest.mark.needs("corpora")
@pytest.mark.rule("F16.13", "F16.14", "F23.1")
@pytest.mark.parametrize("ending", EVERY_OP)
def test_every_operation_changes_what_it_aims_at_and_nothing_else(
    ending, tmp_path, scaled, record_property
):
    files = [path for path in FILES if path.suffix == ending][:: scaled(6, 1)]
    rate, done = Rate(f"operations on {CORPUS[ending]}"), set()

    for path in files:
        for number, op in enumerate(EVERY_OP[ending]):
            out = tmp_path / f"{number}-{path.name}"
            try:
                ask = OpsRequest(name=path.name, operations=[op])
                applied = module_of(path).apply_ops(source(path), ask, out)
            except FormatError as error:
                assert error.reason in REASONS
                assert not out.exists()
                rate.refuse(error)
                continue
            done.add(op["op"])
            before, after = raw_members(path), raw_members(out)
            changed = {part for part in {*before, *after} if before.get(part) != after.get(part)}
            assert changed == set(applied.changed_parts), (path.name, op)
            assert applied.effects.collateral == (), (path.name, op)
            module_of(path).extract_lines(source(out))
            assert not opened(path) or opened(out), (path.name, op)
            rate.edited += 1

    rate.record(record_property)
    assert done == {op["op"] for op in EVERY_OP[ending]}

"""What the model sees of results: the whole, or a receipt it can go on with."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.workshop.tool import receipt
from backshop.workshop.tool.receipt import place_of
from backshop.workshop.tool.tool_result import whole_max_bytes


@pytest.mark.rule("W8.5", "W23.18", "W23.19")
@pytest.mark.parametrize(
    ("window", "most"),
    [(1_000_000, 16 * 1024), (40_960, 16 * 1024), (8_192, 3_276), (4_096, 2_048), (1_024, 2_048)],
)
def test_a_result_is_whole_up_to_a_tenth_of_the_window_16_kib_at_the_most(window, most):
    assert whole_max_bytes(window) == most


TABLE = {
    "columns": ["region", "amount"],
    "column_types": ["VARCHAR", "DOUBLE"],
    "rows": [[f"r{n}", n] for n in range(900)],
    "row_count": 900,
    "total_row_count": 12_345,
    "has_more": True,
}
READ = {
    "path": "a.txt",
    "selector": {"line_start": 1},
    "text": "\n".join(f"line {n} {'y' * 300}" for n in range(400)),
    "chunk_info": {"chunk_index": 0, "total_chunks": 9, "has_more": True, "next": None},
}
LISTING = {
    "files": [{"path": f"f{n}.csv", "kind": "csv", "size_bytes": n} for n in range(200)],
    "total": 5000,
    "next_cursor": "f199.csv",
}
MAP = {
    "map_version": 1,
    "format": "xlsx",
    "sha256": "0" * 64,
    "sheets": [{"name": f"Sheet {n}", "range": "A1:Z99", "cells": {}} for n in range(300)],
}
STYLES = {
    "format": "xlsx",
    "cell_styles": [
        {
            "asset_id": f"cell_style:S!A{n}",
            "style": {"font_bold": True, "fill_color": f"#1F4E{n}"},
            "count": 8,
            "cells": [f"S!A{n}:H{n}"],
        }
        for n in range(10, 90)
    ],
}


@pytest.mark.rule("W8.6")
@pytest.mark.parametrize(
    ("tool", "value", "says"),
    [
        ("table_query", TABLE, ["12345", "region (VARCHAR)", '["r0",0]', '["r899",899]', "yes"]),
        ("read_file", READ, ["a.txt", '"line_start":1', "total_chunks", "line 0", "line 399"]),
        ("list_files", LISTING, ["200 files of 5000", "f0.csv", "f9.csv", "f199.csv"]),
        ("get_file_map", MAP, ["xlsx", "sheets 300", "Sheet 0", "A1:Z99"]),
        ("xlsx_get_styles", STYLES, ["cell_styles 80", "S!A10:H10", "fill_color #1F4E10"]),
        ("other", ["x" * 9000], ["Text of 1 lines"]),
    ],
)
def test_a_receipt_has_shape_preview_and_the_way_back(tool, value, says):
    text = json.dumps(value)

    found = receipt.receipt(tool, 17, text)

    assert len(found.encode()) <= 4096
    assert found.startswith(f"Receipt of {tool}, entry 17, {len(text)} bytes.")
    for part in says:
        assert part in found
    assert "recall_tool_result entry_id=17" in found.splitlines()[-1]
    assert len(found.splitlines()) >= 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=20,
)
SHAPES = st.fixed_dictionaries(
    {},
    optional={
        "rows": JSON,
        "columns": JSON,
        "column_types": JSON,
        "text": JSON,
        "chunk_info": JSON,
        "files": JSON,
        "total": JSON,
    },
)


@given(value=st.one_of(JSON, SHAPES), tool=st.sampled_from(["read_file", "xlsx_get_styles", "t"]))
def test_a_receipt_of_anything_fits_and_is_never_bare(value, tool):
    found = receipt.receipt(tool, 3, json.dumps(value))

    assert len(found.encode(errors="replace")) <= 4096
    assert len(found.split("\n")) >= 3


@given(text=st.text(max_size=400), chunk=st.integers(1, 50))
def test_slices_put_together_are_the_whole_result(text, chunk):
    data = text.encode(errors="replace")
    seen, offset = "", 0
    while True:
        part = receipt.recall(5, "read_file", data, offset=offset, max_bytes=chunk)
        assert part.offset == offset
        assert part.bytes == len(part.content.encode())
        seen += part.content
        offset += part.bytes
        if not part.has_more:
            break

    assert seen.encode() == data
    assert part.total_bytes == len(data)


@pytest.mark.rule("W8.7")
def test_a_slice_begins_and_ends_between_characters():
    data = "a€b".encode()

    assert receipt.recall(1, "t", data, offset=2, max_bytes=3).content == "€"
    assert receipt.recall(1, "t", data, offset=0, max_bytes=2).content == "a"
    assert receipt.recall(1, "t", data, offset=99).content == ""


@pytest.mark.rule("U3.2", "W4.1")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "a.xlsx", "sheet": "Sheet1", "range": "A1:F50"}, "Sheet1 A1:F50"),
        ({"path": "a.txt", "line_start": 1, "line_count": 200}, "lines 1 to 200"),
        ({"path": "a.csv", "row_start": 5, "row_count": 1}, "rows from 5"),
        ({"path": "a.pptx", "slide_index": 2}, "slide 3"),
        ({"path": "a.pdf", "pages": "1-5"}, "pages 1-5"),
        (
            {"operations": [{"sheet": "Plan"}, {"sheet": "Costs"}, {"sheet": "Plan"}, 3]},
            "Plan, Costs",
        ),
        ({"path": "a.txt", "sheet": 7, "line_start": "x", "operations": "no"}, ""),
    ],
)
def test_the_part_of_a_file_that_a_call_is_about_is_told_in_words(arguments, words):
    assert place_of(arguments) == words

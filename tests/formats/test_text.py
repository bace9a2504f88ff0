from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base.limits import KIB, MIB
from backshop.formats import FormatError, Selector, Warn
from backshop.formats.protocol import Json
from backshop.formats.text import plain, structure
from backshop.formats.text.delimited import get_info as csv_info
from backshop.formats.text.delimited import read as read_rows
from backshop.formats.text.encoding import detect

from .archives import source


def make(tmp_path, name, data):
    return source(tmp_path, name, data if isinstance(data, bytes) else data.encode())


def reason_of(call, *args, **kwargs):
    with pytest.raises(FormatError) as caught:
        call(*args, **kwargs)
    return caught.value.reason


@pytest.mark.rule("F6.2", "F6.3", "F5.1", "F5.8")
def test_a_map_tells_lines_chunks_and_outline(tmp_path):
    file = make(tmp_path, "a.json", '{"name": 1,\n"items": [2]}\n')

    assert plain.get_map(file).to_json(file) == {
        "map_version": 3,
        "format": "text",
        "size_bytes": 26,
        "sha256": file.sha256,
        "warnings": [],
        "security": {},
        "encoding": "utf-8",
        "encoding_confidence": 1.0,
        "newline": "lf",
        "line_count": 2,
        "char_count": 26,
        "chunking": {"unit": "lines", "size": 200, "count": 1, "origin": 1},
        "chunks": [{"index": 0, "lines": "1-2"}],
        "structure": {"kind": "json", "root": "object", "keys": ["name", "items"], "length": 2},
        "longest_line": 13,
    }


@pytest.mark.rule("F6.2", "F32.79")
@pytest.mark.parametrize(
    ("content", "lines", "newline"),
    [
        ("", 0, "lf"),
        ("a", 1, "lf"),
        ("a\n", 1, "lf"),
        ("a\n\n", 2, "lf"),
        ("a\r\nb", 2, "crlf"),
        ("a\rb\r", 2, "cr"),
        ("a\nb\r\n", 2, "mixed"),
        ("a\x0cb\u2028c", 1, "lf"),
    ],
)
def test_lines_are_counted_by_their_ends(tmp_path, content, lines, newline):
    data = plain.get_map(make(tmp_path, "a.txt", content)).data

    assert (data["line_count"], data["newline"]) == (lines, newline)
    assert len(plain.extract_lines(make(tmp_path, "a.txt", content))) == lines


@pytest.mark.rule("F6.4")
@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("a.json", "{", {"kind": "json", "invalid": True}),
        ("a.json", "[" * 200_000, {"kind": "json", "invalid": True}),
        ("a.yaml", "a: 1\n# c: 2\n b: 3\nd:\n", {"kind": "yaml", "keys": ["a", "d"]}),
        ("a.xml", "<r><x/><y/><x/></r>", {"kind": "xml", "root": "r", "children": ["x", "y"]}),
        ("a.xml", "<r>", {"kind": "xml", "invalid": True}),
        ("a.xml", "<!DOCTYPE r []><r/>", {"kind": "xml", "root": None, "children": []}),
        (
            "a.html",
            "<!doctype html><html><head><meta><link></head><body><p>x</body></html>",
            {"kind": "html", "root": "html", "children": ["head", "body"]},
        ),
        (
            "a.md",
            "# One\n```\n# no\n```\nTwo\n---\n### Three ###\n",
            {
                "kind": "md",
                "headings": [
                    {"level": 1, "text": "One", "line": 1},
                    {"level": 2, "text": "Two", "line": 5},
                    {"level": 3, "text": "Three", "line": 7},
                ],
            },
        ),
        (
            "a.rst",
            "Top\n===\n\nSub\n---\n",
            {
                "kind": "rst",
                "headings": [
                    {"level": 1, "text": "Top", "line": 1},
                    {"level": 2, "text": "Sub", "line": 4},
                ],
            },
        ),
        (
            "a.md",
            "#\n# #\n## a #b ## \n# c#\n#d\n    # e\n",
            {
                "kind": "md",
                "headings": [
                    {"level": 1, "text": "", "line": 1},
                    {"level": 1, "text": "", "line": 2},
                    {"level": 2, "text": "a #b", "line": 3},
                    {"level": 1, "text": "c#", "line": 4},
                ],
            },
        ),
        (
            "a.yaml",
            "a b  : 1\n\"c d\" : 2\n'e': 3\nhttp://f: 4\ng:h\n",
            {"kind": "yaml", "keys": ["a b", "c d", "e"]},
        ),
        ("a.html", "<p><b></b><![foo[x]]>", {"kind": "html", "invalid": True}),
        ("a.py", "def f(): ...\n", None),
    ],
)
def test_the_outline_follows_the_ending(tmp_path, name, content, wanted):
    assert plain.get_map(make(tmp_path, name, content)).data["structure"] == wanted


@pytest.mark.rule("F6.4")
def test_the_outline_of_a_large_file_is_drawn_piece_by_piece(tmp_path):
    data: Any
    row = json.dumps({"id": 1, "text": "[{" * 300, "more": [1.5, None, True]})
    filler = "word " * 10_000 + "\n"
    wanted = {
        "a.json": ("[" + ",".join([row] * 28_000) + "]", ("array", 28_000)),
        "b.json": (
            "{" + ",".join(f'"k{n}":{row}' for n in range(28_000)) + "}",
            ("object", 28_000),
        ),
        "c.json": ("[" + ",".join([row] * 28_000) + "}", None),
    }
    for name, (content, found) in wanted.items():
        assert len(content) > 17 * MIB
        data = plain.get_map(make(tmp_path, name, content)).data["structure"]
        assert data.get("invalid") if found is None else (data["root"], data["length"]) == found
    markdown = make(tmp_path, "a.md", "# First\n" + filler * 360 + "Last\n====\n")
    data = plain.get_map(markdown).data["structure"]
    assert data["headings"] == [
        {"level": 1, "text": "First", "line": 1},
        {"level": 1, "text": "Last", "line": 362},
    ]
    xml = make(tmp_path, "a.xml", "<r><a>" + "x" * 17 * MIB + "</a><b/></r>")
    assert plain.get_map(xml).data["structure"] == {
        "kind": "xml",
        "root": "r",
        "children": ["a", "b"],
    }


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.rule("F6.4")
@given(value=_JSON, indent=st.none() | st.integers(0, 3), spoil=st.integers(0, 40))
def test_the_outline_of_json_is_that_of_the_whole_value(value, indent, spoil):
    content = json.dumps(value, indent=indent)
    content = content[:-spoil] if spoil < 20 and spoil else content

    found: Any = structure.outline(".json", io.StringIO(content))

    try:
        whole = json.loads(content)
    except ValueError:
        assert found == {"kind": "json", "invalid": True}
        return
    assert found["length"] == (len(whole) if isinstance(whole, list | dict) else None)
    assert found["keys"] == (list(whole)[:50] if isinstance(whole, dict) else [])


_BORDERS = (
    "1.5", "-0.25e-7", "1e+5", "12E3", "1.", "1e", "-", "1.5.2", "0" * 30, "1" * 5000, "-1" * 3,
    "true", "false", "null", "nul", "NaN", "Infinity", "-Infinity", "-Infinit",
    '"\\ud83d\\ude00"', '"\\ud83d"', '"\\u00e9\\\\"', '"\\"\\/"', '"\\x"', '"😀é"', '"\n"', '"',
    "[1.5e-3]", '{"a": [1.5, -0e1, {"b": null}]}', '{"a" 1}', "[1,]", "[]", "{}",
)  # fmt: skip


@pytest.mark.rule("F6.4")
@given(
    parts=st.lists(st.sampled_from(_BORDERS), max_size=4),
    root=st.sampled_from(["[{}]", "{{{}}}", "{}", "[{}", " [ {} ] "]),
    space=st.sampled_from(["", " ", "\n  ", " " * 30]),
    block=st.integers(1, 40),
)
def test_where_the_blocks_of_json_end_makes_no_difference(parts, root, space, block):
    named = [f'"k\\u00e9{n}"{space}:{space}{part}' for n, part in enumerate(parts)]
    inner = f"{space},{space}".join(named if root == "{{{}}}" else parts)
    content = root.format(inner)

    found = structure.outline(".json", io.StringIO(content, newline=""), block)

    assert found == structure.outline(".json", io.StringIO(content, newline=""))
    try:
        json.loads(content, parse_int=float)
    except ValueError:
        assert found == {"kind": "json", "invalid": True}
    else:
        assert found is not None
        assert "invalid" not in found


@pytest.mark.rule("F6.4")
def test_numbers_at_the_end_of_a_block_are_whole(tmp_path):
    block = 256 * KIB
    for number in ("1.5", "1e5", "1e-5", "-0.5E+10", "12345", "1" * 6000):
        for before in range(len(number) + 2 if len(number) < 20 else 3):
            content = "[" + " " * (block - 1 - before) + number + ",true]"
            data = plain.get_map(make(tmp_path, "a.json", content)).data["structure"]
            assert data == {"kind": "json", "root": "array", "keys": [], "length": 2}
    floats = ",".join(f'"k{n}": {n / 7}' for n in range(60_000))
    data = plain.get_map(make(tmp_path, "a.json", "{" + floats + "}")).data["structure"]
    assert data["length"] == 60_000  # type: ignore[index,call-overload]


@pytest.mark.rule("F6.4")
@pytest.mark.parametrize("before", [0, 1, 300 * KIB, 3 * MIB])
def test_only_a_json_value_above_the_limit_has_no_outline(tmp_path, before):
    for size, wanted in ((9 * MIB, True), (16 * MIB, True), (16 * MIB + 1, False)):
        value = '"' + "x" * (size - 2) + '"'
        content = "[1," + " " * before + f"[{before}]," + value + ",1.5]"
        data = plain.get_map(make(tmp_path, "a.json", content)).data["structure"]
        assert (data is not None) is wanted


@pytest.mark.rule("F6.4")
@given(
    start=st.sampled_from(["", "\ufeff", "\n \n", " " * 50]),
    declaration=st.sampled_from(["", '<?xml version="1.0" encoding="utf-16"?>', "<?xml?>"]),
    body=st.sampled_from(
        [
            "<r><a>é😀</a><!-- <x/> --><b:c xmlns:b='u' d='>'/><![CDATA[<y/>]]></r>",
            "<r>&amp;<a/>\r\n</r>\n",
            "<r><a></r>",
            "<!DOCTYPE r><r/>",
            "<r/><r/>",
        ]
    ),
    block=st.integers(1, 60),
)
def test_where_the_blocks_of_xml_end_makes_no_difference(start, declaration, body, block):
    content = start + declaration + body

    found = structure.outline(".xml", io.StringIO(content, newline=""), block)

    assert found == structure.outline(".xml", io.StringIO(content, newline=""))
    assert (found == {"kind": "xml", "invalid": True}) is (
        declaration == "<?xml?>" or body in ("<r><a></r>", "<r/><r/>")
    )


@pytest.mark.rule("F6.4")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_of_any_length_counts_as_one(tmp_path, end):
    line = 64 * KIB
    for size in (line - 2, line - 1, line, line + 1, 2 * line - 1, 2 * line):
        for name in ("a.md", "a.rst"):
            content = f"{'x' * size}{end}Two{end}==={end}{end}{'y' * size}{end}Three{end}-----"
            file = make(tmp_path, name, content)
            data: Any = plain.get_map(file).data["structure"]
            assert [(h["text"], h["line"]) for h in data["headings"]] == [("Two", 2), ("Three", 6)]


@pytest.mark.rule("F2.3")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_that_the_sample_cuts_says_nothing_about_tables(tmp_path, end):
    row = ";".join(["word" * 500] * 5) + end
    file = make(tmp_path, "a.txt", row * 20)

    assert plain.get_map(file).data["tabular_guess"] == {"delimiter": ";", "confidence": 1.0}


@pytest.mark.rule("F2.3")
def test_text_that_looks_like_a_table_says_so(tmp_path):
    file = make(tmp_path, "a.txt", "x|y\n" * 8)

    assert plain.get_map(file).data["tabular_guess"] == {"delimiter": "|", "confidence": 1.0}


@pytest.mark.rule("F5.2", "F5.3", "F5.5", "F6.5", "F6.6")
def test_reading_by_chunk_and_by_line(tmp_path):
    long = "".join(f"line {n} {'x' * 60}\n" for n in range(1, 451))
    file = make(tmp_path, "a.txt", long)

    first = plain.read(file, Selector())
    assert first.text.splitlines()[-1].startswith("line 200 ")
    assert first.chunk_info.to_json() == {
        "chunk_index": 0,
        "total_chunks": 3,
        "has_more": True,
        "lines": "1-200",
        "next": {"chunk_index": 1},
    }
    last = plain.read(file, Selector(chunk_index=2))
    assert (last.chunk_info.span, last.chunk_info.next) == ({"lines": "401-450"}, None)
    part = plain.read(file, Selector(line_start=449, line_count=1), line_numbers=True)
    assert part.text == f"449\tline 449 {'x' * 60}"
    assert part.chunk_info.next == Selector(line_start=450, line_count=1)
    small = plain.read(make(tmp_path, "b.txt", "a\nb\n"), Selector())
    assert (small.text, small.chunk_info.next, small.chunk_info.total_chunks) == ("a\nb", None, 1)


@pytest.mark.rule("F5.6", "F5.7", "F6.5")
@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        (Selector(sheet="Q1"), "bad_selector"),
        (Selector(line_start=0), "bad_index"),
        (Selector(line_start=4), "bad_index"),
        (Selector(line_start=1, line_count=0), "bad_index"),
        (Selector(chunk_index=1), "bad_index"),
        (Selector(chunk_index=-1), "bad_index"),
        (Selector(chunk_index=0, line_start=1), "op_conflict"),
        (Selector(char_offset=-1), "bad_index"),
    ],
)
def test_selectors_that_mean_nothing_are_refused(tmp_path, selector, reason):
    assert reason_of(plain.read, make(tmp_path, "a.txt", "a\nb\nc\n"), selector) == reason


def walk(read, file, selector):
    """Follow `next` to the end and return every piece."""
    pieces = []
    for _ in range(2000):
        part = read(file, selector)
        assert len(part.text.encode()) <= 64 * 1024
        pieces.append(part)
        if part.chunk_info.next is None:
            return pieces
        selector = part.chunk_info.next
    raise AssertionError("it does not end")


@pytest.mark.rule("F5.4", "F32.82")
def test_one_huge_line_is_split_and_nothing_is_lost(tmp_path):
    content = "é" * 2_500_000
    parts = walk(plain.read, make(tmp_path, "a.txt", content), Selector())

    assert "".join(part.text for part in parts) == content
    assert parts[0].warnings == (Warn("truncated_to_fit"),)


@pytest.mark.rule("F5.3", "F5.4")
@given(
    content=st.text(st.characters(codec="utf-8"), max_size=400),
    start=st.sampled_from(
        [Selector(), Selector(chunk_index=0), Selector(line_start=1, line_count=3)]
    ),
)
def test_following_next_gives_every_line_once(tmp_path_factory, content, start):
    file = make(tmp_path_factory.mktemp("t"), "a.txt", content)
    lines = plain.extract_lines(file)
    if not lines and start.line_start:
        return

    seen = [line for part in walk(plain.read, file, start) for line in part.text.split("\n")]

    assert seen == lines or (seen == [""] and not lines)


@pytest.mark.rule("F6.7", "F6.10", "F32.80")
def test_overwriting_keeps_encoding_mark_and_line_ends(tmp_path):
    old = make(tmp_path, "a.txt", "\ufeffeins\r\nzwei\r\n")

    done = plain.write_text(old, "a.txt", "eins\ndrei\n", tmp_path / "out")

    assert (tmp_path / "out").read_bytes() == "\ufeffeins\r\ndrei\r\n".encode()
    assert done.extra == {"bytes": 15, "line_count": 2, "newline": "crlf"}
    assert done.focus == {"line_start": 2, "line_end": 2}
    assert [effect.where for effect in done.effects.changed] == ["lines 2-2"]
    assert done.effects.collateral == ()


@pytest.mark.rule("F6.7")
def test_text_the_old_encoding_cannot_hold_becomes_utf8_and_says_so(tmp_path):
    old = make(tmp_path, "a.txt", "caf\xe9 cr\xe8me\n".encode("cp1252"))

    kept = plain.write_text(old, "a.txt", "thé\n", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == "thé\n".encode("cp1252")
    assert kept.warnings == ()
    changed = plain.write_text(old, "a.txt", "茶\n", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == "茶\n".encode()
    assert changed.warnings == (Warn("encoding_changed", where="utf-8"),)


@pytest.mark.rule("F6.9", "F6.10")
def test_an_edit_never_writes_other_bytes_for_the_same_letters_without_saying_so(tmp_path):
    """`≒` has two codes in cp932, and its codec writes the other one."""
    data = "これは日本語のテキストです。\n".encode("cp932") * 5 + b"\x87\x90\n"
    old = make(tmp_path, "a.txt", data)
    assert detect(old).name == "cp932"

    done = plain.edit_text(
        old, [{"search": "です", "replace": "だ", "expect": 5}], tmp_path / "out"
    )

    wanted = data.decode("cp932").replace("です", "だ")
    assert (tmp_path / "out").read_bytes() == wanted.encode()
    assert done.warnings == (Warn("encoding_changed", where="utf-8"),)


@pytest.mark.rule("F6.8")
def test_content_that_does_not_fit_its_ending_is_written_with_a_warning(tmp_path):
    out = tmp_path / "out"

    assert plain.write_text(None, "a.json", "{\n 1}", out).warnings == (
        Warn("invalid_json", where="line 2, column 2"),
    )
    assert plain.write_text(None, "a.csv", "a,b\n1,2\n3\n", out).warnings == (Warn("ragged_rows"),)
    assert plain.write_text(None, "a.csv", "a,b\n1,2\n", out).warnings == ()


@pytest.mark.rule("F6.7", "F32.92")
@pytest.mark.parametrize(
    ("name", "reason"), [("new.xlsx", "unsupported_format"), ("a.png", "read_only_format")]
)
def test_only_text_names_are_written(tmp_path, name, reason):
    assert reason_of(plain.write_text, None, name, "x", tmp_path / "out") == reason
    assert not (tmp_path / "out").exists()
    plain.write_text(None, "Dockerfile", "FROM x\n", tmp_path / "out")


def test_binary_content_and_too_much_text_are_refused(tmp_path):
    binary = make(tmp_path, "blob", b"\0\1\2")

    assert reason_of(plain.write_text, binary, "blob", "x", tmp_path / "o") == "read_only_format"
    big = "x" * (1024 * 1024 + 1)
    assert reason_of(plain.write_text, None, "a.txt", big, tmp_path / "o") == "too_large"
    assert reason_of(plain.write_text, None, "a.txt", "\ud800", tmp_path / "o") == "bad_value"


@pytest.mark.rule("F6.9", "F16.13")
def test_edits_change_only_their_place(tmp_path):
    file = make(tmp_path, "a.txt", b"one\r\ntwo\nthree\r\ntwo\n")

    done = plain.edit_text(
        file,
        [
            {"search": "one\ntwo", "replace": "1\n2"},
            {"search": "two", "replace": "zwei"},
        ],
        tmp_path / "out",
    )

    assert (tmp_path / "out").read_bytes() == b"1\n2\nthree\r\nzwei\n"
    assert done.effects.targets == ("lines 1-2", "lines 4-4")
    assert done.effects.collateral == ()
    assert [e.where for e in done.effects.changed] == ["lines 1-2", "lines 4-4"]
    assert done.changes == ((0, "1 place replaced"), (1, "1 place replaced"))


@pytest.mark.rule("F6.9", "F32.81")
@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([{"search": "two", "replace": "x"}], "ambiguous_match"),
        ([{"search": "two", "replace": "x", "expect": 3}], "ambiguous_match"),
        ([{"search": "four", "replace": "x"}], "no_match"),
        ([{"search": "", "replace": "x"}], "bad_value"),
        ([{"search": "one"}], "missing_field"),
        ([{"search": 1, "replace": "x"}], "bad_type"),
        ([{"search": "one", "replace": "x", "expect": True}], "bad_type"),
        ([], "bad_type"),
        ({"search": "one"}, "bad_type"),
        (["x"], "bad_type"),
        ([{"search": "one", "replace": "1"}, {"search": "four", "replace": "x"}], "no_match"),
    ],
)
def test_edits_are_all_or_none(tmp_path, edits, reason):
    file = make(tmp_path, "a.txt", "one two two\n")

    assert reason_of(plain.edit_text, file, edits, tmp_path / "out") == reason
    assert not (tmp_path / "out").exists()


@pytest.mark.rule("F6.9")
@pytest.mark.parametrize(
    ("search", "count"), [("\n\nb", None), ("x\n\n", None), ("x\nb", 1), ("\n", 2), ("\nb\n", 1)]
)
def test_both_characters_of_a_line_end_are_one_line_end(tmp_path, search, count):
    file = make(tmp_path, "a.txt", b"x\r\nb\r\n")
    edits: list[Json] = [{"search": search, "replace": "-", "expect": count or 1}]

    if count is None:
        assert reason_of(plain.edit_text, file, edits, tmp_path / "out") == "no_match"
    else:
        assert plain.edit_text(file, edits, tmp_path / "out").effects.collateral == ()


@pytest.mark.rule("F6.8")
def test_a_json_number_of_any_length_is_written_without_a_word(tmp_path):
    number = "9" * 5000
    done = plain.write_text(None, "a.json", f'{{"n": {number}}}', tmp_path / "out")

    assert done.warnings == ()
    assert number in (tmp_path / "out").read_text()


@pytest.mark.rule("F6.9")
def test_more_edits_than_a_call_may_have_are_refused(tmp_path):
    file = make(tmp_path, "a.txt", "one\n")
    edits = [{"search": "one", "replace": "one"}] * 101

    assert reason_of(plain.edit_text, file, edits, tmp_path / "out") == "too_large"


@pytest.mark.rule("F6.9")
def test_thousands_of_places_are_replaced_and_named_by_their_lines(tmp_path):
    file = make(tmp_path, "a.txt", "key\r\nother\r\n" * 5000)
    edits: list[Json] = [
        {"search": "key", "replace": "a\nb", "expect": 5000},
        {"search": "b\nother", "replace": "c", "expect": 5000},
    ]
    done = plain.edit_text(file, edits, tmp_path / "out")

    assert (tmp_path / "out").read_bytes() == b"a\r\nc\r\n" * 5000
    assert done.effects.collateral == ()


TEXTUAL = st.characters(
    codec="utf-8", exclude_characters="\0"
)  # with it a file is opaque, or UTF-16


@pytest.mark.rule("F6.9", "F16.14")
@given(
    content=st.text(TEXTUAL, min_size=1, max_size=80),
    at=st.integers(0, 79),
    size=st.integers(1, 10),
    new=st.text(TEXTUAL, max_size=10),
)
def test_an_edit_never_touches_anything_else(tmp_path_factory, content, at, size, new):
    folder = tmp_path_factory.mktemp("e")
    file = make(folder, "a.txt", content)
    if plain.get_map(file).data["newline"] not in ("lf",) or "\r" in new + content:
        return
    search = content[at : at + size]
    if not search or content.count(search) != 1 or content.startswith("\ufeff"):
        return

    done = plain.edit_text(file, [{"search": search, "replace": new}], folder / "out")

    assert (folder / "out").read_bytes() == content.replace(search, new).encode()
    assert done.effects.collateral == ()


@pytest.mark.rule("F7.1")
def test_csv_chunks_are_rows_with_their_header(tmp_path):
    content = "id,note\n" + "".join(f'{n},"a\tb\n{n}"\n' for n in range(1, 1002))
    file = make(tmp_path, "a.csv", content)

    part = read_rows(file, Selector(chunk_index=2))

    assert part.text == "row\tid\tnote\n1001\t1001\ta\\tb\\n1001"
    assert part.chunk_info.to_json() == {
        "chunk_index": 2,
        "total_chunks": 3,
        "has_more": False,
        "rows": "1001-1001",
        "next": None,
    }
    assert read_rows(file, Selector(line_start=1, line_count=1)).text == "id,note"


@pytest.mark.rule("F5.4", "F7.1")
def test_a_chunk_of_rows_beyond_64_kib_goes_on_by_rows(tmp_path):
    rows = [f'{n},"{chr(97 + n % 26) * 400}\n{n}"' for n in range(1, 701)]
    rows[600] = '601,"' + "é" * 70_000 + '"'
    file = make(tmp_path, "a.csv", "id,note\n" + "\n".join(rows) + "\n")

    found: list[str] = []
    spans: list[tuple[str, str]] = []
    at: Selector | None = Selector(chunk_index=0)
    while at is not None:
        part = read_rows(file, at)
        head, *lines = part.text.split("\n")
        assert head == "row\tid\tnote"
        assert len(part.text.encode()) <= 64 * 1024
        first, last = part.chunk_info.span["rows"].split("-")
        if spans and spans[-1][1] == first:  # the rest of a row that was split
            found[-1] += lines.pop(0)
        found += lines
        spans.append((first, last))
        at = part.chunk_info.next

    assert [line.partition("\t")[0] for line in found] == [str(n) for n in range(1, 701)]
    assert found[600] == "601\t601\t" + "é" * 70_000
    assert found[-1] == "700\t700\t" + chr(97 + 700 % 26) * 400 + "\\n700"
    assert spans[0][0] == "1"
    assert spans[-1][1] == "700"


@pytest.mark.rule("F6.2")
@given(
    content=st.text(st.sampled_from("ab\r\né"), max_size=60),
    block=st.integers(1, 5),
)
def test_counting_in_blocks_is_counting_lines(tmp_path_factory, content, block):
    file = make(tmp_path_factory.mktemp("m"), "a.txt", content)
    lines = plain.extract_lines(file)

    shape = plain.measure(file, detect(file), block)

    assert shape.line_count == len(lines)
    assert shape.longest_line == max(map(len, lines), default=0)
    assert shape.char_count == len(content)


@pytest.mark.rule("F7.2")
def test_info_of_a_table_tells_its_size(tmp_path):
    file = make(tmp_path, "a.csv", "id;name\n1;Müller\n2;Åse\n".encode("cp1252"))

    assert csv_info(file) == {
        "row_count": 2,
        "column_count": 2,
        "delimiter": ";",
        "encoding": "cp1252",
    }

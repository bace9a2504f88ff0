from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.formats.errors import FormatError
from backshop.formats.text.dialect import guess_tabular, sniff
from backshop.formats.text.dialect_wish import DialectWish, read_wish
from backshop.formats.text.heading import is_header
from backshop.formats.text.record import Grammar, read_records
from backshop.formats.text.rows import Rows

from .archives import file_source, source


@pytest.mark.needs("corpora")
@pytest.mark.rule("F25.3")
def test_csv_spectrum_is_read_exactly(corpora):
    pairs = sorted((corpora / "csv").rglob("*.csv"))
    assert pairs
    for path in pairs:
        wanted = json.loads(next((corpora / "csv").rglob(path.stem + ".json")).read_text("utf-8"))
        file = file_source(path)
        dialect = sniff(file)
        rows = [record.fields for record in Rows(file, dialect)]

        assert dialect.has_header, path.name
        assert [dict(zip(dialect.names, row, strict=True)) for row in rows] == wanted, path.name


@pytest.mark.rule("F25.3", "F25.7")
@pytest.mark.parametrize(
    ("name", "text", "delimiter", "header"),
    [
        ("a.csv", "a,b\n1,2\n", ",", True),
        ("a.csv", "a;b;c\n1,5;2,5;3\n1,5;2;3\n", ";", True),
        ("a.csv", "a\tb\n1\t2\n", "\t", True),
        ("a.tsv", "a, b\tc\n1,2\t3\n", "\t", True),
        ("a.psv", "a|b\n1|2\n", "|", True),
        ("a.csv", "1,2\n3,4\n", ",", False),
        ("a.csv", "Country,2019,2020\nNorway,1,2\n", ",", True),
        ("a.csv", "only\nwords\n", ",", True),
        ("a.csv", "", ",", False),
        ("a.csv", "a,b,c\n1,2,3,4\n1,2\n", ",", True),
        ("a.csv", "time,x\n10:30,1\n11:30,2\n", ",", True),
        ("data.txt", "a:b\n1:2\n3:4\n", ":", True),
    ],
)
def test_delimiter_and_header_are_found(tmp_path, name, text, delimiter, header):
    found = sniff(source(tmp_path, name, text.encode()))

    assert (found.delimiter, found.has_header) == (delimiter, header)


@pytest.mark.rule("F25.3")
@given(
    rows=st.lists(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=2, max_size=4
        ),
        min_size=1,
        max_size=5,
    ),
    delimiter=st.sampled_from(",;\t|"),
)
def test_records_give_back_what_a_writer_wrote(tmp_path_factory, rows, delimiter):
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    file = source(tmp_path_factory.mktemp("d"), "a.csv", buffer.getvalue().encode())
    dialect = sniff(file)

    found = Rows(file, replace(dialect, header=0, skip=0))
    read = [record.fields for record in found] + [record.fields for record in found.notes]
    if (
        dialect.delimiter == delimiter
        and dialect.grammar.quote == '"'
        and not dialect.grammar.escape
    ):
        assert read == rows


@pytest.mark.rule("F25.3", "F25.7")
@pytest.mark.parametrize("start", ["", "\n" * 300_000])
def test_a_first_record_longer_than_the_sample_is_read_to_its_end(tmp_path, start):
    header = ",".join(f"column {n}" for n in range(40_000))
    row = ",".join(map(str, range(40_000)))

    found = sniff(source(tmp_path, "a.csv", f"{start}{header}\n{row}\n".encode()))

    assert (found.delimiter, found.has_header, found.columns) == (",", True, 40_000)


@pytest.mark.rule("F2.3")
def test_plain_text_that_looks_like_a_table_is_noticed():
    assert guess_tabular(["a\tb\n"] * 6) == ("\t", 1.0)
    assert guess_tabular(["a\tb\n"] * 4) is None
    assert guess_tabular(["once upon a time\n"] * 9) is None


def test_records_know_their_lines(tmp_path):
    file = source(tmp_path, "a.csv", b'h,i\n"x\ny",1\n\nz,2\n')

    found = [(record.line, record.fields) for record in Rows(file, sniff(file))]
    assert found == [(2, ["x\ny", "1"]), (5, ["z", "2"])]


def test_values_are_no_header():
    assert not is_header(["2024-01-01", "3.5"])
    assert not is_header(["a", "a", "a"])
    assert is_header(["a", "a", ""])


@pytest.mark.rule("F25.10")
@pytest.mark.parametrize(
    ("text", "wish", "names", "rows"),
    [
        ("a;b|c\n1;2|3\n", {"delimiter": ";"}, ["a", "b|c"], [["1", "2|3"]]),
        ("a;b|c\n1;2|3\n", {"delimiter": "|"}, ["a;b", "c"], [["1;2", "3"]]),
        ("a::b\n1::2\n", {"delimiter": "::"}, ["a", "b"], [["1", "2"]]),
        ("a , b\n1 , 2\n", {"delimiter": ", "}, ["a", "b"], [["1", "2"]]),
        ("a , b\n1 , 2\n", {"delimiter": ","}, ["a ", " b"], [["1 ", " 2"]]),
        ("a b  c\n1 2  3\n", {"delimiter": " "}, ["a", "b", "", "c"], [["1", "2", "", "3"]]),
        ("a b  c\n1 2  3\n", {"delimiter": "  "}, ["a", "b", "c"], [["1", "2", "3"]]),
        ('a,b\n"1,2"\n', {"quote": ""}, ["a", "b"], [['"1', '2"']]),
        ("a,b\n'1,5',2\n", {"quote": "'"}, ["a", "b"], [["1,5", "2"]]),
        ('a,b\n"1\\"",2\n', {"escape": "\\"}, ["a", "b"], [['1"', "2"]]),
        ("x\ny\na,b\n1,2\n", {"skip": 1}, ["y", ""], [["a", "b"], ["1", "2"]]),
        ("x,y\na,b\n1,2\n", {"skip": 0, "header": 2}, ["x a", "y b"], [["1", "2"]]),
        ("a,b\nc,d\n", {"header": 0}, [], [["a", "b"], ["c", "d"]]),
        ("1,2\n3,4\n", {"header": 1}, ["1", "2"], [["3", "4"]]),
        ("Title\n1,2\n3,4\n", {"header": 1}, ["1", "2"], [["3", "4"]]),
    ],
)
def test_what_the_caller_knows_is_not_guessed(tmp_path, text, wish, names, rows):
    file = source(tmp_path, "a.csv", text.encode())

    dialect = sniff(file, wish=read_wish(wish))

    assert list(dialect.names) == names
    assert [record.fields for record in Rows(file, dialect)] == rows
    assert dialect.told.given == tuple(wish)
    again = sniff(file, wish=read_wish(dialect.told.to_json()))
    assert (again.grammar, again.names, again.skip) == (
        dialect.grammar,
        dialect.names,
        dialect.skip,
    )


@pytest.mark.rule("F25.10")
def test_an_encoding_can_be_told(tmp_path):
    file = source(tmp_path, "a.csv", "name;city\nŁukasz;Łódź\n".encode("cp1250"))

    dialect = sniff(file, wish=DialectWish(encoding="windows-1250"))

    assert [record.fields for record in Rows(file, dialect)] == [["Łukasz", "Łódź"]]
    assert (dialect.told.encoding, dialect.encoding.confidence) == ("cp1250", 1.0)
    with pytest.raises(FormatError) as caught:
        sniff(file, wish=DialectWish(encoding="utf-8"))
    assert caught.value.reason == "bad_encoding"


@pytest.mark.rule("F25.10")
@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        (5, "bad_type"),
        ("comma", "bad_value"),
        ('{"delimiter": ', "bad_value"),
        ('{"delimeter": ","}', "unknown_field"),
        ({"delimeter": ","}, "unknown_field"),
        ({"delimiter": 5}, "bad_type"),
        ({"header": True}, "bad_type"),
        ({"delimiter": ""}, "bad_value"),
        ({"delimiter": "12345"}, "bad_value"),
        ({"delimiter": "\n"}, "bad_value"),
        ({"delimiter": '"', "quote": '"'}, "bad_value"),
        ({"quote": "ab"}, "bad_value"),
        ({"escape": "^"}, "bad_value"),
        ({"skip": -1}, "bad_value"),
        ({"header": 4}, "bad_value"),
        ({"encoding": "klingon"}, "bad_value"),
        ({"encoding": "base64"}, "bad_value"),
        ({"encoding": "utf-8\0"}, "bad_value"),
    ],
)
def test_a_wish_that_means_nothing_is_refused(wish, reason):
    with pytest.raises(FormatError) as caught:
        read_wish(wish)

    assert caught.value.reason == reason


@pytest.mark.rule("F25.3")
@pytest.mark.parametrize(
    ("name", "lines", "guess"),
    [
        ("numbers", ["x y z\n", "1 2 3\n", "4 5 6\n", "7 8 9\n", "1 1 1\n"], (" ", 1.0)),
        ("sentences", ["one two three\n", "four five six\n"] * 4, None),
        ("times", ["10:30\n", "11:45\n", "12:15\n"] * 3, None),
        ("below a title", ["Report of it\n", "a;b\n", *["1;2\n"] * 5], (";", 1.0)),
    ],
)
def test_spaces_and_colons_part_columns_only_where_columns_are_plain(name, lines, guess):
    assert guess_tabular(lines) == guess


@pytest.mark.rule("F25.4")
@given(
    before=st.lists(st.sampled_from(["1,2,3", 'a,"b,c",d', 'x,"y ""z""",w', ",,"]), max_size=4),
    odd=st.text(alphabet=",\"x '", max_size=8),
    after=st.lists(st.sampled_from(["4,5,6", 'e,"f,g",h', '"i",j,k']), min_size=1, max_size=4),
)
def test_whatever_one_row_holds_the_rows_around_it_stay(before, odd, after):
    lines = [line + "\n" for line in [*before, odd, *after]]

    found = list(read_records(lines, Grammar(","), 3))

    whole = "".join(record.text for record in found)
    assert whole == "".join(lines)
    assert [record.text for record in found[: len(before)]] == lines[: len(before)]
    is_joined = '"' in odd and len(found) < len(lines)  # its quotes close well in a later line
    assert is_joined or [record.text for record in found] == lines


@pytest.mark.rule("F25.10")
@pytest.mark.parametrize("wish", [";", '{"delimiter": ";"}', {"delimiter": ";"}])
def test_a_dialect_is_told_as_an_object_as_its_json_or_by_its_delimiter_alone(wish):
    assert read_wish(wish).given == ["delimiter"]
    assert read_wish(wish).delimiter == ";"


@pytest.mark.rule("F25.12")
@pytest.mark.parametrize(
    ("last", "is_note"),
    [("-5", False), ("*", False), ("(12)", False), ("---", True), ("- so", True)],
)
def test_a_short_last_row_is_a_note_only_where_it_reads_like_words(tmp_path, last, is_note):
    file = source(tmp_path, "a.csv", f"a,b,c\n1,2,3\n4,5,6\n{last}\n".encode())

    found = Rows(file, sniff(file))

    assert [one.fields for one in found][2:] == ([] if is_note else [[last]])
    assert [one.fields for one in found.notes] == ([[last]] if is_note else [])

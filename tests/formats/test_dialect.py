from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.formats.text.dialect import guess_tabular, is_header, records, sniff

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
        rows = [fields for _, fields in records(file, dialect)]

        assert dialect.has_header, path.name
        assert [dict(zip(rows[0], row, strict=True)) for row in rows[1:]] == wanted, path.name


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

    if dialect.delimiter == delimiter:
        assert [fields for _, fields in records(file, dialect)] == rows


@pytest.mark.rule("F25.3", "F25.7")
@pytest.mark.parametrize("start", ["", "\n" * 300_000])
def test_a_first_record_longer_than_the_sample_is_read_to_its_end(tmp_path, start):
    header = ",".join(f"column {n}" for n in range(40_000))
    row = ",".join(map(str, range(40_000)))

    found = sniff(source(tmp_path, "a.csv", f"{start}{header}\n{row}\n".encode()))

    assert (found.delimiter, found.has_header, found.columns) == (",", True, 40_000)


@pytest.mark.rule("F2.3")
def test_plain_text_that_looks_like_a_table_is_noticed():
    assert guess_tabular("a\tb\n" * 6) == ("\t", 1.0)
    assert guess_tabular("a\tb\n" * 4) is None
    assert guess_tabular("once upon a time\n" * 9) is None


def test_records_know_their_lines(tmp_path):
    file = source(tmp_path, "a.csv", b'h,i\n"x\ny",1\n\nz,2\n')

    assert list(records(file, sniff(file))) == [
        (1, ["h", "i"]),
        (2, ["x\ny", "1"]),
        (5, ["z", "2"]),
    ]


def test_values_are_no_header():
    assert not is_header(["2024-01-01", "3.5"])
    assert not is_header(["a", "a", "a"])
    assert is_header(["a", "a", ""])

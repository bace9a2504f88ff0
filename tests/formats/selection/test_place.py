"""Places in the words people type and read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.formats import FILE, FormatError, Kind, Place, parse_place, spelled

numbers = st.integers(1, 10**6)
names = st.text(min_size=1, max_size=20)
optional_words = st.none() | st.text(min_size=1, max_size=30)
spans = st.tuples(numbers, numbers).map(sorted)
anywhere = st.one_of(
    st.builds(lambda w: (Kind.TEXT, Place(words=w)), optional_words),
    st.builds(
        lambda s, w: (Kind.TEXT, Place(line_start=s[0], line_end=s[1], words=w)),
        spans,
        optional_words,
    ),
    st.builds(lambda s: (Kind.CSV, Place(row_start=s[0], row_end=s[1])), spans),
    st.builds(
        lambda sheet, cells, w: (Kind.XLSX, Place(sheet=sheet, range=cells, words=w)),
        names,
        st.sampled_from([None, "B4", "B2:D9", "$A$1"]),
        optional_words,
    ),
    st.builds(lambda w: (Kind.XLSX, Place(range="B4:C9", words=w)), optional_words),
    st.builds(lambda n, w: (Kind.DOCX, Place(paragraph=n, words=w)), numbers, optional_words),
    st.builds(lambda n, m: (Kind.DOCX, Place(paragraph=n, paragraph_end=n + m)), numbers, numbers),
    st.builds(
        lambda n, r, c: (Kind.DOCX, Place(paragraph=n, table_row=r, table_column=c)),
        *[st.integers(0, 99)] * 3,
    ),
    st.builds(
        lambda n, s, w: (Kind.PPTX, Place(slide_index=n, shape=s, words=w)),
        st.integers(0, 99),
        st.none() | st.integers(0, 99),
        optional_words,
    ),
    st.builds(lambda n, w: (Kind.PDF, Place(page=n, words=w)), numbers, optional_words),
)


@pytest.mark.rule("F34.37")
@given(told=anywhere)
def test_a_place_in_words_is_the_same_place(told):
    kind, place = told

    assert parse_place(spelled(place), kind) == place


@pytest.mark.rule("F34.37")
@pytest.mark.parametrize(
    ("kind", "text", "place"),
    [
        (Kind.XLSX, "Sheet1!B4:C9", Place(sheet="Sheet1", range="B4:C9")),
        (Kind.XLSX, "'My sheet'!A1", Place(sheet="My sheet", range="A1")),
        (Kind.XLSX, "'It''s'!", Place(sheet="It's")),
        (Kind.TEXT, "line 12", Place(line_start=12, line_end=12)),
        (Kind.TEXT, "lines 12-14", Place(line_start=12, line_end=14)),
        (Kind.CSV, "rows 3-5", Place(row_start=3, row_end=5)),
        (Kind.DOCX, "paragraph 7", Place(paragraph=7)),
        (Kind.DOCX, 'paragraph 7 "words"', Place(paragraph=7, words="words")),
        (Kind.DOCX, '"say ""so"""', Place(words='say "so"')),
        (Kind.PPTX, "slide 3", Place(slide_index=2)),
        (Kind.PPTX, "slide 3 shape 2", Place(slide_index=2, shape=1)),
        (Kind.PDF, "page 2", Place(page=2)),
        (Kind.ODT, "", FILE),
    ],
)
def test_places_are_spelled_as_people_type_them(kind, text, place):
    assert parse_place(text, kind) == place
    assert spelled(place) == text


@pytest.mark.rule("F34.37")
@pytest.mark.parametrize("text", ["Lines 12 – 14", "  line 12-14 "])
def test_a_place_is_understood_as_it_is_typed(text):
    assert parse_place(text, Kind.TEXT) == Place(line_start=12, line_end=14)


@pytest.mark.rule("F34.37", "F44.1")
def test_what_texts_say_of_a_slide_is_taken_as_its_place():
    place = parse_place("slide 3 (slide_index 2) shape 1", Kind.PPTX)

    assert (place, spelled(place)) == (Place(slide_index=2, shape=0), "slide 3 shape 1")
    for several in ("slides 3-5", "slide 2 shapes 1-2"):
        with pytest.raises(FormatError, match="several places"):
            parse_place(several, Kind.PPTX)


@pytest.mark.rule("F34.37")
def test_a_sheet_by_its_name_is_the_whole_sheet():
    assert parse_place("My sheet", Kind.XLSX) == Place(sheet="My sheet")


@pytest.mark.rule("F34.37")
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.TEXT, "somewhere"),
        (Kind.TEXT, "line"),
        (Kind.TEXT, '"a" "b"'),
        (Kind.PPTX, "slide 0"),
        (Kind.PPTX, "slide 3 (slide_index 3)"),
        (Kind.XLSX, "S!nonsense"),
        (Kind.XLSX, "'unclosed!A1"),
    ],
)
def test_what_is_no_place_is_refused(kind, text):
    with pytest.raises(FormatError) as caught:
        parse_place(text, kind)

    assert caught.value.reason == "bad_selector"

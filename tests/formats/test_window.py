from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.formats import FormatError, Json
from backshop.formats.warning import Warn, Warnings
from backshop.formats.window import cut, shorten
from backshop.formats.write.style import StyleReader, boolean, colour, highlight, number, one_of


@pytest.mark.rule("F5.4")
@given(
    units=st.lists(st.text(st.characters(codec="utf-8"), max_size=30), max_size=12),
    most=st.integers(8, 60),
)
def test_cuts_in_turn_lose_nothing(units, most):
    left, offset, seen = list(units), 0, [""]
    for _ in range(1000):
        piece = cut(left, char_offset=offset, joiner="", max_bytes=most)
        assert len(piece.text.encode()) <= most
        seen.append(piece.text)
        if piece.complete:
            break
        left, offset = left[piece.units :], piece.char_offset or 0
    else:
        raise AssertionError("it does not end")

    assert "".join(seen) == "".join(units)


@pytest.mark.rule("F5.9")
@given(
    data=st.dictionaries(
        st.sampled_from(["sheets", "pages", "names"]),
        st.lists(st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 9)), max_size=60),
    ),
    most=st.integers(200, 600),
)
def test_short_maps_fit_and_tell_what_is_missing(data, most):
    brief = shorten(data, most)

    cut_lists = brief.pop("shortened", {})
    assert len(json.dumps(brief, separators=(",", ":")).encode()) <= most
    assert isinstance(cut_lists, dict)
    for name, values in data.items():
        kept = cut_lists.get(name, {"kept": len(values), "total": len(values)})
        assert kept["total"] == len(values)
        assert brief[name] == values[: kept["kept"]]


@pytest.mark.rule("F5.9")
def test_long_texts_of_a_map_are_cut_when_it_is_too_large():
    data: dict[str, Json] = {"sections": [{"index": 0, "heading": "x" * 1_000_000}]}

    assert shorten(data, 16_384) == {"sections": [{"index": 0, "heading": "x" * 499 + "…"}]}
    assert shorten(data, 2_000_000) == data


@pytest.mark.rule("F16.7", "F18.1")
def test_styles_that_cannot_be_used_are_left_out_with_a_warning():
    warnings = Warnings()
    style: dict[str, Json] = {
        "font_color": "redish",
        "font_bold": "yes",
        "size": 500,
        "glow": 1,
        "none": None,
    }
    reader = StyleReader(style, "operations[0].style", warnings)

    assert reader.get("font_color", colour) is None
    assert reader.get("font_bold", boolean) is True
    assert reader.get("size", number(1, 409)) is None
    assert reader.get("none", colour) is None
    with pytest.raises(FormatError) as refused:
        reader.refuse_others(["font_color", "font_bold", "size", "none"])

    assert (refused.value.reason, refused.value.detail) == (
        "unknown_field",
        "operations[0].style.glow: there is no field glow here",
    )
    assert warnings.all() == (
        Warn("style_value_ignored", where="operations[0].style.font_color"),
        Warn("style_value_ignored", where="operations[0].style.size"),
    )


@pytest.mark.rule("F18.1", "F19.1")
def test_style_words_are_read_in_all_their_spellings():
    assert [colour(c) for c in ("#ff0000", "00FF00", "80FF0000", "#F00", 7)] == [
        *("FF0000", "00FF00", "FF0000", None, None),
    ]
    assert [boolean(v) for v in (True, 0, 1, "Off", "maybe", 2, None, 1.5)] == [
        *(True, False, True, False, None, None, None, None),
    ]
    assert [highlight(v) for v in ("Bright-Green", "cyan", "light gray", "none", "rainbow")] == [
        *("bright_green", "turquoise", "gray_25", "none", None),
    ]
    assert one_of(("centerContinuous",))("CENTERCONTINUOUS") == "centerContinuous"

"""The bounded regular expressions agree with the usual ones, and never run away."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.base import pattern

ATOMS = st.sampled_from(
    ["a", "b", ".", "[ab]", "[^a]", "[a-c1]", r"\d", r"\w", r"\s", "(a|b)", "(?:ab)", "(a|)", "A"]
)
PLACES = st.sampled_from([r"\b", "^", "|"])
QUANTIFIERS = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "+?"])
SOURCES = st.lists(
    st.one_of(st.builds(str.__add__, ATOMS, QUANTIFIERS), PLACES), min_size=1, max_size=6
).map("".join)
FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


@pytest.mark.rule("R1.21")
@given(
    source=SOURCES,
    flags=st.sampled_from(["", "i", "m", "s", "im", "ims"]),
    text=st.text("abcA1 \n_", max_size=12),
)
def test_it_finds_exactly_what_the_usual_engine_finds(source, flags, text):
    usual = re.compile(source, sum(FLAGS[flag] for flag in flags))

    assert pattern.compiled(source, flags).search(text) == bool(usual.search(text))


@pytest.mark.rule("R1.18")
@pytest.mark.parametrize(
    "source",
    ["(a+)+$", "(a|a)*c", "(a|aa)+$", "(x+x+)+y", "(a*)*c", "(.*)*!!"],
)
@pytest.mark.timeout(5)
def test_hostile_expressions_end(source):
    text = ("ab" * 20 + "a" * 60) * 500 + "!"

    assert pattern.compiled(source).search(text) is False


@pytest.mark.rule("R1.18")
@pytest.mark.timeout(5)
def test_a_pattern_that_takes_too_much_work_says_so_instead_of_no_match():
    text = "".join(random.Random(1).choices("ab", k=5000)) + "c"

    with pytest.raises(pattern.TooCostly, match="pattern too costly"):
        pattern.compiled("a[ab]{200}c").search(text)


@pytest.mark.rule("P6.5")
def test_a_pattern_search_counts_its_work_over_all_texts():
    search = pattern.Search(pattern.compiled("a[ab]{9}c"), 2000)

    texts = (f"{number:b}".replace("0", "a").replace("1", "b") for number in range(2000))
    with pytest.raises(pattern.TooCostly):
        any(search.matches(text) for text in texts)


@pytest.mark.rule("R1.18")
@pytest.mark.parametrize(
    "source",
    [
        *("(", ")", "[", "[]", "a**", "*a", "a{3,2}", "a{1001}", "(?=a)", "(?!a)", "(?<=a)"),
        *(
            "(?<!a)",
            "a(?i)b",
            "(?x)a",
            r"(a)\1",
            "\\",
            r"\q",
            r"\x1",
            r"\u12",
            "[b-a]",
            "(?P<n",
            "^*",
        ),
        *("((a{100}){100}){100}", "(" * 60 + "a" + ")" * 60, "a" * 1001),
    ],
)
def test_what_cannot_be_read_is_refused(source):
    with pytest.raises(pattern.BadPattern):
        pattern.compiled(source)


@given(source=st.text("ab()[]{}|*+?.^$\\-,123xuPdwi:<>=! ", max_size=30))
def test_any_text_is_read_or_refused(source):
    try:
        pattern.compiled(source).search("aab b2")
    except pattern.BadPattern as error:
        assert str(error)


def test_named_groups_braces_and_escapes_are_read():
    assert pattern.compiled(r"(?P<day>\d{2})-(?<rest>\x41\u0042)").search("07-AB")
    assert pattern.compiled("{x}").search("a{x}b")
    assert pattern.compiled("(?im)^ab$").search("x\nAB\ny")
    assert pattern.compiled(r"[\]\-\d]+$").search("a-]1")


@pytest.mark.rule("R1.18")
def test_a_search_that_takes_too_much_work_says_so():
    text = "ab" * 250

    assert pattern.compiled("[ab]{50}c").search(f"{text}c")
    with pytest.raises(pattern.TooCostly):
        pattern.compiled("[ab]{500}c").search(f"{text}c")

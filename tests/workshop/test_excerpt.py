"""What a call is told of the conversation, and when the older part is summed up."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.workshop.prompt import excerpt as excerpts
from backshop.workshop.prompt.excerpt import Excerpt, Line


@dataclass(frozen=True)
class Said:
    message_id: str
    type: str
    text: str = ""
    status: str = "complete"
    event_kind: str | None = None
    metadata: dict[str, object] = field(default_factory=dict)


def talk(count: int) -> list[Said]:
    kinds = ("user_message", "assistant_message")
    return [Said(f"m{n}", kinds[n % 2], f"text {n}") for n in range(count)]


def summary(first: int, last: int, name: str = "s") -> Said:
    covers = {"first_id": f"m{first}", "last_id": f"m{last}", "count": last - first + 1}
    return Said(name, "summary_message", f"in short {last}", metadata={"covers": covers})


@pytest.mark.rule("W17.1")
def test_messages_are_told_and_what_the_person_did_is_a_note():
    line = [
        Said("a", "user_message", "do it"),
        Said("b", "assistant_message", "half", status="interrupted"),
        Said("c", "system_event", event_kind="checkpoint_published"),
        Said("d", "system_event", event_kind="notice"),
        Said("e", "user_message", "and now"),
    ]

    found = excerpts.excerpt(line).lines

    assert found == (
        Line("a", "user", "do it"),
        Line("b", "assistant", "half\n\n(This answer was interrupted.)", "half"),
        Line("e", "user", "(Note: the person published the Draft here.)\n\nand now", "and now"),
    )


@pytest.mark.rule("W6.8")
def test_only_what_the_person_wrote_counts_as_theirs():
    notes: dict[str, object] = {"note": "and the totals", "notes": ["not the plan"]}
    line = [
        Said("a", "user_message", "do it", metadata={"on_draft": True}),
        Said("b", "assistant_message", "done", metadata=notes),
        Said("c", "system_event", event_kind="draft_discarded"),
        Said("d", "user_message", "again"),
    ]

    found = excerpts.excerpt(line, added="with tables")

    assert found.asked(2) == ("do it\n\nand the totals\n\nnot the plan", "again\n\nwith tables")
    assert "(Note: the person discarded" in found.lines[-1].text


@pytest.mark.rule("W17.1", "W17.2", "M14.6", "W23.66")
def test_the_newest_summary_whose_messages_are_all_there_begins_the_excerpt():
    older, newer = summary(0, 3, "s1"), summary(0, 7, "s2")

    whole = excerpts.excerpt(talk(12), [older, newer])
    rewound = excerpts.excerpt(talk(6), [older, newer])
    before = excerpts.excerpt(talk(2), [older, newer])

    assert [one.message_id for one in whole.lines] == ["s2", "m8", "m9", "m10", "m11"]
    assert whole.covered == 8
    assert [one.message_id for one in rewound.lines] == ["s1", "m4", "m5"]
    assert [one.message_id for one in before.lines] == ["m0", "m1"]


@pytest.mark.rule("M14.1", "W17.1", "B16.9")
def test_when_the_older_part_is_summed_up():
    short = excerpts.excerpt(talk(20))
    long = Excerpt(tuple(Line(f"m{n}", "user", "x" * 3_000) for n in range(20)), "m0")
    few = Excerpt(tuple(Line(f"m{n}", "user", "x" * 30_000) for n in range(8)), "m0")

    def must(one, **more):
        return excerpts.must_compress(one, window_tokens=200_000, **more)

    assert excerpts.budget_chars(200_000) == 48_000
    assert excerpts.budget_chars(10_000) == 6_000
    assert not must(short)
    assert must(long)
    assert not must(few)
    assert not must(short, clutter_score=0.85)
    assert must(short, clutter_score=0.8501)
    assert must(short, prompt_tokens=191_809)
    assert not must(short, prompt_tokens=191_808)


@pytest.mark.rule("M14.2", "W17.2", "M14.4")
def test_the_eight_newest_stay_word_for_word():
    given_ = excerpts.excerpt(talk(20), [summary(0, 3)])

    parts = excerpts.split(given_)
    short = excerpts.summarised(given_, "all in short")
    cut = excerpts.omitted(given_)

    assert parts is not None
    assert (parts.first_id, parts.last_id, parts.count) == ("m0", "m11", 12)
    assert [one.message_id for one in parts.newer] == [f"m{n}" for n in range(12, 20)]
    assert short.lines[0] == Line("m11", "summary", "all in short")
    assert short.lines[1:] == cut.lines[1:] == parts.newer
    assert "12 earlier messages are left out" in cut.lines[0].text
    assert excerpts.as_material(parts.older).startswith("Summary of what came before: in short 3")


@given(count=st.integers(0, 40), covered=st.integers(0, 39))
def test_shortening_loses_no_new_message_and_can_be_repeated(count, covered):
    whole = excerpts.excerpt(talk(count), [summary(0, covered)] if covered else [])
    short = excerpts.summarised(whole, "s")

    assert short.lines[-8:] == whole.lines[-8:] or len(whole.lines) <= 9
    assert excerpts.summarised(short, "s") == short

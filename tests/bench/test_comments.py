"""Comments on the Draft: their places, answers, and what becomes of them (B24)."""

from __future__ import annotations

import io

import openpyxl
import pytest

from backshop.app import Backshop
from backshop.base.acting import By, acting_as
from backshop.base.errors import BackshopError
from backshop.base.limits import COMMENT_MAX_CHARS, COMMENTS_MAX
from backshop.base.paths import BenchPath
from backshop.base.place import Place
from backshop.bench import Author, Put, Source, decide
from backshop.bench.events import CommentAdded

LINES = "".join(f"line {number}\n" for number in range(1, 21))


@pytest.fixture
def drafted(room):
    room.add({"a.txt": LINES, "b.txt": "one\n", "t.csv": "k,v\na,1\nb,2\n"})
    room.write({"a.txt": LINES.replace("line 7\n", "line seven\n")})
    return room


def comments(room, **request):
    return room.call("ReviewListComments", **request)["comments"]


def say(room, text="look", path="a.txt", **request):
    return room.call("ReviewAddComment", path=path, text=text, **request)


def refusal(room, name, **request):
    with pytest.raises(BackshopError) as caught:
        room.call(name, **request)
    return caught.value.code, caught.value.reason


@pytest.mark.rule("B24.1", "B24.2")
def test_a_comment_has_place_quote_author_number_and_time(drafted):
    made = say(drafted, "why seven?", at="line 7")

    assert made["number"] == 1
    (one,) = comments(drafted)
    assert (one["path"], one["place_text"], one["text"]) == ("a.txt", "line 7", "why seven?")
    assert one["quote"] == "line seven"
    assert one["by"]["person"] == "owner"
    assert (one["is_touched"], one["is_gone"], one["is_resolved"]) == (False, False, False)


@pytest.mark.rule("B24.2")
def test_the_quote_of_a_comment_is_cut_between_words(room):
    room.add({"a.txt": "one\n"})
    words = " ".join(f"word{number}" for number in range(60))
    room.write({"a.txt": f"{words}\n"})
    say(room, "too long", at="line 1")
    say(room, "and these", at=f'"{words[:300]}"')

    for one in comments(room):
        assert len(one["quote"]) <= 200
        assert one["quote"].endswith("…")
        assert words.startswith(one["quote"][:-1] + " ")


@pytest.mark.rule("B24.1")
@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("a.txt", "line 21"),
        ("a.txt", "Sheet1!B4"),
        ("t.csv", "row 9"),
        ("a.txt", "slide 1"),
        ("a.txt", "somewhere"),
        ("a.txt", "lines 5-3"),
        ("a.txt", '"words that are not there"'),
    ],
)
def test_a_comment_on_a_place_that_is_not_there_is_refused(drafted, path, place):
    before = drafted.shop.store.position(f"bench:{drafted.id}")

    code, _ = refusal(drafted, "ReviewAddComment", path=path, text="x", at=place)

    assert code in ("VALIDATION_FAILED", "NOT_FOUND", "FILE_READ_FAILED")
    assert drafted.shop.store.position(f"bench:{drafted.id}") == before


@pytest.mark.rule("B24.1", "B24.2")
def test_comments_that_say_nothing_or_too_much_are_refused(drafted):
    assert refusal(drafted, "ReviewAddComment", path="a.txt", text=" \n ")[1] == "empty_comment"
    long = "x" * (COMMENT_MAX_CHARS + 1)
    assert refusal(drafted, "ReviewAddComment", path="a.txt", text=long)[1] == "comment_too_long"
    assert refusal(drafted, "ReviewAddComment", path="no.txt", text="x")[0] == "NOT_FOUND"
    assert refusal(drafted, "ReviewAddComment", path="../x", text="x")[1] == "bad_path"


@pytest.mark.rule("B24.4", "B24.5")
def test_a_comment_keeps_its_place_when_lines_come_before_it(drafted):
    say(drafted, at="line 12")
    say(drafted, at="line 7")
    now = "a new first line\n" + LINES.replace("line 7\n", "line VII\n")
    drafted.write({"a.txt": now})

    still, changed = comments(drafted)

    assert (still["place_text"], still["is_touched"]) == ("line 13", False)
    assert (changed["place_text"], changed["is_touched"]) == ("line 8", True)
    assert changed["made_at_place"] == "line 7"


@pytest.mark.rule("B24.4", "B24.9")
def test_a_comment_says_that_its_place_or_file_is_gone(drafted):
    say(drafted, at="lines 10-12")
    say(drafted, "the other", path="b.txt")
    drafted.write({"a.txt": "".join(LINES.splitlines(keepends=True)[:3])})
    drafted.call("DraftDeletePath", path="b.txt")

    lines, file = comments(drafted)

    assert (lines["is_gone"], lines["quote"]) == (True, "line 10 line 11 line 12")
    assert (file["is_gone"], file["is_touched"]) == (True, True)
    drafted.call("DraftUndo")
    assert comments(drafted)[1]["is_gone"] is False


@pytest.mark.rule("B24.9")
def test_a_comment_follows_its_file_to_another_name(drafted):
    say(drafted, at="line 12")
    drafted.call("DraftRenamePath", path="a.txt", new_path="c.txt")

    (one,) = comments(drafted)

    assert (one["path"], one["place_text"], one["is_gone"]) == ("c.txt", "line 12", False)
    drafted.call("DraftUndo")
    (one,) = comments(drafted)
    assert (one["place_text"], one["is_gone"]) == ("line 12", False)


@pytest.mark.rule("B24.5", "B24.6")
def test_an_agent_answers_a_comment_and_cannot_resolve_it(drafted, use):
    say(drafted, "please check")

    listed = use("list_comments")
    done = use("answer_comment", number=1, text="checked, all is well")

    assert [one["number"] for one in listed.value["comments"]] == [1]
    assert done.ok
    (one,) = comments(drafted)
    assert [(a["text"], a["is_agent"]) for a in one["answers"]] == [("checked, all is well", True)]
    assert one["is_resolved"] is False
    assert use("answer_comment", number=2, text="x").code == "not_found"


@pytest.mark.rule("B24.6")
def test_a_comment_is_resolved_and_opened_again_by_a_person(drafted):
    comment_id = say(drafted)["comment_id"]
    position = drafted.shop.store.position

    drafted.call("ReviewResolveComment", comment_id=comment_id)
    assert comments(drafted, state="open") == []
    assert comments(drafted, state="resolved")[0]["resolved_by"]["person"] == "owner"
    before = position(f"bench:{drafted.id}")
    drafted.call("ReviewResolveComment", comment_id=comment_id)
    assert position(f"bench:{drafted.id}") == before
    drafted.call("ReviewResolveComment", comment_id=comment_id, resolved=False)
    assert comments(drafted, state="open")[0].get("resolved_at") is None


@pytest.mark.rule("B24.7")
def test_a_comment_is_withdrawn_by_who_made_it_alone(drafted):
    with acting_as(By(person="user_" + "1" * 26)):
        theirs = say(drafted, "theirs")["comment_id"]
    ours = say(drafted, "ours")["comment_id"]

    with acting_as(By(person="owner")):
        assert refusal(drafted, "ReviewWithdrawComment", comment_id=theirs)[0] == "ACCESS_DENIED"
        drafted.call("ReviewWithdrawComment", comment_id=ours)

    assert [one["text"] for one in comments(drafted)] == ["theirs"]
    assert say(drafted, "again")["number"] == 3, "a number is not given twice"


@pytest.mark.rule("B24.3", "B24.8")
def test_comments_make_no_revision_and_outlast_a_restart_and_corrections(drafted, tmp_path):
    revision = drafted.call("DraftGetState")["revision_id"]
    say(drafted, "first")
    assert drafted.call("DraftGetState")["revision_id"] == revision
    drafted.call("DraftRevertPath", path="a.txt")
    say(drafted, "second")
    drafted.call("DraftUndo")
    drafted.call("DraftRestoreRevision", revision_id=revision)
    drafted.shop.close()

    with Backshop.open(tmp_path / "home") as again:
        listed = again.call("ReviewListComments", {"workbench_id": drafted.id})

    assert [one["text"] for one in listed["comments"]] == ["first", "second"]


@pytest.mark.rule("B24.3")
def test_publishing_ends_the_comments_of_a_draft(drafted):
    say(drafted, "keep this in the log")
    drafted.call("DraftPublish")
    drafted.write({"b.txt": "two\n"})

    assert comments(drafted) == []
    kinds = [one["kind"] for one in drafted.call("AuditList")["entries"]]
    assert "comment_added" in kinds


@pytest.mark.rule("B24.8")
def test_comments_are_made_while_an_agent_is_at_work(drafted):
    drafted.shop.store.leases.take(f"bench:{drafted.id}", "somebody", 60)

    say(drafted, "meanwhile")

    assert comments(drafted)[0]["text"] == "meanwhile"


@pytest.mark.rule("B24.3")
def test_a_step_back_of_an_agent_takes_no_comment_along(drafted):
    state = drafted.shop.benches.desk.state(drafted.id)
    start = state.draft.revision_id
    drafted.write({"b.txt": "two\n"})
    say(drafted, "made meanwhile")

    desk = drafted.shop.benches.desk
    fresh = desk.new_revision()
    desk.commit(
        drafted.id,
        lambda now: decide.rewind(
            now, now.revision(start), fresh, None, kind="rollback", actor="agent"
        ),
    )

    assert drafted.draft()["b.txt"] == "one\n"
    assert [one["text"] for one in comments(drafted)] == ["made meanwhile"]


@pytest.mark.rule("B24.4", "B24.9")
def test_what_a_comment_was_made_on_survives_retention_and_collection(drafted):
    say(drafted, at="line 12")
    agent = Author(source=Source(kind="workshop", ref="turn"))
    blobs = drafted.shop.store.blobs
    for number in range(260):
        text = (f"pushed {number}\n" + LINES).encode()
        put = Put(path="a.txt", blob=blobs.put(text), size=len(text))
        drafted.shop.benches.apply_batch(drafted.id, [put], agent)
    drafted.shop.store.collect(apply=True, grace_hours=-1)

    (one,) = comments(drafted)

    assert (one["place_text"], one["is_touched"]) == ("line 13", False)


@pytest.mark.rule("B24.2")
def test_a_draft_takes_ten_thousand_comments_and_no_more(drafted):

    desk = drafted.shop.benches.desk
    draft = desk.state(drafted.id).draft
    many = [
        CommentAdded(
            draft_id=draft.draft_id,
            comment_id=desk.new_comment(),
            path=BenchPath("a.txt"),
            place=Place(line_start=number % 20 + 1),
            tree=draft.tree,
            text=f"comment {number}",
        )
        for number in range(COMMENTS_MAX)
    ]
    desk.commit(drafted.id, lambda _: many)

    page = drafted.call("ReviewListComments", limit=1000)

    assert (page["total"], page["open_count"], len(page["comments"])) == (10_000, 10_000, 1000)
    assert refusal(drafted, "ReviewAddComment", path="a.txt", text="x")[1] == "too_many_comments"
    last = drafted.call("ReviewListComments", limit=1000, cursor="9000")
    assert (last["comments"][-1]["number"], last.get("next_cursor")) == (10_000, None)


@pytest.mark.rule("B24.1")
def test_markup_in_a_comment_is_text(drafted):
    say(drafted, "<script>alert(1)</script> <b>bold</b>")

    assert comments(drafted)[0]["text"] == "<script>alert(1)</script> <b>bold</b>"


@pytest.fixture
def office(room, use):
    """A Draft with a deck of two slides and a workbook."""
    made, data = openpyxl.Workbook(), io.BytesIO()
    made.create_sheet("Sales")
    made.save(data)
    room.add({"a.txt": LINES, "book.xlsx": data.getvalue()})
    slides = [{"op": "add_slide", "title": f"Title {n}", "body": f"Body {n}"} for n in (1, 2)]
    assert use("pptx_operations", path="deck.pptx", operations=slides).ok
    return room


@pytest.mark.rule("B24.1")
@pytest.mark.parametrize(
    ("path", "at", "reason"),
    [
        ("deck.pptx", "slide 99", "unknown_slide"),
        ("deck.pptx", "slide 2 shape 9", "bad_index"),
        ("deck.pptx", "page 3", "bad_selector"),
        ("book.xlsx", "line 3", "unknown_sheet"),
        ("a.txt", "lines 5-3", "bad_index"),
        ("a.txt", "somewhere", "bad_selector"),
    ],
)
def test_a_typed_place_that_is_not_there_is_told_as_it_was_typed(office, path, at, reason):
    with pytest.raises(BackshopError) as caught:
        say(office, path=path, at=at)

    error = caught.value
    assert error.reason == reason
    assert error.message.startswith(f"'{at}' is no place in {path}: ")
    assert error.detail is None
    assert not any(one in " ".join(error.hints) for one in ("index", "0 to", "_"))
    if reason == "unknown_slide":
        assert error.hints == ("slide 1 to 2",)


@pytest.mark.rule("B24.1")
def test_a_comment_on_a_shape_does_not_quote_the_whole_slide(office):
    say(office, path="deck.pptx", at="slide 2")
    say(office, path="deck.pptx", at="slide 2 shape 1")
    say(office, path="deck.pptx", at='slide 2 shape 1 "Title"')

    quotes = [one.get("quote") for one in comments(office)]
    assert quotes[0].startswith("Title 2")
    assert quotes[1:] == [None, "Title"]

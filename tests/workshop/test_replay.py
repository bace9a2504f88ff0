"""Replay or fork for effects: what a stopped turn did is taken over, never done twice (W12.7)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import PROOF
from tests.workshop.conftest import Chat, calls, plan, says

from backshop.app import Backshop

TABLE = "rows\nend\n"
SOME = settings(max_examples=60 if PROOF else 6)
TOOLS = st.sampled_from(["a", "b", "read", "list"])


def call(name: str):
    """Return a call: one that adds a row, or one that only looks."""
    if name == "list":
        return "list_files", {}
    if name == "read":
        return "read_file", {"path": "table.txt"}
    edit = {"search": "end\n", "replace": f"{name}\nend\n"}
    return "edit_text_file", {"path": "table.txt", "edits": [edit]}


def script(made: list[str], *, stops: bool):
    """Return a model that makes these calls in the one item, and then is done or unreachable."""
    steps = [calls("implement", n, call(name), item=1) for n, name in enumerate(made, 1)]
    last = len(made) + 1
    end = {"when": {"purpose": "implement", "turn": last}, "times": 0}
    steps.append({**end, "respond": {"error": "auth"} if stops else {"text": "Done."}})
    return [
        says("research", "A table."),
        says("plan", plan("Rows")),
        *steps,
        says("summary", "table.txt"),
    ]


def keys(chat: Chat) -> list[tuple[str, str, str, bool]]:
    """Return the log: tool, arguments, files before, and whether it was taken over."""
    found = chat.shop.workshops.book.state(chat.id).tools.values()
    return [(e.tool, e.args_sha256, e.tree_id, e.replay_of is not None) for e in found]


@pytest.mark.rule("W12.7", "W23.86", "W13.5", "W11.13")
@SOME
@given(st.lists(TOOLS, min_size=1, max_size=4), st.lists(TOOLS, min_size=1, max_size=5))
@example(["read", "a"], ["a", "read"])  # a file that is another one since is read again
@example(["a", "a"], ["a"])  # each on files of its own
def test_equal_calls_are_taken_over_and_others_begin_a_branch(before, after):
    with (
        tempfile.TemporaryDirectory() as folder,
        Backshop.open(Path(folder) / "home", settings={"model.default": "scripted:demo"}) as shop,
    ):
        chat = Chat(shop, Path(folder))
        chat.add({"table.txt": TABLE})
        chat.play(script(before, stops=True), "first")
        message = chat.send()
        assert chat.run(message)["status"] == "paused"
        first = keys(chat)
        chat.play(script(after, stops=False), "second")

        done = chat.run(message)

        rows = [name for name in after if name in "ab"]
        assert done["status"] == "complete"
        assert (chat.draft() or {"table.txt": TABLE})["table.txt"] == "\n".join(
            ("rows", *rows, "end", "")
        )
        second = keys(chat)[len(first) :]
        recorded = {one[:3] for one in first}
        own = second[: len(after)]
        assert [one[3] for one in own] == [one[:3] in recorded for one in own]
        writes = [one for one in (*first, *own) if one[0] == "edit_text_file" and not one[3]]
        assert chat.kinds().count("draft.batch_applied") == len(writes)
        assert len({one[:3] for one in writes}) == len(writes)  # no batch was made twice


@pytest.mark.rule("W12.7", "W11.13")
def test_what_an_attempt_did_that_failed_is_not_taken_over_into_the_next(chat):
    chat.add({"table.txt": TABLE})
    escape = ("write_text_file", {"path": "../x", "content": "x"})
    failing = calls("implement", 1, escape, item=1)
    chat.play(
        [
            says("research", "A table."),
            says("plan", plan("Rows")),
            {
                "when": {"purpose": "implement", "prompt": "The attempt before failed"},
                "times": 0,
                "respond": {"error": "auth"},
            },
            calls("implement", 1, call("a"), item=1),
            {**failing, "when": {"purpose": "implement"}},
        ],
        "first",
    )
    message = chat.send()
    assert chat.run(message)["status"] == "paused"
    assert chat.kinds().count("workshop.item_attempt_failed") == 1
    first = keys(chat)
    chat.play(script(["a"], stops=False), "second")

    assert chat.run(message)["status"] == "complete"

    [again] = keys(chat)[len(first) :]
    assert (again[:3] in {one[:3] for one in first}, again[3]) == (True, False)
    assert chat.draft() == {"table.txt": "rows\na\nend\n"}


@pytest.mark.rule("W12.7", "W15.9")
def test_answering_again_is_another_branch_and_takes_nothing_over(chat):
    chat.add({"table.txt": TABLE})
    chat.play(script(["a", "b"], stops=False))
    chat.ask()
    whole = chat.draft()

    chat.call("WorkshopRegenerate")

    assert chat.draft() == whole == {"table.txt": "rows\na\nb\nend\n"}
    assert not any(one[3] for one in keys(chat))
    assert chat.kinds().count("draft.batch_applied") == 4


@pytest.mark.rule("W12.7", "B8.15")
def test_a_state_that_is_not_kept_any_more_is_made_again(tmp_path):
    limits = {"model.default": "scripted:demo", "workshop.max_revisions": 10}
    with Backshop.open(tmp_path / "home", settings=limits) as shop:
        chat = Chat(shop, tmp_path)
        chat.add({"table.txt": TABLE})
        many = ["a"] * 14
        chat.play(script(many, stops=True), "first")
        message = chat.send()
        chat.run(message)
        chat.play(script(many, stops=False), "second")

        done = chat.run(message)

        assert done["status"] == "complete"
        assert chat.draft() == {"table.txt": "\n".join(("rows", *many, "end", ""))}

"""Tools as a turn uses them: paths and arguments put right, checks in their order, notes kept."""

from __future__ import annotations

import pytest
from tests.bench.conftest import AGENT
from tests.workshop.conftest import calls, hears, plan, says, story, write

from backshop.app.notice.hub import About
from backshop.prompts import ToolContext, invoke
from backshop.workshop.tool.recall import RECALL_TOOL, AgentSpace

ITEMS = [says("research", "Found."), says("plan", plan("Do it"))]
END = [says("implement", "Done."), says("summary", "Done.")]


def worked(chat, *wanted, purpose: str = "implement"):
    """Let the model make calls one after the other; return how each is in the log."""
    steps = [calls(purpose, number, one) for number, one in enumerate(wanted, 1)]
    chat.play([*steps, *ITEMS, *END])
    chat.ask()
    return [
        (one["tool"], one.get("path"), one["success"], one.get("error"))
        for one in chat.call("WorkshopGetToolLog")["entries"]
        if one["phase"] == purpose
    ]


@pytest.mark.rule("W7.5", "W23.72", "B4.10")
def test_paths_lose_the_name_of_a_view_and_nothing_else(chat):
    chat.add({"report.txt": "one\ntwo\n"})
    read = {"line_start": "2", "line_count": "1"}

    log = worked(
        chat,
        ("read_file", {"path": "draft/report.txt", **read}),
        ("read_file", {"path": "./report.txt"}),
        ("read_file", {"path": "a/report.txt"}),
        write("published/new.txt", "new"),
        ("docx_operations", {"path": "n.docx", "create_new": "true", "operations": [PARAGRAPH]}),
        ("xlsx_operations", {"path": "n.xlsx", "create_new": "True", "operations": CELLS}),
    )

    assert [(path, ok, error) for _, path, ok, error in log] == [
        ("draft/report.txt", True, None),
        ("./report.txt", True, None),
        ("a/report.txt", False, "not_found"),
        ("published/new.txt", True, None),
        ("n.docx", True, None),
        ("n.xlsx", True, None),
    ]
    entry = chat.call("WorkshopGetToolLogEntry", entry_id=1)
    assert "path_normalised" in entry["content"]
    assert "two" in entry["content"]  # the second line, although its number came as a text
    assert "one" not in entry["content"]
    paths = [one["path"] for one in chat.call("ReviewGetChangeSet")["entries"]]
    assert paths == ["n.docx", "n.xlsx", "new.txt"]
    grid = chat.call("WorkbenchFileGetGrid", path="n.xlsx", view="draft")
    first = grid["cells"][0][:2]  # a cell takes texts, so these stay what they are
    assert [one["value"] for one in first] == ["1", "true"]


CELLS = [
    {"op": "ensure_sheet", "sheet": "S"},
    {"op": "set_range", "sheet": "S", "range": "A1:B1", "data": [["1", "true"]]},
]
PARAGRAPH = {"op": "set_paragraphs", "paragraphs": ["Only a text"]}


@pytest.mark.rule("W7.5", "B4.10")
def test_a_folder_that_is_called_like_a_view_is_a_folder(chat):
    chat.add({"kept.txt": "k"})
    chat.write({"draft/x.txt": "x"})
    chat.call("DraftPublish")

    log = worked(chat, write("draft/y.txt", "y"))

    assert [(path, ok) for _, path, ok, _ in log] == [("draft/y.txt", True)]
    assert set(chat.draft() or {}) == {"kept.txt", "draft/x.txt", "draft/y.txt"}


@pytest.mark.rule("W23.71", "W1.3", "W8.2")
def test_a_path_out_of_the_bench_is_refused_and_the_turn_goes_on(chat, tmp_path):
    chat.add({"a.txt": "a"})
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.txt").write_text("SECRET")
    published = tmp_path / "home" / "benches" / chat.id / "published"
    published.chmod(0o755)
    (published / "link").symlink_to(secret)
    paths = ("../../etc/passwd", "/etc/passwd", "link/key.txt", str(secret / "key.txt"))

    log = worked(
        chat,
        *(("read_file", {"path": path}) for path in paths),
        write("../out.txt", "x"),
        write("in.txt", "in"),
    )

    assert [ok for _, _, ok, _ in log] == [False] * 5 + [True]
    assert (chat.answer()["status"], chat.draft()) == ("complete", {"a.txt": "a", "in.txt": "in"})
    for number in range(1, 6):
        assert "SECRET" not in chat.call("WorkshopGetToolLogEntry", entry_id=number)["content"]
    assert not list(tmp_path.rglob("out.txt"))


@pytest.mark.rule("W8.2", "W8.3", "W8.4", "W9.2")
def test_a_call_is_checked_by_phase_then_arguments_then_repetition(chat):
    chat.add({"a.txt": "a"})
    wrong = ("write_text_file", {"nothing": 1})
    outside = worked(chat, wrong, purpose="research")
    chat.send("again")

    again = [("read_file", {"line_start": "two"})] * 9
    inside = worked(chat, *again, purpose="research")[1:]

    assert [error for _, _, _, error in outside] == ["tool_not_available"]
    assert {error for _, _, _, error in inside} == {"bad_arguments"}
    assert len(inside) == 8  # eight failures in a row end it, not that they are alike
    problem = next(
        one["metadata"]["error"]
        for one in chat.call("WorkshopGetConversation")["messages"]
        if one.get("event_kind") == "run_failed"
    )
    assert problem["reason"] == "tool_errors_exhausted"


@pytest.mark.rule("W23.22", "W9.1")
def test_writing_a_sheet_piece_by_piece_is_no_repetition(chat):
    def piece(number: int):
        op = {"op": "set_range", "sheet": "S", "start": f"A{number}", "values": [["x"]]}
        first = [{"op": "ensure_sheet", "sheet": "S"}] if number == 1 else []
        new = {"create_new": True} if number == 1 else {}
        return "xlsx_operations", {"path": "b.xlsx", **new, "operations": [*first, op]}

    with chat.shop.hub.subscribe() as news:
        log = worked(chat, *(piece(number) for number in range(1, 11)))
        heard = {one.name for one in hears(news, lambda one: one.name == "WorkshopTurnFinished")}

    assert [ok for _, _, ok, _ in log] == [True] * 10
    assert "WorkshopAgentLoopWarning" not in heard


@pytest.mark.rule("W7.7", "W10.7", "B13.2")
def test_a_note_of_a_change_is_its_summary_and_a_missing_one_is_made_up_from_it(chat):
    chat.add({"a.txt": "one\n"})
    named = ("write_text_file", {"path": "a.txt", "content": "two\n", "change_note": "Zwei"})
    plain = ("write_text_file", {"path": "b.txt", "content": "b\n"})
    long = ("write_text_file", {"path": "c.txt", "content": "c", "change_note": "x" * 281})

    log = worked(chat, named, plain, long)

    assert [(path, ok, error) for _, path, ok, error in log[:2]] == [
        ("a.txt", True, None),
        ("b.txt", True, None),
    ]
    assert log[2][2:] == (False, "bad_arguments")
    summaries = {path: chat.call("ReviewGetSummary", path=path) for path in ("a.txt", "b.txt")}
    assert summaries["a.txt"]["summary_markdown"] == "Zwei"
    assert summaries["b.txt"]["summary_markdown"]
    assert chat.call("ReviewGetChangeSet")["draft_summary"].startswith("Done.")


@pytest.mark.rule("W5.6", "W4")
def test_clients_are_told_which_tool_calls_change_the_draft(chat):
    chat.play(story(("b.txt", "blue")))
    with chat.shop.hub.subscribe(About(workbench_id=chat.id)) as live:
        chat.ask("Write b.txt")
        heard = hears(live, lambda one: one.name == "WorkshopTurnFinished")

    told = [one.payload for one in heard if one.name == "WorkshopToolExecuting"]
    assert {one["tool_name"]: one["writes"] for one in told} == {
        "list_files": False,
        "write_text_file": True,
    }


@pytest.mark.rule("W8.7", "W15.5")
def test_a_result_of_work_that_was_taken_back_is_not_recalled(chat):
    look = calls("research", 1, ("list_files", {}))
    chat.play([look, says("research", "r"), says("plan", "## Items\nnone"), says("summary", "s")])
    first = chat.send("First")
    chat.ask("Second")
    space = AgentSpace(chat.shop.benches, chat.id, AGENT, None, chat.shop.workshops.book)

    def recalled() -> str:
        params = RECALL_TOOL.decode({"entry_id": 1})
        found = invoke(RECALL_TOOL, params, context=ToolContext(workspace=space))
        return "found" if found.ok else str(found.code)

    assert recalled() == "found"
    chat.call("WorkshopUndoToMessage", message_id=first)
    assert recalled() == "entry_inactive"
    chat.call("WorkshopRedo")
    assert recalled() == "found"

"""A loop with an attendant: repetition, exhaustion, empty and cut answers, what is shown."""

from __future__ import annotations

import threading

import pytest

from backshop.base.errors import BackshopError
from backshop.models.adapter.offline import scripted
from backshop.models.loop.observer import Attendant
from backshop.models.loop.response import PromptEvaluationError
from backshop.models.messages import Role, ToolChoice
from backshop.prompts import Session, Tool, ToolResult

from .prompting import LOOK, WRITE, Ask, make_prompt

ASK = Ask("please")


def look(path="a", **more):
    return {"respond": {"tool_calls": [{"name": "look", "arguments": {"path": path, **more}}]}}


def said(text, **more):
    return {"respond": {"text": text, **more}}


def broken(kind):
    return {"respond": {"error": kind, "tool_calls": [{"name": "look"}]}}


class Beside(Attendant):
    """Keeps everything it hears."""

    run_id = "run_1"

    def __init__(self):
        self.calls, self.warnings, self.text, self.tree = [], [], [], 0

    def tree_id(self):
        return str(self.tree)

    def called(self, called):
        self.calls.append((called.call.name, called.ok, called.record.code))
        if called.call.name == "write":
            self.tree += 1

    def warned(self, call, count):
        self.warnings.append((call.name, count))

    def said(self, text):
        self.text.append(text)


def attend(*steps, beside=None, max_turns=50, purpose="research", tools=(LOOK, WRITE)):
    adapter, beside = scripted(steps), beside or Beside()
    session = Session()
    prompt = make_prompt(output=None, tools=tools, purpose=purpose)
    with session.limited(max_turns=max_turns):
        response = adapter.attended(prompt, ASK, attendant=beside, session=session)
    assert not adapter.leftover
    return adapter, beside, response


def refused(*steps, **fields) -> tuple[PromptEvaluationError, Beside]:
    beside = fields.pop("beside", None) or Beside()
    with pytest.raises(PromptEvaluationError) as caught:
        attend(*steps, beside=beside, **fields)
    return caught.value, beside


def tool_texts(request):
    return [one.text for one in request.messages if one.role is Role.TOOL]


@pytest.mark.rule("W8.1", "W8.4", "M13.2")
def test_every_call_is_heard_once_and_counted_under_the_run():
    adapter, beside, response = attend(look(), look("none"), said("done"))

    assert beside.calls == [("look", True, ""), ("look", False, "not_found")]
    assert response.text == "done"
    assert {request.run_id for request in adapter.requests} == {"run_1"}


@pytest.mark.rule("W9.2", "W23.21")
def test_the_third_same_call_is_warned_and_the_fifth_is_not_run():
    error, beside = refused(*[look()] * 5)

    assert (error.error.error_code, error.error.reason) == (
        "AGENT_LOOP_DETECTED",
        "repeated_call",
    )
    assert beside.warnings == [("look", 3), ("look", 4)]
    assert [ok for _, ok, _ in beside.calls] == [True] * 4 + [False]
    assert beside.calls[-1][2] == "repeated_call"


@pytest.mark.rule("W9.2")
def test_a_warning_stands_before_the_answer_and_stays_there():
    adapter, _, _ = attend(look(), look(), look(), look("b"), said("done"))

    first, second, third, fourth = tool_texts(adapter.requests[-1])
    assert first == second == "a:1"
    assert third.startswith("Notice: you have made exactly this call 3 times")
    assert third.endswith("\n\na:1")
    assert fourth == "b:1"
    assert tool_texts(adapter.requests[-2])[2] == third


@pytest.mark.rule("W9.1", "W23.23")
def test_the_same_read_after_a_write_is_a_new_call():
    write = {"respond": {"tool_calls": [{"name": "write", "arguments": {"path": "w"}}]}}

    _, beside, _ = attend(*[look(), write] * 6, said("done"))

    assert beside.warnings == []


@pytest.mark.rule("W23.24")
def test_two_calls_in_turn_stop_when_one_reaches_five():
    error, beside = refused(*[look("a"), look("b")] * 5)

    assert error.error.reason == "repeated_call"
    assert len(beside.calls) == 9


@pytest.mark.rule("W9.3", "W23.25")
def test_with_two_requests_left_it_is_said_and_the_last_has_no_tools():
    adapter, _, response = attend(look("a"), look("b"), look("c"), said("so far"), max_turns=4)

    texts = tool_texts(adapter.requests[-1])
    assert [("requests are left" in text) for text in texts] == [False, True, False]
    assert [one.tool_choice for one in adapter.requests][-1] is ToolChoice.NONE
    assert (response.text, response.finish_reason) == ("so far", "tool_limit")


@pytest.mark.rule("W9.3")
def test_a_last_request_without_text_ends_the_loop():
    error, _ = refused(look("a"), look("b"), max_turns=2)

    assert (error.error.error_code, error.error.reason) == ("AGENT_LOOP_DETECTED", "turn_limit")


@pytest.mark.rule("W9.3", "W9.4")
def test_a_last_request_that_is_answered_with_nothing_has_run_out_and_is_not_invalid():
    empty = {"respond": {"error": "empty"}}
    adapter, _, response = attend(look("a"), empty, said("so far"), max_turns=2)
    error, _ = refused(look("a"), empty, empty, max_turns=2)

    assert response.text == "so far"
    assert "tool" not in adapter.requests[-1].messages[-1].text.replace("No tool can be", "")
    assert (error.error.error_code, error.error.reason) == ("AGENT_LOOP_DETECTED", "turn_limit")


@pytest.mark.rule("W9.4", "W23.26")
def test_an_empty_answer_is_reminded_once():
    empty = {"respond": {"error": "empty"}}
    adapter, _, response = attend(look(), empty, said("done"))
    error, _ = refused(look(), empty, empty)

    assert response.text == "done"
    assert adapter.requests[-1].messages[-1].text.startswith("Your last answer was empty")
    assert (error.error.error_code, error.error.reason) == (
        "PROVIDER_BAD_RESPONSE",
        "model_output_invalid",
    )


@pytest.mark.rule("W9.4")
def test_text_cut_by_its_length_is_continued_once():
    cut = {"finish": "length"}
    adapter, beside, response = attend(
        said("one ", **cut), said("two ", **cut), purpose="summary", tools=()
    )

    assert response.text == "one two "
    assert response.finish_reason == "length"
    assert "".join(beside.text) == "one two "
    assert [one.text for one in adapter.requests[-1].messages][-2] == "one "


@pytest.mark.rule("W9.4")
def test_text_that_fills_the_window_is_the_answer_as_far_as_it_came():
    _, beside, response = attend(
        said("one ", finish="length"), broken("context_length"), purpose="summary", tools=()
    )

    assert (response.text, response.finish_reason) == ("one ", "length")
    assert "".join(beside.text) == "one "


@pytest.mark.rule("W9.4")
def test_a_call_cut_by_its_length_is_answered_and_the_loop_goes_on():
    adapter, beside, response = attend(broken("length"), look("b"), look(7), said("done"))

    assert response.text == "done"
    told = tool_texts(adapter.requests[-1])
    assert ["cut off by its length" in one for one in told] == [True, False, False]
    assert [ok for _, ok, _ in beside.calls] == [False, True, False]


@pytest.mark.rule("W8.3", "W23.15")
def test_three_calls_that_cannot_be_read_end_the_loop():
    bad = broken("bad_json_arguments")
    error, beside = refused(bad, bad, bad)
    _, _, response = attend(bad, bad, look(), bad, bad, said("done"))

    assert error.error.reason == "model_output_invalid"
    assert beside.calls == [("look", False, "bad_arguments")] * 3
    assert response.text == "done"


@pytest.mark.rule("W8.3")
def test_eight_failing_calls_end_the_loop():
    steps = [look("none", line=n) for n in range(1, 9)]
    error, _ = refused(*steps)
    _, _, response = attend(*steps[:7], look("a"), *steps[:3], said("done"))

    assert error.error.error_code == "AGENT_LOOP_DETECTED"
    assert error.error.reason == "tool_errors_exhausted"
    assert response.text == "done"


@pytest.mark.rule("W8.3")
def test_calls_of_one_answer_fail_as_one_because_none_could_learn_from_another():
    def answer(*arguments):
        return {"respond": {"tool_calls": [{"name": "look", "arguments": a} for a in arguments]}}

    missing = [{"path": "none", "line": n} for n in range(1, 10)]
    unread = {"respond": {"error": "bad_json_arguments", "tool_calls": [{"name": "look"}] * 4}}
    _, beside, response = attend(answer(*missing), unread, look(), said("done"))
    error, _ = refused(*[answer(*missing[:2])] * 2, *[answer(*missing[2 + n :]) for n in range(6)])

    assert response.text == "done"
    assert [ok for _, ok, _ in beside.calls] == [False] * 13 + [True]
    assert error.error.reason == "tool_errors_exhausted"


@pytest.mark.rule("W16.3")
def test_without_need_of_a_tool_the_choice_is_free_from_the_start():
    beside = Beside()
    beside.needs_tool = False

    adapter, _, _ = attend(said("nothing here"), beside=beside)
    forced, _, _ = attend(look(), said("done"))

    assert adapter.requests[0].tool_choice is ToolChoice.AUTO
    assert forced.requests[0].tool_choice is ToolChoice.FIRST_TURN_REQUIRED


@pytest.mark.rule("W8.5")
def test_the_model_sees_of_answers_what_the_attendant_shows():
    class Short(Beside):
        def called(self, called):
            super().called(called)
            return f"receipt {len(self.calls)}" if len(self.calls) < 3 else None

    adapter, _, _ = attend(look("a"), look("b"), look("c"), said("done"), beside=Short())

    assert tool_texts(adapter.requests[1]) == ["receipt 1"]  # cut when it is first sent
    assert tool_texts(adapter.requests[-1]) == ["receipt 1", "receipt 2", "c:1"]


def test_an_attendant_can_end_the_loop():
    class Lost(Beside):
        def calling(self, call):
            raise Busy("the lease is gone", reason="lease_lost")

    class Busy(BackshopError):
        code = "BENCH_BUSY"

    error, beside = refused(look(), beside=Lost())

    assert (error.error.error_code, error.error.reason) == ("BENCH_BUSY", "lease_lost")
    assert beside.calls == []


@pytest.mark.rule("M8.8", "W5.7")
def test_only_text_that_people_read_is_passed_on():
    _, quiet, _ = attend(look(), said("research text"))
    _, heard, _ = attend({"respond": {"deltas": ["a", "b"]}}, purpose="summary", tools=())

    assert quiet.text == []
    assert heard.text == ["a", "b"]


@pytest.mark.rule("M12.1", "W5.11")
def test_a_read_that_is_under_way_does_not_hold_up_the_end():
    session, began, over = Session(), threading.Event(), threading.Event()

    def wait(params, *, context):
        began.set()
        over.wait(60)
        return ToolResult(ok=True, message="late")

    slow = Tool("slow", "Waits.", None, wait, effects="read")
    adapter = scripted([{"respond": {"tool_calls": [{"name": "slow"}]}}])

    def stop():
        assert began.wait(60)
        session.cancel.request()

    stopper = threading.Thread(target=stop)
    stopper.start()

    with pytest.raises(PromptEvaluationError) as caught:
        adapter.attended(
            make_prompt(output=None, tools=(slow,)), ASK, attendant=Beside(), session=session
        )

    assert not over.is_set()  # the tool itself is still waiting
    assert caught.value.error.error_code == "USER_CANCELED"
    over.set()
    stopper.join()

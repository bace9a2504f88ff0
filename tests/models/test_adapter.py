"""Evaluating prompts with the scripted model: the loop, its limits and its errors."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from backshop.base.errors import ValidationFailed
from backshop.models.adapter.adapter import AdapterBase
from backshop.models.adapter.offline import ScriptedAdapter, scripted
from backshop.models.loop.response import (
    OptimizationResult,
    OptimizationScope,
    Phase,
    PromptEvaluationError,
    PromptResponse,
    ProviderAdapter,
)
from backshop.models.loop.retrying_call import RetryAnnounced
from backshop.models.messages import Role, ToolChoice
from backshop.prompts import (
    ConversationItem,
    LimitReached,
    MarkdownSection,
    PromptExecuted,
    PromptFailed,
    PromptRendered,
    Session,
    TextDelta,
    TokenUsage,
    ToolInvoked,
    ToolResult,
)

from .prompting import LOOK, STUCK, STUCK_TOOL, Ask, Note, Review, make_prompt

ANSWER = '```json\n{"summary": "fine", "issues": ["a"]}\n```'
ASK = Ask("please")


def text(answer=ANSWER, **more):
    return {"respond": {"text": answer}, **more}


def calls(*names_and_arguments, said=""):
    made = [{"name": name, "arguments": arguments} for name, arguments in names_and_arguments]
    return {"respond": {"text": said or None, "tool_calls": made}}


def evaluate(*steps, prompt=None, session=None, **fields):
    adapter = scripted(steps)
    session = session or Session()
    response = adapter.evaluate(prompt or make_prompt(), ASK, session=session, **fields)
    return adapter, session, response


def failing(*steps, prompt=None, session=None, adapter=None, **fields):
    adapter = adapter or scripted(steps)
    session = session or Session()
    with pytest.raises(PromptEvaluationError) as caught:
        adapter.evaluate(prompt or make_prompt(), ASK, session=session, **fields)
    assert len(session.view()[PromptFailed].all()) == (0 if session.closed else 1)
    return caught.value, adapter, session


@pytest.mark.rule("P5.3", "P5.4", "P5.6", "P11.55")
def test_a_prompt_with_tools_is_answered_and_recorded():
    adapter, session, response = evaluate(calls(("look", {"path": "a", "line": None})), text())

    assert response.output == Review("fine", ["a"])
    assert response.text == ANSWER
    assert response.structured_output == {"summary": "fine", "issues": ["a"]}
    assert response.finish_reason == "stop"
    assert response.usage.estimated
    assert [(one.tool, one.ok, one.message) for one in response.tool_results] == [
        ("look", True, "a:1")
    ]
    view = session.view()
    (rendered,) = view[PromptRendered].all()
    (executed,) = view[PromptExecuted].all()
    assert rendered.rendered_hash == executed.rendered_hash == response.rendered_hash
    assert (executed.turns, executed.tool_calls) == (2, 1)
    assert view[ToolInvoked].all() == response.tool_results
    assert view[PromptFailed].all() == ()
    assert adapter.leftover == ()
    first, second = adapter.requests
    assert [one.role for one in first.messages] == [Role.SYSTEM, Role.USER]
    assert first.messages[1].text.endswith("please")
    assert first.tool_choice is ToolChoice.FIRST_TURN_REQUIRED
    assert second.messages[-1].text == "a:1"
    assert second.has_tool_result


@pytest.mark.rule("P5.1", "P11.55")
def test_the_signatures_are_the_founding_documents():
    optimize = inspect.signature(ScriptedAdapter.optimize)
    evaluated = inspect.signature(ScriptedAdapter.evaluate)

    assert [(p.name, p.kind.name, p.default) for p in optimize.parameters.values()][1:] == [
        ("prompt", "POSITIONAL_OR_KEYWORD", inspect.Parameter.empty),
        ("params", "VAR_POSITIONAL", inspect.Parameter.empty),
        ("store_scope", "KEYWORD_ONLY", OptimizationScope.SESSION),
        ("overrides_store", "KEYWORD_ONLY", None),
        ("overrides_tag", "KEYWORD_ONLY", None),
        ("focus_areas", "KEYWORD_ONLY", None),
        ("parse_output", "KEYWORD_ONLY", True),
        ("session", "KEYWORD_ONLY", inspect.Parameter.empty),
    ]
    wanted = [n for n in optimize.parameters if n not in ("store_scope", "focus_areas")]
    assert list(evaluated.parameters) == wanted
    assert inspect.signature(ProviderAdapter.optimize) == optimize
    assert inspect.signature(AdapterBase.evaluate) == inspect.signature(ProviderAdapter.evaluate)
    assert isinstance(scripted([text()]), ProviderAdapter)


@pytest.mark.rule("P5.22")
def test_a_result_can_be_made_the_founding_documents_way():
    response: PromptResponse[None] = PromptResponse(prompt_name="p", model_id="m", text="t")

    result = OptimizationResult(digest="d", response=response, scope=OptimizationScope.SESSION)

    assert (result.section_key, result.section_path, result.fingerprint, result.persisted) == (
        "",
        (),
        "",
        (),
    )


@pytest.mark.rule("P5.3")
def test_a_prompt_without_a_request_begins():
    prompt = make_prompt().clone_with(restricted_sections=["brief"], output=None)
    adapter = scripted([text("hello")])

    response = adapter.evaluate(prompt, session=Session())

    assert adapter.requests[0].messages[-1].text == "Begin."
    assert (response.text, response.output) == ("hello", None)


@pytest.mark.rule("P5.3", "P2.19")
def test_the_conversation_is_sent_when_the_prompt_asks_for_it():
    session = Session()
    session[ConversationItem].append(
        ConversationItem(message_id="1", role="summary", text="long ago")
    )
    session[ConversationItem].append(ConversationItem(message_id="2", role="assistant", text="hi"))

    adapter, _, _ = evaluate(text(), prompt=make_prompt(include_conversation=True), session=session)

    roles = [(one.role.value, one.text) for one in adapter.requests[0].messages[1:]]
    assert roles[0][0] == "user"
    assert roles[0][1].endswith("long ago")
    assert roles[1] == ("assistant", "hi")


@pytest.mark.rule("P5.5", "P11.68")
def test_output_that_does_not_fit_is_repaired_once():
    adapter, _, response = evaluate(
        calls(("look", {"path": "a"})), text('{"summary": 3'), text(ANSWER)
    )

    assert response.output == Review("fine", ["a"])
    repair = adapter.requests[-1]
    assert repair.tools == ()
    assert [one.role.value for one in repair.messages] == ["system", "user", "assistant", "user"]
    assert "schema" in repair.messages[-1].text

    error, _, session = failing(text("no"), text("still no"))
    assert (error.phase, error.code) == (Phase.RESPONSE, "OUTPUT_INVALID")
    assert error.error.error_code == "PROVIDER_BAD_RESPONSE"
    assert error.raw_ref is not None
    assert session.get(error.raw_ref) == b"still no"


@pytest.mark.rule("P5.5")
def test_without_parsing_nothing_is_declared():
    adapter, _, response = evaluate(text("free words"), parse_output=False)

    assert response.output is None
    assert response.structured_output == {}
    assert "Response Format" not in adapter.requests[0].system_text


@pytest.mark.rule("P5.6", "M9.6")
def test_tool_failures_are_answers():
    adapter, _, response = evaluate(
        calls(
            ("look", {"path": "boom"}),
            ("look", {"path": "none"}),
            ("look", {"other": 1}),
            ("fly", {}),
        ),
        text(),
    )

    codes = [(one.ok, one.code) for one in response.tool_results]
    assert codes == [
        (False, "tool_failed"),
        (False, "not_found"),
        (False, "bad_arguments"),
        (False, "tool_not_available"),
    ]
    answers = [m for m in adapter.requests[1].messages if m.role is Role.TOOL]
    assert all(one.is_error for one in answers)
    assert json.loads(answers[0].text)["error"]["detail"] == "it broke"
    assert "Traceback" not in answers[0].text


@pytest.mark.rule("P2.12", "P11.33")
def test_what_a_failed_tool_did_is_forgotten():
    _, session, response = evaluate(
        calls(("write", {"path": "fails"})), calls(("write", {"path": "kept"})), text()
    )

    assert [note.text for note in session.view()[Note].all()] == ["kept", "kept"]
    assert [one.ok for one in response.tool_results] == [False, True]


@pytest.mark.rule("P5.6", "M9.9", "W8.2", "W23.17")
def test_a_tool_that_overruns_changes_nothing_afterwards_and_the_next_call_works():
    STUCK.clear()
    _, session, response = evaluate(
        calls(("stuck", {})),
        calls(("look", {"path": "a"})),
        text(),
        prompt=make_prompt(tools=(LOOK, STUCK_TOOL)),
    )
    STUCK.set()

    assert [one.code for one in response.tool_results] == ["tool_timeout", ""]
    assert session.view()[Note].all() == ()


@pytest.mark.rule("P1.17", "P5.6")
def test_an_async_handler_answers_and_one_that_overruns_is_ended_where_it_awaits():
    ended = threading.Event()

    async def look(params, *, context):
        await asyncio.sleep(0)
        if params.path == "slow":
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
        if params.path == "quits":
            raise SystemExit
        if params.path == "cancels":
            raise asyncio.CancelledError
        context.session.dispatch(Note(params.path))
        return ToolResult(True, f"saw {params.path}")

    looked = [("look", {"path": "a"}), ("wait", {"path": "slow"})]
    looked += [("look", {"path": path}) for path in ("quits", "cancels")]
    quick = replace(LOOK, handler=look)
    _, session, response = evaluate(
        calls(*looked),
        text(),
        prompt=make_prompt(tools=(quick, replace(quick, name="wait", timeout_s=0.2))),
    )

    assert [one.code for one in response.tool_results] == [
        "",
        "tool_timeout",
        "tool_failed",
        "tool_failed",
    ]
    assert response.tool_results[3].message == "the handler cancelled itself"
    assert session.view()[Note].all() == (Note("a"),)
    assert ended.wait(5)


@pytest.mark.rule("P5.6")
def test_a_large_result_is_cut_and_kept_whole():
    big = replace(LOOK, handler=lambda params, context: _big())
    adapter, session, response = evaluate(
        calls(("look", {"path": "a"})), text(), prompt=make_prompt(tools=(big,))
    )

    shown = adapter.requests[1].messages[-1].text
    assert len(shown.encode()) < 65_700
    assert shown.endswith("[cut: 200000 bytes in all]")
    assert len(session.get(response.tool_results[0].result_ref)) == 200_000


def _big():
    from backshop.prompts import ToolResult

    return ToolResult(ok=True, message="x" * 200_000)


class Deny:
    def check(self, tool_name, params, session):
        if params.path == "bad policy":
            raise RuntimeError("policy")
        return "not today" if params.path == "secret" else None


@pytest.mark.rule("P1.18")
def test_policies_deny_without_running():
    _, _, response = evaluate(
        calls(*(("look", {"path": path}) for path in ("secret", "bad policy", "a"))),
        text(),
        prompt=make_prompt(policies=(Deny(),)),
    )

    assert [(one.code, one.message) for one in response.tool_results] == [
        ("policy_denied", "not today"),
        ("policy_denied", "a policy could not be checked"),
        ("", "a:1"),
    ]


@pytest.mark.rule("P5.6", "P11.67", "M9.8")
def test_the_last_turn_offers_no_tools_and_a_turn_has_fifty_calls():
    always = {**calls(("look", {"path": "a"})), "times": 2}
    session = Session()

    with session.limited(max_turns=3):
        adapter, _, response = evaluate(always, text(), session=session)

    assert response.finish_reason == "tool_limit"
    assert response.output == Review("fine", ["a"])
    assert [one.tool_choice.value for one in adapter.requests][-1] == "none"
    (reached,) = session.view()[LimitReached].all()
    assert (reached.limit, reached.value) == ("max_turns", "3")

    _, _, many = evaluate(calls(*[("look", {"path": "a"})] * 51), text())
    assert [one.code for one in many.tool_results].count("too_many_calls") == 1
    assert sum(one.ok for one in many.tool_results) == 50


@pytest.mark.rule("P5.7", "P11.66")
def test_a_deadline_between_two_tools_stops_before_the_second(clock):
    session = Session(clock=clock)
    late = replace(LOOK, handler=lambda params, context: clock.advance(100) or _big())

    with session.limited(deadline=session.now() + timedelta(seconds=60)):
        error, _, _ = failing(
            calls(("look", {"path": "a"}), ("look", {"path": "b"})),
            prompt=make_prompt(tools=(late,)),
            session=session,
        )

    assert error.phase is Phase.DEADLINE
    assert error.error.error_code == "LIMIT_EXCEEDED"
    assert len(session.view()[ToolInvoked].all()) == 1


@pytest.mark.rule("P5.7", "P5.8", "P11.69")
def test_a_wait_beyond_the_deadline_is_not_taken(clock):
    session = Session(clock=clock)

    with session.limited(deadline=session.now() + timedelta(seconds=5)):
        error, adapter, _ = failing(
            {"respond": {"error": {"kind": "rate_limit", "retry_after_s": 30}}}, session=session
        )

    assert error.phase is Phase.DEADLINE
    assert error.error.error_code == "PROVIDER_RATE_LIMITED"
    assert len(adapter.requests) == 1


@pytest.mark.rule("P5.7")
def test_tokens_are_counted_up_to_the_ancestors():
    main = Session()
    usage = {"input_tokens": 600, "output_tokens": 500}

    with main.limited(max_total_tokens=1000):
        child = main.child("work")
        error, _, _ = failing(
            {"respond": {"text": "x", "usage": usage}}, session=child, parse_output=False
        )

    assert (error.phase, error.error.error_code) == (Phase.BUDGET, "BUDGET_CAP_REACHED")
    assert main.spent.input_tokens == 600


@pytest.mark.rule("P5.7", "P2.18")
def test_what_a_session_spent_before_counts_for_the_sessions_inside_it():
    main = Session()

    with main.limited(max_total_tokens=1000):
        main.charge(TokenUsage(600, 0, 0, 401, 0, False))
        error, adapter, child = failing(text(), session=main.child("work"))

    assert (error.phase, error.error.error_code) == (Phase.BUDGET, "BUDGET_CAP_REACHED")
    assert (len(adapter.requests), child.spent) == (0, TokenUsage())


@pytest.mark.rule("M10.1", "M10.3", "M19.30")
def test_transient_errors_are_retried_and_announced(monkeypatch):
    session = Session()
    waits = []

    def wait(seconds):
        waits.append(seconds)
        return False

    monkeypatch.setattr(session.cancel, "wait", wait)
    heard: list[RetryAnnounced] = []
    session.bus.subscribe(RetryAnnounced, lambda one: heard.append(one.event))
    unavailable = {"respond": {"error": "unavailable"}, "times": 2}

    adapter, _, response = evaluate(unavailable, text(), session=session)

    assert response.finish_reason == "stop"
    assert len(adapter.requests) == 3
    assert 0.4 <= waits[0] <= 0.6
    assert 1.6 <= waits[1] <= 2.4
    assert [one.retry_attempt for one in heard] == [2]
    assert session.view()[PromptFailed].all() == ()


@pytest.mark.rule("M10.4", "M19.33")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("auth", "PROVIDER_AUTH_FAILED"),
        ("context_length", "CONTEXT_EXHAUSTED"),
        ("empty", "PROVIDER_BAD_RESPONSE"),
        ({"kind": "rate_limit", "retry_after_s": 900}, "PROVIDER_RATE_LIMITED"),
    ],
)
def test_what_will_not_get_better_is_not_retried(error, code):
    failure, adapter, _ = failing({"respond": {"text": "x", "error": error}})

    assert failure.phase is Phase.REQUEST
    assert failure.error.error_code == code
    assert len(adapter.requests) == 1
    if code == "PROVIDER_RATE_LIMITED":
        assert failure.error.retry.after_ms == 900_000


@pytest.mark.rule("M10.5", "M19.11")
def test_once_text_was_shown_there_is_no_retry_and_the_text_is_kept():
    cut = {"respond": {"text": "half an answer", "error": {"kind": "stream_cut", "after_chars": 4}}}

    shown, adapter, session = failing(cut)
    assert shown.error.reason == "stream_interrupted"
    assert len(adapter.requests) == 1
    assert shown.raw_ref is not None
    assert session.get(shown.raw_ref) == b"half"

    hidden = make_prompt(purpose="research")
    _, _, response = evaluate(cut, text(), prompt=hidden)
    assert response.text == ANSWER


@pytest.mark.rule("M8.8")
def test_only_text_for_people_streams():
    heard: list[str] = []
    session = Session()
    session.bus.subscribe(TextDelta, lambda one: heard.append(one.event.text))

    evaluate({"respond": {"deltas": ["a", "b"]}}, session=session, parse_output=False)
    evaluate(
        text("secret"), session=session, prompt=make_prompt(purpose="plan"), parse_output=False
    )

    assert heard == ["a", "b"]


@pytest.mark.rule("M12.1", "M19.34")
def test_a_cancellation_ends_a_wait_at_once():
    session = Session()
    session.bus.subscribe(RetryAnnounced, lambda one: session.cancel.request())

    error, _, _ = failing({"respond": {"error": "rate_limit"}, "times": 0}, session=session)

    assert error.phase is Phase.CANCELED
    assert error.error.error_code == "USER_CANCELED"


@pytest.mark.rule("M8.9")
def test_a_refusal_is_an_answer():
    _, _, response = evaluate({"respond": {"text": "I will not.", "error": "refusal"}})

    assert (response.finish_reason, response.text, response.output) == (
        "refusal",
        "I will not.",
        None,
    )


@pytest.mark.rule("M9.6", "M15.3")
def test_broken_arguments_are_answered_and_the_turn_goes_on():
    broken = {
        "respond": {
            "tool_calls": [{"name": "look", "arguments": {}}],
            "error": "bad_json_arguments",
        }
    }

    adapter, _, response = evaluate(broken, text())

    assert response.tool_results[0].code == "bad_arguments"
    sent = adapter.requests[1].messages[2]
    assert dict(sent.tool_calls[0].arguments) == {}


def test_a_closed_session_is_refused_before_anything():
    session = Session()
    session.close()

    error, adapter, _ = failing(text(), session=session)

    assert (error.phase, error.code) == (Phase.PREFLIGHT, "SESSION_CLOSED")
    assert adapter.requests == ()


def test_missing_params_fail_before_any_call():
    adapter = scripted([text()])

    with pytest.raises(PromptEvaluationError) as caught:
        adapter.evaluate(make_prompt(), session=Session())

    assert (caught.value.phase, caught.value.code) == (Phase.PREFLIGHT, "MISSING_PARAMS")
    assert adapter.requests == ()


@pytest.mark.rule("M15.2", "M15.4")
def test_a_script_matches_and_fills_in():
    steps = [
        {"when": {"purpose": "plan"}, "respond": {"text": "never"}},
        {
            "when": {"last_tool": "look", "turn": 2},
            "respond": {"text": "saw {{last_tool.content}} {{n}}"},
        },
        {
            "when": {"contains": "pleas", "regex": "^## .*"},
            "respond": calls(("look", {"path": "{{n}}.txt"}))["respond"],
        },
    ]

    adapter, _, response = evaluate(*steps, parse_output=False)

    assert response.text == "saw 1.txt:1 2"
    assert len(adapter.leftover) == 1


@pytest.mark.rule("M15.5")
def test_an_unmatched_request_says_what_was_asked():
    error, _, _ = failing({"when": {"purpose": "plan"}, "respond": {"text": "x"}})

    assert error.error.error_code == "PROVIDER_BAD_RESPONSE"
    assert error.error.reason == "script_unmatched"
    assert error.error.detail == "purpose: other turn: 1"


@pytest.mark.rule("M15.8", "M19.46")
def test_the_same_script_twice_gives_the_same_events():
    def events():
        adapter = scripted([calls(("look", {"path": "a"}), said="x"), text()])
        request_log = []
        adapter.evaluate(make_prompt(), ASK, session=Session())
        for one in adapter.requests:
            request_log.append(repr(one))
        return request_log

    assert events() == events()


@pytest.mark.parametrize(
    "steps",
    [
        [{"respond": {"text": 3}}],
        [{"respond": {"error": "explode"}}],
        [{"when": {"regex": "("}, "respond": {}}],
        [{"respond": {}, "extra": 1}],
    ],
)
def test_what_is_no_script_is_refused(steps):
    with pytest.raises(ValidationFailed):
        scripted(steps)


def test_evaluating_with_an_answer_of_a_list():
    prompt = make_prompt(output=list[Review])

    _, _, response = evaluate(text('```json\n[{"summary": "x"}]\n```'), prompt=prompt)

    assert response.output == [Review("x")]
    assert response.structured_output == {"items": [{"summary": "x", "issues": []}]}


def test_an_extra_section_may_bring_tools_of_its_own():
    extra = MarkdownSection("More", "More.", key="more", tools=(LOOK,))

    adapter, _, _ = evaluate(text(), prompt=make_prompt(extra=[extra]))

    assert [tool.name for tool in adapter.requests[0].tools] == ["look", "write"]


@pytest.mark.rule("M15.6")
def test_the_demo_script_knows_every_phase():
    from backshop.models.messages import Message, ModelRequest, Purpose
    from backshop.models.wires.scripted import bundled

    demo = bundled("demo")

    for purpose in Purpose:
        request = ModelRequest(
            model_id="scripted:demo",
            messages=(Message(role=Role.USER, text="hi"),),
            purpose=purpose,
        )
        number, respond = demo._take(request)
        assert respond.tool_calls or respond.text or respond.deltas or respond.error
    assert number == len(Purpose)

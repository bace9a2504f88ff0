"""The turns of one loop: ask, run the calls, ask again, until there is an answer (P5.6, W9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from backshop.base.limits import CHARS_PER_TOKEN
from backshop.prompts import LimitReached, RunLimits, Session, ToolInvoked

from ..errors import BadResponse, ContextExhausted, LoopDetected
from ..ledger.usage import image_tokens
from ..messages import FinishReason, Message, Role, ToolCall, ToolChoice, ToolSpec
from .observer import Attendant, Called
from .repetition import LoopGuard, Verdict
from .response import Phase, PromptEvaluationError, evaluation_error
from .retrying_call import Asker, ModelAnswer
from .tool_call import OVER_CAP, Checked, Problem, normalise
from .tool_run import ToolRunner

Send = Callable[[list[Message], ToolChoice], ModelAnswer]

UNPARSABLE_MAX = 3  # W8.3
FAILING_MAX = 8
_TURNS_LEFT_SAID = 2  # W9.3
WINDOW_SHARE = 0.7  # of the model's window; a fuller loop begins anew with what was found (W8.5)
LOOP_SHARE = 0.2  # what a loop may add in any case, where its prompt takes most of the window
LOOP_LEAST = 0.1
WINDOW_MOST = 0.8  # the rest is for the answer
_MESSAGE_CHARS = 80  # what stands around a text when it is sent
ENDED, WINDOW_FULL = "ended", "window_full"
"""Why a loop ended that its attendant, or the model's window, brought to an end."""
_REPEATED = "repeated_call"
NOT_HERE = "tool_not_available"
BAD_ARGUMENTS = "bad_arguments"
_REFUSED = (FinishReason.REFUSAL, FinishReason.CONTENT_FILTER)
EMPTY = (
    "Your last answer was empty. Go on with the task: call a tool, or write the final text of "
    "this phase."
)
EMPTY_LAST = (
    "Your last answer was empty. No tool can be called any more: write the final text of this "
    "phase."
)
CONTINUE = "Your answer was cut off by its length. Go on exactly where it ended; repeat nothing."
CUT_CALL = (
    "Your answer was cut off by its length before this call was whole. Make it again: shorter, or "
    "as several calls."
)
REPEATED = (
    "Notice: you have made exactly this call {count} times already and nothing has changed since. "
    "Change your approach, or finish with what you know."
)
TURNS_LEFT = (
    "Notice: {left} more requests are left in this phase, and the last one has no tools. "
    "Finish: write the final text of this phase."
)


@dataclass(slots=True)
class _Watch:
    """What an attended loop counts."""

    guard: LoopGuard
    unparsable: int = 0
    failing: int = 0
    counted: set[str] = field(default_factory=set)  # of those two, what this answer has added to
    is_reminded: bool = False
    is_continued: bool = False
    has_said_turns_left: bool = False
    begun: str = ""  # text of an answer that is being continued

    def row(self, what: str, length: int, goes_on: bool) -> int:
        """Return how long a row is now; calls of one answer, of which none saw another, are one."""
        if not goes_on:
            self.counted.discard(what)
            return 0
        if what in self.counted:
            return length
        self.counted.add(what)
        return length + 1


class Turns:
    """One loop. Without an attendant it is exactly P5.6; with one W8 and W9 hold as well."""

    def __init__(
        self,
        *,
        asker: Asker,
        session: Session,
        prompt_name: str,
        runner: ToolRunner,
        specs: tuple[ToolSpec, ...],
        send: Send,
        attendant: Attendant | None,
        provider_id: str = "",
    ) -> None:
        self._asker = asker
        self._session = session
        self._prompt_name = prompt_name
        self._runner = runner
        self._specs = specs
        self._send = send
        self._attendant = attendant
        self._provider_id = provider_id
        self._specs_chars = sum(len(str(one.parameters)) + len(one.description) for one in specs)
        self._watch = _Watch(attendant.guard) if attendant else None
        self._limits: RunLimits = session.limits
        self._began = 0  # how many messages the loop began with
        self.records: list[ToolInvoked] = []

    def run(self, messages: list[Message]) -> tuple[ModelAnswer, str]:
        """Return the answer and why it ended; extends `messages`."""
        limits, self._began = self._limits, len(messages)
        for turn in range(1, limits.max_turns + 1):
            is_last = turn == limits.max_turns
            if self._attendant is not None and not is_last:  # then nothing could be done about it
                messages += map(_heard, self._attendant.heard())
            answer = self._ask(messages, self._choice(is_last and bool(self._specs)))
            if is_last and (self._specs or answer.calls):  # some call tools that nobody offers
                return self._last(answer, turn)
            checked = normalise(
                answer.calls, self._specs, turn=turn, limit=limits.max_calls_per_turn
            )
            if answer.finish is FinishReason.LENGTH:
                checked = tuple(map(_cut, checked))
            messages.append(
                Message(
                    role=Role.ASSISTANT,
                    text=answer.text,
                    tool_calls=tuple(one.call for one in checked),
                    provider_state=answer.state,
                )
            )
            if not checked and not self._goes_on(answer):
                return self._whole(answer), answer.finish.value
            if self._watch is not None:
                self._watch.begun = ""
                self._watch.counted.clear()
            if self._attendant is not None:
                self._attendant.progressed(answer.text)
            for one in checked:
                self._asker.check_limits()
                messages.append(self._answered(one, limits.max_turns - turn))
                self._asker.check_limits()
            if self._attendant is not None and self._attendant.is_over:
                return answer, ENDED
            if self._is_full(messages):
                return answer, WINDOW_FULL
        raise AssertionError("the last turn returns")

    def _goes_on(self, answer: ModelAnswer) -> bool:
        """Whether an answer is only a word on the way, because somebody said more meanwhile."""
        attendant = self._attendant
        return (
            attendant is not None
            and answer.finish is FinishReason.STOP
            and (attendant.is_spoken_to)
        )

    def _is_full(self, messages: list[Message]) -> bool:
        """Whether what the model has been told leaves too little room for going on."""
        window = self._attendant.window_tokens if self._attendant else None
        if window is None:
            return False
        chars = window * CHARS_PER_TOKEN
        began = self._chars(messages[: self._began]) + self._specs_chars
        room = max(chars * WINDOW_MOST, began + chars * LOOP_LEAST)
        most = max(chars * WINDOW_SHARE, min(began + chars * LOOP_SHARE, room))
        return self._chars(messages) + self._specs_chars > most

    def _chars(self, messages: list[Message]) -> int:
        """Return how long messages are as they are sent, pictures by the tokens they take."""
        pictures = (image for one in messages for image in one.images)
        tokens = sum(image_tokens(one, self._provider_id) for one in pictures)
        return _chars(messages) + tokens * CHARS_PER_TOKEN

    def _choice(self, is_last: bool) -> ToolChoice:
        if is_last:
            return ToolChoice.NONE
        free = self._attendant is not None and not self._attendant.needs_tool
        return ToolChoice.AUTO if free else ToolChoice.FIRST_TURN_REQUIRED

    def _ask(self, messages: list[Message], choice: ToolChoice) -> ModelAnswer:
        watch = self._watch
        if watch is None:
            return self._send(messages, choice)
        answer = self._try(messages, choice)
        if answer is None and not watch.is_reminded:
            watch.is_reminded = True
            text = EMPTY_LAST if choice is ToolChoice.NONE else EMPTY
            messages.append(Message(role=Role.USER, text=text))
            answer = self._try(messages, choice)
        if answer is None and choice is ToolChoice.NONE:
            raise self._out_of_requests()
        if answer is None:
            raise self._invalid("the model answered nothing, twice")
        is_cut = answer.finish is FinishReason.LENGTH and not answer.calls
        if not is_cut or watch.is_continued:
            return answer
        watch.is_continued = True
        watch.begun = answer.text
        messages += (
            Message(role=Role.ASSISTANT, text=answer.text, provider_state=answer.state),
            Message(role=Role.USER, text=CONTINUE),
        )
        try:
            return self._try(messages, choice) or ModelAnswer(finish=FinishReason.LENGTH)
        except PromptEvaluationError as error:
            if error.code != ContextExhausted.code:
                raise
            return ModelAnswer(finish=FinishReason.LENGTH)  # it filled the window; it stays

    def _try(self, messages: list[Message], choice: ToolChoice) -> ModelAnswer | None:
        """Return an answer that says something, or None."""
        try:
            answer = self._send(messages, choice)
        except PromptEvaluationError as error:
            if error.error.reason == "empty_answer":
                return None
            raise
        says = answer.text.strip() or answer.calls
        ended = answer.finish in (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.LENGTH)
        return answer if says or not ended else None

    def _answered(self, one: Checked, turns_left: int) -> Message:
        attendant, watch = self._attendant, self._watch
        if attendant is None or watch is None:
            answered = self._runner.answer(one)
            self.records.append(answered.record)
            return answered.message
        notices: list[str] = []
        checked = self._guarded(one, notices)
        if turns_left <= _TURNS_LEFT_SAID and not watch.has_said_turns_left:
            watch.has_said_turns_left = True
            notices.append(TURNS_LEFT.format(left=turns_left))
        attendant.calling(checked.call)
        before = None if checked.problem else attendant.recorded(checked.call)
        answered = self._runner.answer(checked, before, lambda: attendant.give_up(checked.call))
        self.records.append(answered.record)
        seen = attendant.called(
            Called(
                call=checked.call,
                text=answered.whole,
                record=answered.record,
                image=answered.image,
            )
        )
        self._count(checked, answered.record.ok)
        text = answered.message.text if seen is None else seen
        return replace(answered.message, text="\n\n".join((*notices, text)))

    def _guarded(self, one: Checked, notices: list[str]) -> Checked:
        """Return the call, refused if it was made too often; warn before that (W9.2)."""
        attendant, watch = self._attendant, self._watch
        if attendant is None or watch is None or _is_settled(one.problem):
            return one
        call = one.call
        if (why := attendant.refusal(call)) is not None:  # whatever its arguments are (W8.2)
            return replace(one, problem=Problem(NOT_HERE, why))
        if one.problem is not None:
            return one
        watch.guard, verdict = watch.guard.see(call.name, call.arguments, attendant.tree_id())
        count = watch.guard.seen.count(watch.guard.seen[-1])
        if verdict is Verdict.STOP:
            return replace(one, problem=Problem(_REPEATED, f"this call was made {count} times"))
        if verdict is Verdict.WARN:
            notices.append(REPEATED.format(count=count))
            attendant.warned(call, count)
        return one

    def _count(self, one: Checked, ok: bool) -> None:
        """End the loop where going on makes no sense (W8.3, W9.2)."""
        watch, attendant = self._watch, self._attendant
        if watch is None or attendant is None or attendant.is_over:
            return
        if one.problem is not None and one.problem.reason == _REPEATED:
            raise self._loop(f"{one.call.name} was called again and again", _REPEATED)
        if one.problem is not None and one.problem.reason == OVER_CAP:
            return  # answered, not run: it says nothing about those that were (W8.1)
        is_unparsable = one.problem is not None and one.problem.unparsable
        watch.unparsable = watch.row("unparsable", watch.unparsable, is_unparsable)
        watch.failing = watch.row("failing", watch.failing, not ok)
        if watch.unparsable >= UNPARSABLE_MAX:
            raise self._invalid("the model's calls cannot be read")
        if watch.failing >= FAILING_MAX:
            raise self._loop(f"{FAILING_MAX} calls in a row failed", "tool_errors_exhausted")

    def _last(self, answer: ModelAnswer, turn: int) -> tuple[ModelAnswer, str]:
        self._session.dispatch(LimitReached(limit="max_turns", value=str(turn)))
        whole = self._whole(answer)
        if self._watch is not None and whole.finish in _REFUSED:
            return whole, whole.finish.value
        if self._watch is not None and not whole.text.strip():
            raise self._out_of_requests()
        return whole, "tool_limit"

    def _whole(self, answer: ModelAnswer) -> ModelAnswer:
        if self._watch is not None and self._watch.begun:
            answer.text = self._watch.begun + answer.text
            self._watch.begun = ""
        return answer

    def _out_of_requests(self) -> PromptEvaluationError:
        return self._loop("the last request brought no text", "turn_limit")

    def _invalid(self, message: str) -> PromptEvaluationError:
        error = BadResponse(message, reason="model_output_invalid")
        return evaluation_error(error, self._prompt_name, Phase.RESPONSE)

    def _loop(self, message: str, reason: str) -> PromptEvaluationError:
        return evaluation_error(LoopDetected(message, reason=reason), self._prompt_name, Phase.TOOL)


def _heard(text: str) -> Message:
    """Return what was said to the model while it works."""
    return Message(role=Role.USER, text=text, is_context=True)


def _cut(one: Checked) -> Checked:
    """Return a call of an answer that was cut off; where its arguments lack something, say why."""
    problem = one.problem
    if problem is None or problem.reason != BAD_ARGUMENTS:
        return one
    return replace(one, problem=replace(problem, hints=(CUT_CALL, *problem.hints)))


def _is_settled(problem: Problem | None) -> bool:
    """Whether a call is answered before anybody asks what it may do: unreadable, or too many."""
    if problem is None:
        return False
    return problem.unparsable or problem.reason in (OVER_CAP, NOT_HERE)


def _chars(messages: list[Message]) -> int:
    """Return how long messages are as they are sent, with their escapes and what stands around."""
    return sum(_sent_chars(one.text) + sum(map(_call_chars, one.tool_calls)) for one in messages)


def _call_chars(call: ToolCall) -> int:
    return _sent_chars(call.text)


def _sent_chars(text: str) -> int:
    escaped = sum(map(text.count, ("\n", '"', "\\")))
    return len(text) + escaped + _MESSAGE_CHARS

"""Asks the model once, again where M10 says so, within the limits of the session (P5.7, P5.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from backshop.base.telemetry import count, watch
from backshop.prompts import LimitReached, Session, TextDelta, TokenUsage

from .. import messages as wire
from ..egress.retry import Cancel, Schedule, Wait
from ..ledger.usage import estimated
from ..messages import (
    Done,
    Failed,
    FinishReason,
    ModelRequest,
    ProviderState,
    Purpose,
    StreamEvent,
    ToolCallDone,
    ToolSpec,
    Usage,
    UsageReported,
)
from .pulse import CallRunning, Pulse
from .response import Capabilities, Phase, PromptEvaluationError

_SHOWN = frozenset(  # M8.8: text people read
    (Purpose.WORK, Purpose.SUMMARY, Purpose.REPLY, Purpose.OTHER)
)


class Completer(Protocol):
    """What the loop needs of an adapter."""

    @property
    def adapter_name(self) -> str: ...

    @property
    def model_id(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def prompt_budget_tokens(self) -> int | None: ...

    def offers(self, tools: tuple[ToolSpec, ...]) -> None: ...

    @property
    def workbench_id(self) -> str | None: ...

    def complete(self, request: ModelRequest, cancel: Cancel) -> Iterator[StreamEvent]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAnnounced:
    """A call is made again after a pause; published, never stored (M10.3)."""

    provider_id: str
    model_id: str
    retry_attempt: int
    retry_max: int
    wait_ms: int


@dataclass(slots=True)
class ModelAnswer:
    """One model turn, put together."""

    text: str = ""
    calls: list[ToolCallDone] = field(default_factory=list)
    finish: FinishReason = FinishReason.STOP
    state: ProviderState | None = None
    usage: Usage | None = None


class Asker:
    """One run's calls to its model: counted, limited, retried."""

    def __init__(
        self,
        adapter: Completer,
        session: Session,
        prompt_name: str,
        said: Callable[[str], None] | None = None,
        unsaid: Callable[[], bool] | None = None,
    ) -> None:
        self._adapter = adapter
        self._session = session
        self._prompt_name = prompt_name
        self._said = said
        self._unsaid = unsaid
        self.usage = TokenUsage()
        self.turns = 0

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Make a call and return its answer.

        Raises:
            PromptEvaluationError: the provider refused for good, or a limit was reached.
        """
        self.check_limits()
        self.turns += 1
        schedule = Schedule()
        while True:
            answer, failed, has_shown = self._watched(request)
            if failed is None:
                self.check_limits()
                return answer
            wait = None
            if not has_shown or self._unsaid is not None:
                wait = schedule.after(failed.error, budget_s=self.remaining_s())
            if wait is not None and has_shown and self._unsaid is not None:
                wait = wait if self._unsaid() else None  # what was read is taken back (M10.5)
            if wait is None:
                raise self._refused(failed, answer, too_late=schedule.is_too_late)
            self._pause(wait, request)

    def failure(self, message: str, phase: Phase, code: str) -> PromptEvaluationError:
        """Return an error of this run."""
        return PromptEvaluationError(message, prompt_name=self._prompt_name, phase=phase, code=code)

    def _watched(self, request: ModelRequest) -> tuple[ModelAnswer, Failed | None, bool]:
        about = {"model": request.model_id, "purpose": request.purpose.value}
        with watch("model", **about) as span, self._pulse(request) as pulse:
            answer, failed, has_shown = self._attempt(request, pulse)
            if failed is not None:
                span.note(error_type=failed.error.error_code)
            if (usage := answer.usage) is not None:
                span.note(tokens_input=usage.input_tokens, tokens_output=usage.output_tokens)
                count("tokens", usage.input_tokens, direction="input", **about)
                count("tokens", usage.output_tokens, direction="output", **about)
        return answer, failed, has_shown

    def _pulse(self, request: ModelRequest) -> Pulse:
        def tell(state: str, waited_s: float) -> None:
            self._session.publish(
                CallRunning(
                    provider_id=request.provider_id,
                    model_id=request.model_id,
                    state=state,
                    waited_ms=int(waited_s * 1000),
                )
            )

        return Pulse(tell)

    def _attempt(
        self, request: ModelRequest, pulse: Pulse
    ) -> tuple[ModelAnswer, Failed | None, bool]:
        answer, failed, texts = ModelAnswer(), None, list[str]()
        shows = request.purpose in _SHOWN
        for event in self._adapter.complete(request, self._session.cancel):
            pulse.saw(event)
            match event:
                case wire.TextDelta(text=text):
                    texts.append(text)
                    if shows:
                        self._session.publish(TextDelta(text=text))
                        if self._said is not None:
                            self._said(text)
                case ToolCallDone():
                    answer.calls.append(event)
                case UsageReported(usage=usage):
                    answer.usage = usage
                case Done(finish_reason=reason, state=state):
                    answer.finish, answer.state = reason, state
                case Failed():
                    failed = event
                case _:
                    pass
        answer.text = "".join(texts)
        self._charge(answer, request, failed)
        return answer, failed, shows and bool(answer.text)

    def _charge(self, answer: ModelAnswer, request: ModelRequest, failed: Failed | None) -> None:
        usage = answer.usage
        if usage is None:
            if failed is not None and not answer.text:
                return  # nothing came back, so nothing is known to have been used
            usage = estimated(request, answer.text, (str(one.arguments) for one in answer.calls))
        self.usage = self.usage + usage
        self._session.charge(usage)

    def _refused(
        self, failed: Failed, answer: ModelAnswer, *, too_late: bool
    ) -> PromptEvaluationError:
        phases = {"USER_CANCELED": Phase.CANCELED, "BUDGET_CAP_REACHED": Phase.BUDGET}
        phase = phases.get(failed.error.error_code, Phase.REQUEST)
        if too_late:
            phase = Phase.DEADLINE
        return PromptEvaluationError(
            failed.error.message,
            prompt_name=self._prompt_name,
            phase=phase,
            code=failed.error.error_code,
            error=failed.error,
            raw_ref=self._session.put(answer.text.encode(errors="replace"))
            if answer.text
            else None,
        )

    def _pause(self, wait: Wait, request: ModelRequest) -> None:
        if wait.is_announced:
            self._session.publish(
                RetryAnnounced(
                    provider_id=request.provider_id,
                    model_id=request.model_id,
                    retry_attempt=wait.attempt,
                    retry_max=wait.attempts_max,
                    wait_ms=int(wait.seconds * 1000),
                )
            )
        self._session.cancel.wait(wait.seconds)
        self.check_limits()

    def remaining_s(self) -> float | None:
        """Return the seconds until the deadline, or None."""
        deadline = self._session.limits.deadline
        if deadline is None:
            return None
        return max(0.001, (deadline - self._session.now()).total_seconds())

    def check_limits(self) -> None:
        """Stop where the person, the clock or the budget says so (P5.7)."""
        session = self._session
        if session.cancel.requested:
            raise self.failure("the run was cancelled", Phase.CANCELED, "CANCELED")
        limits = session.limits
        if limits.deadline is not None and session.now() >= limits.deadline:
            session.dispatch(LimitReached(limit="deadline", value=limits.deadline.isoformat()))
            raise self.failure("the deadline has passed", Phase.DEADLINE, "DEADLINE")
        for one in (session, *session.ancestors()):
            spent = one.spent
            used = {
                "max_input_tokens": spent.input_tokens,
                "max_output_tokens": spent.output_tokens,
                "max_total_tokens": spent.total_tokens,
            }
            for name, amount in used.items():
                cap = getattr(one.limits, name)
                if cap is not None and amount > cap:
                    session.dispatch(LimitReached(limit=name, value=str(cap)))
                    raise self.failure(
                        f"{amount} tokens used of {cap}", Phase.BUDGET, "TOKEN_BUDGET"
                    )

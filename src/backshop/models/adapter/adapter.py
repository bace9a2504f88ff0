"""`evaluate` and `optimize` over one primitive, `complete`: all a provider adds (P5.2)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, Literal, TypeVar

from backshop.base.limits import WINDOW_UNKNOWN_TOKENS
from backshop.prompts import (
    ConversationItem,
    MarkdownSection,
    Prompt,
    PromptFailed,
    PromptOverridesStore,
    Session,
    open_workspace,
)

from ..catalog.strict_schema import can_be_strict
from ..egress.retry import Cancel
from ..loop.loop import Evaluation, Task
from ..loop.observer import Attendant
from ..loop.response import (
    Capabilities,
    OptimizationResult,
    OptimizationScope,
    Phase,
    PromptResponse,
    told_once,
)
from ..messages import ModelRequest, StreamEvent, ToolSpec
from . import optimization as digest
from . import preflight

_LOG = logging.getLogger(__name__)
OutputT = TypeVar("OutputT")


class AdapterBase:
    """Every adapter. A subclass says what it is and implements `complete`.

    `complete` yields stream events, the last of them `Done` or `Failed`; it makes one attempt.
    Retries, tools, limits, structured output and digests are done here, alike for everybody.
    """

    digest_source: Literal["model", "builder"] = "model"

    def __init__(
        self,
        *,
        adapter_name: str,
        model_id: str,
        capabilities: Capabilities | None = None,
        prompt_budget_tokens: int | None = None,
        workbench_id: str | None = None,
        workspace: object | None = None,
        window_tokens: int = WINDOW_UNKNOWN_TOKENS,
        allow_exec: bool = False,
    ) -> None:
        self.adapter_name = adapter_name
        """What kind of adapter this is."""
        self.model_id = model_id
        """The model it calls."""
        self.capabilities = capabilities or Capabilities()
        """What it can do."""
        self.prompt_budget_tokens = prompt_budget_tokens
        """How large a prompt may be; None is no bound."""
        self.workbench_id = workbench_id
        """Whose content its calls carry, if a workbench's."""
        self.window_tokens = window_tokens
        """How many tokens the model takes in all, as far as is known."""
        self.allow_exec = allow_exec
        """Whether a digest run may run commands in the sandbox."""
        self._workspace = workspace
        self._loose: frozenset[str] = frozenset()
        """Tools it was said of that they cannot be strict."""

    def complete(self, request: ModelRequest, cancel: Cancel) -> Iterator[StreamEvent]:
        """Send one request and yield what comes back; a subclass's whole work."""
        raise NotImplementedError

    def offers(self, tools: tuple[ToolSpec, ...]) -> None:
        """Hear which tools a conversation begins with; log those not strict, once (M9.4)."""
        loose = {one.name for one in tools if not can_be_strict(one.parameters)} - self._loose
        if loose:
            self._loose |= loose
            names = ", ".join(sorted(loose))
            _LOG.info("these tools cannot be strict and are offered without it: %s", names)

    def check_consent(self) -> None:
        """Raise `ConsentRequired` when this model may not receive the content; else nothing."""

    def prepare(self, prompt: Prompt[Any], session: Session) -> object | None:
        """Return what the tools work on: what was given, or the prompt's own files (P6.3)."""
        return self._workspace or open_workspace(session, prompt)

    def evaluate(
        self,
        prompt: Prompt[OutputT],
        *params: object,
        overrides_store: PromptOverridesStore | None = None,
        overrides_tag: str | None = None,
        parse_output: bool = True,
        session: Session,
    ) -> PromptResponse[OutputT]:
        """Render a prompt, call the model, run its tools, and return the answer.

        Raises:
            PromptEvaluationError: there is no answer; `phase` and `error` say why.
        """
        return self._execute_prompt(
            prompt,
            *params,
            overrides_store=overrides_store,
            overrides_tag=overrides_tag,
            parse_output=parse_output,
            session=session,
        )

    def optimize(
        self,
        prompt: Prompt[OutputT],
        *params: object,
        store_scope: OptimizationScope = OptimizationScope.SESSION,
        overrides_store: PromptOverridesStore | None = None,
        overrides_tag: str | None = None,
        focus_areas: MarkdownSection | None = None,
        parse_output: bool = True,
        session: Session,
    ) -> OptimizationResult[OutputT]:
        """Let the model describe the workspace, and keep the digest for later prompts.

        Raises:
            PromptEvaluationError: no digest; or, in phase `persist`, one that is kept with the
                session only and is on the error as `result`.
        """
        wish = preflight.OptimizeRequest(
            prompt=prompt,
            params=params,
            scope=store_scope,
            overrides_store=overrides_store,
            overrides_tag=overrides_tag,
            focus_areas=focus_areas,
            parse_output=parse_output,
            session=session,
        )
        return digest.optimize(self, wish)

    def attended(
        self,
        prompt: Prompt[OutputT],
        *params: object,
        attendant: Attendant,
        overrides_store: PromptOverridesStore | None = None,
        overrides_tag: str | None = None,
        parse_output: bool = False,
        conversation: tuple[ConversationItem, ...] | None = None,
        max_output_tokens: int | None = None,
        session: Session,
    ) -> PromptResponse[OutputT]:
        """Evaluate a prompt with somebody beside its loop: the way a product runs an agent.

        `conversation` is told instead of the session's own to a prompt that wants one.

        Raises:
            PromptEvaluationError: there is no answer; `error.reason` may be `repeated_call`,
                `turn_limit`, `tool_errors_exhausted` or `model_output_invalid` (W8.3, W9).
        """
        task = Task(
            prompt=prompt,
            params=params,
            session=session,
            overrides_store=overrides_store,
            overrides_tag=overrides_tag,
            parse_output=parse_output,
            workspace=attendant.workspace,
            attendant=attendant,
            conversation=conversation,
            max_output_tokens=max_output_tokens,
        )
        with session.during(attendant.turn_id):
            return self.run_task(task)

    def run_task(self, task: Task) -> PromptResponse[Any]:
        """Evaluate a task; a failure is published once as `PromptFailed` and raised."""
        with told_once(task.session, task.prompt.display_name, Phase.REQUEST, PromptFailed):
            return Evaluation(self, task).run()

    def _execute_prompt(
        self,
        prompt: Prompt[OutputT],
        *params: object,
        session: Session,
        parse_output: bool = True,
        overrides_store: PromptOverridesStore | None = None,
        overrides_tag: str | None = None,
    ) -> PromptResponse[OutputT]:
        """Render, stream, run tools, parse: the shared core of both methods (P5.22)."""
        task = Task(
            prompt=prompt,
            params=params,
            session=session,
            overrides_store=overrides_store,
            overrides_tag=overrides_tag,
            parse_output=parse_output,
            workspace=None if session.closed else self.prepare(prompt, session),
        )
        return self.run_task(task)

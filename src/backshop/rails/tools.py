"""The tools agents call, for MCP and for tests: name, description, schemas, one way to call.

The descriptions state what an agent must and must not do (R7.20). A call takes parsed JSON and
always gives an answer: refusals and defects become error data, nothing is raised (R7.3).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from backshop.base.codec import compact, schema
from backshop.base.command import Made, Needed
from backshop.base.errors import BackshopError, Retry, RetryKind

from . import answers, requests
from .asker import PERSON, Asker
from .errors import SHARED_CODES, RailsError
from .repository import translated
from .run.answer import Answer, details_text
from .service import Rails
from .settings import Settings

_LOG = logging.getLogger("backshop.rails")


@dataclass(frozen=True, eq=False, kw_only=True)
class RailsTool:
    """One tool. `answer` is the class its structured content is described by.

    `role`, `anybody`, `makes` and `server_paths` are those of its command.
    """

    name: str
    title: str
    description: str
    request: type
    answer: Any
    run: Callable[[Rails, Any, Asker], Answer] = field(repr=False)
    role: Needed
    anybody: bool = False
    makes: Made | None = None
    server_paths: tuple[str, ...] = ()
    read_only: bool = False
    idempotent: bool = True
    hidden: tuple[str, ...] = ()  # arguments that do not exist here (R11.11)
    facts: Callable[[Rails, Any], Any] | None = None  # for callers in this process (S5.4)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        found: dict[str, Any] = compact(schema(self.request))
        properties = found["properties"]
        shown = {name: properties[name] for name in properties if name not in self.hidden}
        return {**found, "properties": shown}

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of the structured content of a call that was not refused."""
        return {"type": "object", **compact(schema(self.answer))}

    def call(
        self,
        rails: Rails,
        arguments: Mapping[str, object],
        admit: Callable[[Any], Asker] = lambda _: PERSON,
    ) -> Answer:
        """Run the tool for an agent; whatever goes wrong comes back as an error answer.

        `admit` decides about somebody who shares the home, and says for whom the call is.
        """
        try:
            with translated():
                asked: Any = requests.parsed(self.request, self.name, arguments, hidden=self.hidden)
                return self.run(rails, asked, replace(admit(asked), voice="agent"))
        except RailsError as error:
            return refused(error)
        except BackshopError as error:
            if error.code in SHARED_CODES:
                return refused(_not_admitted(error))
            _LOG.error("%s failed", self.name, exc_info=error)
            return refused(_internal(self.name))
        except Exception as error:  # a surface's outermost handler
            _LOG.error("%s failed", self.name, exc_info=error)
            return refused(_internal(self.name))


def refused(error: RailsError) -> Answer:
    """Return a refusal as an answer."""
    text = f"{error.rails_code}: {error.message}\n{error.suggestion}\n{_again(error.retry)}"
    if error.details:
        text += f"\n\n```json\n{details_text({'details': error.details})}\n```"
    return Answer(error.envelope(), (text,), is_error=True)


def _again(retry: Retry) -> str:
    """Say in words whether the same call can be made again."""
    if retry.kind is RetryKind.NO:
        return "The same call again will be refused again."
    if retry.after_ms is None:
        return "The same call can be made again at once."
    return f"The same call can be made again after {retry.after_ms} ms."


def offered(settings: Settings) -> tuple[RailsTool, ...]:
    """Return the tools that are switched on (R7.1)."""
    hidden = () if settings.start_session else ("sessionToken",)
    return tuple(
        replace(tool, hidden=hidden) if hidden else tool
        for tool in TOOLS
        if getattr(settings, tool.name, True)
    )


def _not_admitted(error: BackshopError) -> RailsError:
    suggestion = (
        "Wait, then make the same call again."
        if error.code == "LIMIT_EXCEEDED"
        else "Ask the owner of this Backshop for access, or work in a session of your own."
    )
    details = {"reason": error.reason} if error.reason else None
    return RailsError(error.code, error.message, suggestion, details=details, retry=error.retry)


def _internal(name: str) -> RailsError:
    return RailsError(
        "INTERNAL_ERROR",
        f"{name}: something went wrong inside Backshop; the log has the details",
        "Make the same call again; nothing was lost.",
    )


TOOLS: tuple[RailsTool, ...] = (
    RailsTool(
        name="list_workflows",
        title="List workflows",
        description=(
            "List the workflows that can be started here, and files that cannot run with the"
            " reason. Read-only. Then look closer with inspect_workflow or begin with"
            " start_workflow."
        ),
        request=requests.ListWorkflows,
        answer=answers.Listed,
        run=lambda rails, request, _: rails.list_workflows(request),
        facts=Rails.workflows,
        read_only=True,
        role="read",
        anybody=True,
        server_paths=("workspace_path",),
    ),
    RailsTool(
        name="inspect_workflow",
        title="Inspect a workflow",
        description=(
            "Show one workflow: metadata, an outline of its steps (preview), or the whole compiled"
            " form. Read-only; to do the work call start_workflow, do not follow the outline by"
            " yourself."
        ),
        request=requests.InspectWorkflow,
        answer=answers.Inspected,
        run=lambda rails, request, _: rails.inspect_workflow(request),
        facts=Rails.workflow,
        read_only=True,
        role="read",
        anybody=True,
        server_paths=("workspace_path",),
    ),
    RailsTool(
        name="start_workflow",
        title="Start a workflow",
        description=(
            "Begin a run of a workflow and get its first step. Do the step, then call"
            " continue_workflow with the tokens of the answer. Nothing but continue_workflow"
            " advances a run. Tokens are opaque: send them back unchanged, never make or change"
            " one. Several runs can go on at once, each with its own tokens. `context` carries"
            " external facts (ids, parameters, constraints); later, what steps ask for by key."
        ),
        request=requests.StartWorkflow,
        answer=answers.Execution,
        run=lambda rails, request, asker: rails.start_workflow(request, asker),
        idempotent=False,
        role="write",
        anybody=True,
        makes="session",
        server_paths=("workspace_path",),
    ),
    RailsTool(
        name="continue_workflow",
        title="Continue a workflow",
        description=(
            "With ackToken: say that the pending step is done, hand in its output and get the next"
            " step. Without ackToken: fetch the pending step again, with a recap; this changes"
            " nothing. Put notes and typed artifacts into `output` exactly as the step asks; do not"
            " invent shapes. A suggested call is a form: replace every <…> by what is so. What the"
            " person must decide they answer themselves. Repeating a call is safe. After a rewind"
            " just go on with the tokens"
            " you see: an older token makes a new branch. In full-auto modes answer prompts"
            " directed at the user by gathering context and stating assumptions, do not skip them;"
            " disclose assumptions, skips and missing inputs in `output`. If blocked, do what the"
            " blockers say and retry with the tokens of that answer."
        ),
        request=requests.ContinueWorkflow,
        answer=answers.Execution,
        run=lambda rails, request, asker: rails.continue_workflow(request, asker),
        role="write",
    ),
    RailsTool(
        name="checkpoint_workflow",
        title="Record progress",
        description=(
            "Record notes or artifacts without advancing, when much work happens inside one step"
            " or outside any step. Use the checkpointToken and the stateToken (or sessionToken) of"
            " one and the same answer. Go on with the tokens of this call's answer."
        ),
        request=requests.CheckpointWorkflow,
        answer=answers.Execution | answers.SessionAnswer,
        run=lambda rails, request, _: rails.checkpoint_workflow(request),
        role="write",
    ),
    RailsTool(
        name="resume_session",
        title="Find work to resume",
        description=(
            "Find earlier work from a new chat: by words, by its resumeRef (r-…), by branch, or"
            " simply the most recent. Read-only. Continue a candidate with its nextCall."
        ),
        request=requests.ResumeSession,
        answer=answers.Resumed,
        run=lambda rails, request, asker: rails.resume_session(request, asker),
        read_only=True,
        role="read",
        anybody=True,
        server_paths=("workspace_path",),
    ),
    RailsTool(
        name="start_session",
        title="Start a session without a workflow",
        description=(
            "Make a session for durable notes when no workflow is running. Record notes with"
            " checkpoint_workflow and the tokens of the answer; a workflow can join the session"
            " later by its sessionToken."
        ),
        request=requests.StartSession,
        answer=answers.SessionAnswer,
        run=lambda rails, request, asker: rails.start_session(request, asker),
        idempotent=False,
        role="write",
        anybody=True,
        makes="session",
        server_paths=("workspace_path",),
    ),
)

"""A scripted agent: calls the rails tools the way a client does and checks what comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backshop.base.codec import decode, encode
from backshop.base.command import Command
from backshop.base.limits import LOCK_WAIT_MS
from backshop.rails import (
    COMMANDS,
    STUDIO_COMMANDS,
    TOOLS,
    Answer,
    Catalog,
    Places,
    Rails,
    RailsError,
    Settings,
    Studio,
)
from backshop.store import THE_OWNER, Store

Json = dict[str, Any]


def rails_of(
    home: Path,
    *,
    workflows: list[Json] | None = None,
    settings: Settings | None = None,
    bundled_dirs: tuple[Path, ...] = (),
    database_url: str | None = None,
    lock_wait_ms: int = LOCK_WAIT_MS,
) -> Rails:
    """Return rails over a store in `home`; `workflows` are written as user files."""
    folder = home / "workflows"
    folder.mkdir(parents=True, exist_ok=True)
    for one in workflows or ():
        (folder / f"{one['id']}.json").write_text(json.dumps(one), encoding="utf-8")
    store = Store.open(home, database_url=database_url, lock_wait_ms=lock_wait_ms)
    catalog = Catalog(Places(user_dirs=(folder,), bundled_dirs=bundled_dirs))
    return Rails(store, catalog, settings=settings)


class Agent:
    """Calls tools by name with parsed JSON; every answer is checked against its schema."""

    def __init__(self, rails: Rails) -> None:
        self.rails = rails
        self._tools = {tool.name: tool for tool in TOOLS}

    def answer(self, tool: str, **arguments: object) -> Answer:
        """Call a tool and return its whole answer."""
        found = self._tools[tool].call(self.rails, arguments)
        if not found.is_error:
            decode(self._tools[tool].answer, found.structured)
        return found

    def call(self, tool: str, arguments: Json) -> Json:
        """Call a tool and return its structured content."""
        return self.answer(tool, **arguments).structured

    def start(self, workflow_id: str, **arguments: object) -> Json:
        """Start a workflow."""
        return self.answer("start_workflow", workflowId=workflow_id, **arguments).structured

    def go(self, answer: Json, notes: str | None = "done", **arguments: object) -> Json:
        """Acknowledge the pending step of an answer."""
        return self.reply(answer, notes, **arguments).structured

    def reply(self, answer: Json, notes: str | None = "done", **arguments: object) -> Answer:
        """Do the same and return the whole answer."""
        given: Json = {"stateToken": answer["stateToken"], "ackToken": answer["ackToken"]}
        artifacts = arguments.pop("artifacts", None)
        output: Json = {}
        if notes is not None:
            output["notesMarkdown"] = notes
        if artifacts is not None:
            output["artifacts"] = artifacts
        if output:
            given["output"] = output
        return self.answer("continue_workflow", **given, **arguments)

    def look(self, answer: Json) -> Json:
        """Fetch the pending step of an answer again."""
        return self.answer("continue_workflow", stateToken=answer["stateToken"]).structured

    def error(self, tool: str, **arguments: object) -> Json:
        """Call a tool that must refuse, and return the error."""
        found = self.answer(tool, **arguments)
        assert found.is_error, found.structured
        error: Json = found.structured["error"]  # type: ignore[assignment]  # the envelope of R7.3
        return error

    def studio(self, name: str, **request: object) -> Json:
        """Run a command of the person's side."""
        facade: Any = self.rails if name in self._tools else Studio(self.rails)
        every: tuple[Command[Any, Any, Any], ...] = (*COMMANDS, *STUDIO_COMMANDS)
        command = next(one for one in every if one.name == name)
        found: Json = encode(command.answer(facade, decode(command.request, request), THE_OWNER))
        return found

    def refused(self, name: str, **request: object) -> Json:
        """Run a command that must refuse, and return the error."""
        try:
            found = self.studio(name, **request)
        except RailsError as error:
            body: Json = error.envelope()["error"]  # type: ignore[assignment]  # the envelope of R7.3
            return body
        raise AssertionError(f"{name} was not refused: {found}")

    def approve(self, answer: Json, input_id: str = "approval") -> Json:
        """Have the person approve an input of the step where a run stands."""
        run = self.studio("RailsRunGet", runId=answer["session"]["runId"], limit=1)
        return self.studio(
            "RailsUserInputRecord",
            nodeId=run["preferredTip"],
            inputId=input_id,
            decision="approved",
        )

    def events(self, answer: Json) -> int:
        """Return how many events the session of an answer has."""
        session = answer["session"]["sessionId"]
        return self.rails.sessions.store.position(f"session:{session}") + 1

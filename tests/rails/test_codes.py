"""Every code of the closed set is provoked the way a client meets it (R7.3)."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.rails import test_transfer as bundles
from tests.rails.agent import Agent, rails_of
from tests.rails.workflows import flow, step
from tests.tamper import tamper

from backshop.app import Backshop, save
from backshop.base.ids import did
from backshop.mcp import server
from backshop.mcp.offer import Called, OfferedTool
from backshop.mcp.toolbox import Toolbox
from backshop.rails.errors import RAILS_CODES
from backshop.rails.token import token as tk
from backshop.store import Store
from mcp import Client

TWO = flow(step("one"), step("two"))
BROKEN = flow(step("a", prompt=""), name="user.broken")
LONG = "x" * 90_000  # more than the database takes: a file has to be written


class Scene:
    """A home with a run at its first step, and what the provocations do to it."""

    def __init__(self, agent: Callable[..., Agent], home: Path) -> None:
        self.agent, self.home = agent, home
        self.ann = agent(TWO, BROKEN)
        self.first = self.ann.start("user.flow")
        self.session = self.first["session"]["sessionId"]

    def go_on(self, **arguments: object) -> Any:
        return self.ann.error("continue_workflow", **arguments)

    def state(self, text: str) -> Any:
        return self.go_on(stateToken=text)

    def minted(self, node: str, workflow_hash: str = "sha256:" + "0" * 64) -> str:
        return tk.state_token(self.keys, node, workflow_hash)

    @property
    def keys(self) -> tk.Keys:
        return self.ann.rails.sessions.keyring.keys()

    @property
    def node(self) -> str:
        return tk.verify(self.keys, self.first["stateToken"], tk.Kind.STATE).node_id or ""

    def mixed(self) -> Any:
        other = self.ann.start("user.flow")
        return self.go_on(stateToken=self.first["stateToken"], ackToken=other["ackToken"])

    def twice(self) -> Any:
        """Acknowledge one step with two different contents."""
        self.ann.go(self.first, "one way")
        return self.ann.go(self.first, "another way")["error"]

    def nowhere(self) -> Any:
        return self.ann.error(
            "start_workflow", workflowId="user.flow", workspacePath="/no/such/place"
        )

    def locked(self, act: Callable[[Agent], Any]) -> Any:
        self.ann.rails.sessions.store.close()
        hasty = Agent(rails_of(self.home, lock_wait_ms=50))
        with Store.open(self.home) as other, other.database.transaction():
            found = act(hasty)
        hasty.rails.sessions.store.close()
        return found

    def damaged(self) -> Any:
        tamper(
            self.home,
            "UPDATE event SET dedupe_key = dedupe_key || 'x' WHERE stream = ?",
            f"session:{self.session}",
        )
        return Agent(rails_of(self.home)).error(
            "continue_workflow", stateToken=self.first["stateToken"]
        )

    def no_place(self) -> Any:
        for folder in (self.home / "blobs", self.home / "tmp"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.write_text("in the way")
        return self.go_on(ackToken=self.first["ackToken"], output={"notesMarkdown": LONG})

    def defect(self) -> Any:
        def fail(*_: object) -> None:
            raise RuntimeError("a secret of the program")

        self.ann.rails.list_workflows = fail  # type: ignore[method-assign, assignment]
        return self.ann.error("list_workflows")

    def bundle(self, change: Callable[[Any], Any]) -> Any:
        ann, first, _ = bundles.told(self.agent, "a")
        whole = json.loads(bundles.export(ann, first["session"]["sessionId"]))
        return self.ann.refused("RailsSessionImport", bundle=json.dumps(change(whole)))

    def renamed(self) -> Any:
        text = bundles.export(self.ann, self.session)
        return self.locked(lambda hasty: hasty.refused("RailsSessionImport", bundle=text))


def reordered(bundle: Any) -> Any:
    """Leave an event out; sums and signatures are right."""
    del bundle["session"]["events"][3]
    return bundles.resigned(bundle)


class Slow(Toolbox):
    """Offers one tool that does not come to an end."""

    def __init__(self, end: threading.Event) -> None:
        super().__init__()
        self._end = end

    def tools(self) -> dict[str, OfferedTool]:
        def call(_: Mapping[str, Any], __: object) -> Called:
            self._end.wait(20)
            return Called(("late",), {})

        nothing: dict[str, Any] = {"type": "object"}
        slow = OfferedTool(
            name="slow",
            title="Slow",
            description="Waits.",
            input_schema=nothing,
            answer_schema={},
            read_only=True,
            idempotent=True,
            call=call,
        )
        return {"slow": slow}


def timed_out() -> Any:
    end = threading.Event()

    async def story() -> Any:
        async with Client(server.build(Slow(end))) as client:
            return await client.call_tool("slow", {})

    try:
        found = anyio.run(story)
    finally:
        end.set()
    assert found.is_error
    return found.structured_content["error"]


def not_admitted(scene: Scene, times: int) -> Any:
    """Call as somebody who shares the home, about a session that is not theirs."""
    save(scene.home, "team.requests_per_minute", 1)
    with Backshop.open(scene.home) as shop:
        ada = shop.call("UserAdd", {"name": "Ada"})["user_id"]
    offering = Toolbox(scene.home)
    tool = offering.tools()["continue_workflow"]
    for _ in range(times):
        found = tool.call({"stateToken": scene.first["stateToken"]}, ada)
    offering.close()
    assert found.is_error
    return found.structured["error"]


PROVOKED: dict[str, Callable[[Scene], Any]] = {
    "ACCESS_DENIED": lambda s: not_admitted(s, 1),
    "LIMIT_EXCEEDED": lambda s: not_admitted(s, 2),
    "VALIDATION_ERROR": lambda s: s.ann.error("start_workflow"),
    "WORKFLOW_NOT_FOUND": lambda s: s.ann.error("start_workflow", workflowId="user.nope"),
    "WORKFLOW_INVALID": lambda s: s.ann.error("start_workflow", workflowId="user.broken"),
    "TOKEN_INVALID_FORMAT": lambda s: s.state("nonsense"),
    "TOKEN_UNSUPPORTED_VERSION": lambda s: s.state(s.first["stateToken"].replace("v1", "v9", 1)),
    "TOKEN_BAD_SIGNATURE": lambda s: s.state(
        s.agent(TWO, home="elsewhere").start("user.flow")["stateToken"]
    ),
    "TOKEN_SCOPE_MISMATCH": Scene.mixed,
    "TOKEN_UNKNOWN_NODE": lambda s: s.state(s.minted(did("node", "x"))),
    "TOKEN_WORKFLOW_HASH_MISMATCH": lambda s: s.state(s.minted(s.node)),
    "TOKEN_SESSION_LOCKED": lambda s: s.locked(
        lambda hasty: hasty.error("continue_workflow", ackToken=s.first["ackToken"])
    ),
    "SESSION_NOT_HEALTHY": Scene.damaged,
    "SESSION_LOCKED": Scene.renamed,
    "PRECONDITION_FAILED": Scene.nowhere,
    "ALREADY_RECORDED": Scene.twice,
    "STORE_UNAVAILABLE": Scene.no_place,
    "TIMEOUT": lambda _: timed_out(),
    "INTERNAL_ERROR": Scene.defect,
    "BUNDLE_INVALID_FORMAT": lambda s: s.bundle(lambda bundle: [bundle]),
    "BUNDLE_UNSUPPORTED_VERSION": lambda s: s.bundle(bundles.version),
    "BUNDLE_INTEGRITY_FAILED": lambda s: s.bundle(bundles.flip_event),
    "BUNDLE_MISSING_SNAPSHOT": lambda s: s.bundle(bundles.drop("snapshots")),
    "BUNDLE_MISSING_PINNED_WORKFLOW": lambda s: s.bundle(bundles.drop("pinnedWorkflows")),
    "BUNDLE_MISSING_ARTIFACT": lambda s: s.bundle(bundles.drop("artifacts")),
    "BUNDLE_EVENT_ORDER_INVALID": lambda s: s.bundle(reordered),
    "BUNDLE_HASH_CHAIN_INVALID": lambda s: s.bundle(bundles.rechain),
}


@pytest.mark.rule("R7.3", "R6.9", "R9.6")
@pytest.mark.parametrize("code", RAILS_CODES)
def test_every_code_is_provoked(agent, tmp_path, monkeypatch, code):
    monkeypatch.setattr(server, "CALL_TIMEOUT_S", 0.2)
    error = PROVOKED[code](Scene(agent, tmp_path / "home"))

    assert error["code"] == code
    assert error["message"]
    assert error["suggestion"]
    assert "secret" not in json.dumps(error)
    assert str(tmp_path) not in json.dumps(error)


def test_the_table_holds_nothing_but_codes():
    assert set(PROVOKED) == set(RAILS_CODES)

"""What an MCP server offers: the tools of rails, and of one bench, in one shape.

Loading them opens the home and imports most of the product; that happens with the first request
that needs a tool, not before the client is greeted (S2.4).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backshop.base.acting import acting
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import UserId

from .offer import Called, OfferedTool

if TYPE_CHECKING:
    from backshop.app import Backshop
    from backshop.store import Caller
    from backshop.workshop import Outside

TOOL_SETS = ("rails", "bench")
BENCHES_NAMED = 10


class Toolbox:
    """Which tools a server offers on which home; opened on first use, closed with the server."""

    def __init__(
        self,
        home: Path | None = None,
        *,
        tool_sets: tuple[str, ...] = ("rails",),
        bench_id: str | None = None,
    ) -> None:
        unknown = [name for name in tool_sets if name not in TOOL_SETS]
        if unknown or not tool_sets:
            raise ValidationFailed(
                "tool sets are rails and bench", reason="bad_params", hints=TOOL_SETS
            )
        if "bench" in tool_sets and bench_id is None:
            raise ValidationFailed("the bench tools need --bench", reason="bad_params")
        self._home = home
        self._sets = tool_sets
        self._bench_id = bench_id
        self._lock = threading.Lock()
        self._open = ExitStack()
        self._shop: Backshop | None = None
        self._seat: Outside | None = None
        self._tools: dict[str, OfferedTool] | None = None

    @property
    def has_bench(self) -> bool:
        """Say whether the tools of a bench are offered."""
        return "bench" in self._sets

    @property
    def has_rails(self) -> bool:
        """Say whether the tools of rails are offered."""
        return "rails" in self._sets

    def tools(self) -> dict[str, OfferedTool]:
        """Return the tools by name, opening the home on first use.

        Raises:
            BackshopError: the home cannot be used, or there is no such workbench.
        """
        with self._lock:
            if self._tools is None:
                shop = self.shop()
                found: list[OfferedTool] = []
                if "bench" in self._sets and self._bench_id is not None:
                    from .benchtools import bench_tools  # loaded when asked for

                    bench_id = _found(shop, self._bench_id)
                    shop.benches.desk.state(bench_id)  # one in the trash is said so at once
                    self._seat = shop.workshops.outside(bench_id)
                    found += bench_tools(shop, self._seat)
                if "rails" in self._sets:
                    found = [*_rails_tools(shop, self._seat), *found]
                self._tools = {tool.name: tool for tool in found}
            return self._tools

    def shop(self) -> Backshop:
        """Return the home, opened on first use."""
        if self._shop is None:
            from backshop.app import Backshop, begin, running  # loaded after the greeting

            self._shop = self._open.enter_context(Backshop.open(self._home, door="mcp"))
            config = self._shop.config
            begin(config)
            self._open.enter_context(running(config, "mcp"))
        return self._shop

    def person(self, token: str) -> UserId | None:
        """Return whose personal token this is, None if nobody's (T6.4)."""
        with self._lock:
            shop = self.shop()
        return shop.people.who(token)

    def close(self) -> None:
        """Close the home if it was opened."""
        if self._seat is not None:
            self._seat.close()
        self._open.close()


def _found(shop: Backshop, name: str) -> str:
    """Return the id of the bench that is meant; of none that is near, those there are are named."""
    try:
        return shop.bench_id(name)
    except NotFound as error:
        there = shop.call("WorkbenchList", {"limit": BENCHES_NAMED})["workbenches"]
        names = tuple(one["name"] for one in there)
        near = tuple(hint for hint in error.hints if hint in names)
        hints = near or names or error.hints
        raise NotFound(error.message, reason=error.reason, hints=hints) from error


class Sight:
    """Which sessions an agent finds: none of a workbench that is not its own (S6.4)."""

    def __init__(self, shop: Backshop, seat: Outside | None, caller: Caller) -> None:
        self._store = shop.store
        self._own = None if seat is None else seat.bench_id
        self._caller = caller

    def __call__(self, session_id: str) -> bool:
        """Say whether a session is in what they find."""
        return session_id not in self._others and self._caller.sees(session_id)

    @cached_property
    def _others(self) -> frozenset[str]:
        from backshop.workshop import sessions_of_others  # loaded when somebody looks for work

        return sessions_of_others(self._store, self._own)


def _rails_tools(shop: Backshop, seat: Outside | None) -> list[OfferedTool]:
    from backshop.app import Role  # loaded after the client is greeted
    from backshop.rails import Asker, RailsTool, offered

    rails = shop.rails

    def admitted(name: str, user: UserId | None, request: Any) -> Asker:
        asker = person(name, user, request)
        return replace(asker, caller=replace(asker.caller, sees=Sight(shop, seat, asker.caller)))

    def person(name: str, user: UserId | None, request: Any) -> Asker:
        if user is None:
            return Asker() if seat is None else seat.asker
        if seat is not None and seat.is_about(request):
            shop.gate.require_no_path(user, shop.commands.find(name).command, request)
            shop.gate.admit_to(user, seat.bench_id, Role.WRITE)
            return seat.asker
        return Asker(caller=shop.commands.admitted(name, request, user))

    def adapted(tool: RailsTool) -> OfferedTool:
        def call(arguments: Mapping[str, Any], user: UserId | None) -> Called:
            with acting(user):
                answer = tool.call(rails, arguments, partial(admitted, tool.name, user))
            return Called(answer.texts, dict(answer.structured), answer.is_error)

        return OfferedTool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.input_schema,
            answer_schema=tool.output_schema,
            read_only=tool.read_only,
            idempotent=tool.idempotent,
            call=call,
            progress=progress if tool.name == "continue_workflow" else None,
        )

    def progress(answer: Mapping[str, Any]) -> tuple[tuple[int, int], ...]:
        return (rails.progress(dict(answer)),)

    return [adapted(tool) for tool in offered(rails.settings)]

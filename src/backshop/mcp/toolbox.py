"""What an MCP server offers: the tools of rails, and of one bench, in one shape.

Loading them opens the home and imports most of the product; that happens with the first request
that needs a tool, not before the client is greeted (S2.4).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backshop.base.codec import compact
from backshop.base.errors import ValidationFailed

if TYPE_CHECKING:
    from backshop.app import Backshop

TOOL_SETS = ("rails", "bench")


@dataclass(frozen=True, slots=True)
class Called:
    """What a call came to: text for the model first, the same facts as data."""

    texts: tuple[str, ...]
    structured: dict[str, Any]
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """One tool as a client sees it."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    read_only: bool
    idempotent: bool
    call: Callable[[Mapping[str, Any]], Called] = field(repr=False)


class Offering:
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
        self._shop: Backshop | None = None
        self._tools: dict[str, OfferedTool] | None = None

    def tools(self) -> dict[str, OfferedTool]:
        """Return the tools by name, opening the home on first use.

        Raises:
            BackshopError: the home cannot be used, or there is no such workbench.
        """
        with self._lock:
            if self._tools is None:
                shop = self.shop()
                found: list[OfferedTool] = []
                if "rails" in self._sets:
                    found += _rails_tools(shop)
                if "bench" in self._sets and self._bench_id is not None:
                    found += _bench_tools(shop, self._bench_id)
                self._tools = {tool.name: tool for tool in found}
            return self._tools

    def shop(self) -> Backshop:
        """Return the home, opened on first use."""
        if self._shop is None:
            from backshop.app import Backshop, attach  # loaded after the client is greeted

            self._shop = Backshop.open(self._home)
            config = self._shop.config
            attach(config.home, config["log"], config["log_format"])
        return self._shop

    def close(self) -> None:
        """Close the home if it was opened."""
        if self._shop is not None:
            self._shop.close()


def _rails_tools(shop: Backshop) -> list[OfferedTool]:
    from backshop.rails import RailsTool, offered  # loaded after the client is greeted

    def adapted(tool: RailsTool) -> OfferedTool:
        def call(arguments: Mapping[str, Any]) -> Called:
            answer = tool.call(shop.rails, arguments)
            return Called(answer.texts, dict(answer.structured), answer.is_error)

        return OfferedTool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.input_schema,
            output_schema=tool.output_schema,
            read_only=tool.read_only,
            idempotent=tool.idempotent,
            call=call,
        )

    return [adapted(tool) for tool in offered(shop.rails.settings)]


def _bench_tools(shop: Backshop, bench_id: str) -> list[OfferedTool]:
    from backshop.app import fault_of
    from backshop.bench import REVIEW_DRAFT, TOOLS, Author, Source, Workspace  # when asked for
    from backshop.prompts import Tool, ToolContext

    bench_id = shop.bench_id(bench_id)
    shop.benches.desk.state(bench_id)  # a bench in the trash is said so at once
    author = Author(source=Source(kind="workshop", ref="mcp"), actor="mcp:agent")
    context = ToolContext(workspace=Workspace(shop.benches, bench_id, author))

    def adapted(tool: Tool) -> OfferedTool:
        def call(arguments: Mapping[str, Any]) -> Called:
            try:
                result = tool.handler(tool.decode(arguments), context=context)
            except ValidationFailed as error:
                problem = {"reason": error.reason, "hints": list(error.hints)}
                return Called((error.message,), {"error": problem}, is_error=True)
            except Exception as error:  # the outermost handler of this door
                fault = fault_of(error)
                return Called((fault.message,), {"error": fault.envelope}, is_error=True)
            data = result.data()
            if not result.ok:
                return Called((result.text(),), {"error": {"reason": result.code, **data}}, True)
            return Called((result.text(),), data if isinstance(data, dict) else {"value": data})

        return OfferedTool(
            name=tool.name,
            title=tool.name.replace("_", " ").capitalize(),
            description=tool.description,
            input_schema=compact(tool.schema),
            output_schema=None,
            read_only=tool.effects == "read",
            idempotent=tool.effects == "read",
            call=call,
        )

    return [adapted(tool) for tool in (*TOOLS, REVIEW_DRAFT)]

"""An `Toolbox` as a server of the official SDK: our schemas reach the client unchanged."""

from __future__ import annotations

import base64
import logging
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from backshop import __version__
from backshop.base.acting import agent_acting
from backshop.base.ids import UserId
from backshop.base.limits import CALL_TIMEOUT_S
from backshop.base.telemetry import watch
from backshop.base.tool_argument import find_tool, near

from .offer import Called, OfferedTool, refusal
from .roots import root_of
from .toolbox import Toolbox

USER = "backshop.user"  # where the HTTP door notes who sent a request
AGENT_MAX_CHARS = 80
PROBLEM = "backshop_problem"
PROBLEM_MAX_CHARS = 500
PROBLEM_TEXT = (
    "Backshop cannot offer its tools now: {}\nTell the person; when it is put right, they connect"
    " again."
)
_LOG = logging.getLogger("backshop.mcp")
RAILS_INSTRUCTIONS = (
    "Workflows keep your work on course. Call list_workflows, then start_workflow; do each step "
    "and call continue_workflow with the tokens of the last answer. Tokens are opaque: send them "
    "back exactly as given. A suggested call is a form: replace every <…> by what is so. After a "
    "rewind or in a new window call resume_session."
)
PROBLEM_INSTRUCTIONS = (
    f"If {PROBLEM} is the only tool there is, none of this works now: call it and tell the person."
)
BENCH_INSTRUCTIONS = (
    "The file tools work on one workbench of the person's files. Call list_files, then "
    "get_file_map before read_file; query tables with table_query instead of reading many rows. "
    "Before the first operation on an office file ask describe_operations how it is written. "
    "Every write lands in a Draft and changes nothing the person has published; say in change_note "
    "what changed, in the person's language. If you take pictures, look at slides and charts you "
    "made with view_page. Look at the Draft with review_draft, then ask the person to review and "
    "publish. You cannot publish. What people remark on the Draft is in "
    "list_comments; answer with answer_comment. A request for changes in review_draft is yours to "
    "take up: start wr.rpi without a goal, whose end closes it. If you write with the file tools "
    "alone it stays open; its written_since then says what is there: look before you do it again."
)


def instructions(offering: Toolbox) -> str:
    """Return what a client tells its model about this server: of each tool set offered.

    It is said before anything is loaded, so it cannot know yet whether there is a problem.
    """
    parts = [RAILS_INSTRUCTIONS] if offering.has_rails else []
    parts += [BENCH_INSTRUCTIONS] if offering.has_bench else []
    return " ".join([*parts, PROBLEM_INSTRUCTIONS])


def build(offering: Toolbox) -> Server[Any]:
    """Return a server; nothing of the product is loaded until a tool is asked for."""

    async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = await _offered(offering)
        return types.ListToolsResult(tools=[_described(tool) for tool in tools.values()])

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tools = await _offered(offering)
        tool = tools.get(PROBLEM) or find_tool(params.name, tools.values())
        if tool is None:
            close = "".join(f"; did you mean {one}?" for one in near(params.name, tools))
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r}{close}")
        arguments = dict(params.arguments or {})
        user = user_of(context.request)
        if user is None and tool.takes_workspace and arguments.get("workspacePath") is None:
            root = await root_of(context.session, params)
            if isinstance(root, types.InputRequiredResult):
                return root
            arguments |= {"workspacePath": root} if root else {}
        with agent_acting(agent_of(context)):  # worker threads inherit it
            called = await _run(tool, arguments, user)
        if tool.progress is not None and not called.is_error:
            for done, total in await anyio.to_thread.run_sync(tool.progress, called.structured):
                await context.session.report_progress(done, total)  # nothing if nobody asked
        return _result(called)

    return Server(
        "backshop",
        version=__version__,
        title="Backshop",
        instructions=instructions(offering),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def user_of(request: Any) -> UserId | None:
    """Return who sent a request; None is the owner, who alone comes by standard input (T6.4)."""
    found: UserId | None = request.scope[USER] if request is not None else None
    return found


def agent_of(context: ServerRequestContext[Any, Any]) -> str:
    """Return what a client calls itself, as events say it (T1.6)."""
    told = context.session.client_params
    name = "" if told is None else told.client_info.name
    plain = "".join(one for one in name if one.isprintable())[:AGENT_MAX_CHARS]
    return f"mcp:{plain or 'agent'}"


async def _offered(offering: Toolbox) -> dict[str, OfferedTool]:
    """Return the tools; of what stands in their way one that says so, which models see (S6.22)."""
    try:
        return await anyio.to_thread.run_sync(offering.tools)
    except Exception as error:  # the outermost handler of this door
        from backshop.app import fault_of  # loaded only when something failed

        fault = fault_of(error)
        _LOG.error("no tools can be offered: %s", fault.message)
        return {PROBLEM: _problem(refusal(fault.message, fault.envelope))}


def _problem(told: Called) -> OfferedTool:
    """Return the tool that stands for all others where none can be offered."""
    return OfferedTool(
        name=PROBLEM,
        title="What stands in the way",
        description=PROBLEM_TEXT.format(told.texts[0][:PROBLEM_MAX_CHARS]),
        input_schema={"type": "object", "properties": {}},
        answer_schema={"type": "object"},
        read_only=True,
        idempotent=True,
        call=lambda *_: told,
    )


async def _run(tool: OfferedTool, arguments: dict[str, Any], user: UserId | None) -> Called:
    """Run the tool in a worker thread; one that takes too long goes on unheard (R7.3)."""
    with anyio.move_on_after(CALL_TIMEOUT_S):
        return await anyio.to_thread.run_sync(
            _watched, tool, arguments, user, abandon_on_cancel=True
        )
    error = {
        "code": "TIMEOUT",
        "message": f"{tool.name} took longer than {CALL_TIMEOUT_S:.0f} s",
        "suggestion": "Make the same call again; what it recorded is not recorded twice.",
        "retry": {"kind": "retryable_immediate"},
    }
    return refusal(f"TIMEOUT: {error['message']}", error)


def _watched(tool: OfferedTool, arguments: dict[str, Any], user: UserId | None) -> Called:
    with watch("tool", tool=tool.name, door="mcp") as span:
        called = tool.call(arguments, user)
        span.note(error_type="refused" if called.is_error else None)
    return called


def _described(tool: OfferedTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=False,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _result(called: Called) -> types.CallToolResult:
    """Return the answer; beside a picture stands text alone, else some clients leave it out."""
    content: list[types.ContentBlock] = [
        types.TextContent(type="text", text=text) for text in called.texts
    ]
    if (image := called.image) is not None:
        data = base64.b64encode(image.data).decode()
        content.append(types.ImageContent(type="image", data=data, mime_type=image.media_type))
    return types.CallToolResult(
        content=content,
        structured_content=called.structured if image is None else None,
        is_error=called.is_error,
    )

"""The tools of a bench as an outside agent meets them: schemas that hold, refusals in full."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import anyio
import jsonschema
import pytest
from mcp_types import ImageContent, TextContent
from PIL import Image

from backshop.app import Backshop
from backshop.base.codec import decode
from backshop.base.errors import ErrorInfo
from backshop.mcp.server import build
from backshop.mcp.toolbox import Toolbox
from mcp import Client

ORDERS = {"path": "orders.csv"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_files", {}),
    *(
        (name, {"path": path})
        for path in ("README.md", "annual-report.docx", "board-deck.pptx", "budget-2025.xlsx")
        for name in ("get_file_info", "get_file_map", "read_file")
    ),
    *((name, ORDERS) for name in ("get_file_map", "table_get_map", "table_describe")),
    ("get_file_map", {"path": "supplier-terms.pdf"}),
    ("table_stats", ORDERS),
    ("table_read_rows", {**ORDERS, "row_start": 1, "row_count": 5}),
    ("table_query", {**ORDERS, "query": "SELECT count(*) AS c FROM data"}),
    ("table_export", {**ORDERS, "target_path": "new.csv", "format": "csv"}),
    (
        "table_update_from_export",
        {
            **ORDERS,
            "target_path": "new.xlsx",
            "target_sheet": "S",
            "mode": "replace_sheet",
            "create_workbook_if_missing": True,
            "query": "SELECT * FROM data LIMIT 3",
        },
    ),
    ("write_text_file", {"path": "note.md", "content": "one\n"}),
    ("edit_text_file", {"path": "note.md", "edits": [{"search": "one", "replace": "two"}]}),
    *(
        (name, {"path": path, "operations": [{"op": op, **more}]})
        for name, path, op, more in (
            ("xlsx_operations", "budget-2025.xlsx", "ensure_sheet", {"sheet": "More"}),
            ("docx_operations", "annual-report.docx", "append_paragraph", {"text": "More."}),
            ("pptx_operations", "board-deck.pptx", "set_notes", {"index": 0, "notes": "More."}),
        )
    ),
    ("search_files", {"query": "total"}),
    ("replace_in_files", {"search": "two", "replace": "three", "paths": ["note.md"]}),
    ("revert_file", {"path": "new.csv"}),
    ("describe_operations", {"kind": "xlsx"}),
    ("get_styles", {"path": "budget-2025.xlsx"}),
    ("get_styles", {"path": "annual-report.docx"}),
    ("get_styles", {"path": "board-deck.pptx"}),
    ("view_page", {"path": "board-deck.pptx", "place": "slide 2"}),
    ("view_page", {"path": "supplier-terms.pdf", "version": "published"}),
    ("review_draft", {}),
    ("review_draft", {"path": "note.md"}),
    ("list_comments", {}),
    ("recall_tool_result", {"entry_id": 1}),
]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {"path": "nothing.md"}, "NOT_FOUND"),
    ("read_file", {"path": 7}, "VALIDATION_FAILED"),
    ("write_text_file", {"path": "../x", "content": "x"}, "VALIDATION_FAILED"),
    ("table_query", {**ORDERS, "query": "SELECT * FROM read_csv('/etc/passwd')"}, ""),
]


@pytest.fixture
def offering(tmp_path: Path) -> Iterator[Toolbox]:
    with Backshop.open(tmp_path / "home") as shop:
        bench = shop.call("WorkbenchCreateSample", {})["workbench_id"]
    made = Toolbox(tmp_path / "home", tool_sets=("rails", "bench"), bench_id=bench)
    yield made
    made.close()


@pytest.mark.rule("S6.2", "S6.20", "W7.1")
def test_every_answer_has_the_shape_its_tool_is_known_for(offering):
    async def story() -> None:
        tools = offering.tools()
        for tool in tools.values():
            jsonschema.Draft202012Validator.check_schema(tool.answer_schema)
        async with Client(build(offering)) as client:
            for name, arguments in CALLS:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, (name, result.structured_content)
                text = result.content[0]
                assert isinstance(text, TextContent)
                shown = any(isinstance(part, ImageContent) for part in result.content)
                assert shown == (result.structured_content is None), name
                facts = json.loads(text.text) if shown else result.structured_content
                jsonschema.validate(facts, tools[name].answer_schema)

    anyio.run(story)


@pytest.mark.rule("B24.5", "B24.6", "W7.10")
def test_an_agent_outside_reads_and_answers_comments_and_resolves_none(offering, tmp_path):
    async def story() -> None:
        async with Client(build(offering)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            await client.call_tool("write_text_file", {"path": "note.md", "content": "one\n"})
            with Backshop.open(tmp_path / "home") as shop:
                bench = shop.call("WorkbenchList", {})["workbenches"][0]["workbench_id"]
                wish = {
                    "workbench_id": bench,
                    "path": "note.md",
                    "text": "Say two.",
                    "at": "line 1",
                }
                shop.call("ReviewAddComment", wish)
                read = await client.call_tool("list_comments", {})
                await client.call_tool("write_text_file", {"path": "note.md", "content": "two\n"})
                said = {"number": 1, "text": "It says two now."}
                assert not (await client.call_tool("answer_comment", said)).is_error
                (one,) = shop.call("ReviewListComments", {"workbench_id": bench})["comments"]
        assert (read.structured_content or {})["comments"][0]["text"] == "Say two."
        assert [(a["text"], a["is_agent"]) for a in one["answers"]] == [("It says two now.", True)]
        assert one["answers"][0]["by"]["agent"].startswith("mcp")
        assert (one["is_touched"], one["is_resolved"]) == (True, False)
        assert not [name for name in names if "resolve" in name or "publish" in name]

    anyio.run(story)


@pytest.mark.rule("S6.20", "S6.21")
def test_a_client_that_validates_answers_passes_every_refusal_on(offering):
    async def story() -> None:
        async with Client(build(offering)) as client:
            for tool in (await client.list_tools()).tools:
                result = await client.call_tool(tool.name, {"no_such": 1})
                assert result.is_error, tool.name
                facts = result.structured_content or {}
                if tool.output_schema is not None:  # as the TypeScript SDK does, of refusals too
                    jsonschema.validate(facts, tool.output_schema)
                text = result.content[0]
                assert isinstance(text, TextContent)
                assert facts["error"]["message"] in text.text, tool.name
                for hint in facts["error"].get("hints") or ():
                    assert hint in text.text, tool.name

    anyio.run(story)


@pytest.mark.rule("S6.24", "S6.25", "S6.26", "W7.6")
def test_what_is_not_there_is_answered_plainly(offering):
    async def story() -> None:
        async with Client(build(offering)) as client:
            nothing = await client.call_tool("review_draft", {})
            assert not nothing.is_error
            assert (nothing.structured_content or {})["entries"] == []
            assert "Nothing is drafted" in str(nothing.content)
            deck, budget = {"path": "board-deck.pptx"}, {"path": "budget-2025.xlsx"}
            wrong = await client.call_tool("view_page", {**deck, "place": "slide 0"})
            hints = (wrong.structured_content or {})["error"]["hints"]
            assert all(hint.startswith("slide") for hint in hints)
            no_draft = await client.call_tool("view_page", {**deck, "version": "draft"})
            error = (no_draft.structured_content or {})["error"]
            assert (error["reason"], error.get("hints")) == ("no_draft", None)
            wide = await client.call_tool("view_page", {**budget, "place": "Overview!A1:ZZ99999"})
            text = wide.content[0]
            assert isinstance(text, TextContent)
            facts = json.loads(text.text)
            assert f"only {facts['range']} of A1:ZZ99999 is shown" in facts["missing"][-1]

    anyio.run(story)


@pytest.mark.rule("S6.2", "S5.3")
def test_a_refusal_carries_the_whole_envelope(offering):
    async def story() -> None:
        async with Client(build(offering)) as client:
            for name, arguments, code in REFUSED:
                result = await client.call_tool(name, arguments)
                assert result.is_error, name
                assert result.structured_content is not None
                info = decode(ErrorInfo, result.structured_content["error"])
                assert code in ("", info.error_code), (name, info)
                assert info.message
                assert info.reason

    anyio.run(story)


@pytest.mark.rule("W26.6", "W26.2", "F43.72", "S6.21")
def test_a_client_receives_a_chart_as_a_picture(offering):
    async def story() -> None:
        async with Client(build(offering)) as client:
            wanted = {"path": "budget-2025.xlsx", "place": "Overview"}
            result = await client.call_tool("view_page", wanted)
            text, picture = result.content
            assert isinstance(text, TextContent)
            assert isinstance(picture, ImageContent)
            assert picture.mime_type == "image/png"
            assert result.structured_content is None
            facts = json.loads(text.text)
            image = Image.open(BytesIO(base64.b64decode(picture.data))).convert("RGB")
            assert image.size == (facts["width"], facts["height"])
            charts = [one["box"] for one in facts["places"] if one["kind"] == "chart"]
            assert len(charts) == 2
            left, top, width, height = charts[0]
            columns = image.crop((left, top, left + width, top + height)).resize((60, 36))
            blue = [(x, y) for x in range(60) for y in range(36) if _is_blue(columns, x, y)]
            tall = [sum(x in part for x, _ in blue) for part in (range(9, 16), range(34, 43))]
            assert tall[0] > tall[1] > 10  # North's column is taller than West's

            refused = await client.call_tool("view_page", {**wanted, "place": "Nothing!A1"})
            assert refused.is_error
            assert [one.type for one in refused.content] == ["text"]

    anyio.run(story)


def _is_blue(image: Image.Image, x: int, y: int) -> bool:
    red, _, blue = cast(tuple[int, int, int], image.getpixel((x, y)))
    return blue - red > 60


@pytest.mark.rule("S6.1")
def test_the_server_says_how_the_tools_it_offers_are_used(offering, tmp_path):
    async def said(which: Toolbox) -> str:
        async with Client(build(which)) as client:
            return client.instructions or ""

    rails = Toolbox(tmp_path / "other")
    assert "list_workflows" in anyio.run(said, rails)
    assert "If backshop_problem is the only tool" in anyio.run(said, rails)
    assert "Draft" not in anyio.run(said, rails)
    assert "review_draft" in anyio.run(said, offering)
    assert "cannot publish" in anyio.run(said, offering)

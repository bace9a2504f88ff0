"""A small prompt with a digest, a workspace and tools, as a caller would write it."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from backshop.prompts import (
    STATE,
    MarkdownSection,
    Prompt,
    Section,
    Tool,
    ToolContext,
    ToolResult,
    WorkspaceDigest,
    append,
    slice_type,
)


@dataclass(frozen=True)
class Ask:
    request: str


@dataclass(frozen=True)
class Review:
    summary: str
    issues: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Look:
    path: str = field(metadata={"description": "Path of a file"})
    line: int = field(default=1, metadata={"description": "First line"})


@slice_type("model-test-note", 1, STATE)
@dataclass(frozen=True)
class Note:
    text: str


def look(params: Look, *, context: ToolContext) -> ToolResult:
    if params.path == "boom":
        raise RuntimeError("it broke")
    if params.path == "none":
        return ToolResult.failure("not_found", "no such file")
    return ToolResult(ok=True, message=f"{params.path}:{params.line}")


def write(params: Look, *, context: ToolContext) -> ToolResult:
    assert context.session is not None
    context.session.dispatch(Note(params.path))
    context.session.dispatch(Note(params.path))
    if params.path == "fails":
        return ToolResult.failure("read_only", "cannot be written")
    return ToolResult(ok=True, message="written")


STUCK = threading.Event()


def stuck(params: None, *, context: ToolContext) -> ToolResult:
    STUCK.wait(10)
    if context.session is not None:
        context.session.dispatch(Note("late"))
    return ToolResult(ok=True, message="late")


LOOK = Tool("look", "Look at a file.", Look, look, effects="read")
WRITE = Tool("write", "Write a file.", Look, write, effects="write")
STUCK_TOOL = Tool("stuck", "Never ends.", None, stuck, effects="read", timeout_s=0.1)


def make_prompt(
    *,
    output: Any = Review,
    tools: Iterable[Tool] = (LOOK, WRITE),
    extra: Iterable[Section] = (),
    digest: Section | None = None,
    workspace_kinds: tuple[str, ...] = ("workspace", "vfs"),
    **attributes: Any,
) -> Prompt[Any]:
    return Prompt(
        "tests/review",
        "review",
        sections=[
            MarkdownSection("Brief", "Review with care.", key="brief"),
            digest or WorkspaceDigest(),
            MarkdownSection(
                "Files", "Files are here.", key="files", kinds=workspace_kinds, tools=tuple(tools)
            ),
            *extra,
            MarkdownSection("Request", "${request}", key="request", params=Ask, role="user"),
        ],
        output=output,
        **attributes,
    )


__all__ = ["append"]

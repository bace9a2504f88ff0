"""The reviewer's prompt: a brief, the workspace digest, the files, and the request."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from backshop.prompts import (
    HostMount,
    MarkdownSection,
    Prompt,
    SandboxSection,
    VfsSection,
    WorkspaceDigest,
)

INCLUDE = tuple(
    f"*.{ending}"
    for ending in ("md", "py", "txt", "toml", "cfg", "ini", "json", "yml", "yaml", "sh")
)
MAX_BYTES = 600_000


@dataclass(frozen=True)
class Guidance:
    """What every review looks at."""

    focus: str = "correctness, clarity and tests"


@dataclass(frozen=True)
class ReviewTurn:
    """What the person asks for now."""

    request: str


@dataclass(frozen=True)
class Review:
    """A review as the model gives it."""

    summary: str
    issues: list[str] = field(default_factory=list)
    next_steps: list[str] = field(default_factory=list)


def make_prompt(path: Path, *, sandbox: bool = False) -> Prompt[Review]:
    """Return the prompt for reviewing the folder at `path`; `sandbox` lets programs run on it."""
    files = VfsSection(
        HostMount(path, include=INCLUDE, max_total_bytes=MAX_BYTES, allowed_roots=(path,))
    )
    return Prompt(
        "examples/code-review",
        "review",
        name="Code review",
        sections=[
            MarkdownSection(
                "Brief",
                """
                You review the code in the workspace. Look at ${focus}.
                Read what you speak about, name the file of every issue, and stay short.
                """,
                key="brief",
                params=Guidance,
                default_params=Guidance(),
            ),
            WorkspaceDigest(),
            files,
            SandboxSection(files, switched_on=sandbox),
            MarkdownSection(
                "Request", "${request}", key="review-request", params=ReviewTurn, role="user"
            ),
        ],
        output=Review,
    )

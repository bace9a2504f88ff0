"""Rendering a prompt of Workshop size, and the digest of a large folder.

    python -m benchmarks.measure_prompts

Rendering is held against joining the same texts with `str.join`, the least anybody could do; the
digest against reading the same files once.
"""

from __future__ import annotations

import hashlib
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from backshop.prompts import (
    FolderDigest,
    MarkdownSection,
    Prompt,
    Session,
    Tool,
    ToolContext,
    ToolResult,
    WorkspaceDigest,
    delimit,
)

from .report import fact, head, row

RENDER_MAX_MS = 5.0
DIGEST_COLD_MAX_S = 3.0
DIGEST_WARM_MAX_S = 0.2
FILES = 10_000


@dataclass(frozen=True)
class Request:
    """The one part of the prompt that differs from turn to turn."""

    text: str


@dataclass(frozen=True)
class Block:
    """A text somebody else wrote."""

    body: str = field(metadata={"render": "map"})


def _done(params: object, *, context: ToolContext) -> ToolResult:
    return ToolResult(True, "done")


def workshop_prompt() -> Prompt[None]:
    """Return a prompt of 200 manifest lines, 20 maps, 5 context items and 30 tools."""
    manifest = "\n".join(f"- `folder/file-{n}.xlsx` xlsx, {n} KiB, readable" for n in range(200))
    maps = [
        MarkdownSection(
            f"Map {n}",
            delimit("map", f"file-{n}.xlsx", "column, " * 400),
            key=f"f-{n:012x}",
            stability="workspace",
            accepts_overrides=False,
        )
        for n in range(20)
    ]
    items = [
        MarkdownSection(f"Skill {n}", "Say it plainly. " * 200, key=f"skill-{n}") for n in range(5)
    ]
    tools = [
        Tool(f"tool_{n}", "Do one thing. " * 20, Request, _done, effects="read") for n in range(30)
    ]
    return Prompt(
        "benchmarks",
        "workshop",
        sections=[
            MarkdownSection("Rules", "Use maps. " * 100, key="rules", stability="static"),
            MarkdownSection("Tools", "Use them.", key="tools", stability="static", tools=tools),
            MarkdownSection("Manifest", manifest, key="manifest", stability="workspace"),
            MarkdownSection("Maps", "", key="maps", stability="workspace", children=maps),
            WorkspaceDigest(),
            *items,
            MarkdownSection("Request", "$text", key="request", params=Request, role="user"),
        ],
    )


def _best(act: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def measure_render() -> dict[str, float]:
    """Return milliseconds to render and to join, and their ratio."""
    prompt, session = workshop_prompt(), Session()
    session.workspace_digest.set("workspace-digest", "#### Overview\n" + "Facts. " * 1000)
    first = prompt.render(Request("one"), session=session)
    texts = [part.text for part in first.parts]

    render_ms = _best(lambda: prompt.render(Request("two"), session=session).text, 200) * 1000
    hash_ms = _best(lambda: prompt.render(Request("two"), session=session).hash, 100) * 1000
    join_ms = _best(lambda: "\n\n".join(texts).encode(), 200) * 1000
    return {
        "characters": len(first.text),
        "render_ms": render_ms,
        "render_and_hash_ms": hash_ms,
        "join_ms": join_ms,
        "ratio": render_ms / join_ms,
    }


def _grow(root: Path) -> None:
    for number in range(FILES):
        folder = root / f"d{number // 1000}" / f"s{number // 100 % 10}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"f{number}.py").write_text(f"value = {number}\n" * 100)
    (root / "README.md").write_text("# Many files\n\nA folder to measure with.\n")


def _read_all(root: Path) -> None:
    for path in sorted(root.rglob("*")):
        if path.is_file():
            hashlib.sha256(path.read_bytes()).digest()


def measure_digest() -> dict[str, float]:
    """Return seconds for a cold digest, an unchanged one, and reading every file once."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        _grow(root)
        read_s = _best(lambda: _read_all(root), 1)
        cold_s = _best(lambda: FolderDigest(root).build(), 3)
        watched = FolderDigest(root)
        made = watched.build()
        warm_s = _best(watched.build, 5)
        return {
            "files": FILES,
            "bytes": len(made.digest.encode()),
            "cold_s": cold_s,
            "unchanged_s": warm_s,
            "read_s": read_s,
            "ratio": cold_s / read_s,
        }


def main() -> int:
    """Print the measurements; return 1 if one is over its bar."""
    render, digest = measure_render(), measure_digest()
    head()
    row("a prompt of Workshop size", render["render_ms"], RENDER_MAX_MS, unit="ms")
    fact("the same, with its hash", render["render_and_hash_ms"], unit="ms")
    fact("the same / joining its texts", render["ratio"])
    row(f"digest of {FILES:,} files", digest["cold_s"], DIGEST_COLD_MAX_S, unit="s")
    row("the same, nothing changed", digest["unchanged_s"], DIGEST_WARM_MAX_S, unit="s")
    fact("the same / reading every file once", digest["ratio"])
    over = (
        render["render_ms"] > RENDER_MAX_MS
        or digest["cold_s"] > DIGEST_COLD_MAX_S
        or digest["unchanged_s"] > DIGEST_WARM_MAX_S
    )
    return 1 if over else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""What a model made of a source: reading its answer, and what an item must be (B14.7, B14.9).

Pure. A model's answer is hostile until `checked` let it pass; problems come back as sentences a
repair call can quote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from backshop.base import paths
from backshop.base.errors import ValidationFailed

from ..style import skill

MAIN = {"situation": "context.md"}
REQUIRED = {
    "company-context": ("SKILL.md", "references/summary.md"),
    "department-context": ("SKILL.md", "references/summary.md"),
    "situation": ("context.md",),
    "document-style": ("SKILL.md", "references/style-rules.md"),
}
FILES_MAX = 64  # B14.11
FILE_MAX_BYTES = 1024 * 1024
ITEM_MAX_BYTES = 4 * 1024 * 1024
WRAPPERS = ("result", "output", "data", "response", "content", "json")
UNWRAP_MAX = 4
_FENCE = re.compile(
    r"^ {0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?:json)?[ \t]*\n(?P<body>.*?)^ {0,3}(?P=mark)[ \t]*$",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)


def main_file(category: str) -> str:
    """Return the file an item cannot be without."""
    return MAIN.get(category, skill.MAIN)


def is_allowed(category: str, path: str) -> bool:
    """Whether a path may be part of an item: its main file, and references of skills."""
    main = main_file(category)
    return path == main or (main == skill.MAIN and path.startswith("references/"))


def files_of(answer: str) -> dict[str, str] | None:
    """Return the files an answer holds, wherever in it they stand; None when it holds none."""
    for text in _candidates(answer):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        found = _unwrapped(value, UNWRAP_MAX)
        if found is not None:
            return found
    return None


def problems(category: str, files: Mapping[str, str]) -> list[str]:
    """Return everything that keeps a model's files from being an item (B14.9)."""
    found = [
        f"{path} is missing or blank"
        for path in REQUIRED[category]
        if not files.get(path, "").strip()
    ]
    found += [problem for path in files if (problem := _bad_path(category, path))]
    sizes = [len(content.encode(errors="surrogatepass")) for content in files.values()]
    if (
        len(files) > FILES_MAX
        or sum(sizes) > ITEM_MAX_BYTES
        or max(sizes, default=0) > (FILE_MAX_BYTES)
    ):
        found.append("an item has at most 64 files, 1 MiB each and 4 MiB in all")
    found += [f"{path} is not text" for path, content in files.items() if not _is_text(content)]
    if category == "situation":
        return [*found, *skill.dead_links(files)]
    return [*found, *(one for one in skill.problems(files, category) if one not in found)]


def _bad_path(category: str, path: str) -> str | None:
    try:
        clean = paths.bench_path(path)
    except ValidationFailed as error:
        return f"{path!r} is no path: {error.detail or error.message}"
    if clean != path or not is_allowed(category, path):
        return f"{path!r} does not belong to a {category} item"
    return None


def _is_text(content: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" or char == "\0" for char in content)


def _candidates(answer: str) -> Iterator[str]:
    """Give what could be the JSON: all, fenced blocks, the first value, first to last brace."""
    yield answer
    yield from (match["body"] for match in _FENCE.finditer(answer))
    start = answer.find("{")
    if start < 0:
        return
    try:
        _, end = json.JSONDecoder().raw_decode(answer, start)
        yield answer[start:end]
    except (ValueError, RecursionError):
        pass
    yield answer[start : answer.rfind("}") + 1]


def _unwrapped(value: Any, left: int) -> dict[str, str] | None:
    if isinstance(value, str) and left:
        try:
            return _unwrapped(json.loads(value), left - 1)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, dict):
        return None
    listed = value.get("files")
    if isinstance(listed, list):
        return _listed(listed)
    for key in WRAPPERS:
        if left and key in value:
            found = _unwrapped(value[key], left - 1)
            if found is not None:
                return found
    return None


def _listed(items: list[Any]) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for item in items:
        if not isinstance(item, dict):
            return None
        path, content = item.get("path"), item.get("content")
        if not isinstance(path, str) or not isinstance(content, str) or path in found:
            return None
        found[path] = content
    return found

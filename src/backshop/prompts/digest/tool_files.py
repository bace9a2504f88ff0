"""What build, test and container files say, one line each with its source (P7.9)."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_LOCKS = {
    "uv.lock": "uv",
    "poetry.lock": "Poetry",
    "Pipfile.lock": "Pipenv",
    "package-lock.json": "npm",
    "yarn.lock": "Yarn",
    "pnpm-lock.yaml": "pnpm",
    "bun.lock": "Bun",
    "Cargo.lock": "Cargo",
    "go.sum": "Go modules",
}
_NAMED = {
    "setup.cfg": "Python settings",
    "tox.ini": "tox",
    "noxfile.py": "nox",
    "pom.xml": "Maven build",
    "build.gradle": "Gradle build",
    "build.gradle.kts": "Gradle build",
    "Gemfile": "Bundler",
    "composer.json": "Composer",
    "CMakeLists.txt": "CMake build",
    "compose.yaml": "containers with Compose",
    "compose.yml": "containers with Compose",
    "docker-compose.yml": "containers with Compose",
    ".devcontainer/devcontainer.json": "development container",
    ".gitlab-ci.yml": "GitLab CI",
    ".pre-commit-config.yaml": "pre-commit hooks",
    ".editorconfig": "editor settings",
}
_PATTERNS = (
    (re.compile(r"requirements[^/]*\.txt"), "pip requirements"),
    (re.compile(r"[^/]+\.sln"), "Visual Studio solution"),
    (re.compile(r"\.github/workflows/[^/]+\.ya?ml"), "GitHub workflow"),
    (re.compile(r"\.eslintrc(\.[a-z]+)?|eslint\.config\.[a-z]+"), "ESLint"),
    (re.compile(r"\.prettierrc(\.[a-z]+)?|prettier\.config\.[a-z]+"), "Prettier"),
    (re.compile(r"\.golangci\.(ya?ml|toml|json)"), "golangci-lint"),
)
_TARGET = re.compile(r"^([A-Za-z0-9][A-Za-z0-9_.-]*)\s*:(?!=)", re.M)
_RECIPE = re.compile(r"^@?([A-Za-z0-9][A-Za-z0-9_-]*)(?:\s+[^:=\n]*)?:(?!=)", re.M)
_FROM = re.compile(r"^FROM\s+(?:--\S+\s+)?(\S+)", re.M | re.I)
_MODULE = re.compile(r"^module\s+(\S+)", re.M)
_GO = re.compile(r"^go\s+(\S+)", re.M)
_PYTHON_TOOLS = ("pytest", "ruff", "black", "mypy", "pyright", "coverage")
_LIST_MAX = 10
_SPAN_MAX_CHARS = 160


def is_tooling(path: str) -> bool:
    """Say whether a file tells how things are built or checked."""
    name = path.rpartition("/")[2]
    return (
        name in _LOCKS
        or name in _READERS
        or name in _NAMED
        or path in _NAMED
        or any(path.endswith(f"/{known}") for known in _NAMED if "/" in known)
        or _by_pattern(path) is not None
    )


def tooling_lines(files: Iterable[tuple[str, str | None]]) -> tuple[list[str], list[str]]:
    """Return the lines, and the files that could not be understood.

    Each file comes with its text, or None if it was not read.
    """
    lines, broken = [], []
    for path, text in files:
        name = path.rpartition("/")[2]
        reader = _READERS.get(name)
        try:
            found = list(reader(text)) if reader and text is not None else []
        except (ValueError, TypeError, AttributeError, RecursionError):
            broken.append(path)
            found = []
        what = _LOCKS.get(name)
        if what:
            found = [f"packages are managed with {what}"]
        elif not found:
            found = [_NAMED.get(name) or _named_path(path) or _by_pattern(path) or "present"]
        lines += [f"- {line} ({_span(path)})" for line in found]
    return lines, broken


def _named_path(path: str) -> str | None:
    return next((what for known, what in _NAMED.items() if path.endswith(known)), None)


def _by_pattern(path: str) -> str | None:
    name = path.rpartition("/")[2]
    for pattern, what in _PATTERNS:
        if pattern.fullmatch(path if "/" in pattern.pattern else name):
            return what
    return None


def _pyproject(text: str) -> Iterator[str]:
    data = tomllib.loads(text)
    project = _table(data, "project")
    if project.get("name"):
        python = project.get("requires-python")
        yield f"Python project {_span(project['name'])}" + (
            f", Python {_span(python)}" if python else ""
        )
    scripts = sorted(_table(project, "scripts"))
    if scripts:
        yield f"commands: {_spans(scripts)}"
    tools = [name for name in _PYTHON_TOOLS if name in _table(data, "tool")]
    if tools:
        yield f"set up here: {_spans(tools)}"


def _package_json(text: str) -> Iterator[str]:
    data = json.loads(text)
    if data.get("name"):
        yield f"package {_span(data['name'])}"
    scripts = _table(data, "scripts")
    for name in sorted(scripts)[:_LIST_MAX]:
        yield f"script {_span(name)}: {_span(scripts[name])}"
    if len(scripts) > _LIST_MAX:
        yield f"and {len(scripts) - _LIST_MAX} more scripts"


def _cargo(text: str) -> Iterator[str]:
    data = tomllib.loads(text)
    name = _table(data, "package").get("name")
    members = _table(data, "workspace").get("members")
    if name:
        yield f"Rust package {_span(name)}"
    if isinstance(members, list):
        yield f"Rust workspace of {_spans(members)}"


def _go_mod(text: str) -> Iterator[str]:
    module, version = _MODULE.search(text), _GO.search(text)
    if module:
        yield f"Go module {_span(module[1])}" + (f", Go {_span(version[1])}" if version else "")


def _makefile(text: str) -> Iterator[str]:
    targets = [name for name in dict.fromkeys(_TARGET.findall(text)) if name != ".PHONY"]
    if targets:
        yield f"make targets: {_spans(targets)}"


def _justfile(text: str) -> Iterator[str]:
    recipes = list(dict.fromkeys(_RECIPE.findall(text)))
    if recipes:
        yield f"just recipes: {_spans(recipes)}"


def _dockerfile(text: str) -> Iterator[str]:
    images = list(dict.fromkeys(_FROM.findall(text)))
    if images:
        yield f"container image from {_spans(images)}"


def _table(data: Any, name: str) -> dict[str, Any]:
    value = data.get(name, {})
    if not isinstance(value, dict):
        raise TypeError(f"{name} is not a table")
    return value


def _spans(names: list[Any]) -> str:
    shown = ", ".join(_span(name) for name in names[:_LIST_MAX])
    rest = len(names) - _LIST_MAX
    return f"{shown} and {rest} more" if rest > 0 else shown


def _span(value: Any) -> str:
    flat = " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())
    cut = flat if len(flat) <= _SPAN_MAX_CHARS else flat[: _SPAN_MAX_CHARS - 1] + "…"
    return "`" + cut.replace("`", "'") + "`"


_READERS: dict[str, Callable[[str], Iterator[str]]] = {
    "pyproject.toml": _pyproject,
    "package.json": _package_json,
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
    "Makefile": _makefile,
    "justfile": _justfile,
    "Dockerfile": _dockerfile,
}

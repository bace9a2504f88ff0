"""A skill as text: front matter, level-2 sections, and what is wrong with one (B14.9, B15.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from backshop.base import yaml

MAIN = "SKILL.md"
NAME_MAX_CHARS = 64
DESCRIPTION_MAX_CHARS = 1024
_FRONT = re.compile(r"\A---[ \t]*\n(?P<fields>.*?)^---[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]\n]*\]\(\s*<?(?P<target>[^)\s>]+)>?[^)\n]*\)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|#")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
_HEADING = re.compile(r"(?P<level>#{1,6})[ \t]+(?P<title>.+?)[ \t]*#*[ \t]*$")


class BadSkill(ValueError):
    """The text has no front matter that can be read."""


@dataclass(frozen=True, slots=True)
class Front:
    """What a skill says about itself, and the text below it."""

    fields: Mapping[str, object]
    body: str

    def text(self, name: str) -> str:
        """Return a field as text, empty when it is none."""
        value = self.fields.get(name)
        return value.strip() if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of level 2 and what stands below it, byte for byte."""

    title: str
    text: str


def read(text: str) -> Front:
    """Split a skill into its front matter and its body.

    Raises:
        BadSkill: there is no front matter, or it is not a YAML mapping.
    """
    text = text.replace("\r\n", "\n")
    found = _FRONT.match(text)
    if found is None:
        raise BadSkill(f"{MAIN} does not begin with front matter between two lines of ---")
    try:
        fields = yaml.read(found["fields"])
    except yaml.BadYaml as error:
        raise BadSkill(f"the front matter is not YAML: {error}") from error
    if not isinstance(fields, dict):
        raise BadSkill("the front matter is not a list of fields")
    return Front({str(key): value for key, value in fields.items()}, text[found.end() :])


def description(text: str) -> str:
    """Return what a skill says it is for, empty when it does not say."""
    try:
        return read(text).text("description")
    except BadSkill:
        return ""


def problems(files: Mapping[str, str], name: str) -> list[str]:
    """Return everything that keeps these files from being the skill `name`."""
    main = files.get(MAIN, "")
    if not main.strip():
        return [f"{MAIN} is missing or blank"]
    found: list[str] = []
    try:
        front = read(main)
    except BadSkill as error:
        return [str(error)]
    said = front.text("name")
    if said != name or not _is_name(said):
        found.append(f"name must be {name!r}")
    if not 1 <= len(front.text("description")) <= DESCRIPTION_MAX_CHARS:
        found.append(f"description must have 1 to {DESCRIPTION_MAX_CHARS} characters")
    if not front.body.strip():
        found.append(f"{MAIN} has no text below its front matter")
    return [*found, *dead_links(files)]


def dead_links(files: Mapping[str, str]) -> list[str]:
    """Return relative links that lead to no file of the skill."""
    return [
        f"{path} links to {target}, which is not part of the item"
        for path, text in files.items()
        for target in _targets(text)
        if _resolved(path, target) not in files
    ]


def sections(body: str) -> list[Section]:
    """Return the level-2 sections; headings inside code do not count."""
    found: list[tuple[str, list[str]]] = []
    for line, heading in lines(body):
        if heading is not None and heading[0] == 2:
            found.append((heading[1], []))
        elif found:
            found[-1][1].append(line)
    return [Section(title, "".join(text)) for title, text in found]


def lines(text: str) -> Iterator[tuple[str, tuple[int, str] | None]]:
    """Give each line with its heading, if it is one: level and title."""
    fence: str | None = None
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence is not None:
            is_end = mark and mark["mark"].startswith(fence) and not line.strip().strip(fence[0])
            fence = None if is_end else fence
            yield line, None
            continue
        if mark is not None:
            fence = mark["mark"]
            yield line, None
            continue
        heading = _HEADING.match(line)
        yield line, None if heading is None else (len(heading["level"]), heading["title"])


def _is_name(text: str) -> bool:
    """Lower-case letters of any script, digits, single hyphens inside."""
    parts = text.split("-")
    return len(text) <= NAME_MAX_CHARS and all(
        part and part == part.lower() and all(c.isalpha() or c.isdecimal() for c in part)
        for part in parts
    )


def _targets(text: str) -> list[str]:
    prose = "".join(line for line, _ in _outside_code(text))
    found = (match["target"].partition("#")[0] for match in _LINK.finditer(prose))
    return [target for target in found if target and not _SCHEME.match(target)]


def _outside_code(text: str) -> Iterator[tuple[str, None]]:
    fence: str | None = None
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark is not None:
            fence = None if fence and mark["mark"].startswith(fence) else fence or mark["mark"]
        elif fence is None:
            yield re.sub(r"`[^`\n]*`", "", line), None


def _resolved(path: str, target: str) -> str:
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return ".."  # leads out: no file is called so
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)

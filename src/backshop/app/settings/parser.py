"""One setting, and how values of settings are read: a JSON value or an environment text (S3)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Parse = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of values that also says in words what it allows."""

    parse: Parse
    allowed: str

    def __call__(self, value: Any) -> Any:
        return self.parse(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting. `parse` takes a JSON value or an environment text, or raises ValueError."""

    name: str
    parse: Reader
    summary: str
    default: Any = None
    env: str | None = None
    secret: bool = False
    live: bool = False
    """Read anew whenever it is needed, so that a change takes effect at once."""

    @property
    def allowed(self) -> str:
        """What values it may have, in words."""
        return self.parse.allowed


def integer(low: int, high: int) -> Reader:
    """Return a reader of whole numbers between two bounds."""

    def check(value: Any) -> int:
        number = int(value) if isinstance(value, str) else value
        if type(number) is not int or not low <= number <= high:
            raise ValueError
        return number

    return Reader(check, f"{low} to {high}")


def _flag(value: Any) -> bool:
    """Read true or false, also as an environment says it."""
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "0": False,
        "false": False,
        "no": False,
        "": False,
    }
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    if type(value) is not bool:
        raise ValueError
    return value


def choice(*words: str) -> Reader:
    """Return a reader of one of these words."""

    def check(value: Any) -> str:
        if value not in words:
            raise ValueError
        return str(value)

    return Reader(check, ", ".join(words))


def proxy(value: Any) -> str:
    """Read the address of a proxy: http, a host and a port, nothing behind them."""
    text: str = url("http")(value)
    parts = urlsplit(text)
    if not parts.hostname or parts.port is None or parts.path.strip("/") or parts.query:
        raise ValueError
    return text


def url(*schemes: str) -> Parse:
    """Return a reader of addresses with one of these schemes."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or urlsplit(value).scheme not in schemes:
            raise ValueError
        _ = urlsplit(value).port  # raises for what is no port
        return value

    return check


def _folders(value: Any) -> tuple[str, ...]:
    """Read a list of folders, also as an environment joins them."""
    parts = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError
    return tuple(part for part in parts if part)


def networks(value: Any) -> tuple[str, ...]:
    """Read a list of IP addresses and networks, also as an environment joins them: by commas."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError
    found = tuple(part.strip() for part in parts if part.strip())
    for one in found:
        ip_network(one)  # raises for what is none
    return found


def _folder(value: Any) -> str:
    """Read one absolute path."""
    if not isinstance(value, str) or not Path(value).is_absolute():
        raise ValueError
    return value


def json_object(value: Any) -> dict[str, Any]:
    """Read an object."""
    if not isinstance(value, dict):
        raise ValueError
    return value


def onboarding(value: Any) -> dict[str, Any]:
    kinds = {"completed": bool, "dismissed": bool, "version": int}
    found = json_object(value)
    if not all(type(part) is kinds.get(key) for key, part in found.items()):
        raise ValueError
    return found


def short_text(longest: int) -> Parse:
    """Return a reader of one line of text."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or not 1 <= len(value) <= longest or not value.isprintable():
            raise ValueError
        return value

    return check


def amount(value: Any) -> float:
    """Read an amount above 0."""
    number = float(value) if isinstance(value, str) else value
    if type(number) not in (int, float) or not 0 < number < 1e9:
        raise ValueError
    return float(number)


def json_list(value: Any) -> tuple[Any, ...]:
    """Read a list."""
    if not isinstance(value, list):
        raise ValueError
    return tuple(value)


def limits(value: Any) -> dict[str, int]:
    """Read the four limits of a workbench."""
    names = {"max_files", "max_file_bytes", "max_total_bytes", "max_depth"}
    if not isinstance(value, dict) or set(value) != names:
        raise ValueError
    if not all(type(number) is int and number > 0 for number in value.values()):
        raise ValueError
    return value


def keywords(value: Any) -> dict[str, tuple[str, ...]]:
    """Read lists of words for xlsx, docx and pptx."""
    if not isinstance(value, dict) or not set(value) <= {"xlsx", "docx", "pptx"}:
        raise ValueError
    return {kind: words(listed) for kind, listed in value.items()}


def words(value: Any) -> tuple[str, ...]:
    """Read a list of words."""
    if not isinstance(value, list) or not all(isinstance(w, str) and w.strip() for w in value):
        raise ValueError
    return tuple(value)


flag = Reader(_flag, "true or false")
folder = Reader(_folder, "an absolute path")
folders = Reader(_folders, "a list of folders")

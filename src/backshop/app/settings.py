"""Every setting of the product: name, default, what is allowed, and what it is for (S3)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from backshop.base.limits import (
    BLOCKED_ATTEMPTS_MAX,
    GIB,
    LOCK_WAIT_MS,
    MIB,
    RETENTION_DAYS,
)

Parse = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting. `parse` takes a JSON value or an environment text, or raises ValueError."""

    name: str
    default: Any
    parse: Parse
    allowed: str
    summary: str
    env: str | None = None
    secret: bool = False


def _integer(low: int, high: int) -> Parse:
    def check(value: Any) -> int:
        number = int(value) if isinstance(value, str) else value
        if type(number) is not int or not low <= number <= high:
            raise ValueError
        return number

    return check


def _flag(value: Any) -> bool:
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


def _choice(*words: str) -> Parse:
    def check(value: Any) -> str:
        if value not in words:
            raise ValueError
        return str(value)

    return check


def _url(*schemes: str) -> Parse:
    def check(value: Any) -> str:
        if not isinstance(value, str) or urlsplit(value).scheme not in schemes:
            raise ValueError
        _ = urlsplit(value).port  # raises for what is no port
        return value

    return check


def _folders(value: Any) -> tuple[str, ...]:
    parts = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError
    return tuple(part for part in parts if part)


def _folder(value: Any) -> str:
    if not isinstance(value, str) or not Path(value).is_absolute():
        raise ValueError
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError
    return value


def _onboarding(value: Any) -> dict[str, Any]:
    kinds = {"completed": bool, "dismissed": bool, "version": int}
    found = _object(value)
    if not all(type(part) is kinds.get(key) for key, part in found.items()):
        raise ValueError
    return found


def _text(longest: int) -> Parse:
    def check(value: Any) -> str:
        if not isinstance(value, str) or not 1 <= len(value) <= longest or not value.isprintable():
            raise ValueError
        return value

    return check


def _amount(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or not 0 < number < 1e9:
        raise ValueError
    return number


def _list(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError
    return tuple(value)


def _limits(value: Any) -> dict[str, int]:
    names = {"max_files", "max_file_bytes", "max_total_bytes", "max_depth"}
    if not isinstance(value, dict) or set(value) != names:
        raise ValueError
    if not all(type(number) is int and number > 0 for number in value.values()):
        raise ValueError
    return value


def _keywords(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict) or not set(value) <= {"xlsx", "docx", "pptx"}:
        raise ValueError
    return {kind: _words(words) for kind, words in value.items()}


def _words(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(w, str) and w.strip() for w in value):
        raise ValueError
    return tuple(value)


_LEVELS = ("debug", "info", "warning", "error")

SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="onboarding",
        default={},
        parse=_onboarding,
        allowed="an object with completed, dismissed (true or false) and version (a number)",
        summary="How far the first steps of the web app were taken.",
    ),
    Setting(
        name="database_url",
        env="BACKSHOP_DATABASE_URL",
        default=None,
        parse=_url("sqlite", "postgresql", "postgres"),
        allowed="sqlite:///path or postgresql://…",
        summary="Where events are kept; by default store.db in the home.",
    ),
    Setting(
        name="log",
        env="BACKSHOP_LOG",
        default="warning",
        parse=_choice(*_LEVELS),
        allowed=", ".join(_LEVELS),
        summary="How much goes to the log.",
    ),
    Setting(
        name="log_format",
        env="BACKSHOP_LOG_FORMAT",
        default="text",
        parse=_choice("text", "json"),
        allowed="text, json",
        summary="How lines of the log are written; json is one object a line.",
    ),
    Setting(
        name="offline",
        env="BACKSHOP_OFFLINE",
        default=False,
        parse=_flag,
        allowed="true or false",
        summary="No model call may leave the machine.",
    ),
    Setting(
        name="workflow_path",
        env="BACKSHOP_WORKFLOW_PATH",
        default=(),
        parse=_folders,
        allowed="a list of folders",
        summary="Extra folders with workflows.",
    ),
    Setting(
        name="store.lock_wait_ms",
        default=LOCK_WAIT_MS,
        parse=_integer(0, 600_000),
        allowed="0 to 600000",
        summary="How long a writer waits for another one.",
    ),
    Setting(
        name="rails.bundled_dirs",
        default=(),
        parse=_folders,
        allowed="a list of folders",
        summary="Folders whose workflows count as bundled.",
    ),
    Setting(
        name="rails.git_sources",
        default=(),
        parse=_list,
        allowed="a list of {url, ref, path?, namespace?}",
        summary="Repositories of workflows, fetched by `backshop workflow sync`.",
    ),
    Setting(
        name="rails.preset",
        default="guided",
        parse=_choice("guided", "full_auto", "full_auto_nonstop"),
        allowed="guided, full_auto, full_auto_nonstop",
        summary="The mode new runs begin with.",
    ),
    Setting(
        name="rails.notes",
        default="encouraged",
        parse=_choice("encouraged", "required"),
        allowed="encouraged or required",
        summary="Whether a step may be acknowledged without notes.",
    ),
    Setting(
        name="rails.workspace",
        default=None,
        parse=_folder,
        allowed="an absolute path",
        summary="The workspace whose project workflows count when a call names none.",
    ),
    Setting(
        name="rails.max_blocked_attempts",
        default=BLOCKED_ATTEMPTS_MAX,
        parse=_integer(1, 1000),
        allowed="1 to 1000",
        summary="How often in a row a step may be blocked.",
    ),
    Setting(
        name="rails.retention_days",
        default=RETENTION_DAYS,
        parse=_integer(0, 3650),
        allowed="1 to 3650, or 0 for ever",
        summary="How long a session without activity is kept.",
    ),
    *(
        Setting(
            name=f"rails.tools.{tool}",
            default=True,
            parse=_flag,
            allowed="true or false",
            summary=f"Whether agents see the tool {tool}.",
        )
        for tool in ("checkpoint_workflow", "resume_session", "start_session")
    ),
    Setting(
        name="workshop.flow",
        default="rpi",
        parse=_choice("rpi", "compat"),
        allowed="rpi, compat",
        summary="How turns are executed where a workbench says nothing else.",
    ),
    Setting(
        name="workshop.max_turn_minutes",
        default=120,
        parse=_integer(1, 1440),
        allowed="1 to 1440",
        summary="How long a turn may take before it waits for you.",
    ),
    Setting(
        name="workshop.loop_window",
        default=10,
        parse=_integer(2, 100),
        allowed="2 to 100",
        summary="How many of the agent's last tool calls are compared.",
    ),
    Setting(
        name="workshop.loop_warning",
        default=3,
        parse=_integer(2, 100),
        allowed="2 to 100",
        summary="How often the same call is made before the agent is warned.",
    ),
    Setting(
        name="workshop.loop_stop",
        default=5,
        parse=_integer(3, 100),
        allowed="3 to 100",
        summary="How often the same call is made before the agent is stopped.",
    ),
    Setting(
        name="providers",
        default=None,
        parse=_object,
        allowed="an object of provider settings",
        summary="Servers of your own, efforts, and what is switched off; see `backshop provider`.",
    ),
    Setting(
        name="model.default",
        default=None,
        parse=_text(161),
        allowed="a model id such as openai:gpt-5.2",
        summary="The model new workbenches begin with.",
    ),
    Setting(
        name="consent.mode",
        default="ask",
        parse=_choice("ask", "allow_all"),
        allowed="ask, allow_all",
        summary="Whether you are asked before content leaves the machine.",
    ),
    Setting(
        name="consent.for_local",
        default=False,
        parse=_flag,
        allowed="true or false",
        summary="Whether model servers on this machine need consent too.",
    ),
    Setting(
        name="budget.tokens",
        default=None,
        parse=_integer(1, 10**12),
        allowed="1 or more",
        summary="Tokens one workbench may use in all.",
    ),
    Setting(
        name="budget.usd",
        default=None,
        parse=_amount,
        allowed="an amount above 0",
        summary="What one workbench may cost in all, in US dollars.",
    ),
    Setting(
        name="team.requests_per_minute",
        default=600,
        parse=_integer(0, 1_000_000),
        allowed="1 or more, or 0 for no limit",
        summary="How many commands one person may call in a minute; the owner is not counted.",
    ),
    Setting(
        name="models",
        default=(),
        parse=_list,
        allowed="a list of model entries",
        summary="Models beyond the bundled catalog.",
    ),
    Setting(
        name="limits",
        default=None,
        parse=_limits,
        allowed="an object with max_files, max_file_bytes, max_total_bytes, max_depth",
        summary="What new workbenches may hold, in place of a profile.",
    ),
    Setting(
        name="bench.profile",
        default="standard",
        parse=_choice("classic", "standard", "large"),
        allowed="classic, standard, large",
        summary="The limits new workbenches begin with.",
    ),
    *(
        Setting(
            name=f"bench.{name}",
            default=default,
            parse=_integer(1, most),
            allowed=f"1 to {most}",
            summary=summary,
        )
        for name, default, most, summary in (
            ("batch_operations", 500, 10_000, "Operations one write to a Draft may have."),
            ("batch_files", 200, 10_000, "Files one write to a Draft may touch."),
            ("batch_bytes", 256 * MIB, 64 * GIB, "Bytes one write to a Draft may bring."),
            ("trash_days", 7, 3650, "How long a deleted workbench can be taken back."),
        )
    ),
    Setting(
        name="bench.checkpoint_max_bytes",
        default=None,
        parse=_integer(1, 10**15),
        allowed="1 or more",
        summary="Bytes that only checkpoints keep, from which on old ones go.",
    ),
    Setting(
        name="bench.disk_reserve_bytes",
        default=64 * MIB,
        parse=_integer(0, 10**15),
        allowed="0 or more",
        summary="Free disk space below which nothing new is begun.",
    ),
    Setting(
        name="bench.style_keywords",
        default=None,
        parse=_keywords,
        allowed="an object of xlsx, docx, pptx with lists of words",
        summary="Words that say a conversation is about workbooks, documents or slides.",
    ),
    Setting(
        name="workshop.max_revisions",
        default=200,
        parse=_integer(10, 1000),
        allowed="10 to 1000",
        summary="States of Drafts that can be gone back to, in one workbench.",
    ),
    Setting(
        name="workshop.context_timeout_s",
        default=120,
        parse=_integer(5, 3600),
        allowed="5 to 3600",
        summary="How long making a context item may take.",
    ),
)

"""`/settings`: providers, models, limits, appearance, data, people (U5.4)."""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.responses import RedirectResponse, Response

from backshop.app import Engine, People, Server, SettingInfo, sharing
from backshop.base.command import NOTHING
from backshop.base.errors import AccessDenied
from backshop.base.usage import Used
from backshop.models import Models, Permissions, Providers
from backshop.workshop import Workshop

from .kit import THEME_COOKIE, THEMES, Page, Visit, route, safe_path, tried

YEAR_S = 365 * 86_400
ELSEWHERE = frozenset({"providers", "models", "model.default", "consent.mode", "onboarding"})
"""Settings that have a form of their own on the page, or none."""
_CHOICES = re.compile(", | or ")
_CLOSED = re.compile(r"[a-z_]+(?:(?:, | or )[a-z_]+)+")  # words and nothing but words
PHASES = ("research", "plan", "implement")


def settings(visit: Visit) -> Page:
    """Show everything that can be set, each value with where it comes from."""
    providers, providers_error = tried(visit, Providers.status, NOTHING)
    models, _ = tried(visit, Models.models, NOTHING)
    default, _ = tried(visit, Models.default_model, NOTHING)
    mode, _ = tried(visit, Permissions.mode, NOTHING)
    people, _ = tried(visit, People.user_list, NOTHING)
    context = {
        "providers": providers.providers if providers else (),
        "secrets_source": providers.secrets_source if providers else None,
        "providers_error": providers_error,
        "models": models.models if models else (),
        "default_model": default.model_id if default else None,
        "consent_mode": mode.mode if mode else "ask",
        **_values(visit),
        "home": str(visit.shop.config.home) if visit.user is None else "",
        "is_owner": visit.user is None,
        "users": people.users if people else (),
        "back": safe_path(visit.query.get("back")),
        "link": None,
        "person": None,
        "person_name": "",
        "loopback": visit.site.door.loopback,
        "phases": PHASES,
    }
    return Page(template="settings.html", title="Settings", context=context)


def _require_owner(visit: Visit) -> None:
    if visit.user is not None:
        raise AccessDenied("this is for the home's owner", reason="owner_only")


def _values(visit: Visit) -> dict[str, Any]:
    """Return what is kept, and the servers that run with something else (R10.7)."""
    found, _ = tried(visit, Engine.settings, NOTHING)
    if found is None:
        return {"settings": (), "restarts": ()}
    return {
        "settings": [_row(one) for one in found.settings if one.name not in ELSEWHERE],
        "restarts": [(_server(one), one) for one in found.servers if one.differs],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A setting as its row shows it: as JSON writes it, from a list where there is one."""

    setting: SettingInfo
    text: str
    applied_text: str
    choices: list[str]


def _row(one: SettingInfo) -> Row:
    text = _text(one.value)
    choices = _CHOICES.split(one.allowed) if _CLOSED.fullmatch(one.allowed) else []
    listed = choices if text in choices else []
    return Row(setting=one, text=text, applied_text=_text(one.applied), choices=listed)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _server(one: Server) -> str:
    if one.is_this:
        return "this web app"
    doors = {"web": "a web app", "mcp": "an MCP server", "rpc": "a program over JSON-RPC"}
    return f"{doors.get(one.door, one.door)} (process {one.pid})"


def appearance(visit: Visit) -> Response:
    """Keep the look in a cookie, so that a page comes in it from its first byte."""
    theme = visit.form.get("theme")
    answer = RedirectResponse(safe_path(visit.form.get("next")) or "/settings", status_code=303)
    if theme in THEMES:
        answer.set_cookie(
            THEME_COOKIE, str(theme), max_age=YEAR_S, samesite="strict", httponly=True
        )
    return answer


def new_link(visit: Visit) -> Page:
    """Make a login link for another browser; it is shown once."""
    _require_owner(visit)
    made = settings(visit)
    link = f"/login?token={visit.site.login.new_link()}"
    return Page(template=made.template, title=made.title, context={**made.context, "link": link})


def add_person(visit: Visit) -> Page:
    """Let somebody in; their token is on this one page and kept nowhere (T6.4)."""
    _require_owner(visit)
    name = str(visit.form.get("name") or "")
    added = visit.ask(People.user_add, sharing.UserAdd(name=name))
    made = settings(visit)
    context = {**made.context, "person": added, "person_name": name.strip()}
    return Page(template=made.template, title=made.title, context=context)


def disk(visit: Visit) -> Page:
    """Say how much the home holds, folder by folder."""
    _require_owner(visit)
    home = visit.shop.config.home
    parts = [(one.name, _size(one)) for one in sorted(home.iterdir())]
    context = {"parts": sorted(parts, key=lambda one: -one[1]), "total": sum(s for _, s in parts)}
    return Page(template="disk.html", title="", context=context)


def usage(visit: Visit) -> Page:
    """Say what models used for the workbenches somebody sees, and in all."""
    used, _ = tried(visit, Workshop.list_usage, NOTHING)
    benches = [one for one in used.benches if one.calls] if used else []
    rows: list[tuple[str, Used]] = [
        (f"{one.name} (deleted)" if one.is_deleted else one.name, one) for one in benches
    ]
    if used and used.elsewhere.calls:
        rows.append(("For no workbench", used.elsewhere))
    context = {
        "used": used,
        "rows": rows,
        "models": [(one.model_id, one) for one in used.by_model] if used else [],
        "unreadable": [one.name for one in used.benches if not one.is_readable] if used else [],
    }
    return Page(template="home_usage.html", title="", context=context)


def _size(path: Path) -> int:
    """Return the bytes a file or folder takes; what cannot be looked at counts nothing."""
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            return path.lstat().st_size
    except OSError:
        return 0
    total = 0
    for root, _, names in os.walk(path):
        for name in names:
            try:
                total += (Path(root) / name).lstat().st_size
            except OSError:
                continue
    return total


ROUTES = (
    route("/settings", settings),
    route("/settings/appearance", appearance, "POST"),
    route("/settings/link", new_link, "POST"),
    route("/settings/people", add_person, "POST"),
    route("/settings/disk", disk),
    route("/settings/usage", usage),
)

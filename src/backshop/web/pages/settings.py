"""`/settings` in four tabs: you, models, people, advanced (U5.4, U5.50)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from backshop.app import (
    INVITE_DAYS,
    Engine,
    People,
    Server,
    SettingInfo,
    SettingsSet,
    UserInvite,
    check_setting,
    sharing,
)
from backshop.base.acting import OWNER
from backshop.base.command import NOTHING
from backshop.base.errors import ValidationFailed
from backshop.base.usage import UNKNOWN_PERSON, Used
from backshop.bench import Bench
from backshop.bench.requests import WorkbenchList
from backshop.models import Models, Permissions, Providers
from backshop.models.requests import ProviderRequest, ProviderStatus, UpsertLocal
from backshop.workshop import Workshop
from backshop.workshop.answers import HomeUsage

from ..fields import json_or_text
from ..sentences import SERVERS as SERVER_SENTENCES
from ..sentences import TESTED, provider_line
from . import backups
from .folder_size import folder_bytes
from .kit import (
    THEME_COOKIE,
    THEMES,
    Page,
    Redirect,
    Visit,
    require_owner,
    route,
    safe_path,
    tried,
)
from .model_way import SERVERS
from .sharing import ROLES

YEAR_S = 365 * 86_400
ELSEWHERE = frozenset({"providers", "models", "model.default", "consent.mode", "onboarding"})
"""Settings that have a form of their own on the page, or none."""
_CHOICES = re.compile(", | or ")
_CLOSED = re.compile(r"[a-z_]+(?:(?:, | or )[a-z_]+)+")  # words and nothing but words
PHASES = ("research", "plan", "implement")
PRESETS = {**SERVERS, "custom": "Another one that speaks as OpenAI does"}
SERVER_FIELDS = ("provider_id", "preset", "base_url")
TABS = (("me", "You"), ("models", "Models"), ("people", "People"), ("advanced", "Advanced"))
BENCHES_OFFERED = 200  # the longest page of them there is
OTHER_PLACE = "Logs, keys and settings"
PLACES = {  # what the folders of a home hold
    "backups": "Backups that were made here",
    "benches": "Files of workbenches",
    "blobs": "Contents of all their versions",
    "cache": "What can be made again",
    **dict.fromkeys(("store.db", "store.db-wal", "store.db-shm", "store.db-mark"), "What happened"),
}
FOR_EVERYBODY = frozenset({"me", "models"})
NO_FAULTS: Mapping[str, str] = MappingProxyType({})
ATTENTION = {  # why a key that is kept cannot be used
    "secrets_unreadable": "The key that is kept cannot be read any more. Enter it again.",
}


def me(visit: Visit) -> Page:
    """Show what somebody chooses for themselves."""
    return _me(visit)


def _me(visit: Visit, link: str | None = None) -> Page:
    has_people = bool(visit.shop.people.state.users)
    return _tab(visit, "me", "PeopleChanged", {"link": link, "has_people": has_people})


def models(visit: Visit) -> Page:
    """Show providers and models; who owns the home can change them."""
    return _models(visit)


def _models(visit: Visit, **shown: Any) -> Page:
    providers, providers_error = tried(visit, Providers.status, NOTHING)
    found, _ = tried(visit, Models.models, NOTHING)
    default, _ = tried(visit, Models.default_model, NOTHING)
    mode, _ = tried(visit, Permissions.mode, NOTHING)
    context = {
        "providers": providers.providers if providers else (),
        "secrets_source": providers.secrets_source if providers else None,
        "providers_error": providers_error,
        "models": found.models if found else (),
        "default_model": default.model_id if default else None,
        "consent_mode": mode.mode if mode else "ask",
        "phases": PHASES,
        "presets": PRESETS,
        "attention": _attention,
        "tested": {"any": TESTED, "own": SERVER_SENTENCES},
        "added": visit.query.get("added"),
        "typed": {},
        "warnings": (),
        **shown,
    }
    return _tab(visit, "models", "ProvidersChanged", context)


def _attention(one: ProviderStatus) -> str:
    """Return what is wrong with a provider, in sentences."""
    line = one.last_error or one.attention or ""
    is_own = one.provider_id.startswith("local-")
    return ATTENTION.get(one.attention or "") or provider_line(line, is_own=is_own)


def add_server(visit: Visit) -> Page | Redirect:
    """Add a server of the person's own and ask it at once whether it is there."""
    require_owner(visit)
    name, preset, address = (str(visit.form.get(one) or "").strip() for one in SERVER_FIELDS)
    wish = UpsertLocal(
        provider_id=name,
        preset=preset,
        base_url=address or None,
        needs_key=visit.form.get("needs_key") == "true",
    )
    _, error = tried(visit, Providers.upsert_local, wish)
    if error is not None:
        return replace(_models(visit, server_error=error, typed=wish), status=422)
    named = ProviderRequest(provider_id=name)
    probed, _ = tried(visit, Providers.probe, named)
    if probed is None:  # keeps what is wrong with it, for this page and all others
        visit.ask(Providers.validate, named)
    elif probed.warnings:
        return _models(visit, added=name, warnings=probed.warnings)
    return Redirect(f"/settings/models?{urlencode({'added': name})}#providers")


def people(visit: Visit) -> Page:
    """Show who shares the home, and what models used for whom."""
    return _people(visit)


def _people(visit: Visit, **shown: Any) -> Page:
    require_owner(visit)
    found, _ = tried(visit, People.user_list, NOTHING)
    waiting, _ = tried(visit, People.invite_list, NOTHING)
    listed, _ = tried(visit, Bench.list, WorkbenchList(limit=BENCHES_OFFERED))
    context = {
        "users": found.users if found else (),
        "invites": waiting.invites if waiting else (),
        "bench_names": {one.workbench_id: one.name for one in listed.workbenches} if listed else {},
        "roles": ROLES,
        "invite_days": INVITE_DAYS,
        "is_here_alone": visit.site.door.loopback and not visit.site.door.public_url,
        "person_name": "",
        "typed": {},
        **dict.fromkeys(("person_error", "invite_error")),
        **shown,
    }
    return _tab(visit, "people", "PeopleChanged", context)


def advanced(visit: Visit) -> Page:
    """Show every raw setting with a sentence, and the data of the home."""
    require_owner(visit)
    return _advanced(visit, _values(visit))


def _advanced(
    visit: Visit,
    values: dict[str, Any],
    *,
    saved: int | None = None,
    wrong: Mapping[str, str] = NO_FAULTS,
) -> Page:
    home = visit.shop.config.home
    context = {
        "saved": saved,
        "wrong": wrong,
        "home": str(home),
        "backups": backups.listed(home),
        "made": visit.query.get("made"),
        **values,
    }
    return _tab(visit, "advanced", "", context)


def _tab(visit: Visit, tab: str, heard: str, context: Mapping[str, Any]) -> Page:
    """Return a page of the settings; a tab that would only be refused is not offered."""
    is_owner = visit.user is None
    common = {
        "tab": tab,
        "tabs": [one for one in TABS if is_owner or one[0] in FOR_EVERYBODY],
        "heard": heard,
        "is_owner": is_owner,
        "back": safe_path(visit.query.get("back")),
        **dict.fromkeys(("link", "person", "invitation", "server_error")),
    }
    title = f"Settings: {dict(TABS)[tab]}"
    address = "/settings" if tab == "me" else f"/settings/{tab}"
    shown = {**common, **context}
    return Page(template="settings.html", title=title, context=shown, address=address)


def save_all(visit: Visit) -> Page:
    """Keep every setting that was changed, or none: what cannot be used is said beside the rest."""
    require_owner(visit)
    values = _values(visit)
    rows: list[Row] = values["settings"]
    typed = {row.setting.name: visit.form.get(row.setting.name) for row in rows if not row.is_fixed}
    changed = {
        row.setting.name: text
        for row in rows
        if isinstance(text := typed.get(row.setting.name), str)
        and text not in (row.text, visit.form.get(f"was:{row.setting.name}"))
    }
    wrong = _faults(changed)
    if wrong:
        again = [replace(row, shown=changed.get(row.setting.name, row.text)) for row in rows]
        page = _advanced(visit, {**values, "settings": again}, wrong=wrong)
        return replace(page, status=422)
    for name, text in changed.items():
        visit.ask(Engine.set, SettingsSet(key=name, value=json_or_text(text)))
    return _advanced(visit, _values(visit), saved=len(changed))


def _faults(changed: Mapping[str, str]) -> dict[str, str]:
    """Return what cannot be used, with the reason."""
    found = {}
    for name, text in changed.items():
        try:
            check_setting(name, json_or_text(text))
        except ValidationFailed as error:
            found[name] = error.message.removeprefix(f"{name}: ")
    return found


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
    shown: str
    """What stands in the field; another text than the one in force where that was refused."""
    usual: str
    applied_text: str
    choices: list[str]
    is_fixed: bool
    """It is read here and set elsewhere: on the command line, or because it is secret or long."""


def _row(one: SettingInfo) -> Row:
    text = _text(one.value)
    choices = _CHOICES.split(one.allowed) if _CLOSED.fullmatch(one.allowed) else []
    from_outside = one.source.startswith("environment") or one.source == "command line"
    return Row(
        setting=one,
        text=text,
        shown=text,
        usual=_text(one.default),
        applied_text=_text(one.applied),
        choices=choices if text in choices else [],
        is_fixed=from_outside or one.secret or "***" in text or isinstance(one.value, list | tuple),
    )


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
    require_owner(visit)
    return _me(visit, f"/login?token={visit.site.login.new_link()}")


def add_person(visit: Visit) -> Page:
    """Let somebody in; their token is on this one page and kept nowhere (T6.4)."""
    require_owner(visit)
    name = str(visit.form.get("name") or "")
    added, error = tried(visit, People.user_add, sharing.UserAdd(name=name))
    if error is not None:
        shown = _people(visit, person_error=error, typed={"person": name})
        return replace(shown, status=422)
    return _people(visit, person=added, person_name=name.strip())


def invite(visit: Visit) -> Page:
    """Make an invitation; its link is on this one page and kept nowhere (T6.7)."""
    require_owner(visit)
    name = str(visit.form.get("name") or "")
    bench_id = str(visit.form.get("workbench_id") or "") or None
    role = str(visit.form.get("role") or "") if bench_id else None
    wish = UserInvite(name=name, workbench_id=bench_id, role=role)
    made, error = tried(visit, People.invite, wish)
    if made is None:
        typed = {"invite": name, "bench": bench_id, "role": role}
        return replace(_people(visit, invite_error=error, typed=typed), status=422)
    path = f"{(visit.site.door.public_url or '').rstrip('/')}/join?token={made.token}"
    return _people(visit, invitation=made, invite_path=path, person_name=name.strip())


def disk(visit: Visit) -> Page:
    """Say how much the home holds, folder by folder."""
    require_owner(visit)
    home = visit.shop.config.home
    parts: Counter[str] = Counter()
    for one in home.iterdir():
        parts[PLACES.get(one.name, OTHER_PLACE)] += folder_bytes(one)
    context = {"parts": parts.most_common(), "total": parts.total()}
    return Page(template="disk.html", title="", context=context)


def _by_person(visit: Visit, used: HomeUsage) -> list[tuple[str, Used]]:
    """Return what was used for whom; nothing where only one person is here."""
    names = {**visit.shop.people.names(), OWNER: "You", UNKNOWN_PERSON: "Not recorded by whom"}
    rows: list[tuple[str, Used]] = [
        (names.get(one.person, one.person), one) for one in used.by_person
    ]
    return rows if len(rows) > 1 else []


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
        "people": _by_person(visit, used) if used else [],
        "unreadable": [one.name for one in used.benches if not one.is_readable] if used else [],
    }
    return Page(template="home_usage.html", title="", context=context)


ROUTES = (
    route("/settings", me),
    route("/settings/models", models),
    route("/settings/servers", add_server, "POST"),
    route("/settings/people", people),
    route("/settings/advanced", advanced),
    route("/settings/advanced", save_all, "POST"),
    route("/settings/appearance", appearance, "POST"),
    route("/settings/link", new_link, "POST"),
    route("/settings/people", add_person, "POST"),
    route("/settings/invitations", invite, "POST"),
    route("/settings/disk", disk),
    route("/settings/usage", usage),
)

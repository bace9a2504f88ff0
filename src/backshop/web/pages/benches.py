"""`/`: all workbenches (U5.1), and what every bench page refreshes in place."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlencode

from backshop.app import Engine, Onboarding, every_bench
from backshop.base.command import NOTHING
from backshop.base.errors import AccessDenied
from backshop.base.labels import FOLDER_REASONS
from backshop.bench import Bench
from backshop.bench.requests import (
    SAMPLE_NAME,
    BenchRequest,
    WorkbenchCreate,
    WorkbenchCreateSample,
    WorkbenchOpenFolder,
)
from backshop.workshop import Workshop
from backshop.workshop.requests import Search, SwitchModel

from ..rpc import NOT_LOOPBACK
from .kit import Page, Redirect, Visit, bench_context, number, route, tried

OFFLINE = "scripted:demo"
CARDS = 48  # on a page; a card takes about 2 KB
TRASH_SHOWN = 50


def benches(visit: Visit) -> Page:
    """Show the benches as cards, the trash below them, and the first steps until they are taken."""
    context = {
        **_cards(visit),
        **_hits(visit),
        "may_open_folders": visit.user is None and visit.site.door.loopback,
        "show_onboarding": visit.user is None
        and visit.ask(Engine.settings, NOTHING).show_onboarding,
    }
    return Page(template="benches.html", title="Workbenches", context=context)


def cards(visit: Visit) -> Page:
    """Return the cards and the trash alone."""
    return Page(template="bench_cards.html", title="", context=_cards(visit))


def _cards(visit: Visit) -> dict[str, Any]:
    found = every_bench(visit.ask, include_trash=True)
    wanted = visit.query.get("q", "").strip()
    all_live = [one for one in found if one.deleted_at is None]
    live = [one for one in all_live if wanted.casefold() in one.name.casefold()]
    trash = [one for one in found if one.deleted_at is not None]
    parts = max(1, -(-len(live) // CARDS))
    part = min(max(1, number(visit, "part") or 1), parts)
    return {
        "benches": live[(part - 1) * CARDS : part * CARDS],
        "total": len(all_live),
        "has_sample": any(one.name.startswith(SAMPLE_NAME) for one in all_live),
        "is_long": len(all_live) > CARDS,
        "wanted": wanted,
        "part": part,
        "parts": parts,
        "part_at": partial(_part_at, wanted),
        "trash": trash[:TRASH_SHOWN],
        "trash_total": len(trash),
    }


def _hits(visit: Visit) -> dict[str, Any]:
    """Return what was found in files and conversations, where somebody looks for words (U5.40)."""
    wanted = visit.query.get("q", "").strip()
    if not wanted:
        return {"hits": None, "hits_error": None}
    found, error = tried(visit, Workshop.search, Search(query=wanted))
    is_shared = bool(visit.shop.people.names())  # else every message is of whoever looks
    return {"hits": found, "hits_error": error, "is_shared": is_shared}


def _part_at(wanted: str, part: int) -> str:
    return "/?" + urlencode({**({"q": wanted} if wanted else {}), "part": part})


def create(visit: Visit) -> Redirect:
    """Make a bench and open it."""
    name = str(visit.form.get("name") or "")
    made = visit.ask(Bench.create, WorkbenchCreate(name=name))
    return Redirect(f"/bench/{made.workbench_id}")


def sample(visit: Visit) -> Redirect:
    """Open a workbench of sample files with the offline model: the one there is, or a fresh one."""
    reuse = visit.user is None and not visit.form.get("fresh")
    made = visit.ask(Bench.create_sample, WorkbenchCreateSample(reuse=reuse))
    if made.created:
        wish = SwitchModel(workbench_id=made.workbench_id, model_id=OFFLINE)
        visit.ask(Workshop.switch_model, wish)
    if visit.user is None:
        visit.ask(Engine.set_onboarding, Onboarding(completed=True))
    return Redirect(f"/bench/{made.workbench_id}")


def open_folder(visit: Visit) -> Redirect:
    """Open the bench of a folder of this machine (B23.1)."""
    if not visit.site.door.loopback:
        raise AccessDenied(NOT_LOOPBACK, reason="paths")
    folder = str(visit.form.get("folder") or "").strip()
    made = visit.ask(Bench.open_folder, WorkbenchOpenFolder(folder=folder))
    return Redirect(f"/bench/{made.workbench_id}")


def folder_bar(visit: Visit) -> Page:
    """Return the folder bar alone; nothing is taken in or written for it."""
    bench_id = visit.params["bench_id"]
    found, _ = tried(visit, Bench.folder_get_state, BenchRequest(workbench_id=bench_id))
    context = {"bench": {"workbench_id": bench_id}, "folder": found}
    words = {"folder_reasons": FOLDER_REASONS}
    return Page(template="folder_bar.html", title="", context={**context, **words})


def draft_bar(visit: Visit) -> Page:
    """Return the Draft bar alone, as the page has it that asks."""
    context = bench_context(visit, "review" if visit.query.get("here") == "review" else "")
    return Page(template="draft_bar.html", title="", context=context)


ROUTES = (
    route("/", benches),
    route("/bench-cards", cards),
    route("/benches", create, "POST"),
    route("/benches/sample", sample, "POST"),
    route("/benches/open", open_folder, "POST"),
    route("/bench/{bench_id}/draft-bar", draft_bar),
    route("/bench/{bench_id}/folder-bar", folder_bar),
)

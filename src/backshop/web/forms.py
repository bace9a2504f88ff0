"""`POST /do/{command}`: every command as a plain form post, for pages without scripts (U1.4)."""

from __future__ import annotations

from typing import Any

from starlette.routing import Route

from backshop.base.errors import AccessDenied
from backshop.base.labels import FOLDERS

from .fields import fields
from .pages.kit import DONE, Redirect, Visit, route, safe_path
from .rpc import NOT_LOOPBACK


def do(visit: Visit) -> Redirect:
    """Run the command, then go on; a refusal becomes a page with a way back."""
    command, request = visit.params["command"], fields(visit.form)
    if not visit.site.door.loopback and visit.shop.commands.names_server_path(command, request):
        raise AccessDenied(NOT_LOOPBACK, reason="paths")
    answer = visit.call(command, **request)
    return Redirect(safe_path(visit.form.get("next")) or "/", proof=_proof_of(command, answer))


def _proof_of(command: str, answer: Any) -> tuple[str, int, int, str] | None:
    """Return what was done, how many files were read back as they should be, how many not, and
    which warnings about folders there are (B3.12)."""
    answer = answer if isinstance(answer, dict) else {}
    changed = answer.get("changed", ())
    seen = [one["verified"] for one in changed if one.get("verified") is not None]
    told = command if command in DONE and not answer.get("no_changes") else ""
    warned = [one for one in answer.get("warnings", ()) if one in FOLDERS]
    warned += ["outside_edits_salvaged"] * bool(answer.get("salvaged") and not warned)
    counts = (seen.count(True), seen.count(False))
    return (told, *counts, ".".join(warned)) if seen or told or warned else None


ROUTES: tuple[Route, ...] = (route("/do/{command}", do, "POST"),)

"""`/bench/{id}/sharing`: who may do what with a workbench (U5.4, T6.4)."""

from __future__ import annotations

from backshop.app import People, Role
from backshop.app import sharing as app_sharing
from backshop.base.command import NOTHING

from .kit import Page, Visit, bench_context, route, tried

ROLES = {
    "read": "may look",
    "write": "may look and work on the Draft",
    "publish": "may publish, restore and share",
}
NO_ROLE = {"none": "no access"}


def sharing(visit: Visit) -> Page:
    """Show everybody who may do something here, and let a role be given, changed or taken."""
    bench_id = visit.params["bench_id"]
    granted = visit.ask(People.access_list, app_sharing.AccessList(workbench_id=bench_id)).access
    known, _ = tried(visit, People.user_list, NOTHING)  # of others, the home's owner alone knows
    people = known.users if known else ()
    having = {one.user_id for one in granted}
    mine = next((one.role for one in granted if one.user_id == visit.user), Role.NONE)
    context = {
        **bench_context(visit, "sharing"),
        "granted": sorted(granted, key=lambda one: (not one.owner, one.name)),
        "people": people,
        "others": [one for one in people if one.user_id not in having],
        "me": visit.user,
        "is_owner": visit.user is None,
        "may_share": visit.user is None or mine.includes(Role.PUBLISH),
        "roles": ROLES,
        "changes": {**ROLES, **NO_ROLE},
        "here_path": f"/bench/{bench_id}/sharing",
    }
    return Page(template="sharing.html", title="Sharing", context=context)


ROUTES = (route("/bench/{bench_id}/sharing", sharing),)

"""`/bench/{id}/sharing`: who may do what with a workbench (U5.4, T6.4)."""

from __future__ import annotations

from backshop.app import Role

from .kit import Page, Visit, attempt, bench_context, route

ROLES = {
    "read": "may look",
    "write": "may look and work on the Draft",
    "publish": "may publish, restore and share",
}
NO_ROLE = {"none": "no access"}


def sharing(visit: Visit) -> Page:
    """Show everybody who may do something here, and let a role be given, changed or taken."""
    bench_id = visit.params["bench_id"]
    granted = visit.bench("AccessList")["access"]
    known, _ = attempt(visit, "UserList")  # who else there is, the home's owner alone knows
    people = known["users"] if known else []
    having = {one["user_id"] for one in granted}
    mine = next((one["role"] for one in granted if one["user_id"] == visit.user), Role.NONE)
    context = {
        **bench_context(visit, "sharing"),
        "granted": sorted(granted, key=lambda one: (not one["owner"], one["name"])),
        "people": people,
        "others": [one for one in people if one["user_id"] not in having],
        "me": visit.user,
        "is_owner": visit.user is None,
        "may_share": visit.user is None or Role(mine).includes(Role.PUBLISH),
        "roles": ROLES,
        "changes": {**ROLES, **NO_ROLE},
        "here_path": f"/bench/{bench_id}/sharing",
    }
    return Page(template="sharing.html", title="Sharing", context=context)


ROUTES = (route("/bench/{bench_id}/sharing", sharing),)

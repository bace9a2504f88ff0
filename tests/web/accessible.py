"""axe-core on a page: what it finds that is serious or critical (U7.2)."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe

GRAVE = {"serious", "critical"}
AXE = Axe()


def violations(page: Any) -> list[str]:
    """Return the grave violations, each with the first element it is about."""
    page.emulate_media(reduced_motion="reduce")  # a colour on its way to another is none of ours
    found = AXE.run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:160]}"
        for one in found
        if one["impact"] in GRAVE
    ]

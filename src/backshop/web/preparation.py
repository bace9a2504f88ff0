"""Pictures made ready while a turn ends, so that the review opens with them (U8.8).

What is drawn is kept by its content (F43.6, B12.15); nothing else comes of it, and nobody waits.
"""

from __future__ import annotations

import time

from backshop.app import fault_of, one_request
from backshop.base.errors import BackshopError
from backshop.base.ids import UserId
from backshop.bench import Bench, requests

from .pages.kit import Visit
from .pages.picture import comparison
from .pages.picture.panel import PICTURED
from .pages.review import first_pages
from .site import Site

FILES = 3  # the first changed ones: those the review shows first
WITHIN_S = 20.0  # after which no further one is begun


def prepare(site: Site, bench_id: str, user: UserId | None) -> int:
    """Draw what the review of a Draft shows first, then LibreOffice's pages of the same files
    where it is there; return how many files were drawn.

    Never raises: a file that cannot be drawn says so when somebody looks at it.
    """
    visit = Visit(
        site=site, params={"bench_id": bench_id}, query={}, cookies={}, path="", user=user
    )
    ends = time.monotonic() + WITHIN_S
    made = 0
    try:
        with one_request():
            wish = requests.ReviewGetChangeSet(workbench_id=bench_id, limit=100)
            found = visit.ask(Bench.review_get_change_set, wish)
            first = [one for one in found.entries if one.file_kind in PICTURED][:FILES]
            for entry in first:
                if time.monotonic() > ends:
                    break
                comparison.made(visit, entry, None, None)
                made += 1
            for entry in first if site.shop.benches.viewer.has_office() else ():
                if time.monotonic() > ends:
                    break
                first_pages(visit, entry)
    except BackshopError:
        return made  # no Draft, or one that is gone meanwhile: there is nothing to be made ready
    except Exception as error:  # a worker's loop: the turn is over and stays so
        fault_of(error, "web")
    return made

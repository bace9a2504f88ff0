"""A walk through the product as a moving picture: ask, live work, pictures, comment, publish, undo.

Every frame is a page as a person sees it; only the time between two of them is shortened.
"""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Error
from tests.web.browsing import Served

SIZE = {"width": 1200, "height": 750}
TASK = (
    "Add up the sales by region and month and put the totals on a new sheet of the budget, "
    "beside the plan."
)
COMMENT = "Bold, please."
AGAIN = "Add the difference in per cent beside it, and make the regions bold."
SECONDS_MAX = 30.0
BYTES_MAX = 3_000_000
_LIVE_FRAMES = 7  # of one turn, at most


class Walk:
    """The frames of the walk, and how long each is looked at."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.frames: list[tuple[Image.Image, float]] = []

    def look(self, seconds: float) -> None:
        """Keep what the page shows now."""
        taken = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append((taken, seconds))

    def watch(self, until: Any) -> None:
        """Keep the page while the agent works, until it leads somewhere else."""
        for _ in range(_LIVE_FRAMES):
            with suppress(Error):  # the page went elsewhere just then
                if until():
                    break
                self.look(0.45)

    @property
    def seconds(self) -> float:
        """How long the walk takes."""
        return sum(seconds for _, seconds in self.frames)

    def save(self, path: Path) -> None:
        """Write it as one file that every browser plays."""
        pictures = [picture for picture, _ in self.frames]
        times = [round(seconds * 1000) for _, seconds in self.frames]
        pictures[0].save(
            path, save_all=True, append_images=pictures[1:], duration=times, loop=0, quality=55
        )


def walk(served: Served, page: Any) -> Walk:
    """Go the whole way on a fresh bench of sample files; `page` is logged in."""
    bench = served.call("WorkbenchCreateSample")["workbench_id"]
    served.call("WorkbenchRename", workbench_id=bench, new_name="Budget 2025")
    served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:demo")
    page.set_viewport_size(SIZE)
    page.goto(f"{served.address}/bench/{bench}?stay=1")
    page.locator("html[data-live]").wait_for()
    made = Walk(page)
    made.look(1.5)
    _ask(made)
    _comment(made)
    _another_round(made)
    _publish_and_undo(made)
    return made


def _ask(made: Walk) -> None:
    page = made.page
    page.get_by_label("Message", exact=True).fill(TASK)
    made.look(1.5)
    page.get_by_role("button", name="Send").click()
    _work(made, "#publish")
    made.look(3.5)


def _work(made: Walk, sign: str) -> None:
    """Watch a turn until its review stands there, drawn; `sign` is on no page before it."""
    page = made.page
    made.watch(lambda: page.locator(sign).count() > 0)
    page.locator(sign).first.wait_for()
    page.locator("svg.drawing").first.wait_for()
    page.locator("[data-entry]").first.wait_for()


def _comment(made: Walk) -> None:
    page = made.page
    page.locator("[data-entry]").first.click()
    page.locator("[data-remark]").first.click()
    page.locator("#remark-at").fill("'Sales 2025'!G2:G5")
    page.locator("#remark").fill(COMMENT)
    page.locator("#remark").scroll_into_view_if_needed()
    made.look(2.0)
    page.locator(".add-comment button").click()
    page.locator(".comment", has_text=COMMENT).wait_for()
    made.look(1.5)


def _another_round(made: Walk) -> None:
    page = made.page
    page.locator("#ask-changes-box > summary").click()
    page.locator("#changes-text").fill(AGAIN)
    made.look(2.0)
    page.get_by_role("button", name="Ask", exact=True).click()
    _work(made, "a[href*='since=last_look']")
    made.look(3.5)


def _publish_and_undo(made: Walk) -> None:
    page = made.page
    page.locator("#publish").click()
    dialog = page.locator("#ask-publish")
    dialog.locator(".foretold").wait_for()
    made.look(1.5)
    dialog.get_by_role("button", name="Publish").click()
    card = page.locator(".publish-card", has_text="Published 1 file")
    card.wait_for()
    made.look(2.5)
    card.get_by_role("button", name="Undo").click()
    page.locator(".card-line", has_text="undone").wait_for()
    made.look(3.0)

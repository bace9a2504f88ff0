"""Pictures of every page, light and dark, in three sizes, from a real server and a real Chromium.

    make screenshots            writes build/screenshots/<page>-<look>-<width>.png and walk.webp

The home is fresh and the model is the offline one, so the pictures show what anybody sees.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

OUT = ROOT / "build" / "screenshots"
SIZES = ((1440, 900), (1024, 768), (390, 844))
LOOKS: tuple[Literal["light", "dark"], ...] = ("light", "dark")
TASK = "Add up the sales by region and month and put the totals on a new sheet of the budget, beside the plan."


def main() -> None:
    """Set the scene, then take every picture."""
    from playwright.sync_api import sync_playwright
    from tests.conftest import browser_path
    from tests.web.browsing import ARGUMENTS, serving

    os.environ["HOME"] = tempfile.mkdtemp(prefix="backshop-screenshots-")
    os.environ.pop("BACKSHOP_HOME", None)
    OUT.mkdir(parents=True, exist_ok=True)
    with serving(Path(os.environ["HOME"]) / "home") as served, sync_playwright() as playwright:
        pages = scene(served)
        browser = playwright.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
        for width, height in SIZES:
            for look in LOOKS:
                context = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=look
                )
                page = context.new_page()
                page.goto(served.link())
                for name, path in pages.items():
                    page.goto(served.address + path)
                    page.wait_for_timeout(400)
                    if page.locator("#sheet, [data-grid]").count():
                        page.locator(".grid-cell").first.wait_for()
                    if page.locator("[data-stage]").count():
                        page.locator(".desk .drawing, .desk .paper").first.wait_for()
                    page.screenshot(path=OUT / f"{name}-{look}-{width}.png")
                context.close()
        _film(served, browser)
        browser.close()
    print(f"{len(list(OUT.glob('*.png')))} pictures in {OUT.relative_to(ROOT)}")


def _film(served: Any, browser: Any) -> None:
    """Go the walk of the README, as its test does."""
    from tests.web.walk import walk

    page = browser.new_context().new_page()
    page.goto(served.link())
    walk(served, page).save(OUT / "walk.webp")


def scene(served: Any) -> dict[str, str]:
    """Make benches with a story, and return the pages to look at."""
    fresh = served.call("WorkbenchCreateSample")["workbench_id"]
    told = served.call("WorkbenchCreateSample")["workbench_id"]
    served.call("WorkbenchRename", workbench_id=fresh, new_name="Budget 2026")
    served.call("WorkbenchRename", workbench_id=told, new_name="Quarterly report")
    kept = served.call("WorkbenchCreateSample")["workbench_id"]
    served.call("WorkbenchRename", workbench_id=kept, new_name="Annual accounts")
    for bench in (fresh, told, kept):
        served.call("WorkshopSwitchModel", workbench_id=bench, model_id="scripted:demo")
    for bench in (told, kept):
        sent = served.call("WorkshopSendUserMessage", workbench_id=bench, text=TASK)
        ran = served.call("WorkshopRunAgent", workbench_id=bench, message_id=sent["message_id"])
    served.call("DraftPublish", workbench_id=kept)
    made = served.call("CheckpointCreate", workbench_id=kept, description="Before the audit")
    served.call("WorkbenchFilesRemove", workbench_id=kept, workbench_paths=["README.md"])
    for name, role in (("Anna Berg", "publish"), ("Ben Okafor", "read"), ("Chiara Rossi", "")):
        user = served.call("UserAdd", name=name)["user_id"]
        if role:
            served.call("AccessSet", workbench_id=kept, user_id=user, role=role)
    pages = {
        "benches": "/",
        "workshop": f"/bench/{fresh}?stay=1",
        "answer": f"/bench/{told}?stay=1",
        "review": f"/bench/{told}/review",
        "answers": f"/bench/{told}/answers?a={_first_write(served, told)}",
        "checkpoints": f"/bench/{kept}/checkpoints",
        "published": f"/bench/{kept}",
        "viewer": f"/bench/{fresh}/file/{_a_file(served, fresh)}",
        "context": f"/bench/{fresh}/context",
        "again": f"/bench/{kept}/again",
        "sharing": f"/bench/{kept}/sharing",
        "bench-settings": f"/bench/{kept}/settings",
        "studio": "/studio",
        "sessions": "/studio/sessions",
        "workflows": "/workflows",
        "workflow": "/workflows/wr.change_review",
        "editor": "/workflows/wr.change_review/edit",
        "settings": "/settings",
        "settings-models": "/settings/models",
        "settings-people": "/settings/people",
        "settings-advanced": "/settings/advanced",
    }
    return {**pages, **_further(served, kept, made["checkpoint_id"], ran), **rails_scene(served)}


def _first_write(served: Any, bench: str) -> str:
    """Return the Draft after its first write, to be compared with what it is now."""
    log = served.call("WorkshopGetToolLog", workbench_id=bench)["entries"]
    return str(next(one["draft_revision_id"] for one in log if one.get("draft_revision_id")))


def _further(served: Any, kept: str, checkpoint: str, ran: dict[str, Any]) -> dict[str, str]:
    """Return the pages that stand behind the first ones."""
    listed = served.call("CheckpointsList", workbench_id=kept)["checkpoints"]
    before = next(one["checkpoint_id"] for one in listed if one["reason"] == "publish")
    place = f"/bench/{kept}/checkpoints"
    book = _a_file(served, kept)
    return {
        "compare": f"{place}?a={before}&b={checkpoint}",
        "compare-file": f"{place}/file?a={before}&b={checkpoint}&file={book}",
        "restore": f"{place}?restore={before}",
        "no-draft": f"/bench/{kept}/review",
        "prompt": f"/bench/{kept}/prompt/{ran['turn_id']}",
        "new-workflow": "/workflows/new",
        "not-found": "/studio/session/sess_unknown",
    }


def rails_scene(served: Any) -> dict[str, str]:
    """Let an agent work on rails: a checkpoint, a branch, a question to the person."""
    from tests.rails.agent import Agent
    from tests.rails.workflows import flow, step

    review = flow(
        step("scope", title="Settle the scope"),
        step("security", title="Look at security", runCondition={"var": "risk", "equals": "high"}),
        step("read", title="Read the change"),
        step("challenge", title="Challenge the findings"),
        step("approve", title="Your approval", requireConfirmation={"kind": "human_approval"}),
        step("comment", title="Write the comments"),
        name="user.token_review",
    )
    review |= {"name": "Review a change", "description": "From the scope to the comments."}
    folder = served.shop.config.home / "workflows"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "token_review.json").write_text(json.dumps(review), encoding="utf-8")
    agent = Agent(served.shop.rails)
    first = agent.start("user.token_review", goal="Review the token refresh")
    second = agent.go(first, "Two files, **one** behaviour: tokens are renewed before they end.")
    agent.answer(
        "checkpoint_workflow",
        stateToken=second["stateToken"],
        checkpointToken=second["checkpointToken"],
        output={"notesMarkdown": "Read the tests first."},
    )
    files = [{"path": "auth/refresh.py", "summary": "renews early", "risk": "M"}]
    changed = {"kind": "mr_review.changed_files", "changedFiles": files}
    third = agent.go(second, "The retry has no upper bound.", artifacts=[changed])
    agent.go(agent.look(second), "Began with the tests instead.")
    agent.go(agent.go(third, "The finding stands."), "Ready for you.")
    session, run = first["session"]["sessionId"], first["session"]["runId"]
    shown = served.call("RailsRunGet", runId=run)
    node, pinned = shown["preferredTip"], shown["workflowHash"].removeprefix("sha256:")
    return {
        "session": f"/studio/session/{session}",
        "timeline": f"/studio/session/{session}?view=timeline",
        "run": f"/studio/run/{run}?ghosts=1",
        "read": f"/studio/session/{session}/read",
        "fork": f"/studio/node/{node}/fork",
        "pinned": f"/workflows/pinned/{pinned}",
    }


def _a_file(served: Any, bench: str) -> str:
    """Return a workbook of the bench, as it stands in an address."""
    files = served.call("WorkbenchFilesList", workbench_id=bench)["files"]
    return quote(next(one["path"] for one in files if one["kind"] == "xlsx"))


if __name__ == "__main__":
    main()

"""How much work the frames of a scroll are (U1.5).

The clock of a machine that serves others too says little; what the page's own thread was busy with
does not depend on them. Each frame is measured by itself, and the worst one counts.
"""

from __future__ import annotations

from typing import Any

FRAMES = 60
FRAME_MS = 50.0
TRIES = 4
_STEP = """async ([selector, part]) => {
  const root = document.querySelector(selector);
  root.scrollTop = (root.scrollHeight - root.clientHeight) * part;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def worst_frame_ms(page: Any, selector: str, *, upwards: bool = False) -> float:
    """Scroll an element from one end to the other; return the work of the heaviest frame.

    A crowded machine makes work look heavier now and then, so the lightest of a few tries counts.
    """
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    worst = FRAME_MS
    for _ in range(TRIES):
        worst = _scroll(page, session, selector, upwards)
        if worst < FRAME_MS:
            break
    return worst


def _scroll(page: Any, session: Any, selector: str, upwards: bool) -> float:
    parts = [step / FRAMES for step in range(1, FRAMES + 1)]
    page.evaluate(_STEP, [selector, 1 if upwards else 0])
    frames = []
    for part in parts:
        before = _busy_s(session)
        page.evaluate(_STEP, [selector, 1 - part if upwards else part])
        frames.append((_busy_s(session) - before) * 1000)
    assert max(frames) > 0, "the page did no work at all"
    return max(frames)


def _busy_s(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")

"""How much work the frames of a scroll are (U1.5).

The clock of a machine that serves others too says little; what the page's own thread was busy with
does not depend on them.
"""

from __future__ import annotations

from typing import Any

FRAMES = 80
_SCROLL = """async ([selector, frames]) => {
  const root = document.querySelector(selector);
  const end = root.scrollHeight - root.clientHeight;
  for (let step = 1; step <= frames; step += 1) {
    root.scrollTop = (end * step) / frames;
    await new Promise((done) => requestAnimationFrame(done));
  }
}"""


def scrolled(page: Any, selector: str) -> float:
    """Scroll an element from top to end; return the milliseconds of work of a frame."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _busy_s(session)
    page.evaluate(_SCROLL, [selector, FRAMES])
    return (_busy_s(session) - before) * 1000 / FRAMES


def _busy_s(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")

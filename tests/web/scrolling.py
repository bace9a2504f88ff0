"""How long the frames of a scroll are (U1.5)."""

from __future__ import annotations

from typing import Any

_SCROLL = """async (selector) => {
  const root = document.querySelector(selector);
  const end = root.scrollHeight - root.clientHeight;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const taken = [];
  await frame();
  for (let step = 1; step <= 80; step += 1) {
    root.scrollTop = (end * step) / 80;
    const begun = performance.now();
    await frame();
    taken.push(performance.now() - begun);
  }
  await frame();
  return taken;
}"""


def scrolled(page: Any, selector: str) -> list[float]:
    """Scroll an element from top to end and return the milliseconds of each frame, sorted."""
    return sorted(page.evaluate(_SCROLL, selector))

"""When something is first seen on a page, and whether that was because the page was told.

A page has to show what happened elsewhere within a second (S5.2, U6.3), which the benchmark `pages`
shows. Tests run on busy machines: there it counts as missed when it comes ten times as late, beside
what the same page needs for requests of its own at that moment.
"""

from __future__ import annotations

from typing import Any

PROMPT_MS = 10_000.0
TRIPS = 10  # between the fact and the page lie a poll, an event and a few requests
WAIT_MS = 60_000

_ROUND_TRIP = """async () => {
  const start = performance.now();
  for (let n = 0; n < 3; n += 1) await (await fetch(location.href)).text();
  return (performance.now() - start) / 3;
}"""
_WATCH = """(wanted) => {
  window.seen = {};
  const look = () => {
    for (const text of wanted) {
      if (document.body.innerText.includes(text)) window.seen[text] ??= Date.now();
    }
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  setInterval(look, 50);
}"""


def late_ms(page: Any, took_ms: float) -> float:
    """Return how much too late something came, 0 if it was prompt."""
    late: float = took_ms - PROMPT_MS - TRIPS * page.evaluate(_ROUND_TRIP)
    return max(0.0, late)


class Watched:
    """Pages that note when a text is first on them."""

    def __init__(self, *pages: Any) -> None:
        self._pages = pages

    def expect(self, *texts: str) -> None:
        """Begin to look for these."""
        for page in self._pages:
            page.locator("html[data-live]").wait_for()
            page.evaluate(_WATCH, list(texts))

    def late_ms(self, text: str, at_ms: float) -> float:
        """Return how much too late the last of the pages had it, once all have it."""
        return max(late_ms(page, self.seen_ms(page, text) - at_ms) for page in self._pages)

    def took_ms(self, text: str, at_ms: float) -> float:
        """Return how long it took until the last of the pages had it."""
        return max(self.seen_ms(page, text) for page in self._pages) - at_ms

    def seen_ms(self, page: Any, text: str) -> float:
        """Return when a page had it first, as soon as it has it."""
        page.wait_for_function("text => window.seen[text]", arg=text, timeout=WAIT_MS)
        seen: float = page.evaluate("text => window.seen[text]", text)
        return seen

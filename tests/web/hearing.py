"""Ears for a page: what its live regions and alerts say, kept across pages (W20.4)."""

from __future__ import annotations

import json

LISTEN = """document.addEventListener("DOMContentLoaded", () => {
  const keep = (text) => {
    const all = JSON.parse(sessionStorage.heard ?? "[]");
    sessionStorage.heard = JSON.stringify([...all, text]);
  };
  for (const id of ["polite", "assertive"]) {
    const hear = (changes) => changes.forEach((one) => one.addedNodes.forEach((node) =>
      keep((id === "assertive" ? "! " : "") + node.textContent)));
    new MutationObserver(hear).observe(document.getElementById(id), { childList: true });
  }
  const alerts = (changes) => changes.forEach((one) => one.addedNodes.forEach((node) => {
    if (node.getAttribute?.("role") === "alert") keep("! " + node.firstChild.textContent.trim());
  }));
  new MutationObserver(alerts).observe(document.body, { childList: true, subtree: true });
});"""


def listening(new_page, address):
    """Open an address; what is said assertively is kept with a mark."""
    page = new_page("/", own=True)
    page.context.add_init_script(LISTEN)
    page.goto(address)
    return page


def heard(page) -> list[str]:
    """Return everything that was said so far, in order."""
    found: list[str] = json.loads(page.evaluate("sessionStorage.heard ?? '[]'"))
    return found


def wait_to_hear(page, text, times=1):
    """Wait until it was said so often."""
    page.wait_for_function(
        "([text, times]) => JSON.parse(sessionStorage.heard ?? '[]')"
        ".filter((one) => one === text).length >= times",
        arg=[text, times],
    )


def wait_for_focus(page, selector):
    """Wait until the focus is there."""
    page.wait_for_function("wanted => document.activeElement?.matches(wanted)", arg=selector)

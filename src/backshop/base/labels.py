"""What people read while an agent works, in the same words at every door (W11.19, W5.6)."""

from __future__ import annotations

PHASES = {
    "research": "Analyzing files…",
    "plan": "Planning approach…",
    "implement": "Working through the plan…",  # until the first item is begun
    "summary": "Summarizing results…",
}
PROPOSALS = {  # what flow `compat` does beside the reply
    "drafting": "Working out the changes…",
    "repairing": "Correcting the changes…",
    "applying": "Applying draft changes…",
}

"""What a Draft is compared with in its review: where it began, or what was looked at last."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import TreeId

from ..revision import Draft

DRAFT_START = "draft_start"
LAST_LOOK = "last_look"
SINCE = (DRAFT_START, LAST_LOOK)


@dataclass(frozen=True, slots=True)
class Reference:
    """A tree the Draft is compared with; `source` is what answers call it (B12.16)."""

    tree: TreeId
    source: str
    moment: str
    """When the files were so, in words."""


def reference_of(draft: Draft, since: str | None) -> Reference:
    """Return what the Draft is compared with: its beginning, unless the last look is asked for.

    Raises:
        NotFound: nobody has asked for changes of this Draft yet.
    """
    if since in (None, DRAFT_START):
        return Reference(draft.base_tree, "draft_start_snapshot", "when the Draft began")
    if since != LAST_LOOK:
        raise ValidationFailed(
            "a review is since draft_start or last_look", reason="bad_params", hints=SINCE
        )
    if draft.last_look is None:
        raise NotFound("nobody has asked for changes of this Draft yet", reason="no_round")
    return Reference(draft.last_look.tree, LAST_LOOK, "when changes were asked for last")

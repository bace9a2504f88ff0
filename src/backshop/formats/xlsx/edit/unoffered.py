"""What people ask of a workbook and no operation does, and what can be done instead (F40.18)."""

from __future__ import annotations

import re

SAID = "Not offered: pivots, slicers, sparklines, printing, protection."
"""How the sheet of operations says it."""
_TABLE = (
    (
        r"pivot",
        "pivot tables are not made or changed here; those that are there stay, and are refreshed "
        "by the person's program. A summary can be written with summarize_by_category, with "
        "formulas (SUMIFS, COUNTIFS), or by table_update_from_export with GROUP BY",
    ),
    (
        r"slicer|timeline",
        "slicers are not made or changed here; those that are there stay. set_autofilter filters "
        "a range by its header row",
    ),
    (
        r"spark_?line",
        "sparklines are not made or changed here; those that are there stay and follow their "
        "cells. add_chart draws a chart",
    ),
    (
        r"print|page_?(?:set|break|margin|lay|orient|size)|header_?footer|footer|orientation",
        "the print set-up (area, titles, breaks, margins, headers, footers) is not changed here; "
        "what is set stays. The person sets it in their program",
    ),
    (
        r"protect|un_?lock|^lock|_lock|password",
        "protection is neither set nor lifted here; the map tells what is locked and allowed. The "
        "person can set or lift it in their program",
    ),
    (
        r"macro|vba",
        "macros are neither written nor run here; those that are there stay as they are",
    ),
)
_KNOWN = tuple((re.compile(words, re.I), instead) for words, instead in _TABLE)


def instead_of(name: str) -> str | None:
    """Return what to say to whoever asks for an operation of this name; None of other names."""
    return next((instead for words, instead in _KNOWN if words.search(name)), None)

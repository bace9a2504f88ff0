"""How many random histories a test went through: told with its result, shown by proof.py."""

from __future__ import annotations


class Histories:
    """Those that came to their end since the process began."""

    ended = 0

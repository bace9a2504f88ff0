"""Which changes only make sense together, and why."""

from __future__ import annotations

from collections.abc import Iterable


class Ties:
    """Groups of things that were tied to one another, each with the first reason given."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._reason: dict[int, str] = {}

    def tie(self, first: int, second: int, reason: str) -> None:
        """Say that two things go together."""
        one, two = self.root(first), self.root(second)
        if one == two:
            return
        known = self._reason.pop(one, None) or self._reason.pop(two, None) or reason
        self._reason.pop(two, None)
        self._parent[max(one, two)] = min(one, two)
        self._reason[min(one, two)] = known

    def tie_all(self, things: Iterable[int], reason: str) -> None:
        """Say that all of these go together."""
        found = list(things)
        for one in found[1:]:
            self.tie(found[0], one, reason)

    def root(self, thing: int) -> int:
        """Return the thing that stands for the group."""
        path = []
        while thing in self._parent:
            path.append(thing)
            thing = self._parent[thing]
        for passed in path:
            self._parent[passed] = thing
        return thing

    def reason(self, thing: int) -> str | None:
        """Return why a group goes together."""
        return self._reason.get(self.root(thing))

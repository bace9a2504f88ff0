"""Values kept at hand by name, the least used forgotten first; safe for threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")


class Lru(Generic[V]):
    """The values used last, by name."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[str, V] = OrderedDict()

    def get(self, name: str, load: Callable[[], V]) -> V:
        """Return a value, loaded if it is not at hand."""
        with self._lock:
            if name in self._values:
                self._values.move_to_end(name)
                return self._values[name]
        value = load()
        self.put(name, value)
        return value

    def put(self, name: str, value: V) -> None:
        """Keep a value; the one unused for longest makes room."""
        with self._lock:
            self._values[name] = value
            self._values.move_to_end(name)
            while len(self._values) > self._most:
                self._values.popitem(last=False)

"""A persistent map: a changed copy shares almost everything with the one it came from.

States of long sessions are copied once per event, so the cost of a copy must not grow with the
history. This is a trie over hashed keys with small dicts as nodes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

V = TypeVar("V")

_BITS = 4
_WIDTH = 1 << _BITS
_LEAF_MAX = 16  # entries of a leaf before it splits; beyond the last level leaves grow
_DEPTH_MAX = 32 // _BITS


class PMap(Mapping[str, V], Generic[V]):
    """An immutable mapping from text; `put` and `drop` return changed copies in O(log n)."""

    __slots__ = ("_root", "_size")

    def __init__(self) -> None:
        self._root: _Node = {}
        self._size = 0

    def put(self, key: str, value: V) -> PMap[V]:
        """Return a copy in which `key` has `value`."""
        return self._with(_put(self._root, zlib.crc32(key.encode()), 0, key, value), key, 1)

    def drop(self, key: str) -> PMap[V]:
        """Return a copy without `key`."""
        if key not in self:
            return self
        return self._with(_drop(self._root, zlib.crc32(key.encode()), 0, key), key, -1)

    def _with(self, root: _Node, key: str, change: int) -> PMap[V]:
        new: PMap[V] = PMap()
        new._root = root
        new._size = self._size + (change if (key in self) == (change < 0) else 0)
        return new

    def __getitem__(self, key: str) -> V:
        node, hashed = self._root, zlib.crc32(key.encode())
        for depth in range(_DEPTH_MAX + 1):
            if isinstance(node, tuple):
                node = node[hashed >> depth * _BITS & _WIDTH - 1]
            else:
                value: V = node[key]
                return value
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        stack = [self._root]
        while stack:
            node = stack.pop()
            if isinstance(node, tuple):
                stack.extend(reversed(node))
            else:
                yield from node

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"PMap({dict(self)!r})"


_Node = dict[str, Any] | tuple["_Node", ...]


def _put(node: _Node, hashed: int, depth: int, key: str, value: object) -> _Node:
    if isinstance(node, tuple):
        slot = hashed >> depth * _BITS & _WIDTH - 1
        child = _put(node[slot], hashed, depth + 1, key, value)
        return (*node[:slot], child, *node[slot + 1 :])
    leaf = {**node, key: value}
    return _split(leaf, depth) if len(leaf) > _LEAF_MAX and depth < _DEPTH_MAX else leaf


def _split(leaf: dict[str, object], depth: int) -> _Node:
    slots: list[dict[str, object]] = [{} for _ in range(_WIDTH)]
    for key, value in leaf.items():
        slots[zlib.crc32(key.encode()) >> depth * _BITS & _WIDTH - 1][key] = value
    return tuple(slots)


def _drop(node: _Node, hashed: int, depth: int, key: str) -> _Node:
    if isinstance(node, tuple):
        slot = hashed >> depth * _BITS & _WIDTH - 1
        return (*node[:slot], _drop(node[slot], hashed, depth + 1, key), *node[slot + 1 :])
    return {name: value for name, value in node.items() if name != key}

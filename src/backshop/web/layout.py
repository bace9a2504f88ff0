"""Where the nodes of a run are drawn: rows by depth, lanes by branch; numbers in, numbers out.

A run is a tree. A node stands one row below what it came from, so every edge goes downwards and
only through the space between two rows. A branch keeps one lane from its first node to its last;
the preferred branch has lane 0, and a lane that a branch has left is used again further down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

NODE_WIDTH = 188
NODE_HEIGHT = 46
LANE_STEP = 224
ROW_GAP = 38
MARGIN = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A node to place; `parent` None is a root. `is_main` marks the preferred branch."""

    id: str
    parent: str | None
    order: int
    is_main: bool = False
    is_side: bool = False  # checkpoints and ghosts never carry their parent's lane on


@dataclass(frozen=True, slots=True)
class Placed:
    """A node's lane and row, and its left upper corner."""

    id: str
    lane: int
    row: int
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Link:
    """An edge, from the bottom of one node to the top of another, as an SVG path."""

    origin: str
    target: str
    path: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything placed, in the order the items came; sizes in pixels."""

    nodes: tuple[Placed, ...]
    links: tuple[Link, ...]
    lanes: int
    rows: int
    width: int
    height: int
    node_height: int = NODE_HEIGHT

    def by_id(self) -> Mapping[str, Placed]:
        """Return the placed nodes by id."""
        return {node.id: node for node in self.nodes}


def layout(items: Sequence[Item], *, node_height: int = NODE_HEIGHT) -> Drawing:
    """Place a forest of nodes. An item whose parent is not among them counts as a root."""
    row_step = node_height + ROW_GAP
    known = {item.id: item for item in items}
    children: dict[str, list[Item]] = {item.id: [] for item in items}
    roots = []
    for item in items:
        if item.parent in children and item.parent is not None:
            children[item.parent].append(item)
        else:
            roots.append(item)
    rows = _rows(roots, children)
    branches = _branches(roots, children, rows)
    lanes = _lanes(branches)
    placed = {
        item.id: Placed(
            item.id,
            lanes[item.id],
            rows[item.id],
            MARGIN + lanes[item.id] * LANE_STEP,
            MARGIN + rows[item.id] * row_step,
        )
        for item in items
    }
    links = [
        Link(item.parent, item.id, _path(placed[item.parent], placed[item.id], node_height))
        for item in items
        if item.parent is not None and item.parent in known
    ]
    deepest = max(rows.values(), default=-1) + 1
    widest = max(lanes.values(), default=-1) + 1
    return Drawing(
        nodes=tuple(placed[item.id] for item in items),
        links=tuple(links),
        lanes=widest,
        rows=deepest,
        width=2 * MARGIN + max(0, widest - 1) * LANE_STEP + NODE_WIDTH,
        height=2 * MARGIN + max(0, deepest - 1) * row_step + node_height,
        node_height=node_height,
    )


@dataclass(frozen=True, slots=True)
class _Branch:
    """Nodes that share a lane, from row `first` to row `last`."""

    nodes: tuple[str, ...]
    first: int
    last: int
    rank: tuple[bool, int]


def _rows(roots: Iterable[Item], children: Mapping[str, Sequence[Item]]) -> dict[str, int]:
    rows: dict[str, int] = {}
    stack = [(root, 0) for root in roots]
    while stack:
        item, row = stack.pop()
        rows[item.id] = row
        stack.extend((child, row + 1) for child in children[item.id])
    return rows


def _branches(
    roots: Iterable[Item], children: Mapping[str, Sequence[Item]], rows: Mapping[str, int]
) -> list[_Branch]:
    """Cut the forest into branches: each node goes on with at most one of its children."""
    found, starts = [], list(roots)
    while starts:
        first = item = starts.pop()
        nodes = [item.id]
        while children[item.id]:
            heir = _heir(children[item.id])
            starts.extend(child for child in children[item.id] if child is not heir)
            if heir is None:
                break
            nodes.append(heir.id)
            item = heir
        begin = rows[first.id]
        rank = (not first.is_main, first.order)
        found.append(_Branch(tuple(nodes), begin, begin + len(nodes) - 1, rank))
    return found


def _heir(children: Sequence[Item]) -> Item | None:
    """Return the child that keeps the lane: the preferred one, else the first that was made."""
    steps = [child for child in children if child.is_main or not child.is_side]
    return min(steps, key=lambda child: (not child.is_main, child.order, child.id), default=None)


def _lanes(branches: Iterable[_Branch]) -> dict[str, int]:
    """Give each branch the leftmost lane that is free in all its rows."""
    lanes: dict[str, int] = {}
    free: list[int] = []
    busy: list[tuple[int, int]] = []  # (last row, lane)
    used = 0
    for branch in sorted(branches, key=lambda one: (one.first, one.rank, one.nodes[0])):
        while busy and busy[0][0] + 1 < branch.first:  # one empty row between two branches
            heappush(free, heappop(busy)[1])
        lane = heappop(free) if free else used
        used = max(used, lane + 1)
        heappush(busy, (branch.last, lane))
        lanes.update(dict.fromkeys(branch.nodes, lane))
    return lanes


def _path(origin: Placed, target: Placed, node_height: int) -> str:
    x1, y1 = origin.x + NODE_WIDTH // 2, origin.y + node_height
    x2, y2 = target.x + NODE_WIDTH // 2, target.y
    middle = (y1 + y2) // 2
    return f"M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}"

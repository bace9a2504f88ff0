"""Which deleted and added files are one file that moved (B11.5). Values in, pairs out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from backshop.base import tree
from backshop.base.ids import BlobId
from backshop.base.paths import BenchPath

ACCEPTED = 50  # percent of the lines
PAIRS_MAX = 40_000  # deleted × added; beyond it only equal contents are paired
TEXT_MAX_BYTES = 4 * 1024 * 1024
DOCUMENTS_MAX = 20  # each has to be opened by its reader


def equal(
    gone: Mapping[BenchPath, tree.File], come: Mapping[BenchPath, tree.File]
) -> dict[BenchPath, BenchPath]:
    """Pair files of equal content: new path → old path; ties go to the likelier name."""
    by_content: dict[BlobId, list[BenchPath]] = {}
    for path, file in gone.items():
        if file.size > 0:
            by_content.setdefault(file.sha256, []).append(path)
    found: dict[BenchPath, BenchPath] = {}
    for new in sorted(come, key=str.encode):
        candidates = by_content.get(come[new].sha256, [])
        if candidates:
            best = min(candidates, key=partial(_unlikeness, new))
            candidates.remove(best)
            found[new] = best
    return found


def similar(
    gone: Mapping[BenchPath, Counter[str]], come: Mapping[BenchPath, Counter[str]]
) -> dict[BenchPath, tuple[BenchPath, int]]:
    """Pair files by the lines they share: new path → old path and similarity in percent."""
    holders: dict[str, list[tuple[BenchPath, int]]] = {}
    for path, lines in gone.items():
        for line, number in lines.items():
            holders.setdefault(line, []).append((path, number))
    sizes = {path: lines.total() for path, lines in gone.items()}
    scores: list[tuple[int, bytes, bytes, BenchPath, BenchPath]] = []
    for new, lines in come.items():
        shared: Counter[BenchPath] = Counter()
        for line, number in lines.items():
            for old, other in holders.get(line, ()):
                shared[old] += min(number, other)
        size = lines.total()
        for old, common in shared.items():
            score = 200 * common // (size + sizes[old])
            if score >= ACCEPTED:
                scores.append((-score, new.encode(), old.encode(), new, old))
    found: dict[BenchPath, tuple[BenchPath, int]] = {}
    taken: set[BenchPath] = set()
    for score, _, _, new, old in sorted(scores):
        if new not in found and old not in taken:
            found[new] = (old, -score)
            taken.add(old)
    return found


def _unlikeness(new: str, old: str) -> tuple[bool, bool, bytes]:
    return _name(old) != _name(new), _folder(old) != _folder(new), old.encode()


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]

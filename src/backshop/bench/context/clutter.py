"""How full a model's window is before anybody has asked anything: the clutter bar (B16)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backshop.base.limits import CHARS_PER_TOKEN

UNKNOWN_WINDOW_TOKENS = 32_000  # B16.7
FILE_TOKENS = 500
WEIGHT_MAX_TOKENS = 25_000
MODERATE_FROM = 0.40
HEAVY_ABOVE = 0.70
CONTEXT_WARNING_FROM = 0.35
_TEXT_CAP_FROM_BYTES = 100 * 1024
HEAVY_TEXT = (
    "Files and talk take most of what the model can read: answers may get slower, less precise."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What fills the window, in tokens; fractions count."""

    files: float = 0.0
    conversation: float = 0.0
    context_items: float = 0.0
    pending: float = 0.0

    @property
    def usage(self) -> float:
        """All of it."""
        return self.files + self.conversation + self.context_items + self.pending


@dataclass(frozen=True, slots=True, kw_only=True)
class Clutter:
    """The bar: a score from 0 to 1 and its level in a word."""

    score: float
    level: str
    context_items_weight: float = 0.0
    context_share: float = 0.0
    context_warning: bool = False


def clutter(weights: Weights, window_tokens: int) -> Clutter:
    """Return the bar for these weights; levels are judged on the unrounded score (B16.5)."""
    score = min(max(weights.usage / window_tokens, 0.0), 1.0)
    share = weights.context_items / window_tokens
    return Clutter(
        score=score,
        level=level_of(score),
        context_items_weight=weights.context_items,
        context_share=share,
        context_warning=share >= CONTEXT_WARNING_FROM,
    )


def level_of(score: float) -> str:
    """Return `Light`, `Moderate` or `Heavy`."""
    if score < MODERATE_FROM:
        return "Light"
    return "Heavy" if score > HEAVY_ABOVE else "Moderate"


def files_weight(listed: Iterable[tuple[str, int]], folder_lines: Iterable[str] = ()) -> float:
    """Return the weight of files listed one by one, and of lines that stand for folders (B16.3)."""
    files = sum(FILE_TOKENS + file_weight(kind, size) for kind, size in listed)
    return files + sum(len(line.encode()) for line in folder_lines) / CHARS_PER_TOKEN


def file_weight(kind: str, size_bytes: int) -> float:
    """Return what a file weighs by its kind and length (B16.2)."""
    match kind:
        case "text" | "csv":
            capped = size_bytes > _TEXT_CAP_FROM_BYTES
            weight = float(WEIGHT_MAX_TOKENS) if capped else size_bytes / 4
        case "docx" | "odt" | "pdf":
            weight = 4_000 + size_bytes / 6
        case "xlsx" | "pptx":
            weight = 6_000 + size_bytes / 8
        case "image":
            weight = 4_000.0
        case _:
            weight = 500.0
    return min(weight, float(WEIGHT_MAX_TOKENS))


def text_weight(chars: int) -> float:
    """Return what so many characters weigh."""
    return chars / CHARS_PER_TOKEN

"""Measures documents of about 1,000 pages against python-docx in the same run.

    python -m benchmarks.measure_docx [pages]

A page is eight paragraphs of three runs; every fifth page begins with a heading, every tenth holds
a table of five rows. The baseline walks the same body with python-docx, reading the text and the
style's name of every paragraph and the text of every cell; a second one reads texts only.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docx import Document as WordDocument

from backshop.formats import OpsRequest, Source
from backshop.formats import docx as docx_format

from .report import fact, head

PAGES = 1000
_WORDS = ("lorem", "ipsum", "dolor", "sit", "amet", "elit", "sed", "do", "eiusmod", "tempor")


def make(path: Path, pages: int) -> None:
    """Write the document; the same bytes of text every time."""
    document: Any = WordDocument()
    for page in range(pages):
        if page % 5 == 0:
            document.add_heading(f"Chapter {page // 5}", 1)
        for line in range(8):
            paragraph = document.add_paragraph()
            for part in range(3):
                at = page + line + part
                words = (_WORDS[(at + step) % len(_WORDS)] for step in range(20))
                paragraph.add_run(" ".join(words) + " ").bold = part == 1
        if page % 10 == 0:
            for row in document.add_table(5, 4).rows:
                for cell in row.cells:
                    cell.text = "cell text"
    document.save(str(path))


def walk(path: Path, *, styles: bool) -> int:
    """Read the whole body with python-docx."""
    seen = 0
    document: Any = WordDocument(str(path))
    for block in document.iter_inner_content():
        if hasattr(block, "text"):
            seen += len(block.text) + (len(block.style.name) if styles else 0)
        else:
            seen += sum(len(cell.text) for row in block.rows for cell in row.cells)
    return seen


def load_and_save(path: Path, out: Path) -> None:
    """Append a paragraph the way python-docx does it."""
    document: Any = WordDocument(str(path))
    document.add_paragraph("one more")
    document.save(str(out))


def seconds(act: Callable[[], object], times: int = 3) -> float:
    """Return the shortest time of a few runs."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        act()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> dict[str, float]:
    """Print and return the ratios; more is better."""
    pages = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else PAGES
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "long.docx", Path(folder) / "out.docx"
        make(path, pages)
        source = Source(path, hashlib.sha256(path.read_bytes()).hexdigest(), "long.docx")
        ask = OpsRequest(
            name="long.docx", operations=[{"op": "append_paragraph", "text": "one more"}]
        )
        mapping = seconds(lambda: docx_format.get_map(source))
        edit = seconds(lambda: docx_format.apply_ops(source, ask, out))
        ratios = {
            "docx map, against python-docx texts and styles": seconds(
                lambda: walk(path, styles=True), 1
            )
            / mapping,
            "docx map, against python-docx texts only": seconds(lambda: walk(path, styles=False), 1)
            / mapping,
            "docx append one paragraph, against python-docx load and save": seconds(
                lambda: load_and_save(path, out), 1
            )
            / edit,
        }
    head()
    for name, ratio in ratios.items():
        fact(f"{name}, {pages} pages", ratio, unit="× as fast")
    return ratios


if __name__ == "__main__":
    main()

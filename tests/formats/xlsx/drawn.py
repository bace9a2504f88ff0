"""Charts and pictures for tests: made, read back, and checked by a second reader."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

from lxml import etree
from PIL import Image

from backshop.formats.chart.vocabulary import AXES, C_NS, GROUPS, ORDERS, local, series_order
from backshop.formats.protocol import Source

from .books import mapped, opened, source

C = f"{{{C_NS}}}"
MONTHS = [["Month", "North", "South"], ["Jan", 10, 20], ["Feb", 15, 18], ["Mar", 7, 25]]


def chart(kind: str = "column", **fields: Any) -> dict[str, Any]:
    """An operation that adds a chart of `MONTHS`."""
    plain = {"sheet": "Sales", "cell": "F2", "data": "A1:C4"}
    return {"op": "add_chart", "kind": kind, **plain, **fields}


def change(**fields: Any) -> dict[str, Any]:
    return {"op": "change_chart", "sheet": "Sales", "chart": 1, **fields}


def picture(
    path: Path, size: tuple[int, int] = (40, 20), colour: str = "navy", **save: Any
) -> Source:
    """Write a picture of one colour."""
    Image.new("RGB", size, colour).save(path, **save)
    return source(path)


def parts(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def rewrite(path: Path, held: dict[str, bytes]) -> None:
    """Write a package of these parts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in held.items():
            file.writestr(name, data)


def root_of(path: Path, number: int = 1) -> Any:
    return etree.fromstring(parts(path)[f"xl/charts/chart{number}.xml"])


def charts(path: Path, sheet: int = 0) -> list[dict[str, Any]]:
    """The charts of a sheet as the map tells them."""
    return list(mapped(source(path))["sheets"][sheet]["charts"])


def seen(path: Path, sheet: str) -> list[Any]:
    """The charts of a sheet as a second reader sees them."""
    found: Any = opened(path)[sheet]
    return list(found._charts)


def cached(root: Any) -> list[dict[str, tuple[Any, ...]]]:
    """What each series keeps: by `tx`, `cat`, `val`, the formula and the points."""
    found = []
    for ser in root.iter(f"{C}ser"):
        held: dict[str, tuple[Any, ...]] = {}
        for item in ser:
            formula = next(item.iter(f"{C}f"), None)
            if formula is not None:
                points = [
                    (point.get("idx"), point.findtext(f"{C}v")) for point in item.iter(f"{C}pt")
                ]
                held[local(item)] = (formula.text, *(text for _, text in points))
        found.append(held)
    return found


def misplaced(root: Any) -> list[tuple[str, str]]:
    """The elements of a chart that do not stand where the standard wants them."""
    found = []
    for element in root.iter(f"{C}*"):
        name = local(element)
        if name == "ser":
            order = series_order(local(element.getparent()))
        elif name in ORDERS and not (
            name == "chart" and local(element.getparent()) != "chartSpace"
        ):
            order = ORDERS[name]
        else:
            continue
        last = 0
        for item in element:
            word = local(item)
            word = next(iter(GROUPS)) if name == "plotArea" and word in GROUPS else word
            word = AXES[0] if name == "plotArea" and word in AXES else word
            place = order.index(word) if word in order else -1
            if word and place < last:
                found.append((name, word))
            last = max(last, place)
    return found


def orphans(path: Path) -> set[str]:
    """The parts of a package that no relationship leads to."""
    held = parts(path)
    led = set()
    for name, data in held.items():
        if not name.endswith(".rels"):
            continue
        folder = name.partition("_rels/")[0]
        for target in re.findall(rb'Target="([^"]*)"', data):
            text = target.decode()
            whole = Path(text.lstrip("/")) if text.startswith("/") else Path(folder) / text
            pieces: list[str] = []
            for piece in whole.parts:
                pieces = pieces[:-1] if piece == ".." else [*pieces, piece]
            led.add("/".join(pieces))
    plain = {name for name in held if not name.endswith(".rels")}
    return plain - led - {"[Content_Types].xml"}

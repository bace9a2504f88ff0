"""Charts and pictures as maps list them and as changes tell them."""

from __future__ import annotations

from backshop.formats.chart.facts import ChartFacts, facts
from backshop.formats.package.picture_size import pixels
from backshop.formats.package.xml_tree import loosened
from backshop.formats.protocol import Json

from ..book.frame import Frame
from ..book.sheet_xml import SheetXml
from ..book.workbook import Book, Sheet
from .cell_size import CellSizes
from .drawing_part import PICTURE, Drawn, drawing_parts, drawn_on

_REFS_LISTED = _SERIES_LISTED = 20
_PICTURES_MEASURED = 50  # of a sheet; each has to be unpacked
_TITLE_CHARS = 80
_SHOWN_REFS = 4


def listed(
    book: Book, sheet: Sheet, xml: SheetXml | None, frame: Frame | None
) -> tuple[list[Json], list[Json], bool]:
    """Return the charts of a sheet, its pictures, and whether it shows pictures at all (F8.2)."""
    charts: list[Json] = []
    images: list[Json] = []
    found = drawn_on(book, sheet)
    sizes = CellSizes(xml, frame) if found and xml is not None and frame is not None else None
    for drawn in found:
        area = drawn.box.area(sizes)
        place: dict[str, Json] = {
            "number": drawn.number,
            "name": drawn.name or None,
            "at": str(area) if area else None,
        }
        if drawn.sort == PICTURE:
            part = drawn.part if len(images) < _PICTURES_MEASURED else None
            images.append(_image(book, drawn, part, place))
        else:
            charts.append(_chart(chart_facts(book, drawn), place))
    return charts, images, bool(images) or _has_images(book, sheet)


def _has_images(book: Book, sheet: Sheet) -> bool:
    rels = (rel for part in drawing_parts(book, sheet) for rel in book.package.rels(part))
    return any(rel.type.rpartition("/")[2] == "image" for rel in rels)


def _image(book: Book, drawn: Drawn, part: str | None, place: dict[str, Json]) -> dict[str, Json]:
    size = pixels(book.package.read(part)) if part else ""
    more: dict[str, Json] = {"description": drawn.description} if drawn.description else {}
    return {**place, **more, "pixels": size or None}


def _chart(found: ChartFacts, place: dict[str, Json]) -> dict[str, Json]:
    stacking: dict[str, Json] = {"stacking": found.stacking} if found.stacking != "none" else {}
    series: list[Json] = [
        {
            key: value
            for key, value in (
                ("name", one.name),
                ("values", one.values),
                ("categories", one.categories),
            )
            if value is not None
        }
        for one in found.series[:_SERIES_LISTED]
    ]
    return {
        **place,
        "type": found.kind,
        **stacking,
        "title": found.title,
        "series": series,
        "refs": list(found.formulas[:_REFS_LISTED]),
    }


def chart_facts(book: Book, drawn: Drawn) -> ChartFacts:
    """Read the chart that is drawn; one that leads nowhere says nothing."""
    if drawn.part is None:
        return ChartFacts((), "none", None, (), None, "", (), ())
    return facts(loosened(book.package.read(drawn.part)))


def told(book: Book, drawn: Drawn) -> str:
    """Return in words what a chart or a picture is."""
    if drawn.sort == PICTURE:
        size = pixels(book.package.read(drawn.part)) if drawn.part else ""
        words = [f"{size} pixels" if size else "", drawn.description[:_TITLE_CHARS]]
        return ", ".join(word for word in words if word)
    found = chart_facts(book, drawn)
    stacked = {"stacked": "stacked ", "percent": "percent stacked "}.get(found.stacking, "")
    title = f" “{found.title[:_TITLE_CHARS]}”" if found.title else ""
    values = [one.values for one in found.series if one.values] or list(found.formulas)
    more = f" and {len(values) - _SHOWN_REFS} more" if len(values) > _SHOWN_REFS else ""
    shown = f" of {', '.join(values[:_SHOWN_REFS])}{more}" if values else ""
    return f"{stacked}{found.kind or 'unknown'}{title}{shown}".replace("$", "")

"""Copies looks from one workbook into another, never by number (F22)."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

from lxml import etree

from backshop.formats.kind import MACROS_KEPT
from backshop.formats.package.package import Package
from backshop.formats.protocol import Applied, Json, Source
from backshop.formats.warning import Warnings
from backshop.formats.write.asset_request import (
    AssetRequest,
    copy_each,
    no_target,
    read_requests,
)

from ..book.element_order import insert_in_order
from ..book.sheet_edit import SheetEdit
from ..book.stylesheet import Look, StyleSheet
from ..book.workbook import Book, child, children, like
from ..edit import layout
from ..edit.application import finish
from ..edit.session import Session, Target
from ..syntax.address import MAX_ROW, Area, parse_area, parse_cell
from .report import known_assets
from .transplant import Transplant, adopted, copied


def copy_assets(source: Source, target: Source, assets: Json, out: Path) -> Applied:
    """Write `target` with assets of `source` to `out`; all or none."""
    giver = Book(Package.open(source))
    package = Package.open(target)
    package.refuse_unwritable(keeps_macros=target.extension in MACROS_KEPT)
    warnings = Warnings()
    session = Session(Book(package), warnings)
    requests = read_requests(assets, warnings, _arrow)

    def copy(request: AssetRequest) -> bool | None:
        copier = _COPIERS.get(request.kind) if request.name else None
        return (copier is not None and copier(giver, session, request)) or None

    copied = copy_each(requests, copy, lambda: known_assets(source))
    session.flush()
    return finish(
        session,
        out,
        name=target.name,
        created=False,
        changes=tuple((i, f"{asset} copied") for i, asset in enumerate(copied)),
        recalculate=True,
        extra={"copied_count": len(copied), "copied": copied},
    )


def _arrow(text: str) -> dict[str, Json]:
    """Read `cell_style:Q1!A1->Summary!B2:C3`."""
    asset, arrow, target = text.partition("->")
    if not arrow:
        return {"asset_id": asset.strip()}
    sheet, _, area = target.strip().rpartition("!")
    return {
        "asset_id": asset.strip(),
        "target_sheet": sheet.strip("'") or None,
        "target": area or None,
    }


def _target(session: Session, request: AssetRequest, *, area: bool) -> tuple[SheetEdit, Area]:
    text, sheet = request.target, request.target_sheet
    if text is not None and "!" in text and sheet is None:
        sheet, _, text = text.rpartition("!")
        sheet = sheet.strip("'")
    if sheet is None and len(session.book.sheets) == 1:
        sheet = session.book.sheets[0].name
    if sheet is None:
        raise no_target(request, "target_sheet is needed")
    edit = session.edit(sheet, request.where)
    found = parse_area(text) if text is not None else None
    if found is None and area:
        raise no_target(request, "target is needed: a range")
    return edit, found or Area(1, 1, MAX_ROW, 1)


# --- styles --------------------------------------------------------------------------------------


def _copy_named(giver: Book, session: Session, request: AssetRequest) -> bool:
    transplant = Transplant(giver, session.styles)
    source = _style_named(child(transplant.giver.root, "cellStyles"), request.name)
    if source is None:
        return False
    taker = session.styles
    table = taker.table("cellStyles")
    have = _style_named(table, request.name)
    if have is not None:
        session.warnings.add("asset_exists", where=request.name)
    else:
        formats = children(child(transplant.giver.root, "cellStyleXfs"), "xf")
        number = int(source.get("xfId") or 0)
        if number >= len(formats):
            return False
        xf = transplant.xf(formats[number], None)
        base = len(children(taker.table("cellStyleXfs"), "xf"))
        taker.table("cellStyleXfs").append(xf)
        taker.table("cellStyleXfs").set("count", str(base + 1))
        have = etree.Element(like(taker.root, "cellStyle"), copied(source))
        have.set("xfId", str(base))
        table.append(have)
        table.set("count", str(len(children(table, "cellStyle"))))
        taker.changed = True
    if request.target is not None:
        edit, area = _target(session, request, area=True)
        base = int(have.get("xfId") or 0)
        own = deepcopy(children(taker.table("cellStyleXfs"), "xf")[base])
        own.set("xfId", str(base))
        _apply(
            session,
            edit,
            area,
            lambda _row, _col: taker.append("cellXfs", deepcopy(own)),
            request.where,
        )
    return True


def _style_named(table: etree._Element | None, name: str) -> etree._Element | None:
    return next((item for item in children(table, "cellStyle") if item.get("name") == name), None)


def _copy_cell(giver: Book, session: Session, request: AssetRequest) -> bool:
    sheet_name, _, cell = request.name.rpartition("!")
    place = parse_cell(cell)
    sheet = giver.find(sheet_name.strip("'"))
    xml = giver.xml(sheet) if sheet else None
    if place is None or sheet is None or xml is None:
        return False
    style = SheetEdit(giver, sheet, xml).style(*place)
    transplant = Transplant(giver, session.styles)
    source = transplant.giver.xf(style)
    if source is None:
        return False
    edit, area = _target(session, request, area=True)
    number = session.styles.append("cellXfs", transplant.xf(source, 0))
    _apply(session, edit, area, lambda _row, _col: number, request.where)
    return True


def _copy_format(giver: Book, session: Session, request: AssetRequest) -> bool:
    if request.name not in giver.formats.codes.values():
        return False
    edit, area = _target(session, request, area=True)
    look = Look(number_format=request.name)
    _apply(
        session,
        edit,
        area,
        lambda r, c: session.styles.derive(edit.style(r, c), look),
        request.where,
    )
    return True


def _apply(
    session: Session, edit: SheetEdit, area: Area, style: Callable[[int, int], int], where: str
) -> None:
    session.count(area.count, where)
    edit.load(range(area.row1, area.row2 + 1))
    for place in area.cells():
        session.check_writable(edit, *place, where)
        edit.set_style(*place, style(*place))
    session.aim(edit, area, "style")


# --- widths and conditional formats --------------------------------------------------------------


def _copy_widths(giver: Book, session: Session, request: AssetRequest) -> bool:
    sheet = giver.find(request.name)
    xml = giver.xml(sheet) if sheet else None
    if xml is None:
        return False
    edit, _ = _target(session, request, area=False)
    for item in children(child(xml.frame(), "cols"), "col"):
        first, last = int(item.get("min") or 0), int(item.get("max") or 0)
        width = float(item.get("width") or 0)
        for col in range(first, min(last, first + 255) + 1):
            layout.set_width(edit, col, 0 if item.get("hidden") == "1" else width)
            session.aim(edit, Area(1, col, MAX_ROW, col), "structure")
    return True


def _copy_conditional(giver: Book, session: Session, request: AssetRequest) -> bool:
    sheet = giver.find(request.name)
    xml = giver.xml(sheet) if sheet else None
    found = children(xml.frame(), "conditionalFormatting") if xml else []
    if not found:
        return False
    edit, area = _target(session, request, area=True)
    looks = children(child(StyleSheet(giver).root, "dxfs"), "dxf")
    root = edit.frame.root
    highest = max(
        (int(r.get("priority") or 0) for c in children(root, "conditionalFormatting") for r in c),
        default=0,
    )
    for item in found:
        new = adopted(item, root)
        new.set("sqref", str(area))
        for rule in children(new, "cfRule"):
            highest += 1
            rule.set("priority", str(highest))
            number = rule.get("dxfId")
            if number and number.isdigit() and int(number) < len(looks):
                look = adopted(looks[int(number)], session.styles.root)
                rule.set("dxfId", str(session.styles.append("dxfs", look)))
        insert_in_order(root, new, layout.ORDER)
    edit.refresh_frame()
    session.aim(edit, area, "structure")
    aspects = frozenset({"conditionalFormatting"})
    session.targets.append(Target(edit.sheet.name, None, aspects))
    return True


_COPIERS: dict[str, Callable[[Book, Session, AssetRequest], bool]] = {
    "named_style": _copy_named,
    "cell_style": _copy_cell,
    "number_format": _copy_format,
    "column_widths": _copy_widths,
    "conditional_formats": _copy_conditional,
}

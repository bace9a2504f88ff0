"""An OpenDocument text as blocks in order: its words, tables, lists and pictures (F43.56)."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from backshop.base import limits
from backshop.base.place import Place

from ..canvas.bitmap import bitmap
from ..canvas.flow import (
    Flow,
    FlowAside,
    FlowBlock,
    FlowCell,
    FlowComment,
    FlowParagraph,
    FlowPicture,
    FlowRun,
    FlowSection,
    FlowTable,
    flow_json,
)
from ..canvas.flow_page import view_flow
from ..package.package import Package
from ..place import spelled
from ..protocol import Json, JsonObject, Source, as_object
from .body import Block, Document, load

_LOOKS = "fonts, colours, sizes and alignment of an OpenDocument text"
_WIDTH = 624.0
_PICTURE = (480.0, 360.0)
_INDENT = 24.0


def draw_document(
    source: Source, first_block: int = 0, block_count: int = limits.DRAWN_BLOCKS_MAX
) -> dict[str, Json]:
    """Return a window of a document as blocks (F43.50)."""
    document = load(source)
    drawn = _Painter(document, Package.open(source)).flow(first_block, block_count)
    return dict(as_object(flow_json(drawn)))


def view_page(source: Source, page: int) -> tuple[bytes, JsonObject]:
    """Return a part of a text as a picture for who takes pictures, from 1 (F43.75)."""
    painter = _Painter(load(source), Package.open(source))
    return view_flow(lambda first: painter.flow(first, limits.DRAWN_BLOCKS_MAX), page)


class _Painter:
    def __init__(self, document: Document, package: Package) -> None:
        self._document = document
        self._package = package
        self._left = limits.DRAWN_PICTURES_MAX_BYTES
        self._missing: dict[str, None] = {_LOOKS: None}

    def flow(self, first: int, count: int) -> Flow:
        blocks = self._document.blocks
        first = min(max(first, 0), len(blocks))
        last = min(first + min(max(count, 1), limits.DRAWN_BLOCKS_MAX), len(blocks))
        return Flow(
            blocks=tuple(self._block(at, blocks[at]) for at in range(first, last)),
            first_block=first,
            block_count=len(blocks),
            next_block=last if last < len(blocks) else None,
            width=_WIDTH,
            sections=tuple(
                FlowSection(heading=block.text[:300], level=block.level, first_block=at)
                for at, block in enumerate(blocks)
                if block.level
            ),
            asides=tuple(self._asides()),
            missing=tuple(self._missing),
        )

    def _block(self, at: int, block: Block) -> FlowBlock:
        place = spelled(Place(paragraph=at))
        if block.rows:
            return _table(at, block)
        changes = [one for one in self._document.changes if one.place == at]
        runs = [FlowRun(text=block.text)] if block.text else []
        runs += [
            FlowRun(text=one.text, change="deleted", author=one.author, date=one.date)
            for one in changes
            if one.kind == "deleted" and one.text
        ]
        runs += [
            FlowRun(picture=self._picture(image.name, image.alt_text))
            for image in self._document.images
            if image.place == at
        ]
        depth = (len(block.prefix) - len(block.prefix.lstrip(" "))) // 2
        item = block.prefix.strip()
        came = next((one for one in changes if one.kind == "inserted"), None)
        return FlowParagraph(
            kind="heading" if block.level else "paragraph",
            place=place,
            level=block.level,
            runs=tuple(runs),
            marker=("•" if item == "-" else item) or None,
            left=_INDENT * (depth + 1) if item else 0.0,
            first=-_INDENT / 2 if item else 0.0,
            boxes=block.below,
            change="inserted" if came else None,
            author=came.author if came else None,
        )

    def _picture(self, name: str | None, alt: str) -> FlowPicture:
        width, height = _PICTURE
        part = self._package.find(name) if name else None
        data = bitmap(self._package.read(part), width, height) if part else None
        address = None
        if data is not None and len(data) <= self._left:
            self._left -= len(data)
            kind = "png" if data.startswith(b"\x89PNG") else "jpeg"
            address = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
        else:
            self._missing["a picture that cannot be drawn" + (f": {alt[:80]}" if alt else "")] = (
                None
            )
        return FlowPicture(width=width, height=height, alt=alt[:500], address=address)

    def _asides(self) -> Iterator[FlowAside]:
        for kind, line in self._document.margins:
            yield FlowAside(kind=kind, label=kind, blocks=(_said(line),))
        for at, (kind, text) in enumerate(self._document.notes, 1):
            yield FlowAside(kind=kind, label=f"{kind} {at}", blocks=(_said(text),))
        for who, text in self._document.comments:
            noted = FlowComment(author=who or "unknown", text=text[:4_000])
            yield FlowAside(
                kind="comment", label="comment", blocks=(FlowParagraph(comments=(noted,)),)
            )


def _said(text: str) -> FlowParagraph:
    return FlowParagraph(runs=(FlowRun(text=text),))


def _table(at: int, block: Block) -> FlowTable:
    return FlowTable(
        place=spelled(Place(paragraph=at)),
        rows=tuple(
            tuple(
                FlowCell(
                    place=spelled(Place(paragraph=at, table_row=row, table_column=column)),
                    blocks=(_said(text),),
                )
                for column, text in enumerate(cells)
            )
            for row, cells in enumerate(block.rows)
        ),
    )

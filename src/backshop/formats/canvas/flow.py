"""A document drawn as it flows, without pages: typed blocks, no markup (F43.50).

Whoever shows it makes markup of it; colours are `#rrggbb`, faces are bundled ones, sizes pixels.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass

from ..protocol import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowPicture:
    """A picture made anew, as a `data:` address; none where it could not be drawn."""

    width: float
    height: float
    alt: str = ""
    address: str | None = None
    svg: str | None = None  # of a chart


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRun:
    """A piece of a paragraph in one look: text, a picture or the end of a page."""

    text: str = ""
    picture: FlowPicture | None = None
    breaks_page: bool = False
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    script: str | None = None  # sup, sub
    color: str | None = None
    highlight: str | None = None
    size: float | None = None
    family: str | None = None
    link: str | None = None  # where it leads; it is shown, never followed
    change: str | None = None  # inserted, deleted
    author: str | None = None
    date: str | None = None
    note: str | None = None  # of a footnote's number: which one


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowComment:
    """What somebody wrote in the margin."""

    author: str
    text: str
    date: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowParagraph:
    """A paragraph, a heading or an item of a list."""

    kind: str = "paragraph"  # heading, paragraph
    place: str | None = None
    level: int | None = None
    style: str | None = None
    runs: tuple[FlowRun, ...] = ()
    marker: str | None = None  # the bullet or number before it
    marker_family: str | None = None
    align: str | None = None  # center, right, justify
    is_rtl: bool = False
    left: float = 0.0
    right: float = 0.0
    first: float = 0.0
    before: float = 0.0
    after: float = 0.0
    line: float | None = None  # a part of the usual height
    fill: str | None = None
    has_rule: bool = False  # a line below
    boxes: tuple[str, ...] = ()  # what text boxes and diagrams in it say
    comments: tuple[FlowComment, ...] = ()
    change: str | None = None  # of its end
    author: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowCell:
    """A cell with what stands in it; covered ones are left out."""

    place: str | None = None
    row_span: int = 1
    column_span: int = 1
    fill: str | None = None
    blocks: tuple[FlowBlock, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowTable:
    """A table; widths of columns in pixels."""

    kind: str = "table"
    place: str | None = None
    widths: tuple[float, ...] = ()
    rows: tuple[tuple[FlowCell, ...], ...] = ()
    has_lines: bool = True
    comments: tuple[FlowComment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowBreak:
    """Where the file begins a page."""

    kind: str = "page_break"


FlowBlock = FlowParagraph | FlowTable | FlowBreak


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowAside:
    """A header, a footer or a note."""

    kind: str  # header, footer, footnote, endnote
    label: str
    blocks: tuple[FlowBlock, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSection:
    """A heading of the outline, and the block it is."""

    heading: str
    level: int
    first_block: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A window of a document, with what stands beside it."""

    blocks: tuple[FlowBlock, ...]
    first_block: int
    block_count: int
    next_block: int | None
    width: float
    sections: tuple[FlowSection, ...] = ()
    asides: tuple[FlowAside, ...] = ()
    missing: tuple[str, ...] = ()


def flow_json(value: object) -> Json:
    """Return a flow as data; what a block does not have is left out of it."""
    if is_dataclass(value) and not isinstance(value, type):
        found: dict[str, Json] = {}
        for one in fields(value):
            own = getattr(value, one.name)
            is_said = isinstance(value, Flow) or one.name in ("kind", "text")
            if is_said or own != one.default:
                found[one.name] = flow_json(own)
        return found
    if isinstance(value, tuple):
        return [flow_json(one) for one in value]
    if isinstance(value, float):
        return round(value, 2)
    assert value is None or isinstance(value, str | int | bool)
    return value

"""A presentation as its slides in order, with the layouts and masters they inherit from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

from backshop.formats.errors import fail
from backshop.formats.package.drawing import Drawing, drawn_lines, kind_of
from backshop.formats.package.guard import Element
from backshop.formats.package.package import Package
from backshop.formats.package.xml_tree import Trees
from backshop.formats.protocol import Source

from . import names as n
from .numbering import no_slide
from .shape import (
    BODY_TYPES,
    TITLE_TYPES,
    Box,
    Placeholder,
    Shape,
    body_text,
    in_groups,
    own_box,
    placeholder_of,
    shapes_in,
    shapes_of,
    whole,
)

DEFAULT_SIZE = (9144000, 6858000)  # what the standard assumes when a file gives none


@dataclass(frozen=True)
class Layout:
    """A slide layout of the file."""

    part: str
    name: str
    root: Element

    @cached_property
    def shapes(self) -> list[Shape]:
        """Its shapes in drawing order."""
        return shapes_in(self.root)

    @cached_property
    def placeholders(self) -> list[tuple[Shape, Placeholder]]:
        """Its placeholders in drawing order."""
        return [(s, ph) for s in self.shapes if (ph := s.placeholder) is not None]


@dataclass(frozen=True)
class Slide:
    """One slide: its place, its id, and the tree of its part."""

    index: int
    slide_id: int
    part: str
    root: Element

    @property
    def tree(self) -> Element:
        """The element that holds the shapes."""
        found = self.root.find(f"{n.C_SLD}/{n.SP_TREE}")
        if found is None:
            raise fail("corrupt_file", "a slide has no shape tree", detail=self.part)
        return found

    @property
    def shapes(self) -> list[Shape]:
        """The shapes in drawing order, as they are now."""
        return shapes_of(self.tree)

    @property
    def drawings(self) -> list[Drawing]:
        """Its charts and diagrams."""
        found = (self.drawing(shape) for shape in self.shapes)
        return [drawing for drawing in found if drawing is not None]

    def drawing(self, shape: Shape) -> Drawing | None:
        """Return the chart or diagram a shape is."""
        graphic = shape.graphic
        is_drawn = graphic is not None and kind_of(graphic) is not None
        return Drawing(self.part, graphic) if graphic is not None and is_drawn else None

    @property
    def is_hidden(self) -> bool:
        """Whether the show skips the slide."""
        return self.root.get("show") in {"0", "false"}

    @property
    def title_shape(self) -> Shape | None:
        """The shape that fills the title's place."""
        for shape in self.shapes:
            placeholder = shape.placeholder
            if placeholder is not None and placeholder.type in TITLE_TYPES:
                return shape
        return None

    @property
    def title(self) -> str | None:
        """The text of the title on one line, None when there is none."""
        shape = self.title_shape
        text = " ".join(body_text(shape.text_body).split()) if shape else ""
        return text or None


class Deck:
    """An opened presentation."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.trees = Trees(package)
        self.part = self.trees.main_part(n.PRESENTATION)
        self._digests: dict[str, str] = {}

    @classmethod
    def open(cls, source: Source) -> Deck:
        """Scan and open a presentation.

        Raises:
            FormatError: whatever the guard finds, `corrupt_file` when it is no presentation.
        """
        return cls(Package.open(source))

    @property
    def root(self) -> Element:
        """The root of the presentation part."""
        return self.trees.root(self.part)

    @property
    def size(self) -> tuple[int, int]:
        """The width and height of a slide in EMU."""
        found = self.root.find(n.SLD_SZ)
        if found is None:
            return DEFAULT_SIZE
        width, height = whole(found.get("cx")), whole(found.get("cy"))
        return DEFAULT_SIZE if width is None or height is None else (width, height)

    @property
    def slides(self) -> list[Slide]:
        """The slides in order, as they are now."""
        targets = {rel.id: rel.part for rel in self.package.rels(self.part)}
        found: list[Slide] = []
        for entry in self.root.iterfind(f"{n.SLD_ID_LST}/{n.SLD_ID}"):
            part = self.package.find(targets.get(entry.get(n.R_ID) or "") or "")
            if part is None:
                raise fail("corrupt_file", "a slide is missing from the file")
            slide_id = whole(entry.get("id")) or 0
            found.append(Slide(len(found), slide_id, part, self.trees.root(part)))
        return found

    def drawn_lines(self, slide: Slide, shape: Shape) -> list[str]:
        """Return what a chart or a diagram says; nothing for other shapes."""
        drawing = slide.drawing(shape)
        return drawn_lines(self.trees, drawing) if drawing is not None else []

    def digest(self, part: str) -> str:
        """Return the sha256 of a part, such as a picture that many slides show."""
        if part not in self._digests:
            self._digests[part] = hashlib.sha256(self.package.read(part)).hexdigest()
        return self._digests[part]

    def slide(self, index: int, where: str = "slide_index", field: str = "slide_index") -> Slide:
        """Return one slide; `field` is the name by which it was asked for.

        Raises:
            FormatError: `unknown_slide`, the hint tells how many there are.
        """
        slides = self.slides
        if not 0 <= index < len(slides):
            raise no_slide(index, len(slides), where, field)
        return slides[index]

    @cached_property
    def layouts(self) -> list[Layout]:
        """The layouts of all masters, in the order the masters list them."""
        found = []
        for part in self._layout_parts():
            root = self.trees.root(part)
            common = root.find(n.C_SLD)
            name = (common.get("name") if common is not None else None) or ""
            found.append(Layout(part, name, root))
        return found

    def _layout_parts(self) -> list[str]:
        parts = []
        for master in self.masters:
            targets = {rel.id: rel.part for rel in self.package.rels(master)}
            for entry in self.trees.root(master).iterfind(f"{n.LAYOUT_ID_LST}/{n.LAYOUT_ID}"):
                part = self.package.find(targets.get(entry.get(n.R_ID) or "") or "")
                if part is not None and part not in parts:
                    parts.append(part)
        return parts

    @cached_property
    def masters(self) -> list[str]:
        """The names of the slide master parts in order."""
        targets = {rel.id: rel.part for rel in self.package.rels(self.part)}
        entries = self.root.iter(n.MASTER_ID)
        found = (self.package.find(targets.get(e.get(n.R_ID) or "") or "") for e in entries)
        return [part for part in found if part is not None]

    def layout_of(self, slide: Slide) -> Layout | None:
        """Return the layout a slide follows."""
        part = self.trees.first_related(slide.part, "slideLayout")
        return next((layout for layout in self.layouts if layout.part == part), None)

    def notes_part(self, slide: Slide) -> str | None:
        """Return the part with the notes of a slide, if it has any."""
        return self.trees.first_related(slide.part, "notesSlide")

    def notes_shape(self, slide: Slide) -> Shape | None:
        """Return the shape with the text of a slide's notes."""
        part = self.notes_part(slide)
        for shape in shapes_in(self.trees.root(part)) if part else ():
            placeholder = shape.placeholder
            is_place = placeholder is not None and placeholder.type == "body"
            if is_place and shape.element.tag == n.SP:
                return shape
        return None

    def notes(self, slide: Slide) -> str:
        """Return the text of a slide's notes."""
        shape = self.notes_shape(slide)
        return body_text(shape.text_body).strip() if shape is not None else ""

    # --- geometry ------------------------------------------------------------------------------

    def box(self, slide: Slide, shape: Shape) -> Box | None:
        """Return where a shape stands; places fill in what the shape does not say (F29.3)."""
        box = own_box(shape.element)
        if box is not None:
            return in_groups(box, shape.groups)
        placeholder = shape.placeholder
        layout = self.layout_of(slide) if placeholder is not None else None
        if placeholder is None or layout is None:
            return None
        return self.layout_box(layout, placeholder)

    def layout_box(self, layout: Layout, placeholder: Placeholder) -> Box | None:
        """Return where a layout, else its master, puts a placeholder."""
        above = layout_shape(layout, placeholder)
        box = own_box(above.element) if above is not None else None
        if box is not None:
            return box
        master = self.trees.first_related(layout.part, "slideMaster")
        wanted = master_type(placeholder.type)
        for shape in shapes_in(self.trees.root(master)) if master else ():
            candidate = placeholder_of(shape.element)
            if candidate is not None and master_type(candidate.type) == wanted:
                return own_box(shape.element)
        return None


def layout_shape(layout: Layout, placeholder: Placeholder) -> Shape | None:
    """Return the layout's shape that a slide's placeholder fills: by index, else by type."""
    for shape, candidate in layout.placeholders:
        if candidate.idx == placeholder.idx and _same_role(candidate.type, placeholder.type):
            return shape
    for shape, candidate in layout.placeholders:
        if candidate.type == placeholder.type:
            return shape
    return None


def _same_role(one: str, other: str) -> bool:
    return one == other or (master_type(one) == master_type(other)) or "obj" in (one, other)


def master_type(type_: str) -> str:
    """Return the type a master uses for a placeholder of a layout or slide."""
    if type_ in TITLE_TYPES:
        return "title"
    return type_ if type_ in {"dt", "ftr", "sldNum"} else "body"


def is_body(placeholder: Placeholder) -> bool:
    """Whether running text belongs into a placeholder of this type."""
    return placeholder.type in BODY_TYPES

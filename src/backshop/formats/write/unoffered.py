"""What people ask of documents and slides and no operation does, and what can be done (F40.18)."""

from __future__ import annotations

import re

_READ_CHARS = 60  # of a name; what is longer is none
_MAKES = r"(?:add|append|insert|create|make|new|draw)_?(?:\w*_)?"
_PICTURES = (
    rf"{_MAKES}(?:image|picture|photo|logo)",
    "pictures are not put in from elsewhere here; copy_assets copies those that another file of "
    "the kind holds",
)
_OF_SLIDES = (
    (
        rf"{_MAKES}tables?$",
        "new tables are not made on slides here; set_table_cells fills those that are there. "
        "Figures can stand as text (append_bullets); tell the person what is missing",
    ),
    (
        rf"{_MAKES}(?:charts?|graphs?|diagrams?|smart_?art)$|chart",
        "charts are neither made nor changed on slides here; those that are there stay. Figures "
        "can stand as text (append_bullets); tell the person what is missing",
    ),
    _PICTURES,
    (
        rf"{_MAKES}(?:shape|text_?box)|animation|transition",
        "shapes, text boxes, animations and transitions are not made or changed here; text goes "
        "into the placeholders of a layout",
    ),
)
_OF_DOCUMENTS = (
    (
        r"^(?:add|insert|create|make|new)_?tables?$",
        "append_table makes a table, at the end or at its anchor",
    ),
    (
        r"chart|diagram|smart_?art",
        "charts and diagrams are neither made nor changed in documents here; those that are there "
        "stay. append_table puts figures into a table; tell the person what is missing",
    ),
    _PICTURES,
    (
        r"comment|foot_?note|end_?note|track",
        "comments, notes and tracked changes are neither made nor changed here; those that are "
        "there stay",
    ),
)


def of_slides(name: str) -> str | None:
    """Return what to say to whoever asks for an operation of slides; None of other names."""
    return _found(_OF_SLIDES, name)


def of_documents(name: str) -> str | None:
    """Return what to say to whoever asks for an operation of documents; None of other names."""
    return _found(_OF_DOCUMENTS, name)


def _found(known: tuple[tuple[str, str], ...], name: str) -> str | None:
    begin = name[:_READ_CHARS]
    return next((instead for words, instead in known if re.search(words, begin, re.I)), None)

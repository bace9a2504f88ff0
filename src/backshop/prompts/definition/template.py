"""Templates with `$name`, `${name}` and `$$`, and how values become text (P1.11, P1.15, P1.16).

Substitution is one pass over the template: what comes out of a value is never read again, so
text that somebody else wrote cannot become a placeholder, and a frame cannot be closed from
inside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from backshop.base.canon import sha256_hex

from ..errors import PromptRenderError, PromptValidationError

FRAME_TAGS = ("data", "file", "map")
BLOCK_RENDERS = ("fence", "quote", *FRAME_TAGS)
RENDERS = ("plain", *BLOCK_RENDERS)

_TOKEN = re.compile(
    r"\$(?:(?P<escaped>\$)|(?P<name>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})?", re.A
)
_SCALARS = (str, bool, int, float, Decimal, UUID, NoneType)
_LINE_END = re.compile(r"\r\n|\r|\n")
_BACKTICKS = re.compile(r"`+")
_ENTITIES = {"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"}
_FRAME_ID_CHARS = (12, 24, 64)


@dataclass(frozen=True, slots=True)
class Slot:
    """A placeholder; `alone` if it has its line to itself, then `indent` and `end` frame it."""

    name: str
    alone: bool = False
    indent: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template: `source` as it is hashed and shown, and its pieces in order."""

    source: str
    pieces: tuple[str | Slot, ...]

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The placeholders, in order."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Slot))


def normalise(text: str) -> str:
    """Return a template as it is hashed: no common indentation, no outer blank lines."""
    lines = [line if line.strip() else "" for line in text.replace("\r\n", "\n").split("\n")]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    margin = _margin([line for line in lines if line])
    return "\n".join(line[margin:] for line in lines)


def _margin(lines: list[str]) -> int:
    if not lines:
        return 0
    first, last = min(lines), max(lines)  # what these two share, all share
    margin = 0
    for one, other in zip(first, last, strict=False):
        if one != other or one not in " \t":
            break
        margin += 1
    return margin


@lru_cache(maxsize=4096)
def parse(source: str) -> Template:
    """Return the pieces of a template; the text is taken as it is.

    Raises:
        PromptValidationError: `INVALID_PLACEHOLDER`, with line and column.
    """
    pieces: list[str | Slot] = []
    lines = source.split("\n")
    for number, line in enumerate(lines, 1):
        end = "\n" if number < len(lines) else ""
        found = _pieces(line, number)
        slots = [piece for piece in found if isinstance(piece, Slot)]
        rest = "".join(piece for piece in found if isinstance(piece, str))
        if len(slots) == 1 and not rest.strip(" \t"):
            indent = found[0] if isinstance(found[0], str) else ""
            pieces.append(Slot(slots[0].name, alone=True, indent=indent, end=end))
        else:
            pieces.extend((*found, end) if end else found)
    return Template(source, _merged(pieces))


def _pieces(line: str, number: int) -> list[str | Slot]:
    found: list[str | Slot] = []
    position = 0
    for token in _TOKEN.finditer(line):
        if token.start() > position:
            found.append(line[position : token.start()])
        name = token["name"] or token["braced"]
        if name:
            found.append(Slot(name))
        elif token["escaped"]:
            found.append("$")
        else:
            raise PromptValidationError(
                f"line {number}, column {token.start() + 1}: a `$` is written `$$`",
                code="INVALID_PLACEHOLDER",
                placeholder=line[token.start() : token.start() + 20],
            )
        position = token.end()
    if position < len(line):
        found.append(line[position:])
    return found


def _merged(pieces: list[str | Slot]) -> tuple[str | Slot, ...]:
    merged: list[str | Slot] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if isinstance(piece, str) and isinstance(last, str):
            merged[-1] = last + piece
        else:
            merged.append(piece)
    return tuple(merged)


def escape_template(text: str) -> str:
    """Return `text` such that a template renders it unchanged: every `$` doubled (P3.8)."""
    return text.replace("$", "$$")


@dataclass(frozen=True, slots=True)
class Field:
    """How one field of a params type may be shown."""

    name: str
    render: str
    none: str | None
    is_list: bool
    supported: bool

    @property
    def is_block(self) -> bool:
        """Whether a placeholder of this field needs a line of its own."""
        return self.is_list or self.render in BLOCK_RENDERS


@lru_cache(maxsize=1024)
def fields_of(params: type) -> Mapping[str, Field]:
    """Return how each field of a params type is shown."""
    try:
        hints = get_type_hints(params, include_extras=False)
    except NameError as error:
        raise PromptValidationError(
            f"a type in {params.__name__} cannot be found: {error}",
            code="UNSUPPORTED_FIELD",
            params_type=params.__name__,
        ) from error
    found = {}
    for one in fields(params):
        render = one.metadata.get("render", "plain")
        is_list, supported = _shape(hints[one.name])
        found[one.name] = Field(
            one.name, render, one.metadata.get("none"), is_list, supported and render in RENDERS
        )
    return found


def _shape(annotation: Any) -> tuple[bool, bool]:
    """Say whether an annotation is a list of text, and whether it can be shown at all."""
    annotation = getattr(annotation, "__supertype__", annotation)  # NewType
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape(inner[0])
    if origin in (Union, UnionType):
        parts = [_shape(part) for part in inner if part is not NoneType]
        return any(part[0] for part in parts), len(parts) == 1 and parts[0][1]
    if origin in (list, tuple):
        of_text = {getattr(part, "__supertype__", part) for part in inner} <= {str, Ellipsis}
        return True, of_text and (origin is list or len(inner) == 2)
    if origin is Literal:
        return False, all(isinstance(value, (str, int, bool)) for value in inner)
    return False, isinstance(annotation, type) and (
        annotation in _SCALARS or issubclass(annotation, (Enum, date)) or _is_path(annotation)
    )


def _is_path(kind: type) -> bool:
    # Told by name: this module is pure and does not import pathlib.
    return any(
        base.__name__ == "PurePath" and base.__module__.startswith("pathlib")
        for base in kind.__mro__
    )


def check_slots(template: Template, params: type | None, path: str) -> None:
    """Refuse placeholders the params type does not have or cannot show (P1.12, P1.15)."""
    known = fields_of(params) if params is not None else {}
    for slot in template.slots:
        one = known.get(slot.name)
        if one is None:
            code, message = "UNKNOWN_PLACEHOLDER", "is no field of its params"
        elif not one.supported:
            code, message = "UNSUPPORTED_FIELD", "has a type that cannot be shown in a prompt"
        elif one.is_block and not slot.alone:
            code, message = "INVALID_PLACEHOLDER", "is a block and needs a line of its own"
        else:
            continue
        raise PromptValidationError(
            f"{path}: ${slot.name} {message}",
            code=code,
            path=path,
            placeholder=slot.name,
            params_type=params.__name__ if params else None,
        )


def substitute(template: Template, params: object | None, path: str) -> str:
    """Return the text of a template with the values of `params`."""
    if not template.slots:
        return "".join(piece for piece in template.pieces if isinstance(piece, str))
    kind: type = type(params)
    known = fields_of(kind)
    out: list[str] = []
    for piece in template.pieces:
        if isinstance(piece, str):
            out.append(piece)
            continue
        shown = _shown(known[piece.name], getattr(params, piece.name), path)
        if isinstance(shown, str):
            out.append(piece.indent + shown + piece.end)
        elif shown:
            lines = (f"{piece.indent}- {_hanging(item, piece.indent)}" for item in shown)
            out.append("\n".join(lines) + piece.end)
        elif not piece.end and out and out[-1].endswith("\n"):
            out[-1] = out[-1][:-1]  # the removed line was the last: so goes the end before it
    return "".join(out)


def _hanging(item: str, indent: str) -> str:
    return _LINE_END.sub(f"\n{indent}  ", item)


def _shown(one: Field, value: object, path: str) -> str | tuple[str, ...]:
    if value is None:
        if one.none is None:
            raise PromptRenderError(
                f"{path}: ${one.name} is None", code="NONE_VALUE", path=path, placeholder=one.name
            )
        return one.none
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        items = tuple(value)
        return items if one.render == "plain" else _block(one, "\n".join(items))
    text = value_text(value)
    if text is None:
        raise PromptRenderError(
            f"{path}: ${one.name} holds a {type(value).__name__}",
            code="UNSUPPORTED_FIELD",
            path=path,
            placeholder=one.name,
        )
    return text if one.render == "plain" else _block(one, text)


def value_text(value: object) -> str | None:
    """Return a scalar as a prompt shows it, or None for what is no scalar."""
    if isinstance(value, Enum):
        return value_text(value.value)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (int, Decimal, UUID)):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    posix = getattr(value, "as_posix", None)
    return str(posix()) if posix is not None and _is_path(type(value)) else None


def _block(one: Field, text: str) -> str:
    if one.render == "fence":
        return fenced(text)
    if one.render == "quote":
        return "\n".join(f"> {line}" for line in _LINE_END.split(text))
    return delimit(one.render, one.name, text)


def fenced(text: str, info: str = "") -> str:
    """Return text in a backtick fence that nothing inside can close."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{info}\n{text}\n{fence}"


def delimit(tag: str, name: str, text: str) -> str:
    """Frame text the author does not control; the same text always gets the same frame (P1.16)."""
    if tag not in FRAME_TAGS:
        raise PromptValidationError(f"{tag!r} is no frame", code="BAD_IDENTIFIER")
    whole = sha256_hex(text.encode("utf-8", "surrogatepass"))
    for count in _FRAME_ID_CHARS:
        mark = whole[:count]
        if f'</{tag} id="{mark}">' not in text:
            break
    shown = "".join(_ENTITIES.get(char, char) for char in _one_line(name))
    return f'<{tag} name="{shown}" id="{mark}">\n{text}\n</{tag} id="{mark}">'


def _one_line(text: str) -> str:
    return " ".join(text.splitlines()) if text.splitlines()[1:] else text.rstrip("\r\n")

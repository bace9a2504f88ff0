"""Operations on pictures: one comes from a file; a chart or a picture goes (F36)."""

from __future__ import annotations

from backshop.formats.errors import FormatError
from backshop.formats.package.picture_file import PictureFile, read_picture
from backshop.formats.protocol import Op
from backshop.formats.write.operation import FILE_FIELDS, Arg, nearest, problem, strip_controls

from ..session import Session
from .attachment import Attachment, refuse_locked
from .chart_operation import MAX_PX, PLACE_ARGS, aim, aim_drawn, box_of, find_drawn, name_of

_FIELD, *_ALIASES = FILE_FIELDS["add_image"]
ADD_ARGS = (
    Arg("sheet", str, required=True),
    Arg("cell", str, required=True, aliases=("anchor",)),
    Arg(_FIELD, str, required=True, aliases=tuple(_ALIASES)),
    *PLACE_ARGS,
    Arg("description", str, aliases=("alt_text",)),
)
DELETE_ARGS = (
    Arg("sheet", str, required=True),
    Arg("name", object, required=True, aliases=("drawing", "chart", "image")),
)
_MAX_DESCRIPTION = 2000


def add_image(session: Session, op: Op) -> str:
    """Put a picture from a file onto a sheet."""
    picture = _picture(session, op)
    edit = session.edit_or_name(str(op.args["sheet"]), op.where)
    refuse_locked(edit, f"{op.where}.sheet")
    box = box_of(op, edit, _size(op, picture))
    session.flush()
    edit = session.edit(str(op.args["sheet"]), op.where)
    name = name_of(session, op, edit.sheet, "Picture")
    where = f"{op.where}.description"
    told = strip_controls(str(op.args["description"] or ""), session.warnings, where)
    if len(told) > _MAX_DESCRIPTION:
        raise problem("bad_value", where, f"at most {_MAX_DESCRIPTION} characters")
    Attachment(session, edit, op.where).add_picture(box, name, told, picture.data, picture.ending)
    area = aim(session, edit, box, name, "added")
    size = f", {box.size[0]:.0f} x {box.size[1]:.0f} pixels" if box.size else ""
    return f"{edit.sheet.name}: picture {name} added at {area} ({op.args[_FIELD]}{size})"


def _picture(session: Session, op: Op) -> PictureFile:
    where, path = f"{op.where}.{_FIELD}", str(op.args[_FIELD])
    source = session.files.get(path)
    if source is None:
        hints = nearest(path, session.files)
        raise problem("not_found", where, f"there is no file {path[:200]!r}", hints)
    try:
        return read_picture(source)
    except FormatError as error:
        raise problem(error.reason, where, error.message, error.hints) from error


def _size(op: Op, picture: PictureFile) -> tuple[float, float]:
    """Return how large a picture is to be; of one side the other follows."""
    width, height = (_side(op, name) for name in ("width", "height"))
    shape = picture.width / picture.height
    if width is not None and height is None:
        return width, min(max(width / shape, 1), MAX_PX)
    if height is not None and width is None:
        return min(max(height * shape, 1), MAX_PX), height
    fitting = min(1.0, MAX_PX / max(picture.width, picture.height))
    return max(1.0, picture.width * fitting), max(1.0, picture.height * fitting)


def _side(op: Op, name: str) -> float | None:
    """Return a side that is asked for; what cannot be one is refused with its place."""
    value = op.args[name]
    if value is None:
        return None
    if not isinstance(value, int | float) or not 1 <= value <= MAX_PX:
        raise problem("bad_value", f"{op.where}.{name}", f"pixels, 1 to {MAX_PX}")
    return float(value)


def delete_drawing(session: Session, op: Op) -> str:
    """Take a chart or a picture off a sheet, and its parts where nothing else uses them."""
    session.flush()
    edit = session.edit(str(op.args["sheet"]), op.where)
    refuse_locked(edit, f"{op.where}.sheet")
    drawn = find_drawn(session, edit.sheet, op.args["name"], f"{op.where}.name")
    if not drawn.is_alone:
        what = "it stands in a group or in a choice of versions with other things"
        raise problem("op_conflict", f"{op.where}.name", what)
    Attachment(session, edit, op.where).remove(drawn.drawing, drawn.at)
    session.charts.pop(drawn.part or "", None)
    aim_drawn(session, edit.sheet, drawn, "removed")
    return f"{edit.sheet.name}: {drawn.words} deleted"

"""Turns the JSON of `*_operations` into checked operations, the same way for every format (F16).

A format lists its operations as `OpSpec`s; `decode` applies aliases, refuses what is not an
operation, checks the type of every field, and names the exact place of a mistake:

    SPECS = (
        OpSpec("merge_cells", (Arg("sheet", str, required=True), Arg("range", str, required=True))),
    )
    decoded = decode(request.operations, SPECS)
    for op in decoded.ops: op.name, op.args["sheet"]

Items of a list (`cells[]`) are checked by the format with `item_fields`, which works alike.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias, TypeGuard

from backshop.base import limits as numbers

from ..errors import FormatError, fail
from ..package.wellformed import xml_allows
from ..protocol import Json, JsonObject, Op, OpsRequest, Source
from ..warning import Warn, Warnings

_COMPARED = 200  # characters of a name that count when close ones are looked for
_SHOWN_CHARS, _OTHERS_SHOWN = 60, 5  # of a name somebody wrote, and how many of them
_ALIKE = 0.55  # of 1: how like a name must be to be asked for
_MISSPELT = 0.85  # of 1: how like a word must be to be the same; "move" is not "remove"
_SAME_THING, _SAME_VERB = 0.5, 0.2  # what shared words add to the likeness of two operations
_SAME_VERBS = (  # words that models take for one another
    frozenset(("set", "write", "update", "edit", "change", "put", "modify")),
    frozenset(("ensure", "add", "create", "new", "make", "insert", "append")),
    frozenset(("delete", "remove", "drop")),
    frozenset(("replace", "find", "search", "substitute")),
)
_TAKES_AWAY = {"delete": "thing", "remove": "thing", "drop": "thing", "clear": "content"}
_SAME_THINGS = {  # by what operations call it
    **dict.fromkeys(("chart", "image", "picture"), frozenset(("drawing",))),
    "cell": frozenset(("range",)),
    "comment": frozenset(("note",)),
    "hyperlink": frozenset(("link",)),
}
_NAMES_OF_OP = ("operation", "action", "type")  # what models write for `op`
FILE_FIELDS: Mapping[str, tuple[str, ...]] = {"add_image": ("image", "picture", "file", "path")}
"""What the field of an operation that names another file is called, its own name first."""
_INTEGER = re.compile(r"[+-]?\d{1,15}")
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,15})?")
_BOOLEAN: Mapping[str, bool] = {"true": True, "false": False}
_KINDS: Mapping[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}

Instead: TypeAlias = Callable[[str], str | None]
"""What can be done instead of an operation that is not offered, by its name; None of others."""


@dataclass(frozen=True, slots=True)
class Arg:
    """A field of an operation. `kind`: str, int, float (any number), bool, list, dict, or object
    (any JSON). A field that is not required may be null. `also` are names that are as good as
    its own; of `aliases` a warning says that they were used."""

    name: str
    kind: type
    required: bool = False
    default: Json = None
    aliases: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpSpec:
    """An operation of a format: its name and fields.

    One with a `topic` is only named under it in the sheet of its kind, and told when asked for.
    """

    name: str
    args: tuple[Arg, ...]
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Operations ready to apply, and what was noticed on the way."""

    ops: tuple[Op, ...]
    warnings: tuple[Warn, ...]


def _nothing_instead(_: str) -> None:
    return None


def decode(
    operations: Json, specs: Sequence[OpSpec], instead_of: Instead = _nothing_instead
) -> Decoded:
    """Check a whole list of operations before any is applied (F16.4).

    `instead_of` says of the name of an operation that is not offered what can be done instead.

    Raises:
        FormatError: `bad_type`, `too_large`, `unknown_op`, `missing_field`, `unknown_field`,
            `op_conflict`; `detail` begins with the place, `operations[3].cells: …`.
    """
    items = _as_list(operations)
    table = {spec.name: spec for spec in specs}
    warnings = Warnings()
    ops = []
    for index, item in enumerate(items):
        where = f"operations[{index}]"
        if not isinstance(item, Mapping):
            raise problem("bad_type", where, f"an operation is an object, not {_kind_of(item)}")
        name, rest = _op(item, table, where, warnings, instead_of)
        ops.append(Op(index, name, fields(rest, table[name].args, where, warnings)))
    return Decoded(tuple(ops), warnings.all())


def _op(
    item: Mapping[str, Json],
    table: Mapping[str, OpSpec],
    where: str,
    warnings: Warnings,
    instead_of: Instead,
) -> tuple[str, dict[str, Json]]:
    """Return which operation an object means, and its other fields."""
    key = "op"
    if item.get("op") is None:
        named = (one for one in _NAMES_OF_OP if _is_op(item.get(one), table))
        key = next(named, "op")
    name = item.get(key)
    if key != "op":
        warnings.add("alias_used", where=f"{where}.{key}")
    if _is_op(name, table):
        return str(name), {one: value for one, value in item.items() if one not in (key, "op")}
    inside = next((one for one in item if one in table), None)
    if name is None and inside is not None:
        what = f'write {{"op": "{inside}", …}} with its fields beside it'
        raise problem("missing_field", f"{where}.op", what, hints=[inside])
    known = list(table)
    if name is None:
        raise problem("missing_field", f"{where}.op", "the name of an operation is needed", known)
    if not isinstance(name, str):
        raise problem("bad_type", f"{where}.op", f"must be text, not {_kind_of(name)}", known)
    instead = instead_of(name)
    if instead is not None:
        what = f"{name[:_SHOWN_CHARS]!r} is not offered"
        raise problem("unknown_op", f"{where}.op", what, hints=[instead])
    meant = meant_op(name, table)
    asked = f"; did you mean {meant}?" if meant else ""
    what = f"{name[:_SHOWN_CHARS]!r} is not an operation{asked}"
    raise problem("unknown_op", f"{where}.op", what, nearest_op(name, table))


def named_files(operations: Json) -> dict[str, str]:
    """Return the files that operations name beside their own: by the name given, where (F36.11).

    Nothing is refused here; what is no operation names nothing.
    """
    operations = read_as(operations, list)
    if not isinstance(operations, Sequence) or isinstance(operations, str):
        return {}
    found: dict[str, str] = {}
    for at, item in enumerate(operations[: numbers.OPS_MAX]):
        given = item if isinstance(item, Mapping) else {}
        names = (given.get(key) for key in ("op", *_NAMES_OF_OP))
        fields = next((FILE_FIELDS[one] for one in names if _is_op(one, FILE_FIELDS)), ())
        for field in fields:
            name = given.get(field)
            if isinstance(name, str):
                found.setdefault(name, f"operations[{at}].{field}")
    return found


def _is_op(name: Json, table: Container[str]) -> TypeGuard[str]:
    return isinstance(name, str) and name in table


def nearest_op(name: str, table: Iterable[str]) -> list[str]:
    """Return operations, first those that are likest: in letters, in words, in what they do.

    Those that take something away stand first where that is asked for, else behind all others.
    """
    asked = name.lower()[:_COMPARED]
    verb, _ = _words(asked)

    def likeness(one: str) -> float:
        does, _ = _words(one)
        same = verb == does or any(verb in group and does in group for group in _SAME_VERBS)
        ratio = difflib.SequenceMatcher(None, asked, one).ratio()
        about = _SAME_THING * len(_shared(asked, one))
        return ratio + about + _SAME_VERB * same - 2 * (_taken(does) != _taken(verb))

    return sorted(table, key=likeness, reverse=True)


def meant_op(name: str, table: Iterable[str]) -> str | None:
    """Return the operation that was meant, None where the likest one is about something else.

    Whoever asks to take a shape away does not mean the slide, and who updates a slide does not
    mean to delete it: what is suggested is done.
    """
    near = next(iter(nearest_op(name, table)), None)
    if near is None:
        return None
    asked = name.lower()[:_COMPARED]
    (verb, words), (does, _) = _words(asked), _words(near)
    if _taken(verb) != _taken(does):
        return None
    is_verb_alone = not words and not _taken(verb) and _is_like(verb, does)
    return near if is_verb_alone or _shared(asked, near) else None


def _words(name: str) -> tuple[str, set[str]]:
    """Return what an operation does, and what it is about, in the singular."""
    verb, *about = name.split("_")
    return verb, {one.removesuffix("s") for one in about}


def _shared(asked: str, op: str) -> set[str]:
    """Return the things of an operation that a name is about too, misspelt or by another word."""
    (_, words), (_, about) = _words(asked), _words(op)
    others = frozenset().union(*(_SAME_THINGS.get(one, ()) for one in words))
    return {one for one in about if one in others or any(_is_like(one, word) for word in words)}


def _taken(verb: str) -> str:
    """Return what an operation of this verb takes away, "" where it takes nothing."""
    return next((what for one, what in _TAKES_AWAY.items() if _is_like(verb, one)), "")


def _is_like(word: str, other: str) -> bool:
    return difflib.SequenceMatcher(None, word, other).ratio() >= _MISSPELT


def fields(
    given: Mapping[str, Json], args: Iterable[Arg], where: str, warnings: Warnings
) -> dict[str, Json]:
    """Return every field of `args` from `given`, checked, with aliases resolved.

    A number or a switch written as text is read (W7.5). A key nobody knows is refused, because it
    says what the caller believed in (F16.6); null says nothing.
    """
    args = tuple(args)
    rest = dict(given)
    result: dict[str, Json] = {}
    for arg in args:
        value = read_as(_unalias(rest, arg, where, warnings), arg.kind)
        if value is not None and not _is_kind(value, arg.kind):
            what = f"must be {_KINDS[arg.kind]}, not {_kind_of(value)}"
            raise problem("bad_type", f"{where}.{arg.name}", what)
        result[arg.name] = arg.default if value is None else value
    refuse_others(rest, (arg.name for arg in args), where)
    for arg in args:
        if arg.required and result[arg.name] is None:
            raise problem("missing_field", f"{where}.{arg.name}", "this field is needed")
    return result


def refuse_others(given: Mapping[str, Json], known: Iterable[str], where: str) -> None:
    """Refuse keys that are none of those known; null says nothing and is passed over."""
    names = list(known)
    others = sorted(str(key) for key, value in given.items() if value is not None)
    others = [key[:_SHOWN_CHARS] for key in others if key not in names]
    if not others:
        return
    first, nor = others[0], "".join(f", nor {one}" for one in others[1:_OTHERS_SHOWN])
    close = _close(first, names)
    asked = f"; did you mean {close[0]}?" if close else ""
    what = f"there is no field {first} here{nor}{asked}"
    raise problem("unknown_field", f"{where}.{first}", what, nearest(first, names, 20))


def _close(name: str, known: Sequence[str]) -> list[str]:
    return difflib.get_close_matches(name.lower()[:_COMPARED], known, n=1, cutoff=_ALIKE)


def read_as(value: Json, kind: type) -> Json:
    """Return a number or a switch that is written as text, where there is no doubt (W7.5)."""
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    text = value.strip()
    if kind is int and _INTEGER.fullmatch(text):
        return int(text)
    if kind is float and _NUMBER.fullmatch(text):
        return float(text)
    if kind is bool:
        return _BOOLEAN.get(text.lower(), value)
    if kind is list and text.startswith("["):
        return _parsed(text)
    return value


def _parsed(text: str) -> Json:
    """Return the list that a text writes down as JSON, else the text."""
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, list) else text


def item_fields(item: Json, args: Iterable[Arg], where: str, warnings: Warnings) -> dict[str, Json]:
    """Check one object of a list inside an operation (`operations[0].cells[2]`)."""
    if not isinstance(item, Mapping):
        raise problem("bad_type", where, f"must be an object, not {_kind_of(item)}")
    return fields(item, args, where, warnings)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A piece of text with its look; `where` is its place in the request."""

    text: str
    style: JsonObject
    where: str


def read_runs(runs: Json, where: str, clean: Callable[[str, str], str]) -> list[RunSpec]:
    """Read a list of runs: texts, or objects with a text and a look.

    `clean` is given a text and its place, and returns it as the file can hold it.
    """
    found = []
    for at, item in enumerate(as_list(runs)):
        place = f"{where}[{at}]"
        given = {"text": item} if isinstance(item, str) else item
        if not isinstance(given, Mapping):
            raise problem("bad_type", place, f"must be text or an object, not {_kind_of(given)}")
        content = given.get("text")
        if content is None:
            raise problem("missing_field", f"{place}.text", "this field is needed")
        if not isinstance(content, str):
            raise problem("bad_type", f"{place}.text", f"must be text, not {_kind_of(content)}")
        style = {k: v for k, v in given.items() if k != "text" and v is not None}
        found.append(RunSpec(clean(content, place), style, place))
    return found


def problem(reason: str, where: str, what: str, hints: Iterable[str] = ()) -> FormatError:
    """Return the error for a place in the request; `detail` is `where: what`."""
    return fail(reason, what, detail=f"{where}: {what}", hints=hints)


def nowhere(unmatched: Sequence[tuple[str, str]], left: Sequence[str] = ()) -> FormatError:
    """Return the refusal of a call that changed nothing: what it sought (place, text) is nowhere.

    A call of which another operation took effect is done, and says of each one what it did. `left`
    are occurrences that were found and stay: how many, and where.
    """
    where, search = unmatched[0]
    if left:
        what = f"nothing was changed: {search!r} occurs only where it stays"
        return problem("no_match", f"{where}.search", what, left)
    sought = ", ".join(repr(text) for _, text in unmatched[1:])
    return problem(
        "no_match",
        f"{where}.search",
        f"nothing was changed: {search!r} occurs nowhere",
        [f"nor does {sought}"] if sought else [],
    )


@dataclass(frozen=True, slots=True)
class Base:
    """What a write starts from; `source` None means a blank document (F16.2)."""

    source: Source | None
    created: bool
    warnings: tuple[Warn, ...] = ()


def resolve_base(existing: Source | None, request: OpsRequest) -> Base:
    """Decide what the operations apply to (F16.2, F16.15).

    Raises:
        FormatError: `not_found`, `unsupported_format` (copy of another kind), `op_conflict`.
    """
    create = request.create_new
    if request.copy_from is not None:
        if _ending(request.copy_from.name) != _ending(request.name):
            raise fail("unsupported_format", "a copy must be of the same kind as its source")
        if existing is not None and create is not True:
            raise fail("op_conflict", f"{request.name!r} exists already")
        warnings = (Warn("replaced_existing"),) if existing is not None else ()
        return Base(request.copy_from, existing is None, warnings)
    if existing is None:
        if create is False or not (create or request.create_if_missing):
            way = "create_if_missing: true makes it"  # its name may be a typing mistake
            raise fail("not_found", f"there is no file {request.name!r}", hints=[way])
        return Base(None, True)
    if create is True:
        return Base(None, False, (Warn("replaced_existing"),))
    return Base(existing, False)


def strip_controls(text: str, warnings: Warnings, where: str | None = None) -> str:
    """Return text without the characters XML 1.0 cannot hold (F16.12)."""
    clean = "".join(c for c in text if xml_allows(c))
    if len(clean) != len(text):
        warnings.add("control_chars_removed", len(text) - len(clean), where)
    return clean


def nearest(name: str, known: Iterable[str], most: int = 5) -> list[str]:
    """Return the names closest to `name`, best first, for hints (F3.1)."""
    matcher = difflib.SequenceMatcher(b=name.lower()[:_COMPARED])

    def likeness(known: str) -> float:
        matcher.set_seq1(known.lower()[:_COMPARED])
        return matcher.ratio()

    return sorted(dict.fromkeys(known), key=likeness, reverse=True)[:most]


def section_hints(wanted: str, sections: Iterable[tuple[int, str]]) -> list[str]:
    """Return sections as `index: heading`, those closest to what was asked for first (F3.1)."""
    digits = wanted.strip()
    number = int(digits) if digits.isdecimal() and len(digits) < 10 else None
    name = wanted.casefold()[:_COMPARED]

    def distance(section: tuple[int, str]) -> float:
        if number is not None:
            return abs(section[0] - number)
        return -difflib.SequenceMatcher(None, name, section[1].casefold()[:_COMPARED]).ratio()

    return [f"{index}: {heading}" for index, heading in sorted(sections, key=distance)]


def _as_list(operations: Json) -> Sequence[Json]:
    operations = read_as(operations, list)
    if not isinstance(operations, Sequence) or isinstance(operations, str):
        what = f"must be a list of objects, not {_kind_of(operations)}"
        raise problem("bad_type", "operations", what)
    if not operations:
        raise problem("missing_field", "operations", "at least one operation is needed")
    if len(operations) > numbers.OPS_MAX:
        raise problem("too_large", "operations", f"at most {numbers.OPS_MAX} in one call")
    return operations


def _unalias(rest: dict[str, Json], arg: Arg, where: str, warnings: Warnings) -> Json:
    value = rest.pop(arg.name, None)
    for alias in (*arg.also, *arg.aliases):
        other = rest.pop(alias, None)
        if other is None:
            continue
        if value is not None and other != value:
            raise problem("op_conflict", f"{where}.{alias}", f"differs from {arg.name}")
        if alias in arg.aliases:
            warnings.add("alias_used", where=f"{where}.{alias}")
        value = other
    return value


def _is_kind(value: Json, kind: type) -> bool:
    if kind is object:
        return True
    if isinstance(value, bool):
        return kind is bool
    if kind is float:
        return isinstance(value, int | float)
    if kind is list:
        return isinstance(value, Sequence) and not isinstance(value, str)
    if kind is dict:
        return isinstance(value, Mapping)
    return isinstance(value, kind)


def _kind_of(value: Json) -> str:
    """Return in words what a value is."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "an object" if isinstance(value, Mapping) else "a list"


def _ending(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def as_list(value: Json) -> Sequence[Json]:
    """Return a JSON list after `fields` has checked that it is one."""
    assert isinstance(value, Sequence)
    return value

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from backshop.base import limits as numbers

from ..errors import FormatError, fail
from ..package.wellformed import xml_allows
from ..protocol import Json, JsonObject, Op, OpsRequest, Source
from ..warning import Warn, Warnings

_COMPARED = 200  # characters of a name that count when close ones are looked for


@dataclass(frozen=True, slots=True)
class Arg:
    """A field of an operation. `kind`: str, int, float (any number), bool, list, dict, or object
    (any JSON). A field that is not required may be null."""

    name: str
    kind: type
    required: bool = False
    default: Json = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpSpec:
    """An operation of a format: its name and fields."""

    name: str
    args: tuple[Arg, ...]


@dataclass(frozen=True, slots=True)
class Decoded:
    """Operations ready to apply, and what was noticed on the way."""

    ops: tuple[Op, ...]
    warnings: tuple[Warn, ...]


def decode(operations: Json, specs: Sequence[OpSpec]) -> Decoded:
    """Check a whole list of operations before any is applied (F16.4).

    Raises:
        FormatError: `bad_type`, `too_large`, `unknown_op`, `missing_field`, `unknown_field`,
            `op_conflict`; `detail` begins with the place, `operations[3].cells: …`.
    """
    items = _as_list(operations)
    table = {spec.name: spec for spec in specs}
    foreign = {name for spec in specs for arg in spec.args for name in (arg.name, *arg.aliases)}
    warnings = Warnings()
    ops = []
    for index, item in enumerate(items):
        where = f"operations[{index}]"
        if not isinstance(item, Mapping):
            raise problem("bad_type", where, "an operation is an object")
        name = item.get("op")
        if not isinstance(name, str) or name not in table:
            near = difflib.get_close_matches(str(name), table, n=3, cutoff=0.5)
            known = [*near, *(word for word in table if word not in near)]
            reason = "missing_field" if name is None else "unknown_op"
            raise problem(reason, f"{where}.op", f"{name!r} is not an operation", hints=known)
        rest = {key: value for key, value in item.items() if key != "op"}
        args = fields(rest, table[name].args, where, warnings, foreign=foreign)
        ops.append(Op(index, name, args))
    return Decoded(tuple(ops), warnings.all())


def fields(
    given: Mapping[str, Json],
    args: Iterable[Arg],
    where: str,
    warnings: Warnings,
    *,
    foreign: Iterable[str] = (),
) -> dict[str, Json]:
    """Return every field of `args` from `given`, checked, with aliases resolved.

    A key nobody knows is noted and ignored; a key of another operation (`foreign`) is an error,
    because it says that the wrong operation was chosen (F16.6).
    """
    args = tuple(args)
    rest = dict(given)
    result: dict[str, Json] = {}
    for arg in args:
        value = _unalias(rest, arg, where, warnings)
        if value is None and arg.required:
            raise problem("missing_field", f"{where}.{arg.name}", "this field is needed")
        if value is not None and not _is_kind(value, arg.kind):
            wanted = "a number" if arg.kind is float else arg.kind.__name__
            raise problem("bad_type", f"{where}.{arg.name}", f"must be {wanted}")
        result[arg.name] = arg.default if value is None else value
    for key in rest:
        if key in foreign:
            allowed = [arg.name for arg in args]
            raise problem("unknown_field", f"{where}.{key}", "another operation's field", allowed)
        warnings.add("unknown_field_ignored", where=f"{where}.{key}")
    return result


def item_fields(item: Json, args: Iterable[Arg], where: str, warnings: Warnings) -> dict[str, Json]:
    """Check one object of a list inside an operation (`operations[0].cells[2]`)."""
    if not isinstance(item, Mapping):
        raise problem("bad_type", where, "must be an object")
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
            raise problem("bad_type", place, "must be an object")
        content = given.get("text")
        if content is None:
            raise problem("missing_field", f"{place}.text", "this field is needed")
        if not isinstance(content, str):
            raise problem("bad_type", f"{place}.text", "must be str")
        style = {k: v for k, v in given.items() if k != "text" and v is not None}
        found.append(RunSpec(clean(content, place), style, place))
    return found


def problem(reason: str, where: str, what: str, hints: Iterable[str] = ()) -> FormatError:
    """Return the error for a place in the request; `detail` is `where: what`."""
    return fail(reason, what, detail=f"{where}: {what}", hints=hints)


def nowhere(unmatched: Sequence[tuple[str, str]]) -> FormatError:
    """Return the refusal of a call that changed nothing: what it sought (place, text) is nowhere.

    A call of which another operation took effect is done, and says of each one what it did.
    """
    where, search = unmatched[0]
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
    if not isinstance(operations, Sequence) or isinstance(operations, str):
        raise problem("bad_type", "operations", "must be a list")
    if not operations:
        raise problem("missing_field", "operations", "at least one operation is needed")
    if len(operations) > numbers.OPS_MAX:
        raise problem("too_large", "operations", f"at most {numbers.OPS_MAX} in one call")
    return operations


def _unalias(rest: dict[str, Json], arg: Arg, where: str, warnings: Warnings) -> Json:
    value = rest.pop(arg.name, None)
    for alias in arg.aliases:
        other = rest.pop(alias, None)
        if other is None:
            continue
        if value is not None and other != value:
            raise problem("op_conflict", f"{where}.{alias}", f"differs from {arg.name}")
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


def _ending(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def as_list(value: Json) -> Sequence[Json]:
    """Return a JSON list after `fields` has checked that it is one."""
    assert isinstance(value, Sequence)
    return value

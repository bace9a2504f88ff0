"""Keep the golden file of stored events: every kind and version, its shape, and samples (T5.2).

golden.py                    add new kinds and versions; an unreleased one may still change
golden.py --check            say what differs; changes nothing
golden.py --release VERSION  mark everything not yet marked as part of a release
"""

from __future__ import annotations

import json
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import backshop
from backshop.base.canon import canonical
from backshop.base.codec import compact, schema
from backshop.base.event import EventType, from_body, registered, to_data

FILE = Path(__file__).resolve().parent.parent / "tests" / "golden" / "events.jsonl"
WAY_OUT = "run `make golden` and commit tests/golden/events.jsonl"


@dataclass(frozen=True)
class Line:
    """One kind in one version: its shape as JSON Schema, and stored bodies that must stay readable."""

    kind: str
    v: int
    release: str | None
    shape: dict[str, Any]
    samples: list[dict[str, Any]]

    @property
    def key(self) -> tuple[str, int]:
        """What there is one line of."""
        return self.kind, self.v


def product_events() -> tuple[EventType, ...]:
    """Load every room and return the facts they register."""
    for module in pkgutil.walk_packages(backshop.__path__, "backshop."):
        if not module.name.startswith("backshop.testing") and not module.name.endswith("__main__"):
            import_module(module.name)
    ours = (kind for kind in registered() if kind.cls.__module__.startswith("backshop."))
    return tuple(kind for kind in ours if not kind.cls.__module__.startswith("backshop.testing"))


def read(path: Path = FILE) -> list[Line]:
    """Return the lines of the golden file."""
    return [Line(**json.loads(text)) for text in path.read_text(encoding="utf-8").splitlines()]


def write(lines: Iterable[Line], path: Path = FILE) -> None:
    """Write the lines, one kind and version each, so that two branches rarely meet in one."""
    rows = sorted(lines, key=lambda line: line.key)
    path.write_text(
        "".join(json.dumps(vars(row), ensure_ascii=False, sort_keys=True) + "\n" for row in rows),
        encoding="utf-8",
    )


def line_of(kind: EventType) -> Line:
    """Return the line an event has now."""
    shape = _bare(compact(schema(kind.cls)))
    samples = [_stored(kind, _sample(shape, shape, full=full)) for full in (False, True)]
    distinct = samples if samples[0] != samples[1] else samples[:1]
    return Line(kind.name, kind.version, None, shape, distinct)


def problems(golden: Iterable[Line], events: Sequence[EventType]) -> Iterator[str]:
    """Yield what is wrong, each with what to do about it."""
    known = {line.key: line for line in golden}
    missing = [kind for kind in events if (kind.name, kind.version) not in known]
    if missing:
        names = ", ".join(f"{kind.name} v{kind.version}" for kind in missing)
        yield f"not in the golden file yet: {names}: {WAY_OUT}"
    for kind in events:
        line = known.get((kind.name, kind.version))
        if line is not None and line.shape != line_of(kind).shape:
            yield _changed(kind, line)
    for line in known.values():
        yield from _unreadable(line)


def updated(golden: Iterable[Line], events: Sequence[EventType]) -> list[Line]:
    """Return the golden lines with new kinds added; released lines stay as they are."""
    lines = {line.key: line for line in golden}
    for kind in events:
        line = line_of(kind)
        if line.key not in lines or lines[line.key].release is None:
            lines[line.key] = line
    names = {kind.name for kind in events}
    return [line for line in lines.values() if line.release is not None or line.kind in names]


def _changed(kind: EventType, line: Line) -> str:
    if line.release is None:
        return f"{kind.name} v{kind.version} changed and was never released: {WAY_OUT}"
    return (
        f"{kind.name} v{kind.version} changed, but homes of release {line.release} hold it as it"
        f" was: give {kind.cls.__name__} v={kind.version + 1} with an upgrader from"
        f" {kind.version} (base.event), then {WAY_OUT}"
    )


def _unreadable(line: Line) -> Iterator[str]:
    for sample in line.samples:
        try:
            fact = from_body(line.kind, line.v, canonical(sample))
            again = to_data(fact)
            from_body(line.kind, _version(line.kind), canonical(again))
        except Exception as error:
            yield f"{line.kind} v{line.v} as it was stored cannot be read any more: {error}"
            return
        if line.v == _version(line.kind) and again != sample:
            yield f"{line.kind} v{line.v} reads back as {again}, it was stored as {sample}"


def _version(name: str) -> int:
    return next(kind.version for kind in registered() if kind.name == name)


def _stored(kind: EventType, data: Any) -> dict[str, Any]:
    """Return the body as it is stored."""
    return to_data(from_body(kind.name, kind.version, canonical(data)))


def _bare(node: Any) -> Any:
    """Return a schema without prose: a better description changes nothing that is stored."""
    if isinstance(node, list):
        return [_bare(one) for one in node]
    if not isinstance(node, dict):
        return node
    named = ("properties", "$defs")
    return {
        key: {name: _bare(part) for name, part in value.items()} if key in named else _bare(value)
        for key, value in node.items()
        if key != "description" or not isinstance(value, str)
    }


def _sample(node: dict[str, Any], root: dict[str, Any], *, full: bool) -> Any:
    """Return the smallest value of a schema, or with `full` one that has every field."""
    if "$ref" in node:
        return _sample(root["$defs"][node["$ref"].rpartition("/")[2]], root, full=full)
    if "const" in node or "enum" in node:
        return node["const"] if "const" in node else node["enum"][-1 if full else 0]
    for options in (node.get("anyOf"), node.get("oneOf")):
        if options:
            return _sample(options[0], root, full=full)
    if node.get("type") == "array":
        return _sample_array(node, root, full=full)
    if node.get("type") == "object":
        return _sample_object(node, root, full=full)
    if node.get("format") == "date-time":
        return "2026-01-02T03:04:05.678901Z"
    plain = {"string": "täxt", "integer": 7, "number": 0.5, "boolean": full, "null": None}
    return plain.get(node.get("type", ""), {"any": [1, "two", None]} if full else "any")


def _sample_array(node: dict[str, Any], root: dict[str, Any], *, full: bool) -> list[Any]:
    if "prefixItems" in node:
        return [_sample(one, root, full=full) for one in node["prefixItems"]]
    return [_sample(node.get("items", {}), root, full=full)] if full else []


def _sample_object(node: dict[str, Any], root: dict[str, Any], *, full: bool) -> dict[str, Any]:
    fields = node.get("properties")
    if fields is None:
        values = node.get("additionalProperties")
        return {"key": _sample(values if isinstance(values, dict) else {}, root, full=full)}
    wanted = fields if full else node.get("required", [])
    return {name: _sample(fields[name], root, full=full) for name in wanted}


def main(arguments: list[str]) -> int:
    """Run the command."""
    golden, events = read() if FILE.exists() else [], product_events()
    if arguments == ["--check"]:
        found = list(problems(golden, events))
        print("\n".join(found) or f"{len(golden)} stored events are as they were")
        return 1 if found else 0
    if arguments[:1] == ["--release"]:
        write(replace(line, release=line.release or arguments[1]) for line in golden)
        return 0
    lines = updated(golden, events)
    write(lines)
    found = list(problems(lines, events))
    print("\n".join(found) or f"{len(lines)} kinds and versions are kept")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

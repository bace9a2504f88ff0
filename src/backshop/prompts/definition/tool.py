"""A tool a model may call: defined once, used by the agent loop, by MCP and by tests (P1.17)."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cached_property
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

from backshop.base import codec
from backshop.base.canon import canonical, sha256_hex
from backshop.base.errors import ValidationFailed
from backshop.base.media.image import Image
from backshop.base.tool_argument import argument_problems, forgiven, told

from ..callables import fits, is_generator, named_types
from ..errors import PromptValidationError
from ..slices import SessionView

Effects = Literal["read", "write", "exec", "state"]
EFFECTS: tuple[str, ...] = get_args(Effects)
DESCRIPTION_MAX_BYTES = 1200
DEFAULT_TIMEOUT_S = 30

T = TypeVar("T")
_NAME = re.compile(r"[a-z0-9_-]{1,64}")
_CODE = re.compile(r"[a-z][a-z0-9_]*")
_SCALARS = (str, int, float, bool, NoneType)


@runtime_checkable
class ToolSession(Protocol):
    """What a handler may do with the prompt session it runs in."""

    def view(self) -> SessionView:
        """Return the session's state, read-only."""
        ...

    def dispatch(self, event: object) -> object:
        """Record an event; it is kept only if the tool succeeds (P2.12)."""
        ...


class Cancel(Protocol):
    """Whether the person asked to stop."""

    @property
    def requested(self) -> bool:
        """Say whether to stop at the next safe place."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Where a call happens. Everything is optional: a tool called over MCP has no prompt.

    `workspace` and `resources` carry what a room gives its own tools; ask for it by type with
    `resource`, so that a handler gets a typed object or a clear error.
    """

    prompt: object | None = None
    rendered: object | None = None
    adapter: object | None = None
    session: ToolSession | None = None
    limits: object | None = None
    cancel: Cancel | None = None
    workspace: object | None = None
    resources: Mapping[type, object] = field(default_factory=dict)

    def resource(self, kind: type[T]) -> T:
        """Return the resource of this type, or the workspace if it is one.

        Raises:
            ValidationFailed: `no_resource`, the caller of the tool did not provide it.
        """
        for candidate in (self.resources.get(kind), self.workspace):
            if isinstance(candidate, kind):
                return candidate
        raise ValidationFailed(f"no {kind.__name__} was given to this call", reason="no_resource")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to. `message` is for the model; `value` is JSON or a dataclass.

    Failures carry a lower-case `code`; they are answers, not exceptions.
    """

    ok: bool
    message: str
    value: object = None
    code: str | None = None
    image: Image | None = None
    """What it shows, for models that take pictures; the text stands by itself (W26.2)."""

    def __post_init__(self) -> None:
        if not self.ok and (self.code is None or _CODE.fullmatch(self.code) is None):
            raise PromptValidationError(
                "a failed tool result needs a lower-case code", code="BAD_TOOL_RESULT"
            )

    @classmethod
    def failure(cls, code: str, message: str, value: object = None) -> ToolResult:
        """Return a failed result."""
        return cls(ok=False, message=message, value=value, code=code)

    def data(self) -> Any:
        """Return `value` as JSON; dataclasses are encoded."""
        plain = self.value is None or isinstance(self.value, (str, int, float, bool))
        return self.value if plain else codec.encode(self.value)

    def text(self) -> str:
        """Return what the model receives: the message, and below it the JSON of the value."""
        if self.value is None:
            return self.message
        body = json.dumps(self.data(), ensure_ascii=False, allow_nan=False)
        return f"{self.message}\n{body}" if self.message else body


Handler = Callable[..., ToolResult | Awaitable[ToolResult]]
"""`(params, *, context: ToolContext) -> ToolResult`, or the same as `async def`.

`params` is None for a tool without any."""


@dataclass(frozen=True, eq=False)
class Tool:
    """Name, description, typed parameters and a handler. Compared by identity (P1.17).

    `params` and `result` are dataclass types. Field metadata: `description`, and the limits
    `ge`, `le`, `min_length`, `max_length`, `pattern`, which decoding enforces.
    """

    name: str
    description: str
    params: type | None
    handler: Handler = field(repr=False)
    _: KW_ONLY
    effects: Effects
    result: type | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    accepts_overrides: bool = True
    aliases: tuple[str, ...] = ()
    """Names it had before: it answers to them and is not listed under them (W7.12)."""

    def __post_init__(self) -> None:
        size = len(self.description.encode())
        for name in (self.name, *self.aliases):
            _refuse_if(_NAME.fullmatch(name) is None, f"{name!r} is not a tool name")
        _refuse_if(
            not 1 <= size <= DESCRIPTION_MAX_BYTES,
            f"the description of {self.name} has {size} bytes, not 1–{DESCRIPTION_MAX_BYTES}",
        )
        _refuse_if(self.effects not in EFFECTS, f"{self.effects!r} is no effect of a tool")
        _refuse_if(not self.timeout_s > 0, f"{self.name} needs a time limit above 0")
        _refuse_if(not callable(self.handler), f"the handler of {self.name} cannot be called")
        for kind in (self.params, self.result):
            if kind is not None:
                _check_dataclass(kind, self.name, ())
        self._check_handler()

    def _check_handler(self) -> None:
        """Refuse a handler that could not answer a call, where it is handed over (P1.17)."""
        name, handler = f"the handler of {self.name}", self.handler
        _refuse_if(
            not fits(handler, None, context=None),
            f"{name} cannot be called as handler(params, context=context)",
        )
        _refuse_if(is_generator(handler), f"{name} is a generator; it returns one ToolResult")
        named = named_types(handler)
        answer = named.pop("return", None)
        _refuse_if(
            answer is not None and not _may_be_result(answer),
            f"{name} returns {_spelled(answer)}; it returns a ToolResult",
        )
        taken = next(iter(named.values()), None)
        _refuse_if(
            is_dataclass(taken) and taken is not ToolContext and not _takes(taken, self.params),
            f"{name} takes {_spelled(taken)}, the tool's params are {_spelled(self.params)}",
        )

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments as authored; strict form is M9.2's business."""
        if self.params is None:
            return {"type": "object", "properties": {}, "additionalProperties": False}
        return tidy_schema(codec.schema(self.params))

    @cached_property
    def result_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of `value`, or None where the tool promises no shape."""
        return None if self.result is None else tidy_schema(codec.schema(self.result))

    @cached_property
    def contract_hash(self) -> str:
        """What an override of this tool's description is bound to (P3.4)."""
        return sha256_hex(canonical([self.description, self.schema, self.result_schema]))

    def decode(self, arguments: Mapping[str, object]) -> Any:
        """Return the params of a call; null for an optional field means its default.

        What says the right thing in the wrong form is read as it is meant (W7.5).

        Raises:
            ValidationFailed: `bad_arguments`, with up to ten problems as hints.
        """
        if self.params is None:
            if any(value is not None for value in arguments.values()):
                raise ValidationFailed(f"{self.name} takes no arguments", reason="bad_arguments")
            return None
        meant = _without_nulls(self.schema, self.schema, forgiven(dict(arguments), self.schema))
        try:
            return codec.decode(self.params, meant)
        except ValidationFailed as error:
            found = argument_problems(meant, self.schema) or error.hints
            said = told(self.name, self.schema, found) if found else error.message
            raise ValidationFailed(said, reason="bad_arguments", hints=found) from error


def _may_be_result(annotation: Any) -> bool:
    """Say whether an annotated answer can be a ToolResult, awaited or not."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in (Any, object, ToolResult) or isinstance(annotation, TypeVar):
        return True
    if origin in (Union, UnionType):
        return any(_may_be_result(one) for one in inner)
    if origin is Annotated:
        return _may_be_result(inner[0])
    if isinstance(origin, type) and issubclass(origin, Awaitable):
        return _may_be_result(inner[-1])
    return isinstance(annotation, type) and issubclass(annotation, (ToolResult, Awaitable))


def _takes(annotation: Any, params: type | None) -> bool:
    return params is not None and (
        not isinstance(annotation, type) or issubclass(params, annotation)
    )


def _spelled(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or str(annotation)


def _refuse_if(broken: bool, message: str) -> None:
    if broken:
        raise PromptValidationError(message, code="BAD_TOOL")


def _check_dataclass(kind: type, tool: str, seen: tuple[type, ...]) -> None:
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise PromptValidationError(
            f"params of {tool} are not a dataclass type", code="PARAMS_NOT_DATACLASS"
        )
    if kind in seen:
        return
    try:
        hints = get_type_hints(kind, include_extras=False)
    except NameError as error:
        raise PromptValidationError(
            f"a type in {kind.__name__} cannot be found: {error}",
            code="UNSUPPORTED_FIELD",
            params_type=kind.__name__,
        ) from error
    for one in fields(kind):
        _check_type(hints[one.name], tool, f"{kind.__name__}.{one.name}", (*seen, kind))


def _check_type(annotation: Any, tool: str, where: str, seen: tuple[type, ...]) -> None:
    annotation = getattr(annotation, "__supertype__", annotation)  # NewType
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in _SCALARS or annotation in (object, Any) or origin is Literal:
        return
    if origin is Annotated:
        return _check_type(inner[0], tool, where, seen)
    if origin in (list, tuple, dict, Union, UnionType):
        for part in inner:
            if part is not Ellipsis:
                _check_type(part, tool, where, seen)
        return
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return
    if isinstance(annotation, type) and is_dataclass(annotation):
        return _check_dataclass(annotation, tool, seen)
    raise PromptValidationError(
        f"{where} has a type no tool can take", code="UNSUPPORTED_FIELD", params_type=where
    )


def tidy_schema(node: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without what costs tokens and says nothing to a model.

    Titles, class docstrings, and the null of optional fields go; objects say that they are
    closed; definitions stand where they are used, unless they contain themselves (W7.3).
    """
    small: dict[str, Any] = codec.compact(node)
    definitions: dict[str, Any] = small.get("$defs", {})
    found: dict[str, Any] = _inlined(small, definitions, ())
    if "$ref" not in str(found):
        found.pop("$defs", None)
    return found


def _inlined(node: Any, definitions: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inlined(one, definitions, inside) for one in node]
    if not isinstance(node, dict):
        return node
    name = node["$ref"].removeprefix("#/$defs/") if isinstance(node.get("$ref"), str) else ""
    if name in definitions and name not in inside and not _recurs(name, definitions):
        own = {key: one for key, one in node.items() if key != "$ref"}
        merged = {**definitions[name], **own}
        return _inlined(merged, definitions, (*inside, name))
    return {key: _inlined(one, definitions, inside) for key, one in node.items()}


def _recurs(name: str, definitions: dict[str, Any]) -> bool:
    """Whether a definition leads back to itself."""
    seen: set[str] = set()
    left = [name]
    while left:
        text = json.dumps(definitions.get(left.pop(), {}))
        for found in re.findall(r"#/\$defs/([^\"]+)", text):
            if found == name:
                return True
            if found not in seen:
                seen.add(found)
                left.append(found)
    return False


def _without_nulls(root: dict[str, Any], schema: dict[str, Any], value: object) -> object:
    """Leave out nulls of properties that are not required, as deep as the schema is plain."""
    schema = _resolved(root, schema)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_without_nulls(root, schema["items"], item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if "properties" not in schema:
        chosen = _option(root, schema, value)
        return value if chosen is None else _without_nulls(root, chosen, value)
    required = schema.get("required", ())
    return {
        key: _without_nulls(root, schema["properties"].get(key, {}), item)
        for key, item in value.items()
        if item is not None or key in required or key not in schema["properties"]
    }


def _option(
    root: dict[str, Any], schema: dict[str, Any], value: Mapping[str, object]
) -> dict[str, Any] | None:
    """Return the one object of a union whose constants the value has, if it is one."""
    options = [_resolved(root, one) for one in schema.get("anyOf", schema.get("oneOf", ()))]
    fitting = [
        one
        for one in options
        if "properties" in one
        and all(
            value.get(name) == part["const"]
            for name, part in one["properties"].items()
            if "const" in part
        )
    ]
    return fitting[0] if len(fitting) == 1 else None


def _resolved(root: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    found: dict[str, Any] = root.get("$defs", {}).get(name, {}) if name else schema
    return found

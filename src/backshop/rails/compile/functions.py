"""Functions of a workflow: named texts that steps refer to (R1.34)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backshop.rails.definition.finding import Findings, escaped
from backshop.rails.definition.template import type_name
from backshop.rails.definition.workflow import FunctionCall, FunctionDefinition, Parameter, Step

from .fields import Fields, did_you_mean
from .model import Function

JSON_TYPES = ("string", "number", "integer", "boolean", "array", "object")
_NAMES = {"array": "list", "integer": "number"}


def read_functions(owner: Fields) -> tuple[FunctionDefinition, ...]:
    """Read the function definitions of a workflow, loop or step (R1.34)."""
    return tuple(_function(one) for one in owner.each("functionDefinitions"))


def read_function_calls(owner: Fields) -> tuple[FunctionCall, ...]:
    """Read the uses of functions with arguments."""
    found = []
    for fields in owner.each("functionCalls"):
        args = fields.members("args")
        found.append(
            FunctionCall(
                pointer=fields.pointer,
                name=fields.text("name", required=True) or "",
                args=dict(args.data) if args else {},
            )
        )
        fields.done()
    return tuple(found)


def _function(fields: Fields) -> FunctionDefinition:
    function = FunctionDefinition(
        name=fields.text("name", required=True) or "",
        definition=fields.text("definition", required=True) or "",
        parameters=tuple(_parameter(one) for one in fields.each("parameters")),
    )
    fields.choice("scope", ("workflow", "loop", "step"))
    fields.done()
    return function


def _parameter(fields: Fields) -> Parameter:
    parameter = Parameter(
        name=fields.text("name", required=True) or "",
        type=fields.choice("type", JSON_TYPES) or "",
        required=fields.flag("required"),
        options=tuple(fields.items("enum")),
        description=fields.text("description", 0) or "",
    )
    fields.done("default")
    return parameter


Scope = tuple[str, str, Mapping[str, FunctionDefinition]]
"""Where definitions were given: `step`, `loop` or `workflow`, its owner's id, and them by name."""


def scope(word: str, owner: str, definitions: Sequence[FunctionDefinition]) -> Scope:
    """Return the scope that a step, loop or workflow opens."""
    return word, owner, {one.name: one for one in definitions}


def used_functions(step: Step, around: Sequence[Scope], findings: Findings) -> tuple[Function, ...]:
    """Return the definitions a step shows, nearest scope first, then by name.

    `around` lists the enclosing loops from the innermost outwards, then the workflow.
    """
    scopes = (scope("step", step.id, step.functions), *around)
    wanted = [
        (f"{step.pointer}/functionReferences/{index}", written.removesuffix("()"))
        for index, written in enumerate(step.function_refs)
    ]
    wanted += [(f"{call.pointer}/name", call.name) for call in step.function_calls]
    found: dict[str, tuple[int, Function]] = {}
    for pointer, name in wanted:
        where = next((at for at, one in enumerate(scopes) if name in one[2]), None)
        if where is None:
            known = {key for one in scopes for key in one[2]}
            message = f"no function `{name}` is defined here{did_you_mean(name, known)}"
            findings.error("WF_FUNCTION_UNKNOWN", pointer, message)
            continue
        found[name] = (where, _compiled(scopes[where], name))
    for call in step.function_calls:
        if call.name in found:
            _check_call(call, scopes[found[call.name][0]][2][call.name], findings)
    return tuple(one for _, one in sorted(found.values(), key=lambda pair: (pair[0], pair[1].name)))


def _compiled(scope: Scope, name: str) -> Function:
    word, owner, definitions = scope
    function = definitions[name]
    return Function(
        id=f"{word}:{name}" if word == "workflow" else f"{word}:{owner}:{name}",
        name=name,
        scope=word,
        definition=function.definition,
        parameters=tuple(_shown(one) for one in function.parameters),
    )


def _shown(parameter: Parameter) -> dict[str, object]:
    shown: dict[str, object] = {"name": parameter.name, "required": parameter.required}
    if parameter.type:
        shown["type"] = parameter.type
    if parameter.options:
        shown["enum"] = list(parameter.options)
    if parameter.description:
        shown["description"] = parameter.description
    return shown


def _check_call(call: FunctionCall, function: FunctionDefinition, findings: Findings) -> None:
    known = {one.name: one for one in function.parameters}
    for parameter in function.parameters:
        if parameter.required and parameter.name not in call.args:
            message = f"{call.name}() needs the argument `{parameter.name}`"
            findings.error("WF_SCHEMA", f"{call.pointer}/args", message)
    for key, value in call.args.items():
        pointer = f"{call.pointer}/args/{escaped(key)}"
        if key not in known:
            message = f"{call.name}() has no parameter `{key}`{did_you_mean(key, known)}"
            findings.error("WF_SCHEMA", pointer, message)
        elif problem := _mismatch(known[key], value):
            findings.error("WF_SCHEMA", pointer, problem)


def _mismatch(parameter: Parameter, value: object) -> str | None:
    wanted = _NAMES.get(parameter.type, parameter.type)
    if wanted and type_name(value) != wanted:
        return f"`{parameter.name}` is a {parameter.type}, not {type_name(value)}"
    if parameter.type == "integer" and not isinstance(value, int):
        return f"`{parameter.name}` is an integer"
    if parameter.options and value not in parameter.options:
        return f"`{parameter.name}` is one of {', '.join(map(str, parameter.options))}"
    return None

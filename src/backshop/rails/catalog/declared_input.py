"""What a workflow asks for before it begins: files to work on, and names it gives (W25.4).

Read from the `userInputs` of its steps (R8.20): a document that goes into a context key is a file,
and a choice that binds nobody is a name with a proposal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..compile import CompiledStep, UserInput
from ..definition.identity import SourceKind
from ..errors import RailsError
from .catalog import Listing, Workflow

_FILE, _CHOICE, _FREE = "needs_user_artifact", "needs_user_choice", "preference_tradeoff"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredInput:
    """One input; `name` is the context key its value goes into."""

    name: str
    prompt: str
    is_file: bool
    proposal: str | None = None
    """What a choice is, where nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A workflow, and what it asks for."""

    workflow_id: str
    name: str
    description: str
    inputs: tuple[DeclaredInput, ...]


def declared(found: Workflow) -> Declared:
    """Return what a workflow asks for, each once, in the order of its steps."""
    inputs: dict[str, DeclaredInput] = {}
    for one in _asked(found.compiled.steps):
        if one.context_key is not None and one.context_key not in inputs:
            inputs[one.context_key] = DeclaredInput(
                name=one.context_key,
                prompt=one.prompt,
                is_file=one.reason == _FILE,
                proposal=one.options[0] if one.reason == _CHOICE else None,
            )
    return Declared(
        workflow_id=found.entry.workflow_id,
        name=found.compiled.name,
        description=found.compiled.description,
        inputs=tuple(inputs.values()),
    )


def declared_anywhere(listing: Listing) -> list[Declared]:
    """Return the workflows of people that ask for something, by id; bundled ones are not theirs."""
    found = []
    for entry in listing.entries.values():
        if entry.source.kind is SourceKind.BUNDLED:
            continue
        try:
            one = declared(listing.load(entry.workflow_id))
        except RailsError:  # it cannot run; the catalogue says why
            continue
        found += [one] if one.inputs else []
    return sorted(found, key=lambda one: one.workflow_id)


def file_input(name: str, prompt: str) -> dict[str, object]:
    """Return the `userInputs` entry of a file."""
    return {"id": name, "reason": _FILE, "prompt": prompt, "contextKey": name}


def name_input(name: str, prompt: str, proposal: str) -> dict[str, object]:
    """Return the `userInputs` entry of a name that the person may choose."""
    return {
        "id": name,
        "reason": _CHOICE,
        "choiceKind": _FREE,
        "prompt": prompt,
        "contextKey": name,
        "options": [proposal],
    }


def _asked(steps: tuple[CompiledStep, ...]) -> Iterator[UserInput]:
    for step in steps:
        yield from filter(_counts, step.user_inputs)
        yield from _asked(step.body or ())


def _counts(one: UserInput) -> bool:
    is_name = one.choice_kind == _FREE and len(one.options) == 1
    return one.reason == _FILE or (one.reason == _CHOICE and is_name)

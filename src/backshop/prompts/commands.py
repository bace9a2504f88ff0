"""The commands about prompts: name, request, response and the facade's method (P7.12)."""

from __future__ import annotations

from functools import partial
from typing import Any

from backshop.base.command import Command, method_command

from .service import Prompts

_command = partial(method_command, phase="settings")
_look = partial(_command, role="read", anybody=True)
_own = partial(_command, role="owner", writes=True)


COMMANDS: tuple[Command[Prompts, Any, Any], ...] = (
    _look("PromptsList", "List the prompts.", Prompts.list),
    _look(
        "PromptsGet", "Show a prompt, its sections and what of it can be overridden.", Prompts.get
    ),
    _look(
        "PromptsRender",
        "Render a prompt exactly as a model would receive it, without calling one.",
        Prompts.render,
    ),
    _look("PromptsLint", "Find what is legal in prompts and still not wise.", Prompts.lint),
    _command(
        "PromptOverridesList",
        "List the stored tags of overrides.",
        Prompts.overrides_list,
        role="owner",
    ),
    _command(
        "PromptOverridesGet",
        "Show a tag of overrides as it is stored.",
        Prompts.overrides_get,
        role="owner",
    ),
    _own(
        "PromptOverridesSet",
        "Store a text in place of a section's or a tool's own.",
        Prompts.overrides_set,
    ),
    _own("PromptOverridesUnset", "Remove one stored text.", Prompts.overrides_unset),
    _own("PromptOverridesDelete", "Remove a tag of overrides.", Prompts.overrides_delete),
    _own(
        "PromptOverridesSeed",
        "Create a tag from the prompt's own words, to be edited.",
        Prompts.overrides_seed,
    ),
    _command(
        "PromptOverridesExport",
        "Export overrides as one bundle.",
        Prompts.overrides_export,
        role="owner",
    ),
    _own(
        "PromptOverridesImport",
        "Import a bundle of overrides; all of it is checked first.",
        Prompts.overrides_import,
    ),
    _command(
        "PromptOverridesDoctor",
        "Say of every stored text whether it still applies.",
        Prompts.overrides_doctor,
        role="owner",
    ),
    _own(
        "PromptOverridesRebase",
        "Show how a stored text differs from today's wording and, confirmed, keep it.",
        Prompts.overrides_rebase,
    ),
)

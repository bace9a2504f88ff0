"""What agents are told to call and to send, as a person at a terminal does it (S4.8)."""

from __future__ import annotations

import re

from .door import word

_TOOLS = {
    "RailsSessionsList": "session list",
    "checkpoint_workflow": "run checkpoint",
    "continue_workflow": "run continue",
    "inspect_workflow": "workflow inspect",
    "list_workflows": "workflow list",
    "resume_session": "session resume",
    "start_session": "session start",
    "start_workflow": "run start",
}
_TOOL = re.compile(rf"(?:\b([Cc])all )?\b({'|'.join(_TOOLS)})\b")
_LEAD = re.compile(rf"^(?:{'|'.join(_TOOLS)}): ")
_SENT = {  # how an agent is told to send something, and the option that gives it (R7)
    re.compile(r"[Ss]end output\.artifacts = \[(.+)\](?=, (?:the|every) <)"): "--artifact",
    re.compile(r'[Ss]end output = \{"notesMarkdown": "(.+)"\}(?=, the <)'): "--notes",
    re.compile(r"[Ss]end context = (\{.+\})(?=, (?:the|every) <)"): "--context",
}
_SAID = {  # sentences that name what no option or command is called like
    "or save over it.": "or write over it: `backshop workflow save FILE`, after"
    " `backshop workflow inspect ID --mode source`.",
    "Look at it with RailsWorkflowSource; then send its sourceHash.": "Look at it with"
    " `backshop workflow inspect ID --mode source`; `--expect HASH` says which one is meant.",
}


def message(text: str) -> str:
    """Return what a refusal says, without the tool that says it."""
    return _LEAD.sub("", text)


def advice(text: str, ref: str | None = None) -> str:
    """Return what an agent is told to do as a person does it; `ref` is the run it is about."""
    for said, spoken in _SAID.items():
        text = text.replace(said, spoken)
    for wanted, option in _SENT.items():
        if found := wanted.search(text):
            text = text.replace(found[0], f"give {option} {word(found[1])}")
    if ref is not None:
        text = text.replace("with the tokens of this answer", f"to `backshop run continue {ref}`")
    return _TOOL.sub(_command, text)


def _command(found: re.Match[str]) -> str:
    verb = {"C": "Run ", "c": "run "}.get(found[1] or "", "")
    return f"{verb}`backshop {_TOOLS[found[2]]}`"

"""Prompt refs: short texts of ours that block prompts can include by name (R1.37)."""

from __future__ import annotations

STEP_REFS_MAX_BYTES = 8192

REFS: dict[str, tuple[str, str]] = {
    "wr.refs.notes_first_durability": (
        "Notes before side files",
        "The notes you send with a step are the record of this run. They survive when the chat is "
        "rewound, shortened or lost; side files may not. Put what matters into the notes first: "
        "what you did, what you found and where, what you decided and why, what is still open. "
        "Write a side file only when the task asks for one, and name its path in the notes.",
    ),
    "wr.refs.parallelize_cognition_serialize_synthesis": (
        "Think in parallel, conclude in one place",
        "Independent looks at the same material may run at the same time: each gets the same facts "
        "and its own question, and none sees the others' answers before giving its own. Bringing "
        "the answers together is one person's work and happens once, here: compare, weigh, decide, "
        "and write down the result in your own words. Never paste answers side by side and call "
        "that a conclusion.",
    ),
    "wr.refs.synthesis_under_disagreement": (
        "When results disagree",
        "Say exactly what disagrees: the claim, who makes it, what each rests on. Go back to the "
        "evidence, not to a vote; one checked fact outweighs three opinions. If the evidence "
        "settles it, say how. If it does not, keep both readings, say what would settle it, and "
        "lower your confidence. A disagreement that disappears without a reason is a mistake.",
    ),
    "wr.refs.adversarial_challenge_rules": (
        "Attack your own conclusion",
        "Before you rely on a conclusion, try to break it. Ask what would have to be true for it "
        "to be wrong, and look for that. Name the strongest other explanation and what speaks for "
        "it. Check the step of the argument you looked at least. Report what you tried and what "
        "came of it; an attack that could not have succeeded does not count.",
    ),
    "wr.refs.memory_usage": (
        "Memory tools",
        "If a memory tool is available, it may hold decisions and preferences from earlier work. "
        "Treat what it returns as a hint with a date, not as a fact: check it against the files "
        "before you act on it. Nothing in this run may depend on memory being there; what the run "
        "needs to remember goes into the notes.",
    ),
    "wr.refs.memory_query": (
        "Memory before the work",
        "If a memory tool is available, ask it once now: earlier decisions, conventions and known "
        "traps about the names and files of this task. Note what you used from it and what you "
        "checked. If there is no such tool, or it has nothing, go on.",
    ),
    "wr.refs.memory_store": (
        "Memory after the work",
        "If a memory tool is available, store what will still be true next time: decisions with "
        "their reasons, conventions the person stated, traps with the way around them. Leave out "
        "what the files already say, passing states, and anything private. If there is no such "
        "tool, the notes are enough.",
    ),
    "wr.refs.modes": (
        "The three modes",
        "Guided: stop where a step asks for confirmation and wait for the person's answer. "
        "Full auto, stopping for the person: do not ask; find out, decide, and write the decision "
        "and its reason into the notes; stop only for what nobody but the person can give. "
        "Full auto, never stopping: never wait; where something is missing, state the assumption "
        "you go on with and report the gap. In no mode may anything be skipped silently.",
    ),
    "wr.refs.tokens": (
        "Using the tokens",
        "Every answer ends in a block of JSON with the next call. Send its tokens back exactly as "
        "they are; they mean nothing outside this run and must not be built or changed. The ack "
        "token moves the run forward; sending it twice is harmless. The state token alone shows "
        "the pending step again, which is what to do after losing the thread. An older token goes "
        "back to that point and starts a new branch. With several runs at once, use each run's "
        "own tokens; the workflow and the run are named beside them.",
    ),
}
"""Title and text by ref id."""


def ref_text(ref_id: str) -> str | None:
    """Return the text of a ref, None if there is no such ref."""
    found = REFS.get(ref_id)
    return found[1] if found else None

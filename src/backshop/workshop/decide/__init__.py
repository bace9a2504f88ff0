"""The rules of a conversation: state and wish in, facts out, or a refusal. No clock, no disk."""

from .conversation import (
    MESSAGE_MAX_BYTES,
    Send,
    compress,
    dismiss,
    notice,
    repeated,
    require_idle,
    require_started,
    send,
    set_flow,
    switch_model,
)
from .rewind import MODES, Effects, Ids, Target, choices, effects, redo, rewind, target_of

__all__ = [
    "MESSAGE_MAX_BYTES",
    "MODES",
    "Effects",
    "Ids",
    "Send",
    "Target",
    "choices",
    "compress",
    "dismiss",
    "effects",
    "notice",
    "redo",
    "repeated",
    "require_idle",
    "require_started",
    "rewind",
    "send",
    "set_flow",
    "switch_model",
    "target_of",
]

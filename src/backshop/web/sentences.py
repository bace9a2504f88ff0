"""Errors as people read them: one sentence of what is the case, one of what to do (U9.1).

Keyed by code, or by code and reason where a reason says more. `MESSAGE` stands where the error's
own message is the better sentence: it has the facts. The codes stay behind "Details". ◆ Words only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MESSAGE = ""
"""The message of the error itself, begun and ended as a sentence."""

SENTENCES: dict[str, tuple[str, str]] = {
    "ACCESS_DENIED": (MESSAGE, "Ask the owner of this home if you need it."),
    "ACCESS_DENIED:owner_only": (
        "Only the owner of this home can do that.",
        "Ask them to do it, or to let you.",
    ),
    "ACCESS_DENIED:paths": (
        "Files of the server's own disk are not within reach here.",
        "Add files from your own computer instead.",
    ),
    "ACCESS_DENIED:role": (
        "Your role does not allow that.",
        "Whoever shares this workbench or session can give you a larger one.",
    ),
    "ACCESS_DENIED:user_removed": (
        "You have no way into this home any more.",
        "Ask its owner for an invitation.",
    ),
    "AGENT_LOOP_DETECTED": (
        "The agent was going round in circles and was stopped.",
        "Ask for less at once, or try another model.",
    ),
    "BENCH_BUSY": (
        "Something else is at work in this workbench.",
        "Wait for it to end, or stop it, then try again.",
    ),
    "BUDGET_CAP_REACHED": (
        "The budget that was set is used up.",
        "Raise it under Settings, Advanced, or go on another day.",
    ),
    "CHECKPOINT_RESTORE_FAILED": (
        "That version could not be restored; nothing was changed.",
        "Try again, or choose another one.",
    ),
    "CONFIRMATION_REQUIRED": (MESSAGE, "Agree to it first."),
    "CONFLICT_PUBLISHED_CHANGED": (
        "The published files changed after this Draft began.",
        "Look at the Draft again before you publish it.",
    ),
    "CONTEXT_EXHAUSTED": (
        "This is more than the model can read at once.",
        "Ask about fewer files, or choose a model that reads more.",
    ),
    "DISK_FULL": (
        "The disk has no room left; nothing was changed.",
        "Make room, then try again.",
    ),
    "DRAFT_EXISTS": (
        "A Draft is in the way.",
        "Publish or discard it first.",
    ),
    "EGRESS_BLOCKED_BY_POLICY": (MESSAGE, "The owner of this home can change that under Settings."),
    "EGRESS_CONSENT_REQUIRED": (
        "Nothing was sent yet: content of this workbench goes to a model only when you agree.",
        "Look at what would be sent, then allow it.",
    ),
    "FILE_READ_FAILED": (MESSAGE, "Try again; if it stays so, add the file once more."),
    "FILE_READ_FAILED:archive_bomb": (
        "This file unpacks to far more than is safe to open.",
        "If it is meant to be as large as that: split it, and add the parts.",
    ),
    "FILE_READ_FAILED:corrupt_file": (
        "This file is damaged, or part of it is missing.",
        "Open it in the program it was made with, save it once more, and add that copy.",
    ),
    "FILE_READ_FAILED:encrypted_file": (
        "This file is protected by a password, or is of an older kind than its name says.",
        "Open it in the program it was made with, save it without a password, and add that copy.",
    ),
    "FILE_READ_FAILED:xml_dtd_forbidden": (
        "This file is not opened, because something in it is not safe to read.",
        "If you trust where it is from: open it there, save it once more, and add that copy.",
    ),
    "FILE_WRITE_FAILED": (MESSAGE, "Look whether the disk can be written, then try again."),
    "INTERNAL_ERROR": (
        "Backshop made a mistake here.",
        "Nothing you did caused it. The log has more under the reference in the details.",
    ),
    "LIMIT_EXCEEDED": (MESSAGE, "Ask for less at once."),
    "LIMIT_EXCEEDED:too_large": (MESSAGE, "Choose something smaller, or split it."),
    "LIMIT_EXCEEDED:too_many_guesses": (
        "Too many wrong tokens came from here.",
        "Wait a minute, then try again.",
    ),
    "LIMIT_EXCEEDED:user_limit": (
        "That is more than one person may use at once here.",
        "Wait a little, then try again.",
    ),
    "NETWORK_UNAVAILABLE": (
        "The model's provider cannot be reached from here.",
        "Look at your network connection, then try again.",
    ),
    "NETWORK_UNAVAILABLE:dns": (
        "The model's provider cannot be found: this machine seems to have no network.",
        "Look at your network connection, or at the provider's address, then try again.",
    ),
    "NETWORK_UNAVAILABLE:proxy": (
        "The proxy between here and the model's provider refuses to connect.",
        "Look at the proxy's settings, then try again.",
    ),
    "NETWORK_UNAVAILABLE:tls": (
        "The connection to the model's provider is not secure, so nothing was sent.",
        "Look at the provider's address and at certificates of your network.",
    ),
    "NOT_FOUND": (MESSAGE, "It may have been removed or renamed; go back and look again."),
    "PROVIDER_AUTH_FAILED": (
        "The model's provider refuses the key.",
        "Enter another key under Settings, Models.",
    ),
    "PROVIDER_BAD_RESPONSE": (
        "The model's answer could not be read.",
        "Try again, or choose another model.",
    ),
    "PROVIDER_NOT_CONFIGURED": (
        "This model cannot answer yet: its provider is not set up.",
        "Enter a key under Settings, Models, or choose another model.",
    ),
    "PROVIDER_RATE_LIMITED": (
        "The model's provider takes no more requests for now.",
        "Wait a little, then try again, or choose another model.",
    ),
    "PROVIDER_RATE_LIMITED:quota": (
        "The account at the model's provider has nothing left to spend.",
        "Raise its limit there, or choose another model.",
    ),
    "PROVIDER_REQUEST_REJECTED": (MESSAGE, "Choose another model, or ask in another way."),
    "PROVIDER_UNAVAILABLE": (
        "The model's provider does not answer just now.",
        "Try again in a little while, or choose another model.",
    ),
    "REVISION_PRUNED": (
        "That state of the Draft is not kept any more.",
        "Go back in the talk alone, or discard the Draft.",
    ),
    "SANDBOX_VIOLATION": (MESSAGE, "The file is not opened, because it is not safe."),
    "STORAGE_CORRUPT": (
        "Something that was stored is damaged.",
        "Restore a version or a backup; `backshop doctor` says what is wrong.",
    ),
    "STORE_UNAVAILABLE": (
        "What Backshop stores cannot be reached at the moment.",
        "Try again in a little while.",
    ),
    "TOOL_WORKER_UNAVAILABLE": (
        "Reading or changing a file took too long or broke off.",
        "Try again; with a large file ask for a smaller part.",
    ),
    "USER_CANCELED": ("It was stopped.", "Resume it when you like."),
    "VALIDATION_FAILED:content_mismatch": (
        "What is inside this file is not what its name says, or there is nothing in it.",
        "Give it the ending of what it is with Rename, or add the right file in its place.",
    ),
    "VALIDATION_FAILED": (MESSAGE, "Change that, then try again."),
    "VALIDATION_FAILED:unknown_sheet": (
        "This version of the file has no sheet of that name.",
        "Open the file to see the sheets it has; History shows versions that may have it.",
    ),
    "VALIDATION_FAILED:bad_path": (
        MESSAGE,
        "Choose another name: shorter, and without signs that other systems refuse.",
    ),
}
TESTED: dict[str, tuple[str, str]] = {
    "EGRESS_BLOCKED_BY_POLICY": (
        "Its address leads to one that may not be asked, so nothing was sent there.",
        "Look at its address.",
    ),
    "PROVIDER_REQUEST_REJECTED": (
        "It does not say which models it has.",
        "Look at the key and at the account it is of, then test it again.",
    ),
}
"""What a test of any provider found, where that is not what goes wrong with a model's answer."""
SERVERS: dict[str, tuple[str, str]] = {
    "EGRESS_BLOCKED_BY_POLICY:redirect": (
        "It sends on to another address, which is not followed.",
        "Add it again with the address that it sends to.",
    ),
    "NETWORK_UNAVAILABLE": (
        "Nothing answers at its address.",
        "Start it and press Test, or add it again.",
    ),
    "NETWORK_UNAVAILABLE:dns": (
        "No machine of the name in its address can be found.",
        "Look at the address, then add it again.",
    ),
    "NETWORK_UNAVAILABLE:proxy": SENTENCES["NETWORK_UNAVAILABLE:proxy"],
    "NETWORK_UNAVAILABLE:tls": (
        "The connection to it is not secure, so nothing was sent.",
        "Look at its address and its certificate, then press Test.",
    ),
    "PROVIDER_AUTH_FAILED": (
        "It asks for a key, or refuses the one it was given.",
        "Enter its key; where there is no field for one, add it again as one that asks for a key.",
    ),
    "PROVIDER_BAD_RESPONSE": (
        "Something answers at its address, but not as a model server does.",
        "Look at the address and its path, then add it again.",
    ),
    "PROVIDER_REQUEST_REJECTED": (
        "Something answers at its address, but has no list of models there.",
        "Look at the path (of most servers it ends in /v1), then add it again.",
    ),
    "PROVIDER_UNAVAILABLE": (
        "It answers with an error, or breaks off.",
        "Look at the server itself, then press Test.",
    ),
    "PROVIDER_UNAVAILABLE:timeout": (
        "It did not answer in time.",
        "Look at the server itself, then press Test.",
    ),
}
"""What a test of a model server of the person's own found (U9.5)."""
CALM = frozenset({"EGRESS_CONSENT_REQUIRED", "USER_CANCELED"})
"""What is no failure: it is shown without alarm."""


def explained(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page shows of an error: the sentence, the next step, and whether it is calm."""
    code = str(error.get("error_code") or error.get("code") or "")
    text, then = SENTENCES.get(f"{code}:{error.get('reason')}") or SENTENCES.get(code) or ("", "")
    own = str(error.get("message") or "")
    return {
        "sentence": text or as_sentence(own),
        "then": then or error.get("suggestion") or "",
        "original": own if text else "",
        "calm": code in CALM,
    }


def as_sentence(message: str) -> str:
    """Return a message as a page says it: with a capital, unless it is an address, and an end."""
    text = message.strip()
    first = text[:1] if "://" in text.partition(" ")[0] else text[:1].upper()
    return f"{first}{text[1:]}{'' if text.endswith(('.', '!', '?', '…')) else '.'}"


def provider_line(line: str, *, is_own: bool = False) -> str:
    """Return what is wrong with a provider, from the line of its status: sentence and next step.

    A server of the person's `own` has no account and mostly no key, and it is theirs to look at.
    """
    code, _, reason = line.partition(": ")
    for table in (SERVERS, TESTED) if is_own else (TESTED,):
        if told := table.get(f"{code}:{reason}") or table.get(code):
            return " ".join(told)
    found = explained({"error_code": code, "reason": reason})
    return f"{found['sentence']} {found['then']}"

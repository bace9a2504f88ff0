"""A workflow made of a finished turn: its work as steps, its files as inputs (W25.1, W25.2).

Pure. Texts of people, models and files go in as data: braces that would be read as a variable are
put apart, and what is written out is plain data that only the checks of rails let in.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from backshop.base.canon import sha256_hex
from backshop.rails import file_input, name_input

from ..answers import SavedInput, SavedStep
from ..mention import is_unspaced
from .material import Material, UsedFile, Work

INPUTS_A_STEP = 8  # R8.20
TITLE_MAX_CHARS = 128
TEXT_MAX_CHARS = 24_000
DESCRIPTION_MAX_CHARS = 400
NAME_MAX_CHARS = 40
RESERVED = frozenset(
    [
        *("turn_id", "user_message_id", "mode", "model_id", "base_revision_id", "goal", "prompt"),
        *("published_generation", "plan_items", "original_count", "escalated", "length"),
    ]
)
"""Context keys that mean something else in a run (W13.2)."""
_KIND = {
    "changed": "is changed",
    "created": "is made",
    "read": "is only read",
}
_ASKED = {
    "changed": "The file that is changed; it was {path} when this was saved.",
    "created": "What the file that is made is called; it was {path} when this was saved.",
    "read": "A file that is only read; it was {path} when this was saved.",
}
_SPECIFIC = re.compile(r"\d|[\"“”„«»‘’]|'[^'\n]+'")
_TOKEN = re.compile(r"\{\{[a-z0-9_]+\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The definition as plain data, and what to tell the person of it."""

    data: Mapping[str, object]
    inputs: tuple[SavedInput, ...]
    steps: tuple[SavedStep, ...]
    notes: tuple[str, ...]


def proposed_id(name: str, scope: str) -> str:
    """Return the id of a workflow that a person named."""
    slug = _slug(name)[:NAME_MAX_CHARS].strip("_")
    return f"{scope}.{slug or 'w_' + sha256_hex(name.encode())[:8]}"


def recipe(material: Material, workflow_id: str, name: str) -> Recipe:
    """Return the workflow that does the same with other files."""
    said_last = _one_line(material.said or material.request)
    works = material.works or (Work(label=said_last, text=material.request),)
    kept = material.files[: INPUTS_A_STEP * len(works)]
    inputs = _named(kept)
    variables = _Variables(inputs)
    said = [_step_text(material, works, number, variables) for number in range(len(works))]
    places = _placed(inputs, said)
    texts = [_with_files(text, inputs) for text in said]
    steps = [
        {
            "id": f"step_{number}",
            "title": _title(variables, work.label, number),
            "prompt": text,
            **({"userInputs": [_input(one) for one in asked]} if asked else {}),
        }
        for number, (work, text, asked) in enumerate(zip(works, texts, places, strict=True), 1)
    ]
    saved = tuple(
        SavedStep(
            step_id=str(step["id"]),
            title=str(step["title"]),
            is_specific=_SPECIFIC.search(_TOKEN.sub("", variables.filled(work.text))) is not None,
        )
        for step, work in zip(steps, works, strict=True)
    )
    data = {
        "id": workflow_id,
        "name": _one_line(name)[:TITLE_MAX_CHARS],
        "description": _apart(said_last[:DESCRIPTION_MAX_CHARS]) or name,
        "version": "1.0.0",
        "about": "Saved from a finished turn. The steps are what it did, in its own words; files"
        " are variables. Values in the texts are those of that turn: edit them where they differ.",
        "steps": steps,
    }
    return Recipe(
        data=data,
        inputs=inputs,
        steps=saved,
        notes=tuple(_notes(material, saved, len(kept))),
    )


class _Variables:
    """Puts `{{name}}` where a text names a file that is an input."""

    def __init__(self, inputs: Sequence[SavedInput]) -> None:
        names: dict[str, str] = {}
        for one in inputs:
            names[_key(one.path)] = one.name
        bases = [_key(one.path.rpartition("/")[2]) for one in inputs]
        for base, one in zip(bases, inputs, strict=True):
            if bases.count(base) == 1:  # else nobody knows which is meant
                names.setdefault(base, one.name)
        self._names = names
        longest = sorted(names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest))) if names else None

    def filled(self, text: str) -> str:
        """Return a text with its files as variables, and nothing else in it a variable."""
        plain = unicodedata.normalize("NFC", text)
        if self._pattern is None:
            return _apart(plain)
        found, end = "", 0
        for match in self._pattern.finditer(plain.casefold() if _folds(plain) else plain):
            if match.start() < end or not _stands_alone(plain, match.start(), match.end()):
                continue
            before = _apart(plain[end : match.start()])
            found += f"{before} " if before.endswith("{") else before
            found += f"{{{{{self._names[match[0]]}}}}}"
            end = match.end()
        rest = _apart(plain[end:])
        return f"{found} {rest}" if found.endswith("}}") and rest.startswith("}") else found + rest


def _folds(text: str) -> bool:
    """Whether places in the text with its letter case taken away are places in the text."""
    return len(text.casefold()) == len(text)


def _key(name: str) -> str:
    plain = unicodedata.normalize("NFC", name)
    return plain.casefold() if _folds(plain) else plain


def _apart(text: str) -> str:
    """Return a text in which nothing is a variable."""
    while "{{" in text or "}}" in text:
        text = text.replace("{{", "{ {").replace("}}", "} }")
    return text


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a name is no part of a longer one."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before and not is_unspaced(before) and (before.isalnum() or before in "_-./\\"):
        return False
    if after == "." and text[end + 1 : end + 2].isalnum():
        return False
    return not (after and not is_unspaced(after) and (after.isalnum() or after in "_-/"))


def _named(files: Sequence[UsedFile]) -> tuple[SavedInput, ...]:
    """Return the files with names for them, from their own without numbers and dates."""
    taken: set[str] = set()
    found = []
    for one in files:
        stem = one.path.rpartition("/")[2].partition(".")[0] or one.path
        words = [word for word in _slug(stem).split("_") if not word.isdigit()]
        base = "_".join(words)[:NAME_MAX_CHARS].strip("_")
        base = base if base and base[0].isalpha() else "file"
        name, number = base, 1
        while name in taken or name in RESERVED:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        found.append(SavedInput(name=name, role=one.role, path=one.path))
    return tuple(found)


def _slug(text: str) -> str:
    """Return a name of small letters, digits and `_` that begins with a letter; maybe nothing."""
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    plain = re.sub("_+", "_", re.sub("[^a-z0-9]", "_", letters)).strip("_")
    return plain.lstrip("0123456789_") or ("w_" + plain if plain else "")


def _step_text(
    material: Material, works: Sequence[Work], number: int, variables: _Variables
) -> str:
    """Return what a step asks for: the work, and the request it comes from."""
    parts = [variables.filled(works[number].text[:TEXT_MAX_CHARS])]
    if material.works and not material.is_driven:
        request = variables.filled(material.request[: TEXT_MAX_CHARS // 4])
        quoted = "\n".join(f"> {line}" for line in request.splitlines())
        is_part = f"This is part {number + 1} of {len(works)} of this request:"
        parts.append(f"{is_part if len(works) > 1 else 'The request it comes from:'}\n{quoted}")
    return "\n\n".join(parts)


def _placed(inputs: Sequence[SavedInput], texts: Sequence[str]) -> list[list[SavedInput]]:
    """Return which step asks for which inputs: the first whose text names one and has room."""
    places: list[list[SavedInput]] = [[] for _ in texts]
    for one in inputs:
        naming = [number for number, text in enumerate(texts) if _token(one) in text]
        for number in (*naming, *range(len(texts))):
            if len(places[number]) < INPUTS_A_STEP:
                places[number].append(one)
                break
    return places


def _with_files(text: str, inputs: Sequence[SavedInput]) -> str:
    """Return the text of a step with the files that it does not name."""
    more = [f"- {_token(one)} {_KIND[one.role]}" for one in inputs if _token(one) not in text]
    return "\n".join((f"{text}\n\nFiles of this work:", *more)) if more else text


def _token(one: SavedInput) -> str:
    return f"{{{{{one.name}}}}}"


def _title(variables: _Variables, label: str, number: int) -> str:
    title = variables.filled(_one_line(label))
    if len(title) > TITLE_MAX_CHARS:  # cut where no variable is cut in two
        title = _apart(_one_line(label))[: TITLE_MAX_CHARS - 1].rstrip() + "…"
    return title or f"Step {number}"


def _input(one: SavedInput) -> dict[str, object]:
    prompt = _apart(_ASKED[one.role].format(path=one.path[-300:]))
    if one.role == "created":
        return name_input(one.name, prompt, one.path)
    return file_input(one.name, prompt)


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _notes(material: Material, steps: Sequence[SavedStep], kept: int) -> Iterator[str]:
    if specific := [one.step_id for one in steps if one.is_specific]:
        yield (
            f"{', '.join(specific)}: numbers or quotes of that turn stand in the text and stay;"
            " edit the workflow where they differ from month to month."
        )
    if material.failed:
        yield f"{material.failed} item(s) of the plan failed and are no steps."
    if left := len(material.files) - kept:
        yield f"{left} more file(s) were read and are no inputs; texts name them as they were."

"""Which changed files a request does not name. Names only, in any language: nothing is understood.

A file is named by its path, by a word of its name or of its folders, or by its kind. It is told as
not named where the request names another changed file, or any file by its whole name; else the
request left the choice of files to whoever did the work. Where nothing but new files came of it,
they are what was asked for, under names of their own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from .conversation.turn_facts import FileChanged
from .mention import files_named, is_unspaced

RECORDS_BEFORE = 4
"""Messages and answers before the request whose names count as well; the person has read them."""
_WORD_MIN_CHARS = 3
_STEM_MIN_CHARS = 4  # of words that are the same but for their endings: report, reports
_WORDS = re.compile(r"[^\W_]+")
_KINDS = {
    "csv": ("csv",),
    "docx": ("docx",),
    "htm": ("html",),
    "html": ("html",),
    "json": ("json",),
    "md": ("markdown", "md"),
    "pptx": ("pptx", "powerpoint"),
    "tsv": ("tsv",),
    "txt": ("txt",),
    "xlsx": ("excel", "xlsx"),
}
"""What kinds of file are called in most languages."""
_WORD_FILE = re.compile(r"(?<!\w\.)\bWord\b")  # as a name; a word is anything


def not_named(
    request: str, before: Sequence[str], changed: Iterable[FileChanged]
) -> tuple[str, ...]:
    """Return the changed files that neither the request nor what was said before it names."""
    files = list(changed)
    known = "\n".join((request, *before))
    strange = [one for one in files if not _is_named(one.path, known)]
    if not strange:
        return ()
    if any(_is_named(one.path, request) for one in files):
        return tuple(one.path for one in strange)
    names_files = files_named(request, ()).missing  # nobody has any file here: all are missing
    is_what_was_asked_for = all(one.change == "added" for one in files)
    return () if not names_files or is_what_was_asked_for else tuple(one.path for one in strange)


def _is_named(path: str, text: str) -> bool:
    if files_named(text, (path,)).files:
        return True
    plain = unicodedata.normalize("NFC", text)
    folder, _, name = path.rpartition("/")
    stem, _, ending = name.rpartition(".")
    if _names_kind(ending.lower(), plain):
        return True
    spoken = {one.casefold() for one in _WORDS.findall(plain)}
    own = _WORDS.findall(unicodedata.normalize("NFC", f"{folder} {stem or name}"))
    return any(_is_spoken(one.casefold(), spoken, plain) for one in own)


def _names_kind(ending: str, text: str) -> bool:
    if ending == "docx" and _WORD_FILE.search(text):
        return True
    words = _KINDS.get(ending, (ending,) if ending else ())
    return any(
        re.search(rf"(?<!\w\.)(?<![^\W_]){re.escape(one)}(?![^\W_])", text, re.IGNORECASE)
        for one in words
    )


def _is_spoken(word: str, spoken: Iterable[str], text: str) -> bool:
    """Whether a word of a name stands in a text, in this form or with another ending."""
    if any(map(is_unspaced, word)):  # no spaces say where a word ends: two signs are one
        return any(word[at : at + 2] in text for at in range(max(1, len(word) - 1)))
    if len(word) < _WORD_MIN_CHARS or word.isdigit():
        return False
    return any(word == one or _is_same_stem(word, one) for one in spoken)


def _is_same_stem(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    return shorter >= _STEM_MIN_CHARS and (word.startswith(other) or other.startswith(word))

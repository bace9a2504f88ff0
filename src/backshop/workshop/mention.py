"""Which files and items an answer names. Names only: what it says about them is not judged.

Works in every language, because it looks for names and not for words around them. A path ends in
an ending somebody uses; where it begins is settled by the files there are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

NAMES_MAX = 50
_NAME_MAX_CHARS = 255
_KNOWN_ENDINGS = """
txt md rst log json jsonl yaml yml toml ini cfg xml html htm css js ts py sh sql tex rtf csv tsv psv
xls xlsx xlsm xltx xltm ods doc docx docm dotx dotm odt ppt pptx pptm potx potm odp pdf png jpg jpeg
gif bmp tif tiff webp svg zip eml msg ics
"""
_ENDINGS = frozenset(_KNOWN_ENDINGS.split())
_ENDING = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,9})(?![A-Za-z0-9_])")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_ESCAPED = re.compile(r"\\([!-/:-@\[\]-`{-~])")  # how Markdown writes a plain sign
_PRODUCTS = frozenset(
    [
        "angular.js",
        "backbone.js",
        "chart.js",
        "d3.js",
        "ember.js",
        "express.js",
        "nest.js",
        "next.js",
        "node.js",
        "nuxt.js",
        "p5.js",
        "react.js",
        "three.js",
        "vue.js",
    ]
)
"""What looks like a file and is the name of a product."""
_EMPHASIS = re.compile(r"[*`]|(?<!\w)_+|_+(?!\w)")
_NUMBER = re.compile(r"^\s*\d{1,9}[.)]\s+(?=\S)")
_TICKED = re.compile(r"`([^`\n]{1,255})`")
_STOPS = frozenset(" \t\n\r\"'`´<>|*?:;,()[]{}=!“”„‟‘’‚‹›«»，。；：、！？（）【】《》「」『』…—–")
_PREFIXES = ("./", "draft/", "published/")


@dataclass(frozen=True, slots=True)
class Named:
    """What an answer names: files there are, as the workbench spells them, and missing ones."""

    files: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def files_named(text: str, paths: Iterable[str]) -> Named:
    """Return the files a text names. A file's own name without its folder names it too."""
    plain = _ESCAPED.sub(r"\1", _URL.sub(" ", unicodedata.normalize("NFC", text)))
    plain = plain.replace("\\", "/")
    if not _ENDING.search(plain) and not _TICKED.search(plain):
        return Named()
    known = _known(paths)
    endings = _ENDINGS | {path.rpartition(".")[2].lower() for path in known if "." in path}
    found: dict[str, None] = {}
    missing: dict[str, None] = {}
    begin = 0  # behind a name and a slash another one may begin: `a.md/b.md`
    for match in _ENDING.finditer(plain):
        longer = _ENDING.match(plain, match.end())
        if match[1].lower() not in endings or (longer and longer[1].lower() in endings):
            continue
        here = _longest(plain, match.end(), known, begin)
        token = "" if here else _token(plain, match.end(), begin)
        begin = match.end() + 1 if plain[match.end() : match.end() + 1] == "/" else 0
        here = here or _by_part(token, known)
        if here:
            found.update(dict.fromkeys(here))
        elif token and not _is_no_file(plain, match.end(), token):
            missing.setdefault(token)
    for match in _TICKED.finditer(plain):  # files without an ending are named for certain here only
        found.update(dict.fromkeys(known.get(_key(match[1]), ())))
    return Named(tuple(found)[:NAMES_MAX], tuple(missing)[:NAMES_MAX])


def is_named(text: str, label: str) -> bool:
    """Whether a label stands in a text: letter case, spaces, emphasis and its number aside."""
    wanted, plain = _folded(_NUMBER.sub("", _plain(label))), _folded(_plain(text))
    at = plain.find(wanted) if wanted else -1
    while at >= 0:
        if not _is_within(plain, at) and not _is_within(plain, at + len(wanted)):
            return True
        at = plain.find(wanted, at + 1)
    return False


def _known(paths: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the files by how they may be called: by path, by its end, and by name alone."""
    found: dict[str, tuple[str, ...]] = {}
    for path in paths:
        parts = path.split("/")
        for name in {_key("/".join(parts[n:])) for n in range(len(parts))}:
            found[name] = (*found.get(name, ()), path)
    return found


def _key(name: str) -> str:
    plain = unicodedata.normalize("NFC", name).casefold()
    for prefix in _PREFIXES:
        plain = plain.removeprefix(prefix)
    return plain


def _longest(
    text: str, end: int, known: Mapping[str, tuple[str, ...]], begin: int
) -> tuple[str, ...]:
    """Return the files whose name ends here, by the longest name that begins where one may."""
    line = max(text.rfind("\n", 0, end) + 1, end - _NAME_MAX_CHARS)
    for start in range(line, end):
        may_begin = start == begin or _may_begin(text, start)
        if may_begin and (here := known.get(_key(text[start:end]))):
            return here
    return ()


def _by_part(token: str, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the files a name means that leads from the root or through our folders, or as links
    spell it.
    """
    for name in dict.fromkeys((_key(token), _key(unquote(token)))):
        if name in known:
            return known[name]
        rest = re.split(r"^~?/|/(?:draft|published)/", name)[-1]
        if rest in known:
            return known[rest]
    return ()


def _is_no_file(text: str, end: int, token: str) -> bool:
    """Whether a name that no file has is none of a file: a longer one, a call, an address."""
    goes_on = text[end : end + 1] == "." and text[end + 1 : end + 2].isalnum()
    is_call = text[end : end + 1] == "("
    return goes_on or is_call or "@" in token or token.casefold() in _PRODUCTS


def _may_begin(text: str, at: int) -> bool:
    """Whether a name may begin here: not in the middle of a word or of another path."""
    if at == 0:
        return True
    before = text[at - 1]
    return before in _STOPS or is_unspaced(before) or not (before.isalnum() or before in "_-./")


def _is_within(text: str, at: int) -> bool:
    """Whether a place lies within a word."""
    if not 0 < at < len(text):
        return False
    return all(one.isalnum() and not is_unspaced(one) for one in text[at - 1 : at + 1])


def _token(text: str, end: int, begin: int) -> str:
    """Return the name that ends here and belongs to no file, as far as it can be told apart."""
    start = end
    while start > begin and text[start - 1] not in _STOPS and end - start < _NAME_MAX_CHARS:
        start -= 1
    token = text[start:end]
    stem = token[: token.rfind(".")]
    cut = max((n for n, one in enumerate(stem, 1) if is_unspaced(one)), default=0)
    if 0 < cut < len(stem):  # a name in Latin letters behind words that are written without spaces
        token = token[cut:]
    for prefix in _PREFIXES:
        token = token.removeprefix(prefix)
    return token if any(one.isalnum() for one in token[: token.rfind(".")]) else ""


def is_unspaced(char: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words."""
    return "\u0e00" <= char <= "\u0eff" or "\u1000" <= char <= "\u109f" or char >= "\u2e80"


def _plain(text: str) -> str:
    """Return a text without the marks of Markdown around its words."""
    return _EMPHASIS.sub("", text)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())

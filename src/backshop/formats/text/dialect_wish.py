"""What a caller knows about how a delimited file is written (F25.10)."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import fail
from ..protocol import Json

FIELDS = ("delimiter", "quote", "escape", "skip", "header", "encoding")
_TOLD = ("confidence", "given")  # what a map tells beside them, given back with the rest
_MOST_DELIMITER_CHARS = 4
_NO_TEXTS = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})


def _said(description: str) -> dict[str, str]:
    return {"description": description}


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectWish:
    """What the caller says about how a file is written; what is not said is found out."""

    delimiter: str | None = field(
        default=None, metadata=_said("With a space behind it, spaces around it belong to it")
    )
    quote: str | None = field(default=None, metadata=_said("Empty: nothing is quoted"))
    escape: str | None = field(default=None, metadata=_said("Backslash; empty: quotes are doubled"))
    skip: int | None = field(default=None, metadata=_said("Lines above the table"))
    header: int | None = field(default=None, metadata=_said("Rows of column names, 0 to 3"))
    encoding: str | None = None

    @property
    def given(self) -> list[str]:
        """The names of what is said."""
        return [name for name in FIELDS if getattr(self, name) is not None]


ANY = DialectWish()


def read_wish(value: DialectWish | Json) -> DialectWish:
    """Return what a caller says about a dialect: an object, its JSON, or a delimiter alone.

    Raises:
        FormatError: `bad_type`, `unknown_field` or `bad_value`.
    """
    if value is None:
        return ANY
    if isinstance(value, DialectWish):
        value = {name: getattr(value, name) for name in FIELDS}
    if isinstance(value, str):
        value = _read(value) or {}
    if not isinstance(value, Mapping):
        raise fail("bad_type", "a dialect is an object", hints=FIELDS)
    for name in value:
        if name not in (*FIELDS, *_TOLD):
            raise fail("unknown_field", f"a dialect has no {name!r}", hints=FIELDS)
    given = {name: value[name] for name in FIELDS if value.get(name) is not None}
    for name, item in given.items():
        kind = int if name in ("skip", "header") else str
        if isinstance(item, bool) or not isinstance(item, kind):
            raise fail(
                "bad_type", f"{name} of a dialect is {'a number' if kind is int else 'text'}"
            )
    wish = DialectWish(**given)  # type: ignore[arg-type]  # their types were just looked at
    _check(wish)
    return wish


def _read(text: str) -> Json:
    """Return the object that a text writes down; any other text is a delimiter."""
    if not text.lstrip().startswith("{"):
        return {"delimiter": text} if text else None
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError):
        raise fail("bad_value", "the dialect is no JSON object", hints=FIELDS) from None
    return found


def _check(wish: DialectWish) -> None:
    delimiter, quote, escape = wish.delimiter, wish.quote, wish.escape
    if delimiter is not None:
        parts = bare(delimiter)
        if not 1 <= len(parts) <= _MOST_DELIMITER_CHARS or set("\r\n") & set(parts):
            raise fail("bad_value", "a delimiter is one to four characters, no line end")
        if quote and quote in parts:
            raise fail("bad_value", "delimiter and quote are two different things")
    if quote is not None and (len(quote) > 1 or quote in ("\n", "\r", " ")):
        raise fail("bad_value", "a quote is one character, or empty where nothing is quoted")
    if escape not in (None, "", "\\", quote or '"'):
        raise fail("bad_value", "an escape is a backslash, or empty where quotes are doubled")
    if wish.skip is not None and wish.skip < 0:
        raise fail("bad_value", "skip counts lines")
    if wish.header is not None and not 0 <= wish.header <= 3:
        raise fail("bad_value", "header is how many rows name the columns, 0 to 3")
    if wish.encoding is not None:
        _check_encoding(wish.encoding)


def _check_encoding(name: str) -> None:
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        found = None
    is_text = found is not None and found._is_text_encoding and found.incrementaldecoder
    if not is_text or (found is not None and found.name.replace("-", "_") in _NO_TEXTS):
        raise fail("bad_value", f"there is no encoding {name!r}", hints=("utf-8", "cp1252"))


def bare(delimiter: str) -> str:
    """Return a delimiter without the space that says that spaces around it belong to it."""
    return delimiter[:-1] if len(delimiter) > 1 and delimiter.endswith(" ") else delimiter

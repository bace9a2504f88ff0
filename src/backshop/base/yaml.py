"""The YAML people may write: plain data, nothing that acts (R1.1, B14.9); and writing it.

LibYAML reads the text, event by event; what a plain word means (core schema of YAML 1.2) and what
is refused is decided here. Anchors, aliases, tags, directives, merge keys, complex keys, several
documents, tabs as indentation and duplicate keys are refused, by line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yaml import Event, MarkedYAMLError, ScalarEvent

MAX_DEPTH = 100
_NO_ANCHORS = "anchors, aliases and tags are not allowed; a text that begins so goes in quotes"
_NO_KEY = "a key and a colon belong here"

_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_SIMPLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[ .][A-Za-z][A-Za-z0-9_]*)*\.?")
_NUMBER_MAX_CHARS = 400  # longer digits are text to no reader's loss
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

# Characters that LibYAML refuses or takes for line ends, as YAML 1.1 did, and the halves of a
# character that JSON writes as two escapes; an escaped backslash is matched to be left alone.
_STRANGE = re.compile(
    r"\\\\|(?P<half>\\u[dD][89abAB-Fc-f][0-9a-fA-F]{2})|"
    "(?P<raw>[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff])"
)
_PRIVATE = (*range(0xE000, 0xF900), *range(0xF0000, 0xFFFFE), *range(0x100000, 0x10FFFE))
_MAYBE_EXPLICIT = re.compile(r"(?:^|[\s,{\[])\?", re.MULTILINE)
_SAID: tuple[tuple[str, str], ...] = (
    ("mapping values are not allowed", "a colon inside a plain text; put it in quotes"),
    ("sequence entries are not allowed", "`-` cannot stand here without quotes"),
    ("mapping keys are not allowed", "`?` cannot stand here without quotes"),
    ("found a tab character", "tabs cannot indent"),
    ("unexpected end of stream", "a quote or bracket is not closed"),
    ("expected '-' indicator", "the indentation does not fit"),
    ("expected key", _NO_KEY),
    ("could not find expected ':'", _NO_KEY),
    ("expected node content", "a value belongs here"),
    ("expected <document start>", "this does not belong here"),
    ("comment or line break", "after `|` or `>` the text begins on the next line"),
    ("unknown escape character", "unknown escape"),
)


class BadYaml(ValueError):
    """The text is not YAML, or uses what workflows may not."""


def read(text: str) -> object:
    """Return the value of a YAML document.

    Raises:
        BadYaml: with the line it was found at.
    """
    from yaml import MarkedYAMLError  # on first use: most commands read no YAML

    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    plain, mark = _without_strange(text if text.endswith("\n") else text + "\n")
    try:
        if _MAYBE_EXPLICIT.search(plain):
            _refuse_explicit_keys(plain)
        return _Reader(plain, mark).document()
    except MarkedYAMLError as error:
        raise _refusal(error, plain) from error


def write(value: object) -> str:
    """Return plain data as YAML that `read` gives back as it was, long texts as blocks.

    Texts are data: whatever stands in one, a quote, a key, a tag, it stays a text.
    """
    import yaml  # on first use: most commands write no YAML

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

    def text(dumper: yaml.SafeDumper, data: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", data, style=_style(data))

    Dumper.add_representer(str, text)
    written = str(
        yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    )
    try:
        is_same = read(written) == value
    except BadYaml:
        is_same = False
    return written if is_same else json.dumps(value, ensure_ascii=True, indent=2) + "\n"


def _style(text: str) -> str | None:
    """Return how a text is written: a word as it is, lines as a block, all else in quotes."""
    if "\n" in text.rstrip("\n"):
        return "|"
    return None if _SIMPLE.fullmatch(text) and text not in _WORDS else '"'


def _bad(line: int, message: str) -> BadYaml:
    return BadYaml(f"line {line}: {message}")


class _Reader:
    """Turns the events of one document into a value."""

    def __init__(self, text: str, mark: str) -> None:
        from yaml import CBaseLoader, events

        self._text = text
        self._is = events
        self._parser = CBaseLoader(text)
        self._strange = re.compile(f"{mark}([ur])([0-9a-fA-F]+){mark}") if mark else None

    def document(self) -> object:
        self._next()  # the stream begins
        begin = self._next()
        if not isinstance(begin, self._is.DocumentStartEvent):
            return None
        if begin.version is not None or begin.tags:
            raise _bad(1, "directives are not allowed")
        value = self._node(self._next(), 0)
        self._next()  # the document ends
        if isinstance(rest := self._next(), self._is.DocumentStartEvent):
            raise _bad(_line(rest), "a second document")
        return value

    def _next(self) -> Event:
        event = self._parser.get_event()
        assert event is not None  # the end of the stream is an event, and nothing is asked after it
        return event

    def _node(self, event: Event, depth: int, *, in_flow: bool = False) -> object:
        if depth > MAX_DEPTH:
            raise _bad(_line(event), f"nested more than {MAX_DEPTH} deep")
        if isinstance(event, self._is.ScalarEvent):
            return self._scalar(event, in_flow=in_flow)
        if isinstance(event, self._is.AliasEvent):
            raise _bad(_line(event), _NO_ANCHORS)
        assert isinstance(event, self._is.CollectionStartEvent)
        if event.anchor is not None or event.tag is not None:
            raise _bad(_line(event), _NO_ANCHORS)
        is_flow = bool(event.flow_style)
        if isinstance(event, self._is.SequenceStartEvent):
            return [self._node(one, depth + 1, in_flow=is_flow) for one in self._until_end()]
        return self._mapping(depth + 1, is_flow)

    def _until_end(self) -> Iterator[Event]:
        while not isinstance(event := self._next(), self._is.CollectionEndEvent):
            yield event

    def _mapping(self, depth: int, is_flow: bool) -> dict[str, object]:
        found: dict[str, object] = {}
        for event in self._until_end():
            if isinstance(event, self._is.CollectionStartEvent):
                raise _bad(_line(event), "complex keys are not allowed")
            if not isinstance(event, self._is.ScalarEvent):
                raise _bad(_line(event), _NO_ANCHORS)
            key = self._content(event)
            if key == "<<" and not event.style:
                raise _bad(_line(event), "merge keys are not allowed")
            if key in found:
                raise _bad(_line(event), f"duplicate key `{key[:80]}`")
            value = self._next()
            if is_flow and not self._has_colon(event, value):
                raise _bad(_line(event), _NO_KEY)
            found[key] = self._node(value, depth, in_flow=is_flow)
        return found

    def _has_colon(self, key: ScalarEvent, value: Event) -> bool:
        """Say whether `{key: value}` was written, not `{key}` or `{key:value}`."""
        assert key.end_mark is not None
        assert value.start_mark is not None
        return ":" in self._text[key.end_mark.index : value.start_mark.index]

    def _scalar(self, event: ScalarEvent, *, in_flow: bool) -> object:
        value = self._content(event)
        if event.style:  # quoted or block
            return value
        assert event.start_mark is not None
        assert event.end_mark is not None
        if event.end_mark.line > event.start_mark.line:
            if in_flow:
                raise _bad(_line(event), "a text over several lines in brackets; put it in quotes")
            taken = self._text[event.start_mark.index : event.end_mark.index].split("\n")[1:]
            for after, line in enumerate(taken, 1):
                if line.lstrip(" ") == "-" or line.lstrip(" ").startswith("- "):
                    raise _bad(_line(event) + after, "the indentation does not fit")
        return _meaning(value, _line(event))

    def _content(self, event: ScalarEvent) -> str:
        """Return the text, with the characters that were taken out for the parser."""
        if event.anchor is not None or event.tag is not None:
            raise _bad(_line(event), _NO_ANCHORS)
        if self._strange is None:
            return event.value
        is_escaped = event.style == '"'

        def back(match: re.Match[str]) -> str:
            is_literal = match[1] == "u" and not is_escaped
            return f"\\u{match[2]}" if is_literal else chr(int(match[2], 16))

        return _paired(self._strange.sub(back, event.value))


def _line(event: Event) -> int:
    assert event.start_mark is not None  # every event of the parser has its place
    return event.start_mark.line + 1


def _without_strange(text: str) -> tuple[str, str]:
    """Write strange characters as codes between a mark that the text does not have."""
    if not any(match.lastgroup for match in _STRANGE.finditer(text)):
        return text, ""
    used = set(text)
    mark = next((chr(code) for code in _PRIVATE if chr(code) not in used), None)
    if mark is None:
        raise _bad(1, "every private character of Unicode is used")

    def code(match: re.Match[str]) -> str:
        if match["half"]:
            return f"{mark}u{match['half'][2:]}{mark}"
        return f"{mark}r{ord(match['raw']):x}{mark}" if match["raw"] else match[0]

    return _STRANGE.sub(code, text), mark


def _paired(text: str) -> str:
    """Join escaped surrogate pairs, as JSON writes characters beyond the first 65,536."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _refuse_explicit_keys(text: str) -> None:
    """Refuse `? key`, which the events do not tell from `key`."""
    from yaml import CBaseLoader
    from yaml.tokens import KeyToken

    parser = CBaseLoader(text)
    while (token := parser.get_token()) is not None:
        if isinstance(token, KeyToken) and token.end_mark.index > token.start_mark.index:
            raise _bad(token.start_mark.line + 1, "complex keys are not allowed")


def _refusal(error: MarkedYAMLError, text: str) -> BadYaml:
    """Say what the parser stumbled over, in our words where we have some."""
    problem = error.problem or "this is not YAML"
    mark = error.problem_mark or error.context_mark
    at = mark.index if mark else 0
    if at >= len(text.rstrip()) and error.context_mark is not None:
        mark = error.context_mark  # where it began says more than the end of the file
    line = mark.line + 1 if mark else 1
    char = text[at : at + 1]
    if "cannot start any token" in problem:
        is_tab = char == "\t"
        return _bad(
            line,
            "tabs cannot indent" if is_tab else f"`{char}` cannot begin a text; put it in quotes",
        )
    if "directive" in (error.context or "") or "YAML document" in problem:
        return _bad(line, "directives are not allowed")
    said = next((words for found, words in _SAID if found in problem), problem)
    return _bad(line, said[:200])


def _meaning(text: str, line: int) -> object:
    """Return what a plain word means."""
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise _bad(line, f"`{text}` is not a JSON number")
    if len(text) <= _NUMBER_MAX_CHARS:
        if _INTEGER.fullmatch(text):
            return json.loads(_decimal(text))
        if _OCTAL.fullmatch(text) or _HEX.fullmatch(text):
            return int(text, 0)
        if _FLOAT.fullmatch(text):
            return float(text)
    return text


def _decimal(text: str) -> str:
    sign = "-" if text.startswith("-") else ""
    return sign + (text.lstrip("+-").lstrip("0") or "0")

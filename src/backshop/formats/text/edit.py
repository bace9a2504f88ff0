"""Writes text files: whole, or by exact replacements; what was not asked for stays (F6.7-F6.10)."""

from __future__ import annotations

import hashlib
import io
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from backshop.base import limits as numbers

from ..diff.line_diff import changed_ranges
from ..errors import fail
from ..find import Needle, replace_spans
from ..kind import classify, require_text_name
from ..output import write_file
from ..protocol import Applied, Effect, Effects, Json, Source
from ..warning import Warnings
from ..write.operation import Arg, item_fields, problem
from .candidate import OF_ENDING
from .dialect import sniff
from .encoding import UTF8, Encoding, decode, detect
from .rows import uneven_rows

_BREAK = re.compile(r"\r\n|\r|\n")
_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}
_EDIT = (
    Arg("search", str, required=True),
    Arg("replace", str, required=True),
    Arg("expect", int),
)


@dataclass(frozen=True, slots=True)
class _Before:
    """The file as it is: its text with its own line ends, and how it is written."""

    text: str = ""
    encoding: Encoding = UTF8
    exact: bool = True  # encoding the text again gives the same bytes


def write_text(existing: Source | None, name: str, content: str, out: Path) -> Applied:
    """Write `content` as a text file to `out`, in the encoding and line ends the file has.

    Raises:
        FormatError: `unsupported_format`, `read_only_format`, `too_large`, `bad_value`.
    """
    _check_target(existing, name)
    if len(content.encode("utf-8", "surrogatepass")) > numbers.WRITE_TEXT_MAX_BYTES:
        raise fail("too_large", f"at most {numbers.WRITE_TEXT_MAX_BYTES} bytes at once")
    warnings = Warnings()
    before = _load(existing)
    newline = _majority(before.text)
    text = _BREAK.sub(_ENDS[newline], content)
    data = _encode(text, before.encoding, warnings)
    ranges = changed_ranges(_lines(before.text), _lines(text))
    effects = Effects.compare(
        targets=["file"], changed=_effects(ranges), aimed_at=lambda effect: True
    )
    summary = f"{name} {'rewritten' if existing else 'created'} ({len(_lines(text))} lines)"
    return _finish(existing, name, text, data, out, ranges, effects, [summary], warnings)


def edit_text(source: Source, edits: Json, out: Path) -> Applied:
    """Replace exact pieces of a text file, in order, all or none (F6.9).

    A line end in `search` matches any line end; the replacement takes the file's usual one. Every
    other byte stays.

    Raises:
        FormatError: `no_match`, `ambiguous_match`, `bad_type`, `missing_field`, `bad_value`,
            `too_large`.
    """
    _check_target(source, source.name)
    if not isinstance(edits, Sequence) or isinstance(edits, str) or not edits:
        raise problem("bad_type", "edits", "must be a list with at least one edit")
    if len(edits) > numbers.OPS_MAX:
        raise problem("too_large", "edits", f"at most {numbers.OPS_MAX} in one call")
    warnings = Warnings()
    before = _load(source)
    end = _ENDS[_majority(before.text)]
    text = before.text
    aimed: list[tuple[int, int]] = []
    summaries = []
    for index, item in enumerate(edits):
        where = f"edits[{index}]"
        fields = item_fields(item, _EDIT, where, warnings)
        text, spans = _replace(text, fields, end, where)
        aimed = [_moved(span, spans) for span in aimed] + [new for _, new in spans]
        places = len(spans)
        summaries.append(f"{places} {'place' if places == 1 else 'places'} replaced")
    return _edited(source, before, text, aimed, summaries, warnings, out)


def replace_text(source: Source, needle: Needle, by: str, out: Path) -> Applied:
    """Put a text in the place of another, wherever it stands in a text file (F33.6).

    Raises:
        FormatError: `no_match`; `op_conflict` where the columns of a table would not stay.
    """
    _check_target(source, source.name)
    before = _load(source)
    spans = needle.spans(before.text)
    if not spans:
        raise fail("no_match", "does not occur in the file")
    new = _BREAK.sub(lambda _: _ENDS[_majority(before.text)], by)
    _refuse_new_columns(source, needle.search, new)
    text = replace_spans([before.text], spans, new)[0]
    aimed, moved = [], 0
    for start, end in spans:
        aimed.append((start + moved, start + moved + len(new)))
        moved += len(new) - (end - start)
    count = len(spans)
    summary = f"{count} occurrence{'' if count == 1 else 's'} replaced"
    done = _edited(source, before, text, aimed, [summary], Warnings(), out)
    return replace(done, replaced=count)


def _refuse_new_columns(source: Source, search: str, by: str) -> None:
    """Refuse a text that would part a field of a delimited file in two."""
    if source.extension not in OF_ENDING:
        return
    grammar = sniff(source).grammar
    signs = {grammar.delimiter, grammar.quote or '"', grammar.escape or "\n", "\n", "\r"}
    parts = [sign for sign in sorted(signs) if by.count(sign) != search.count(sign)]
    if parts:
        raise fail(
            "op_conflict",
            f"{parts[0]!r} means something in a delimited file: its columns would not stay",
            hints=["edit_text_file writes its lines as they are"],
        )


def _edited(
    source: Source,
    before: _Before,
    text: str,
    aimed: list[tuple[int, int]],
    summaries: list[str],
    warnings: Warnings,
    out: Path,
) -> Applied:
    """Write a text that has others in some places; `aimed` are these, in the new text."""
    encoding = before.encoding
    if not before.exact:  # the codec does not give the same bytes back: say so, use UTF-8
        encoding = UTF8
        warnings.add("encoding_changed", where="utf-8")
    data = _encode(text, encoding, warnings)
    ranges = changed_ranges(_lines(before.text, keep=True), _lines(text, keep=True))
    ends = _line_ends(text)
    targets = sorted({_line_range(ends, span) for span in aimed})
    covered = {line for first, last in targets for line in range(first, last + 1)}
    effects = Effects.compare(
        targets=[_named(span) for span in targets],
        changed=_effects(ranges),
        aimed_at=lambda effect: _inside(effect, covered),
    )
    return _finish(source, source.name, text, data, out, ranges, effects, summaries, warnings)


def _check_target(existing: Source | None, name: str) -> None:
    require_text_name(name)
    if existing is None:
        return
    with existing.path.open("rb") as file:
        kind = classify(name, file.read(numbers.CLASSIFY_HEAD_BYTES))
    if kind.opaque:
        raise fail("read_only_format", f"{name!r} is not a text file")


def _load(source: Source | None) -> _Before:
    if source is None:
        return _Before()
    encoding = detect(source)
    data = source.path.read_bytes()
    text = decode(data, encoding)
    return _Before(text, encoding, _is_exact(text, encoding, data))


def _is_exact(text: str, encoding: Encoding, data: bytes) -> bool:
    try:
        return encoding.encode(text) == data
    except UnicodeEncodeError:
        return False


def _encode(text: str, encoding: Encoding, warnings: Warnings) -> bytes:
    try:
        return encoding.encode(text)
    except UnicodeEncodeError:
        pass
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise fail("bad_value", "the text holds half of a surrogate pair") from error
    warnings.add("encoding_changed", where="utf-8")
    return data


def _replace(
    text: str, fields: Mapping[str, Json], end: str, where: str
) -> tuple[str, list[tuple[tuple[int, int], tuple[int, int]]]]:
    """Return the new text and, per place, its span before and after."""
    search, replace = str(fields["search"]), str(fields["replace"])
    expect = 1 if fields["expect"] is None else int(str(fields["expect"]))
    if not search:
        raise problem("bad_value", f"{where}.search", "must not be empty")
    if expect < 1:
        raise problem("bad_value", f"{where}.expect", "must be at least 1")
    # atomic: both characters of a CRLF are one line end, never two
    pattern = r"(?>\r\n|\r|\n)".join(re.escape(part) for part in _BREAK.split(search))
    matches = list(re.finditer(pattern, text))
    if not matches:
        raise problem("no_match", f"{where}.search", "does not occur in the file")
    if len(matches) != expect:
        ends = _line_ends(text)
        lines = [bisect_right(ends, m.start()) + 1 for m in matches[:3]]
        hints = [f"found {len(matches)} times", *(f"line {line}" for line in lines)]
        raise problem("ambiguous_match", f"{where}.search", f"expected {expect}", hints)
    new = _BREAK.sub(lambda _: end, replace)
    pieces, spans = [], []
    at = length = 0
    for match in matches:
        pieces += [text[at : match.start()], new]
        length += match.start() - at
        spans.append((match.span(), (length, length + len(new))))
        length += len(new)
        at = match.end()
    return "".join([*pieces, text[at:]]), spans


def _moved(
    span: tuple[int, int], spans: list[tuple[tuple[int, int], tuple[int, int]]]
) -> tuple[int, int]:
    """Return where an earlier target lies after later replacements."""

    def at(place: int) -> int:
        passed = bisect_right(spans, place, key=lambda one: one[0][1])
        if not passed:
            return place
        (_, old_end), (_, new_end) = spans[passed - 1]
        return place + new_end - old_end

    return at(span[0]), max(at(span[0]), at(span[1]))


def _lines(text: str, *, keep: bool = False) -> list[str]:
    """Return the lines of a text, with their ends when a changed end is a change."""
    lines = list(io.StringIO(text, newline=""))
    return lines if keep else [line.rstrip("\r\n") for line in lines]


def _majority(text: str) -> str:
    counts = Counter(_BREAK.findall(text))
    best = max(_ENDS.items(), key=lambda item: counts[item[1]])  # LF first when equal
    return best[0]


def _line_ends(text: str) -> list[int]:
    """Return where each line ends, after its line end."""
    return [match.end() for match in _BREAK.finditer(text)]


def _line_range(ends: list[int], span: tuple[int, int]) -> tuple[int, int]:
    return bisect_right(ends, span[0]) + 1, bisect_right(ends, span[1]) + 1


def _effects(ranges: list[tuple[int, int]]) -> list[Effect]:
    return [
        Effect(
            kind="line",
            where=_named((first, last)),
            aspect="value" if last >= first else "removed",
        )
        for first, last in ranges
    ]


def _named(lines: tuple[int, int]) -> str:
    first, last = lines
    return f"lines {first}-{last}" if last >= first else f"after line {last}"


def _inside(effect: Effect, covered: set[int]) -> bool:
    numbers_ = [int(n) for n in re.findall(r"\d+", effect.where)]
    first, last = numbers_[0], numbers_[-1]
    if effect.aspect == "removed":
        return bool({last, last + 1} & covered)
    return all(line in covered for line in range(first, last + 1))


def _finish(
    existing: Source | None,
    name: str,
    text: str,
    data: bytes,
    out: Path,
    ranges: list[tuple[int, int]],
    effects: Effects,
    summaries: list[str],
    warnings: Warnings,
) -> Applied:
    _judge(name, text, warnings)
    write_file(out, data)
    if out.read_bytes() != data:
        raise fail("verify_failed", "the written file is not what was meant")
    lines = _lines(text)
    focus: dict[str, Json] | None = None
    if ranges:
        first, last = ranges[0][0], max(ranges[0])
        focus = {"line_start": first, "line_end": min(max(first, last), max(len(lines), 1))}
    styles = set(_BREAK.findall(text))
    names = {end: key for key, end in _ENDS.items()}
    return Applied(
        name=name,
        size_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        created=existing is None,
        ops_applied=len(summaries),
        changes=tuple(enumerate(summaries)),
        focus=focus,
        warnings=warnings.all(),
        effects=effects,
        extra={
            "bytes": len(data),
            "line_count": len(lines),
            "newline": "mixed" if len(styles) > 1 else names[next(iter(styles), "\n")],
        },
    )


def _judge(name: str, text: str, warnings: Warnings) -> None:
    """Note content that does not fit its ending; it is written all the same (F6.8)."""
    ending = PurePosixPath(name).suffix.lower()
    if ending == ".json":
        try:
            json.loads(text, parse_int=str)  # a number of any length is one
        except json.JSONDecodeError as error:
            warnings.add("invalid_json", where=f"line {error.lineno}, column {error.colno}")
        except RecursionError:
            warnings.add("invalid_json")
    elif ending in OF_ENDING:
        odd = uneven_rows(list(io.StringIO(text, newline="")), ending)
        if odd:
            warnings.add("ragged_rows", odd)

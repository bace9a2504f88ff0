"""What every format must do, whatever files it is for (F1, F3, F5, F15, F16, F23).

A subclass in a test module gives two fixtures: `formats`, an open `Formats`, and `sample`, a
`Source` of a real file with enough content to be cut. A format that is written also gives `edit`,
one operation on the sample that changes something, and runs `EditableFormat`.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backshop.base.limits import MAP_FULL_MAX_BYTES, MAP_PROMPT_MAX_BYTES, READ_MAX_BYTES
from backshop.formats import (
    FormatError,
    Formats,
    Json,
    OpsRequest,
    Read,
    Selector,
    Source,
    members,
    reasons,
)

COMMON = ["map_version", "format", "size_bytes", "sha256", "warnings", "security"]
INFO = {"path", "kind", "mime", "size_bytes", "sha256", "writable", "warnings"}
FIELDS = ("sheet", "section", "pages", "slide_index", "line_start")
MAX_READS = 500


def text_of(value: object) -> str:
    """Return a value as JSON text, as it is sent; fails on anything that is not JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def walk(formats: Formats, source: Source, selector: Selector) -> Iterator[Read]:
    """Follow `next` to the end."""
    for _ in range(MAX_READS):
        part = formats.read(source, selector)
        yield part
        if part.chunk_info.next is None:
            return
        selector = part.chunk_info.next
    raise AssertionError("reading does not end")


class ReadableFormat:
    """Cases for every kind that can be read."""

    @pytest.mark.rule("F5.1", "F5.9", "F1.3")
    def test_the_map_is_small_json_that_begins_alike(
        self, formats: Formats, sample: Source
    ) -> None:
        """The common keys come first, and both levels fit."""
        full = formats.get_map(sample)

        assert list(full)[: len(COMMON)] == COMMON
        assert full["sha256"] == sample.sha256
        assert len(text_of(full).encode()) <= MAP_FULL_MAX_BYTES
        assert len(text_of(formats.get_map(sample, "prompt")).encode()) <= MAP_PROMPT_MAX_BYTES

    @pytest.mark.rule("F1.3", "F5.11")
    def test_a_map_is_the_same_every_time(
        self, formats: Formats, sample: Source, tmp_path: Path
    ) -> None:
        """Cached or drawn anew, by another process or the same."""
        with Formats(cache=tmp_path / "other", plugins={}) as other:
            assert other.get_map(sample) == formats.get_map(sample) == formats.get_map(sample)

    @pytest.mark.rule("F15.1")
    def test_info_has_the_common_keys(self, formats: Formats, sample: Source) -> None:
        """And is JSON."""
        info = formats.get_info(sample)

        assert info.keys() >= INFO
        assert info["path"] == sample.name
        text_of(info)

    @pytest.mark.rule("F5.2", "F5.3", "F5.4")
    def test_reading_goes_on_to_the_end(self, formats: Formats, sample: Source) -> None:
        """Every answer fits, tells where it stands, and leads to the next."""
        for part in walk(formats, sample, Selector()):
            assert len(part.text.encode()) <= READ_MAX_BYTES
            envelope = part.to_json(sample.name)
            assert list(envelope) == [
                *("path", "format", "selector", "text", "chunk_info", "warnings"),
            ]
            info = part.chunk_info
            assert 0 <= info.chunk_index < max(info.total_chunks, 1)
            text_of(envelope)

    @pytest.mark.rule("F5.6")
    def test_selectors_of_other_formats_are_refused_when_set(
        self, formats: Formats, sample: Source
    ) -> None:
        """At least most of the five are another format's; null ones are ignored."""
        refused = 0
        for name in FIELDS:
            value: str | int = 0 if name.endswith(("index", "start")) else "nothing"
            try:
                formats.read(sample, Selector(**{name: value}))  # type: ignore[arg-type]  # by name
            except FormatError as error:
                refused += error.reason == "bad_selector"
        assert refused >= 4

    @pytest.mark.rule("F5.7")
    def test_chunks_that_do_not_exist_are_refused(self, formats: Formats, sample: Source) -> None:
        """With the reason of F5.7, or because the kind has no chunks at all."""
        for index in (-1, 10**6):
            with pytest.raises(FormatError) as caught:
                formats.read(sample, Selector(chunk_index=index))
            assert caught.value.reason in {"bad_index", "unknown_slide"}

    @pytest.mark.rule("F29.1", "F1.3")
    def test_lines_for_review_are_stable(self, formats: Formats, sample: Source) -> None:
        """Plain lines, the same twice."""
        lines = formats.extract_lines(sample)

        assert lines == formats.extract_lines(sample)
        assert all(isinstance(line, str) for line in lines)

    @pytest.mark.rule("F1.5")
    def test_no_answer_names_a_path_of_the_machine(self, formats: Formats, sample: Source) -> None:
        """Only the display name appears."""
        answers = [
            text_of(formats.get_map(sample)),
            text_of(formats.get_info(sample)),
            text_of(formats.read(sample).to_json(sample.name)),
        ]
        assert not any(str(sample.path.parent) in answer for answer in answers)

    @pytest.mark.rule("F3", "F3.2")
    def test_damaged_files_give_a_result_or_a_reason(
        self, formats: Formats, sample: Source, tmp_path: Path
    ) -> None:
        """Cut, overwritten or emptied: never anything but words of F3."""
        for number, data in enumerate(_damaged(sample.path.read_bytes())):
            path = tmp_path / str(number)
            path.write_bytes(data)
            broken = replace(sample, path=path, sha256=hashlib.sha256(data).hexdigest())
            for call in (formats.get_map, formats.read, formats.extract_lines):
                try:
                    call(broken)
                except FormatError as error:
                    assert error.reason in reasons()
                    assert error.reason not in {"worker_crashed", "guard_refused", "timeout"}


class EditableFormat(ReadableFormat):
    """Cases for kinds that are written by operations."""

    @pytest.mark.rule("F23.1", "F23.8", "F16.9", "F16.13", "F16.14")
    def test_one_operation_leaves_every_other_part_alone(
        self, formats: Formats, sample: Source, edit: Json, tmp_path: Path
    ) -> None:
        """Untouched members keep their bytes, compressed and all; no collateral is reported."""
        out = tmp_path / "out"

        done = formats.apply_ops(sample, OpsRequest(name=sample.name, operations=[edit]), out)

        before, after = members(sample.path), members(out)
        changed = {
            name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
        }
        assert changed == set(done.changed_parts)
        assert changed
        assert hashlib.sha256(out.read_bytes()).hexdigest() == done.sha256
        assert done.effects.changed
        assert done.effects.collateral == ()
        text_of(done.to_json())

    @pytest.mark.rule("F1.3")
    def test_the_same_edit_gives_the_same_bytes(
        self, formats: Formats, sample: Source, edit: Json, tmp_path: Path
    ) -> None:
        """No clock and no chance in a written file."""
        request = OpsRequest(name=sample.name, operations=[edit])

        first = formats.apply_ops(sample, request, tmp_path / "a")
        second = formats.apply_ops(sample, request, tmp_path / "b")

        assert first.sha256 == second.sha256

    @pytest.mark.rule("F16.4", "F16.6", "F32.23")
    @pytest.mark.parametrize(
        ("bad", "reason"),
        [
            ({"op": "no_such_op"}, "unknown_op"),
            ({}, "missing_field"),
            ("text", "bad_type"),
            ({"op": 7}, "bad_type"),
        ],
    )
    def test_a_bad_operation_names_its_place_and_nothing_is_written(
        self,
        formats: Formats,
        sample: Source,
        edit: Json,
        tmp_path: Path,
        bad: Json,
        reason: str,
    ) -> None:
        """All or none: good operations before the bad one do not count."""
        out = tmp_path / "out"
        request = OpsRequest(name=sample.name, operations=[edit, edit, edit, bad])

        with pytest.raises(FormatError) as caught:
            formats.apply_ops(sample, request, out)

        assert caught.value.reason == reason
        assert (caught.value.detail or "").startswith("operations[3]")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.rule("F16.2")
    def test_a_missing_file_is_made_or_refused_as_asked(
        self, formats: Formats, sample: Source, edit: Json, tmp_path: Path
    ) -> None:
        """`create_new: false` and `create_if_missing: false` refuse alike."""
        request = OpsRequest(name=sample.name, operations=[edit])
        for refused in (
            replace(request, create_new=False),
            replace(request, create_if_missing=False),
        ):
            with pytest.raises(FormatError) as caught:
                formats.apply_ops(None, refused, tmp_path / "out")
            assert caught.value.reason == "not_found"


def _damaged(data: bytes) -> Iterator[bytes]:
    """Yield files that are broken in the usual ways, the same ones every time."""
    dice = random.Random(7)  # chance is not a secret here
    yield data[: len(data) // 2]
    yield data[:-30]
    yield data + b"\0" * 100
    yield data[:64]
    for _ in range(4):
        copy = bytearray(data)
        for _ in range(20):
            copy[dice.randrange(min(8, len(copy) - 1), len(copy))] = dice.randrange(256)
        yield bytes(copy)

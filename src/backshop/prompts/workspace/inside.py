"""Looks inside workbooks, documents and the like, for file tools that were given formats (P6.5)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from backshop.base.field_copy import made_from
from backshop.formats import FormatError, Formats, Read, Selector, Source

from .mount import FileProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPart(Selector):
    """Arguments of `read_file` where formats are at hand: a selector that the map lists."""

    path: str = field(metadata={"description": "Path of a file"})

    def selector(self) -> Selector:
        """Return which part is meant."""
        return made_from(Selector, self, without=("path",))


class Insides:
    """Maps and parts of file contents. Contents come as bytes and are gone after each call."""

    def __init__(self, formats: Formats) -> None:
        self._formats = formats

    def describe(self, path: str, sha256: str, data: bytes) -> dict[str, Any]:
        """Return what is known of a file, with its map if its format has one."""
        with self._source(path, sha256, data) as source:
            found: dict[str, Any] = dict(self._formats.get_info(source))
            try:
                found["map"] = self._formats.get_map(source, "prompt")
            except FormatError as error:
                found["map"], found["no_map"] = None, error.reason
        return found

    def read(self, path: str, sha256: str, data: bytes, selector: Selector) -> Read:
        """Return a part of a file as text.

        Raises:
            FileProblem: with the reason of F3.
        """
        with self._source(path, sha256, data) as source:
            try:
                return self._formats.read(source, selector)
            except FormatError as error:
                raise FileProblem(error.reason, error.message) from error

    @contextmanager
    def _source(self, path: str, sha256: str, data: bytes) -> Iterator[Source]:
        """Give the content a place on disk for one call: format workers read files."""
        with tempfile.TemporaryDirectory(prefix="backshop-inside-") as folder:
            place = Path(folder) / f"content{PurePosixPath(path).suffix}"
            place.write_bytes(data)
            yield self._formats.source(place, path, sha256)

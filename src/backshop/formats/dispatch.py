"""Which module reads which kind of file, built in or plugged in; has a worker do it (F1.4).

To plug in a kind: put its module in `BUILTIN` under its dotted name and run the conformance suite
`backshop.testing.conformance.formats` on it. Outside this package, declare an entry point in the
group `backshop.formats` whose name is the file ending without its dot; the module is then asked for
files of that ending that no built-in kind claims.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from backshop.base import limits as numbers

from .errors import fail
from .kind import (
    OTHER_WORKBOOKS,
    FileKind,
    classify,
    kind_of_name,
    refuse_read_only_name,
)
from .package.guard import check_size
from .protocol import Applied, Kind, Limits, OpsRequest, Source
from .worker.pool import Pool
from .worker.process import Task

HERE = "backshop.formats."
BUILTIN: Mapping[Kind, str] = {
    Kind.TEXT: HERE + "text.plain",
    Kind.CSV: HERE + "text.delimited",
    Kind.XLSX: HERE + "xlsx",
    Kind.DOCX: HERE + "docx",
    Kind.PPTX: HERE + "pptx",
    Kind.PDF: HERE + "pdf.document",
    Kind.ODT: HERE + "odt.document",
    Kind.IMAGE: HERE + "picture.image",
}
GROUP = "backshop.formats"
_TABLES = HERE + "table_task"
OFFICE = frozenset({Kind.XLSX, Kind.DOCX, Kind.PPTX})
_HARD = Limits(
    max_file_bytes=numbers.FILE_HARD_MAX_BYTES,
    max_text_bytes=numbers.TEXT_HARD_MAX_BYTES,
    archive_bytes=numbers.ARCHIVE_HARD_MAX_BYTES,
    part_bytes=numbers.PART_HARD_MAX_BYTES,
    map_timeout_s=30.0,
    read_timeout_s=30.0,
    write_timeout_s=30.0,
    render_timeout_s=120.0,
    worker_memory_bytes=numbers.WORKER_MEMORY_HARD_MAX_BYTES,
    sql_timeout_s=numbers.SQL_TIMEOUT_HARD_MAX_S,
    sql_memory_bytes=numbers.SQL_MEMORY_HARD_MAX_BYTES,
    sql_threads=numbers.SQL_HARD_MAX_THREADS,
    sql_spill_bytes=numbers.SQL_SPILL_HARD_MAX_BYTES,
    preview_cache_bytes=numbers.PREVIEW_CACHE_HARD_MAX_BYTES,
)


class Dispatcher:
    """Calls functions of format modules in workers, under the limits of F2.5."""

    def __init__(
        self,
        *,
        cache: Path | None,
        limits: Limits,
        workers: int,
        plugins: Mapping[str, str],
    ) -> None:
        self.limits = _checked(limits)
        self._cache = cache
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._plugins = dict(plugins)
        packages = tuple(f"{name.partition('.')[0]}." for name in self._plugins.values())
        memory = self.limits.worker_memory_bytes
        self._pool = Pool(workers=workers, memory_bytes=memory, packages=packages)

    def close(self) -> None:
        """End the workers and remove what was kept for them only."""
        self._pool.close()
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None
            del self._table_folder

    def classify(self, source: Source) -> FileKind:
        """Return the kind of a file from its name and first bytes (F2.1)."""
        try:
            with source.path.open("rb") as file:
                head = file.read(numbers.CLASSIFY_HEAD_BYTES)
        except FileNotFoundError as error:
            raise fail("not_found", f"there is no file {source.name!r}") from error
        return classify(source.name, head)

    def module(self, source: Source, kind: FileKind) -> str | None:
        """Return the module for a file, a plugin's where no built-in kind claims its ending."""
        if kind_of_name(source.name) is None:
            plugin = self._plugins.get(source.extension.lstrip("."))
            if plugin is not None:
                return plugin
        return BUILTIN.get(kind.kind)

    def readable(self, source: Source) -> tuple[str, Kind]:
        """Return module and kind of a file that can be read and is not too large."""
        kind = self.classify(source)
        module = self.module(source, kind)
        if module is None:
            raise fail("unsupported_format", f"{source.name!r} cannot be read")
        check_size(source, kind.kind, self.limits)
        return module, kind.kind

    def office(self, source: Source) -> str:
        """Return the module of an office file."""
        module, kind = self.readable(source)
        if kind not in OFFICE:
            raise fail("unsupported_format", f"{source.name!r} is not an office file")
        if source.extension in OTHER_WORKBOOKS:
            raise fail("unsupported_format", f"the looks of {source.name!r} are not read")
        return module

    def writable(self, existing: Source | None, name: str) -> Kind:
        """Return the kind of a target that may be written (F2.1, F23.9)."""
        kind = classify(name, b"") if existing is None and kind_of_name(name) is None else None
        promised = kind_of_name(name)
        if existing is not None:
            found = replace(existing, name=name)
            kind = self.classify(found)
            check_size(found, kind.kind, self.limits)
        refuse_read_only_name(name)
        what = kind.kind if kind is not None else promised
        if what is None or what is Kind.BINARY:
            raise fail("read_only_format", f"{name!r} is only read")
        return what

    def read_call(
        self, module: str, function: str, *args: object, timeout_s: float | None = None
    ) -> object:
        """Run a function that only reads; the sources among its arguments can be opened."""
        args = tuple(map(_absolute, args))
        task = Task(module=module, function=function, args=args, reads=_paths(args))
        return self._pool.call(task, timeout_s or self.limits.read_timeout_s)

    def map_call(self, module: str, function: str, *args: object) -> object:
        """Run a function that looks at whole files, in the time of a map."""
        return self.read_call(module, function, *args, timeout_s=self.limits.map_timeout_s)

    def write_call(self, module: str, function: str, out: Path, *args: object) -> Applied:
        """Run a function that writes `out`; on failure nothing is left there."""
        out, args = out.absolute(), tuple(map(_absolute, args))
        task = Task(
            module=module,
            function=function,
            args=args,
            reads=_paths(args),
            writes=(str(out.parent),),
            writing=True,
        )
        return self._written(task, self.limits.write_timeout_s, out)

    def _written(self, task: Task, timeout_s: float, out: Path) -> Applied:
        done = self._pool.call(task, timeout_s, (out,))
        assert isinstance(done, Applied)
        return done

    def table_read(
        self,
        function: str,
        source: Source,
        region: dict[str, object],
        arguments: dict[str, object],
    ) -> object:
        """Ask the table of a file; the first question also takes the file in."""
        task = Task(
            module=_TABLES,
            function="run",
            args=(function, _absolute(source), self._table_folder, region),
            kwargs=arguments,
            reads=_paths((source,)),
            writes=(str(self._table_folder),),
        )
        self.readable(source)
        return self._pool.call(task, self.limits.map_timeout_s + self.limits.sql_timeout_s)

    def table_write(
        self,
        function: str,
        source: Source,
        region: dict[str, object],
        out: Path,
        also: tuple[Source, ...],
        arguments: dict[str, object],
    ) -> Applied:
        """Have a table tool write `out`."""
        out = out.absolute()
        task = Task(
            module=_TABLES,
            function="run",
            args=(function, _absolute(source), self._table_folder, region),
            kwargs={**{name: _absolute(value) for name, value in arguments.items()}, "out": out},
            reads=_paths((source, *also)),
            writes=(str(self._table_folder), str(out.parent)),
            writing=True,
        )
        self.readable(source)
        return self._written(task, self.limits.map_timeout_s + self.limits.write_timeout_s, out)

    @cached_property
    def _table_folder(self) -> Path:
        if self._cache is None:  # kept as long as we are
            self._scratch = tempfile.TemporaryDirectory(prefix="backshop-tables-")
            return Path(self._scratch.name)
        folder = self._cache.absolute() / "tables"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def discover() -> dict[str, str]:
    """Return the endings and modules that installed plugins offer."""
    from importlib.metadata import entry_points  # loaded on first use

    return {point.name: point.value for point in entry_points(group=GROUP)}


def _checked(limits: Limits) -> Limits:
    """Refuse limits above the hard maxima of F2.5."""
    for name in limits.__slots__:
        most = getattr(_HARD, name)
        if not 0 < getattr(limits, name) <= most:
            raise fail("bad_value", f"{name} must be above 0 and at most {most}")
    return limits


def _absolute(value: object) -> object:
    """Return an argument that means the same in a worker, which has a folder of its own."""
    if isinstance(value, Path):
        return value.absolute()
    if isinstance(value, Source):
        return replace(value, path=value.path.absolute())
    if isinstance(value, OpsRequest):
        copied = value.copy_from
        return replace(
            value,
            copy_from=copied and replace(copied, path=copied.path.absolute()),
            files={
                name: replace(file, path=file.path.absolute()) for name, file in value.files.items()
            },
        )
    return value


def _paths(args: tuple[object, ...]) -> tuple[str, ...]:
    """Return the files behind the sources among the arguments."""
    sources = [arg for arg in args if isinstance(arg, Source)]
    requests = [arg for arg in args if isinstance(arg, OpsRequest)]
    sources += [request.copy_from for request in requests if request.copy_from is not None]
    sources += [file for request in requests for file in request.files.values()]
    return tuple(str(source.path.absolute()) for source in sources)

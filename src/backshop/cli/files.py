"""`backshop file`: look into any file from the terminal; they are only read (S4.2)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from backshop.base.errors import NotFound
from backshop.formats import (
    DialectWish,
    Formats,
    Json,
    Kind,
    Selector,
    Source,
    TextDiff,
    told_sheets,
    unsaid,
)

from .door import Door, DoorGroup, clean, clean_lines, coloured, pass_door, table, write_new
from .draft.also import also_lines, cell_text, line_texts, moved_from
from .lookup.figure import figure, summary

_FILE = click.Path(path_type=Path, dir_okay=False)


def _source(formats: Formats, path: Path) -> Source:
    """Return a file that a person named; one that is not there is told with its whole path.

    Raises:
        NotFound: it is not there.
    """
    if not (path.exists() or path.is_symlink()):
        raise NotFound(f"there is no file {str(path)!r}", reason="not_found")
    return formats.source(path)


_MAX_ROWS = 20  # of a list in a map, for people
_MAX_WIDTH = 48
_COLOURS = {"added": "green", "removed": "red"}
_SIGNS = {"added": "+", "removed": "-", "context": " "}


@click.group(cls=DoorGroup)
def file() -> None:
    """Map, read, query, compare or picture files; they are only read."""


def _dialect_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how a delimited file is written."""
    options = (
        click.option("--delimiter", help="Of a csv file; a space behind it: with spaces around."),
        click.option("--quote", help="Of a csv file; empty: nothing is quoted."),
        click.option("--escape", help="Of a csv file: a backslash, or empty for doubled quotes."),
        click.option("--skip", type=int, help="Lines of a csv file above its table."),
        click.option("--header", type=int, help="Rows of column names of a csv file, 0 to 3."),
        click.option("--encoding", help="Of a csv file, like cp1252."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@file.command("map")
@click.argument("path", type=_FILE)
@_dialect_options
@pass_door
def map_(door: Door, /, path: Path, **dialect: Any) -> None:
    """Show what is inside PATH: sheets, sections, slides, pages, columns."""
    wish = DialectWish(**dialect)
    with _formats(door) as formats:
        source = _source(formats, path)
        if wish.given:
            door.show(formats.open_table(source, dialect=wish).get_map(), _outline)
        else:
            door.show(formats.get_map(source), _outline)


@file.command()
@click.argument("path", type=_FILE)
@click.option("--chunk", "chunk_index", type=int, help="A chunk the map lists, from 0.")
@click.option("--sheet", help="Sheet of a workbook.")
@click.option("--range", "range", help="Cells of a sheet, like A1:E50.")
@click.option(
    "--cells",
    help="values, formulas, both, rules (of formats and validation), or notes (and links).",
)
@click.option("--section", help="Heading or number of a document's section.")
@click.option("--paragraphs", help="Paragraphs, from 0, like 3-9.")
@click.option("--slide", type=click.IntRange(min=1), help="Slide, from 1 as PowerPoint counts.")
@click.option("--slide-index", type=int, help="The same, from 0 as agents and maps count.")
@click.option("--pages", help="Pages of a PDF, like 1,4-6.")
@click.option("--line", "line_start", type=int, help="First line, from 1.")
@click.option("--lines", "line_count", type=int, help="How many lines.")
@click.option("--char-offset", type=int, help="Where in a very long line to go on.")
@pass_door
def read(door: Door, /, path: Path, slide: int | None, **selector: Any) -> None:
    """Print a part of PATH as text, and how to read on."""
    if slide is not None:
        if selector["slide_index"] not in (None, slide - 1):
            raise click.UsageError("--slide and --slide-index name different slides")
        selector["slide_index"] = slide - 1
    with _formats(door) as formats:
        part = formats.read(_source(formats, path), Selector(**selector))
    door.show(part.to_json(path.name), lambda value: clean_lines(str(value["text"])))
    if door.as_json:
        return
    for warning in part.warnings:
        where = f" ({clean(warning.where)})" if warning.where else ""
        click.echo(f"note: {warning.code}{where}", err=True)
    if part.chunk_info.next is not None:
        options = " ".join(_option(k, v) for k, v in part.chunk_info.next.given().items())
        here, total = part.chunk_info.chunk_index, part.chunk_info.total_chunks
        click.echo(f"chunk {here} of {total}; go on with: {clean(options)}", err=True)


@file.command()
@click.argument("path", type=_FILE)
@click.option("--page", type=int, help="Page or slide, from 1.")
@click.option("--sheet", help="Sheet of a workbook.")
@click.option("--range", "range_", help="Cells of a sheet, like A1:E50.")
@click.option("-o", "--output", type=_FILE, required=True, help="The PNG to write; a new file.")
@pass_door
def picture(
    door: Door,
    /,
    path: Path,
    page: int | None,
    sheet: str | None,
    range_: str | None,
    output: Path,
) -> None:
    """Write a page, slide, sheet or image of PATH as a picture, as agents see it."""
    with _formats(door) as formats:
        view = formats.view_page(_source(formats, path), page, sheet, range_)
    write_new(output, view.image)
    door.show({"path": str(output), **view.facts}, _pictured)


@file.command()
@click.argument("path", type=_FILE)
@click.argument("sql")
@click.option("--sheet", help="Sheet of a workbook.")
@click.option("--range", "range_", help="Cells of a sheet, like A1:E50.")
@click.option("--rows", default=100, show_default=True, help="How many rows to show.")
@click.option("--offset", default=0, show_default=True, help="Rows to leave out before them.")
@_dialect_options
@pass_door
def query(
    door: Door,
    /,
    path: Path,
    sql: str,
    sheet: str | None,
    range_: str | None,
    rows: int,
    offset: int,
    **dialect: Any,
) -> None:
    """Ask the table in PATH with one SELECT; the table is called `data`."""
    wish = DialectWish(**dialect)
    with _formats(door) as formats:
        asked = formats.open_table(
            _source(formats, path), sheet, range_, dialect=wish if wish.given else None
        )
        found = asked.query(sql, window_rows=rows, window_offset=offset)
    door.show(found, _result)


@file.command()
@click.argument("old", type=_FILE)
@click.argument("new", type=_FILE)
@pass_door
def diff(door: Door, old: Path, new: Path) -> None:
    """Show what differs between OLD and NEW: cells of workbooks, else lines."""
    with _formats(door) as formats:
        before, after = _source(formats, old), _source(formats, new)
        if {formats.classify(before).kind, formats.classify(after).kind} == {Kind.XLSX}:
            cells = formats.diff_cells(before, after)
            told = told_sheets(_listed(cells, "sheets"), _listed(cells, "lines"))
            same = before.sha256 == after.sha256
            rest = {} if same else formats.diff_rest(before, after)
            also = (
                unsaid(rest, told, is_anything_told=bool(_listed(cells, "sheets"))) if rest else []
            )
            door.show({**cells, "also": also}, lambda value: _and_also(_cells(value), also))
            return
        found = formats.diff_text(before, after)
        also = formats.diff_beside(before, after, is_told=bool(found.hunks or found.too_large))
    # a file on disk has no pages of answers
    whole = {key: value for key, value in found.to_json().items() if key != "cursor"}
    whole["also"] = also
    door.show(whole, lambda _: _and_also(_unified(found, before, after), also))


@contextmanager
def _formats(door: Door) -> Iterator[Formats]:
    """Open formats with the home's cache when there is one; else with one that goes away."""
    from backshop.app import open_formats  # loaded when a command needs it (S2.4)

    config = door.config()
    with tempfile.TemporaryDirectory(prefix="backshop-file-") as folder:
        cache = config.home / "cache" if config.home.is_dir() else Path(folder)
        with open_formats(config, cache, workers=1) as formats:
            yield formats


def _pictured(value: Mapping[str, Json]) -> str:
    """Return what a picture shows, who drew it, and what of the file is not in it."""
    size = f"{value['width']} x {value['height']} pixels"
    said = [f"wrote {value['path']}: {value['shown']}, {size}, drawn by {value['drawn_by']}"]
    missing = value["missing"]
    said += [f"not drawn: {one}" for one in missing] if isinstance(missing, list) else []
    return "\n".join(map(clean, said))


def _option(name: str, value: object) -> str:
    if name == "slide_index" and isinstance(value, int):
        return f"--slide {value + 1}"
    spelled = {"chunk_index": "chunk", "line_start": "line"}
    spelled["line_count"] = "lines"
    return f"--{spelled.get(name, name.replace('_', '-'))} {value}"


def _outline(value: Mapping[str, Json]) -> str:
    """Return a map for people: its facts, then its lists as tables."""
    facts: list[tuple[str, ...]] = [
        (name, _brief(item))
        for name, item in value.items()
        if not _is_rows(item) and _brief(item) and name != "map_version"
    ]
    parts = [table(facts, ("", "")).strip("\n")]
    for name, item in value.items():
        if _is_rows(item):
            assert isinstance(item, Sequence)
            parts.append(_rows(name, [row for row in item if isinstance(row, Mapping)]))
    return "\n\n".join(parts)


def _is_rows(item: Json) -> bool:
    return isinstance(item, Sequence) and bool(item) and isinstance(item[0], Mapping)


def _rows(name: str, rows: list[Mapping[str, Json]]) -> str:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    shown = [tuple(_brief(row.get(column)) for column in columns) for row in rows[:_MAX_ROWS]]
    kept = [at for at in range(len(columns)) if any(row[at] for row in shown)]
    body = table([tuple(row[at] for at in kept) for row in shown], tuple(columns[a] for a in kept))
    more = f"\n… {len(rows) - _MAX_ROWS} more" if len(rows) > _MAX_ROWS else ""
    return f"{name} ({len(rows)})\n{body}{more}"


def _brief(item: Json) -> str:
    """Return a value in few characters; long lists by their number."""
    if item is None or item is False or item == [] or item == {}:
        return ""
    if item is True:
        return "yes"
    if isinstance(item, str):
        text = item
    elif isinstance(item, float):
        text = figure(item)
    elif _is_rows(item):
        assert isinstance(item, Sequence)
        text = f"{len(item)} listed"
    elif isinstance(item, Sequence):
        text = ", ".join(map(_brief, item))
    elif isinstance(item, Mapping):
        text = " ".join(f"{key}={_brief(value)}" for key, value in item.items())
    else:
        text = json.dumps(item)
    return clean(text if len(text) <= _MAX_WIDTH else text[: _MAX_WIDTH - 1] + "…")


def _result(value: Mapping[str, Any]) -> str:
    """Return rows as a table, and how many there are in all."""
    columns = value["columns"]
    rows = [
        tuple("" if cell is None else _brief(cell) or str(cell) for cell in summary(columns, row))
        for row in value["rows"]
    ]
    body = table(rows, tuple(clean(str(name)) for name in columns))
    return f"{body}\n({value['row_count']} of {value['total_row_count']} rows)"


def _unified(found: TextDiff, before: Source, after: Source) -> str:
    if found.too_large:
        return f"too large to compare: about +{found.added} -{found.removed} lines"
    if not found.hunks:
        return "no differences" + (f" in lines ({', '.join(found.flags)})" if found.flags else "")
    lines = [f"--- {clean(before.name)}", f"+++ {clean(after.name)}"]
    for hunk in found.hunks:
        old, new = f"-{hunk.old_start},{hunk.old_count}", f"+{hunk.new_start},{hunk.new_count}"
        lines.append(f"@@ {old} {new} @@")
        lines += [
            coloured(_SIGNS[line.type] + clean_lines(line.text), _COLOURS.get(line.type))
            for line in hunk.lines
        ]
    return "\n".join(lines)


def _listed(cells: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = cells[name]
    return found


def _and_also(text: str, also: Sequence[Mapping[str, Any]]) -> str:
    """Return a difference with what changed beside it."""
    return "\n".join([*([text] if text else []), *also_lines(also)])


def _cells(value: Mapping[str, Any]) -> str:
    """Return a cell diff for people."""
    lines = list(line_texts(value["lines"], value["following"]))
    for sheet in value["sheets"]:
        marks = [word for word in ("added", "removed") if sheet.get(word)]
        if sheet.get("renamed_from"):
            marks.append(f"(was {clean(sheet['renamed_from'])})")
        cells = sheet.get("cells") or []
        if marks or cells:
            title = clean(str(sheet.get("name") or sheet.get("sheet") or ""))
            number = f"  {sheet['cell_count']} changed cell(s)" if sheet["cell_count"] else ""
            lines.append(f"{title} {' '.join(marks)}".rstrip() + number)
        lines += [f"  {cell['cell']}{moved_from(cell)}  {cell_text(cell)}" for cell in cells]
    if value.get("more"):
        lines.append(f"… {value['more']} more")
    return "\n".join(lines) or "no differences"

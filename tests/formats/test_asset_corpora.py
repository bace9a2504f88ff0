"""Styles, pictures and layouts of files others made, copied into other files others made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backshop.formats import FormatError, Selector, docx, pptx, xlsx
from backshop.formats.errors import REASONS

from .office import raw_members, show, source, word
from .rates import Rate
from .xlsx.books import opened

pytestmark = pytest.mark.needs("corpora")
FOLDERS = ("xlsx-features", "ooxml-odd", "office-fixtures")
MODULES: dict[str, Any] = {"xlsx": xlsx, "docx": docx, "pptx": pptx}
READERS: dict[str, Any] = {"xlsx": opened, "docx": word, "pptx": show}
CORPUS = {"xlsx": "workbooks", "docx": "documents", "pptx": "decks"}
TYPES = {
    "xlsx": {"cell_style", "column_widths", "conditional_formats", "named_style", "number_format"},
    "docx": {"paragraph_style", "character_style", "table_style", "image", "header", "footer"},
    "pptx": {"layout", "text_style", "image"},
}
SAMPLE = {"xlsx": 21, "docx": 4, "pptx": 2}


def assets(kind: str, giver: Any, taker: Any) -> Iterator[dict[str, Any]]:
    """Yield one asset of every type a file has, and where it is to go."""
    found: Any = MODULES[kind].get_styles(giver)
    listed = [entry for value in found.values() if isinstance(value, list) for entry in value]
    ids = [entry["asset_id"] for entry in listed if isinstance(entry, dict) and "asset_id" in entry]
    if kind == "xlsx":
        name = found["sheets"][0]
        ids += [f"column_widths:{name}"]
        ids += [f"conditional_formats:{one['sheet']}" for one in found["conditional_formats"]]
    place: dict[str, Any] = {"target": "0", "target_slide": 0, "target_shape": 0}
    if kind == "xlsx":
        sheets: Any = xlsx.get_info(taker)["sheets"]
        place = {"target": "B2:C3", "target_sheet": sheets[-1]["name"]}
    for one in {asset.partition(":")[0]: asset for asset in ids}.values():
        yield {"asset_id": one, **place}


def opens(kind: str, path: Path) -> bool:
    try:
        READERS[kind](path)
    except Exception:  # the second reader fails on some of these files in its own ways
        return False
    return True


@pytest.mark.rule("F22.1", "F22.2", "F22.3", "F22.4", "F23.1", "F16.14")
@pytest.mark.parametrize("kind", MODULES)
def test_an_asset_of_every_type_goes_from_file_to_file_and_nothing_else_changes(
    kind, corpora, tmp_path, scaled, record_property
):
    files = sorted(p for folder in FOLDERS for p in (corpora / folder).rglob(f"*.{kind}"))
    files = files[:: scaled(SAMPLE[kind], 1)]
    module, out = MODULES[kind], tmp_path / f"out.{kind}"
    rate, copied, unread = Rate(f"assets between {CORPUS[kind]}"), set(), 0

    for giver, taker in zip(files, files[1:] + files[:1], strict=True):
        try:
            wishes = list(assets(kind, source(giver), source(taker)))
        except FormatError as error:
            assert error.reason in REASONS
            unread += 1
            continue
        for wish in wishes:
            out.unlink(missing_ok=True)
            try:
                applied = module.copy_assets(source(giver), source(taker), [wish], out)
            except FormatError as error:
                assert error.reason in REASONS, (giver.name, taker.name, wish)
                assert not out.exists()
                rate.refuse(error)
                continue
            copied.add(wish["asset_id"].partition(":")[0])
            before, after = raw_members(taker), raw_members(out)
            changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
            assert changed == set(applied.changed_parts), (giver.name, taker.name, wish)
            assert applied.effects.collateral == (), (giver.name, taker.name, wish)
            module.read(source(out), Selector())
            assert not opens(kind, taker) or opens(kind, out), (giver.name, taker.name, wish)
            rate.edited += 1

    rate.record(record_property)
    record_property("pairs of files that cannot be read", unread)
    assert copied == TYPES[kind]

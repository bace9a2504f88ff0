"""Every field of every operation of documents and decks: missing, of a wrong type, too many."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from backshop.formats import FormatError
from backshop.formats.docx.edit import schema as docx_schema
from backshop.formats.pptx import schema as pptx_schema
from backshop.formats.write.operation import Arg, OpSpec

from .office import a_document_and_a_deck, edit, warnings

Example = dict[str, Any]
RULES = Path(__file__).resolve().parents[2] / "docs" / "spec" / "formats.md"
DOCX: dict[str, Example] = {
    "set_paragraphs": {"paragraphs": [{"text": "a"}]},
    "append_paragraph": {"text": "a"},
    "insert_paragraphs": {"anchor": {"paragraph": 0}, "paragraphs": [{"text": "a"}]},
    "replace_section": {"section": "One", "paragraphs": [{"text": "a"}]},
    "delete_paragraphs": {"from": 0, "to": 0},
    "replace_text": {"search": "One", "replace": "Two"},
    "append_table": {"rows": [["a", "b"]]},
    "set_table_cells": {"table": 0, "cells": [{"row": 0, "column": 0, "text": "a"}]},
    "add_table_rows": {"table": 0, "rows": [["a", "b"]]},
    "delete_table_rows": {"table": 0, "from": 0, "to": 0},
}
PPTX: dict[str, Example] = {
    "add_slide": {"title": "a"},
    "set_slide_text": {"index": 0, "title": "a"},
    "append_bullets": {"index": 0, "bullets": ["a"]},
    "replace_text": {"search": "One", "replace": "Two"},
    "set_table_cells": {"index": 1, "shape": 0, "cells": [{"row": 0, "column": 0, "text": "a"}]},
    "set_notes": {"index": 0, "notes": "a"},
    "move_slide": {"index": 0, "to": 1},
    "delete_slide": {"index": 0},
    "set_hidden": {"index": 0, "hidden": True},
}
KINDS = {"docx": (docx_schema.SPECS, DOCX), "pptx": (pptx_schema.SPECS, PPTX)}
EVERY = [(kind, spec) for kind, (specs, _) in KINDS.items() for spec in specs]
FIELDS = [(kind, spec, arg) for kind, spec in EVERY for arg in spec.args]
OTHER_TYPES = {str: 5, int: "5th", bool: "perhaps", list: {"a": 1}, dict: [1]}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    return a_document_and_a_deck(tmp_path_factory.mktemp("files"))


def label(value: object) -> str:
    return value.name if isinstance(value, OpSpec | Arg) else str(value)


def refused(path: Path, operation: Example) -> FormatError:
    out = path.with_name("out-" + path.name)
    out.unlink(missing_ok=True)
    with pytest.raises(FormatError) as caught:
        edit(path, operation)
    assert not out.exists()
    return caught.value


@pytest.mark.rule("F19", "F20")
@pytest.mark.parametrize("kind", KINDS)
def test_the_operations_are_those_of_the_specification(kind):
    specs, examples = KINDS[kind]
    title = {"docx": "## F19 DOCX operations", "pptx": "## F20 PPTX operations"}[kind]
    section = RULES.read_text(encoding="utf-8").split(title)[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)

    assert [name for name, _ in rows] == [spec.name for spec in specs] == list(examples)
    for (_, text), spec in zip(rows, specs, strict=True):
        told = set(re.findall(r"`(\w+)[`\[]", text))
        by_reference = {"append_paragraph", "set_slide_text", "append_bullets"}
        assert spec.name in by_reference or {arg.name for arg in spec.args} <= told | {"alignment"}


@pytest.mark.rule("F16.6", "F16.4")
@pytest.mark.parametrize(("kind", "spec"), EVERY, ids=label)
def test_an_operation_works_and_a_field_nobody_knows_is_refused(files, kind, spec):
    example = {"op": spec.name, **KINDS[kind][1][spec.name]}

    applied, _ = edit(files[kind], {**example, "colour_of_the_sky": None})
    error = refused(files[kind], {**example, "colour_of_the_sky": "blue"})

    assert applied.effects.collateral == ()
    assert error.reason == "unknown_field"
    assert (error.detail or "").startswith("operations[0].colour_of_the_sky: ")


@pytest.mark.rule("F16.6")
@pytest.mark.parametrize(("kind", "spec"), EVERY, ids=label)
def test_a_field_of_another_operation_says_that_the_wrong_one_was_chosen(files, kind, spec):
    specs, examples = KINDS[kind]
    own = {name for arg in spec.args for name in (arg.name, *arg.aliases)}
    foreign = next(a.name for other in specs for a in other.args if a.name not in own)

    error = refused(files[kind], {"op": spec.name, **examples[spec.name], foreign: "x"})

    assert error.reason == "unknown_field"
    assert set(error.hints) <= own


@pytest.mark.rule("F16.4", "F16.7")
@pytest.mark.parametrize(("kind", "spec", "arg"), FIELDS, ids=label)
def test_a_field_of_a_wrong_type_is_named_or_as_a_look_left_out(files, kind, spec, arg):
    operation = {"op": spec.name, **KINDS[kind][1][spec.name]}

    if arg.kind is object:
        applied, _ = edit(files[kind], {**operation, arg.name: {"a": [1]}})
        assert warnings(applied).get("style_value_ignored") == 1
        return
    error = refused(files[kind], {**operation, arg.name: OTHER_TYPES[arg.kind]})

    assert error.reason == "bad_type"
    assert (error.detail or "").startswith(f"operations[0].{arg.name}")


@pytest.mark.rule("F16.4")
@pytest.mark.parametrize(
    ("kind", "spec", "arg"), [one for one in FIELDS if one[2].required], ids=label
)
@pytest.mark.parametrize("given", ["absent", "null"])
def test_a_needed_field_that_is_missing_is_named(files, kind, spec, arg, given):
    operation = {"op": spec.name, **KINDS[kind][1][spec.name]}
    del operation[arg.name]

    error = refused(files[kind], operation | ({arg.name: None} if given == "null" else {}))

    assert error.reason == "missing_field"
    assert (error.detail or "").startswith(f"operations[0].{arg.name}")

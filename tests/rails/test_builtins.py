"""The catalogue for authors: complete, and what it says to insert compiles."""

from __future__ import annotations

import json

import pytest

from backshop.rails.catalog.builtin import SUMMARY_MAX_CHARS, builtins
from backshop.rails.catalog.catalog import Catalog
from backshop.rails.catalog.source import Places
from backshop.rails.compile import compile_data
from backshop.rails.compile.features import FEATURES
from backshop.rails.compile.refs import REFS
from backshop.rails.packs import PACKS

LIBRARY = Catalog(Places()).look().library
ALL = builtins(LIBRARY)


def inserted(one):
    """Put a builtin into a workflow the way its insert text says."""
    text = json.loads(one.insert_text)
    step: dict[str, object] = {"id": "a", "title": "A", "prompt": "Do it."}
    top: dict[str, object] = {}
    if one.kind == "template":
        args = {name: value or "x" for name, value in text["templateCall"]["args"].items()}
        call = {**text["templateCall"], "args": args}
        step = {"id": "a", "title": "A", "templateCall": call}
    elif one.kind == "ref":
        step = {"id": "a", "title": "A", "promptBlocks": {"goal": ["x", text][1:]}}
    elif one.kind == "feature":
        top = {"features": [text]}
    elif one.kind == "contract":
        step |= text
    else:
        top = text
    head = {"id": "team.x", "name": "X", "description": "X.", "version": "1.0.0"}
    return {**head, **top, "steps": [step, {"id": "z", "title": "Z", "prompt": "End."}]}


@pytest.mark.rule("R11.5")
def test_everything_is_listed():
    by_kind = {kind: {one.id for one in ALL if one.kind == kind} for kind in {k.kind for k in ALL}}

    assert by_kind == {
        "template": set(LIBRARY.template_ids),
        "feature": set(FEATURES),
        "contract": set(PACKS),
        "ref": set(REFS),
        "capability": {"delegation", "web_browsing"},
        "preset": {"guided", "full_auto", "full_auto_nonstop"},
    }
    assert all(0 < len(one.summary) <= SUMMARY_MAX_CHARS for one in ALL)


@pytest.mark.rule("R11.5")
@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_what_it_says_to_insert_compiles(one):
    outcome = compile_data(inserted(one), library=LIBRARY, strict=True)

    assert outcome.compiled is not None, outcome.findings


def test_a_routine_lists_its_arguments():
    challenge = next(one for one in ALL if one.id == "wr.templates.routine.challenge")

    assert challenge.args_schema == {
        "type": "object",
        "properties": {"subject": {"type": ["string", "number", "boolean"]}},
        "required": ["subject"],
    }

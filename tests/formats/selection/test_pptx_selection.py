"""Changes of presentations one by one: any choice of them is exactly what the file then has."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from pptx import Presentation
from tests.conftest import CORPORA, PROOF
from tests.formats.office import members, source
from tests.formats.selection import decks
from tests.formats.selection.contents import subsets

from backshop.formats import ChangeUnit, FormatError, Formats, OpsRequest, Place, Source
from backshop.formats import pptx as pptx_format

HISTORIES = range(300 if PROOF else 4)
CHOICES = 6 if PROOF else 2
DECKS = sorted(
    path
    for folder in ("ooxml-odd", "office-fixtures")
    for path in (CORPORA / folder).glob("*.pptx")
)
OPERATIONS: list[dict[str, Any]] = [
    {"op": "add_slide", "title": "Zebra crossing", "notes": "wait here", "index": 0},
    {"op": "set_notes", "index": 1, "notes": "other notes"},
    {"op": "set_hidden", "index": 1, "hidden": True},
    {"op": "replace_text", "search": "e", "replace": "Q7"},
    {"op": "add_slide", "title": "The end"},
]


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    return decks.rich_deck(tmp_path_factory.mktemp("deck") / "deck.pptx")


def labels(units: list[ChangeUnit]) -> list[str]:
    return [unit.label for unit in units]


def only(units: list[ChangeUnit], word: str) -> ChangeUnit:
    (found,) = [unit for unit in units if word in unit.label]
    return found


def holds_for_every_choice(before: Source, after: Source, out: Path, seed: int) -> None:
    units = pptx_format.separate(before, after)
    ids = {unit.id for unit in units}
    assert len(ids) == len(units)
    for left_out in subsets(units, seed, CHOICES):
        pptx_format.compose(before, after, left_out, out)
        made = source(out)

        assert {unit.id for unit in pptx_format.separate(before, made)} == ids - left_out
        assert bool(pptx_format.separate(made, after)) == bool(left_out)
        Presentation(str(out))
        if left_out == ids:
            assert out.read_bytes() == before.path.read_bytes()
        if not left_out:
            assert pptx_format.extract_deck(made) == pptx_format.extract_deck(after)


@pytest.mark.rule("F34.20", "F34.28")
@pytest.mark.parametrize("history", HISTORIES)
def test_any_choice_of_edits_of_another_program_is_what_the_deck_has(tmp_path, rich, history):
    rng = random.Random(history)
    edits = rng.sample(decks.EDITS, rng.randint(4, 8))
    after = decks.edited(rich, tmp_path / "after.pptx", *edits, seed=history)

    holds_for_every_choice(source(rich), source(after), tmp_path / "out.pptx", history)


@pytest.mark.needs("corpora")
@pytest.mark.parametrize("path", DECKS if PROOF else DECKS[::4], ids=lambda path: path.name)
@pytest.mark.rule("F34.20", "F34.28")
def test_any_choice_of_operations_is_what_a_deck_of_the_corpora_has(tmp_path, path):
    before, at = source(path), path
    for number, operation in enumerate(OPERATIONS):
        made = tmp_path / f"{number}.pptx"
        try:
            request = OpsRequest(name=path.name, operations=[operation])
            pptx_format.apply_ops(source(at), request, made)
        except FormatError:
            continue
        at = made
    if at == path:
        pytest.skip("nothing can be changed in it")

    holds_for_every_choice(before, source(at), tmp_path / "out.pptx", 1)


@pytest.mark.rule("F34.20", "F34.21")
def test_changes_are_named_by_slide_and_shape(tmp_path, rich):
    made = Presentation(str(rich))
    points = made.slides[1]
    points.shapes.title.text = "Other points"
    points.shapes.title.left, points.shapes.title.top = 9, 9
    points.shapes.title.width, points.shapes.title.height = 99, 99
    points.placeholders[1].text_frame.paragraphs[0].runs[0].font.bold = True
    points.notes_slide.notes_text_frame.text = "say beta"
    decks.set_values(made, random.Random(1))
    made.slides[5]._element.set("show", "0")
    made.save(str(tmp_path / "after.pptx"))

    units = pptx_format.separate(source(rich), source(tmp_path / "after.pptx"))

    assert [(unit.kind, unit.group, unit.label) for unit in units] == [
        ("shape", "looks", "slide 2: Title 1 (place and look)"),
        ("shape", "text", "slide 2: Title 1 (text)"),
        ("shape", "looks", "slide 2: Content Placeholder 2 (look of the text)"),
        ("part", "text", "slide 2: notes"),
        ("shape", "values", "slide 3: Chart 2 (content)"),
        ("part", "other", "slide 6: properties"),
    ]
    assert (units[1].before, units[1].after) == ("Points", "Other points")
    assert units[1].place == Place(slide_index=1, shape=0)
    assert (units[3].before, units[3].after) == ("say alpha", "say beta")


@pytest.mark.rule("F34.22")
def test_a_slide_left_out_takes_its_own_parts_away_and_no_others(tmp_path, rich):
    after = decks.edited(
        rich, tmp_path / "after.pptx", decks.add_slide, decks.set_cell, decks.add_slide, seed=3
    )
    sides = (source(rich), source(after))
    units = pptx_format.separate(*sides)
    slides = frozenset(unit.id for unit in units if unit.kind == "slide")
    out = tmp_path / "out.pptx"

    pptx_format.compose(*sides, slides, out)

    old, new = members(rich), members(out)
    assert len(slides) == 2
    assert old.keys() == new.keys()
    assert [name for name in old if old[name] != new[name]] == ["ppt/slides/slide3.xml"]


@pytest.mark.rule("F34.22")
def test_a_chart_that_is_exchanged_leaves_nothing_behind(tmp_path, rich):
    after = decks.edited(rich, tmp_path / "after.pptx", decks.set_values, decks.set_cell, seed=3)
    sides = (source(rich), source(after))
    units = pptx_format.separate(*sides)
    out = tmp_path / "out.pptx"

    pptx_format.compose(*sides, frozenset({only(units, "Table").id}), out)

    assert len(members(out)) == len(members(rich))
    slide = Presentation(str(out)).slides[2]
    (chart,) = [shape.chart for shape in slide.shapes if shape.has_chart]
    (table,) = [shape.table for shape in slide.shapes if shape.has_table]
    assert tuple(chart.plots[0].series[0].values)[1] == 4
    assert table.cell(1, 1).text == "cell 11"


@pytest.mark.rule("F34.25")
def test_a_deck_with_macros_inside_is_the_whole_file(tmp_path, rich):
    sides = []
    for at, text in enumerate(("one", "two")):
        path = decks.edited(rich, tmp_path / f"{at}.pptx", decks.set_text, seed=at)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("ppt/vbaProject.bin", text)
        sides.append(source(path))

    (unit,) = pptx_format.separate(*sides)

    assert unit.kind == "file"


@pytest.mark.rule("F34.22")
def test_a_slide_that_stays_out_of_a_removal_keeps_its_parts(tmp_path, rich):
    made = Presentation(str(rich))
    entries = made.slides._sldIdLst
    made.part.drop_rel(entries[2].rId)
    entries.remove(entries[2])
    made.slides[0].shapes.title.text = "Kept"
    made.save(str(tmp_path / "after.pptx"))
    sides = (source(rich), source(tmp_path / "after.pptx"))
    units = pptx_format.separate(*sides)
    out = tmp_path / "out.pptx"

    pptx_format.compose(*sides, frozenset({only(units, "slide 3 (removed)").id}), out)

    old, new = members(rich), members(out)
    assert old.keys() == new.keys()
    assert [name for name in old if old[name] != new[name]] == ["ppt/slides/slide1.xml"]


@pytest.mark.rule("F34.23")
@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (decks.animate_new, ("animations", "TextBox")),
        (decks.connect_new, ("Connector", "TextBox")),
        (decks.link_new, ("(added)", "(place and look)")),
        (decks.add_comment, ("comments", "commentAuthors")),
    ],
)
def test_what_needs_another_change_goes_with_it(tmp_path, rich, edit, words):
    after = decks.edited(rich, tmp_path / "after.pptx", edit, seed=1)

    (unit,) = pptx_format.separate(source(rich), source(after))

    assert unit.tied
    assert all(word in unit.label for word in words)


@pytest.mark.rule("F34.24")
def test_slides_that_were_moved_are_one_change(tmp_path, rich):
    made = Presentation(str(rich))
    entries = made.slides._sldIdLst
    for at in (0, 2):
        entry = entries[at]
        entries.remove(entry)
        entries.append(entry)
    made.slides[0].shapes.title.text = "Other points"
    made.save(str(tmp_path / "after.pptx"))
    sides = (source(rich), source(tmp_path / "after.pptx"))
    units = pptx_format.separate(*sides)
    out = tmp_path / "out.pptx"

    pptx_format.compose(*sides, frozenset({only(units, "order of slides").id}), out)

    assert len(units) == 2
    titles = [slide.shapes.title for slide in Presentation(str(out)).slides]
    assert [title and title.text for title in titles] == [
        *("Spring plan", "Other points", None, "Drawn", "Linked", "End"),
    ]


@pytest.mark.rule("F34.25")
def test_a_slide_with_an_id_used_twice_is_one_change(tmp_path, rich):
    after = decks.edited(rich, tmp_path / "after.pptx", decks.copy_shape, seed=1)

    (unit,) = pptx_format.separate(source(rich), source(after))

    assert (unit.kind, bool(unit.tied)) == ("slide", True)


@pytest.mark.rule("F34.25")
def test_slides_numbered_anew_are_the_whole_file(tmp_path, rich):
    made = Presentation(str(rich))
    for entry in made.slides._sldIdLst:
        entry.set("id", str(int(entry.get("id")) + 1000))
    made.save(str(tmp_path / "after.pptx"))

    (unit,) = pptx_format.separate(source(rich), source(tmp_path / "after.pptx"))

    assert unit.kind == "file"


@pytest.mark.rule("F34.20")
def test_a_deck_saved_again_has_no_changes(tmp_path, rich):
    after = decks.edited(rich, tmp_path / "after.pptx")

    assert pptx_format.separate(source(rich), source(after)) == []


@pytest.mark.rule("F34.26")
def test_sections_list_the_slides_that_are_there(tmp_path, rich):
    request = OpsRequest(
        name="deck.pptx",
        operations=[
            {"op": "add_slide", "title": "New", "index": 1},
            {"op": "delete_slide", "index": 3},
            {"op": "set_hidden", "index": 0, "hidden": True},
        ],
    )
    after = tmp_path / "after.pptx"
    pptx_format.apply_ops(source(rich), request, after)
    sides = (source(rich), source(after))
    units = pptx_format.separate(*sides)
    out = tmp_path / "out.pptx"

    pptx_format.compose(*sides, frozenset({only(units, "(removed)").id}), out)

    root = etree.fromstring(members(out)["ppt/presentation.xml"])
    listed = [
        [one.get("id") for one in section.iter(f"{{{decks.P14}}}sldId")]
        for section in root.iter(f"{{{decks.P14}}}section")
    ]
    assert listed == [["256", "262", "257", "258"], ["259", "260", "261"]]


@pytest.mark.rule("F34.30")
def test_the_door_proves_what_it_wrote(tmp_path, rich):
    after = decks.edited(rich, tmp_path / "after.pptx", decks.set_text, decks.set_cell, seed=5)
    sides = (source(rich), source(after))
    out = tmp_path / "out.pptx"
    with Formats(workers=1) as formats:
        first, second = formats.separate(*sides)

        formats.compose(*sides, frozenset({first.id}), out)

        assert formats.separate(sides[0], formats.source(out)) == [second]


# --- places -------------------------------------------------------------------------------------


def found(before: Path, after: Path, **place: Any) -> tuple[Place | None, bool]:
    (one,) = pptx_format.relocate(source(before), source(after), [Place(**place)])
    return one.place, one.is_touched


@pytest.mark.rule("F34.27")
def test_slides_and_shapes_are_found_by_their_ids(tmp_path, rich):
    made = Presentation(str(rich))
    entries = made.slides._sldIdLst
    entry = entries[1]
    entries.remove(entry)
    entries.insert(0, entry)
    points = made.slides[0]
    points.shapes.title.text = "Other points"
    body = points.placeholders[1]._element
    body.getparent().insert(2, body)
    last = made.slides[5].shapes.title._element
    last.getparent().remove(last)
    made.save(str(tmp_path / "after.pptx"))
    after = tmp_path / "after.pptx"

    assert found(rich, after, slide_index=1) == (Place(slide_index=0), True)
    assert found(rich, after, slide_index=0) == (Place(slide_index=1), False)
    assert found(rich, after, slide_index=1, shape=0) == (Place(slide_index=0, shape=1), True)
    assert found(rich, after, slide_index=1, shape=1) == (Place(slide_index=0, shape=0), False)
    assert found(rich, after, slide_index=5, shape=0) == (None, True)
    assert found(rich, after, words="beta") == (
        Place(slide_index=0, shape=0, words="beta"),
        False,
    )
    assert found(rich, after, slide_index=1, shape=0, words="Points") == (
        Place(slide_index=0, shape=1),
        True,
    )


@pytest.mark.rule("F34.27")
@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (Place(slide_index=9), "unknown_slide"),
        (Place(slide_index=0, shape=9), "bad_index"),
        (Place(shape=1), "bad_selector"),
        (Place(sheet="S"), "bad_selector"),
        (Place(words="nowhere"), "no_match"),
        (Place(slide_index=0, shape=0, words="cell"), "no_match"),
        (Place(slide_index=3, words="a"), "ambiguous_match"),
    ],
)
def test_a_place_that_a_deck_has_not_is_refused(rich, place, reason):
    with pytest.raises(FormatError) as caught:
        pptx_format.require_place(source(rich), place)

    assert caught.value.reason == reason

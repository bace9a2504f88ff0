"""Changes of documents one by one: each can be left, and what remains is exactly the others."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from docx import Document as WordDocument
from docx.shared import Pt

from backshop.base.place import FILE, Place
from backshop.formats import FormatError, OpsRequest
from backshop.formats import docx as docx_format
from backshop.formats.diff.prose import diff_documents
from backshop.formats.selection.change_unit import GROUPS, ChangeUnit

from ..office import W, edit, members, paragraph, reworked, run, source, with_body, word

FOLDERS = ("ooxml-odd", "office-fixtures")
OPS: list[dict[str, Any]] = [
    {"op": "replace_text", "search": "the", "replace": "teh"},
    {"op": "insert_paragraphs", "anchor": {"paragraph": 0}, "paragraphs": [
        {"text": "A new line", "list": "number"},
        {"runs": [{"text": "see "}, {"text": "here", "hyperlink": "https://example.org/x"}]},
    ]},
    {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "column": 0, "text": "cell x"}]},
    {"op": "add_table_rows", "table": 0, "rows": [["row x"]]},
    {"op": "append_table", "rows": [["a", "b"], ["c", "d"]]},
    {"op": "delete_paragraphs", "from": 2, "to": 3},
    {"op": "append_paragraph", "text": "The end", "style": "Heading 2"},
    {"op": "append_paragraph", "text": "Last of all", "list": "bullet"},
]  # fmt: skip


def documents(corpora: Path) -> list[Path]:
    return sorted(p for folder in FOLDERS for p in (corpora / folder).glob("*.docx"))


def units_of(before: Path, after: Path) -> list[ChangeUnit]:
    found = docx_format.separate(source(before), source(after))
    assert len({unit.id for unit in found}) == len(found)
    assert all(unit.group in GROUPS for unit in found)
    return found


def lines(path: Path) -> list[str]:
    return docx_format.extract_lines(source(path))


def leave(before: Path, after: Path, left: Sequence[ChangeUnit], out: Path) -> Path:
    """Compose without some units; what is left over is exactly the others."""
    return mixed(before, after, units_of(before, after), left, out)


def mixed(
    before: Path,
    after: Path,
    units: Sequence[ChangeUnit],
    left: Sequence[ChangeUnit],
    out: Path,
) -> Path:
    ids = frozenset(unit.id for unit in left)
    out.unlink(missing_ok=True)
    docx_format.compose(source(before), source(after), ids, out)
    assert {unit.id for unit in units_of(before, out)} == {unit.id for unit in units} - ids
    return out


def check_mixtures(before: Path, after: Path, out: Path) -> list[ChangeUnit]:
    """Leave every change by itself, some two by two, none, all."""
    units = units_of(before, after)
    tried = [left for size in (1, 2) for left in combinations(units, size) if size < len(units)]
    for left in [*tried[: len(units)], *tried[len(units) :: 4]]:
        mixed(before, after, units, left, out)
        word(out)
        assert left[0] is not units[0] or units_of(out, after)
    docx_format.compose(source(before), source(after), frozenset(), out)
    assert out.read_bytes() == after.read_bytes()
    docx_format.compose(source(before), source(after), frozenset(u.id for u in units), out)
    assert out.read_bytes() == before.read_bytes()
    return units


def made(path: Path, operations: Sequence[dict[str, Any]], out: Path) -> bool:
    """Apply all of the operations that this file takes."""
    done: list[dict[str, Any]] = []
    for op in operations:
        try:
            ask = OpsRequest(name=path.name, operations=[*done, op])
            docx_format.apply_ops(source(path), ask, out)
            done.append(op)
        except FormatError:
            continue
    if done:
        ask = OpsRequest(name=path.name, operations=done)
        docx_format.apply_ops(source(path), ask, out)
    return bool(done)


def opens(path: Path) -> bool:
    try:
        word(path)
    except Exception:  # the second reader fails on some of these files in its own ways
        return False
    return True


def shown(before: Path, after: Path) -> bool:
    """Whether the review shows any difference between two documents."""
    sides = [docx_format.extract_document(source(path)) for path in (before, after)]
    sections = diff_documents(sides[0], sides[1], lines(before), lines(after))
    rest = docx_format.diff_rest(source(before), source(after))["rest"]
    return any(section["changes"] for section in sections) or bool(rest)


# --- files of others ---------------------------------------------------------------------------


@pytest.mark.needs("corpora")
@pytest.mark.rule("F34.10", "F34.11", "F34.18")
def test_any_mixture_of_edits_in_documents_of_others_shows_exactly_the_rest(
    corpora, tmp_path, scaled
):
    after, out = tmp_path / "after.docx", tmp_path / "out.docx"
    dice = random.Random(3)
    tried = whole = 0
    for path in documents(corpora)[:: scaled(12, 1)]:
        if not made(path, OPS, after):
            continue
        units = units_of(path, after)
        whole += units[0].kind == "file"
        for _ in range(scaled(2, 20)):
            left = [unit for unit in units if dice.random() < 0.5]
            mixed(path, after, units, left, out)
            assert not opens(path) or opens(out), path.name
            tried += 1
            assert left == [] or units_of(out, after)
    assert tried > 5
    assert whole == 0


@pytest.mark.needs("corpora")
@pytest.mark.rule("F34.18")
def test_all_changes_taken_by_hand_give_a_document_in_which_a_review_sees_no_difference(
    corpora, tmp_path, scaled
):
    from backshop.formats.docx.selection.composition import _Composer
    from backshop.formats.docx.selection.plan import Plan
    from backshop.formats.docx.text.source import Document

    after, out = tmp_path / "after.docx", tmp_path / "out.docx"
    for path in documents(corpora)[:: scaled(14, 1)]:
        if made(path, OPS, after):
            plan = Plan(Document.open(source(path)), Document.open(source(after)))
            _Composer(plan, frozenset()).run()
            plan.old.package.save(out)
            assert lines(out) == lines(after), path.name
            assert not shown(out, after), path.name


# --- blocks ------------------------------------------------------------------------------------


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    return with_body(
        tmp_path / "letter.docx",
        paragraph("First of all, the quick brown fox.")
        + paragraph()
        + paragraph("Second, dogs ", "(b)bark", " in the night.")
        + paragraph()
        + paragraph("Third and last.")
        + "<w:sectPr/>",
    )


@pytest.mark.rule("F34.10", "F34.11")
def test_added_removed_and_changed_paragraphs_are_left_one_by_one(letter, tmp_path):
    _, after = edit(
        letter,
        {"op": "replace_text", "search": "quick", "replace": "slow"},
        {"op": "delete_paragraphs", "from": 2, "to": 3},
        {"op": "append_paragraph", "text": "Fourth", "list": "number"},
        {"op": "append_paragraph", "text": "Fifth", "list": "bullet"},
    )

    units = check_mixtures(letter, after, tmp_path / "mix.docx")

    assert [(unit.before, unit.after) for unit in units] == [
        ("quick", "slow"),
        ("Second, dogs bark in the night.\n", None),
        (None, "Fourth"),
        (None, "Fifth"),
    ]
    assert units[0].place == Place(paragraph=0, words="slow")
    assert units[2].place == Place(paragraph=3)


@pytest.mark.rule("F34.15")
def test_what_a_new_paragraph_needs_comes_and_goes_with_it(letter, tmp_path):
    link = {"text": "here", "hyperlink": "https://example.org/x"}
    _, after = edit(
        letter,
        {"op": "append_paragraph", "text": "item", "list": "number"},
        {"op": "append_paragraph", "runs": [{"text": "see "}, link]},
    )
    item, see = units_of(letter, after)

    without_list = leave(letter, after, [item], tmp_path / "one.docx")
    parts = members(without_list)
    assert parts["word/numbering.xml"] == members(letter)["word/numbering.xml"]
    assert b"https://example.org/x" in parts["word/_rels/document.xml.rels"]

    without_link = leave(letter, after, [see], tmp_path / "two.docx")
    assert b"example.org" not in members(without_link)["word/_rels/document.xml.rels"]


@pytest.mark.rule("F34.10")
def test_a_moved_paragraph_is_one_change(letter, tmp_path):
    body = members(letter)["word/document.xml"].decode()
    third = paragraph("Third and last.")
    moved = body.replace(third, "").replace("<w:body>", "<w:body>" + third)
    after = reworked(letter, {"word/document.xml": (body, moved)})

    units = check_mixtures(letter, after, tmp_path / "mix.docx")

    assert [(unit.group, unit.label) for unit in units] == [("structure", "paragraph 0 (moved)")]


@pytest.mark.rule("F34.10", "F34.17")
def test_blank_lines_between_many_changes_do_not_blur_them(tmp_path):
    texts = [f"paragraph number {number} of many" for number in range(12)]
    body = "".join(paragraph(text) + paragraph() + paragraph() for text in texts)
    before = with_body(tmp_path / "before.docx", body + "<w:sectPr/>")
    ops = [{"op": "delete_paragraphs", "from": at, "to": at + 1} for at in (3, 12, 24)]
    _, after = edit(
        before,
        {"op": "replace_text", "search": "7", "replace": "seven"},
        *ops,
        {"op": "insert_paragraphs", "anchor": {"paragraph": 16}, "paragraphs": [{"text": "new"}]},
        {"op": "append_paragraph", "text": "end"},
    )

    units = units_of(before, after)

    assert [unit.before for unit in units] == [
        f"{texts[1]}\n", f"{texts[4]}\n", None, "7", f"{texts[8]}\n", None,
    ]  # fmt: skip
    check_mixtures(before, after, tmp_path / "mix.docx")


# --- words and looks ---------------------------------------------------------------------------


def changed(tmp_path: Path, old: str, new: str) -> tuple[Path, Path, list[ChangeUnit]]:
    """Make two versions of a document around a paragraph; check every mixture of them."""
    around = paragraph("Something above.") + "{}" + paragraph("Something below.") + "<w:sectPr/>"
    before = with_body(tmp_path / "before.docx", around.format(old))
    after = with_body(tmp_path / "after.docx", around.format(new))
    return before, after, check_mixtures(before, after, tmp_path / "mix.docx")


@pytest.mark.rule("F34.12")
def test_every_word_change_of_a_paragraph_can_be_left(tmp_path):
    old = paragraph("The red fox and ", "(i)the old dog", " ran over the bridge to the sea.")
    new = paragraph("The blue fox and ", "(i)the young dog", " ran over the bridge to a lake.")

    before, after, units = changed(tmp_path, old, new)

    assert [(unit.before, unit.after) for unit in units] == [
        ("red", "blue"), ("old", "young"), ("the sea", "a lake"),
    ]  # fmt: skip
    mixed = leave(before, after, units[:1], tmp_path / "out.docx")
    made = word(mixed).paragraphs[1]
    assert made.text == "The red fox and the young dog ran over the bridge to a lake."
    assert "".join(r.text for r in made.runs if r.italic) == "the young dog"


@pytest.mark.rule("F34.13")
def test_words_and_their_look_are_two_changes(tmp_path):
    old = paragraph("The red fox ran over the bridge to the sea.")
    new = paragraph("The blue fox ", "(b)ran over", " the bridge to the sea.")

    before, after, units = changed(tmp_path, old, new)

    assert [unit.group for unit in units] == ["text", "looks"]
    assert units[0].after == "blue"
    plain = leave(before, after, units[1:], tmp_path / "out.docx")
    assert [r.bold for r in word(plain).paragraphs[1].runs] == [None] * len(
        word(plain).paragraphs[1].runs
    )
    assert word(plain).paragraphs[1].text == "The blue fox ran over the bridge to the sea."


@pytest.mark.rule("F34.13")
def test_another_style_of_the_same_words_is_a_look(tmp_path):
    old, new = paragraph("The same words."), paragraph("The same words.", style="Heading1")

    _, _, units = changed(tmp_path, old, new)

    assert [unit.group for unit in units] == ["looks"]


@pytest.mark.rule("F34.12")
def test_words_in_links_fields_and_around_bookmarks_stay_whole(tmp_path):
    link = '<w:hyperlink w:anchor="x">' + run("a link") + "</w:hyperlink>"
    mark = '<w:bookmarkStart w:id="7" w:name="x"/>' + run("marked") + '<w:bookmarkEnd w:id="7"/>'
    field = "".join(
        f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' + inner
        for kind, inner in (
            ("begin", "<w:r><w:instrText>PAGE</w:instrText></w:r>"),
            ("separate", run("1")),
            ("end", ""),
        )
    )
    text = "<w:p>{}" + link + run(" and ") + mark + run(" as well as ") + field + "{}</w:p>"
    old = text.format(run("Here is "), run(" the end of it all."))
    new = text.format(run("There is "), run(" the start of it all.")).replace("a link", "the link")

    _, _, units = changed(tmp_path, old, new)

    assert [(unit.before, unit.after) for unit in units] == [
        ("Here", "There"), ("a link", "the link"), ("end", "start"),
    ]  # fmt: skip


@pytest.mark.rule("F34.12")
def test_a_paragraph_rewritten_all_over_is_one_change_that_says_why(tmp_path):
    words = [letter * 2 for letter in "abcdefghijklmnopqrstuvwx"]
    new = [word.upper() if at % 3 == 0 else word for at, word in enumerate(words)]
    swapped = [*new[12:], *new[:12]]

    _, _, units = changed(tmp_path, paragraph(" ".join(words)), paragraph(" ".join(swapped)))

    assert [unit.kind for unit in units if unit.tied] == ["paragraph"]


@pytest.mark.rule("F34.17")
def test_repeated_words_do_not_blur_changes(tmp_path):
    old = paragraph("the the the end the the")
    new = paragraph("the the end the the the")

    changed(tmp_path, old, new)


# --- tables ------------------------------------------------------------------------------------


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    document = WordDocument()
    document.add_heading("Prices", 1)
    table = document.add_table(4, 3)
    for row in range(4):
        for column in range(3):
            table.cell(row, column).text = f"cell {row} {column}"
    document.add_paragraph("below")
    made: Path = tmp_path / "prices.docx"
    document.save(str(made))
    return made


@pytest.mark.rule("F34.14")
def test_cells_and_rows_are_changes_of_their_own(prices, tmp_path):
    cells = [{"row": 1, "column": 2, "text": "12 euro"}, {"row": 1, "column": 0, "text": "pears"}]
    _, after = edit(
        prices,
        {"op": "set_table_cells", "table": 0, "cells": cells},
        {"op": "delete_table_rows", "table": 0, "from": 2, "to": 2},
        {"op": "add_table_rows", "table": 0, "rows": [["new", "row", "here"]]},
    )

    units = check_mixtures(prices, after, tmp_path / "mix.docx")

    assert [unit.place for unit in units] == [
        Place(paragraph=1, table_row=1, table_column=0),
        Place(paragraph=1, table_row=1, table_column=2),
        None,
        Place(paragraph=1, table_row=3),
    ]


@pytest.mark.rule("F34.14")
def test_rows_of_merged_cells_make_the_table_one_change(prices, tmp_path):
    document = word(prices)
    document.tables[0].cell(1, 0).merge(document.tables[0].cell(2, 0))
    before = tmp_path / "merged.docx"
    document.save(str(before))
    _, after = edit(before, {"op": "delete_table_rows", "table": 0, "from": 2, "to": 2})

    units = check_mixtures(before, after, tmp_path / "mix.docx")

    assert [(unit.kind, bool(unit.tied)) for unit in units] == [("table", True)]


@pytest.mark.rule("F34.14")
def test_a_new_table_keeps_the_paragraph_that_ends_it(prices, tmp_path):
    _, after = edit(
        prices,
        {"op": "append_table", "rows": [["a"]], "anchor": {"paragraph": 1, "at": "after"}},
        {"op": "append_paragraph", "text": "end"},
    )

    units = check_mixtures(prices, after, tmp_path / "mix.docx")

    assert len(units) == 2


# --- what reaches across -----------------------------------------------------------------------


@pytest.mark.rule("F34.16")
def test_blocks_that_hold_the_two_ends_of_something_are_taken_together(tmp_path):
    start, end = '<w:bookmarkStart w:id="1" w:name="here"/>', '<w:bookmarkEnd w:id="1"/>'
    plain = paragraph("one one") + paragraph("between") + paragraph("two two")
    body = f"<w:p>{start}{run('one one')}</w:p>" + paragraph("between")
    body += f"<w:p>{run('two two')}{end}</w:p>"
    before = with_body(tmp_path / "before.docx", plain + "<w:sectPr/>")
    after = with_body(tmp_path / "after.docx", body + "<w:sectPr/>")

    units = check_mixtures(before, after, tmp_path / "mix.docx")

    assert [unit.tied for unit in units] == ["a bookmark reaches across them"]


@pytest.mark.rule("F34.16")
def test_a_field_over_several_paragraphs_is_never_torn(tmp_path):
    def char(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    body = f"<w:p>{char('begin')}{char('separate')}{run('one')}</w:p>" + paragraph("two")
    body += f"<w:p>{run('three')}{char('end')}</w:p>" + paragraph("four")
    before = with_body(tmp_path / "before.docx", body + "<w:sectPr/>")
    after = with_body(tmp_path / "after.docx", paragraph("four") + "<w:sectPr/>")

    units = check_mixtures(before, after, tmp_path / "mix.docx")

    assert sorted(unit.before or "" for unit in units) == ["one\nthree", "two"]


# --- parts -------------------------------------------------------------------------------------


@pytest.fixture
def report(tmp_path: Path) -> Path:
    document = WordDocument()
    document.add_heading("Report", 1)
    document.add_paragraph("The first paragraph of the report.")
    document.add_paragraph("The second paragraph of the report.")
    document.sections[0].header.paragraphs[0].text = "A header"
    made: Path = tmp_path / "report.docx"
    document.save(str(made))
    return made


def resaved(path: Path, change: Callable[[Any], None], out: Path) -> Path:
    """Change a document with a foreign writer, which writes all parts anew."""
    document = word(path)
    change(document)
    document.save(str(out))
    return out


@pytest.mark.rule("F34.15", "F34.18")
def test_headers_styles_and_page_setup_are_changes_of_their_own(report, tmp_path):
    def change(document: Any) -> None:
        document.sections[0].header.paragraphs[0].text = "Another header"
        document.sections[0].left_margin = Pt(30)
        document.styles["Normal"].font.size = Pt(15)
        document.paragraphs[1].runs[0].text = "The first line of the report."
        document.add_paragraph("Written by another program")

    after = resaved(report, change, tmp_path / "after.docx")

    units = check_mixtures(report, after, tmp_path / "mix.docx")

    assert [(unit.kind, unit.group) for unit in units] == [
        ("paragraph", "text"),
        ("paragraph", "text"),
        ("part", "looks"),
        ("part", "looks"),
        ("part", "text"),
    ]


PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


@pytest.mark.rule("F34.15")
def test_a_picture_comes_with_its_paragraph_and_not_without(report, tmp_path):
    picture = tmp_path / "dot.png"
    picture.write_bytes(PIXEL)

    def change(document: Any) -> None:
        document.add_picture(str(picture))
        document.paragraphs[2].runs[0].text = "The second line of the report."

    after = resaved(report, change, tmp_path / "after.docx")

    units = check_mixtures(report, after, tmp_path / "mix.docx")

    assert [unit.kind for unit in units] == ["paragraph", "paragraph"]
    out = leave(report, after, units[1:], tmp_path / "out.docx")
    assert not [name for name in members(out) if "media" in name]
    out = leave(report, after, units[:1], tmp_path / "out.docx")
    assert [members(out)[name] for name in members(out) if "media" in name] == [PIXEL]


@pytest.mark.rule("F34.15")
def test_a_removed_picture_stays_while_its_paragraph_does(report, tmp_path):
    picture = tmp_path / "dot.png"
    picture.write_bytes(PIXEL)
    before = resaved(
        report, lambda document: document.add_picture(str(picture)), tmp_path / "b.docx"
    )

    def change(document: Any) -> None:
        last = document.paragraphs[-1]._p
        last.getparent().remove(last)
        document.paragraphs[2].runs[0].text = "The second line of the report."

    after = resaved(before, change, tmp_path / "after.docx")

    check_mixtures(before, after, tmp_path / "mix.docx")


@pytest.mark.rule("F34.15")
def test_a_comment_comes_with_the_words_it_is_about(report, tmp_path):
    def change(document: Any) -> None:
        document.add_comment(document.paragraphs[1].runs, text="is this so?", author="me")
        document.paragraphs[2].runs[0].text = "The second line of the report."

    after = resaved(report, change, tmp_path / "after.docx")

    units = check_mixtures(report, after, tmp_path / "mix.docx")

    assert len(units) == 2
    out = leave(report, after, units[:1], tmp_path / "out.docx")
    assert list(word(out).comments) == []


@pytest.mark.rule("F34.10")
def test_saved_again_by_another_program_is_no_change(report, tmp_path):
    after = resaved(report, lambda _: None, tmp_path / "after.docx")

    assert units_of(report, after) == []


@pytest.mark.rule("F34.10")
def test_how_runs_are_cut_is_no_change(tmp_path):
    old = paragraph("one two three") + "<w:sectPr/>"
    new = paragraph("one t", "wo ", "three") + "<w:sectPr/>"
    before = with_body(tmp_path / "before.docx", old)
    after = with_body(tmp_path / "after.docx", new)

    assert units_of(before, after) == []


# --- odd and hostile ---------------------------------------------------------------------------


@pytest.mark.rule("F34.18")
def test_what_cannot_be_parted_is_one_change_of_the_whole_file(letter, tmp_path):
    after = reworked(letter, {}, {"word/vbaProject.bin": b"macros"})

    (unit,) = units_of(letter, after)

    assert unit.kind == "file"
    assert unit.tied
    out = tmp_path / "out.docx"
    docx_format.compose(source(letter), source(after), frozenset({unit.id}), out)
    assert out.read_bytes() == letter.read_bytes()


@pytest.mark.rule("F34.18")
def test_an_unreadable_side_is_refused_as_a_read_is(letter, tmp_path):
    broken = tmp_path / "broken.docx"
    broken.write_bytes(letter.read_bytes()[:900])

    with pytest.raises(FormatError) as caught:
        docx_format.separate(source(letter), source(broken))

    assert caught.value.reason == "corrupt_file"


@pytest.mark.rule("F34.17")
def test_a_long_document_is_separated_in_time(tmp_path, scaled):
    texts = [f"Paragraph {n} says something about {n * 7}." for n in range(scaled(300, 2_000))]
    body = "".join(paragraph(text) + paragraph() for text in texts)
    before = with_body(tmp_path / "before.docx", body + "<w:sectPr/>")
    changed = [paragraph(text.replace("something", "a lot") if n % 10 == 0 else text)
               for n, text in enumerate(texts)]  # fmt: skip
    after = with_body(
        tmp_path / "after.docx", "".join(one + paragraph() for one in changed) + "<w:sectPr/>"
    )

    units = units_of(before, after)

    assert len(units) == len(texts) // 10
    mixed(before, after, units, units[::2], tmp_path / "out.docx")


@pytest.mark.rule("F34.11")
def test_ids_do_not_depend_on_the_other_changes(letter, tmp_path):
    _, one = edit(letter, {"op": "replace_text", "search": "quick", "replace": "slow"})
    one = one.rename(tmp_path / "one.docx")
    _, both = edit(
        letter,
        {"op": "replace_text", "search": "quick", "replace": "slow"},
        {"op": "insert_paragraphs", "anchor": {"paragraph": 0, "at": "before"}, "paragraphs": [
            {"text": "on top"}]},
    )  # fmt: skip

    assert {u.id for u in units_of(letter, one)} < {u.id for u in units_of(letter, both)}


@pytest.mark.rule("F34.10")
def test_a_body_without_paragraphs_can_be_filled_and_emptied(tmp_path):
    empty = with_body(tmp_path / "empty.docx", f'<w:sectPr xmlns:w="{W}"/>')
    _, filled = edit(empty, {"op": "append_paragraph", "text": "one"})

    assert lines(leave(empty, filled, (), tmp_path / "out.docx")) == ["one"]
    check_mixtures(empty, filled, tmp_path / "mix.docx")
    check_mixtures(filled, empty, tmp_path / "mix.docx")


# --- places ------------------------------------------------------------------------------------


def went(before: Path, after: Path, *places: Place) -> list[tuple[Place | None, bool]]:
    found = docx_format.relocate(source(before), source(after), places)
    return [(one.place, one.is_touched) for one in found]


@pytest.mark.rule("F34.19")
def test_places_stay_with_their_paragraphs(letter):
    _, after = edit(
        letter,
        {"op": "replace_text", "search": "quick", "replace": "slow"},
        {"op": "insert_paragraphs", "anchor": {"paragraph": 0, "at": "before"}, "paragraphs": [
            {"text": "on top"}]},
        {"op": "delete_paragraphs", "from": 4, "to": 4},
    )  # fmt: skip

    assert went(
        letter,
        after,
        Place(paragraph=0),
        Place(paragraph=0, words="fox"),
        Place(paragraph=0, words="quick"),
        Place(paragraph=2),
        Place(paragraph=4),
        Place(words="night"),
        FILE,
    ) == [
        (Place(paragraph=1), True),
        (Place(paragraph=1, words="fox"), False),
        (Place(paragraph=1), True),
        (Place(paragraph=3), False),
        (None, True),
        (Place(paragraph=3, words="night"), False),
        (FILE, True),
    ]
    assert went(letter, letter, FILE) == [(FILE, False)]


@pytest.mark.rule("F34.19")
def test_places_in_tables_stay_with_their_rows(prices):
    _, after = edit(
        prices,
        {"op": "add_table_rows", "table": 0, "rows": [["x", "y", "z"]], "at": 0},
        {"op": "set_table_cells", "table": 0, "cells": [{"row": 2, "column": 1, "text": "new"}]},
        {"op": "delete_table_rows", "table": 0, "from": 3, "to": 3},
    )

    assert went(
        prices,
        after,
        Place(paragraph=1, table_row=1, table_column=1),
        Place(paragraph=1, table_row=2, table_column=1),
        Place(paragraph=1, table_row=3),
    ) == [
        (Place(paragraph=1, table_row=2, table_column=1), False),
        (Place(paragraph=1, table_row=3, table_column=1), True),
        (None, True),
    ]


@pytest.mark.rule("F34.19")
def test_a_moved_paragraph_takes_its_place_along(letter):
    body = members(letter)["word/document.xml"].decode()
    third = paragraph("Third and last.")
    moved = body.replace(third, "").replace("<w:body>", "<w:body>" + third)
    after = reworked(letter, {"word/document.xml": (body, moved)})

    assert went(letter, after, Place(paragraph=4)) == [(Place(paragraph=0), False)]


@pytest.mark.rule("F34.19")
@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (Place(paragraph=99), "bad_range"),
        (Place(paragraph=-1), "bad_range"),
        (Place(paragraph=2, paragraph_end=1), "bad_range"),
        (Place(sheet="Q1"), "bad_selector"),
        (Place(paragraph=0, slide_index=1), "bad_selector"),
        (Place(paragraph_end=1), "bad_selector"),
        (Place(paragraph=0, words="zebra"), "no_match"),
        (Place(words="zebra"), "no_match"),
        (Place(words="cell"), "no_match"),
        (Place(words=""), "no_match"),
        (Place(paragraph=0, table_row=0), "bad_range"),
        (Place(words="of the"), "no_match"),
    ],
)
def test_a_place_that_is_not_there_is_refused(letter, place, reason):
    with pytest.raises(FormatError) as caught:
        docx_format.require_place(source(letter), place)

    assert caught.value.reason == reason


@pytest.mark.rule("F34.19")
def test_words_that_stand_in_two_paragraphs_are_ambiguous(report):
    with pytest.raises(FormatError) as caught:
        docx_format.require_place(source(report), Place(words="paragraph of"))

    assert caught.value.reason == "ambiguous_match"
    assert docx_format.require_place(source(report), Place(words="first")) == Place(
        paragraph=1, words="first"
    )


@pytest.mark.rule("F34.19")
def test_a_covered_cell_is_the_one_that_shows_there(prices, tmp_path):
    document = word(prices)
    document.tables[0].cell(1, 0).merge(document.tables[0].cell(2, 1))
    merged = tmp_path / "merged.docx"
    document.save(str(merged))

    for row, column in ((1, 0), (1, 1), (2, 0), (2, 1)):
        asked = Place(paragraph=1, table_row=row, table_column=column)
        assert docx_format.require_place(source(merged), asked) == Place(
            paragraph=1, table_row=1, table_column=0
        )


# --- chance ------------------------------------------------------------------------------------

Line = tuple[tuple[str, bool], ...]  # words, and whether they are bold


def a_line(dice: random.Random) -> Line:
    """Return few words of a small vocabulary: much of it repeats."""
    count = 0 if dice.random() < 0.3 else dice.randint(1, 9)
    return tuple((f"w{dice.randrange(8)}", dice.random() < 0.15) for _ in range(count))


def edited(dice: random.Random, text: Sequence[Line]) -> list[Line]:
    made = list(text)
    for _ in range(dice.randint(1, 8)):
        at, chance = dice.randrange(len(made) + 1), dice.random()
        if chance < 0.3 or at == len(made):
            made.insert(at, a_line(dice))
        elif chance < 0.5:
            del made[at]
        elif chance < 0.6:
            made.insert(dice.randrange(len(made)), made.pop(at))
        elif made[at]:
            words = list(made[at])
            spot = dice.randrange(len(words))
            words[spot] = (f"w{dice.randrange(8)}", dice.random() < 0.3)
            made[at] = tuple(words[: spot + 1] if chance < 0.7 else words)
    return made


def written(path: Path, text: Sequence[Line]) -> Path:
    body = "".join(
        paragraph(*(f"{'(b)' if bold else ''}{word} " for word, bold in line)) for line in text
    )
    return with_body(path, body + "<w:sectPr/>")


@pytest.mark.rule("F34.12", "F34.17", "F34.18")
def test_mixtures_of_texts_that_repeat_themselves_show_exactly_the_rest(tmp_path, scaled):
    dice = random.Random(11)
    kinds = []
    for _ in range(scaled(8, 1_000)):
        text = [a_line(dice) for _ in range(dice.randint(1, 12))]
        before = written(tmp_path / "before.docx", text)
        after = written(tmp_path / "after.docx", edited(dice, text))
        units = units_of(before, after)
        kinds += [unit.kind for unit in units]
        left = [unit for unit in units if dice.random() < 0.5]
        mixed(before, after, units, left, tmp_path / "out.docx")
    assert "paragraph" in kinds
    assert "file" not in kinds

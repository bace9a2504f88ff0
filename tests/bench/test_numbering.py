"""One slide has one name: what tools say of it can be given back to them (F44)."""

from __future__ import annotations

import pytest

from backshop.formats import FormatError, operation_sheet


@pytest.fixture
def deck(use):
    """Make a deck of four slides; the second one is to be talked about."""
    slides = [{"op": "add_slide", "title": f"Title {n}", "body": "Text"} for n in (1, 2, 3, 4)]
    made = use("pptx_operations", path="deck.pptx", create_new=True, operations=slides)
    return made.value


def write(use, **operation):
    return use("pptx_operations", path="deck.pptx", operations=[operation])


@pytest.mark.rule("F44.1", "F44.2", "F16.5", "F20.8")
def test_a_write_says_a_slide_in_words_and_by_the_field_that_takes_it(room, use, deck):
    wrote = write(use, op="set_slide_text", slide_index=1, title="Agenda", body="New").value
    read = use("read_file", path="deck.pptx", slide_index=1).value

    assert deck["effects"]["changed"][1]["where"] == "slides 1-4"
    assert wrote["changes"] == [{"op_index": 0, "summary": "slide 2 (slide_index 1) text set"}]
    assert (wrote["focus"], wrote["warnings"]) == ({"slide_index": 1}, [])
    assert wrote["effects"]["targets"] == ["slide 2 shapes 1-2"]
    (changed,) = wrote["effects"]["changed"]
    assert (changed["where"], changed["slide_index"]) == ("slide 2 shapes 1-2", 1)
    assert read["text"] == "# slide 2 (slide_index 1): Agenda\nNew"
    told = use("review_draft").value["entries"][0]["summary"]
    assert "slide 2 text set" in told
    assert "slide_index" not in told


@pytest.mark.rule("F44.1", "F44.2", "F43.71")
def test_what_one_tool_says_of_a_slide_another_takes(room, use, deck):
    wrote = write(use, op="set_slide_text", slide_index=1, body="New").value
    (changed,) = wrote["effects"]["changed"]
    heading = use("read_file", path="deck.pptx", slide_index=1).value["text"].split("\n")[0]
    seen = use("view_page", path="deck.pptx", place=changed["where"]).value

    said = {"slide_index": 1, "shape": 1}
    assert changed == {"kind": "shape", "where": "slide 2 shape 2", "aspect": "value", **said}
    assert (seen["shown"], seen["slide_index"]) == ("slide 2 of 4", 1)
    assert [(one["place"], one["shape"]) for one in seen["places"]] == [
        ("slide 2 shape 1", 0),
        ("slide 2 shape 2", 1),
    ]
    place = heading.removeprefix("# ").partition(":")[0]
    assert use("view_page", path="deck.pptx", place=place).value["slide_index"] == 1
    lines = use("review_draft", path="deck.pptx").value["body"]["hunks"][0]["lines"]
    assert "# slide 2: Title 2" in [one["text"] for one in lines]
    room.call("ReviewAddComment", path="deck.pptx", at="slide 2", text="Shorter")
    (remark,) = use("list_comments").value["comments"]
    assert (remark["place"]["slide_index"], remark["place_text"]) == (1, "slide 2")


@pytest.mark.rule("F44.2", "F20.8")
def test_slides_that_go_and_come_are_called_as_the_call_calls_them(use, deck):
    gone = {"op": "delete_slide", "index": 0}
    text = {"op": "set_slide_text", "index": 1, "title": "Agenda"}
    new = {"op": "add_slide", "title": "New", "index": 1}
    moved = {"op": "move_slide", "index": 3, "to": 1}
    wrote = use("pptx_operations", path="deck.pptx", operations=[gone, text, new, moved]).value

    assert [one["summary"] for one in wrote["changes"]] == [
        "slide 1 (slide_index 0) deleted",
        "slide 2 (slide_index 1) text set",
        "slide 2 (slide_index 1) added (Title and Content), called slide_index 4 in this call",
        "slide 4 (slide_index 3) moved, now slide 2 (slide_index 1)",
    ]
    removed = [one for one in wrote["effects"]["changed"] if one["aspect"] == "removed"]
    assert removed == [{"kind": "slide", "where": "slide 1", "aspect": "removed"}]


@pytest.mark.rule("F44.4")
def test_a_slide_that_is_not_there_is_refused_by_the_name_it_was_given(use, deck):
    said = "slide_index 4: there are 4 slides, slide_index 0 to 3"

    assert write(use, op="set_notes", slide_index=4, notes="x").message == said
    assert use("read_file", path="deck.pptx", slide_index=4).message == said
    assert (
        write(use, op="move_slide", index=0, to=4).message == "to 4: there are 4 slides, to 0 to 3"
    )
    seen = use("view_page", path="deck.pptx", place="slide 5")
    assert (seen.message, seen.value["hints"]) == ("there is no slide 5", ["slide 1 to 4"])
    cells = [{"row": 0, "column": 0, "text": "x"}]
    table = write(use, op="set_table_cells", slide_index=1, shape=0, cells=cells)
    assert table.message == "shape: 0 is no table of slide 2 (slide_index 1)"


@pytest.mark.rule("F44.3", "F44.4")
def test_places_of_a_document_are_those_of_its_fields(use):
    make = [{"op": "append_paragraph", "text": "one"}, {"op": "append_table", "rows": [["a", "b"]]}]
    use("docx_operations", path="w.docx", create_new=True, operations=make)
    cells = [{"row": 0, "column": 1, "text": "new"}]
    edit = {"op": "set_table_cells", "table": 0, "cells": cells}
    wrote = use("docx_operations", path="w.docx", operations=[edit]).value
    wrong = use("docx_operations", path="w.docx", operations=[{**edit, "table": 3}])

    assert wrote["effects"]["targets"] == ["paragraph 1 row 0 column 1"]
    assert wrong.message == "there is no table 3; there is table 0 only"


@pytest.mark.rule("F44.5")
def test_agents_are_told_cells_by_name(room, use):
    cells = [{"cell": "B2", "value": 1}, {"cell": "C4", "value": 2}]
    make = {"op": "set_cells", "sheet": "S", "cells": cells}
    wrote = use("xlsx_operations", path="x.xlsx", create_new=True, operations=[make]).value
    room.call("DraftPublish")
    change = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "C4", "value": 3}]}
    use("xlsx_operations", path="x.xlsx", operations=[change])
    told = str(use("review_draft", path="x.xlsx").value) + str(use("review_draft").value)

    assert wrote["focus"] == {"sheet": "S", "range": "B2:C4"}
    assert "'range': 'C4'" in told
    assert "row_start" not in told


@pytest.fixture
def book(use):
    """Make a workbook with a chart beside its numbers."""
    values = [["Month", "Sales"], *([f"M{n}", n] for n in range(1, 13))]
    operations = [
        {"op": "ensure_sheet", "sheet": "The plan"},
        {"op": "set_range", "sheet": "The plan", "start": "A1", "values": values},
        {
            "op": "add_chart",
            "sheet": "The plan",
            "kind": "line",
            "data": "A1:B13",
            "cell": "D2",
            "title": "Sales",
        },
    ]
    made = use("xlsx_operations", path="book.xlsx", create_new=True, operations=operations)
    assert made.ok, made
    return made.value


@pytest.mark.rule("F44.1", "W26.1")
def test_what_a_write_says_of_a_sheet_can_be_looked_at(use, book):
    (chart,) = (one for one in book["effects"]["changed"] if one["kind"] == "chart")
    (sheet,) = (one for one in book["effects"]["changed"] if one["kind"] == "sheet")
    assert (sheet["where"], sheet["aspect"]) == ("The plan", "added")  # as its summary says
    sizes = {"op": "set_row_heights", "sheet": "The plan", "rows": [{"row": 3, "height": 30}]}
    wrote = use("xlsx_operations", path="book.xlsx", operations=[sizes]).value
    (row,) = wrote["effects"]["changed"]

    def shown(place: str) -> object:
        return use("view_page", path="book.xlsx", place=place).value["shown"]

    chart_at = use("get_file_map", path="book.xlsx").value["sheets"][0]["charts"][0]["at"]
    assert chart["where"] == "The plan!Chart 1"
    assert shown(chart["where"]) == shown("Chart 1") == f"'The plan'!{chart_at}"
    assert (row["where"], shown(row["where"])) == ("The plan!3:3", "'The plan'!A3:B3")
    assert shown("'The plan'!A:A") == "'The plan'!A1:A13"


@pytest.mark.rule("F43.72")
def test_lines_that_a_picture_of_cells_does_not_show_are_named(use, book):
    sizes = [
        {
            "op": "set_row_heights",
            "sheet": "The plan",
            "rows": [{"row": n, "height": 0} for n in (3, 4, 9)],
        },
        {
            "op": "set_column_widths",
            "sheet": "The plan",
            "columns": [{"column": "B", "width": 0}],
        },
    ]
    use("xlsx_operations", path="book.xlsx", operations=sizes)

    seen = use("view_page", path="book.xlsx", place="'The plan'!A1:C6").value
    below = use("view_page", path="book.xlsx", place="'The plan'!C10:C13").value

    assert seen["missing"][:2] == ["rows 3-4 hidden in the file", "column B hidden in the file"]
    assert below["missing"] == []


@pytest.mark.rule("W26.1", "W8.3")
def test_a_place_that_no_sheet_has_is_refused_with_places_of_the_workbook(use, book):
    wrong = use("view_page", path="book.xlsx", place="The plan!Chart 7")

    assert (wrong.value["reason"], wrong.value["hints"]) == (
        "bad_selector",
        ["'The plan'!A1:F20"],
    )


@pytest.mark.rule("F43.72")
def test_a_chart_that_only_touches_the_cells_shown_is_not_among_the_places(use, book):
    beside = use("view_page", path="book.xlsx", place="'The plan'!A1:C13").value
    with_chart = use("view_page", path="book.xlsx", place="'The plan'!A1:D13").value

    assert (beside["places"], [one["label"] for one in with_chart["places"]]) == ([], ["Chart 1"])


@pytest.mark.rule("F44.1", "W26.1")
def test_a_paragraph_that_a_write_names_can_be_looked_at(use):
    lines = [f"Line {n} " + "word " * 60 for n in range(120)]
    write = {"op": "set_paragraphs", "paragraphs": lines}
    use("docx_operations", path="long.docx", create_new=True, operations=[write])
    change = {"op": "replace_text", "search": "Line 77", "replace": "Here 77"}

    wrote = use("docx_operations", path="long.docx", operations=[change]).value
    (changed,) = wrote["effects"]["changed"]
    seen = use("view_page", path="long.docx", place=changed["where"]).value
    beyond = use("view_page", path="long.docx", place="paragraph 400")

    assert changed["where"] == "paragraph 77"
    assert seen["page"] > 1
    assert "paragraph 77" in [one["place"] for one in seen["places"]]
    assert beyond.value["reason"] == "bad_selector"


@pytest.mark.rule("F40.18")
@pytest.mark.parametrize(
    ("kind", "op", "said"),
    [
        ("pptx", "add_table", "new tables are not made"),
        ("pptx", "insert_table", "set_table_cells"),
        ("pptx", "add_chart", "charts are neither made"),
        ("pptx", "add_image", "copy_assets"),
        ("pptx", "add_text_box", "placeholders"),
        ("docx", "insert_chart", "append_table"),
        ("docx", "add_table", "append_table makes a table"),
        ("docx", "add_picture", "copy_assets"),
        ("docx", "add_comment", "neither made nor changed"),
    ],
)
def test_what_documents_and_slides_are_not_given_is_said_and_nothing_else_proposed(
    use, kind, op, said
):
    wrote = use(f"{kind}_operations", path=f"new.{kind}", create_new=True, operations=[{"op": op}])
    with pytest.raises(FormatError, match="is not offered") as asked:
        operation_sheet(kind, op)

    assert wrote.value["reason"] == asked.value.reason == "unknown_op"
    for hints in (wrote.value["hints"], asked.value.hints):
        assert [said in hint for hint in hints] == [True]


@pytest.mark.rule("F40.18")
@pytest.mark.timeout(30, method="signal")  # a search lets no thread in
@pytest.mark.parametrize("kind", ["docx", "pptx"])
def test_a_name_of_any_length_is_looked_at_by_its_beginning(kind):
    with pytest.raises(FormatError, match="has no operation"):
        operation_sheet(kind, "insert_add_" * 100_000)


@pytest.mark.rule("F16.6")
@pytest.mark.parametrize(
    ("kind", "op", "meant"),
    [("pptx", "set_table", "set_table_cells"), ("docx", "add_table_row", "add_table_rows")],
)
def test_what_is_only_called_otherwise_is_still_proposed(kind, op, meant):
    with pytest.raises(FormatError) as asked:
        operation_sheet(kind, op)

    assert asked.value.hints[0] == meant

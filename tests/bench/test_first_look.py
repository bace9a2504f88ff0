"""What a review says before everything else: new hosts and what is gone, whoever wrote them."""

from __future__ import annotations

from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from backshop.bench import Author, Put, Source, first_look
from backshop.bench.review import look

MCP = Author(source=Source(kind="mcp", ref="s1"))
PERSON = Author(source=Source(kind="user"), actor="user")


def first(room) -> list[str]:
    """Return the lines that stand first in the review."""
    found = room.call("ReviewGetChangeSet")
    return list(found.get("draft_facts", ()))[: found.get("draft_facts_first", 0)]


@pytest.mark.rule("B13.10")
def test_a_draft_of_any_author_says_which_hosts_are_new_and_what_is_gone(room):
    room.add({"a.md": "see https://old.example\n" + "x\n" * 30, "b.md": "y\n", "c.md": "z\n"})
    new = "see https://old.example and [it](https://old.example) ![](https://evil.example/?d=1)\n"

    room.write({"a.md": new, "d.csv": "a\n=WEBSERVICE(A1)\n"}, MCP)
    room.write({"b.md": None}, PERSON)

    assert first(room) == [
        "A new address that shows no host: 1 address fetched on opening in d.csv.",
        "New host evil.example: 1 address fetched on opening in a.md.",
        "New host old.example: 1 link in a.md.",
        "Deleted: b.md.",
        "Gone from a.md: 30 of 31 lines.",
    ]


@pytest.mark.rule("B13.10")
def test_a_small_edit_says_nothing_first(room):
    room.add({"a.md": "one\ntwo\nthree\nfour https://old.example\n"})

    room.write({"a.md": "one\ntwo\n3 and four https://old.example/other\n"}, MCP)

    found = room.call("ReviewGetChangeSet")
    assert ("draft_facts_first" in found, found.get("draft_facts", [])) == (False, [])


@pytest.mark.rule("B13.10")
def test_a_file_that_cannot_be_looked_into_is_said(room):
    room.add({"a.docx": b"PK\x03\x04 broken"})

    room.write({"a.docx": "PK\x03\x04 broken still"}, MCP)

    assert first(room) == ["Not wholly looked into for new hosts: a.docx."]


@pytest.mark.rule("B13.10", "F29.10")
def test_a_file_with_more_hosts_than_are_kept_is_said(room):
    names = "".join(f"https://h{n}.example\n" for n in range(1001))

    room.write({"a.md": names}, MCP)

    found = first(room)
    assert len(found) == 22
    assert found[-2:] == [
        "And 980 more new hosts.",  # of the thousand that are looked at
        "Not wholly looked into for new hosts: a.md.",
    ]


@pytest.mark.rule("B13.10", "F29.10")
def test_only_files_that_differ_are_looked_into_and_each_content_once(room, monkeypatch):
    room.add({f"{n}.md": f"{n} https://old.example\n" for n in range(20)})
    room.write({"3.md": "new\n", "99.md": "new\n"}, MCP)
    formats = room.shop.benches.formats
    seen: list[str] = []
    real = formats._do.map_call

    def noted(module: str, function: str, source: Any, *more: Any) -> object:
        seen.append(source.name)
        return real(module, function, source, *more)

    monkeypatch.setattr(formats._do, "map_call", noted)

    first(room), first(room)

    assert sorted(seen) == ["3.md", "99.md"]  # 3.md as it was; as it is, it is equal to 99.md


@pytest.mark.rule("B13.10")
def test_files_beyond_the_limit_are_counted(room, monkeypatch):
    monkeypatch.setattr(look, "FILES_MAX", 2)
    room.write({f"{n}.md": "https://evil.example\n" for n in range(5)}, MCP)

    assert first(room) == [
        "New host evil.example: 1 mention in 0.md, 1 mention in 1.md.",
        "3 more changed files were not looked into for new hosts and deletions.",
    ]


def held(units: dict[str, int], *named: tuple[str, str, str]) -> dict[str, Any]:
    return {"hosts": (), "units": units, "named": named}


@pytest.mark.rule("B13.10", "W11.28")
@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        (held({"cell": 400}), held({"cell": 60}), "340 of 400 cells"),
        (held({"cell": 400}), held({"cell": 391}), None),
        (held({"cell": 400}), held({"cell": 390}), "10 of 400 cells"),
        (held({"paragraph": 3}), held({"paragraph": 1}), "2 of 3 paragraphs"),
        (held({"line": 4}), held({"line": 2}), None),
        (held({"line": 12}), held({}), "every line (12)"),
        (held({"table": 2}), held({"table": 1}), "1 of 2 tables"),
        (held({"comment": 1}), held({}), "1 of 1 comment"),
        (held({}, ("sheet", "2", "Old")), held({}, ("sheet", "3", "Old")), "sheet “Old”"),
        (held({}, ("sheet", "2", "Old")), held({}, ("sheet", "2", "New")), None),
        (
            held({}, ("slide", "256", "1"), ("slide", "257", "2")),
            held({}),
            "slides 1, 2",
        ),
    ],
)
def test_what_is_gone_is_counted_and_a_name_that_changed_is_not_gone(before, after, line):
    gone = first_look.content_gone("x", before, after)

    assert first_look.told_gone(gone) == ([] if line is None else [f"Gone from x: {line}."])


@pytest.mark.rule("B13.10", "F29.10")
def test_what_a_draft_hides_is_said_first_and_what_was_hidden_before_is_not(room, tmp_path):
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    for row in range(1, 9):
        sheet.append([row, row, row])
    sheet.row_dimensions[2].hidden = True
    book.create_sheet("Notes")["A1"] = "x"
    before, after = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    book.save(before)
    for row in (5, 6, 8):
        sheet.row_dimensions[row].hidden = True
    sheet.column_dimensions["B"].hidden = True
    book["Notes"].sheet_state = "veryHidden"
    book.save(after)
    room.add({"a.xlsx": before.read_bytes()})

    data = after.read_bytes()
    put = Put(path="a.xlsx", blob=room.shop.store.blobs.put(data), size=len(data))
    room.shop.benches.apply_batch(room.id, [put], MCP)

    assert first(room) == ["Hidden now in a.xlsx: sheet “Notes”, 1 column, 3 more rows."]


@pytest.mark.rule("B13.10")
def test_what_is_shown_again_is_neither_gone_nor_hidden():
    before = held({"hidden row": 3, "hidden slide": 1}, ("hidden sheet", "2", "Old"))

    gone = first_look.content_gone("x", before, held({"hidden slide": 2}))

    assert first_look.told_gone(gone) == ["Hidden now in x: 1 more slide."]


@pytest.mark.rule("B13.10")
def test_a_host_of_other_letters_is_spelled_as_it_is_asked_for():
    one = first_look.HostAdded(host="bücher.example", way="link", path="a.md", count=2)

    assert first_look.told_hosts([one]) == [
        "New host bücher.example (xn--bcher-kva.example): 2 links in a.md."
    ]

"""Which changed files a request does not name: told where that means something, in any language."""

from __future__ import annotations

import pytest

from backshop.workshop.conversation.turn_facts import FileChanged
from backshop.workshop.request_scope import not_named


def files(*names: str) -> list[FileChanged]:
    """Return changed files; `+` before a name is one that was added."""
    return [
        FileChanged(path=name.lstrip("+"), change="added" if name[0] == "+" else "modified")
        for name in names
    ]


@pytest.mark.rule("W11.27")
@pytest.mark.parametrize(
    ("request_", "changed", "told"),
    [
        # a file is named, another one changes too
        ("Fix the typo in notes.md", ("notes.md", "other.md"), ("other.md",)),
        ("Fix the typo in notes.md", ("notes.md", "+x/leak.html"), ("x/leak.html",)),
        ("Korrigiere den Tippfehler in Notizen.md", ("Notizen.md", "a.md"), ("a.md",)),
        ("修改报告.docx中的错字", ("报告.docx", "合同.docx"), ("合同.docx",)),
        ("Fix the totals in sales.csv", ("sales.csv", "orders.csv"), ("orders.csv",)),
        # only another file than the named one was there before and changed
        ("Check notes.md for mistakes", ("contract.docx",), ("contract.docx",)),
        # a new file is what was asked for, under a name of its own
        ("Sum up sales.csv for the board", ("+Overview.docx",), ()),
        ("Take sales.csv and write a report", ("+report.docx",), ()),
        ("Sum up sales.csv", ("+a.docx", "+b.html"), ()),
        ("Sum up sales.csv", ("+a.docx", "contract.docx"), ("a.docx", "contract.docx")),
        ("Write a.docx from sales.csv", ("+a.docx", "+b.html"), ("b.html",)),
        ("Fasse report.docx zusammen", ("+report_de.md",), ()),
        # named by a word of its name, its folder, its kind
        ("Update the budget from sales.csv", ("budget-2025.xlsx",), ()),
        ("Translate all letters into English, as in notes.md", ("letters/a.md", "notes.md"), ()),
        ("Rename Acme to Apex in notes.md and all Word files", ("notes.md", "x/y.docx"), ()),
        ("Mach aus daten.csv eine Excel-Tabelle", ("+Auswertung.xlsx", "daten.csv"), ()),
        ("更新预算和notes.md", ("预算表.xlsx", "notes.md"), ()),
        ("Update the reports", ("report.docx", "+summary.md"), ("summary.md",)),
        # no file is named: the request left the choice open
        ("Rename Acme to Apex everywhere", ("a.md", "b/c.docx", "+d.xlsx"), ()),
        ("Do it", ("notes.md",), ()),
        ("", ("notes.md",), ()),
    ],
)
def test_a_changed_file_that_is_not_named_is_told_where_others_are(request_, changed, told):
    assert not_named(request_, (), files(*changed)) == told


@pytest.mark.rule("W11.27")
def test_what_was_said_before_the_request_names_files_too():
    before = ("Shall I also update contract.docx?",)

    assert not_named("Yes, and notes.md", before, files("notes.md", "contract.docx")) == ()
    assert not_named("Yes, and notes.md", before, files("notes.md", "x.csv")) == ("x.csv",)
    assert not_named("Yes", before, files("x.csv")) == ()

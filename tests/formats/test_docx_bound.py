"""Content controls filled from data: editing what they show edits the data (F19.4)."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from backshop.formats import FormatError
from backshop.formats import docx as docx_format

from .office import edit, members, paragraph, raw_members, source, with_body

STORE = "{11111111-2222-3333-4444-555555555555}"
CUSTOM = "http://schemas.openxmlformats.org/officeDocument/2006/customXml"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
DATA = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!-- kept --><d:deal xmlns:d="urn:deal">'
    '<d:client code="AC">Acme Ltd</d:client><d:kind>a</d:kind><d:day>2024-05-01</d:day>'
    "<d:note/></d:deal>"
)


def control(inner: str, path: str, look: str = "", store: str = STORE) -> str:
    return (
        f"<w:sdt><w:sdtPr>{look}<w:dataBinding w:prefixMappings=\"xmlns:d='urn:deal'\" "
        f'w:xpath="{path}" w:storeItemID="{store}"/></w:sdtPr><w:sdtContent>{inner}'
        "</w:sdtContent></w:sdt>"
    )


def text(words: str) -> str:
    return f"<w:r><w:t>{words}</w:t></w:r>"


def bound(path: Path, body: str) -> Path:
    """Write a document with a store of data."""
    plain = with_body(path.with_name("plain.docx"), body)
    item = f'<Relationship Id="rData" Type="{OFFICE}/customXml" Target="../customXml/item9.xml"/>'
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "word/_rels/document.xml.rels":
                data = data.replace(b"</Relationships>", item.encode() + b"</Relationships>")
            new.writestr(name, data)
        new.writestr("customXml/item9.xml", DATA)
        new.writestr(
            "customXml/itemProps9.xml",
            f'<ds:datastoreItem xmlns:ds="{CUSTOM}" ds:itemID="{STORE.lower()}"/>',
        )
        new.writestr(
            "customXml/_rels/item9.xml.rels",
            f'{RELS}<Relationship Id="rId1" Type="{OFFICE}/customXmlProps" '
            'Target="itemProps9.xml"/></Relationships>',
        )
    return path


def data_of(path: Path) -> bytes:
    return members(path)["customXml/item9.xml"]


def replacing(search: str, by: str) -> dict[str, Any]:
    return {"op": "replace_text", "search": search, "replace": by}


@pytest.mark.rule("F19.4", "F23.2", "F16.14")
def test_text_of_a_bound_control_is_replaced_in_its_data_and_wherever_that_shows(tmp_path):
    client = "/d:deal[1]/d:client[1]"
    path = bound(
        tmp_path / "a.docx",
        f"<w:p>{text('For ')}{control(text('Acme Ltd'), client)}{text('.')}</w:p>"
        + control(f"<w:p>{text('Acme ')}{text('Ltd')}</w:p>", client)
        + f"<w:p>{text('code ')}{control(text('AC'), client + '/@code')}</w:p>"
        + paragraph("Ltd stays here? no"),
    )

    applied, out = edit(path, {**replacing("Acme", "Zenith"), "expect": 2})

    assert docx_format.extract_lines(source(out)) == [
        "For Zenith Ltd.",
        "Zenith Ltd",
        "code AC",
        "Ltd stays here? no",
    ]
    assert data_of(out) == DATA.replace("Acme", "Zenith").encode()
    assert applied.changed_parts == ("customXml/item9.xml", "word/document.xml")
    assert applied.effects.collateral == ()
    kept = {
        name: raw for name, raw in raw_members(path).items() if name not in applied.changed_parts
    }
    assert kept.items() <= raw_members(out).items()


@pytest.mark.rule("F19.4")
def test_an_edit_after_which_controls_with_the_same_data_differ_is_refused(tmp_path):
    client = "/d:deal[1]/d:client[1]"
    shown = (control(text(words), client) for words in ("Acme A", "Acme B"))
    path = bound(tmp_path / "a.docx", "".join(f"<w:p>{one}</w:p>" for one in shown))

    with pytest.raises(FormatError) as caught:
        edit(path, replacing("Acme", "Zenith"))

    assert caught.value.reason == "op_conflict"


@pytest.mark.rule("F19.4", "F16.14")
def test_other_controls_with_the_same_data_follow_and_are_named(tmp_path):
    client = "/d:deal[1]/d:client[1]"
    in_cell = control(f"<w:tc><w:p>{text('Acme Ltd')}</w:p></w:tc>", client)
    path = bound(
        tmp_path / "a.docx",
        f"<w:p>{control(text('Acme Ltd'), client)}</w:p><w:tbl><w:tr>{in_cell}</w:tr></w:tbl>",
    )

    applied, out = edit(path, {**replacing("Acme Ltd", "Zenith\nInc"), "scope": "body"})

    assert docx_format.extract_lines(source(out)) == [
        "Zenith",
        "Inc",
        "[table 0: 1x1]",
        "| Zenith<br>Inc |",
    ]
    assert applied.changes == (
        (0, "1 occurrence replaced, and 1 content control with the same data"),
    )
    assert applied.effects.collateral == ()


@pytest.mark.rule("F19.4")
def test_an_attribute_a_choice_and_a_placeholder_are_data_too(tmp_path):
    choices = (
        '<w:dropDownList><w:listItem w:displayText="Alpha" w:value="a"/>'
        '<w:listItem w:displayText="Beta" w:value="b"/></w:dropDownList>'
    )
    path = bound(
        tmp_path / "a.docx",
        f"<w:p>{control(text('AC'), '/d:deal/d:client/@code')}</w:p>"
        + control(f"<w:p>{text('Alpha')}</w:p>", "/d:deal/d:kind", choices)
        + control(f"<w:p>{text('Click here')}</w:p>", "/d:deal/d:note", "<w:showingPlcHdr/>"),
    )

    applied, out = edit(
        path, replacing("AC", "ZI"), replacing("Alpha", "Beta"), replacing("Click here", "Urgent")
    )

    assert data_of(out) == (
        DATA.replace('"AC"', '"ZI"').replace(">a<", ">b<")
        .replace("<d:note/>", "<d:note>Urgent</d:note>")
    ).encode()  # fmt: skip
    assert b"showingPlcHdr" not in members(out)["word/document.xml"]
    assert applied.effects.collateral == ()


@pytest.mark.rule("F19.4")
@pytest.mark.parametrize(
    ("path_in_data", "look", "shown"),
    [
        ("/d:deal/d:day", '<w:date w:fullDate="2024-05-01T00:00:00Z"/>', "1 May 2024"),
        ("/d:deal/d:kind", "<w:dropDownList/>", "Alpha"),
        ("/d:deal", "", "Acme Ltd"),
    ],
    ids=["a date", "a choice that is not offered", "a structure"],
)
def test_data_that_cannot_follow_refuses_the_edit(tmp_path, path_in_data, look, shown):
    body = f"<w:p>{control(text(shown), path_in_data, look)}</w:p>"
    path = bound(tmp_path / "a.docx", body)

    with pytest.raises(FormatError) as caught:
        edit(path, replacing(shown, "something else"))

    assert caught.value.reason == "op_conflict"
    assert "operations[0]" in (caught.value.detail or "")
    assert not (tmp_path / "out-a.docx").exists()


@pytest.mark.rule("F19.4")
@pytest.mark.parametrize(
    ("path_in_data", "store"),
    [("/d:deal/d:absent", STORE), ("/d:deal/d:client", "{0}"), ("][", STORE), ("1 + 1", STORE)],
)
def test_a_binding_that_leads_nowhere_holds_nothing_up(tmp_path, path_in_data, store):
    body = f"<w:p>{control(text('Acme Ltd'), path_in_data, store=store)}</w:p>"
    path = bound(tmp_path / "a.docx", body)

    applied, out = edit(path, replacing("Acme", "Zenith"))

    assert docx_format.extract_lines(source(out)) == ["Zenith Ltd"]
    assert applied.changed_parts == ("word/document.xml",)


@pytest.mark.rule("F19.4")
def test_prefixes_that_mean_nothing_hold_nothing_up(tmp_path):
    odd = control(text("Acme Ltd"), "/deal").replace("xmlns:d='urn:deal'", "xmlns:d=''")
    path = bound(tmp_path / "a.docx", f"<w:p>{odd}</w:p>")

    applied, out = edit(path, replacing("Acme", "Zenith"))

    assert docx_format.extract_lines(source(out)) == ["Zenith Ltd"]
    assert applied.changed_parts == ("word/document.xml",)


@pytest.mark.rule("F19.4")
def test_a_binding_without_a_store_means_the_first_data_its_path_leads_to(tmp_path):
    loose = control(text("Acme Ltd"), "/d:deal/d:client").replace(f' w:storeItemID="{STORE}"', "")
    path = bound(tmp_path / "a.docx", f"<w:p>{loose}</w:p>")

    applied, out = edit(path, replacing("Acme", "Zenith"))

    assert data_of(out) == DATA.replace("Acme", "Zenith").encode()
    assert applied.changed_parts == ("customXml/item9.xml", "word/document.xml")


@pytest.mark.rule("F19.4")
def test_a_placeholder_that_was_written_over_is_one_no_more_and_others_stay(tmp_path):
    def empty(words: str) -> str:
        look = "<w:showingPlcHdr/><w:text/>"
        return f"<w:sdt><w:sdtPr>{look}</w:sdtPr><w:sdtContent>{words}</w:sdtContent></w:sdt>"

    path = bound(
        tmp_path / "a.docx",
        f"<w:p>{empty(text('[Company]'))}{empty(text('[Date]'))}</w:p>"
        + empty(f"<w:p>{text('[Company]')}</w:p>"),
    )

    applied, out = edit(path, replacing("[Company]", "Acme"))

    body = etree.fromstring(members(out)["word/document.xml"])
    assert [
        ("".join(map(str, one.itertext())), one.find(".//{*}showingPlcHdr") is not None)
        for one in body.iter("{*}sdt")
    ] == [("Acme", False), ("[Date]", True), ("Acme", False)]
    assert applied.effects.collateral == ()


@pytest.mark.rule("F19.4")
def test_a_control_that_follows_gives_up_the_emoji_it_showed(tmp_path):
    client = "/d:deal[1]/d:client[1]"
    symbols = "http://schemas.microsoft.com/office/word/2015/wordml/symex"
    emoji = (
        f'<w:r><w:t>hi </w:t><mc:AlternateContent><mc:Choice Requires="w16se"><w16se:symEx '
        f'xmlns:w16se="{symbols}" w16se:char="1F60A"/><w16se:symEx xmlns:w16se="{symbols}" '
        'w16se:char="1F60A"/></mc:Choice><mc:Fallback><w:t>\U0001f60a</w:t></mc:Fallback>'
        "</mc:AlternateContent></w:r>"
    )
    path = bound(
        tmp_path / "a.docx",
        f"<w:p>{control(text('Acme Ltd'), client)}</w:p><w:p>{control(emoji, client)}</w:p>",
    )

    _, out = edit(path, replacing("Acme", "Zenith"))

    assert docx_format.extract_lines(source(out)) == ["Zenith Ltd", "Zenith Ltd"]
    assert b"AlternateContent" not in members(out)["word/document.xml"]


@pytest.mark.rule("F19.4")
def test_a_cell_that_is_a_bound_control_takes_its_data_along(tmp_path):
    cell = control(f"<w:tc><w:p>{text('Acme Ltd')}</w:p></w:tc>", "/d:deal/d:client")
    path = bound(tmp_path / "a.docx", f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>")

    applied, out = edit(
        path,
        {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "column": 0, "text": "New"}]},
    )

    assert b">New</d:client>" in data_of(out)
    assert applied.effects.collateral == ()


@pytest.mark.rule("F19.4", "F19.11")
def test_a_form_field_in_a_cell_takes_its_data_along(tmp_path):
    field = control(text("Acme Ltd"), "/d:deal/d:client")
    path = bound(
        tmp_path / "a.docx", f"<w:tbl><w:tr><w:tc><w:p>{field}</w:p></w:tc></w:tr></w:tbl>"
    )

    applied, out = edit(
        path,
        {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "column": 0, "text": "New"}]},
    )

    assert b">New</d:client>" in data_of(out)
    assert b"dataBinding" in members(out)["word/document.xml"]
    assert applied.effects.collateral == ()


@pytest.mark.rule("F19.4", "F19.10")
def test_a_section_under_a_bound_heading_leaves_its_data_alone(tmp_path):
    heading = f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>{text("Acme Ltd")}</w:p>'
    path = bound(tmp_path / "a.docx", control(heading, "/d:deal/d:client") + paragraph("old"))

    applied, out = edit(
        path, {"op": "replace_section", "section": "Acme Ltd", "paragraphs": ["new"]}
    )

    assert docx_format.extract_lines(source(out)) == ["# Acme Ltd", "new"]
    assert applied.changed_parts == ("word/document.xml",)


@pytest.mark.rule("F19.4", "F23.11")
def test_data_in_a_strict_document_follows_and_stays_strict(tmp_path):
    strict = "http://purl.oclc.org/ooxml/officeDocument/extendedProperties"
    field = control(text("Acme Ltd"), "/d:Properties/d:Company").replace("urn:deal", strict)
    cover = field.replace(STORE, "{6668398D-A668-4E3E-A5EB-62B293D839F1}")
    path = bound(tmp_path / "a.docx", f"<w:p>{cover}</w:p>")
    company = f'<Properties xmlns="{strict}"><Company>Acme Ltd</Company></Properties>'
    whole = members(path) | {"docProps/app.xml": company.encode()}
    with zipfile.ZipFile(path, "w") as new:
        for name, data in whole.items():
            loose = data.replace(b"relationships/extended-", b"relationships/extended")
            loose = loose.replace(b"relationships/extendedp", b"relationships/extendedP")
            names = rb"http://schemas.openxmlformats.org/(wordprocessingml|officeDocument)/2006/"
            new.writestr(name, re.sub(names, rb"http://purl.oclc.org/ooxml/\1/", loose))

    applied, out = edit(path, replacing("Acme", "Zenith"))

    assert members(out)["docProps/app.xml"] == company.replace("Acme", "Zenith").encode()
    assert applied.changed_parts == ("docProps/app.xml", "word/document.xml")


@pytest.mark.needs("corpora")
@pytest.mark.rule("F19.4", "F23.5")
def test_fields_of_a_cover_page_follow_into_the_properties(tmp_path, corpora):
    path = tmp_path / "cover.docx"
    path.write_bytes((corpora / "ooxml-odd" / "Bug54771a.docx").read_bytes())
    before = etree.fromstring(members(path)["docProps/core.xml"])
    title = before.findtext("{*}title") or ""

    applied, out = edit(path, replacing(title, "Zebra"))

    after = etree.fromstring(members(out)["docProps/core.xml"])
    assert after.findtext("{*}title") == "Zebra"
    assert after.findtext("{*}modified") == before.findtext("{*}modified")
    assert applied.effects.collateral == ()

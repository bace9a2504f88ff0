"""The two dialects of the office formats: which one a part is in, and what is translated."""

from __future__ import annotations

import re
import zipfile
from typing import Any

import pytest

from backshop.formats import docx as docx_format
from backshop.formats import pptx as pptx_format
from backshop.formats.package.xml_tree import loosened

from .office import edit, members, paragraph, source, with_body

STRICT = "http://purl.oclc.org/ooxml/{}/main"
LOOSE = "http://schemas.openxmlformats.org/{}/2006/main"
WORD, SHOWS = "wordprocessingml", "presentationml"
ANY_LOOSE = re.compile(
    rb"http://schemas\.openxmlformats\.org/"
    rb"(wordprocessingml|presentationml|drawingml|officeDocument)/2006/"
)
DRAWN = "http://schemas.openxmlformats.org/drawingml/2006/main"
OUR_RELATIONS = ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'

SAID = [  # words that name a namespace
    "see NAME",
    'a tag &lt;p:sld xmlns:p="NAME"&gt; in words',
    '<![CDATA[<p:sld xmlns:p="NAME">]]>',
]
UNSAID = [  # the same where nobody reads it
    '<!-- it\'s <p:sld xmlns:p="NAME"> -->',
    "<?note <p:sld xmlns:p='NAME'>?>",
    """<o:odd xmlns:o="urn:o" to="x > xmlns:p='NAME' > y" graphicData="NAME" uri="NAME"/>""",
]
DECLARED = '<o:odd xmlns:o="urn:o" xmlns:odd="NAME"><odd:sld/></o:odd>'

DOCUMENT = "word/document.xml"
SLIDE, SHOW = "ppt/slides/slide1.xml", "ppt/presentation.xml"
WORDS = {  # around the words of a text
    DOCUMENT: ("<w:p><w:r><w:t>", "</w:t></w:r></w:p>"),
    SLIDE: (
        '<p:sp><p:nvSpPr><p:cNvPr id="70" name="Box"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>'
        "<p:txBody><a:bodyPr/><a:p><a:r><a:t>",
        "</a:t></a:r></a:p></p:txBody></p:sp>",
    ),
}
ENDS = {DOCUMENT: "</w:body>", SLIDE: "</p:spTree>", SHOW: "</p:presentation>"}
CHANGES: dict[str, list[dict[str, Any]]] = {
    ".docx": [
        {"op": "append_paragraph", "text": "point", "list": "bullet"},
        {"op": "append_paragraph", "runs": [{"text": "link", "hyperlink": "https://e.x"}]},
    ],
    ".pptx": [
        {"op": "set_slide_text", "index": 0, "title": "other"},
        {"op": "add_slide", "title": "new", "notes": "n"},
    ],
}


@pytest.fixture
def plain(tmp_path):
    """A document and a deck; `r` is not declared where the document does not need it."""
    document = with_body(tmp_path / "a.docx", paragraph("one"))
    _, deck = edit(tmp_path / "a.pptx", {"op": "add_slide", "title": "t", "body": "b"})
    bare = members(document)[DOCUMENT].replace(OUR_RELATIONS.encode(), b"")
    return {
        DOCUMENT: rewritten(document, {DOCUMENT: bare}, "plain"),
        SLIDE: deck,
        SHOW: deck,
    }


def rewritten(path, changes, name):
    """Copy a package with some members replaced or added."""
    made = path.with_name(f"{name}{path.suffix}")
    with zipfile.ZipFile(made, "w") as new:
        for part, data in (members(path) | changes).items():
            new.writestr(part, data)
    return made


def strict(path):
    """Return the file in the strict dialect of the standard."""
    changes = {
        part: ANY_LOOSE.sub(rb"http://purl.oclc.org/ooxml/\1/", data)
        for part, data in members(path).items()
    }
    return rewritten(path, changes, f"strict-{path.stem}")


def said(mention, name, part):
    before, after = WORDS[part] if mention in SAID else ("", "")
    return before + mention.replace("NAME", name) + after


def with_mention(path, part, words):
    end = ENDS[part]
    text = members(path)[part].decode()
    assert end in text
    return rewritten(path, {part: text.replace(end, words + end)}, f"mention-{path.stem}")


def without(path, words):
    """Return the members of a file, less a mention as it is written."""
    written = words.replace(" > ", " &gt; ")
    return {part: data.replace(written.encode(), b"") for part, data in members(path).items()}


def lines(path):
    return (docx_format if path.suffix == ".docx" else pptx_format).extract_lines(source(path))


CASES = [
    *((part, mention) for part in (DOCUMENT, SLIDE) for mention in (*SAID, *UNSAID)),
    *((SHOW, mention) for mention in UNSAID),
]


@pytest.mark.rule("F23.11", "F23.2")
@pytest.mark.parametrize(
    ("part", "mention"), [*CASES, (DOCUMENT, DECLARED), (SLIDE, DECLARED), (SHOW, DECLARED)]
)
def test_a_strict_name_in_an_ordinary_file_makes_nothing_strict(plain, part, mention):
    path = plain[part]
    name = STRICT.format(SHOWS if part == DOCUMENT else WORD)  # which the file does not use
    words = said(mention, name, part)
    odd = with_mention(path, part, words)

    _, expected = edit(path, *CHANGES[path.suffix])
    applied, out = edit(odd, *CHANGES[path.suffix])

    assert without(out, words) == members(expected)
    assert members(out)[part].count(name.encode()) == words.count(name)
    assert applied.effects.collateral == ()


@pytest.mark.rule("F23.11", "F23.2")
@pytest.mark.parametrize("form", [STRICT, LOOSE])
@pytest.mark.parametrize(("part", "mention"), CASES)
def test_a_name_in_the_words_of_a_strict_file_stays_as_it_is(plain, part, mention, form):
    path = strict(plain[part])
    name = form.format(WORD if part == DOCUMENT else SHOWS)
    words = said(mention, name, part)
    odd = with_mention(path, part, words)

    _, expected = edit(path, *CHANGES[path.suffix])
    applied, out = edit(odd, *CHANGES[path.suffix])

    assert without(out, words) == members(expected)
    assert members(out)[part].count(name.encode()) >= words.count(name)
    assert not any(map(ANY_LOOSE.search, members(expected).values()))
    assert applied.effects.collateral == ()


@pytest.mark.rule("F23.11", "F9.7")
@pytest.mark.parametrize("form", [STRICT, LOOSE])
@pytest.mark.parametrize("family", [WORD, SHOWS])
@pytest.mark.parametrize("dialect", [lambda path: path, strict])
def test_a_name_is_read_as_the_words_it_is(plain, dialect, family, form):
    name = form.format(family)
    for part in (DOCUMENT, SLIDE):
        path = with_mention(dialect(plain[part]), part, said("see NAME", name, part))

        assert f"see {name}" in lines(path)


@pytest.mark.rule("F23.11")
@pytest.mark.parametrize("dialect", [lambda path: path, strict])
def test_words_links_and_properties_may_say_any_name(plain, dialect):
    path = dialect(plain[DOCUMENT])
    name = STRICT.format(SHOWS)
    core = members(path)["docProps/core.xml"].decode()
    title = re.sub("<dc:title>.*?</dc:title>|<dc:title/>", f"<dc:title>{name}</dc:title>", core)
    path = rewritten(path, {"docProps/core.xml": title}, "properties")
    link = {"text": name, "hyperlink": name}

    _, out = edit(path, {"op": "append_paragraph", "runs": [link]})

    assert lines(out)[-1] == name
    assert f'Target="{name}"'.encode() in members(out)["word/_rels/document.xml.rels"]
    assert members(out)["docProps/core.xml"] == title.encode()


@pytest.mark.rule("F23.11")
def test_declarations_are_found_however_they_are_written(plain):
    path = strict(plain[DOCUMENT])
    text = members(path)[DOCUMENT].decode()
    odd = re.sub(r' (xmlns:\w+)="([^"]*)"', r"\n\t\1 = '\2'", text)
    path = rewritten(path, {DOCUMENT: odd.replace("<w:body>", "<w:body ><!-- ' -->")}, "odd")

    _, out = edit(path, *CHANGES[".docx"])

    assert lines(out) == ["one", "- point", "link"]
    assert not any(map(ANY_LOOSE.search, members(out).values()))


@pytest.mark.rule("F23.11")
def test_a_part_with_a_root_of_neither_dialect_goes_by_what_is_in_it():
    drawing = b'<d:drawing xmlns:d="urn:d"><a:p xmlns:a="http://%s"/></d:drawing>'
    strict_name, ours = b"purl.oclc.org/ooxml/drawingml/main", DRAWN.removeprefix("http://")

    read = [loosened(drawing % name)[0].tag for name in (strict_name, ours.encode())]

    assert read == [f"{{{DRAWN}}}p"] * 2

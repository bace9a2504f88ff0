"""Shows a header or footer in every section of a document (F22.6)."""

from __future__ import annotations

from lxml import etree

from backshop.formats.package.guard import Element

from ..text import name as n
from .editor import Editor

_TITLE_PAGE, _EVEN_AND_ODD = n.w("titlePg"), n.w("evenAndOddHeaders")
_AFTER_TITLE_PAGE = frozenset(
    n.w(name)
    for name in ("textDirection", "bidi", "rtlGutter", "docGrid", "printerSettings", "sectPrChange")
)
_BEFORE_EVEN_AND_ODD = """
writeProtection view zoom removePersonalInformation removeDateAndTime doNotDisplayPageBoundaries
displayBackgroundShape printPostScriptOverText printFractionalCharacterWidth printFormsData
embedTrueTypeFonts embedSystemFonts saveSubsetFonts saveFormsData mirrorMargins alignBordersAndEdges
bordersDoNotSurroundHeader bordersDoNotSurroundFooter gutterAtTop hideSpellingErrors
hideGrammaticalErrors activeWritingStyle proofState formsDesign attachedTemplate linkStyles
stylePaneFormatFilter stylePaneSortMethod documentType mailMerge revisionView trackRevisions
doNotTrackMoves doNotTrackFormatting documentProtection autoFormatOverride styleLockTheme
styleLockQFSet defaultTabStop autoHyphenation consecutiveHyphenLimit hyphenationZone
doNotHyphenateCaps showEnvelope summaryLength clickAndTypeStyle defaultTableStyle
"""
_OFF = ("0", "false", "off")


def use_margin(editor: Editor, kind: str, pages: str, relation: str) -> None:
    """Use a header or footer on all pages (`default`), on `first` or on `even` ones."""
    editor.touch()
    sections = _sections(editor)
    for section in sections:
        _refer(section, kind, pages, relation)
    told: set[Element] = set()  # sections whose pages were not told apart before
    if pages == "even" and _turn_on_even(editor):
        told.update(sections)
    elif pages == "first":
        told.update(section for section in sections if _turn_on_first(section))
    if told:
        _keep_shown(editor, sections, "footer" if kind == "header" else "header", pages, told)
    editor.frame_aimed = True


def add_margin(editor: Editor, kind: str, root: Element) -> tuple[str, str]:
    """Add a header or footer part; return its name and the relationship that leads to it."""
    name, relation = editor.builder.stock.add_part(kind, root)
    editor.parts[name] = None
    return name, relation


def _sections(editor: Editor) -> list[Element]:
    """Return the properties of all sections, those of the last one made when missing."""
    if editor.document.last_section() is None:
        etree.SubElement(editor.document.body_element, n.SECT_PR)
    found = editor.document.sections()
    for section in found:
        paragraph = next(section.iterancestors(n.P), None)
        if paragraph is not None:
            editor.aimed[paragraph] = None
    return found


def _references(section: Element, kind: str, pages: str) -> list[Element]:
    return [
        reference
        for reference in section.findall(n.w(f"{kind}Reference"))
        if (reference.get(n.TYPE) or "default") == pages
    ]


def _refer(section: Element, kind: str, pages: str, relation: str) -> None:
    _forget(section, kind, pages)
    reference = etree.Element(n.w(f"{kind}Reference"))
    reference.set(n.TYPE, pages)
    reference.set(n.R_ID, relation)
    section.insert(0, reference)


def _keep_shown(
    editor: Editor, sections: list[Element], kind: str, pages: str, told: set[Element]
) -> None:
    """Have the pages that are told apart now show what they showed: the default header or footer.

    A section without a reference of its own shows what the one before it does, so those after the
    `told` ones are looked at too.
    """
    blank = None
    default = before = after = None  # what a section names by itself or takes from the one before
    for section in sections:
        own = _named(section, kind, pages)
        default, before = _named(section, kind, "default") or default, own or before
        wanted = default if section in told else before
        if wanted is None and own is not None:
            _forget(section, kind, pages)
            own = None
        if wanted is None and after is not None:
            blank = wanted = blank or add_margin(editor, kind, _empty(kind))[1]
        if wanted is not None and wanted != (own or after):
            _refer(section, kind, pages, wanted)
        after = wanted


def _named(section: Element, kind: str, pages: str) -> str | None:
    """Return the relationship of the header or footer that a section itself names."""
    return next((r.get(n.R_ID) for r in _references(section, kind, pages)), None)


def _forget(section: Element, kind: str, pages: str) -> None:
    for reference in _references(section, kind, pages):
        section.remove(reference)


def _empty(kind: str) -> Element:
    root = etree.Element(n.w("hdr" if kind == "header" else "ftr"))
    etree.SubElement(root, n.P)
    return root


def _turn_on_first(section: Element) -> bool:
    """Tell the first page of a section from the others; say whether it was not told before."""
    at = next((i for i, c in enumerate(section) if c.tag in _AFTER_TITLE_PAGE), len(section))
    return _turn_on(section, _TITLE_PAGE, at)


def _turn_on_even(editor: Editor) -> bool:
    """Tell even pages from odd ones; say whether they were not told before."""
    settings = editor.builder.stock.part("settings")
    before = {n.w(name) for name in _BEFORE_EVEN_AND_ODD.split()}
    at = max((i + 1 for i, child in enumerate(settings) if child.tag in before), default=0)
    part = editor.document.trees.part_of(settings)
    if part is not None:
        editor.parts[part] = None
    return _turn_on(settings, _EVEN_AND_ODD, at)


def _turn_on(parent: Element, tag: str, at: int) -> bool:
    switch = parent.find(tag)
    if switch is None:
        parent.insert(at, etree.Element(tag))
    elif switch.get(n.VAL) in _OFF:
        del switch.attrib[n.VAL]
    else:
        return False
    return True

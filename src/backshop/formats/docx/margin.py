"""Shows a header or footer in every section of a document (F22.6)."""

from __future__ import annotations

from lxml import etree

from . import names as n
from .editor import Editor

Element = etree._Element

_TITLE_PAGE, _EVEN_AND_ODD = n.w("titlePg"), n.w("evenAndOddHeaders")
_KINDS = ("header", "footer")
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
    if pages == "even" and _turn_on_even(editor):
        for section in sections:
            _keep_others(section, pages)
    elif pages == "first":
        for section in sections:
            if _turn_on_first(section):
                _keep_others(section, pages)
    editor.frame_aimed = True


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
    for old in _references(section, kind, pages):
        section.remove(old)
    reference = etree.Element(n.w(f"{kind}Reference"))
    reference.set(n.TYPE, pages)
    reference.set(n.R_ID, relation)
    section.insert(0, reference)


def _keep_others(section: Element, pages: str) -> None:
    """Have the pages that are told apart now show what they showed: the default ones."""
    for kind in _KINDS:
        for default in _references(section, kind, "default"):
            relation = default.get(n.R_ID)
            if relation and not _references(section, kind, pages):
                _refer(section, kind, pages, relation)


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

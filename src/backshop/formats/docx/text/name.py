"""The element and attribute names of WordprocessingML that we speak of."""

from __future__ import annotations

W_NS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R_NS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MC_NS = "http://schemas.openxmlformats.org/markup-compatibility/2006"
A_NS = "http://schemas.openxmlformats.org/drawingml/2006/main"
M_NS = "http://schemas.openxmlformats.org/officeDocument/2006/math"
WP_NS = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
V_NS = "urn:schemas-microsoft-com:vml"
XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def w(name: str) -> str:
    """Return a name of the main namespace in the form lxml uses."""
    return f"{{{W_NS}}}{name}"


DOCUMENT, BODY, P, TBL, TR, TC = map(w, ("document", "body", "p", "tbl", "tr", "tc"))
R, T, TAB, BR, CR, SYM, PTAB = map(w, ("r", "t", "tab", "br", "cr", "sym", "ptab"))
NO_BREAK_HYPHEN = w("noBreakHyphen")
PPR, RPR, SECT_PR, TBL_PR, TR_PR, TC_PR = map(w, ("pPr", "rPr", "sectPr", "tblPr", "trPr", "tcPr"))
SDT, SDT_CONTENT, SDT_PR, CUSTOM_XML, SMART_TAG = map(
    w, ("sdt", "sdtContent", "sdtPr", "customXml", "smartTag")
)
INS, DEL, MOVE_FROM, MOVE_TO = map(w, ("ins", "del", "moveFrom", "moveTo"))
HYPERLINK, FLD_SIMPLE, FLD_CHAR, BDO, DIR = map(
    w, ("hyperlink", "fldSimple", "fldChar", "bdo", "dir")
)
RUBY, RUBY_BASE = w("ruby"), w("rubyBase")
DRAWING, PICT, OBJECT, TXBX = map(w, ("drawing", "pict", "object", "txbxContent"))
FOOTNOTE_REF, ENDNOTE_REF, COMMENT_REF = map(
    w, ("footnoteReference", "endnoteReference", "commentReference")
)
PSTYLE, RSTYLE, TBL_STYLE, OUTLINE, NUM_PR, NUM_ID, ILVL = map(
    w, ("pStyle", "rStyle", "tblStyle", "outlineLvl", "numPr", "numId", "ilvl")
)
GRID_SPAN, V_MERGE, GRID_BEFORE = map(w, ("gridSpan", "vMerge", "gridBefore"))
PIC_BULLET_ID = w("lvlPicBulletId")
TBL_GRID, GRID_COL = w("tblGrid"), w("gridCol")
VAL, TYPE, ID = w("val"), w("type"), w("id")
STYLE, NAME, BASED_ON, STYLE_ID, DEFAULT = map(
    w, ("style", "name", "basedOn", "styleId", "default")
)
ALTERNATE, CHOICE, FALLBACK = (
    f"{{{MC_NS}}}{n}" for n in ("AlternateContent", "Choice", "Fallback")
)
BLIP, IMAGE_DATA, DOC_PR = f"{{{A_NS}}}blip", f"{{{V_NS}}}imagedata", f"{{{WP_NS}}}docPr"
MATH, MATH_PARA, MATH_T = (f"{{{M_NS}}}{n}" for n in ("oMath", "oMathPara", "t"))
R_ID, R_EMBED, R_LINK = (f"{{{R_NS}}}{n}" for n in ("id", "embed", "link"))

REVISIONS = (
    INS,
    DEL,
    MOVE_FROM,
    MOVE_TO,
    *map(w, ("rPrChange", "pPrChange", "sectPrChange", "tblPrChange", "tblPrExChange")),
    *map(w, ("trPrChange", "tblGridChange")),
    *map(w, ("tcPrChange", "numberingChange", "cellIns", "cellDel", "cellMerge")),
)

OFFICE_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml."

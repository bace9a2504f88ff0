"""The element and attribute names of PresentationML and DrawingML that we speak of."""

from __future__ import annotations

P_NS = "http://schemas.openxmlformats.org/presentationml/2006/main"
A_NS = "http://schemas.openxmlformats.org/drawingml/2006/main"
R_NS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MC_NS = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def p(name: str) -> str:
    """Return a name of PresentationML in the form lxml uses."""
    return f"{{{P_NS}}}{name}"


def a(name: str) -> str:
    """Return a name of DrawingML."""
    return f"{{{A_NS}}}{name}"


PRESENTATION, C_SLD, SP_TREE = map(p, ("presentation", "cSld", "spTree"))
SLD_ID_LST, SLD_ID, SLD_SZ = map(p, ("sldIdLst", "sldId", "sldSz"))
MASTER_ID, LAYOUT_ID_LST, LAYOUT_ID = map(p, ("sldMasterId", "sldLayoutIdLst", "sldLayoutId"))
SP, GRP_SP, GRAPHIC_FRAME, PIC, CXN_SP, CONTENT_PART = map(
    p, ("sp", "grpSp", "graphicFrame", "pic", "cxnSp", "contentPart")
)
C_NV_PR, NV_PR, PH, TX_BODY, SP_PR, GRP_SP_PR, XFRM_P = map(
    p, ("cNvPr", "nvPr", "ph", "txBody", "spPr", "grpSpPr", "xfrm")
)
P_T, R_T, T, BR, FLD, PPR, RPR, END_RPR = map(
    a, ("p", "r", "t", "br", "fld", "pPr", "rPr", "endParaRPr")
)
BODY_PR, LST_STYLE, XFRM, OFF, EXT, CH_OFF, CH_EXT = map(
    a, ("bodyPr", "lstStyle", "xfrm", "off", "ext", "chOff", "chExt")
)
TBL, TR, TC, A_TX_BODY, BLIP, GRAPHIC_DATA = map(
    a, ("tbl", "tr", "tc", "txBody", "blip", "graphicData")
)
ALTERNATE, CHOICE, FALLBACK = (
    f"{{{MC_NS}}}{n}" for n in ("AlternateContent", "Choice", "Fallback")
)
R_ID, R_EMBED, R_LINK = (f"{{{R_NS}}}{n}" for n in ("id", "embed", "link"))

OFFICE_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.presentationml."
THEME_TYPE = "application/vnd.openxmlformats-officedocument.theme+xml"

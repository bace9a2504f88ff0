"""What may be typed into cells: validations that come and go (F38)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.package.package import canonical_element
from backshop.formats.protocol import Json, Op
from backshop.formats.write.operation import Arg, as_list, problem

from ...book.protection import refusal
from ...book.sheet_edit import SheetEdit
from ...book.workbook import like
from ...rule.entry import add_validation, outside, restrict, rules
from ...syntax.address import Area
from ...syntax.formula import Token, tokens
from ..session import Session
from ..settlement import settled
from .condition_xml import COMPARISONS
from .operand import TEXT_MAX_CHARS, Operands, areas_of_rule, quoted
from .removal import aim_at, delete_rules, told
from .validation_check import ListCheck, NumberCheck, breaking, tell_breaking

KINDS = ("list", "whole", "decimal", "date", "time", "text_length", "custom", "any")
ERROR_STYLES = ("stop", "warning", "information")
SET_ARGS = (
    Arg("sheet", str, required=True),
    Arg("range", str, required=True, aliases=("ranges",)),
    Arg("kind", str, required=True, aliases=("type",)),
    Arg("values", list),
    Arg("source", str),
    Arg("operator", str),
    Arg("value", object),
    Arg("value2", object),
    Arg("formula", str),
    Arg("prompt_title", str),
    Arg("prompt", str),
    Arg("error_title", str),
    Arg("error", str),
    Arg("error_style", str, default="stop"),
    Arg("allow_blank", bool, default=True),
    Arg("dropdown", bool, default=True),
)
_COMPARED = ("operator", "value", "value2")
_FIELDS: dict[str, tuple[str, ...]] = {
    "list": ("values", "source"),
    **dict.fromkeys(("whole", "decimal", "date", "time", "text_length"), _COMPARED),
    "custom": ("formula",),
}
_OWN = ("values", "source", *_COMPARED, "formula")
_TITLE_MAX_CHARS, _ERROR_MAX_CHARS = 32, 225
_TEXTS = (
    ("error_title", "errorTitle", _TITLE_MAX_CHARS),
    ("error", "error", _ERROR_MAX_CHARS),
    ("prompt_title", "promptTitle", _TITLE_MAX_CHARS),
    ("prompt", "prompt", TEXT_MAX_CHARS),
)
_USE_CELLS = "write the values into cells and give these as source, such as Lists!A1:A20"


def set_validation(session: Session, op: Op) -> str:
    """Say what may be typed into cells; what was said of them before holds there no longer."""
    edit = _open(session, op)
    areas = areas_of_rule(op, edit)
    edit = settled(session, edit, areas)
    made = _Reader(session, edit, op, Operands(session, edit, areas)).read()
    item = made.element
    item.set("sqref", " ".join(map(str, areas)))
    found = rules(edit.frame.root, "validation")
    same = [one for one in found if canonical_element(one.element) == canonical_element(item)]
    if same:
        return f"{told(session, edit, same[0])} is there already"
    for rule in found:
        left = outside(rule.areas, areas)
        if left != list(rule.areas):
            restrict(rule, left)
            aim_at(session, edit, replace(rule, areas=tuple(left or rule.areas)))
    add_validation(edit.frame.root, item)
    edit.refresh_frame()
    session.touched.setdefault(edit.sheet.name, []).extend(areas)
    new = next(one for one in rules(edit.frame.root, "validation") if one.element is item)
    aim_at(session, edit, new)
    said = f"{told(session, edit, new)} set"
    if made.check is None:
        return said if op.args["kind"] == "any" else f"{said}; present values were not checked"
    tell_breaking(session, edit, breaking(edit, areas, made.check))
    return said


def delete_validation(session: Session, op: Op) -> str:
    """Let anything be typed into cells again."""
    edit = _open(session, op)
    return delete_rules(session, edit, op, "validation")


def _open(session: Session, op: Op) -> SheetEdit:
    edit = session.edit(str(op.args["sheet"]), op.where)
    if edit.frame.protected:
        what = "the sheet is protected: what may be typed into its cells cannot be changed"
        raise refusal(edit.frame, op.where, what)
    return edit


@dataclass(frozen=True, slots=True)
class _Made:
    element: Element
    check: ListCheck | NumberCheck | None  # None: it cannot be told which values it takes


@dataclass(frozen=True, slots=True)
class _Reader:
    """Makes the element of one operation."""

    session: Session
    edit: SheetEdit
    op: Op
    operands: Operands

    def read(self) -> _Made:
        args = self.op.args
        kind = str(args["kind"]).strip().lower()
        if kind not in KINDS:
            raise problem("bad_value", f"{self.op.where}.kind", "this is no kind", KINDS)
        used = _FIELDS.get(kind, ())
        for name in _OWN:
            if name not in used and args[name] is not None:
                what = f"a validation of kind {kind} takes no {name}"
                raise problem("op_conflict", f"{self.op.where}.{name}", what, used)
        root = self.edit.frame.root
        item = etree.Element(like(root, "dataValidation"))
        formulas, check = self._formulas(kind, item)
        self._messages(item)
        for at, text in enumerate(formulas, 1):
            etree.SubElement(item, like(root, f"formula{at}")).text = text
        return _Made(item, check)

    def _where(self, name: str) -> str:
        return f"{self.op.where}.{name}"

    def _formulas(
        self, kind: str, item: Element
    ) -> tuple[list[str], ListCheck | NumberCheck | None]:
        if kind == "any":
            if not any(self.op.args[name] for name in ("prompt", "prompt_title")):
                what = "without a prompt delete_validation says the same"
                raise problem("missing_field", self._where("prompt"), what)
            return [], None
        item.set("type", "textLength" if kind == "text_length" else kind)
        if kind == "list":
            text, check = self._list()
            return [text], check
        if kind == "custom":
            if self.op.args["formula"] is None:
                what = "a formula for the first cell of the range is needed"
                raise problem("missing_field", self._where("formula"), what)
            return [self.operands.formula(self.op.args["formula"], self._where("formula"))], None
        return self._compared(kind, item)

    # --- lists ---------------------------------------------------------------------------------

    def _list(self) -> tuple[str, ListCheck | None]:
        values, source = self.op.args["values"], self.op.args["source"]
        if (values is None) == (source is None):
            what = "either values or source is needed"
            raise problem("missing_field", self._where("values"), what)
        if source is not None:
            return self._source(str(source))
        where = self._where("values")
        texts = [self._item(one, f"{where}[{at}]") for at, one in enumerate(as_list(values))]
        joined = ",".join(texts)
        if not texts:
            raise problem("bad_value", where, "at least one value is needed")
        if len(joined) > TEXT_MAX_CHARS:
            what = f"a list holds {TEXT_MAX_CHARS} characters, these values have {len(joined)}"
            raise problem("bad_value", where, what, [_USE_CELLS])
        return quoted(joined), ListCheck(frozenset(texts), has_case=True)

    def _item(self, given: Json, where: str) -> str:
        if isinstance(given, bool):
            return "TRUE" if given else "FALSE"
        if isinstance(given, int | float):
            return self.operands.number(given, where)
        text = self.operands.text(given, where).strip()
        if not text:
            raise problem("bad_value", where, "a value of a list is not empty")
        if "," in text:
            what = f"a comma parts the values of a list: {text[:40]!r} would be two"
            raise problem("bad_value", where, what, [_USE_CELLS])
        return text

    def _source(self, text: str) -> tuple[str, ListCheck | None]:
        where = self._where("source")
        bare = text.strip().removeprefix("=").strip()
        found = [token for token in tokens(bare) if token.kind != "space"]
        if "," in bare and not any(token.kind in ("function", "ref") for token in found):
            what = "source names cells; the values themselves are given in values"
            raise problem("bad_value", where, what)
        made = self.operands.formula(bare, where)
        only = tokens(made)
        if len(only) != 1:
            return made, None
        if only[0].kind == "name":
            refers = self.session.vocabulary.refers.get(only[0].body.lower())
            inner = tokens(refers) if refers else ()
            known = len(inner) == 1 and inner[0].kind == "ref"
            return made, self._listed(inner[0]) if known else None
        if only[0].kind != "ref" or only[0].area is None:
            return made, None
        area = only[0].area
        if area.height > 1 and area.width > 1:
            what = "the values of a list stand in one row or one column"
            raise problem("bad_range", where, what)
        sheet, mark, _ = only[0].text.rpartition("!")
        return f"{sheet}{mark}{_fixed(area)}", self._listed(only[0])

    def _listed(self, token: Token) -> ListCheck | None:
        """Return what cells hold, None where that is not known."""
        sheet = self.session.book.find(token.sheet or self.edit.sheet.name)
        if sheet is None or sheet.kind != "worksheet" or token.area is None:
            return None
        edit = self.session.edit(sheet.name, self._where("source"))
        used = edit.used()
        area = token.area.clip(used) if used else None
        texts = set()
        for place in edit.cells_in(area) if area else ():
            value = edit.value(*place)
            if value.kind == "blank" and edit.formula(*place) is not None:
                return None
            if value.kind != "blank":
                texts.add(value.text if value.number is None else repr(value.number))
        return ListCheck(frozenset(texts), has_case=False)

    # --- comparisons ---------------------------------------------------------------------------

    def _compared(self, kind: str, item: Element) -> tuple[list[str], NumberCheck | None]:
        args = self.op.args
        default = "between" if args["value2"] is not None else "equal"
        word = str(args["operator"] or "").strip().lower()
        if not word:
            raise problem("missing_field", self._where("operator"), "one of these", COMPARISONS)
        if word not in COMPARISONS:
            raise problem("bad_value", self._where("operator"), "one of these", COMPARISONS)
        names = ("value", "value2") if word.endswith("between") else ("value",)
        if len(names) == 1 and args["value2"] is not None:
            what = f"{word} compares with one value; {default} takes two"
            raise problem("op_conflict", self._where("value2"), what)
        item.set("operator", COMPARISONS[word])
        formulas = [self._operand(kind, args[name], self._where(name)) for name in names]
        ends = []
        for text in formulas:
            try:
                ends.append(float(text))
            except ValueError:
                return formulas, None
        if len(ends) == 2 and ends[0] > ends[1]:
            raise problem("bad_value", self._where("value2"), "value2 is below value")
        return formulas, NumberCheck(kind, word, tuple(ends))

    def _operand(self, kind: str, given: Json, where: str) -> str:
        if given is None:
            raise problem("missing_field", where, "a value to compare with is needed")
        if isinstance(given, str) and given.startswith("=") and len(given) > 1:
            return self.operands.formula(given, where)
        if kind in ("date", "time") and isinstance(given, str):
            serial = self.operands.serial(given)
            if serial is not None:
                return serial
            form = "2026-03-31" if kind == "date" else "13:30"
            raise problem("bad_value", where, f"a {kind} such as {form}, or a formula (=…)")
        made = self.operands.number(given, where)
        if kind in ("whole", "text_length") and not float(made).is_integer():
            raise problem("bad_value", where, "a whole number")
        return made

    # --- messages ------------------------------------------------------------------------------

    def _messages(self, item: Element) -> None:
        args = self.op.args
        style = str(args["error_style"] or "stop").strip().lower()
        if style not in ERROR_STYLES:
            raise problem("bad_value", self._where("error_style"), "one of these", ERROR_STYLES)
        if style != "stop":
            item.set("errorStyle", style)
        if args["allow_blank"]:
            item.set("allowBlank", "1")
        if item.get("type") == "list" and not args["dropdown"]:
            item.set("showDropDown", "1")  # which says that there is none
        item.set("showInputMessage", "1")
        item.set("showErrorMessage", "1")
        for name, key, most in _TEXTS:
            if args[name]:
                text = self.operands.text(args[name], self._where(name), most)
                item.set(key, text)


def _fixed(area: Area) -> str:
    """Return a range that means the same cells for every cell of a rule."""
    first, _, last = area.span.partition(":")
    ends = [first] if area.count == 1 else [first, last]
    return ":".join(_locked(one) for one in ends)


def _locked(cell: str) -> str:
    letters = cell.rstrip("0123456789")
    return f"${letters}${cell[len(letters) :]}"

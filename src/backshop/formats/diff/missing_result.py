"""Why a formula has no result, in words; light, because whoever tells it reads no workbook."""

from __future__ import annotations

_WORDS = {
    "array_context": "{} is not stored as the array formula it has to be",
    "circular": "it reads itself, directly or through others",
    "data_table": "it is a data table",
    "depends_on_not_computed": "it reads cells that have no result",
    "doubtful": "Excel may show another value",
    "engine_failure": "computing it failed",
    "external_reference": "it reads another workbook",
    "recalculation_off": "computing is switched off",
    "relative_name": "it uses a name that means other cells in every place",
    "rounded_as_shown": "the workbook computes with numbers as they are shown",
    "table_reference": "it names parts of a table that are not read here",
    "timeout": "there was no time left to compute it",
    "too_deep": "it goes too deep",
    "too_many_cells": "it reads too many cells",
    "too_many_formulas": "there are too many formulas to compute at once",
    "unknown_function": "{} is not computed here",
    "unknown_name": "the name {} is not there",
    "unknown_sheet": "it names a sheet that is not there",
    "unsupported_syntax": "it is written in a way that is not computed here",
    "volatile": "{} gives another value every time",
    "whole_column": "it goes through whole columns, empty rows included",
}


def why_uncomputed(where: str, reason: str, function: str) -> str:
    """Return why cells have no result, for people."""
    words = _WORDS.get(reason, "it is not computed here")
    if "{}" in words:
        words = words.format(function or "what it reads")
    elif function and reason == "doubtful":
        words = f"{words} for {function}"
    return f"{where}: {words}"

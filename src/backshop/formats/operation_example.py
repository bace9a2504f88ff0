"""An example of every operation on office files, as operation sheets show it (W7.11).

Each works on a file that has what it names: sheets Sales and Costs, the heading Results, a table,
three slides. A test runs them all.
"""

from __future__ import annotations

from collections.abc import Mapping

from .protocol import JsonObject

EXAMPLES: Mapping[str, Mapping[str, JsonObject]] = {
    "xlsx": {
        "ensure_sheet": {"sheet": "Summary"},
        "rename_sheet": {"sheet": "Costs", "new_name": "Expenses"},
        "delete_sheet": {"sheet": "Costs"},
        "set_cells": {
            "sheet": "Sales",
            "cells": [
                {"cell": "D1", "value": "Total", "style": {"font_bold": True}},
                {"cell": "D2", "value": "=B2*C2"},
            ],
        },
        "set_range": {
            "sheet": "Sales",
            "start": "A5",
            "values": [["East", 12, 9.5], ["West", 7, None]],
        },
        "fill_formula": {"sheet": "Sales", "range": "D2:D4", "formula": "=B2*C2"},
        "append_rows": {"sheet": "Sales", "values": [["East", 12, 9.5]]},
        "replace_text": {"search": "Orders", "replace": "Units"},
        "clear_range": {"sheet": "Sales", "range": "A3:C3", "what": "all"},
        "set_style": {
            "sheet": "Sales",
            "range": "A1:C1",
            "style": {
                "font_bold": True,
                "fill_color": "#E7ECF3",
                "border_bottom": {"style": "thin", "color": "#8A94A6"},
            },
        },
        "merge_cells": {"sheet": "Sales", "range": "E1:G1"},
        "unmerge_cells": {"sheet": "Sales", "range": "I1:J1"},
        "set_column_widths": {"sheet": "Sales", "columns": [{"column": "A", "width": 18}]},
        "set_row_heights": {"sheet": "Sales", "rows": [{"row": 1, "height": 24}]},
        "freeze_panes": {"sheet": "Sales", "row": 1},
        "set_autofilter": {"sheet": "Sales", "range": "A1:C3"},
        "summarize_by_category": {
            "sheet": "Costs",
            "source_sheets": ["Sales"],
            "category_col": "A",
            "amount_col": "C",
        },
    },
    "docx": {
        "set_paragraphs": {
            "paragraphs": [{"text": "Results", "style": "Heading 1"}, "All went well."]
        },
        "append_paragraph": {"text": "Second point", "list": "bullet"},
        "insert_paragraphs": {
            "anchor": {"section": "Results", "at": "end"},
            "paragraphs": [
                "Sales rose.",
                {"runs": [{"text": "Costs fell", "bold": True}, {"text": " by 4 %."}]},
            ],
        },
        "replace_section": {"section": "Results", "paragraphs": ["Sales rose by 4 %."]},
        "delete_paragraphs": {"from": 1, "to": 1},
        "replace_text": {"search": "sales", "replace": "revenue", "whole_word": True},
        "append_table": {
            "rows": [["Region", "Sales"], ["North", "120"]],
            "anchor": {"text": "Sales were", "at": "after"},
        },
        "set_table_cells": {"table": 0, "cells": [{"row": 1, "column": 1, "text": "140"}]},
        "add_table_rows": {"table": 0, "rows": [["South", "98"]]},
        "delete_table_rows": {"table": 0, "from": 1, "to": 1},
    },
    "pptx": {
        "add_slide": {
            "layout": "title_and_content",
            "title": "Results",
            "body": "Sales rose\n  by 4 %\nCosts fell",
            "notes": "Ask about March.",
        },
        "set_slide_text": {
            "index": 1,
            "title": "Results",
            "body_runs": [{"text": "Sales "}, {"text": "rose", "bold": True}],
        },
        "append_bullets": {"index": 1, "bullets": ["Costs fell", {"text": "by 2 %", "level": 1}]},
        "replace_text": {"search": "sales", "replace": "revenue", "slides": [1]},
        "set_table_cells": {
            "index": 2,
            "shape": 1,
            "cells": [{"row": 1, "column": 1, "text": "140"}],
        },
        "set_notes": {"index": 1, "notes": "Ask about March."},
        "move_slide": {"index": 2, "to": 0},
        "delete_slide": {"index": 2},
        "set_hidden": {"index": 1, "hidden": True},
    },
}

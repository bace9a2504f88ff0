"""An example of every operation on office files, as operation sheets show it (W7.11).

Each works on a file that has what it names: sheets Sales, Costs and Plan, a name, a note, a link,
the heading Results, a table, three slides. A test runs them all.
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
        "insert_rows": {"sheet": "Sales", "row": 3, "values": [["East", 12, 9.5]]},
        "delete_rows": {"sheet": "Sales", "from": 2, "to": 3},
        "insert_columns": {"sheet": "Sales", "column": "C", "values": [["Tax"], [0.2], [0.1]]},
        "delete_columns": {"sheet": "Sales", "from": "C"},
        "set_autofilter": {"sheet": "Sales", "range": "A1:C3"},
        "sort_range": {
            "sheet": "Sales",
            "range": "A1:C3",
            "by": [{"column": "Orders", "order": "descending"}],
        },
        "remove_duplicates": {"sheet": "Costs", "range": "A1:B3", "columns": ["Item"]},
        "add_chart": {
            "sheet": "Sales",
            "cell": "E5",
            "kind": "column",
            "data": "A1:B3",
            "title": "Orders",
            "y_title": "Pieces",
        },
        "change_chart": {"sheet": "Sales", "chart": "Chart 1", "kind": "line", "title": "Orders"},
        "add_image": {"sheet": "Sales", "cell": "E20", "image": "logo.png", "width": 120},
        "delete_drawing": {"sheet": "Sales", "name": "Chart 1"},
        "add_table": {
            "sheet": "Sales",
            "range": "A1:C3",
            "name": "Orders",
            "totals": [{"column": "Orders", "function": "sum"}],
        },
        "change_table": {"table": "Ledger", "range": "A1:B9", "style": "TableStyleLight9"},
        "delete_table": {"table": "Ledger"},
        "copy_range": {"sheet": "Sales", "range": "A1:C3", "to_sheet": "Costs", "to": "E1"},
        "move_range": {"sheet": "Sales", "range": "A2:C3", "to": "A10"},
        "copy_sheet": {"sheet": "Sales", "new_name": "Sales 2027"},
        "move_sheet": {"sheet": "Costs", "position": 0},
        "set_sheet_state": {"sheet": "Costs", "state": "hidden"},
        "add_conditional_format": {
            "sheet": "Sales",
            "range": "B2:B3",
            "kind": "greater_than",
            "value": 100,
            "style": {"fill_color": "#FFC7CE"},
        },
        "delete_conditional_format": {"sheet": "Sales", "number": 1},
        "set_validation": {
            "sheet": "Costs",
            "range": "A2:A9",
            "kind": "list",
            "values": ["Rent", "Paper"],
            "error": "Rent or Paper",
        },
        "delete_validation": {"sheet": "Costs", "range": "A2:A9"},
        "set_name": {"name": "OrderList", "refers_to": "Sales!A2:C3"},
        "delete_name": {"name": "Total"},
        "set_note": {"sheet": "Sales", "cell": "B2", "text": "Counted twice."},
        "delete_note": {"sheet": "Plan", "cell": "B1"},
        "set_link": {"sheet": "Sales", "range": "A2", "target": "Costs!A1", "tooltip": "Costs"},
        "delete_link": {"sheet": "Plan", "range": "A1"},
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

"""The packs of `wr.rpi`, and that of the direct work of `wr.auto` (W13.3)."""

from __future__ import annotations

from .shape import BOOLEAN, POSITIVE, list_of, object_of, one_of, pack, text

RPI = (
    pack(
        "rpi_research",
        "What was found out",
        {"markdown": text(1)},
        kind="workshop.research",
        example={"markdown": "## Asked\nExample: translate column B.\n\n## Found\n..."},
        renderer="markdown",
    ),
    pack(
        "rpi_plan",
        "The checklist",
        {
            "markdown": text(),
            "items": list_of(object_of({"number": POSITIVE, "label": text(1, 200)}), 100),
            "answer_only": BOOLEAN,
        },
        kind="workshop.plan",
        example={
            "markdown": "## Items\n- [ ] 1. Example: translate column B",
            "items": [{"number": 1, "label": "Example: translate column B"}],
            "answer_only": False,
        },
        renderer="markdown",
    ),
    pack(
        "rpi_item_result",
        "How one item came out",
        {
            "item_number": POSITIVE,
            "status": one_of("done", "failed", "unfinished"),
            "no_effect": BOOLEAN,
            "report_markdown": {**text(high=4096), "x-maxBytes": 4096},
            "amendments": list_of(text(high=200)),
            "batch_ids": list_of(text()),
        },
        {"reason": text(high=220)},
        kind="workshop.item_result",
        example={
            "item_number": 1,
            "status": "done",
            "no_effect": False,
            "report_markdown": "Example: translated 40 cells of column B.",
            "amendments": [],
            "batch_ids": [],
        },
        renderer="markdown",
    ),
    pack(
        "rpi_summary",
        "The answer",
        {
            "markdown": text(),
            "source": one_of("model", "engine"),
            "changed_paths": list_of(text()),
        },
        kind="workshop.summary",
        example={
            "markdown": "Example: column B is translated.",
            "source": "model",
            "changed_paths": ["example.xlsx"],
        },
        renderer="markdown",
    ),
    pack(
        "auto_work",
        "What direct work came to",
        {"markdown": text(), "planned": BOOLEAN},
        {
            "status": one_of("done", "failed", "unfinished"),
            "reason": text(high=220),
            "source": one_of("model", "engine"),
            "changed_paths": list_of(text()),
            "plan_markdown": text(),
        },
        kind="workshop.work",
        example={
            "markdown": "Example: the deadline in plan.md is 1 March now.",
            "planned": False,
            "status": "done",
            "source": "model",
            "changed_paths": ["example/plan.md"],
        },
        renderer="markdown",
    ),
)

"""A bench with a Draft that touches every kind of file, hostile names and texts among them."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image, ImageDraw
from tests.web.browsing import Served

from backshop.bench import REVIEW_TOOLS, TOOLS, Author, Put, Source, Workspace
from backshop.prompts import ToolContext, invoke

AGENT = Author(source=Source(kind="workshop", ref="turn"))
PERSON = Author(source=Source(kind="system"), actor="user")
BY_NAME = {tool.name: tool for tool in (*TOOLS, *REVIEW_TOOLS)}
SCRIPT = "<script>window.ran = true</script>"
IMAGE_TRICK = '<img src=x onerror="window.ran = true">'


def picture(colour: str, text: str, kind: str = "PNG") -> bytes:
    """Return a small picture, or a PDF with it on its one page."""
    made = Image.new("RGB", (480, 300), "white")
    draw = ImageDraw.Draw(made)
    draw.rectangle((40, 120, 300, 260), fill=colour)
    draw.text((40, 60), text, fill="black")
    buffer = io.BytesIO()
    made.save(buffer, kind)
    return buffer.getvalue()


def pages(*texts: str) -> bytes:
    """Return a PDF of pictures, one page each."""
    made = [Image.open(io.BytesIO(picture("navy", text))).convert("RGB") for text in texts]
    buffer = io.BytesIO()
    made[0].save(buffer, "PDF", save_all=True, append_images=made[1:])
    return buffer.getvalue()


class Drafting:
    """Writes to one bench as an agent does, and as the person."""

    def __init__(self, served: Served, bench_id: str) -> None:
        self.served = served
        self.id = bench_id
        room = Workspace(served.shop.benches, bench_id, AGENT)
        self._context = ToolContext(workspace=room)

    def call(self, name: str, **request: Any) -> Any:
        """Run a command about the bench."""
        return self.served.call(name, workbench_id=self.id, **request)

    def use(self, name: str, **arguments: Any) -> Any:
        """Call a tool; it has to work."""
        tool = BY_NAME[name]
        if name.endswith("_operations"):
            arguments = {"create_if_missing": True, **arguments}
        result = invoke(tool, tool.decode(arguments), context=self._context)
        assert result.ok, result.message
        return result.value

    def put(self, files: dict[str, bytes | str], author: Author = PERSON) -> None:
        """Write whole files to the Draft."""
        puts = []
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            blob = self.served.shop.store.blobs.put(data)
            puts.append(Put(path=path, blob=blob, size=len(data)))
        self.served.shop.benches.apply_batch(self.id, puts, author)


REPORT = [
    {"text": "Annual report", "style": "Title"},
    {"text": "Overview", "style": "Heading 1"},
    {"text": "The year was good. Revenue grew in every region and costs stayed flat."},
    {"text": "Three new shops opened."},
    {"text": "Costs", "style": "Heading 1"},
    {"text": "The total is 100,000 euros, most of it rent and wages."},
    {"text": "Energy became cheaper."},
    {"text": "Outlook", "style": "Heading 1"},
    {"text": "Next year looks the same."},
]


def full_draft(served: Served, name: str = "Quarterly figures") -> Drafting:
    """Make the bench: everything published first, then changed, added, renamed and deleted."""
    notes = "".join(f"Line {n} of the notes.\n" for n in range(1, 60))
    bench = served.bench(
        name,
        {
            "notes.md": f"# Notes\n\n{notes}",
            "sales.csv": "region,quarter,amount\n"
            + "".join(f"{r},Q{q},{q * 100}\n" for r in ("north", "south") for q in range(1, 5)),
            "chart.png": picture("steelblue", "Sales"),
            "contract.pdf": pages("Contract, page 1", "Page 2"),
            "blob.bin": bytes(range(256)) * 4,
            "old-plan.txt": "".join(f"step {n}\n" for n in range(12)),
            "obsolete.txt": "nobody needs this\n",
            "copy.csv": "a,b\n1,2\n",
        },
    )
    draft = Drafting(served, bench)
    rows: list[list[Any]] = [["Region", "Q1", "Q2", "Total"]]
    rows += [[f"Region {n}", n * 10, n * 12, f"=B{n + 1}+C{n + 1}"] for n in range(1, 41)]
    fill = {"op": "set_range", "sheet": "Ledger", "start": "A1", "values": rows}
    draft.use("xlsx_operations", path="ledger.xlsx", operations=[fill])
    paragraphs = {"op": "set_paragraphs", "paragraphs": REPORT}
    draft.use("docx_operations", path="report.docx", operations=[paragraphs])
    slides = [
        {"op": "add_slide", "title": "Results", "body": "Revenue grew\nCosts stayed flat"},
        {"op": "add_slide", "title": "Plan", "body": "Open three shops"},
    ]
    draft.use("pptx_operations", path="deck.pptx", operations=slides)
    draft.call("DraftPublish")

    changed = notes.replace("Line 5 of", "Line five of").replace("Line 30 of", f"{SCRIPT} of")
    draft.put(
        {
            "notes.md": f"# Notes\n\n{changed}One more line.\n",
            "chart.png": picture("firebrick", "Sales, corrected"),
            "contract.pdf": pages("Contract, page 1 (new)", "Page 2", "Page 3"),
            "blob.bin": bytes(range(255, -1, -1)) * 4,
            "plan.txt": "".join(f"step {n}\n" for n in range(10)) + "step eleven\nstep twelve\n",
            f"weird '{'&'} name.txt": f"{IMAGE_TRICK}\n",
        }
    )
    edits = [
        {"search": "south,Q2,200", "replace": "south,Q2,250"},
        {"search": "north,Q1,100\n", "replace": f"north,Q1,100\neast,Q1,{IMAGE_TRICK}\n"},
    ]
    draft.use("edit_text_file", path="sales.csv", edits=edits, change_note="South Q2 corrected.")
    cells = [
        {"cell": "B5", "value": 44},
        {"cell": "C7", "value": 70},
        {"cell": "A9", "value": SCRIPT},
    ]
    ops = [
        {"op": "set_cells", "sheet": "Ledger", "cells": cells},
        {"op": "ensure_sheet", "sheet": "Summary"},
        {
            "op": "set_range",
            "sheet": "Summary",
            "start": "A1",
            "values": [["All", "=SUM(Ledger!D2:D41)"]],
        },
    ]
    draft.use(
        "xlsx_operations",
        path="ledger.xlsx",
        operations=ops,
        change_note="Two figures corrected, a summary sheet added.",
    )
    words = [
        {"op": "replace_text", "search": "100,000 euros", "replace": "120,000 euros"},
        {"op": "append_paragraph", "text": f"Prices may rise. {SCRIPT}"},
    ]
    draft.use(
        "docx_operations",
        path="report.docx",
        operations=words,
        change_note="Costs brought up to date.",
    )
    more = [
        {"op": "set_slide_text", "index": 1, "title": "Plan", "body": "Open four shops"},
        {"op": "add_slide", "title": "Risks", "body": "Energy prices"},
    ]
    draft.use("pptx_operations", path="deck.pptx", operations=more)
    for path in ("old-plan.txt", "obsolete.txt"):
        draft.call("DraftDeletePath", path=path)
    return draft

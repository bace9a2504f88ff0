"""Write the operation sheets into the bundled style skills (B15.3).

skills.py            write them
skills.py --check    say whether they are as the formats are; for the test
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from backshop.formats import operation_sheet

FOLDER = Path(__file__).resolve().parent.parent / "src" / "backshop" / "bench" / "style" / "skills"
_CATALOG = re.compile(r"(?<=## Tool Capability Catalog\n\n).*?(?=\n## )", re.DOTALL)


def page(kind: str) -> tuple[Path, str]:
    """Return a skill's file and what it should hold."""
    path = FOLDER / f"{kind}-style-skill" / "SKILL.md"
    text = path.read_text(encoding="utf-8")
    return path, _CATALOG.sub(lambda _: operation_sheet(kind), text, count=1)


def main(arguments: list[str]) -> int:
    """Write or compare every skill."""
    stale = []
    for kind in ("xlsx", "docx", "pptx"):
        path, wanted = page(kind)
        if path.read_text(encoding="utf-8") == wanted:
            continue
        stale.append(path.name)
        if "--check" not in arguments:
            path.write_text(wanted, encoding="utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

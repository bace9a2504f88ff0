"""The icons of the pages, taken from Lucide: `templates/icons.html` from the unpacked npm package.

    python tools/icons.py <folder of lucide-static>

Our names say what an icon means here; the shapes are Lucide's, unchanged (docs/spec/dependencies.md).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "src/backshop/web/templates/icons.html"
NAMES = {
    "alert": "triangle-alert",
    "bench": "hammer",
    "check": "check",
    "chevron": "chevron-right",
    "clock": "clock",
    "close": "x",
    "comment": "message-square-text",
    "context": "book-open",
    "copy": "copy",
    "download": "download",
    "eye": "eye",
    "file": "file",
    "flag": "flag",
    "folder": "folder",
    "fork": "git-fork",
    "gear": "settings",
    "history": "history",
    "image": "image",
    "info": "info",
    "key": "key-round",
    "keyboard": "keyboard",
    "leave": "log-out",
    "list": "list-todo",
    "lock": "lock",
    "menu": "ellipsis-vertical",
    "panel": "panel-left",
    "people": "users",
    "person": "user",
    "pin": "pin",
    "plus": "plus",
    "redo": "redo-2",
    "refresh": "refresh-cw",
    "review": "list-checks",
    "search": "search",
    "send": "arrow-up",
    "sheet": "sheet",
    "slides": "presentation",
    "stop": "square",
    "studio": "workflow",
    "text": "file-text",
    "tool": "wrench",
    "trash": "trash-2",
    "undo": "undo-2",
    "upload": "upload",
}


def main() -> None:
    """Write the sprite that every page has."""
    package = Path(sys.argv[1])
    version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    lines = [
        f"{{# Icons of Lucide {version} (ISC, static/lucide-LICENSE.txt) under our names; made by tools/icons.py. #}}",
        '<svg class="sprite" aria-hidden="true" width="0" height="0">',
        *(_symbol(name, package / "icons" / f"{of}.svg") for name, of in NAMES.items()),
        "</svg>",
    ]
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _symbol(name: str, path: Path) -> str:
    inner = re.search(r"<svg.*?>(.*)</svg>", path.read_text(encoding="utf-8"), re.DOTALL)
    if inner is None:
        raise ValueError(f"{path.name} is no icon")
    shapes = re.sub(r">\s+<", "><", inner[1].strip()).replace(" />", "/>")
    return f'<symbol id="i-{name}" viewBox="0 0 24 24">{shapes}</symbol>'


if __name__ == "__main__":
    main()

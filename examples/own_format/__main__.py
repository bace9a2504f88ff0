"""A kind of file of your own, used as if it had been installed with `pip install .`.

python examples/own_format
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from backshop.formats import Formats, Selector

SOUP = """Lentil soup

* 200 g lentils
* 1 onion

1. Fry the onion.
2. Add lentils and water; cook for half an hour.
"""


def main() -> None:
    """Map and read a recipe."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soup.recipe"
        path.write_text(SOUP, encoding="utf-8")
        # Installed, the entry point of pyproject.toml says this.
        with Formats(plugins={"recipe": "recipe_format"}) as formats:
            soup = formats.source(path)
            print(json.dumps(formats.get_map(soup)["sections"]))
            print(formats.read(soup, Selector(section="ingredients")).text)
            print("title:", formats.get_info(soup)["title"])


if __name__ == "__main__":
    main()

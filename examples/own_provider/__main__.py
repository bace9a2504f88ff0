"""A provider of your own in the whole product: listed, chosen, called, accounted for.

python examples/own_provider
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from backshop import Backshop
from backshop.prompts import MarkdownSection, Prompt, Session

ASK = Prompt(
    "examples/count",
    "words",
    sections=[MarkdownSection("Say", "one two three", key="say", role="user")],
)


def main() -> None:
    """Use the provider through a home."""
    with tempfile.TemporaryDirectory() as folder:
        _install(Path(folder) / "site")
        with Backshop.open(Path(folder) / "home") as shop:
            listed = shop.call("ModelsListSupported", {})["models"]
            print("listed:", [one["model_id"] for one in listed if one["provider_id"] == "house"])
            shop.call("UserSetDefaultModel", {"model_id": "house:counter"})
            answer = shop.models.adapter().evaluate(ASK, session=Session())
            print("answer:", answer.text)


def _install(site: Path) -> None:
    """Do in a folder what `pip install .` does: name the plugin as an entry point."""
    here = site / "house_provider-0.1.0.dist-info"
    here.mkdir(parents=True)
    (here / "METADATA").write_text("Metadata-Version: 2.1\nName: house-provider\nVersion: 0.1.0\n")
    (here / "entry_points.txt").write_text("[backshop.models]\nhouse = house_provider:plugin\n")
    sys.path.append(str(site))


if __name__ == "__main__":
    main()

"""`backshop` whose offline model takes its time before each answer, as one on a network does.

python -m benchmarks.paced worker …
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from backshop.cli.main import main
from backshop.models.wires.scripted import ScriptedWire

PACE_S = 1.0  # until a model's answer begins; fast for a real one
_play = ScriptedWire.complete


def _paced(wire: ScriptedWire, request: Any, model: Any, channel: Any) -> Iterator[Any]:
    channel.cancel.wait(PACE_S)  # who cancels is heard by the caller
    yield from _play(wire, request, model, channel)


if __name__ == "__main__":
    setattr(ScriptedWire, "complete", _paced)  # noqa: B010  # typed as a method of its own
    sys.exit(main())

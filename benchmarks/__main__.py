"""Run the measurements named on the command line, or all of them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from .report import begin


def main(wanted: list[str]) -> None:
    """Run `main()` of each `measure_<name>` module."""
    names = sorted(
        path.stem.removeprefix("measure_") for path in Path(__file__).parent.glob("measure_*.py")
    )
    for name in wanted or names:
        if name not in names:
            sys.exit(f"there is no benchmark {name!r}; there are: {', '.join(names)}")
        print(f"\n## {name}\n", flush=True)
        begin(name)
        sys.argv = [f"measure_{name}"]  # some take a size when run alone
        importlib.import_module(f"benchmarks.measure_{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])

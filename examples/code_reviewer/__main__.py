"""A code reviewer in a terminal; runs offline: `python examples/code_reviewer`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from repl import Repl
from reviewer import make_prompt

from backshop.base.errors import BackshopError
from backshop.models import BuilderAdapter, ProviderAdapter, scripted
from backshop.prompts import LocalPromptOverridesStore

HERE = Path(__file__).resolve().parent


def arguments(words: list[str] | None) -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="code_reviewer", description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, default=HERE / "sample")
    parser.add_argument("--model", default="scripted:review")
    parser.add_argument("--tag", default=os.environ.get("CODE_REVIEW_PROMPT_TAG") or "latest")
    parser.add_argument("--overrides", type=Path)
    parser.add_argument("--script", type=Path, default=HERE / "review.json")
    parser.add_argument("--once", metavar="TEXT")
    parser.add_argument("--show-prompts", action="store_true")
    parser.add_argument("--sandbox", action="store_true", help="let the model run programs")
    return parser.parse_args(words)


@contextmanager
def adapter_for(model: str, script: Path) -> Iterator[ProviderAdapter]:
    """Give the adapter for a model; a real one needs a key (`backshop provider set-key`)."""
    if model == "builder":
        yield BuilderAdapter()
    elif model.startswith("scripted:"):
        yield scripted(script, name=model.partition(":")[2])
    else:
        from backshop.app import Backshop

        with Backshop.open() as shop:
            yield shop.models.adapter(model)


def main(
    words: list[str] | None = None,
    *,
    read: Callable[[str], str] = input,
    say: Callable[[str], None] = print,
) -> int:
    """Hold the conversation until the person leaves."""
    given = arguments(words)
    try:
        return converse(given, read, say)
    except (BackshopError, OSError) as error:
        print(f"code_reviewer: {error}", file=sys.stderr)
        return 1


def converse(
    given: argparse.Namespace, read: Callable[[str], str], say: Callable[[str], None]
) -> int:
    """Review once, or line by line; return what the process ends with."""
    with adapter_for(given.model, given.script) as adapter:
        repl = Repl(
            prompt=make_prompt(given.path.resolve(), sandbox=given.sandbox),
            adapter=adapter,
            overrides=LocalPromptOverridesStore(given.overrides),
            tag=given.tag,
            say=say,
            show_prompts=given.show_prompts,
        )
        if given.once is not None:
            return 0 if repl.review(given.once) else 1
        say("Reviewing. /help lists the commands.")
        while True:
            try:
                line = read("review> ")
            except EOFError:
                return 0
            except KeyboardInterrupt:
                continue
            if not repl.handle(line):
                return 0


if __name__ == "__main__":
    sys.exit(main())

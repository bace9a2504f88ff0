"""Searching text with a pattern a model wrote: in a process of its own, which can be stopped.

A regular expression can take longer than the sun has left. Nothing inside this process could
end it, so it runs in another one.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from .mounts import FileProblem

SEARCH_S = 2.0
MATCHES_MAX = 1000
_LINE_MAX_CHARS = 400
_PROGRAM = """
import json, re, sys
job = json.load(sys.stdin)
pattern = re.compile(job["pattern"])
found, total = [], 0
for path, text in job["files"]:
    for number, line in enumerate(text.split("\\n"), 1):
        if pattern.search(line):
            total += 1
            if len(found) < job["limit"]:
                found.append([path, number, line[: job["width"]]])
json.dump([found, total], sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class Match:
    """A line that matches."""

    path: str
    line: int
    text: str


def search(pattern: str, files: Sequence[tuple[str, str]]) -> tuple[tuple[Match, ...], int]:
    """Return at most 1,000 matching lines and how many there are.

    Raises:
        FileProblem: `bad_pattern`, also for one that takes longer than 2 s.
    """
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise FileProblem("bad_pattern", f"not a regular expression: {error}") from error
    job = {"pattern": pattern, "files": files, "limit": MATCHES_MAX, "width": _LINE_MAX_CHARS}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=json.dumps(job).encode(),
            capture_output=True,
            timeout=SEARCH_S,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise FileProblem("bad_pattern", "the pattern takes longer than 2 s") from error
    except subprocess.CalledProcessError as error:
        raise FileProblem("bad_pattern", "the search failed") from error
    found, total = json.loads(done.stdout)
    return tuple(Match(path, line, text) for path, line, text in found), total

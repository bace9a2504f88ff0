"""What a workspace says about itself: its name, and git's branch and commit (R4.11).

Git's files are read directly; nothing is executed. Absolute paths leave this module as hashes.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ..errors import RailsError, invalid
from .events import ObservationRecorded

_SHA1 = re.compile(r"[0-9a-f]{40}")
_PARENTS_MAX = 64
_HEAD_MAX_BYTES = 4096


def checked(path: str | None) -> Path | None:
    """Return a workspace that exists.

    Raises:
        RailsError: it is not absolute, or not there.
    """
    if path is None:
        return None
    if "\x00" in path or not Path(path).is_absolute():
        raise invalid("workspacePath is not an absolute path", "Send an absolute path.")
    folder = Path(path)
    if not folder.is_dir():
        raise RailsError(
            "PRECONDITION_FAILED",
            "the folder of workspacePath does not exist",
            "Send the path of an existing folder, or leave workspacePath out.",
        )
    return folder


def observations(folder: Path | None, title: str | None = None) -> list[ObservationRecorded]:
    """Return what can be observed now."""
    found = []
    if title:
        found.append(_text("title", title[:200]))
    if folder is None:
        return found
    if folder.name:
        found.append(_text("workspace_name", folder.name[:200]))
    root, git = _repository(folder)
    if root is None or git is None:
        return found
    digest = hashlib.sha256(str(root).encode(errors="surrogateescape")).hexdigest()
    found.append(
        ObservationRecorded(
            key="repo_root_hash",
            value={"type": "sha256", "value": f"sha256:{digest}"},
            confidence="high",
        )
    )
    branch, sha = _head(git)
    if branch:
        found.append(_text("git_branch", branch[:256]))
    if sha:
        found.append(
            ObservationRecorded(
                key="git_head_sha", value={"type": "git_sha1", "value": sha}, confidence="high"
            )
        )
    return found


def _text(key: str, value: str) -> ObservationRecorded:
    return ObservationRecorded(
        key=key,  # type: ignore[arg-type]  # one of its words
        value={"type": "short_string", "value": value.encode(errors="replace").decode()},
        confidence="high",
    )


def _repository(folder: Path) -> tuple[Path | None, Path | None]:
    """Return the root of the repository a folder lies in, and where git keeps its files."""
    here = folder.resolve()
    for candidate in [here, *here.parents][:_PARENTS_MAX]:
        git = candidate / ".git"
        if git.is_dir():
            return candidate, git
        if git.is_file():
            line = _read(git)
            if line.startswith("gitdir:"):
                return candidate, candidate / line.removeprefix("gitdir:").strip()
    return None, None


def _head(git: Path) -> tuple[str | None, str | None]:
    head = _read(git / "HEAD")
    if not head.startswith("ref:"):
        return None, head if _SHA1.fullmatch(head) else None
    ref = head.removeprefix("ref:").strip()
    branch = ref.removeprefix("refs/heads/")
    if not ref.startswith("refs/") or ".." in ref:
        return None, None
    common = _read(git / "commondir")
    for place in (git, git / common if common else git):
        sha = _read(place / ref)
        if _SHA1.fullmatch(sha):
            return branch, sha
        packed = _packed(place, ref)
        if packed:
            return branch, packed
    return branch, None


def _packed(git: Path, ref: str) -> str | None:
    try:
        text = (git / "packed-refs").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        sha, _, name = line.partition(" ")
        if name == ref and _SHA1.fullmatch(sha):
            return sha
    return None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_MAX_BYTES).decode(errors="replace").strip()
    except OSError:
        return ""

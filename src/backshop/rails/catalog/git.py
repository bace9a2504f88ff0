"""Workflow repositories: cloned on request, read from the clone, never run (R3.2).

A sync fetches one ref without history into a new folder and swaps it in, so that a failed sync
leaves the last good clone. Hooks, submodules, links and transports that start programs are off.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from backshop.base.canon import sha256_hex
from backshop.base.errors import ValidationFailed

from ..definition.identity import RESERVED, SourceKind
from .source import GitSource, Source

TIMEOUT_S = 120
_NAMESPACE = re.compile(r"[a-z][a-z0-9_-]*")
_KEYS = {"url", "ref", "path", "namespace"}
_OFF = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "protocol.allow=never"),
    *("-c", "protocol.https.allow=always", "-c", "protocol.ssh.allow=always"),
    *("-c", "protocol.file.allow=always", "-c", "submodule.recurse=false"),
)
_COMMIT = ".backshop-commit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """How the sync of one repository went; `error` is None when it worked."""

    url: str
    ref: str
    commit: str | None = None
    error: str | None = None


def read_sources(setting: Sequence[Mapping[str, object]]) -> tuple[GitSource, ...]:
    """Return the sources of the setting `rails.git_sources`.

    Raises:
        ValidationFailed: `bad_setting`, naming the entry.
    """
    return tuple(_read(index, entry) for index, entry in enumerate(setting))


def sources(git_sources: Sequence[GitSource], clones: Path) -> tuple[Source, ...]:
    """Return where the clones are read from; those never synced are simply empty."""
    return tuple(
        Source(
            kind=SourceKind.GIT,
            root=_clone(clones, one) / one.path,
            name=f"git-{index + 1}" if index else "git",
            namespace=one.namespace,
        )
        for index, one in enumerate(git_sources)
    )


def sync(git_sources: Sequence[GitSource], clones: Path) -> tuple[Synced, ...]:
    """Fetch every repository; one that fails does not keep the others from it."""
    return tuple(_sync(one, clones) for one in git_sources)


def _read(index: int, entry: Mapping[str, object]) -> GitSource:
    def bad(problem: str) -> ValidationFailed:
        return ValidationFailed(f"rails.git_sources[{index}]: {problem}", reason="bad_setting")

    if unknown := set(entry) - _KEYS:
        raise bad(f"unknown key {', '.join(sorted(unknown))}; known: {', '.join(sorted(_KEYS))}")
    values = {key: entry.get(key, "") for key in _KEYS}
    if not all(isinstance(value, str) for value in values.values()):
        raise bad("all values are texts")
    url, ref, path, namespace = (str(values[key]) for key in ("url", "ref", "path", "namespace"))
    if not url or url.startswith("-") or "::" in url:
        raise bad("`url` is an https, ssh or file address")
    if not ref or ref.startswith("-") or any(char.isspace() for char in ref):
        raise bad("`ref` is a branch, tag or commit")
    if path.startswith("/") or ".." in PurePosixPath(path).parts:
        raise bad("`path` is a folder inside the repository")
    if namespace and (not _NAMESPACE.fullmatch(namespace) or namespace == RESERVED):
        raise bad(f"`namespace` matches {_NAMESPACE.pattern} and is not {RESERVED}")
    return GitSource(url=url, ref=ref, path=path, namespace=namespace or None)


def _clone(clones: Path, source: GitSource) -> Path:
    return clones / sha256_hex(f"{source.url}\n{source.ref}".encode())[:16]


def _sync(source: GitSource, clones: Path) -> Synced:
    clones.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix="sync-", dir=clones))
    try:
        commit = _fetch(source, staging)
        _swap(staging, _clone(clones, source))
    except (OSError, subprocess.SubprocessError) as error:
        return Synced(url=source.url, ref=source.ref, error=_reason(error))
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return Synced(url=source.url, ref=source.ref, commit=commit)


def _fetch(source: GitSource, folder: Path) -> str:
    _git(folder, "init", "--quiet", "--template=")
    _git(
        *(folder, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"),
        *("--", source.url, source.ref),
    )
    _git(folder, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    commit = _git(folder, "rev-parse", "HEAD").strip()
    shutil.rmtree(folder / ".git")
    (folder / _COMMIT).write_text(commit + "\n", encoding="utf-8")
    return commit


def _swap(new: Path, place: Path) -> None:
    old = new.with_name(new.name + "-old")
    if place.exists():
        place.rename(old)
    new.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def _git(folder: Path, *args: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
    done = subprocess.run(
        ["git", *_OFF, *args],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIMEOUT_S,
        check=True,
    )
    return done.stdout


def _reason(error: OSError | subprocess.SubprocessError) -> str:
    match error:
        case subprocess.CalledProcessError(stderr=str() as text) if text.strip():
            return text.strip().splitlines()[-1][:300]
        case subprocess.TimeoutExpired():
            return f"no answer within {TIMEOUT_S} s"
        case FileNotFoundError():
            return "the program git is not installed"
    return str(error)[:300]

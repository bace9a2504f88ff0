"""Pictures of pages: PDF by pdfium in a worker, office files through LibreOffice where it is
installed (F29.7, F29.8).

LibreOffice runs once per file with a profile of its own, macros and link updates off, cut off from
the network where the system allows it, and is killed with all its children when its time is up. Its
PDF and every picture are kept under the content's hash; the folder may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from backshop.base import limits as numbers

from .dispatch import HERE, Dispatcher
from .errors import FormatError, fail
from .protocol import Kind, Source

MIN_SCALE, MAX_SCALE, STEP = 0.25, 2.0, 0.25
_THROUGH_OFFICE = frozenset({Kind.DOCX, Kind.ODT, Kind.PPTX})
_CACHE_BYTES = numbers.GIB  # B12.15
_VERSION_TIMEOUT_S = 20
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop>
<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop>
<prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update">
<prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Jobs/Jobs/org.openoffice.Office.Jobs:Job['UpdateCheck']">
<prop oor:name="Enabled" oor:op="fuse"><value>false</value></prop></item>
</oor:items>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A picture of a page, or why there is none.

    `reason`: `renderer_missing`, `no_pages`, `render_failed` or `timeout`.
    """

    available: bool
    reason: str | None = None
    image: bytes | None = None
    mime_type: str | None = None
    page_count: int | None = None
    scaled_down: bool = False


class Renderer:
    """Draws pages; `program` is `formats.renderer_path`, else `soffice` is looked for."""

    def __init__(self, do: Dispatcher, cache: Path | None, program: str | None = None) -> None:
        self._do = do
        self._folder = None if cache is None else cache / "previews"
        self._program = shutil.which(program or "soffice")

    def page(self, source: Source, page_index: int, scale: float = 1.0) -> Preview:
        """Return one page as PNG; what cannot be drawn says why and is no error.

        Raises:
            FormatError: `bad_index`; and those of a file that cannot be opened at all.
        """
        module, kind = self._do.readable(source)
        bucket = min(max(round(scale / STEP) * STEP, MIN_SCALE), MAX_SCALE)
        if kind in _THROUGH_OFFICE:
            if self._program is None:
                return Preview(available=False, reason="renderer_missing")
            return self._office(source, page_index, bucket)
        if kind is Kind.PDF or (kind is Kind.IMAGE and source.extension != ".svg"):
            return self._draw(source, source, module, page_index, bucket)
        return Preview(available=False, reason="no_pages")

    def _office(self, source: Source, page_index: int, scale: float) -> Preview:
        kept = self._kept(source, "pdf")
        if kept is not None and kept.exists():
            pages = replace(source, path=kept, name=source.name + ".pdf")
            return self._draw(source, pages, HERE + "pdf", page_index, scale)
        with tempfile.TemporaryDirectory(prefix="backshop-render-") as folder:
            try:
                made = self._convert(source, Path(folder))
            except FormatError as error:
                reason = "timeout" if error.reason == "timeout" else "render_failed"
                return Preview(available=False, reason=reason)
            self._keep(kept, made.read_bytes())
            pages = replace(source, path=made, name=source.name + ".pdf")
            return self._draw(source, pages, HERE + "pdf", page_index, scale)

    def _draw(
        self, source: Source, pages: Source, module: str, page_index: int, scale: float
    ) -> Preview:
        kept = self._kept(source, f"{page_index}-{scale:.2f}.png")
        facts = self._kept(source, f"{page_index}-{scale:.2f}.txt")
        if kept is not None and facts is not None and kept.exists() and facts.exists():
            count, smaller = facts.read_text("ascii").split()
            return _preview(kept.read_bytes(), int(count), smaller == "True")
        limit = self._do.limits.render_timeout_s
        drawn = self._do.read_call(module, "render_page", pages, page_index, scale, timeout_s=limit)
        assert isinstance(drawn, tuple)
        image, count, smaller = drawn
        self._keep(kept, image)
        self._keep(facts, f"{count} {smaller}".encode())
        return _preview(image, count, smaller)

    def _convert(self, source: Source, folder: Path) -> Path:
        """Have LibreOffice write the file as PDF."""
        profile = folder / "profile"
        (profile / "user").mkdir(parents=True)
        (profile / "user" / "registrymodifications.xcu").write_text(_SETTINGS, "utf-8")
        given = folder / f"page{source.extension}"
        shutil.copyfile(source.path, given)
        command = [
            *_alone(),
            str(self._program),
            f"-env:UserInstallation={profile.as_uri()}",
            *("--headless", "--invisible", "--norestore", "--nologo", "--nodefault"),
            *("--convert-to", "pdf", "--outdir", str(folder), str(given)),
        ]
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder)}
        environment |= {"TMPDIR": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        _run(command, environment, folder, self._do.limits.render_timeout_s)
        made = folder / "page.pdf"
        if not made.exists():
            raise fail("corrupt_file", "the page could not be drawn")
        return made

    @cached_property
    def _renderer_id(self) -> str:
        """What drew a picture is part of its name in the cache."""
        if self._program is None:
            return "pdfium"
        status = Path(self._program).resolve().stat()
        seed = f"{self._program} {status.st_size} {status.st_mtime_ns}"
        return hashlib.sha256(seed.encode()).hexdigest()[:12]

    def _kept(self, source: Source, what: str) -> Path | None:
        if self._folder is None:
            return None
        name = f"{source.sha256}-{source.extension.lstrip('.')}-{self._renderer_id}-{what}"
        return self._folder / name

    def _keep(self, path: Path | None, data: bytes) -> None:
        if path is None:
            return
        part = path.with_name(path.name + ".part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(data)
            part.replace(path)
            _make_room(path.parent)
        except OSError:
            part.unlink(missing_ok=True)  # a cache that cannot be written is only slower


def _preview(image: bytes, count: int, smaller: bool) -> Preview:
    return Preview(
        available=True, image=image, mime_type="image/png", page_count=count, scaled_down=smaller
    )


def _make_room(folder: Path) -> None:
    """Delete the oldest pictures above the limit."""
    found = ((path.stat(), path) for path in folder.iterdir())
    files = sorted((status.st_mtime_ns, status.st_size, path) for status, path in found)
    used = sum(size for _, size, _ in files)
    for _, size, path in files:
        if used <= _CACHE_BYTES:
            return
        path.unlink(missing_ok=True)
        used -= size


def _alone() -> list[str]:
    """Return how to start a program without a network, where the system lets us."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    probe = subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False)
    return [unshare, "-rn"] if probe.returncode == 0 else []


def _run(command: list[str], environment: dict[str, str], folder: Path, timeout_s: float) -> None:
    """Run a program; when its time is up, it and all its children are killed."""
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )
    try:
        code = child.wait(timeout_s)
    except subprocess.TimeoutExpired as error:
        raise fail("timeout", "drawing the page took too long") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    if code != 0:
        raise fail("corrupt_file", "the page could not be drawn", detail=f"exit {code}")

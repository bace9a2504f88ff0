"""Files come and go: upload, one file, all files (S7.5, B6.17)."""

from __future__ import annotations

import itertools
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO
from urllib.parse import quote

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse

from backshop.app import Backshop, Role
from backshop.base.acting import OWNER, By, acting_as
from backshop.base.codec import encode
from backshop.base.errors import ValidationFailed
from backshop.base.ids import UserId
from backshop.base.limits import MIB
from backshop.bench import Bench, hand_out, hand_out_all, requests

from .security import user_of
from .site import Site, fault_response
from .uploads import Parcel, Taken

PIECE_BYTES = MIB
UPLOADS_MAX = 5000


async def upload(request: Request) -> Response:
    """Add uploaded files: fields `files`, and `paths` beside them when a folder was chosen.

    With `upload`, a name of the client's choice, files are gathered over several requests: those
    with `step` = `more` only bring files, `stop` throws away what came, any other adds all of it.
    """
    site: Site = request.app.state.site
    bench_id = request.path_params["bench_id"]
    try:
        async with request.form(max_files=UPLOADS_MAX, max_fields=UPLOADS_MAX + 8) as form:
            given = [one for one in form.getlist("files") if isinstance(one, UploadFile)]
            names = [str(one) for one in form.getlist("paths")]
            if len(names) != len(given):
                names = [one.filename or "" for one in given]
            pairs = [(one.file, name) for one, name in zip(given, names, strict=True) if name]
            words = {key: str(form.get(key) or "") for key in ("upload", "step", "on_conflict")}
            user = user_of(request)
            result = await site.run(_take, site, bench_id, pairs, words, user)
            if form.get("next"):  # a plain form
                return RedirectResponse(f"/bench/{bench_id}", status_code=303)
    except (HTTPException, ClientDisconnect):  # of the request itself, answered by the app
        raise
    except Exception as error:  # a surface's outermost handler
        return fault_response(error)
    return JSONResponse(encode(result))


def _take(
    site: Site,
    bench_id: str,
    given: list[tuple[IO[bytes], str]],
    words: dict[str, str],
    user: UserId | None,
) -> Taken:
    """Lay the streams down outside the home; with the last of them add all like other sources."""
    site.shop.gate.admit_to(user, bench_id, Role.PUBLISH)  # adding changes Published
    with acting_as(By(person=user or OWNER)):  # the server names the paths, the person adds
        return _taken(site, bench_id, given, words, user)


def _taken(
    site: Site,
    bench_id: str,
    given: list[tuple[IO[bytes], str]],
    words: dict[str, str],
    user: UserId | None,
) -> Taken:
    limits = site.shop.ask(Bench.get_scope, requests.BenchRequest(workbench_id=bench_id)).limits
    key, step = words["upload"][:80], words["step"]
    if key and step == "more":
        site.parcels.keep(key, bench_id, user, given, limits)
        return Taken()
    site.parcels.require_own(key, bench_id, user)
    try:
        if step == "stop":
            return Taken()
        with tempfile.TemporaryDirectory(prefix="backshop-upload-") as folder:
            parcel = Parcel(Path(folder), bench_id)
            kept = site.parcels.kept(key) if key else ()
            for stream, name in itertools.chain(kept, given):
                parcel.lay_down(stream, name, limits.max_file_bytes)
            return _add(site.shop, parcel, words["on_conflict"] or "reject")
    finally:
        if key:
            site.parcels.drop(key)


def _add(shop: Backshop, parcel: Parcel, on_conflict: str) -> Taken:
    if not parcel.sources:
        if not parcel.refused:
            raise ValidationFailed("no file was chosen", reason="bad_params")
        return Taken(add_results=tuple(parcel.refused))
    request = requests.WorkbenchFilesAdd(
        workbench_id=parcel.bench_id,
        source_paths=tuple(sorted(parcel.sources)),
        recursive=True,
        on_conflict=on_conflict,
    )
    done = shop.ask(Bench.files_add, request)
    results = (  # a folder of ours is nobody's business
        replace(one, source_path=one.source_path.removeprefix(f"{parcel.folder}/"))
        for one in done.add_results
    )
    return Taken(add_results=(*results, *parcel.refused), warnings=done.warnings)


async def download(request: Request) -> Response:
    """Send one file as an attachment; nothing in it is ever shown by the browser itself."""
    site: Site = request.app.state.site
    params, view = request.path_params, request.query_params.get("view", "published")
    try:
        user = user_of(request)
        await site.run(site.shop.gate.admit_to, user, params["bench_id"], Role.READ)
        found = await site.run(
            hand_out, site.shop.benches, params["bench_id"], params["path"], view
        )
        stream = await site.run(found.open)
    except Exception as error:  # a surface's outermost handler
        return fault_response(error)
    return StreamingResponse(
        _pieces(stream),
        media_type="application/octet-stream",
        headers={**attachment(found.path.rpartition("/")[2]), "content-length": str(found.size)},
    )


async def download_all(request: Request) -> Response:
    """Send all Published files as one archive."""
    site: Site = request.app.state.site
    bench_id = request.path_params["bench_id"]
    try:
        await site.run(site.shop.gate.admit_to, user_of(request), bench_id, Role.READ)
        archive = await site.run(_archive, site.shop, bench_id)
    except Exception as error:  # a surface's outermost handler
        return fault_response(error)
    return StreamingResponse(
        _pieces(archive), media_type="application/zip", headers=attachment("files.zip")
    )


def _archive(shop: Backshop, bench_id: str) -> IO[bytes]:
    found = hand_out_all(shop.benches, bench_id)
    now = shop.clock.now_ms() / 1000
    made = tempfile.TemporaryFile(prefix="backshop-zip-")  # noqa: SIM115  # closed when sent
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in found:
            about = archived(str(one.path), now)  # a tree keeps no times of its files
            with one.open() as source, archive.open(about, "w") as target:
                while piece := source.read(PIECE_BYTES):
                    target.write(piece)
    made.seek(0)
    return made


def archived(name: str, at_s: float) -> zipfile.ZipInfo:
    """Return the head of a file in an archive: its name and a time, in UTC; it is compressed."""
    made = zipfile.ZipInfo(name, datetime.fromtimestamp(at_s, UTC).timetuple()[:6])
    made.compress_type = zipfile.ZIP_DEFLATED
    return made


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    with stream:
        while piece := stream.read(PIECE_BYTES):
            yield piece


def attachment(name: str) -> dict[str, str]:
    """Return the headers that make a browser save a file under its name."""
    return {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "cache-control": "no-store",
    }

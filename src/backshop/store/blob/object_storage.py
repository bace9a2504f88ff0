"""S3-compatible object storage, through the few calls that blobs need (T4.3).

Waiting and trying again is ours, by the one schedule of the product (M10.1, M10.7); the library's
own retries are off. Credentials, region and endpoint come from the usual `AWS_…` environment.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from backshop.base.ambient import random_bits
from backshop.base.errors import BackshopError, ValidationFailed
from backshop.base.limits import TRANSIENT_DELAYS_S

from ..errors import StoreUnavailable

T = TypeVar("T")

_JITTER = 0.2
_CHUNK = 4 * 1024 * 1024
_TIMEOUT = "60s"
_NO_BUCKET = "<Code>NoSuchBucket</Code>"  # what the storage answers; the library has no name for it


@dataclass(frozen=True, slots=True)
class Object:
    """What the storage knows of one object."""

    name: str
    size: int
    modified_ms: int


class Objects(Protocol):
    """What blobs need of an object storage. Names are `<aa>/<rest>`."""

    def put_new(self, name: str, path: Path) -> bool:
        """Store a file's content unless the name is taken; say whether it was stored."""
        ...

    def put(self, name: str, path: Path) -> None:
        """Store a file's content, over what may be there."""
        ...

    def get(self, name: str) -> Iterator[bytes] | None:
        """Return the content in pieces, or None."""
        ...

    def head(self, name: str) -> Object | None:
        """Return what is known of an object, or None."""
        ...

    def delete(self, name: str) -> None:
        """Remove an object; nothing happens if there is none."""
        ...

    def listed(self) -> Iterator[Object]:
        """Yield all objects."""
        ...


class S3Objects:
    """A bucket, or what lies below a prefix of one."""

    def __init__(self, url: str, *, pause: Callable[[float], None] = time.sleep) -> None:
        parts = urlsplit(url)
        if parts.scheme != "s3" or not parts.netloc or parts.query or parts.username:
            raise ValidationFailed("a blobs URL is s3://bucket/prefix", reason="bad_blobs_url")
        try:
            import obstore
            from obstore import exceptions
            from obstore.store import S3Store
        except ImportError as error:
            raise StoreUnavailable(
                "object storage needs the extra backshop[s3]", reason="driver_missing"
            ) from error
        self._api: Any = obstore
        self._errors: Any = exceptions
        self._pause = pause
        self._bucket = parts.netloc
        plain = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
        self._store: Any = S3Store(
            parts.netloc,
            prefix=parts.path.strip("/") or None,
            client_options={"allow_http": plain, "timeout": _TIMEOUT},
            retry_config={"max_retries": 0},
        )

    def put_new(self, name: str, path: Path) -> bool:
        """Store a file's content unless the name is taken; say whether it was stored."""

        def put() -> bool:
            try:
                self._api.put(self._store, name, path, mode="create", use_multipart=False)
            except self._errors.AlreadyExistsError:
                return False
            return True

        return self._patiently(lambda: self._in_bucket(put))

    def put(self, name: str, path: Path) -> None:
        """Store a file's content, over what may be there."""

        def put() -> object:
            return self._api.put(self._store, name, path, mode="overwrite", use_multipart=False)

        self._patiently(lambda: self._in_bucket(put))

    def get(self, name: str) -> Iterator[bytes] | None:
        """Return the content in pieces, or None."""
        found = self._patiently(lambda: self._or_none(lambda: self._api.get(self._store, name)))
        return None if found is None else self._pieces(name, found)

    def head(self, name: str) -> Object | None:
        """Return what is known of an object, or None."""
        found = self._patiently(lambda: self._or_none(lambda: self._api.head(self._store, name)))
        return None if found is None else _object(found)

    def delete(self, name: str) -> None:
        """Remove an object; nothing happens if there is none."""
        self._patiently(lambda: self._or_none(lambda: self._api.delete(self._store, name)))

    def listed(self) -> Iterator[Object]:
        """Yield all objects."""
        pages: Iterator[Any] | None = None
        last: str | None = None

        def following() -> Any:
            nonlocal pages
            if pages is None:  # what broke off goes on after what was given; it would seem to end
                pages = iter(self._api.list(self._store, offset=last))
            try:
                return next(pages, None)
            except self._errors.BaseError:
                pages = None
                raise

        while (page := self._patiently(following)) is not None:
            for one in page:
                last = str(one["path"])
                yield _object(one)

    def require_bucket(self) -> None:
        """Refuse a bucket that is not there: we make none.

        Raises:
            StoreUnavailable: `no_bucket`.
        """
        next(self.listed(), None)

    def _in_bucket(self, ask: Callable[[], T]) -> T:
        """Ask for what can only be missing together with its bucket."""
        try:
            return ask()
        except FileNotFoundError as error:
            raise self._no_bucket() from error

    def _no_bucket(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"there is no bucket {self._bucket!r} in the object storage, or not for these"
            " credentials",
            reason="no_bucket",
            hints=("make the bucket first: Backshop makes none",),
        )

    def _pieces(self, name: str, found: Any) -> Iterator[bytes]:
        """Yield the whole content: where it breaks off, the rest is asked for again."""
        size, given = int(found.meta["size"]), 0
        arriving: Iterator[Any] | None = iter(found.stream(min_chunk_size=_CHUNK))

        def following() -> bytes:
            nonlocal arriving
            if arriving is None:
                rest = {"range": {"offset": given}}
                again = self._api.get(self._store, name, options=rest)
                arriving = iter(again.stream(min_chunk_size=_CHUNK))
            try:
                if (piece := next(arriving, None)) is None:
                    raise self._errors.GenericError("the content ended early")
            except self._errors.BaseError:
                arriving = None
                raise
            return bytes(piece)

        while given < size:
            piece = self._patiently(following)
            given += len(piece)
            yield piece

    def _or_none(self, ask: Callable[[], T]) -> T | None:
        try:
            return ask()
        except FileNotFoundError:
            return None

    def _patiently(self, ask: Callable[[], T]) -> T:
        for delay_s in (*TRANSIENT_DELAYS_S, None):
            try:
                return ask()
            except self._errors.BaseError as error:
                problem = self._translated(error)
                if delay_s is None or problem.reason is not None:
                    raise problem from error
            self._pause(delay_s * (1 + _JITTER * (random_bits(16) / 2**15 - 1)))
        raise AssertionError  # the loop ends by returning or raising

    def _translated(self, error: BaseException) -> BackshopError:
        """Return our error for the library's; its text may hold addresses and is left out."""
        detail = f"s3: {type(error).__name__}"
        if _NO_BUCKET in str(error):
            return self._no_bucket()
        denied = (self._errors.PermissionDeniedError, self._errors.UnauthenticatedError)
        if isinstance(error, denied):
            return StoreUnavailable(
                "the object storage refuses these credentials", reason="refused", detail=detail
            )
        return StoreUnavailable("the object storage cannot be reached", detail=detail)


def _object(found: Any) -> Object:
    return Object(found["path"], int(found["size"]), int(found["last_modified"].timestamp() * 1000))

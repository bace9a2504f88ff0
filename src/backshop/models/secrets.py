"""Provider keys, encrypted at rest under a master key in the keyring or a file (M3.7–M3.11)."""

from __future__ import annotations

import base64
import json
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from backshop.base.ambient import Clock, timestamp
from backshop.store import file_error

from .errors import SecretsUnreadable

_LOG = logging.getLogger(__name__)
_KEY_BYTES = 32
_NONCE_BYTES = 12
_MODE = 0o600
_SERVICE = "backshop"


class Vault(Protocol):
    """Where the master key is kept."""

    @property
    def source(self) -> str:
        """`keyring` or `file`, as shown to the person."""
        ...

    def read(self) -> bytes | None:
        """Return the key, or None: there is none yet."""
        ...

    def write(self, key: bytes) -> None:
        """Keep a key."""
        ...


class FileVault:
    """A file beside the store: protects against accidental disclosure only (M3.8)."""

    source = "file"

    def __init__(self, home: Path) -> None:
        self._path = home / "master.key"

    def read(self) -> bytes | None:
        """Return the key, tightening its permissions if somebody widened them."""
        try:
            tighten(self._path)
            key = base64.b64decode(self._path.read_bytes(), validate=True)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SecretsUnreadable("the master key cannot be read", reason=_UNREADABLE) from error
        return key

    def write(self, key: bytes) -> None:
        """Write the key for the owner only."""
        write_private(self._path, base64.b64encode(key))


class KeyringVault:
    """The operating system's keyring."""

    source = "keyring"

    def __init__(self, home: Path) -> None:
        self._name = str(home.absolute())

    def read(self) -> bytes | None:
        """Return the key, or None."""
        import keyring  # loaded on first use
        from keyring.errors import KeyringError

        try:
            text = keyring.get_password(_SERVICE, self._name)
        except KeyringError as error:
            raise SecretsUnreadable("the keyring is locked", reason=_UNREADABLE) from error
        return base64.b64decode(text) if text else None

    def write(self, key: bytes) -> None:
        """Put the key into the keyring."""
        import keyring  # loaded on first use

        keyring.set_password(_SERVICE, self._name, base64.b64encode(key).decode())

    @classmethod
    def works(cls) -> bool:
        """Say whether a keyring is there: written, read and deleted once (M3.8)."""
        import keyring  # loaded on first use
        from keyring.errors import KeyringError

        name, text = "probe", base64.b64encode(os.urandom(9)).decode()
        try:
            keyring.set_password(_SERVICE, name, text)
            same = keyring.get_password(_SERVICE, name) == text
            keyring.delete_password(_SERVICE, name)
        except (KeyringError, OSError, RuntimeError):
            return False
        return same


@dataclass(frozen=True, slots=True)
class StoredKey:
    """One provider's key."""

    api_key: str
    updated_at: str

    def __repr__(self) -> str:
        return f"StoredKey(updated_at={self.updated_at!r})"


class Secrets:
    """The key store of one home. Safe for several processes."""

    def __init__(self, home: Path, *, clock: Clock, vault: Vault | None = None) -> None:
        self._home = home
        self._path = home / "secrets.enc"
        self._clock = clock
        self._given = vault
        self._vault: Vault | None = vault

    @property
    def source(self) -> str:
        """Where the master key is kept, or `none`: nothing is stored yet."""
        document = self._document()
        return str(document["key_source"]) if document else "none"

    def get(self, provider_id: str) -> str | None:
        """Return a provider's key, or None.

        Raises:
            SecretsUnreadable: the store is there and cannot be opened; it stays as it is.
        """
        found = self.all().get(provider_id)
        return found.api_key if found else None

    def all(self) -> Mapping[str, StoredKey]:
        """Return every stored key. Reading never makes a master key."""
        document = self._document()
        if document is None:
            return {}
        key = self._open_vault(str(document.get("key_source"))).read()
        if key is None:
            raise SecretsUnreadable("the master key is missing", reason=_UNREADABLE)
        return _opened(document, key)

    def put(self, provider_id: str, api_key: str) -> None:
        """Store a key; a store that cannot be opened is put aside, never thrown away (M3.10)."""
        stored = StoredKey(api_key, timestamp(self._clock.now_ms()))
        with self._locked():
            self._save({**self._readable(), provider_id: stored})

    def remove(self, provider_id: str) -> None:
        """Forget a provider's key."""
        with self._locked():
            keys = dict(self.all())
            if keys.pop(provider_id, None) is not None:
                self._save(keys)

    def _readable(self) -> Mapping[str, StoredKey]:
        try:
            return self.all()
        except SecretsUnreadable:
            stamp = timestamp(self._clock.now_ms()).replace(":", "").replace(".", "")
            aside = self._path.with_name(f"{self._path.name}.bad-{stamp}")
            _LOG.warning("the key store cannot be opened; it is kept as %s", aside.name)
            self._path.replace(aside)
            return {}

    def _save(self, keys: Mapping[str, StoredKey]) -> None:
        document = self._document()
        vault = self._open_vault(str(document["key_source"]) if document else None)
        key = vault.read()
        if key is None:
            if document is not None:  # M3.9: never a new key beside a store it cannot open
                raise SecretsUnreadable("the master key is missing", reason=_UNREADABLE)
            key = os.urandom(_KEY_BYTES)
            vault.write(key)
        install_id = str(document["install_id"]) if document else os.urandom(16).hex()
        sealed = _sealed(keys, key, source=vault.source, install_id=install_id)
        write_private(self._path, json.dumps(sealed, indent=1, sort_keys=True).encode())

    def _document(self) -> dict[str, Any] | None:
        try:
            tighten(self._path)
            data = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SecretsUnreadable("the key store cannot be read", reason=_UNREADABLE) from error
        wanted = {"schema_version", "key_source", "install_id", "nonce", "ciphertext"}
        if not isinstance(data, dict) or not wanted <= data.keys() or data["schema_version"] != 1:
            raise SecretsUnreadable("the key store is damaged", reason=_UNREADABLE)
        return data

    def _open_vault(self, source: str | None) -> Vault:
        """Return the vault a store was made with, or the best one for a new store."""
        if self._vault is None or (source and self._vault.source != source and not self._given):
            use_keyring = source == "keyring" or (source is None and KeyringVault.works())
            self._vault = KeyringVault(self._home) if use_keyring else FileVault(self._home)
        return self._vault

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the one lock over read, change and write (M3.11)."""
        try:
            self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self._home / "secrets.lock", os.O_RDWR | os.O_CREAT, _MODE)
        except OSError as error:
            raise file_error(error) from error
        try:
            _lock_file(handle)
            yield
        finally:
            os.close(handle)


def write_private(path: Path, data: bytes) -> None:
    """Replace a file whole, readable by its owner only.

    Raises:
        DiskFull, WriteFailed: nothing was changed.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise file_error(error) from error


def tighten(path: Path) -> None:
    """Correct and report permissions wider than the owner's (M3.11)."""
    mode = path.stat().st_mode & 0o777
    if os.name == "posix" and mode & 0o077:
        _LOG.warning("%s could be read by others; corrected", path.name)
        path.chmod(_MODE)


_UNREADABLE = "secrets_unreadable"


def _associated(install_id: str) -> bytes:
    return f"backshop|secrets|1|{install_id}".encode()


def _sealed(
    keys: Mapping[str, StoredKey], key: bytes, *, source: str, install_id: str
) -> dict[str, Any]:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # loaded on first use

    plain = {
        name: {"api_key": one.api_key, "updated_at": one.updated_at} for name, one in keys.items()
    }
    nonce = os.urandom(_NONCE_BYTES)
    text = json.dumps(plain, sort_keys=True).encode()
    sealed = AESGCM(key).encrypt(nonce, text, _associated(install_id))
    return {
        "schema_version": 1,
        "key_source": source,
        "install_id": install_id,
        "nonce": base64.b64encode(nonce).decode(),
        "ciphertext": base64.b64encode(sealed).decode(),
    }


def _opened(document: Mapping[str, Any], key: bytes) -> dict[str, StoredKey]:
    from cryptography.exceptions import InvalidTag  # loaded on first use
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        nonce = base64.b64decode(document["nonce"], validate=True)
        sealed = base64.b64decode(document["ciphertext"], validate=True)
        text = AESGCM(key).decrypt(nonce, sealed, _associated(str(document["install_id"])))
        return {name: StoredKey(**one) for name, one in json.loads(text).items()}
    except (InvalidTag, ValueError, TypeError) as error:
        raise SecretsUnreadable("the key store cannot be opened", reason=_UNREADABLE) from error


def _lock_file(handle: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]  # Windows only
        return
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_EX)

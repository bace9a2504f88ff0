"""Where the master key of stored keys is kept: keyring, file, or a passphrase in mind (M3.8)."""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from backshop.base.system import durability
from backshop.store import file_error

from ..errors import SecretsUnreadable

_LOG = logging.getLogger(__name__)
MODE = 0o600
UNREADABLE = "secrets_unreadable"
_KEY_BYTES = 32
_SERVICE = "backshop"
_SCRYPT = {"n": 2**15, "r": 8, "p": 1}  # M3.8
_SCRYPT_MEMORY = 64 * 1024 * 1024


class Vault(Protocol):
    """Where the master key is kept."""

    @property
    def source(self) -> str:
        """`keyring`, `file` or `passphrase`, as shown to the person."""
        ...

    def read(self) -> bytes | None:
        """Return the key, or None: there is none yet."""
        ...

    @property
    def kdf(self) -> Mapping[str, Any] | None:
        """How the key is derived, to be stored beside what it seals; None if it is kept."""
        ...

    def fresh(self) -> bytes:
        """Make a new key, keep it and return it."""
        ...

    def forget(self) -> None:
        """Remove the key; nothing is sealed with it any more."""
        ...


class FileVault:
    """A file beside the store: protects against accidental disclosure only (M3.8)."""

    source = "file"
    kdf = None

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
            raise SecretsUnreadable("the master key cannot be read", reason=UNREADABLE) from error
        return key

    def fresh(self) -> bytes:
        """Write a new key for the owner only."""
        key = os.urandom(_KEY_BYTES)
        write_private(self._path, base64.b64encode(key))
        return key

    def forget(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)


class KeyringVault:
    """The operating system's keyring."""

    source = "keyring"
    kdf = None

    def __init__(self, home: Path) -> None:
        self._name = str(home.absolute())

    def read(self) -> bytes | None:
        """Return the key, or None."""
        import keyring  # loaded on first use
        from keyring.errors import KeyringError

        try:
            text = keyring.get_password(_SERVICE, self._name)
            return base64.b64decode(text, validate=True) if text else None
        except (KeyringError, OSError, RuntimeError, ValueError) as error:
            raise SecretsUnreadable("the keyring gives no key", reason=UNREADABLE) from error

    def fresh(self) -> bytes:
        """Put a new key into the keyring."""
        import keyring  # loaded on first use
        from keyring.errors import KeyringError

        key = os.urandom(_KEY_BYTES)
        try:
            keyring.set_password(_SERVICE, self._name, base64.b64encode(key).decode())
        except (KeyringError, OSError, RuntimeError) as error:
            raise SecretsUnreadable("the keyring takes no key", reason=UNREADABLE) from error
        return key

    def forget(self) -> None:
        """Take the key out of the keyring; one that is gone already is fine."""
        import keyring  # loaded on first use
        from keyring.errors import KeyringError

        try:
            keyring.delete_password(_SERVICE, self._name)
        except KeyringError:
            _LOG.warning("the old master key could not be removed from the keyring")

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


class PassphraseVault:
    """A key derived from a passphrase that is never stored; for servers without a keyring."""

    source = "passphrase"

    def __init__(self, passphrase: str | None, kdf: Any = None) -> None:
        self._passphrase = passphrase
        self._kdf: Mapping[str, Any] | None = kdf if isinstance(kdf, Mapping) else None

    @property
    def kdf(self) -> Mapping[str, Any] | None:
        """The salt and cost of the derivation."""
        return self._kdf

    def read(self) -> bytes | None:
        """Return the key, or None: no passphrase is given or nothing was derived yet."""
        if not self._passphrase or self._kdf is None:
            return None
        try:
            salt = base64.b64decode(str(self._kdf["salt"]), validate=True)
            cost = {name: int(self._kdf[name]) for name in _SCRYPT}
            if self._kdf.get("name") != "scrypt" or cost["n"] > 2**20 or cost["r"] * cost["p"] > 64:
                raise ValueError("an unknown derivation")
            return hashlib.scrypt(
                self._passphrase.encode(),
                salt=salt,
                dklen=_KEY_BYTES,
                maxmem=max(_SCRYPT_MEMORY, 256 * cost["n"] * cost["r"]),
                **cost,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise SecretsUnreadable("the key store is damaged", reason=UNREADABLE) from error

    def fresh(self) -> bytes:
        """Choose a salt and return the key it gives."""
        salt = base64.b64encode(os.urandom(16)).decode()
        self._kdf = {"name": "scrypt", **_SCRYPT, "salt": salt}
        key = self.read()
        if key is None:
            raise SecretsUnreadable("no passphrase is given", reason=UNREADABLE)
        return key

    def forget(self) -> None:
        """There is nothing to remove."""


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
                durability.sync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise file_error(error) from error


def tighten(path: Path) -> None:
    """Correct and report permissions wider than the owner's (M3.11)."""
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        _LOG.warning("%s could be read by others; corrected", path.name)
        path.chmod(MODE)

"""Provider keys, encrypted at rest under a master key that a vault keeps (M3.7–M3.11)."""

from __future__ import annotations

import base64
import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backshop.base.ambient import Clock, timestamp
from backshop.base.errors import ValidationFailed
from backshop.base.system import lock
from backshop.store import file_error

from ..errors import SecretsUnreadable
from .vault import (
    MODE,
    UNREADABLE,
    FileVault,
    KeyringVault,
    PassphraseVault,
    Vault,
    tighten,
    write_private,
)

_LOG = logging.getLogger(__name__)
_NONCE_BYTES = 12
UNLOCK_ENV = "BACKSHOP_SECRETS_PASSPHRASE"
SOURCES = ("keyring", "file", "passphrase")


@dataclass(frozen=True, slots=True)
class StoredKey:
    """One provider's key."""

    api_key: str
    updated_at: str

    def __repr__(self) -> str:
        return f"StoredKey(updated_at={self.updated_at!r})"


class Secrets:
    """The key store of one home. Safe for several processes."""

    def __init__(
        self,
        home: Path,
        *,
        clock: Clock,
        vault: Vault | None = None,
        passphrase: str | None = None,
    ) -> None:
        self._home = home
        self._path = home / "secrets.enc"
        self._clock = clock
        self._given = vault
        self._passphrase = passphrase

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
        key = self._open_vault(document).read()
        if key is None:
            raise SecretsUnreadable("the master key is missing", reason=UNREADABLE)
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

    def move(self, to: str) -> None:
        """Keep the master key elsewhere: written and verified there before the old one goes (M3.9).

        Raises:
            ValidationFailed: `bad_params`, no such place, or it cannot be used here.
            SecretsUnreadable: the store cannot be opened; nothing was changed.
        """
        if to not in SOURCES:
            raise ValidationFailed(
                f"a master key is not kept in {to[:20]!r}", reason="bad_params", choices=SOURCES
            )
        with self._locked():
            document = self._document()
            if document is None:
                raise ValidationFailed("no key is stored yet", reason="bad_params")
            keys, old = self.all(), self._open_vault(document)
            if old.source == to:
                return
            new = self._new_vault(to)
            key = new.fresh()
            sealed = _sealed(keys, key, vault=new, install_id=str(document["install_id"]))
            if new.read() != key or _opened(sealed, key) != keys:
                raise SecretsUnreadable("the new place does not keep a key", reason=UNREADABLE)
            write_private(self._path, json.dumps(sealed, indent=1, sort_keys=True).encode())
            old.forget()

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
        if document is None:
            vault = self._given or self._best_vault()
            key = vault.read() or vault.fresh()
        else:
            vault = self._open_vault(document)
            found = vault.read()
            if found is None:  # M3.9: never a new key beside a store it cannot open
                raise SecretsUnreadable("the master key is missing", reason=UNREADABLE)
            key = found
        install_id = str(document["install_id"]) if document else os.urandom(16).hex()
        sealed = _sealed(keys, key, vault=vault, install_id=install_id)
        write_private(self._path, json.dumps(sealed, indent=1, sort_keys=True).encode())

    def _document(self) -> dict[str, Any] | None:
        try:
            tighten(self._path)
            data = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SecretsUnreadable("the key store cannot be read", reason=UNREADABLE) from error
        wanted = {"schema_version", "key_source", "install_id", "nonce", "ciphertext"}
        if not isinstance(data, dict) or not wanted <= data.keys() or data["schema_version"] != 1:
            raise SecretsUnreadable("the key store is damaged", reason=UNREADABLE)
        return data

    def _open_vault(self, document: Mapping[str, Any]) -> Vault:
        """Return the vault a store was made with."""
        source = document.get("key_source")
        if self._given is not None and self._given.source == source:
            return self._given
        match source:
            case "keyring":
                return KeyringVault(self._home)
            case "passphrase":
                return PassphraseVault(self._passphrase, document.get("kdf"))
        return FileVault(self._home)

    def _best_vault(self) -> Vault:
        """Return where a new store keeps its master key (M3.8)."""
        if self._passphrase:
            return PassphraseVault(self._passphrase)
        return KeyringVault(self._home) if KeyringVault.works() else FileVault(self._home)

    def _new_vault(self, source: str) -> Vault:
        """Return a vault to move to, if it can be used here."""
        if source == "passphrase" and not self._passphrase:
            raise ValidationFailed(f"{UNLOCK_ENV} is not set", reason="bad_params")
        if source == "keyring" and not KeyringVault.works():
            raise ValidationFailed("there is no keyring that works here", reason="bad_params")
        if source == "passphrase":
            return PassphraseVault(self._passphrase)
        return KeyringVault(self._home) if source == "keyring" else FileVault(self._home)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the one lock over read, change and write (M3.11)."""
        try:
            self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self._home / "secrets.lock", os.O_RDWR | os.O_CREAT, MODE)
        except OSError as error:
            raise file_error(error) from error
        try:
            lock.hold(handle)
            yield
        finally:
            os.close(handle)


def _associated(install_id: str) -> bytes:
    return f"backshop|secrets|1|{install_id}".encode()


def _sealed(
    keys: Mapping[str, StoredKey], key: bytes, *, vault: Vault, install_id: str
) -> dict[str, Any]:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # loaded on first use

    plain = {
        name: {"api_key": one.api_key, "updated_at": one.updated_at} for name, one in keys.items()
    }
    nonce = os.urandom(_NONCE_BYTES)
    text = json.dumps(plain, sort_keys=True).encode()
    sealed = AESGCM(key).encrypt(nonce, text, _associated(install_id))
    made = {"kdf": vault.kdf} if vault.kdf else {}
    return made | {
        "schema_version": 1,
        "key_source": vault.source,
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
        raise SecretsUnreadable("the key store cannot be opened", reason=UNREADABLE) from error

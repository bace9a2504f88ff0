"""Keys at rest."""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
from pathlib import Path

import pytest

from backshop.base.ambient import SystemClock
from backshop.base.errors import ValidationFailed
from backshop.base.redact import MASK, Redactor
from backshop.models.errors import SecretsUnreadable
from backshop.models.providers.secret import Secrets
from backshop.models.providers.vault import FileVault

KEY = "sk-very-secret-0123456789"


def make(home: Path) -> Secrets:
    return Secrets(home, clock=SystemClock(), vault=FileVault(home))


@pytest.mark.rule("M3.7", "M3.8", "M19.19", "M19.22")
def test_a_key_is_encrypted_and_comes_back(tmp_path):
    make(tmp_path).put("openai", KEY)

    stored = (tmp_path / "secrets.enc").read_bytes()
    assert KEY.encode() not in stored
    assert set(json.loads(stored)) == {
        *("schema_version", "key_source", "install_id", "nonce", "ciphertext")
    }
    assert json.loads(stored)["key_source"] == "file"
    assert make(tmp_path).get("openai") == KEY
    assert make(tmp_path).get("mistral") is None
    assert (tmp_path / "master.key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "secrets.enc").stat().st_mode & 0o777 == 0o600
    assert KEY not in repr(make(tmp_path).all())


@pytest.mark.rule("M3.7")
def test_every_save_has_a_nonce_of_its_own(tmp_path):
    nonces = set()
    for _ in range(5):
        make(tmp_path).put("openai", KEY)
        nonces.add(json.loads((tmp_path / "secrets.enc").read_text())["nonce"])

    assert len(nonces) == 5


class Watching(FileVault):
    """Notes with each reading whether somebody else could have the lock at the same time."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.is_locked: list[bool] = []
        self._lock = home / "secrets.lock"

    def read(self) -> bytes | None:
        with self._lock.open("rb") as other:
            try:
                fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
                self.is_locked.append(False)
            except BlockingIOError:
                self.is_locked.append(True)
        return super().read()


@pytest.mark.rule("M3.11")
def test_keys_are_read_and_written_by_one_at_a_time(tmp_path):
    vault = Watching(tmp_path)
    secrets = Secrets(tmp_path, clock=SystemClock(), vault=vault)

    secrets.put("openai", KEY)
    secrets.put("mistral", KEY)
    secrets.remove("openai")

    assert len(vault.is_locked) >= 3
    assert all(vault.is_locked)


@pytest.mark.rule("M3.10", "M19.19")
def test_a_damaged_store_is_reported_and_put_aside_only_by_a_new_save(tmp_path):
    make(tmp_path).put("openai", KEY)
    path = tmp_path / "secrets.enc"
    document = json.loads(path.read_text())
    flipped = document["ciphertext"][:-4] + (
        "AAAA" if document["ciphertext"][-4:] != "AAAA" else "BBBB"
    )
    path.write_text(json.dumps({**document, "ciphertext": flipped}))
    damaged = path.read_bytes()

    with pytest.raises(SecretsUnreadable) as caught:
        make(tmp_path).get("openai")
    assert caught.value.reason == "secrets_unreadable"
    assert path.read_bytes() == damaged

    make(tmp_path).put("mistral", "another-key-123")
    assert make(tmp_path).get("openai") is None
    assert make(tmp_path).get("mistral") == "another-key-123"
    (aside,) = tmp_path.glob("secrets.enc.bad-*")
    assert aside.read_bytes() == damaged


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"schema_version": 2}', b"\xff"])
def test_whatever_stands_in_the_file_is_an_error_not_a_crash(tmp_path, content):
    (tmp_path / "secrets.enc").write_bytes(content)

    with pytest.raises(SecretsUnreadable):
        make(tmp_path).all()


@pytest.mark.rule("M3.9", "M19.21")
def test_reading_never_makes_a_master_key(tmp_path):
    make(tmp_path).put("openai", KEY)
    (tmp_path / "master.key").unlink()

    with pytest.raises(SecretsUnreadable):
        make(tmp_path).get("openai")
    with pytest.raises(SecretsUnreadable):
        make(tmp_path).remove("openai")

    assert not (tmp_path / "master.key").exists()


def test_a_key_store_of_another_home_does_not_open_with_this_key(tmp_path):
    make(tmp_path / "a").put("openai", KEY)
    make(tmp_path / "b").put("openai", KEY)
    (tmp_path / "b" / "secrets.enc").write_bytes((tmp_path / "a" / "secrets.enc").read_bytes())

    with pytest.raises(SecretsUnreadable):
        make(tmp_path / "b").get("openai")


@pytest.mark.rule("M3.11")
@pytest.mark.parametrize("mode", [0o644, 0o640])
def test_permissions_that_are_too_wide_are_corrected(tmp_path, caplog, mode):
    make(tmp_path).put("openai", KEY)
    (tmp_path / "secrets.enc").chmod(mode)

    make(tmp_path).get("openai")

    assert (tmp_path / "secrets.enc").stat().st_mode & 0o777 == 0o600
    assert "secrets.enc" in caplog.text


@pytest.mark.rule("M3.4")
def test_a_removed_key_is_gone(tmp_path):
    make(tmp_path).put("openai", KEY)
    make(tmp_path).put("mistral", KEY)

    make(tmp_path).remove("openai")
    make(tmp_path).remove("openai")

    assert set(make(tmp_path).all()) == {"mistral"}


def _save_many(home: str, name: str) -> None:
    for number in range(10):
        make(Path(home)).put(f"{name}-{number}", KEY)


@pytest.mark.rule("M3.11", "M19.20")
def test_two_processes_saving_at_once_lose_nothing(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_save_many, args=(str(tmp_path), name)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)

    assert len(make(tmp_path).all()) == 20


def test_a_full_disk_leaves_the_old_store(tmp_path, monkeypatch):
    make(tmp_path).put("openai", KEY)
    before = (tmp_path / "secrets.enc").read_bytes()

    def full(_):
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Exception) as caught:
        make(tmp_path).put("mistral", KEY)

    assert getattr(caught.value, "code", None) == "DISK_FULL"
    assert (tmp_path / "secrets.enc").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "master.key",
        "secrets.enc",
        "secrets.lock",
    ]


@pytest.mark.rule("M3.12")
@pytest.mark.parametrize(
    "text",
    [
        f"the key {KEY} leaked",
        "Authorization: Bearer abcdefghijkl",
        '{"api_key": "abcdef"}',
        "x-api-key=abcdef",
        "password = 'hunter2'",
        "bearer abcdefghijklmnop",
        "ACCESS_TOKEN: abcdef",
    ],
)
def test_secrets_are_masked_by_name_and_by_value(text):
    redactor = Redactor()
    redactor.learn([KEY, None, "short"])

    scrubbed = redactor.scrub(text)

    assert MASK in scrubbed
    for secret in (KEY, "abcdef", "hunter2"):
        assert secret not in scrubbed


@pytest.mark.rule("M3.12")
def test_a_secret_that_begins_like_another_one_is_masked_to_its_end():
    redactor = Redactor()
    redactor.learn(["abcdefgh", "abcdefgh-and-the-rest", "abcdefgh-and"])

    assert redactor.scrub("it was abcdefgh-and-the-rest.") == f"it was {MASK}."


def test_ordinary_words_stay():
    redactor = Redactor()
    redactor.learn(["short"])

    assert redactor.scrub("a short text about tokens") == "a short text about tokens"


def under(home: Path, passphrase: str | None) -> Secrets:
    return Secrets(home, clock=SystemClock(), passphrase=passphrase)


@pytest.mark.rule("M3.8")
def test_a_passphrase_opens_the_store_and_is_not_in_it(tmp_path):
    under(tmp_path, "correct horse").put("openai", KEY)

    stored = (tmp_path / "secrets.enc").read_text()
    cost = {"name": "scrypt", "n": 2**15, "r": 8, "p": 1}
    assert json.loads(stored)["key_source"] == "passphrase"
    assert json.loads(stored)["kdf"].items() >= cost.items()
    assert "horse" not in stored
    assert not (tmp_path / "master.key").exists()
    assert under(tmp_path, "correct horse").get("openai") == KEY
    for wrong in ("another", None):
        with pytest.raises(SecretsUnreadable):
            under(tmp_path, wrong).get("openai")
    assert (tmp_path / "secrets.enc").read_text() == stored


@pytest.mark.rule("M3.9")
def test_the_master_key_moves_and_the_old_one_goes(tmp_path):
    make(tmp_path).put("openai", KEY)
    before = json.loads((tmp_path / "secrets.enc").read_text())

    under(tmp_path, "correct horse").move("passphrase")

    after = json.loads((tmp_path / "secrets.enc").read_text())
    assert (before["key_source"], after["key_source"]) == ("file", "passphrase")
    assert after["install_id"] == before["install_id"]
    assert not (tmp_path / "master.key").exists()
    assert under(tmp_path, "correct horse").get("openai") == KEY
    under(tmp_path, "correct horse").move("file")
    assert make(tmp_path).get("openai") == KEY
    assert "kdf" not in json.loads((tmp_path / "secrets.enc").read_text())


@pytest.mark.rule("M3.9")
@pytest.mark.parametrize("to", ["passphrase", "cupboard"])
def test_a_move_that_cannot_be_made_changes_nothing(tmp_path, to):
    make(tmp_path).put("openai", KEY)
    before = (tmp_path / "secrets.enc").read_bytes()

    with pytest.raises(ValidationFailed):
        make(tmp_path).move(to)

    assert (tmp_path / "secrets.enc").read_bytes() == before
    assert make(tmp_path).get("openai") == KEY


@pytest.mark.rule("M3.9")
def test_a_store_that_cannot_be_opened_does_not_move(tmp_path):
    under(tmp_path, "correct horse").put("openai", KEY)
    before = (tmp_path / "secrets.enc").read_bytes()

    with pytest.raises(SecretsUnreadable):
        under(tmp_path, "wrong").move("file")

    assert (tmp_path / "secrets.enc").read_bytes() == before
    assert not (tmp_path / "master.key").exists()

"""The team of `docs/guides/team.md`: the processes and settings that `deploy/` names, for real."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from tests import objects, postgres
from tests.team.conftest import until

from backshop.base import yaml

pytestmark = [pytest.mark.needs("postgres", "s3"), pytest.mark.timeout(900)]
ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
HOST = "backshop.example.org"
TASK = "Add up the sales by region and month and put the totals on a new sheet of the budget"


def env_file() -> dict[str, str]:
    lines = (DEPLOY / "backshop.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def unit(name: str) -> dict[str, str]:
    lines = (DEPLOY / "systemd" / f"{name}.service").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def command(name: str) -> list[str]:
    """Return what a unit runs, without the path of the program."""
    program, *arguments = shlex.split(unit(name)["ExecStart"])
    assert program == "/opt/backshop/bin/backshop"
    return arguments


class Host:
    """One machine: a home of its own, the environment file, and one process."""

    def __init__(self, folder: Path, shared: dict[str, str], arguments: list[str]) -> None:
        self.home = folder
        self.env = {**os.environ, **env_file(), **shared, "BACKSHOP_HOME": str(folder)}
        free = ["0" if part == "8421" else part for part in arguments]
        self.said = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "backshop.cli", *free],
            env=self.env,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                self.said += line

    def ready(self, word: str) -> Host:
        until(lambda: word in self.said or self.process.poll() is not None, f"{word}: {self.said}")
        assert self.process.poll() is None, self.said
        return self

    @property
    def address(self) -> str:
        found = re.search(r"http://127\.0\.0\.1:\d+", self.said)
        assert found is not None
        return found[0]

    def cli(self, *arguments: str) -> Any:
        """Run a command on this machine."""
        done = subprocess.run(
            [sys.executable, "-m", "backshop.cli", *arguments, "--json"],
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def stop(self) -> int:
        self.process.terminate()
        code = self.process.wait(120)
        self._listener.join(10)
        return code


@pytest.fixture
def start(tmp_path):
    """Start machines by their units on a real database and real object storage."""
    made: list[Host] = []
    with postgres.fresh_database() as url, objects.fresh_bucket() as bucket:
        keys = {name: os.environ[name] for name in (*objects.KEYS, "AWS_ENDPOINT_URL")}
        shared = {**keys, "BACKSHOP_DATABASE_URL": url, "BACKSHOP_BLOBS_URL": bucket}

        def start(name: str, unit_name: str) -> Host:
            made.append(Host(tmp_path / name, shared, command(unit_name)))
            return made[-1]

        yield start
        for one in made:
            assert one.stop() in (0, 1, -15), one.said
            assert "Traceback" not in one.said


@pytest.fixture
def hosts(tmp_path, start):
    """Two web servers, and two workers."""
    first = start("web-1", "backshop-web").ready("log in")
    (tmp_path / "web-2").mkdir(mode=0o700)
    shutil.copy(tmp_path / "web-1" / "web.key", tmp_path / "web-2" / "web.key")
    second = start("web-2", "backshop-web")
    workers = [start(f"worker-{n}", "backshop-worker") for n in (1, 2)]
    second.ready("log in")
    for worker in workers:
        worker.ready("ready")
    return first, second


def rpc(server: Host, cookie: str, method: str, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"host": HOST, "cookie": cookie}
    answer = httpx2.post(f"{server.address}/rpc", json=body, headers=headers, timeout=120).json()
    assert "error" not in answer, answer
    return answer["result"]


@pytest.mark.rule("T6.1", "T6.2", "T6.4")
def test_the_team_of_the_guide_works(hosts):
    first, second = hosts
    link = first.home / "login.link"
    assert link.read_text().startswith(f"{env_file()['BACKSHOP_PUBLIC_URL']}/login?token=")
    assert link.stat().st_mode & 0o777 == 0o600
    assert "token=" not in first.said
    ada = first.cli("user", "add", "Ada")
    bench = first.cli("call", "WorkbenchCreateSample", "{}")["workbench_id"]
    first.cli("model", "use", "scripted:demo", "--bench", bench)
    first.cli("bench", "share", bench, "Ada", "publish")

    form = {"token": ada["token"]}
    entered = httpx2.post(f"{first.address}/login", data=form, headers={"host": HOST}, timeout=60)
    assert entered.status_code == 303, entered.text
    assert "secure" in entered.headers["set-cookie"].lower()
    cookie = entered.headers["set-cookie"].partition(";")[0]

    sent = rpc(second, cookie, "WorkshopSendUserMessage", workbench_id=bench, text=TASK)
    wish = {"workbench_id": bench, "message_id": sent["message_id"]}
    headers = {"host": HOST, "cookie": cookie}
    begun = httpx2.post(
        f"{second.address}/bench/{bench}/turn", json=wish, headers=headers, timeout=60
    )
    assert begun.status_code in (200, 202), begun.text
    assert "error" not in begun.json(), begun.text

    def state() -> dict[str, Any]:
        return dict(rpc(first, cookie, "WorkshopGetState", workbench_id=bench))

    until(lambda: "active_turn" not in state() and state()["has_draft"], "the Draft")
    rpc(first, cookie, "DraftPublish", workbench_id=bench)
    zipped = httpx2.get(f"{second.address}/bench/{bench}/files.zip", headers=headers, timeout=60)
    names = zipfile.ZipFile(io.BytesIO(zipped.content)).namelist()
    assert any(name.endswith(".xlsx") for name in names)
    for server in hosts:
        answer = httpx2.get(f"{server.address}/healthz", headers={"host": HOST}, timeout=60)
        assert answer.json()["status"] == "ok"

    assert [one["name"] for one in second.cli("user", "list")["users"]] == ["Ada"]
    first.cli("user", "remove", "Ada", "--yes")
    assert second.cli("user", "list")["users"] == []
    for server in hosts:  # her cookie, and her token
        gone = httpx2.get(f"{server.address}/events", headers=headers, timeout=60)
        again = httpx2.post(f"{server.address}/login", data=form, headers={"host": HOST})
        assert (gone.status_code, again.status_code) == (401, 403)


def test_a_name_that_was_not_set_is_refused(start):
    alone = start("web-1", "backshop-web").ready("log in")

    answer = httpx2.get(f"{alone.address}/healthz", headers={"host": "other.example"})

    assert answer.status_code == 403


def test_the_compose_file_starts_what_the_units_start():
    read: Any = yaml.read((DEPLOY / "compose.yaml").read_text())
    composed = read["services"]
    for service, unit_name in (
        ("web-1", "backshop-web"),
        ("web-2", "backshop-web"),
        ("worker-1", "backshop-worker"),
        ("worker-2", "backshop-worker"),
    ):
        told = [part.replace("0.0.0.0", "127.0.0.1") for part in composed[service]["command"]]
        assert told == ["backshop", *command(unit_name)]
        assert composed[service]["env_file"] == "backshop.env"
        assert unit(unit_name)["EnvironmentFile"].endswith("/backshop.env")
    settings = env_file()
    assert settings["BACKSHOP_DATABASE_URL"].startswith("postgresql://backshop:change-me@db:5432/")
    assert settings["AWS_ENDPOINT_URL"] == "http://objects:8333"
    assert {"db", "objects"} <= set(composed)
    for service in ("web-1", "web-2", "worker-1", "worker-2"):
        needed = composed[service]["depends_on"]
        assert needed["bucket"] == {"condition": "service_completed_successfully"}
    (made,) = composed["bucket"]["command"]
    bucket = urlsplit(settings["BACKSHOP_BLOBS_URL"]).netloc
    assert f"s3.bucket.create -name {bucket}" in made
    assert "restart" not in composed["bucket"]  # it ends when the bucket is there
    assert composed["bucket"]["image"] == composed["objects"]["image"]
    assert f"`{bucket}`" in (ROOT / "docs" / "guides" / "team.md").read_text()
    (subnet,) = read["networks"]["default"]["ipam"]["config"]
    for service in ("web-1", "web-2"):
        trusted = composed[service]["environment"]["BACKSHOP_TRUSTED_PROXIES"]
        assert trusted == subnet["subnet"]  # a published port is reached through that network
        assert composed[service]["ports"][0].startswith("127.0.0.1:")


def test_the_image_starts_a_web_server_and_has_what_a_team_needs():
    recipe = (DEPLOY / "Containerfile").read_text()
    started = json.loads(recipe.rpartition("CMD ")[2])
    extras = re.search(r'"\.\[(.*)\]"', recipe)

    assert [part.replace("0.0.0.0", "127.0.0.1") for part in started] == [
        "backshop",
        *command("backshop-web"),
    ]
    assert extras is not None
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"postgres", "s3"} == set(extras[1].split(",")) <= set(known["optional-dependencies"])
    assert f"BACKSHOP_HOME={env_file()['BACKSHOP_HOME']}" in recipe
    floor = known["requires-python"].removeprefix(">=")  # what all tests run on
    assert re.findall(r"FROM python:([\d.]+)-slim", recipe) == [floor, floor]

"""The whole program on a machine that reaches nobody (S2.5).

Other tests refuse connections inside their own process; here the kernel does, for every process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STORY = """
import re, socket, subprocess, sys
import httpx2
from tests.team.apart import be_alone

be_alone()
try:
    socket.create_connection(("192.0.2.1", 443), timeout=5)
    sys.exit("there is a network")
except OSError:
    pass


def backshop(*words):
    command = [sys.executable, "-m", "backshop.cli", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


backshop("demo", "--setup-only")
task = "Translate the customers' comments into English, in a new column"
backshop("send", "Sample Workbench", task)
print(backshop("review", "Sample Workbench"))
serve = [sys.executable, "-m", "backshop.cli", "demo", "--port", "0", "--no-browser"]
with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as server:
    link = next(line.split()[-1] for line in server.stderr if "token=" in line)
    place = {"base_url": link.partition("login")[0], "follow_redirects": True, "timeout": 60}
    with httpx2.Client(**place) as client:
        client.get(link)
        page = client.get("/", headers={"accept": "text/html"}).text
        bench = re.search(r"/bench/wb_\\w+", page).group()
        print(client.get(bench).status_code, client.get(f"{bench}/review").status_code)
    server.terminate()
"""


@pytest.mark.needs("namespaces")
@pytest.mark.rule("S2.5")
@pytest.mark.timeout(300)
def test_a_demo_is_talked_to_and_looked_at_with_no_other_host(tmp_path):
    env = {**os.environ, "BACKSHOP_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [sys.executable, "-c", STORY], env=env, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "customer-feedback.xlsx" in done.stdout
    assert done.stdout.splitlines()[-1] == "200 200"

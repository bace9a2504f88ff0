"""Functions a test asks a worker to run; they misbehave on purpose."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path


def echo(value):
    return value


def sleep_forever():
    signal.pause()


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def grow():
    return bytearray(1 << 40)


def break_down():
    raise RuntimeError("secret content")


def connect():
    socket.create_connection(("127.0.0.1", 9), timeout=1)


def run_program():
    subprocess.run(["true"], check=True)


def open_file(path):
    return Path(path).read_bytes()


def swallow(path):
    try:
        open_file(path)
    except OSError:
        return "nothing happened"


def write_file(path):
    Path(path).write_bytes(b"x")


def half_write(path):
    Path(path + ".part").write_bytes(b"half")
    Path(path).write_bytes(b"half")
    die()


def remove(path):
    Path(path).unlink()


def print_much():
    os.write(1, b"noise" * 1000)
    return "quiet"


class Evil:
    def __reduce__(self):
        return (os.system, ("true",))


def evil():
    return Evil()


def pid():
    return os.getpid()

"""Functions a test asks a worker to run; they misbehave on purpose."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import socket
import subprocess
from pathlib import Path

from backshop.formats.worker import isolation


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


def move(path, to):
    Path(path).write_bytes(b"mine")
    Path(path).rename(to)


def print_much():
    os.write(1, b"noise" * 1000)
    return "quiet"


class Evil:
    def __reduce__(self):
        return (os.system, ("true",))


def evil():
    """Be a worker that a file has taken over: it says what it wants."""
    isolation.answered = lambda value: pickle.dumps(Evil())


def pid():
    return os.getpid()


def open_natively(path):
    """Open a file as a native library does, without Python noticing."""
    return ctypes.CDLL(None, use_errno=True).open(path.encode(), os.O_RDONLY)


def write_natively(path):
    return ctypes.CDLL(None).open(path.encode(), os.O_WRONLY | os.O_CREAT, 0o600)


def connect_natively():
    return ctypes.CDLL(None).socket(socket.AF_INET, socket.SOCK_STREAM, 0)


def run_natively():
    return ctypes.CDLL(None).execv(b"/bin/true", (ctypes.c_char_p * 2)(b"true", None))


def query_natively(path):
    import duckdb

    try:
        return duckdb.connect().execute("SELECT content FROM read_text(?)", [path]).fetchall()
    except duckdb.Error:
        return "refused"

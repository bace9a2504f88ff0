"""Machines with networks of their own: a worker reaches PostgreSQL and the storage, nothing else.

A network namespace has not even the loopback of the machine it is on. PostgreSQL is reached by its
socket in the file system; what comes to the storage's port inside goes through one beside it.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_SET_FLAGS = 0x8914  # SIOCSIFFLAGS
_IS_UP = 0x1  # IFF_UP


@contextmanager
def way_out(endpoint: str) -> Iterator[str]:
    """Let what comes to a socket in the file system go on to the storage; gives its place."""
    with TemporaryDirectory(prefix="bs-s3-") as folder, socket.socket(socket.AF_UNIX) as listening:
        place = f"{folder}/way"  # short: such a name has 107 bytes at most
        listening.bind(place)
        listening.listen(64)
        _pass_on(listening, lambda: socket.create_connection(_address(endpoint)))
        yield place
        listening.shutdown(socket.SHUT_RDWR)  # who waits there is woken


def be_alone() -> None:
    """Give this process and its children a network of their own: a loopback and nothing else."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "no network of its own")
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", b"lo", _IS_UP))


def leave_the_network(endpoint: str, place: str) -> None:
    """Give this process a network of its own, from which only the storage can be reached."""
    be_alone()

    def there() -> socket.socket:
        made = socket.socket(socket.AF_UNIX)
        made.connect(place)
        return made

    _pass_on(socket.create_server(_address(endpoint)), there)


def network() -> str:
    """Return the name of this process's network."""
    return str(Path("/proc/self/ns/net").readlink())


def _address(endpoint: str) -> tuple[str, int]:
    found = urlsplit(endpoint)
    assert found.hostname
    assert found.port
    return found.hostname, found.port


def _pass_on(listening: socket.socket, connect: Callable[[], socket.socket]) -> None:
    def serve() -> None:
        with suppress(OSError):  # nobody listens any more
            while True:
                pair = listening.accept()[0], connect()
                threading.Thread(target=_carry, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()


def _carry(here: socket.socket, there: socket.socket) -> None:
    with here, there:
        back = threading.Thread(target=_pump, args=(there, here), daemon=True)
        back.start()
        _pump(here, there)
        back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)

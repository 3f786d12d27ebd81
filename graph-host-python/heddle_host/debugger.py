"""Lets a debugger attach, when the server was started with a port for it."""

from __future__ import annotations

import os
import socket
import sys
import time

from .output import complain

_HOST = "127.0.0.1"
#: A host that is being replaced holds the port for a moment.
_PORT_SECONDS = 10.0


def listen_for_debugger(port: str | None) -> None:
    """Listens on the port with the project's debugpy, if it has one. Runs do not wait for a debugger."""
    if not port:
        return
    try:
        import debugpy
    except ImportError:
        complain(
            f"No debugger can attach, because the environment of {sys.executable} has no debugpy. Install it there and "
            f"restart:\n  {sys.executable} -m pip install debugpy"
        )
        return
    if not _becomes_free(int(port)):
        complain(f"No debugger can attach: port {port} is in use. Choose another one with --debug-port.")
        return
    # only breakpoints in the standard library would need it otherwise
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    debugpy.listen((_HOST, int(port)))
    complain(f"A debugger can attach to the Python graphs with debugpy at {_HOST}:{port}.")


def _becomes_free(port: int) -> bool:
    deadline = time.monotonic() + _PORT_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((_HOST, port))
                return True
            except OSError:
                time.sleep(0.1)
    return False

"""The server's side of checkpoints, in a separate process, and the host's side in this one."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from heddle_host.checkpoints.remote import RemoteCheckpoints
from heddle_host.protocol import Connection

_SCRIPT = Path(__file__).parents[2] / "scripts" / "services" / "python-checkpoint-server.ts"


@contextmanager
def serve_checkpoints(uri: str, away_seconds: float = 60) -> Iterator[str]:
    """Yields the path of the socket at which the checkpoints of a database are served."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "socket"
        command = ["node", "--import", "tsx", _SCRIPT, path, uri, str(int(away_seconds * 1000))]
        process = subprocess.Popen(command, cwd=_SCRIPT.parent, stdin=subprocess.PIPE)
        try:
            while not _listens(path):
                assert process.poll() is None, "the server of checkpoints has ended"
                time.sleep(0.02)
            yield str(path)
        finally:
            process.communicate()


def _listens(path: Path) -> bool:
    """The file exists before the server listens."""
    with socket.socket(socket.AF_UNIX) as attempt:
        return attempt.connect_ex(str(path)) == 0


async def connect(path: str, *, max_value_bytes: int = 64 * 2**20) -> tuple[RemoteCheckpoints, Callable[[], None]]:
    """Returns the checkpoints of one host, and what closes its connection."""
    ours = socket.socket(socket.AF_UNIX)
    ours.connect(path)
    kept = ours.dup()
    connection = await Connection.open(
        ours.detach(), lambda header, body: checkpoints.answered(header, body), kept.close
    )
    checkpoints = RemoteCheckpoints(
        lambda header, body: connection.send(header, *body), max_value_bytes=max_value_bytes
    )
    return checkpoints, lambda: kept.shutdown(socket.SHUT_RDWR)

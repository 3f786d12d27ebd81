"""Starts a graph host as the server does, and speaks its protocol."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from heddle_host.postgres import Connection, parse_url
from heddle_host.protocol import FrameReader, encode_frame

from .conftest import database_uri

PROJECT = Path(__file__).parent / "project"
PACKAGE = Path(__file__).parent.parent
GRAPHS = {"unruly": {"path": "./unruly.py:graph"}, "threaded": {"path": "./unruly.py:threaded"}}


class HostProcess:
    """`frames` are those received so far, each with its parsed body as `body`."""

    def __init__(
        self, process: asyncio.subprocess.Process, writer: asyncio.StreamWriter, watchdog: socket.socket
    ) -> None:
        self.process = process
        self.frames: list[dict[str, Any]] = []
        self.ended = asyncio.Event()
        self.output = ""
        self._writer = writer
        self._watchdog = watchdog
        self._arrived = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def start(cls, uri: str | None = None, **environment: str) -> HostProcess:
        ours, theirs = socket.socketpair()
        watching, watched = socket.socketpair()
        # above the numbers that they get in the child
        high = [fcntl.fcntl(end.fileno(), fcntl.F_DUPFD_CLOEXEC, 100) for end in (theirs, watched)]

        def place() -> None:
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "heddle_host",
            cwd=PROJECT,
            env={
                **os.environ,
                **environment,
                "PYTHONPATH": str(PACKAGE),
                "HEDDLE_HOST_PROJECT": json.dumps({"dir": str(PROJECT), "graphs": GRAPHS}),
                "HEDDLE_HOST_DATABASE": uri or database_uri(),
                "HEDDLE_HOST_SILENCE_MS": "60000",
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            close_fds=False,
            preexec_fn=place,
        )
        theirs.close()
        watched.close()
        for fd in high:
            os.close(fd)
        reader, writer = await asyncio.open_connection(sock=ours)
        host = cls(process, writer, watching)
        host._tasks = [asyncio.create_task(host._read(reader)), asyncio.create_task(host._read_output())]
        return host

    def send(self, frame: dict[str, Any], body: Any = None) -> None:
        self._writer.write(encode_frame(frame, b"" if body is None else json.dumps(body).encode()))

    async def wait_for(self, accepts: Callable[[dict[str, Any]], bool], seconds: float = 20) -> dict[str, Any]:
        """Returns the first frame that is accepted."""

        def found() -> dict[str, Any] | None:
            return next((frame for frame in self.frames if accepts(frame)), None)

        async with self._arrived:
            await asyncio.wait_for(self._arrived.wait_for(lambda: found() or self.ended.is_set()), seconds)
        frame = found()
        assert frame, f"The host's stream ended. It printed: {self.output}"
        return frame

    async def wait_for_type(self, kind: str, **fields: Any) -> dict[str, Any]:
        return await self.wait_for(lambda frame: frame["t"] == kind and fields.items() <= frame.items())

    async def end(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        self._writer.close()
        self._watchdog.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        received: list[dict[str, Any]] = []
        frames = FrameReader(lambda header, body: received.append({**header, "body": json.loads(body or b"null")}))
        try:
            while chunk := await reader.read(65536):
                frames.push(chunk)
                async with self._arrived:
                    self.frames += received
                    received.clear()
                    self._arrived.notify_all()
        except ConnectionError:
            pass
        self.ended.set()
        async with self._arrived:
            self._arrived.notify_all()

    async def _read_output(self) -> None:
        assert self.process.stdout
        async for line in self.process.stdout:
            self.output += line.decode()


class Runs:
    """Rows of runs in the database, as the server writes them before it starts a run."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls) -> Runs:
        return cls(await Connection.open(parse_url(database_uri()), {}))

    async def create(self, graph_id: str = "unruly", **values: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns the frame that starts a run, and its body."""
        run_id, thread_id = str(uuid4()), str(uuid4())
        await self._connection.fetch(
            """
with t as (insert into threads (thread_id, status, running_run_id) values ($1::uuid, 'busy', $2::uuid))
insert into runs (run_id, thread_id, assistant_id, status, attempt)
values ($2::uuid, $1::uuid, $1::uuid, 'running', 1)""",
            [thread_id, run_id],
        )
        frame = {
            "t": "run.start",
            "run_id": run_id,
            "thread_id": thread_id,
            "assistant_id": thread_id,
            "graph_id": graph_id,
            "attempt": 1,
            "fresh_thread": True,
            "notify": False,
        }
        body = {
            "input": values,
            "config": {"configurable": {}, "metadata": {}},
            "stream_mode": ["updates"],
            "subgraphs": False,
            "resumable": False,
            "temporary": False,
        }
        return frame, body

    async def take_over(self, run_id: str) -> None:
        """Makes attempt 2 the current one."""
        await self._connection.fetch("update runs set attempt = 2 where run_id = $1::text::uuid", [run_id])

    async def status(self, run_id: str) -> str:
        return await self.value("select status from runs where run_id = $1::text::uuid", run_id)

    async def value(self, sql: str, *parameters: str) -> Any:
        [(value,)] = await self._connection.fetch(sql, list(parameters))
        return value

    def close(self) -> None:
        self._connection.close()

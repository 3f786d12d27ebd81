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

from heddle_host.protocol import FrameReader, encode_frame

from .conftest import fetch

PROJECT = Path(__file__).parent / "project"
PACKAGE = Path(__file__).parent.parent
GRAPHS = {
    "unruly": {"path": "./unruly.py:graph"},
    "threaded": {"path": "./unruly.py:threaded"},
    **{name: {"path": f"./stepped.py:{name}"} for name in ("steps", "sync_steps", "nested", "weather_agent")},
}


class HostProcess:
    """`frames` are those received so far, each with its parsed body as `body`. Checkpoints go to their server."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        writer: asyncio.StreamWriter,
        watchdog: socket.socket,
        checkpoints: asyncio.StreamWriter,
    ) -> None:
        self.process = process
        self.frames: list[dict[str, Any]] = []
        self.ended = asyncio.Event()
        self.output = ""
        self._writer = writer
        self._watchdog = watchdog
        self._checkpoints = checkpoints
        self._arrived = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def start(cls, checkpoint_socket: str, **environment: str) -> HostProcess:
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
        results, checkpoints = await asyncio.open_unix_connection(checkpoint_socket)
        host = cls(process, writer, watching, checkpoints)
        work = (host._read(reader), host._read_output(), host._pass_results(results))
        host._tasks = [asyncio.create_task(one) for one in work]
        return host

    def send(self, frame: dict[str, Any], body: Any = None) -> None:
        self._writer.write(encode_frame(frame, b"" if body is None else json.dumps(body).encode()))

    async def wait_for(self, accepts: Callable[[dict[str, Any]], bool], seconds: float = 60) -> dict[str, Any]:
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
        self._checkpoints.close()
        self._watchdog.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        received: list[dict[str, Any]] = []

        def receive(header: dict[str, Any], body: bytes) -> None:
            if header["t"].startswith("checkpoint."):
                self._checkpoints.write(encode_frame(header, body))
            else:
                received.append({**header, "body": json.loads(body or b"null")})

        frames = FrameReader(receive)
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

    async def _pass_results(self, reader: asyncio.StreamReader) -> None:
        while chunk := await reader.read(65536):
            self._writer.write(chunk)

    async def _read_output(self) -> None:
        assert self.process.stdout
        async for line in self.process.stdout:
            self.output += line.decode()


class Runs:
    """Rows of runs in the database, as the server writes them before it starts a run."""

    async def create(self, graph_id: str = "unruly", **values: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns the frame that starts a run, and its body."""
        run_id, thread_id = str(uuid4()), str(uuid4())
        await fetch(
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
        await fetch("update runs set attempt = 2 where run_id = $1::text::uuid", [run_id])

    async def status(self, run_id: str) -> str:
        return await self.value("select status from runs where run_id = $1::text::uuid", [run_id])

    async def value(self, sql: Any, *parameters: str) -> Any:
        [(value,)] = await fetch(sql, parameters)
        return value

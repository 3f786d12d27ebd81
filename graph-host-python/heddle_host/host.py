"""Handles the server's frames: runs and calls execute concurrently, each in its own task."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import Never

from .calls.answer_call import answer_call
from .calls.errors import CallError, wire_error
from .checkpoints.clock import CheckpointClock, process_clock
from .checkpoints.remote import RemoteCheckpoints
from .frames import PROTOCOL_VERSION, HostFrame, PingFrame, RunStart, ServerFrame, StoreResultFrame
from .graphs.load import GraphEntry
from .graphs.open import GraphError, OpenInput
from .loaded_files import LoadedFiles
from .output import complain
from .protocol import Connection, Header
from .runs.active_run import ActiveRun, Stop
from .runs.execute_run import OpenedGraph, RunDeps, RunEnd, execute_run
from .runs.outcome import to_outcome
from .savers import Savers
from .serialize import from_json, to_json
from .store import RemoteStore
from .tracing.run_tracing import RunTracing
from .work import Work, current_work

if TYPE_CHECKING:
    from .lifespan import Lifespan
    from .project_code.app import App

# EX_SOFTWARE of sysexits.h.
_EXIT_SOFTWARE = 70
# Longest time for which a process that fails waits for its server to read.
_LAST_FRAMES_SECONDS = 1
# Longest time for which a process that is no longer needed waits for its last traces.
_FLUSH_MS = 5000
_PAGE = resource.getpagesize()


class Host:
    def __init__(
        self,
        graphs: dict[str, GraphEntry],
        langgraph_version: str,
        files: LoadedFiles,
        max_value_bytes: int,
        app: App | None = None,
        lifespan: Lifespan | None = None,
    ) -> None:
        """`app`: the project's app, whose lifespan has begun here, as has `lifespan`."""
        self._checkpoints = RemoteCheckpoints(
            lambda header, body: self._send(header, *body), max_value_bytes=max_value_bytes
        )
        self.savers = Savers(self._checkpoints)
        self._app = app
        self._lifespan = lifespan
        self._files = files
        self.store = RemoteStore(self._call_store)
        self._graphs = graphs
        self._langgraph_version = langgraph_version
        self._connection: Connection | None = None
        self._runs: dict[str, ActiveRun] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._store_calls: dict[int, asyncio.Future[list[Any]]] = {}
        self._next_store_call = 1
        self._tracing = RunTracing(complain)
        self._draining = False
        self._faulty = False
        self._deps = RunDeps(
            savers=self.savers,
            store=self.store,
            langgraph_version=langgraph_version,
            open_graph=self._open_for_run,
            send=self._send,
            congested=lambda: self._connection is not None and self._connection.congested,
            drained=self._drained,
            tracing=self._tracing,
        )

    async def start(self, fd: int) -> None:
        # Without its server the host's results have no receiver, and another host may already run the same work.
        self._connection = await Connection.open(fd, self._receive, lambda: os.kill(os.getpid(), signal.SIGKILL))
        self._send(
            {
                "t": "ready",
                "protocol": PROTOCOL_VERSION,
                "langgraph_version": self._langgraph_version,
                "graphs": {graph_id: entry.status for graph_id, entry in self._graphs.items()},
            }
        )
        self._spawn(self._warm_up())

    async def _warm_up(self) -> None:
        from .warm_up import warm_up

        try:
            await warm_up(self._deps, lambda: bool(self._runs) or self._draining)
        except Exception as error:
            complain(f"The warm-up run failed; this has no effect on runs: {error!r}")

    @asynccontextmanager
    async def open_graph(self, graph_id: str, config: dict[str, Any], access: str) -> AsyncIterator[Any]:
        """Opens a graph for a call."""
        async with self._open(graph_id, config, access, None) as opened:
            yield opened.graph

    def _open_for_run(self, graph_id: str, config: dict[str, Any], context: Any) -> Any:
        return self._open(graph_id, config, "threads.create_run", context)

    @asynccontextmanager
    async def _open(
        self, graph_id: str, config: dict[str, Any], access: str, context: Any
    ) -> AsyncIterator[OpenedGraph]:
        entry = self._graphs.get(graph_id)
        if entry is None:
            raise CallError(404, "GraphNotFound", f'Graph "{graph_id}" not found')
        if entry.graph is None:
            raise CallError(500, "GraphNotLoaded", f'Graph "{graph_id}" could not be loaded: {entry.error}')
        if entry.graph.static is not None:
            yield OpenedGraph(entry.graph.static, True)
            return
        async with entry.graph.open(OpenInput(config, access, context, self.store)) as graph:
            yield OpenedGraph(graph, False)

    def _send(self, header: HostFrame, *body: bytes) -> None:
        assert self._connection is not None
        self._connection.send(header, *body)

    async def _drained(self) -> None:
        if self._connection:
            await self._connection.drained()

    def _receive(self, header: Header, body: bytes) -> None:
        try:
            self._handle(cast(ServerFrame, header), body)
        except Exception as error:
            self._fault(error)

    def _handle(self, header: ServerFrame, body: bytes) -> None:
        match header["t"]:
            case "ping":
                self._ping(header)
            case "run.start":
                self._spawn(self._execute(header, from_json(body)))
            case "run.cancel":
                if run := self._runs.get(header["run_id"]):
                    run.stop({"outcome": "cancelled"}, header["reason"])
            case "run.hold":
                if run := self._runs.get(header["run_id"]):
                    run.holds_end = True
            case "call":
                self._spawn(self._answer(header["id"], header["method"], from_json(body)))
            case "store.result":
                self._store_answered(header, body)
            case "checkpoint.result":
                self._checkpoints.answered(header, body)
            case "trace.to":
                self._tracing.direct(header["to"])
            case "lists.whole":
                self._checkpoints.stores_lists_whole = header["whole"]
            case "state.keys":
                raise ValueError("this host does not write its checkpoints itself")
            case "trace.close":
                self._tracing.close(from_json(body))
            case "trace.flush":
                self._spawn(self._flush_traces(header["ms"]))
            case "drain":
                self._draining = True
                self._exit_if_drained()
            case "close":
                self._close()
            case _:
                unhandled: Never = header
                raise ValueError(f'Unknown frame "{unhandled["t"]}"')

    def _ping(self, header: PingFrame) -> None:
        if files := self._files.take():
            self._send({"t": "loaded"}, to_json(files))
        rss = resident_bytes()
        self._send({"t": "pong", "n": header["n"], "rss": rss, "heap": rss})

    def stop_run(self, run_id: str, stop: Stop) -> None:
        """Ends a run whose code has blocked the event loop."""
        run = self._runs.get(run_id)
        if run:
            run.stop(stop, "blocked the event loop")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error:
            self._fault(error)

    def _fault(self, error: BaseException) -> None:
        """Ends the process after an error of the host itself: runs and calls could wait forever."""
        if self._faulty:
            return
        self._faulty = True
        message = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        complain(f"An error outside any run:\n{message}")
        self._send({"t": "fault", "message": message})
        self._spawn(self._exit(_EXIT_SOFTWARE, asyncio.sleep(0)))

    async def _execute(self, start: RunStart, kwargs: dict[str, Any]) -> None:
        run = ActiveRun(start)
        earlier = self._runs.get(run.run_id)
        if earlier:
            earlier.supersede()
        self._runs[run.run_id] = run
        current_work.set(Work(CheckpointClock(process_clock), run.run_id))
        try:
            ended = await execute_run(self._deps, run, kwargs)
        except BaseException as error:
            ended = RunEnd(to_outcome(error, run.stopped), b"{}")
        if self._runs.get(run.run_id) is not run:
            return  # superseded: ignore its end
        del self._runs[run.run_id]
        self._send({"t": "run.end", "run_id": run.run_id, "attempt": run.attempt, **ended.end}, ended.result)
        self._exit_if_drained()

    async def _answer(self, call_id: int, method: str, params: dict[str, Any]) -> None:
        current_work.set(Work(CheckpointClock(process_clock)))
        try:
            body = to_json(await answer_call(self, method, params))
        except BaseException as error:
            if isinstance(error, GraphError):
                error = CallError(500, "GraphNotLoaded", str(error))
            self._send({"t": "result", "id": call_id, "error": wire_error(error)})
            return
        self._send({"t": "result", "id": call_id}, body)

    async def _call_store(self, operations: bytes) -> list[Any]:
        call_id = self._next_store_call
        self._next_store_call += 1
        future: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._store_calls[call_id] = future
        self._send({"t": "store.call", "id": call_id}, operations)
        return await future

    def _store_answered(self, header: StoreResultFrame, body: bytes) -> None:
        future = self._store_calls.pop(header["id"], None)
        if future is None or future.done():
            return
        error = header.get("error")
        if error:
            future.set_exception(StoreError(error["message"]))
        else:
            future.set_result(from_json(body))

    async def _flush_traces(self, milliseconds: int) -> None:
        await self._tracing.flush(milliseconds)
        self._send({"t": "trace.flushed"})

    def _exit_if_drained(self) -> None:
        if self._draining and not self._runs:
            self._spawn(self._exit(0, self._tracing.flush(_FLUSH_MS)))

    def _close(self) -> None:
        """Ends the process for good. Its runs go to another one."""
        self._draining = True
        for run in self._runs.values():
            run.supersede()
        self._spawn(self._exit(0, asyncio.sleep(0)))

    async def _exit(self, code: int, last: Awaitable[Any]) -> None:
        try:
            await last
            if self._lifespan and code == 0:
                await self._lifespan.stop()
            if self._app and code == 0:
                await self._app.stop()
        except Exception as error:
            complain(f"The last traces could not be sent, or the app's lifespan not ended: {error!r}")
        if self._connection:
            try:
                await asyncio.wait_for(self._connection.end(), _LAST_FRAMES_SECONDS if code else None)
            except asyncio.TimeoutError:
                pass
        sys.stdout.flush()
        sys.stderr.flush()
        # threads of user code may still run; they have no one to report to
        os._exit(code)


class StoreError(Exception):
    """The server rejected an operation of the store."""


def resident_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

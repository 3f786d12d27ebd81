"""Executes a run until it ends in any way."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timezone
from typing import Any, NamedTuple, Protocol

from langgraph.store.base import BaseStore

from ..calls.update_state import to_command, to_run_result
from ..checkpoints.merged_metadata import USER_OBJECTS
from ..checkpoints.saver import HeddleSaver
from ..frames import HostFrame, RunEndError, RunResumedFrame, RunStart
from ..output import complain
from ..savers import Savers
from ..serialize import to_json
from .active_run import ActiveRun, Stop
from .answer_tool_calls import answer_tool_calls
from .marks import ProgressMarks
from .outcome import to_outcome
from .retry_run import reached_before, retry_start
from .run_context import fit_context, with_both
from .run_input import (
    NoAnswersLeft,
    is_resuming,
    named_resume,
    run_config,
    run_input,
    stream_options,
    without_checkpoint,
)
from .state_text import HeadText
from .stream_events import Emit, StreamInput, stream_run

# Time limit for reading the final state once the run is over.
_RESULT_SECONDS = 2.0

_UNKNOWN = b"{}"


class RunTrace(Protocol):
    callbacks: Any

    def ended(self) -> None: ...


class Tracing(Protocol):
    def start(self, start: RunStart, kwargs: dict[str, Any]) -> RunTrace | None: ...

    def close(self, lost: dict[str, Any]) -> None: ...


class OpenedGraph(NamedTuple):
    graph: Any
    is_static: bool


class RunDeps(NamedTuple):
    savers: Savers
    store: BaseStore
    langgraph_version: str
    open_graph: Callable[[str, dict[str, Any], Any], AbstractAsyncContextManager[OpenedGraph]]
    send: Callable[[HostFrame, bytes], None]
    congested: Callable[[], bool]
    drained: Callable[[], Awaitable[None]]
    tracing: Tracing | None = None


class RunEnd(NamedTuple):
    end: Stop
    result: bytes


async def execute_run(deps: RunDeps, run: ActiveRun, kwargs: dict[str, Any]) -> RunEnd:
    """Never raises. Afterwards the run emits nothing more."""
    try:
        execution = _Execution(deps, run, kwargs)
    except Exception as error:
        return RunEnd(to_outcome(error, run.stopped), b"")
    task = asyncio.ensure_future(execution.until_end())
    await asyncio.wait((task, run.abandoned), return_when=asyncio.FIRST_COMPLETED)
    ended = task.result() if task.done() else RunEnd(run.stopped or {"outcome": "cancelled"}, b"")
    return await execution.close(ended)


class _Execution:
    def __init__(self, deps: RunDeps, run: ActiveRun, kwargs: dict[str, Any]) -> None:
        self._deps = deps
        self._run = run
        self._kwargs = kwargs = with_both(kwargs)
        self._config = run_config(run.start, kwargs, deps.langgraph_version)
        self._trace: RunTrace | None = None
        if deps.tracing:
            try:
                self._trace = deps.tracing.start(run.start, kwargs)
            except Exception as error:
                complain(f"Run {run.run_id} is not traced: {error!r}")
            if self._trace:
                self._config["callbacks"] = self._trace.callbacks
        self._marks = ProgressMarks(self._mark, deps.congested)
        self._graph: Any = None
        self._saver: HeddleSaver | None = None
        self._begun = False

    def _mark(self, checkpoint_id: str) -> None:
        if not self._run.closed:
            self._deps.send({"t": "mark", "run_id": self._run.run_id, "checkpoint_id": checkpoint_id}, b"")

    async def until_end(self) -> RunEnd:
        """Runs the graph and flushes its puts; a failure to persist them becomes the outcome."""
        run = self._run
        try:
            run.enter_user_code()
            opening = self._deps.open_graph(run.start["graph_id"], self._kwargs["config"], self._kwargs.get("context"))
            async with opening as opened:
                try:
                    await self._stream(opened)
                finally:
                    run.leave_user_code()
                return await self._conclude()
        except BaseException as error:
            outcome = to_outcome(error, run.stopped)
        finally:
            run.leave_user_code()
        try:
            if self._saver:
                await self._saver.flush()
        except BaseException as error:
            if outcome["outcome"] != "fenced":
                outcome = to_outcome(error, outcome if outcome["outcome"] == "cancelled" else None)
        return RunEnd(outcome, b"")

    async def close(self, ended: RunEnd) -> RunEnd:
        run, deps = self._run, self._deps
        end = ended.end
        error = end.get("error")
        if end["outcome"] == "error" and error:
            self._emit("error", {"error": error["error"], "message": error["message"]})
        run.close()
        self._marks.close()
        if self._trace:
            self._trace.ended()
        is_over = end["outcome"] not in ("fenced", "retry")
        # no tracer has seen a run that failed before its graph began, or had stopped in an earlier attempt
        if self._trace and deps.tracing and not self._begun and is_over:
            deps.tracing.close(self._lost_trace(error))
        if ended.result or not self._graph or not self._saver or not is_over:
            return RunEnd(end, ended.result or _UNKNOWN)
        saver, graph = self._saver, self._graph

        async def read() -> dict[str, Any]:
            await saver.flush()
            return to_run_result(await _bind(graph, saver.reader(), deps.store).aget_state(self._head_config()))

        head = await self._best_effort(read())
        return RunEnd(end, self._serialize(lambda: to_json(head)))

    def _emit(self, event: str, data: Any) -> None:
        # code left behind by a run may still emit after its end was sent
        if not self._run.closed:
            self._deps.send({"t": "event", "run_id": self._run.run_id, "event": event}, to_json(data))

    async def _stream(self, opened: OpenedGraph) -> None:
        deps, run, kwargs = self._deps, self._run, self._kwargs
        context = fit_context(opened.graph, kwargs, self._config["configurable"])
        saver = deps.savers.for_run(run.start, opened.graph, opened.is_static, self._marks.reached)
        self._saver = saver
        self._graph = _bind(opened.graph, saver, deps.store)
        prepared = await self._prepare(saver)
        if prepared is None:
            state = await self._graph.aget_state(self._head_config())
            emit_stop(self._emit, kwargs, state)
            return
        self._begun = True
        given, config = prepared
        stream = StreamInput(
            graph=self._graph,
            input=given,
            config=config,
            options=stream_options(kwargs, context),
            kwargs=kwargs,
            run_id=run.run_id,
            emit=self._emit,
            pause=self._pause,
            commit=saver.flush,
        )
        if kwargs.get("protocol") == "v2":
            from .protocol_events import stream_protocol

            await stream_protocol(stream, run.start["graph_id"])
        else:
            await stream_run(stream)

    def _pause(self) -> Awaitable[None] | None:
        return self._deps.drained() if self._deps.congested() else None

    async def _prepare(self, saver: HeddleSaver) -> tuple[Any, dict[str, Any]] | None:
        """Returns the input and the config; None where an earlier attempt had already stopped."""
        start, kwargs, graph = self._run.start, self._kwargs, self._graph
        thread_id = self._run.thread_id
        if start["attempt"] > 1 and not start.get("fresh_thread"):
            before, after = kwargs.get("interrupt_before"), kwargs.get("interrupt_after")
            begin = await retry_start(graph, self._run.run_id, thread_id, before, after)
            if begin != "as given":
                reached, checkpoint_id = await reached_before(graph, thread_id)
                if reached:
                    frame: RunResumedFrame = {
                        "t": "run.resumed",
                        "run_id": self._run.run_id,
                        "checkpoint_id": checkpoint_id,
                    }
                    self._deps.send(frame, b"")
            if begin == "stopped":
                return None
            if begin == "continue":
                return _CONTINUE, without_checkpoint(self._config)
        try:
            command = named_resume(kwargs)
        except NoAnswersLeft:
            return _CONTINUE, self._config
        if command:
            return to_command(command), self._config
        given = run_input(kwargs)
        if kwargs.get("command") or not isinstance(given, dict) or is_resuming(self._config):
            return given, self._config
        if start.get("fresh_thread") or start.get("keep_tool_calls"):
            return given, self._config
        checkpoint_id = self._config["configurable"].get("checkpoint_id")
        head = await saver.unfinished(thread_id, checkpoint_id if isinstance(checkpoint_id, str) else None)
        return (await answer_tool_calls(graph, head, given) if head else given), self._config

    async def _conclude(self) -> RunEnd:
        """Concludes a run whose graph has ended.

        The run's final status is written with the last puts; the state for it is read from memory, before the commit.
        After a stop, without a state, for a temporary run and for one whose end the server holds, the server writes it.
        """
        run, saver = self._run, self._saver
        assert saver is not None
        if not run.stopped and not self._kwargs["temporary"] and not run.holds_end:
            reading = _bind(self._graph, saver.reader(), self._deps.store).aget_state(self._head_config())
            head = HeadText(await self._best_effort(_run_result(reading)), saver, run.thread_id)
            result = self._serialize(head.text)
            if result != _UNKNOWN and not run.stopped and not run.holds_end:
                notify = bool(run.start.get("notify"))
                finished = await saver.finish(
                    run.thread_id, result, notify, lambda: self._serialize(head.whole), head.shown
                )
                end: Stop = {"outcome": "success"}
                end["finished"] = {"outcome": finished.outcome, "waiting": finished.waiting}
                return RunEnd(end, result)
        await saver.flush(run.thread_id)
        return RunEnd({"outcome": "success"}, b"")

    def _head_config(self) -> dict[str, Any]:
        return {"configurable": {"thread_id": self._run.thread_id, "checkpoint_ns": ""}}

    async def _best_effort(self, state: Awaitable[dict[str, Any]]) -> dict[str, Any]:
        """Reads a state; a failure to read it does not change the run's outcome."""
        try:
            return await asyncio.wait_for(state, _RESULT_SECONDS)
        except Exception as error:
            complain(f"The state of thread {self._run.thread_id} could not be read after the run: {error!r}")
            return {}

    def _serialize(self, write: Callable[[], bytes]) -> bytes:
        try:
            return write()
        except Exception as error:
            complain(f"The state of thread {self._run.thread_id} could not be serialized after the run: {error!r}")
            return _UNKNOWN

    def _lost_trace(self, error: RunEndError | None) -> dict[str, Any]:
        config, given = self._config, self._kwargs["config"]
        configurable = {key: value for key, value in config["configurable"].items() if key not in USER_OBJECTS}
        project = configurable.pop("langsmith_project", None)
        configurable.pop("langsmith_example_id", None)
        return {
            "run_id": self._run.run_id,
            "name": given.get("run_name") if isinstance(given.get("run_name"), str) else "LangGraph",
            "start_time": datetime.now(timezone.utc).isoformat().replace("+00:00", "Z"),
            "inputs": self._kwargs.get("input"),
            "error": f"{error['error']}: {error['message']}" if error else None,
            **({"project": project} if isinstance(project, str) else {}),
            "metadata": {**config["metadata"], **configurable},
        }


_CONTINUE = None
"""LangGraph's input for a run that continues from its checkpoint."""


async def _run_result(state: Awaitable[Any]) -> dict[str, Any]:
    return to_run_result(await state)


def _bind(graph: Any, saver: HeddleSaver, store: BaseStore) -> Any:
    """Returns the graph with the run's saver and store. The user's object is not changed."""
    bound = copy.copy(graph)
    bound.checkpointer = saver
    bound.store = store
    return bound


def emit_stop(emit: Emit, kwargs: dict[str, Any], state: Any) -> None:
    """Emits what the previous attempt would have sent at its stop, for the run's subscribers."""
    from ..calls.thread_state import to_interrupt

    interrupts = [to_interrupt(interrupt) for task in state.tasks for interrupt in task.interrupts]
    if kwargs.get("protocol") == "v2":
        from .protocol_events import emit_interrupts

        emit_interrupts(emit, interrupts)
        return
    if "values" in kwargs["stream_mode"]:
        values = state.values if isinstance(state.values, dict) else {}
        emit("values", state.values)
        emit("values", {**values, "__interrupt__": interrupts})
    if "updates" in kwargs["stream_mode"]:
        emit("updates", {"__interrupt__": interrupts})

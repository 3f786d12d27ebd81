"""Runs a graph and emits the events of contract agent-server, section 8, only of the requested modes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, NamedTuple

from langgraph.pregel._loop import PregelLoop
from langgraph.types import Interrupt

from ..calls.thread_state import to_checkpoint, to_interrupt
from ..checkpoints.merged_metadata import USER_OBJECTS
from .message_events import MessageEvents

_INTERRUPT = "__interrupt__"
# langgraph 0.6.0 reports interrupts in mode `updates` only.
_VALUES_HAVE_INTERRUPTS = "values" in PregelLoop.output_writes.__code__.co_consts

Emit = Callable[[str, Any], None]


class StreamInput(NamedTuple):
    graph: Any
    input: Any
    config: dict[str, Any]
    options: dict[str, Any]
    kwargs: dict[str, Any]
    run_id: str
    emit: Emit
    pause: Callable[[], Awaitable[None] | None]
    """Returns an awaitable while the server is slower than the run."""
    commit: Callable[[], Awaitable[None]]
    """Returns when all puts of the run are committed."""


async def stream_run(run: StreamInput) -> None:
    requested: list[str] = run.kwargs["stream_mode"]
    emit_chunk = _ChunkEmitter(run.kwargs, run.emit)
    options = {**run.options, "stream_mode": _library_modes(requested), "subgraphs": bool(run.kwargs["subgraphs"])}
    if "events" not in requested:
        async with aclosing(run.graph.astream(run.input, run.config, **options)) as chunks:
            async for chunk in chunks:
                if asks(chunk[-1]):
                    await run.commit()
                emit_chunk(chunk)
                pause = run.pause()
                if pause:
                    await pause
        emit_chunk.finish()
        return
    async with aclosing(run.graph.astream_events(run.input, run.config, version="v2", **options)) as events:
        async for event in events:
            if event["event"] == "on_chain_stream" and event["run_id"] == run.run_id:
                chunk = event["data"]["chunk"]
                if asks(chunk[-1]):
                    await run.commit()
                emit_chunk(chunk)
            elif "langsmith:hidden" not in (event.get("tags") or ()):
                run.emit("events", event)
            pause = run.pause()
            if pause:
                await pause
    emit_chunk.finish()


def asks(payload: Any) -> bool:
    """Whether a chunk contains an interrupt. A client may answer as soon as it sees one, so it is committed first."""
    return isinstance(payload, dict) and bool(payload.get(_INTERRUPT) or payload.get("interrupts"))


def _library_modes(requested: list[str]) -> list[str]:
    """Returns LangGraph's names of the modes from which the requested ones are derived."""
    modes = {"messages" if mode == "messages-tuple" else mode for mode in requested if mode != "events"}
    if "messages" in requested:
        # messages/complete reports messages as they appear in the state
        modes.add("values")
    if "values" in requested and not _VALUES_HAVE_INTERRUPTS:
        modes.add("updates")
    return sorted(modes)


class _ChunkEmitter:
    def __init__(self, kwargs: dict[str, Any], emit: Emit) -> None:
        self._emit = emit
        self._subgraphs = bool(kwargs["subgraphs"])
        self._modes: set[str] = set(kwargs["stream_mode"])
        self._messages = MessageEvents(emit) if "messages" in self._modes else None
        self._tools = _ToolEvents()
        self._interrupts: dict[str, list[Any]] = {}
        self._updates: dict[str, tuple[Any, ...]] = {}
        self._last_values: dict[str, Any] = {}

    def __call__(self, chunk: Any) -> None:
        namespace, mode, payload = chunk if self._subgraphs else ((), *chunk)
        name = f"{mode}|{'|'.join(namespace)}" if namespace else mode
        if mode == "messages":
            if "messages-tuple" in self._modes:
                self._emit(name, payload)
            if self._messages:
                self._messages.token(*payload)
        elif mode == "values":
            if "values" in self._modes:
                self._emit(name, self._with_interrupts(name, payload))
            if self._messages and not namespace:
                self._messages.values(payload)
        elif mode == "updates":
            if _interrupts(payload) and "values" in self._modes:
                values = f"values{name.removeprefix(mode)}"
                self._updates[values] = (*self._updates.get(values, ()), *payload[_INTERRUPT])
            if mode in self._modes:
                self._emit(name, _plain_interrupts(payload))
        elif mode not in self._modes:
            return
        elif mode == "checkpoints":
            self._emit(name, {key: payload[key] for key in ("values", "metadata", "next")})
        elif mode == "debug":
            self._emit(name, _debug(payload))
        elif mode == "tools":
            self._emit(name, self._tools.event(payload))
        elif mode == "tasks":
            self._emit(name, _plain_task(payload))
        else:
            self._emit(name, payload)

    def finish(self) -> None:
        """Emits the interrupts that LangGraph up to 1.0 reports in `updates` only, where both modes are requested."""
        for name, interrupts in self._updates.items():
            known = {interrupt["id"] for interrupt in self._interrupts.get(name, ())}
            if any(_plain_interrupt(interrupt)["id"] not in known for interrupt in interrupts):
                self._emit(name, self._with_interrupts(name, {_INTERRUPT: interrupts}))

    def _with_interrupts(self, name: str, payload: Any) -> Any:
        """Accumulates interrupts: a run's result is its last values, and LangGraph sends a chunk per task.

        Versions up to 1.0 send the interrupts without the values.
        """
        if not _interrupts(payload):
            self._last_values[name] = payload
            return payload
        found = self._interrupts.setdefault(name, [])
        known = {interrupt["id"] for interrupt in found}
        found += [plain for plain in map(_plain_interrupt, payload[_INTERRUPT]) if plain["id"] not in known]
        values = payload if len(payload) > 1 else self._last_values.get(name)
        return {**(values if isinstance(values, dict) else {}), _INTERRUPT: list(found)}


class _ToolEvents:
    """Gives the events of tool calls the names of the contract, which are those of LangGraph.js."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def event(self, payload: dict[str, Any]) -> dict[str, Any]:
        kind = _TOOL_EVENTS.get(payload.get("event", ""))
        if kind is None:
            return payload
        call_id = payload.get("tool_call_id")
        if kind == "on_tool_start":
            self._names[str(call_id)] = payload.get("tool_name", "")
        event: dict[str, Any] = {"event": kind, "toolCallId": call_id, "name": self._names.get(str(call_id), "")}
        for key, name in (("input", "input"), ("delta", "data"), ("output", "output"), ("message", "error")):
            if key in payload:
                event[name] = payload[key]
        return event


_TOOL_EVENTS = {
    "tool-started": "on_tool_start",
    "tool-output-delta": "on_tool_event",
    "tool-finished": "on_tool_end",
    "tool-error": "on_tool_error",
}


def _interrupts(payload: Any) -> bool:
    return isinstance(payload, dict) and isinstance(payload.get(_INTERRUPT), tuple | list)


def _plain_interrupts(payload: Any) -> Any:
    if not _interrupts(payload):
        return payload
    return {**payload, _INTERRUPT: [_plain_interrupt(interrupt) for interrupt in payload[_INTERRUPT]]}


def _plain_interrupt(interrupt: Any) -> Any:
    return to_interrupt(interrupt) if isinstance(interrupt, Interrupt) else interrupt


def _debug(chunk: dict[str, Any]) -> dict[str, Any]:
    """Returns a payload of mode `debug` without process internals."""
    payload = chunk["payload"]
    if chunk["type"] == "checkpoint":
        payload = {
            **payload,
            "config": _public_config(payload.get("config")),
            "parent_config": _public_config(payload.get("parent_config")),
            "tasks": [_without_state(task) for task in payload["tasks"]],
            "checkpoint": to_checkpoint(payload.get("config")),
            "parent_checkpoint": to_checkpoint(payload.get("parent_config")),
        }
    elif chunk["type"] == "task_result":
        payload = _without_state(payload)
    return {**chunk, "payload": payload}


def _plain_task(task: dict[str, Any]) -> dict[str, Any]:
    """Returns a task with its interrupts, which LangGraph leaves out at the start of a task."""
    return {**task, "interrupts": [_plain_interrupt(interrupt) for interrupt in task.get("interrupts") or ()]}


def _without_state(task: dict[str, Any]) -> dict[str, Any]:
    task = _plain_task(task)
    state = task.get("state")
    checkpoint = to_checkpoint(state) if isinstance(state, dict) else None
    if not checkpoint:
        return task
    return {**{key: value for key, value in task.items() if key != "state"}, "checkpoint": checkpoint}


def _public_config(config: dict[str, Any] | None) -> dict[str, Any] | None:
    if not config:
        return None
    configurable = {
        key: value
        for key, value in (config.get("configurable") or {}).items()
        if not key.startswith("__") and key not in USER_OBJECTS
    }
    return {**{key: value for key, value in config.items() if key != "callbacks"}, "configurable": configurable}

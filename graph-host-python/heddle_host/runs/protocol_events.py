"""Runs a graph and emits the events of protocol v2 (contract agent-server, section 19.5).

The graph runs through LangGraph's own code for stream events version 3, with the transformers that it was compiled
with.
That code requests only the modes that its transformers need and folds some of them, so the chunks of the graph are also
translated directly: `_tee` requests all modes, and passes on those that LangGraph asked for. Of LangGraph's own events,
the lifecycle of subgraphs and the channels of the graph's transformers are emitted.

The run's end is not emitted here, because it is certain only once it is written.
"""

from __future__ import annotations

import copy
import json
import time
import warnings
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from typing import Any

from ..calls.thread_state import to_interrupt
from ..serialize import to_plain
from .protocol_state import is_fields, protocol_state
from .stream_events import Emit, StreamInput

Namespace = list[str]

# Modes whose chunks are translated directly.
_MODES = ("values", "updates", "messages", "custom", "tasks", "checkpoints", "tools")
_CALL_FIELDS = ("type", "id", "name", "args")


async def stream_protocol(run: StreamInput, graph_id: str) -> None:
    if not hasattr(run.graph, "stream_transformers"):
        raise RuntimeError("Protocol v2 needs langgraph 1.2 or newer in the project's environment.")
    warnings.filterwarnings("ignore", message="The v3 streaming protocol")
    translator = _Translator(run.emit)
    translator.send("lifecycle", [], {"event": "running", "graph_name": graph_id})

    async def tee(given: Any, config: Any = None, **options: Any) -> AsyncIterator[Any]:
        asked: set[str] = set(options["stream_mode"])
        options["stream_mode"] = sorted(asked | set(_MODES))
        async with aclosing(run.graph.astream(given, config, **options)) as chunks:
            async for chunk in chunks:
                # a client may answer as soon as it sees an interrupt
                if chunk.get("interrupts") or (is_fields(chunk["data"]) and "__interrupt__" in chunk["data"]):
                    await run.commit()
                if chunk["type"] in asked:
                    yield chunk
                translator.chunk(chunk["type"], list(chunk["ns"]), chunk["data"], chunk.get("interrupts") or ())
                pause = run.pause()
                if pause:
                    await pause

    graph = copy.copy(run.graph)
    graph.astream = tee
    events = await graph.astream_events(run.input, run.config, version="v3", **run.options)
    async with events:
        async for event in events:
            translator.event(event["method"], event["params"])
    translator.flush()


def emit_interrupts(emit: Emit, interrupts: Iterable[Any]) -> None:
    """Emits the interrupts of a state where an earlier attempt has already stopped."""
    _Translator(emit).interrupts([], interrupts)


class _Translator:
    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._asked: set[str] = set()
        """Ids of the interrupts that were emitted."""
        self._states: dict[tuple[str, ...], Any] = {}
        """States that wait for their checkpoint, which LangGraph sends after them."""
        self._names: dict[tuple[str, ...], str] = {}
        """Names of subgraphs, and of nodes that have sent messages."""
        self._nodes: dict[str, Namespace] = {}
        """Namespaces of nodes that have sent messages, by the id of their task."""
        self._blocks: dict[tuple[str, ...], dict[Any, dict[str, Any]]] = {}
        """Tool calls that are being streamed, by namespace and index."""
        self._held: dict[tuple[str, ...], list[tuple[str, Any, dict[str, Any]]]] = {}
        """Events of subgraphs that LangGraph has not announced yet: it does with their first task."""

    def send(self, channel: str, namespace: Namespace, data: Any, **params: Any) -> None:
        key = tuple(namespace)
        if namespace and channel != "lifecycle" and key not in self._names:
            self._held.setdefault(key, []).append((channel, data, params))
            return
        # channel and namespace are in the name, so that the server can forward the body unparsed
        name = "protocol:" + json.dumps([channel, *namespace], ensure_ascii=False, separators=(",", ":"))
        self._emit(name, {"timestamp": time.time_ns() // 1_000_000, "namespace": namespace, **params, "data": data})

    def event(self, method: str, params: dict[str, Any]) -> None:
        """Translates an event of LangGraph's."""
        if method == "lifecycle":
            self._lifecycle(params["data"])
        elif method.startswith("custom:"):
            # channels of the graph's own transformers
            name = method.removeprefix("custom:")
            self.send(method, list(params["namespace"]), {"name": name, "payload": params["data"]})

    def chunk(self, mode: str, namespace: Namespace, data: Any, interrupts: Iterable[Any]) -> None:
        """Translates a chunk of the graph."""
        if mode == "checkpoints":
            self._checkpoint(namespace, data)
            return
        self.flush(namespace)
        if mode == "tasks" and namespace and tuple(namespace) not in self._names:
            self._started(namespace, _node(namespace), {"event": "started"})
        if mode == "values":
            self._values(namespace, data, interrupts)
        elif mode == "updates":
            self._updates(namespace, data)
        elif mode == "messages":
            self._message(data)
        elif mode == "custom":
            self._custom(namespace, data)
        elif mode == "tasks":
            self._task(namespace, data)
        elif mode == "tools":
            self.send("tools", namespace, data)

    def flush(self, namespace: Namespace | None = None) -> None:
        """Sends states that no checkpoint follows."""
        for waiting in list(self._states) if namespace is None else [tuple(namespace)]:
            if waiting in self._states:
                self.send("values", list(waiting), self._states.pop(waiting))
        if namespace is None:
            for held in list(self._held):
                self._started(list(held), held[-1].partition(":")[0], {"event": "started"})

    def interrupts(self, namespace: Namespace, interrupts: Iterable[Any]) -> None:
        for interrupt in interrupts:
            fields = interrupt if is_fields(interrupt) else to_interrupt(interrupt)
            interrupt_id = fields.get("id")
            if isinstance(interrupt_id, str) and interrupt_id not in self._asked:
                self._asked.add(interrupt_id)
                self.send("input", namespace, {"interrupt_id": interrupt_id, "payload": fields.get("value")})

    def _lifecycle(self, data: dict[str, Any]) -> None:
        namespace: Namespace = list(data.get("namespace") or [])
        # the server reports the root's
        if not namespace:
            return
        key = tuple(namespace)
        fields = {name: value for name, value in data.items() if name not in ("namespace", "trigger_call_id")}
        if data["event"] == "started":
            if key not in self._names:
                self._started(namespace, data.get("graph_name") or _node(namespace), fields)
            return
        self.send("lifecycle", namespace, {"graph_name": self._names.get(key) or _node(namespace), **fields})

    def _started(self, namespace: Namespace, name: str, data: dict[str, Any]) -> None:
        key = tuple(namespace)
        self._names[key] = name
        self.send("lifecycle", namespace, {"graph_name": name, **data})
        for channel, held, params in self._held.pop(key, ()):
            self.send(channel, namespace, held, **params)

    def _values(self, namespace: Namespace, data: Any, interrupts: Iterable[Any]) -> None:
        state = to_plain(data)
        found = list(interrupts)
        if is_fields(state):
            found += state.get("__interrupt__") or ()
        self.interrupts(namespace, found)
        values = protocol_state(state)
        if is_fields(values) and not values:
            return
        self._states[tuple(namespace)] = values
        if found:
            self.flush(namespace)

    def _checkpoint(self, namespace: Namespace, payload: dict[str, Any]) -> None:
        values = self._states.pop(tuple(namespace), None)
        # the checkpoint of the input precedes the first state
        if values is None:
            return
        metadata: dict[str, Any] = payload.get("metadata") or {}
        envelope = {"id": _checkpoint_id(payload.get("config"))}
        parent = _checkpoint_id(payload.get("parent_config"))
        if parent:
            envelope["parent_id"] = parent
        envelope |= {key: metadata[key] for key in ("step", "source") if key in metadata}
        self.send("checkpoints", namespace, envelope)
        self.send("values", namespace, values)

    def _updates(self, namespace: Namespace, data: Any) -> None:
        if not is_fields(data):
            return
        for node, update in data.items():
            if node == "__interrupt__":
                self.interrupts(namespace, update)
            elif node != "__metadata__":
                self.send("updates", namespace, protocol_state(to_plain(update)), node=node)

    def _message(self, data: Any) -> None:
        payload, metadata = data
        # whole messages that nodes return are part of the state
        if not is_fields(payload) or not isinstance(payload.get("event"), str):
            return
        path: str = metadata.get("langgraph_checkpoint_ns") or ""
        namespace = path.split("|") if path else []
        node: str = metadata.get("langgraph_node") or (_node(namespace) if namespace else "")
        if namespace and tuple(namespace) not in self._names:
            self._nodes[namespace[-1].rpartition(":")[2]] = namespace
            self._started(namespace, node, {"event": "started"})
        payload = self._with_known_delta(tuple(namespace), payload)
        run_id = metadata.get("run_id")
        body = {**payload, "run_id": run_id} if run_id is not None else payload
        self.send("messages", namespace, body, node=node)

    def _with_known_delta(self, key: tuple[str, ...], payload: dict[str, Any]) -> dict[str, Any]:
        """Replaces deltas of tool calls by blocks so far: only Python's library has the former, and clients do not."""
        kind, index = payload["event"], payload.get("index")
        blocks = self._blocks.setdefault(key, {})
        if kind in ("message-start", "message-finish"):
            blocks.clear()
        elif kind == "content-block-start" and is_fields(payload.get("content")):
            blocks[index] = dict(payload["content"])
        elif kind == "content-block-delta" and is_fields(payload.get("delta")):
            delta = payload["delta"]
            if delta.get("type") != "tool-call-delta":
                return payload
            block = blocks.setdefault(index, {"type": "tool_call_chunk", "args": ""})
            block["args"] = f"{block.get('args') or ''}{delta.get('args') or ''}"
            fields = {key: block[key] for key in _CALL_FIELDS if block.get(key) is not None}
            return {**payload, "delta": {"type": "block-delta", "fields": fields}}
        return payload

    def _custom(self, namespace: Namespace, data: Any) -> None:
        if is_fields(data) and "name" in data:
            name = data["name"]
            self.send(f"custom:{name}" if isinstance(name, str) else "custom", namespace, data)
        else:
            self.send("custom", namespace, {"payload": data})

    def _task(self, namespace: Namespace, data: dict[str, Any]) -> None:
        is_result = "result" in data or "error" in data
        self.send("tasks", namespace, data)
        if not is_result:
            return
        node = self._nodes.pop(data["id"], None)
        if node is None:
            return
        ended: dict[str, Any] = {"event": "completed", "graph_name": self._names[tuple(node)]}
        if data.get("error") is not None:
            ended |= {"event": "failed", "error": str(data["error"])}
        elif data.get("interrupts"):
            ended["event"] = "interrupted"
        self.send("lifecycle", node, ended)


def _node(namespace: Namespace) -> str:
    return namespace[-1].partition(":")[0]


def _checkpoint_id(config: Any) -> str | None:
    return ((config or {}).get("configurable") or {}).get("checkpoint_id")

"""Runs a graph and emits the events of protocol v2 (contract agent-server, section 19.5).

The events are those of LangGraph's stream events version 3, which also define which channels there are: values,
messages, the lifecycle of subgraphs, and what the transformers add that the graph was compiled with. LangGraph's Python
server emits the same. JavaScript graphs have other shapes: see graph-host/src/runs/protocol-events.ts.

The run's end is not emitted here, because it is certain only once it is written.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterable
from typing import Any, cast

from ..calls.thread_state import to_interrupt
from ..serialize import to_plain
from .protocol_state import is_fields, protocol_state
from .stream_events import Emit, StreamInput

Namespace = list[str]

_CALL_FIELDS = ("type", "id", "name", "args")


async def stream_protocol(run: StreamInput, graph_id: str) -> None:
    if not hasattr(run.graph, "stream_transformers"):
        raise RuntimeError("Protocol v2 needs langgraph 1.2 or newer in the project's environment.")
    warnings.filterwarnings("ignore", message="The v3 streaming protocol")
    translator = _Translator(run.emit)
    translator.send("lifecycle", [], {"event": "running", "graph_name": graph_id})
    events = await run.graph.astream_events(run.input, run.config, version="v3", **run.options)
    async with events:
        async for event in events:
            params = event["params"]
            # a client may answer as soon as it sees an interrupt
            if params.get("interrupts"):
                await run.commit()
            translator.event(event["method"], params)
            pause = run.pause()
            if pause:
                await pause


def emit_interrupts(emit: Emit, interrupts: Iterable[Any]) -> None:
    """Emits the interrupts of a state where an earlier attempt has already stopped."""
    _Translator(emit).interrupts([], interrupts)


class _Translator:
    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._asked: set[str] = set()
        """Ids of the interrupts that were emitted."""
        self._names: dict[tuple[str, ...], str] = {}
        """Names of the subgraphs that have started."""
        self._blocks: dict[tuple[str, ...], dict[Any, dict[str, Any]]] = {}
        """Tool calls that are being streamed, by namespace and index."""

    def send(self, channel: str, namespace: Namespace, data: Any, node: str | None = None) -> None:
        # channel and namespace are in the name, so that the server can forward the body unparsed
        name = "protocol:" + json.dumps([channel, *namespace], ensure_ascii=False, separators=(",", ":"))
        params: dict[str, Any] = {"timestamp": time.time_ns() // 1_000_000, "namespace": namespace}
        self._emit(name, {**params, **({"node": node} if node else {}), "data": data})

    def event(self, method: str, params: dict[str, Any]) -> None:
        namespace: Namespace = list(params.get("namespace") or ())
        data: Any = params.get("data")
        node = params.get("node")
        if method == "lifecycle":
            self._lifecycle(data)
        elif method == "values":
            interrupts = params.get("interrupts") or ()
            self.interrupts(namespace, interrupts)
            # the state of an interrupt is the one before
            if not interrupts:
                self.send("values", namespace, protocol_state(to_plain(data)))
        elif method == "updates":
            self.send("updates", namespace, protocol_state(to_plain(data)), node)
        elif method == "messages":
            self._message(namespace, data)
        elif method == "tools":
            self._tool(namespace, data)
        elif method == "checkpoints":
            # LangGraph's own payload is the whole checkpoint, which is not part of the protocol
            if is_fields(data) and isinstance(data.get("id"), str):
                self.send("checkpoints", namespace, data)
        elif method.startswith("custom:"):
            # channels of the graph's own transformers
            name = method.removeprefix("custom:")
            self.send(method, namespace, {"name": name, "payload": data}, node)
        elif method in ("custom", "tasks"):
            name = data.get("name") if method == "custom" and is_fields(data) else None
            self.send(f"custom:{name}" if isinstance(name, str) else method, namespace, data, node)

    def interrupts(self, namespace: Namespace, interrupts: Iterable[Any]) -> None:
        for interrupt in interrupts:
            fields = interrupt if is_fields(interrupt) else to_interrupt(interrupt)
            interrupt_id = fields.get("id")
            if isinstance(interrupt_id, str) and interrupt_id not in self._asked:
                self._asked.add(interrupt_id)
                self.send("input", namespace, {"interrupt_id": interrupt_id, "payload": fields.get("value")})

    def _lifecycle(self, data: dict[str, Any]) -> None:
        namespace: Namespace = list(data.get("namespace") or ())
        # the server reports the root's
        if not namespace:
            return
        key = tuple(namespace)
        if data["event"] == "started":
            if key in self._names:
                return
            self._names[key] = data.get("graph_name") or _node(namespace)
            self.send("lifecycle", namespace, data)
            return
        fields = {name: data[name] for name in ("event", "error", "cause") if data.get(name) is not None}
        name = data.get("graph_name") or self._names.get(key) or _node(namespace)
        self.send("lifecycle", namespace, {"graph_name": name, **fields})

    def _message(self, namespace: Namespace, data: Any) -> None:
        payload = cast("tuple[Any, ...]", data)[0] if isinstance(data, tuple) else data
        # whole messages that nodes return are part of the state
        if is_fields(payload) and isinstance(payload.get("event"), str):
            self.send("messages", namespace, self._with_known_delta(tuple(namespace), payload))

    def _tool(self, namespace: Namespace, data: Any) -> None:
        if not is_fields(data):
            return
        node = data.get("__node")
        event = {name: value for name, value in data.items() if name != "__node"}
        self.send("tools", namespace, event, node if isinstance(node, str) else None)
        if event.get("event") == "tool-finished":
            for part in _tool_message(event):
                self.send("messages", [*namespace, f"tools:{event.get('tool_call_id')}"], part)

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


def _tool_message(event: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the result of a tool as the events of a message, which the views of messages show."""
    output: Any = to_plain(event.get("output"))
    call_id = event.get("tool_call_id")
    if not is_fields(output) or not isinstance(call_id, str):
        return []
    content: Any = output.get("content")
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    message_id = output.get("id") or f"tool-{call_id}"
    whole = {"index": 0, "content": {"type": "text", "text": text}}
    return [
        {"event": "message-start", "role": "tool", "id": message_id, "tool_call_id": call_id},
        {"event": "content-block-start", "index": 0, "content": {"type": "text", "text": ""}},
        {"event": "content-block-delta", **whole},
        {"event": "content-block-finish", **whole},
        {"event": "message-finish", "metadata": {}},
    ]


def _node(namespace: Namespace) -> str:
    return namespace[-1].partition(":")[0]

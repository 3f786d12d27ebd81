"""States and histories of threads."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from langgraph.types import StateSnapshot

from .call_host import AnyGraph
from .thread_state import task_writes, to_thread_state

# Longest time in seconds for which states are read without a turn of the event loop.
_SLICE_S = 0.01

Config = Any


async def read_state(graph: AnyGraph, params: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the state; None when the checkpoint does not exist."""
    checkpoint: dict[str, Any] = params.get("checkpoint") or {}
    config = checkpoint_config(params["thread_id"], checkpoint)
    snapshot = await graph.aget_state(config, subgraphs=params.get("subgraphs") is True)
    if snapshot.created_at is None and checkpoint.get("checkpoint_id"):
        return None
    return to_thread_state(snapshot, params["graph_id"], await _step_writes(graph, snapshot))


async def read_history(graph: AnyGraph, params: dict[str, Any]) -> list[dict[str, Any]]:
    thread_id: str = params["thread_id"]
    before = params.get("before")
    snapshots: list[StateSnapshot] = []
    since = time.perf_counter()
    async for snapshot in graph.aget_state_history(
        checkpoint_config(thread_id, params.get("checkpoint")),
        limit=params["limit"],
        before=checkpoint_config(thread_id, before) if before else None,
        filter=params.get("filter"),
    ):
        snapshots.append(snapshot)
        # a long history must not keep runs waiting
        if time.perf_counter() - since > _SLICE_S:
            await asyncio.sleep(0)
            since = time.perf_counter()
    known = {_id(snapshot.config): snapshot for snapshot in snapshots}
    return [
        to_thread_state(
            snapshot,
            params["graph_id"],
            await _step_writes(graph, snapshot, known.get(_id(snapshot.parent_config))),
        )
        for snapshot in snapshots
    ]


def checkpoint_config(thread_id: str, checkpoint: dict[str, Any] | None) -> Config:
    """Returns the config that addresses a checkpoint, or the thread's head."""
    checkpoint = checkpoint or {}
    configurable: dict[str, Any] = {"thread_id": thread_id, "checkpoint_ns": checkpoint.get("checkpoint_ns") or ""}
    for key in ("checkpoint_id", "checkpoint_map"):
        if checkpoint.get(key):
            configurable[key] = checkpoint[key]
    return {"configurable": configurable}


def _id(config: Any) -> str | None:
    return config["configurable"].get("checkpoint_id") if config else None


async def _step_writes(graph: AnyGraph, snapshot: StateSnapshot, parent: StateSnapshot | None = None) -> dict[str, Any]:
    """Returns the writes of a checkpoint's step, by node.

    LangGraph no longer stores them with the checkpoint, but the parent's pending writes are the same. This holds only
    for a step that ran: an input or a manual update also has a parent, whose tasks are not its own.
    """
    metadata: dict[str, Any] = dict(snapshot.metadata or {})
    writes = metadata.get("writes")
    if isinstance(writes, dict):
        return dict[str, Any](writes)
    if metadata.get("source") != "loop" or not snapshot.parent_config:
        return {}
    return task_writes(parent or await graph.aget_state(snapshot.parent_config))

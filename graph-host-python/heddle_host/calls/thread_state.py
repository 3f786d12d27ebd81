"""Thread states as clients receive them (contract agent-server, section 6)."""

from __future__ import annotations

from typing import Any

from langgraph.types import PregelTask, StateSnapshot

from ..serialize import error_name, to_json


def to_thread_state(snapshot: StateSnapshot, graph_id: str, writes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Converts a snapshot. `writes` holds the writes of the checkpoint's step, by node."""
    checkpoint = to_checkpoint(snapshot.config)
    state: dict[str, Any] = {
        "values": snapshot.values,
        "next": list(snapshot.next),
        "tasks": [_task(task, graph_id) for task in snapshot.tasks],
        "created_at": snapshot.created_at,
    }
    # nothing has run yet: the contract's empty state has none of the remaining fields
    if snapshot.created_at is None or checkpoint is None:
        return {**state, "checkpoint": None, "parent_checkpoint": None}
    parent = to_checkpoint(snapshot.parent_config)
    return {
        **state,
        "metadata": {
            "graph_id": graph_id,
            "parents": {},
            **(snapshot.metadata or {}),
            "thread_id": checkpoint["thread_id"],
            "checkpoint_id": checkpoint["checkpoint_id"],
            "writes": writes or {},
        },
        "checkpoint": checkpoint,
        "parent_checkpoint": parent,
        "checkpoint_id": checkpoint["checkpoint_id"],
        "parent_checkpoint_id": parent["checkpoint_id"] if parent else None,
        "interrupts": [to_interrupt(interrupt) for task in snapshot.tasks for interrupt in task.interrupts],
    }


def _task(task: PregelTask, graph_id: str) -> dict[str, Any]:
    state: Any = task.state
    is_snapshot = isinstance(state, StateSnapshot)
    return {
        "id": task.id,
        "name": task.name,
        "path": task.path,
        "error": _task_error(task.error),
        "interrupts": [to_interrupt(interrupt) for interrupt in task.interrupts],
        "checkpoint": state["configurable"] if state and not is_snapshot else None,
        "state": to_thread_state(state, graph_id) if is_snapshot else None,
        "result": task.result,
    }


def _task_error(error: Any) -> str | None:
    if error is None or isinstance(error, str):
        return error
    if isinstance(error, BaseException):
        return to_json({"error": error_name(error), "message": str(error)}).decode()
    return to_json(error).decode()


def to_interrupt(interrupt: Any) -> dict[str, Any]:
    """Returns an interrupt with the fields that its version of LangGraph gives it a value for."""
    fields: dict[str, Any] = {"id": interrupt.id, "value": interrupt.value}
    response_schema = getattr(interrupt, "response_schema", None)
    if response_schema is not None:
        fields["response_schema"] = response_schema
    return fields


def to_checkpoint(config: Any) -> dict[str, Any] | None:
    """Returns the address of a config's checkpoint."""
    configurable: dict[str, Any] = (config or {}).get("configurable") or {}
    if not isinstance(configurable.get("thread_id"), str):
        return None
    return {
        "thread_id": configurable["thread_id"],
        "checkpoint_id": configurable.get("checkpoint_id"),
        "checkpoint_ns": configurable.get("checkpoint_ns") or "",
        "checkpoint_map": configurable.get("checkpoint_map"),
    }


def task_writes(parent: StateSnapshot) -> dict[str, Any]:
    """Collects the writes of a checkpoint's tasks by node: the `writes` of the checkpoint that follows it.

    A node that ran several times has a list.
    """
    results: dict[str, list[Any]] = {}
    for task in parent.tasks:
        if task.result is not None:
            results.setdefault(task.name, []).append(task.result)
    return {name: found[0] if len(found) == 1 else found for name, found in results.items()}

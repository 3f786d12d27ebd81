"""Updates of a thread's state by its callers."""

from __future__ import annotations

from typing import Any

from langgraph.types import Command, Send, StateSnapshot, StateUpdate

from ..serialize import error_name
from .call_host import AnyGraph
from .errors import CallError
from .read_state import checkpoint_config
from .thread_state import to_checkpoint, to_interrupt

_CHECKPOINT_KEYS = ("checkpoint_id", "checkpoint_ns", "checkpoint_map")
# errors of the database, which the update did not cause
_INFRASTRUCTURE = {"DatabaseAwayError", "CheckpointError", "OtherLanguageError"}


async def update_state(graph: AnyGraph, params: dict[str, Any]) -> dict[str, Any]:
    """Applies the supersteps in order and returns the last checkpoint with the thread's new head."""
    thread_id: str = params["thread_id"]
    checkpoint: dict[str, Any] = params.get("checkpoint") or {}
    base = checkpoint_config(thread_id, checkpoint)
    asked = checkpoint.get("checkpoint_id")
    if asked and (await graph.aget_state(base)).created_at is None:
        raise CallError(404, "CheckpointNotFound", f"Thread {thread_id} has no checkpoint {asked}")
    supersteps = [[_to_update(update) for update in superstep["updates"]] for superstep in params["supersteps"]]
    try:
        updated = await graph.abulk_update_state(_update_config(params, base), supersteps)
    except Exception as error:
        # node bodies do not run here, only writers and reducers: an exception is caused by the update
        name = error_name(error)
        if name in _INFRASTRUCTURE:
            raise
        raise CallError({"HeadMovedError": 409, "ValueTooLargeError": 413}.get(name, 422), name, str(error)) from error
    address = to_checkpoint(updated)
    assert address is not None
    del address["checkpoint_map"]
    head = await graph.aget_state({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}})
    return {"checkpoint": address, "state": to_run_result(head)}


def to_run_result(head: StateSnapshot) -> dict[str, Any]:
    """Returns the head of a thread as the thread's row stores it; nothing for a thread without a checkpoint."""
    if head.created_at is None:
        return {}
    result: dict[str, Any] = {
        "values": head.values,
        "next": list(head.next),
        "interrupts": {task.id: [to_interrupt(interrupt) for interrupt in task.interrupts] for task in head.tasks},
    }
    of = head.config["configurable"].get("checkpoint_id") if "configurable" in head.config else None
    if isinstance(of, str):
        result["of"] = of
    return result


def _update_config(params: dict[str, Any], base: Any) -> Any:
    config: dict[str, Any] = params.get("config") or {}
    configurable = {
        key: value
        for key, value in (config.get("configurable") or {}).items()
        if not key.startswith("__pregel_") and key not in _CHECKPOINT_KEYS
    }
    tags = {"tags": config["tags"]} if config.get("tags") else {}
    return {
        **tags,
        "metadata": {**(config.get("metadata") or {}), "graph_id": params["graph_id"]},
        "configurable": {**configurable, **base["configurable"]},
    }


def _to_update(update: dict[str, Any]) -> StateUpdate:
    command = update.get("command")
    # LangGraph takes a command as well, although the type of the field does not say so
    values: Any = to_command(command) if command else update.get("values")
    return StateUpdate(values, update.get("as_node") or None)


def to_command(command: dict[str, Any]) -> Command[Any]:
    """Converts a command: `goto` is a node, a Send as `{node, input}`, or a list of these (contract section 7.1)."""
    fields: dict[str, Any] = {}
    update = command.get("update")
    if update is not None:
        # LangGraph knows pairs by their type; others it would drop
        fields["update"] = [tuple(pair) for pair in update] if isinstance(update, list) else update
    if "resume" in command:
        fields["resume"] = command["resume"]
    goto = command.get("goto")
    if goto is not None:
        targets: list[Any] = goto if isinstance(goto, list) else [goto]
        fields["goto"] = [_target(target) for target in targets]
    return Command(**fields)


def _target(target: str | dict[str, Any]) -> str | Send:
    return target if isinstance(target, str) else Send(target["node"], target.get("input") or {})

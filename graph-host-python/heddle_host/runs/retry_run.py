"""Where a later attempt of a run starts.

`as given`: nothing of the run is on disk yet. `continue`: the thread's head is the run's own checkpoint, resume from
there. `stopped`: the run had already stopped, at a breakpoint or an `interrupt()`, and only its end was not reported;
resuming would run past it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Breakpoints = Sequence[str] | str | None

# Writes of a step that do not show that a task is done.
_OF_UNFINISHED = frozenset(("__interrupt__", "__resume__", "__error__", "__error_source_node__", "__no_writes__"))


async def retry_start(graph: Any, run_id: str, thread_id: str, before: Breakpoints, after: Breakpoints) -> str:
    config = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    saver = graph.checkpointer
    head = await saver.aget_tuple(config)
    if head is None:
        return "as given"
    # its input is applied once, whatever else has been written since
    if (head.metadata or {}).get("run_id") != run_id:
        return "continue" if await _has_written(saver, config, run_id) else "as given"
    state = await graph.aget_state(config)
    pending = [task for task in state.tasks if task.name in state.next or task.interrupts]
    if not pending:
        return "continue"
    if all(task.interrupts for task in pending):
        return "stopped"
    if before is None:
        before = graph.interrupt_before_nodes
    if after is None:
        after = graph.interrupt_after_nodes
    if not _any_channel_new_since_interrupt(head):
        return "continue"
    if _names(before, state.next):
        return "stopped"
    if after and _names(after, await _finished_nodes(saver, head)):
        return "stopped"
    return "continue"


async def reached_before(graph: Any, thread_id: str) -> tuple[bool, str | None]:
    """Returns how far earlier attempts of a run came, whose frames a later one does not send again.

    (False, None) when no node has run; else the id of the thread's newest checkpoint, or None when there is progress
    beyond it, in subgraphs or by tasks of its step.
    """
    saver = graph.checkpointer
    head = await saver.aget_tuple({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}})
    if head is None:
        return False, None
    if any(channel not in _OF_UNFINISHED for _, channel, _ in head.pending_writes or ()):
        return True, None
    async for newest in saver.alist({"configurable": {"thread_id": thread_id}}, limit=1):
        if newest.checkpoint["id"] > head.checkpoint["id"]:
            return True, None
    if (head.metadata or {}).get("source") == "input":
        return False, None
    if all(name.startswith("__") for name in await _finished_nodes(saver, head)):
        return False, None
    return True, head.checkpoint["id"]


async def _has_written(saver: Any, config: Any, run_id: str) -> bool:
    async for _ in saver.alist(config, filter={"run_id": run_id}, limit=1):
        return True
    return False


def _names(breakpoints: Breakpoints, nodes: Sequence[str]) -> bool:
    if breakpoints == "*":
        return any(not node.startswith("__") for node in nodes)
    return any(node in (breakpoints or ()) for node in nodes)


def _any_channel_new_since_interrupt(head: Any) -> bool:
    """Repeats LangGraph's own test for a breakpoint: it does not stop twice on the same channel versions."""
    seen = head.checkpoint["versions_seen"].get("__interrupt__") or {}
    return any(
        channel not in seen or version > seen[channel]
        for channel, version in head.checkpoint["channel_versions"].items()
    )


async def _finished_nodes(saver: Any, head: Any) -> list[str]:
    """Returns the nodes whose step produced the checkpoint: they have seen channel versions that are new with it."""
    parent = await saver.aget_tuple(head.parent_config) if head.parent_config else None
    before = parent.checkpoint["versions_seen"] if parent else {}
    return [node for node, seen in head.checkpoint["versions_seen"].items() if seen != before.get(node)]

"""Deserializes a stored checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from .. import json_text
from .errors import OtherLanguageError
from .list_changes import StoredChannel
from .rows import StoredCheckpoint, StoredWrite

TASKS = "__pregel_tasks"


def load_tuple(
    stored: StoredCheckpoint,
    serde: SerializerProtocol,
    next_version: Callable[[Any, None], Any],
    load_value: Callable[[str, str, str, StoredChannel], Any],
) -> CheckpointTuple:
    """`load_value` deserializes the value of a thread's namespace's channel. Raises OtherLanguageError."""
    checkpoint = json_text.loads(stored.checkpoint)
    versions = checkpoint.setdefault("channel_versions", {})
    checkpoint.setdefault("versions_seen", {})
    # the JavaScript host's versions are numbers with a fraction
    if any(isinstance(version, float) for version in versions.values()):
        raise OtherLanguageError(stored.thread_id)
    values = dict(checkpoint.get("channel_values") or {})
    for channel, value in stored.values.items():
        if value.type != "empty":
            values[channel] = load_value(stored.thread_id, stored.ns, channel, value)
    if stored.parent_sends:
        # formats below 4 kept the sends of a step with its parent
        values[TASKS] = [serde.loads_typed((w.type, w.data)) for w in stored.parent_sends]
        versions[TASKS] = max(versions.values()) if versions else next_version(None, None)
    checkpoint["channel_values"] = values
    return CheckpointTuple(
        _address(stored, stored.id),
        cast(Checkpoint, checkpoint),
        cast(CheckpointMetadata, json_text.loads(stored.metadata)),
        _address(stored, stored.parent_id) if stored.parent_id else None,
        [load_write(serde, write) for write in _without_answered(stored.writes)],
    )


def load_write(serde: SerializerProtocol, write: StoredWrite) -> tuple[str, str, Any]:
    return (write.task_id, write.channel, serde.loads_typed((write.type, write.data)))


def _address(stored: StoredCheckpoint, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": stored.thread_id, "checkpoint_ns": stored.ns, "checkpoint_id": checkpoint_id}}


def _without_answered(writes: list[StoredWrite]) -> list[StoredWrite]:
    """Drops interrupts of tasks that have since completed: the rows of both have different keys."""
    if not any(write.channel == "__interrupt__" for write in writes):
        return writes
    finished = {write.task_id for write in writes if write.channel not in WRITES_IDX_MAP}
    return [write for write in writes if write.channel != "__interrupt__" or write.task_id not in finished]

"""Rows of checkpoints, with their values serialized: what is written, and what is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .list_changes import StoredChannel


class Fence(NamedTuple):
    run_id: str
    attempt: int


class HeadGuard(NamedTuple):
    """Precondition of a state update: no namespace has a checkpoint newer than in `newest`, and no run is active."""

    thread_id: str
    newest: list[tuple[str, str]]
    """Newest checkpoint of each namespace that the update has read, the root graph's among them; empty for none."""


class FinishRow(NamedTuple):
    thread_id: str
    state: bytes
    notify: bool


class Finished(NamedTuple):
    outcome: str
    waiting: bool


@dataclass(slots=True)
class CheckpointRow:
    thread_id: str
    ns: str
    id: str
    parent_id: str | None
    checkpoint: bytes
    metadata: bytes


@dataclass(slots=True)
class BlobRow:
    """`blob` is None for a channel that became empty; `type` is then `empty`.

    `link` is that of a change (list_changes.py), and `value` the value that it leads to.
    """

    thread_id: str
    ns: str
    channel: str
    version: str
    type: str
    blob: bytes | None
    link: str | None = None
    value: StoredChannel | None = None


@dataclass(slots=True)
class WriteRow:
    """`replaces`: a later write of the same task and index replaces this one (errors, interrupts, resumes)."""

    thread_id: str
    ns: str
    checkpoint_id: str
    task_id: str
    idx: int
    channel: str
    type: str
    blob: bytes
    replaces: bool


@dataclass(slots=True, eq=False)
class WriteItem:
    """Rows of one thread and namespace that are written atomically. Writing them is idempotent."""

    fence: Fence | None = None
    guard: HeadGuard | None = None
    checkpoint: CheckpointRow | None = None
    blobs: list[BlobRow] = field(default_factory=list)
    writes: list[WriteRow] = field(default_factory=list)
    finish: FinishRow | None = None


@dataclass(slots=True)
class StoredWrite:
    type: str
    data: bytes
    task_id: str
    idx: int
    channel: str


@dataclass(slots=True)
class StoredCheckpoint(CheckpointRow):
    """A checkpoint with everything that belongs to it, still serialized."""

    values: dict[str, StoredChannel] = field(default_factory=dict)
    """Keyed by channel; `empty` is the type of a channel without a value."""
    writes: list[StoredWrite] = field(default_factory=list)
    """Ordered by task and index."""
    parent_sends: list[StoredWrite] = field(default_factory=list)
    """Sends of the parent's tasks, for checkpoints of format below 4, which do not contain them."""


@dataclass(slots=True)
class CheckpointQuery:
    thread_id: str | None = None
    ns: str | None = None
    id: str | None = None
    before: str | None = None
    filter: dict[str, Any] | None = None
    limit: int | None = None


@dataclass(slots=True)
class StoredHistory:
    """Writes of a checkpoint's ancestors to one channel since the nearest that holds its value, oldest first."""

    writes: list[StoredWrite] = field(default_factory=list)
    seed: StoredChannel | None = None


def by_task_and_index(write: StoredWrite) -> tuple[str, int]:
    return (write.task_id, write.idx)

"""Newest checkpoint of each namespace that a run has put, in stored form, so that reading it back needs no query.

Holds only what the database would certainly return as well: one run at a time writes to a thread, which the fence
enforces. Anything uncertain (a value that was never seen, writes that arrived before their checkpoint) drops the head,
and the next read queries the database.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from .clock import CheckpointClock
from .list_changes import StoredChannel
from .rows import BlobRow, CheckpointRow, StoredCheckpoint, StoredWrite, WriteRow, by_task_and_index

_LIMIT = 32


class Heads:
    def __init__(self) -> None:
        self._heads: OrderedDict[tuple[str, str], StoredCheckpoint] = OrderedDict()
        self._stray: set[tuple[str, str, str]] = set()

    def get(self, thread_id: str, ns: str, checkpoint_id: str | None = None) -> StoredCheckpoint | None:
        head = self._heads.get((thread_id, ns))
        return head if head and checkpoint_id in (None, head.id) else None

    def read(self, stored: StoredCheckpoint) -> None:
        """Records a checkpoint that was just read, when it is known to be the newest."""
        self._keep(stored)

    def put(self, row: CheckpointRow, blobs: list[BlobRow], checkpoint: Mapping[str, Any]) -> None:
        """Records a checkpoint that is being put; unchanged values are those of the previous head."""
        head = self.get(row.thread_id, row.ns)
        if head and head.id > row.id:
            return
        key = (row.thread_id, row.ns)
        # formats before 4 keep a part of the state in the parent
        if checkpoint["v"] < 4 or (*key, row.id) in self._stray:
            self._heads.pop(key, None)
            return
        stored = StoredCheckpoint(row.thread_id, row.ns, row.id, row.parent_id, row.checkpoint, row.metadata)
        changed = {blob.channel: blob for blob in blobs}
        for channel, version in checkpoint["channel_versions"].items():
            blob = changed.get(channel)
            value = (
                blob.value or StoredChannel(blob.type, blob.blob or b"", blob.version)
                if blob
                else head.values.get(channel)
                if head
                else None
            )
            if value is None or value.version != str(version):
                self._heads.pop(key, None)
                return
            stored.values[channel] = value
        if head and head.id == row.id:
            stored.writes = head.writes
        self._keep(stored)

    def put_writes(self, rows: list[WriteRow]) -> None:
        for row in rows:
            head = self.get(row.thread_id, row.ns, row.checkpoint_id)
            if not head:
                self._stray.add((row.thread_id, row.ns, row.checkpoint_id))
                continue
            write = StoredWrite(row.type, row.blob, row.task_id, row.idx, row.channel)
            same = [i for i, w in enumerate(head.writes) if w.task_id == row.task_id and w.idx == row.idx]
            if not same:
                head.writes.append(write)
                head.writes.sort(key=by_task_and_index)
            elif row.replaces:
                head.writes[same[0]] = write

    def clear(self, thread_id: str | None = None) -> None:
        """Forgets a thread, or all."""
        for key in [key for key in self._heads if thread_id in (None, key[0])]:
            del self._heads[key]

    def _keep(self, stored: StoredCheckpoint) -> None:
        key = (stored.thread_id, stored.ns)
        self._heads.pop(key, None)
        self._heads[key] = stored
        # a subgraph has a namespace per call: drop the oldest
        if len(self._heads) > _LIMIT:
            self._heads.popitem(last=False)


class NewestIds:
    """Newest checkpoint id of each namespace, as far as a saver has read or put it. Keeps the clock above all."""

    def __init__(self, clock: CheckpointClock) -> None:
        self._clock = clock
        # by thread and namespace
        self._ids: dict[str, dict[str, str]] = {}

    def in_thread(self, thread_id: str) -> Mapping[str, str]:
        return self._ids.get(thread_id, {})

    def observe(self, thread_id: str, ns: str, checkpoint_id: str) -> bool:
        """Records an id. Returns False when it is below the newest known one, which then stays."""
        ids = self._ids.setdefault(thread_id, {})
        known = ids.get(ns)
        if known is not None and known >= checkpoint_id:
            return known == checkpoint_id
        ids[ns] = checkpoint_id
        self._clock.observe(checkpoint_id)
        return True

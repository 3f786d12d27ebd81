"""Checkpoints with which runs of this process ended, for the next runs of their threads."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

from .channel_lists import ShownLists
from .rows import StoredCheckpoint


class LastHeads:
    """Checkpoints with which runs of this process ended, in stored form.

    The next run of the same thread starts from one without reading it, once the server has confirmed that it is still
    the newest. Bounded in bytes; the thread whose last run ended earliest is evicted first.
    """

    _TOTAL_BYTES = 32 * 1024 * 1024
    _ONE_BYTES = 8 * 1024 * 1024
    _OVERHEAD_BYTES = 2048
    # size of the objects of a list, as a multiple of that of its data
    _OBJECT_SIZE = 5

    def __init__(self) -> None:
        self._heads: OrderedDict[str, tuple[StoredCheckpoint, int, ShownLists | None]] = OrderedDict()
        self._bytes = 0

    def keep(self, head: StoredCheckpoint, shown: ShownLists | None = None) -> None:
        """`shown`: the lists that the thread's values show."""
        self._forget(head.thread_id)
        # one with tasks may still receive writes
        if head.ns or head.writes or head.parent_sends:
            return
        size = self._OVERHEAD_BYTES + len(head.checkpoint) + len(head.metadata)
        size += sum(len(value.data) for value in head.values.values())
        if size > self._ONE_BYTES:
            return
        with_objects = size + self._OBJECT_SIZE * sum(len(v.data) for v in head.values.values() if v.items)
        if with_objects <= self._ONE_BYTES:
            size = with_objects
        else:
            for value in head.values.values():
                value.drop_objects()
        self._heads[head.thread_id] = (head, size, shown)
        self._bytes += size
        while self._bytes > self._TOTAL_BYTES:
            self._forget(next(iter(self._heads)))

    def get(self, thread_id: str, checkpoint_id: str) -> StoredCheckpoint | None:
        """Returns a copy, to which the caller may add writes."""
        entry = self._heads.get(thread_id)
        if not entry or entry[0].id != checkpoint_id:
            return None
        return replace(entry[0], writes=[], parent_sends=[])

    def shown(self, thread_id: str) -> ShownLists | None:
        """Returns the lists that the thread's values showed after the last run of this process."""
        entry = self._heads.get(thread_id)
        return entry[2] if entry else None

    def _forget(self, thread_id: str) -> None:
        entry = self._heads.pop(thread_id, None)
        if entry:
            self._bytes -= entry[1]

"""Hybrid logical clock for checkpoint ids.

A thread's newest checkpoint is the one with the highest id, here and in the official saver, so an id must exceed those
of all checkpoints committed before, on whichever machine. It is the wall clock's time where that is later, else the
tick after the highest id that this clock has generated or observed. Each run has a clock below the process's clock, so
ids observed in a thread that was written by a machine whose clock was ahead affect that thread only.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from uuid import UUID

# Ticks of 100 ns, the unit of time-based UUIDs, from the Gregorian reform to the Unix epoch.
_EPOCH_TICKS = 0x01B21DD213814000
_LAST_TICK = (1 << 60) - 1
_UUID = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f])([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


class CheckpointClock:
    def __init__(self, above: CheckpointClock | None = None, now: Callable[[], int] = time.time_ns) -> None:
        self._above = above
        self._now = now
        self._last = 0
        self._lock = threading.Lock()

    def next_id(self, clock_seq: int) -> UUID:
        """Returns the next id, a UUIDv6. 14 bits of `clock_seq` are kept, which do not affect the order."""
        with self._lock:
            tick = max(self._now() // 100 + _EPOCH_TICKS, self._last + 1)
            if tick > _LAST_TICK:
                raise OverflowError("The checkpoints of this thread have used up the time that a UUIDv6 can hold")
            self._last = tick
        if self._above:
            self._above._raise(tick)
        high = ((tick >> 12) << 16) | 0x6000 | (tick & 0xFFF)
        low = (0x8000 | (clock_seq & 0x3FFF)) << 48 | int.from_bytes(os.urandom(6), "big")
        return UUID(int=high << 64 | low)

    def observe(self, checkpoint_id: str) -> None:
        """Advances the clock so that later ids exceed this one. Ids that are not UUIDs are ignored."""
        match = _UUID.fullmatch(checkpoint_id)
        if not match:
            return
        high, mid, version, low = match.groups()
        # the highest tick of a UUIDv6 not above the id: ids are compared as text
        self._raise(int(high + mid + (low if version == "6" else "fff"), 16))

    def _raise(self, tick: int) -> None:
        with self._lock:
            self._last = max(self._last, tick)
        if self._above:
            self._above._raise(tick)


# Clock above every id that this process has generated or observed.
process_clock = CheckpointClock()


def install_checkpoint_ids() -> None:
    """Makes LangGraph take its checkpoint ids from the clock of the current run or call."""
    import langgraph.checkpoint.base as base
    import langgraph.checkpoint.base.id as ids

    from ..work import current_work

    def uuid6(node: int | None = None, clock_seq: int | None = None) -> UUID:
        work = current_work.get()
        return (work.clock if work else process_clock).next_id(clock_seq or 0)

    ids.uuid6 = uuid6
    base.uuid6 = uuid6  # pyright: ignore[reportPrivateImportUsage]

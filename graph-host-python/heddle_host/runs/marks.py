"""Reports to the server which checkpoints of a run precede the frames sent so far.

A mark follows the commit of a checkpoint as soon as the events that led to it, and its own values, have been sent.
Checkpoints within a few milliseconds of each other share a mark.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

# Delay after a commit by which a checkpoint's values have been emitted.
_SETTLE_SECONDS = 0.01


class ProgressMarks:
    def __init__(self, send: Callable[[str], None], congested: Callable[[], bool]) -> None:
        self._send = send
        self._congested = congested
        self._loop = asyncio.get_running_loop()
        self._reached: str | None = None
        self._is_new = False
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def reached(self, checkpoint_id: str) -> None:
        """Records that a checkpoint of the root graph is committed."""
        if self._closed:
            return
        self._reached = checkpoint_id
        self._is_new = self._timer is not None
        if not self._timer:
            self._timer = self._loop.call_later(_SETTLE_SECONDS, self._settled)

    def close(self) -> None:
        self._closed = True
        if self._timer:
            self._timer.cancel()

    def _settled(self) -> None:
        self._timer = None
        if self._closed or self._reached is None:
            return
        # frames wait until the server has consumed the previous ones
        if self._is_new or self._congested():
            self._is_new = False
            self._timer = self._loop.call_later(_SETTLE_SECONDS, self._settled)
            return
        self._send(self._reached)

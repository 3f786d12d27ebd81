"""A run that executes in this process: running, stopping, closed."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, TypedDict

from typing_extensions import NotRequired

from ..frames import Outcome, RunEndError, RunEndFinished, RunStart

# Grace period after which user code that ignores the cancellation is abandoned.
_GRACE_SECONDS = 1.0


class Stop(TypedDict):
    """What ends a run: fields of a `run.end`."""

    outcome: Outcome
    error: NotRequired[RunEndError]
    finished: NotRequired[RunEndFinished]


class ActiveRun:
    """`stop` cancels the run's task, and settles `abandoned` when user code has not ended in time.

    A closed run emits nothing more, whatever its abandoned code still does.
    """

    def __init__(self, start: RunStart) -> None:
        self.start = start
        self.run_id: str = start["run_id"]
        self.thread_id: str = start["thread_id"]
        self.attempt: int = start["attempt"]
        self.holds_end: bool = bool(start.get("hold_end"))
        self.stopped: Stop | None = None
        self.closed = False
        self._loop = asyncio.get_running_loop()
        self.abandoned: asyncio.Future[Stop] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[Any] | None = None

    def enter_user_code(self) -> None:
        """Lets `stop` cancel the current task until `leave_user_code`."""
        if self.stopped:
            raise asyncio.CancelledError
        self._task = asyncio.current_task()

    def leave_user_code(self) -> None:
        task, self._task = self._task, None
        if task and self.stopped and sys.version_info >= (3, 11):
            task.uncancel()

    def stop(self, stop: Stop, reason: str) -> None:
        if self.stopped or self.closed:
            return
        self.stopped = stop
        self._timer = self._loop.call_later(_GRACE_SECONDS, self._abandon)
        if self._task:
            self._task.cancel(reason)

    def supersede(self) -> None:
        """Closes this attempt without an end, because a newer attempt of the run was started in this process."""
        self.stop({"outcome": "fenced"}, "a newer attempt is running")
        self.closed = True

    def close(self) -> None:
        self.closed = True
        if self._timer:
            self._timer.cancel()

    def _abandon(self) -> None:
        if not self.abandoned.done() and self.stopped:
            self.abandoned.set_result(self.stopped)

"""Errors of the saver that decide a run's outcome."""

from __future__ import annotations

import asyncio

from ..postgres import ConnectionLostError, DatabaseError


class FencedError(Exception):
    """The run belongs to another attempt or no longer runs: nothing of the item was written."""

    def __init__(self, run_id: str, attempt: int) -> None:
        super().__init__(f"Attempt {attempt} of run {run_id} has been superseded; its writes are rejected")


class HeadMovedError(Exception):
    """The thread of a state update has changed: a run is active or a newer checkpoint exists. Nothing was written."""

    def __init__(self, thread_id: str) -> None:
        super().__init__(
            f"Thread {thread_id} has changed since the update was accepted, or is gone; nothing was written"
        )


class ValueTooLargeError(Exception):
    """A value of a state is larger than the limit. The checkpoint with it is not written."""

    def __init__(self, thread_id: str, channel: str, size: int, limit: int) -> None:
        super().__init__(
            f'The value of "{channel}" in thread {thread_id} is {-(-size // 2**20)} MiB as it is stored; the limit is '
            f"{-(-limit // 2**20)} MiB (HEDDLE_MAX_VALUE_MB). Store large content elsewhere and keep a reference in "
            "the state."
        )


class DatabaseAwayError(Exception):
    """The database was unreachable for longer than allowed; the item may or may not have been written."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The database has been unreachable for {round(seconds)} s")


class CheckpointOrderError(Exception):
    """A checkpoint that could never become the thread's newest, because its id is below an earlier one."""

    def __init__(self, thread_id: str, ns: str, checkpoint_id: str, newest: str | None) -> None:
        place = f'namespace "{ns}" of thread {thread_id}' if ns else f"thread {thread_id}"
        super().__init__(
            f"Checkpoint {checkpoint_id} is older than {newest}, the newest of {place}, by its id, so its state would "
            "be lost"
        )


class OtherLanguageError(Exception):
    """The thread's values were written by a JavaScript graph, and Python cannot load them."""


def is_passing_error(error: BaseException) -> bool:
    """Whether the same statement may succeed later.

    Transient SQLSTATEs: connection (08), insufficient resources (53), shutdown and start-up (57P), serialization and
    deadlock (40), a standby that does not accept writes yet (25006), and a system I/O error (58).
    """
    if isinstance(error, DatabaseError):
        code = error.code
        return code[:2] in ("08", "53", "40", "58") or code.startswith("57P") or code == "25006"
    return isinstance(error, ConnectionLostError | OSError | asyncio.TimeoutError | TimeoutError)

"""Errors of the saver that decide a run's outcome."""

from __future__ import annotations

from ..frames import WireError


class CheckpointError(Exception):
    """The server could not write or read checkpoints. `name` is that of its error."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class FencedError(CheckpointError):
    """The run belongs to another attempt or no longer runs: nothing of the item was written."""


class HeadMovedError(CheckpointError):
    """The thread of a state update has changed: a run is active or a newer checkpoint exists. Nothing was written."""


class DatabaseAwayError(CheckpointError):
    """The database was unreachable for longer than allowed; the item may or may not have been written."""


class ValueTooLargeError(Exception):
    """A value of a state is larger than the limit. The checkpoint with it is not written."""

    def __init__(self, thread_id: str, channel: str, size: int, limit: int) -> None:
        super().__init__(
            f'The value of "{channel}" in thread {thread_id} is {-(-size // 2**20)} MiB as it is stored; the limit is '
            f"{-(-limit // 2**20)} MiB (HEDDLE_MAX_VALUE_MB). Store large content elsewhere and keep a reference in "
            "the state."
        )


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

    def __init__(self, thread_id: str) -> None:
        super().__init__(
            f"Thread {thread_id} was written by a JavaScript graph, and a Python graph cannot continue it. "
            "Use a new thread."
        )


_KINDS = {kind.__name__: kind for kind in (FencedError, HeadMovedError, DatabaseAwayError)}


def error_of(wire: WireError) -> CheckpointError:
    """Returns the error that a `checkpoint.result` reports."""
    return _KINDS.get(wire["name"], CheckpointError)(wire["name"], wire["message"])

"""Finds the code that blocks the event loop, and interrupts it.

Both are requested by the watchdog's thread, because a blocked loop reads no frames. The interruption is an exception
raised by a signal handler, which Python runs in the main thread, in the middle of the code that blocks: a blocking call
of the standard library ends with it, and all other runs of the process go on. Native code that never returns to the
interpreter cannot be interrupted.
"""

from __future__ import annotations

import asyncio
import linecache
import os
import signal
import sys
import sysconfig
import threading
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from .runs.active_run import Stop
from .work import Work, current_work

# Ignored by default, and not used by the libraries that graphs use.
_SIGNAL = signal.SIGURG
_MAX_STACK = 16_000


class BlockedEventLoop(BaseException):
    """Raised in code that blocks the event loop. No `Exception`: a retry policy would let it block again."""


class BlockedLoop:
    """`stop_run` ends a run with an outcome, whatever its code makes of the exception."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stop_run: Callable[[str, Stop], None]) -> None:
        self._loop = loop
        self._stop_run = stop_run
        self._thread = threading.main_thread().ident or 0
        self._request: dict[str, Any] | None = None
        signal.signal(_SIGNAL, self._raise)

    def describe(self) -> dict[str, Any]:
        """Returns the run whose code the loop's thread executes, where it is, and its stack."""
        frame = sys._current_frames().get(self._thread)  # pyright: ignore[reportPrivateUsage]
        work = self._current_work()
        if frame is None:
            return {"run_id": None, "where": "", "stack": ""}
        stack = _task_frames(frame)
        summary = traceback.StackSummary.from_list(traceback.extract_stack(inner, 1)[0] for inner in stack)
        text = "".join(summary.format())
        return {"run_id": work.run_id if work else None, "where": _place(stack), "stack": text[-_MAX_STACK:]}

    def interrupt(self, request: dict[str, Any]) -> None:
        """Raises in the blocking code if it belongs to the run; with an `error` the run ends with it."""
        self._request = request
        signal.pthread_kill(self._thread, _SIGNAL)

    def _raise(self, signum: int, frame: FrameType | None) -> None:
        request, self._request = self._request, None
        work = current_work.get()
        # the code may have ended by itself in the meantime
        if not request or not work or work.run_id != request["run_id"]:
            return
        error = request.get("error")
        if error:
            stop: Stop = {"outcome": "error", "error": error}
            self._loop.call_soon_threadsafe(self._stop_run, request["run_id"], stop)
        raise BlockedEventLoop(error["message"] if error else "The run was cancelled while it blocked the event loop.")

    def _current_work(self) -> Work | None:
        task = asyncio.current_task(self._loop)
        if task is None:
            return None
        if sys.version_info >= (3, 12):
            return task.get_context().get(current_work)
        return getattr(task, "heddle_work", None)


def _task_frames(frame: FrameType) -> list[FrameType]:
    """Returns the frames that the loop has called, outermost first."""
    frames: list[FrameType] = []
    at: FrameType | None = frame
    while at is not None and not (at.f_code.co_name == "_run" and at.f_code.co_filename == asyncio.events.__file__):
        frames.append(at)
        at = at.f_back
    return frames[::-1]


def _place(frames: list[FrameType]) -> str:
    """Describes the innermost frame of the project's code, or else the innermost one."""
    if not frames:
        return ""
    at = next((frame for frame in reversed(frames) if not _is_library(frame.f_code.co_filename)), frames[-1])
    name, line = at.f_code.co_filename, at.f_lineno
    source = linecache.getline(name, line).strip()
    shown = os.path.relpath(name) if name.startswith(os.getcwd() + os.sep) else name
    return f"{shown}:{line} in {at.f_code.co_name}{f': {source}' if source else ''}"


_LIBRARIES = tuple(
    {path + os.sep for path in sysconfig.get_paths().values()} | {os.path.dirname(os.path.abspath(__file__)) + os.sep}
)


def _is_library(file: str) -> bool:
    return file.startswith((*_LIBRARIES, "<")) or f"{os.sep}site-packages{os.sep}" in file

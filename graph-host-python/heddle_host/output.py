"""Output of user code, each line with the id of the run that wrote it."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
from collections.abc import Coroutine, Generator
from contextvars import Context, copy_context
from typing import Any, TextIO, cast

from .work import current_work


def complain(*parts: object) -> None:
    """Writes a message of the host itself, for the operator."""
    print(*parts, file=sys.__stderr__, flush=True)


def report_stray_error(loop: asyncio.AbstractEventLoop, details: dict[str, Any]) -> None:
    """Handles errors of user code that no caller awaits: they are printed with the id of the run that they belong to.

    As everywhere in Python they do not end the process, nor the run.
    """
    for name in ("task", "future", "handle"):
        source: Any = details.get(name)
        work = getattr(source, "heddle_work", None)
        if work:
            context = copy_context()
            context.run(current_work.set, work)
            return context.run(loop.default_exception_handler, details)
        context = source.get_context() if hasattr(source, "get_context") else getattr(source, "_context", None)
        if isinstance(context, Context):
            # from Python 3.12 on the loop itself is within that context, which cannot be entered twice
            return context.copy().run(loop.default_exception_handler, details)
    loop.default_exception_handler(details)


def mark_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Lets `report_stray_error` find the run of a task. Before Python 3.12 tasks do not show their context."""
    if sys.version_info < (3, 12):
        loop.set_task_factory(_marked_task)


def _marked_task(
    loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any] | Generator[Any, None, Any], **options: Any
) -> asyncio.Task[Any]:
    task = asyncio.Task(coro, loop=loop, **options)
    context: Context | None = options.get("context")
    work = context.get(current_work) if context is not None else current_work.get()
    if work:
        task.heddle_work = work  # pyright: ignore[reportAttributeAccessIssue]
    return task


class RunOutput(io.TextIOBase):
    """Replaces `sys.stdout` or `sys.stderr`; writes whole lines, so that those of concurrent runs do not mix."""

    def __init__(self, target: TextIO) -> None:
        self._target = target
        self._partial: dict[str | None, str] = {}
        self._lock = threading.Lock()

    def write(self, text: str, /) -> int:
        work = current_work.get()
        run_id = work.run_id if work else None
        with self._lock:
            *lines, rest = (self._partial.pop(run_id, "") + text).split("\n")
            if rest:
                self._partial[run_id] = rest
            if lines:
                prefix = f"[run {run_id}] " if run_id else ""
                self._target.write("".join(f"{prefix}{line}\n" if line else "\n" for line in lines))
                self._target.flush()
        return len(text)

    def flush(self) -> None:
        self._target.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._target.isatty()

    def fileno(self) -> int:
        return self._target.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


def prefix_output() -> None:
    sys.stdout = cast(TextIO, RunOutput(sys.stdout))
    sys.stderr = cast(TextIO, RunOutput(sys.stderr))

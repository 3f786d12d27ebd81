"""Output of user code, each line with the id of the run that wrote it."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
from contextvars import Context
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
        context = source.get_context() if hasattr(source, "get_context") else getattr(source, "_context", None)
        if isinstance(context, Context):
            return context.run(loop.default_exception_handler, details)
    loop.default_exception_handler(details)


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

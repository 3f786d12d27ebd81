"""Makes context variables reach asynchronous nodes on Python 3.10, where `asyncio.create_task` takes no context.

LangGraph runs each node in a task with the node's own context. On 3.10 it leaves that out, so `interrupt()`,
`get_stream_writer()`, `get_store()` and the parents of traced calls fail in graphs that run asynchronously, as all
graphs do here, even in synchronous nodes.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from contextvars import Context
from typing import Any


def install_task_contexts() -> None:
    """Gives `asyncio.create_task` the argument `context` that it has from Python 3.11 on; LangGraph then uses it."""
    if sys.version_info >= (3, 11):
        return
    original = asyncio.create_task
    if hasattr(original, "takes_context"):
        return

    def create_task(
        coro: Coroutine[Any, Any, Any], *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        if context is None:
            return original(coro, name=name)
        # a task copies the context that creates it; this one may be entered already
        return context.copy().run(lambda: original(coro, name=name))

    create_task.takes_context = True  # type: ignore[attr-defined]
    # langchain_core and langsmith look for the argument
    asyncio.create_task = create_task

    from langgraph._internal import _runnable

    # langgraph compares the version
    if hasattr(_runnable, "ASYNCIO_ACCEPTS_CONTEXT"):
        _runnable.ASYNCIO_ACCEPTS_CONTEXT = True

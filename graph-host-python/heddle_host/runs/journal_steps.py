"""Makes a task of LangGraph's functional API a step that is done once.

LangGraph stores the result of a task when it completes, but uses it before it is stored. Here a task starts when the
checkpoint that its id derives from is committed, so that a retry meets the same task with the same idempotency key, and
its result is returned when it is committed.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import copy
import functools
import hashlib
import inspect
from collections.abc import Callable
from typing import Any

from langgraph.config import get_config

from ..checkpoints.saver import HeddleSaver

# Key of `configurable` with the idempotency key of the current task.
IDEMPOTENCY_KEY = "heddle_idempotency_key"


def journal_steps() -> None:
    from langgraph import func

    task_function: Any = getattr(func, "_TaskFunction", None)
    if task_function is None:
        return
    call = task_function.__call__

    def journalled_call(self: Any, *args: Any, **kwargs: Any) -> Any:
        configurable = _configurable()
        saver = configurable.get("__pregel_checkpointer")
        if not isinstance(saver, HeddleSaver):
            return call(self, *args, **kwargs)
        # with durability "exit" nothing is stored before the end of the run
        stores = configurable.get("__pregel_durability") != "exit"
        step = _Step(saver, stores)
        task = copy.copy(self)
        task.func = step.wrap(self.func)
        result = call(task, *args, **kwargs)
        if not stores:
            return result
        return step.stored_async(result) if asyncio.isfuture(result) else step.stored(result)

    task_function.__call__ = journalled_call


def _configurable() -> dict[str, Any]:
    try:
        return get_config().get("configurable") or {}
    except RuntimeError:
        return {}


class _Step:
    def __init__(self, saver: HeddleSaver, stores: bool) -> None:
        self._saver = saver
        self._stores = stores
        self._task_id: str | None = None

    def wrap(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function of a task that starts when its checkpoint is committed, with the task's key."""
        if inspect.iscoroutinefunction(func) or inspect.iscoroutinefunction(type(func).__call__):

            @functools.wraps(func)
            async def start_async(*args: Any, **kwargs: Any) -> Any:
                await self._saver.flush()
                self._begin()
                return await func(*args, **kwargs)

            return start_async

        @functools.wraps(func)
        def start(*args: Any, **kwargs: Any) -> Any:
            self._saver.from_thread(self._saver.flush())
            self._begin()
            return func(*args, **kwargs)

        return start

    def _begin(self) -> None:
        configurable = _configurable()
        self._task_id = configurable.get("__pregel_task_id")
        configurable[IDEMPOTENCY_KEY] = _idempotency_key(configurable.get("thread_id"), self._task_id)
        if self._task_id and self._stores:
            self._saver.expect_writes(self._task_id)

    def stored_async(self, result: asyncio.Future[Any]) -> asyncio.Future[Any]:
        async def wait() -> Any:
            value = await result
            await self._flush()
            return value

        return asyncio.ensure_future(wait())

    def stored(self, result: concurrent.futures.Future[Any]) -> concurrent.futures.Future[Any]:
        async def wait() -> Any:
            value = await asyncio.wrap_future(result)
            await self._flush()
            return value

        return asyncio.run_coroutine_threadsafe(wait(), self._saver.loop)

    async def _flush(self) -> None:
        if self._task_id:
            await self._saver.writes_put(self._task_id)
        await self._saver.flush()


def _idempotency_key(thread_id: Any, task_id: Any) -> str:
    """The same in graph-host/src/runs/journal-steps.ts. Copies of a thread have the same task ids."""
    return hashlib.sha256(f"{thread_id}/{task_id}".encode()).hexdigest()[:32]

"""Helpers for steps that are done once, timers and signals (docs/retries.md).

Copy this file into a project: it needs LangGraph and LangChain alone, and runs without Heddle too, where timers and
signals are interrupts that a client answers.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from datetime import datetime, timedelta, timezone
from typing import Any

from langgraph.config import get_config
from langgraph.func import task
from langgraph.types import interrupt

# Tools get the configuration of their node, not that of the step that calls them.
_step_key: ContextVar[str] = ContextVar("step_key")


async def step(name: str, func: Callable[[str], Awaitable[Any] | Any]) -> Any:
    """Does something once: its result is stored before it is used, and a retry of the run gets the stored one.

    `func` gets the step's idempotency key. A node must call its steps in the same order each time. `name` may contain
    what the step is about: with another name, a step is a new one.
    """

    async def once() -> Any:
        token = _step_key.set(key := _configured_key())
        try:
            result = func(key)
            return await result if inspect.isawaitable(result) else result
        finally:
            _step_key.reset(token)

    return await task(once, name=name)()


def idempotency_key() -> str:
    """Returns the key of the current step: the same in each retry, another one for each step and thread."""
    return _step_key.get(None) or _configured_key()


def _configured_key() -> str:
    configurable = get_config().get("configurable") or {}
    return str(configurable.get("heddle_idempotency_key") or configurable.get("__pregel_task_id"))


def step_sync(name: str, func: Callable[[str], Any]) -> Any:
    """The same as `step` in a synchronous node or tool."""

    def once() -> Any:
        token = _step_key.set(key := _configured_key())
        try:
            return func(key)
        finally:
            _step_key.reset(token)

    return task(once, name=name)().result()


def idempotency_header() -> dict[str, str]:
    """Returns the header for requests of the current step."""
    return {"Idempotency-Key": idempotency_key()}


def sleep_until(time: datetime) -> None:
    """Waits until a time with a time zone. No process waits: the run ends, and the server resumes its thread."""
    interrupt({"heddle_wait": {"until": _text(time)}})


async def sleep_for(duration: timedelta) -> None:
    """Waits for a while, counted from the first time that the node comes here."""
    until = await step("sleep", lambda _: _text(datetime.now(timezone.utc) + duration))
    sleep_until(datetime.fromisoformat(until))


def wait_for_signal(name: str, until: datetime | None = None) -> Any:
    """Waits for a signal: `POST /threads/{thread_id}/signals/{name}` with `{"payload": …}`. Earlier signals count.

    Returns the payload; None after `until`.
    """
    wait = {"signal": name, **({"until": _text(until)} if until else {})}
    return interrupt({"heddle_wait": wait}).get("payload")


def _text(time: datetime) -> str:
    if time.tzinfo is None:
        raise ValueError("The time has no time zone.")
    return time.isoformat()

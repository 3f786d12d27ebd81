"""Gives each run its tracer, and delivers the traces of a host."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ..frames import RunStart, TraceDestination
from ..output import complain
from .masking import trace_masking
from .outbox import Outbox

if TYPE_CHECKING:
    from .run_tracer import RunTracer
    from .tracing_client import TracingClient

# Limit on traces queued for an unreachable platform.
_OUTBOX_BYTES = 64 * 1024 * 1024
_LONGEST_PROJECT_NAME = 1024


@dataclass(slots=True)
class RunTrace:
    """Tracing of one attempt of a run."""

    callbacks: list[RunTracer]
    """Callbacks for the run's config, whose `run_id` is the run's id."""
    ended: Callable[[], None]
    """Marks the attempt as ended."""


class RunTracing:
    def __init__(self, log: Callable[[str], None] = complain) -> None:
        self._outbox = Outbox(_OUTBOX_BYTES, log, masker=trace_masking(os.environ.get("HEDDLE_TRACE_MASKING"), log))
        self._client: TracingClient | None = None
        self._is_on = False

    def direct(self, destination: TraceDestination) -> None:
        """Sets the destination. Without one, runs are not traced."""
        self._is_on = destination["state"] != "off"
        self._outbox.direct(destination)

    def start(self, start: RunStart, kwargs: dict[str, Any]) -> RunTrace | None:
        """Returns the tracing of a run; None when runs are not traced.

        The run's id is its trace's id, so a later attempt continues the trace of the first one.
        """
        if not self._is_on:
            return None
        from .run_tracer import RunTracer

        client = self._open()
        run_id: str = start["run_id"]
        if start["attempt"] > 1:
            client.recorder.retry(run_id, kwargs.get("input"))
        configurable: dict[str, Any] = (kwargs.get("config") or {}).get("configurable") or {}
        tracer = RunTracer(
            example_id=_uuid(configurable.get("langsmith_example_id")),
            project_name=_project(configurable.get("langsmith_project")),
            client=client,
            # LangGraph adds it to the metadata of all runs but the root
            metadata={"run_id": run_id},
        )
        return RunTrace([tracer], lambda: client.recorder.ended(run_id))

    def close(self, lost: dict[str, Any]) -> None:
        """Ends a trace whose tracer is gone, or reports a run that never had one (`LostTrace`)."""
        if self._is_on:
            self._open().close_trace(lost)

    async def flush(self, ms: float) -> bool:
        """Flushes before the process ends. Returns whether everything was delivered."""
        client = self._client
        if client is None:
            return True
        deadline = time.monotonic() + ms / 1000
        loop = asyncio.get_running_loop()
        done: asyncio.Future[bool] = loop.create_future()

        def settle(delivered: bool) -> None:
            if not done.done():
                done.set_result(delivered)

        def wait() -> None:
            handed_over = client.recorder.flush(ms / 1000)
            delivered = self._outbox.flush(deadline - time.monotonic()) and handed_over
            loop.call_soon_threadsafe(settle, delivered)

        # its own thread: the nodes of runs may have taken all those of the loop's executor
        threading.Thread(target=wait, name="heddle-trace-flush", daemon=True).start()
        return await done

    def _open(self) -> TracingClient:
        if self._client is None:
            from .tracing_client import TracingClient

            self._client = TracingClient(self._outbox)
        return self._client


def _project(value: Any) -> str | None:
    # a platform rejects runs whose project name it cannot store, and the trace would be lost
    return value if isinstance(value, str) and 0 < len(value) <= _LONGEST_PROJECT_NAME else None


def _uuid(value: Any) -> UUID | None:
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None

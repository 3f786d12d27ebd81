"""LangChain's tracer, recording runs instead of posting them.

What a run contains is decided by the base class of the project's own version; this class only replaces what happens to
it: the original copies and serializes each run twice, within the event loop.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from langchain_core.env import get_runtime_environment
from langchain_core.tracers import langchain as library
from langchain_core.tracers.langchain import LangChainTracer

if TYPE_CHECKING:
    from .tracing_client import TracingClient

# Keys for which a nested tracer's metadata takes precedence; older versions have none.
_OVERRIDABLE: frozenset[str] = getattr(library, "OVERRIDABLE_LANGSMITH_INHERITABLE_METADATA_KEYS", frozenset())
_TAKES_METADATA = "metadata" in inspect.signature(LangChainTracer).parameters


class RunTracer(LangChainTracer):
    """Tracer of one run. Its `client` is a TracingClient, which `@traceable` below the run uses as well."""

    client: TracingClient

    def __init__(self, *, metadata: dict[str, str], **kwargs: Any) -> None:
        if _TAKES_METADATA:
            kwargs["metadata"] = metadata
        else:
            self.tracing_metadata = metadata
        super().__init__(**kwargs)

    def _start_trace(self, run: Any) -> None:
        run.start_time = self.client.clock.start()
        if run.events:
            run.events[0]["time"] = run.start_time
        # otherwise children are sent to the replicas that the environment names
        if getattr(run, "replicas", None) is not None or hasattr(type(run), "replicas"):
            run.replicas = []
        super()._start_trace(run)

    def _persist_run(self, run: Any) -> None:
        """Keeps nothing: the base class copies the run for `get_run_url`."""

    def _persist_run_single(self, run: Any) -> None:
        if run.extra.get("__disabled"):
            return
        run.extra["runtime"] = get_runtime_environment()
        run.tags = self._get_tags(run)
        metadata: dict[str, Any] = dict(run.extra.get("metadata") or {})
        for key, value in (self.tracing_metadata or {}).items():
            if key not in metadata or key in _OVERRIDABLE:
                metadata[key] = value
        run.extra["metadata"] = metadata
        self._set_end(run)
        self.client.begin(run, self.project_name)

    def _update_run_single(self, run: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if run.extra.get("__disabled"):
            return
        self._set_end(run)
        self.client.end(run, self.project_name)

    def _set_end(self, run: Any) -> None:
        if run.end_time is not None:
            run.end_time = self.client.clock.now()
            if run.events and run.events[-1].get("name") in ("end", "error"):
                run.events[-1]["time"] = run.end_time

"""Records the runs of an official client: those that `@traceable` creates below a traced run.

Where the environment enables LangSmith's tracing, its owner meant another platform to receive the traces: that platform
then receives them too, through its own client.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import Any, cast
from urllib.parse import urlsplit

from langsmith import Client
from langsmith import env as library_env
from langsmith import utils as library_utils

from ..serialize import to_json
from .outbox import Batch, Outbox
from .run_json import SentRun
from .run_recorder import RunRecorder, tree_fields, without_tokens
from .trace_clock import TraceClock

# Placeholder: the platform's address and key are held by the outbox, as user code could read them here.
_NOWHERE = "http://heddle.invalid"
# Stands in for the platform's `/info`, so that no request waits for it.
_INFO: dict[str, Any] = {"version": "0.16.14", "instance_flags": {}}
_SWITCHES = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")
# Arguments of `create_run` and `update_run` that are not fields of a run.
_OPTIONS = {
    "api_key",
    "api_url",
    "authorization",
    "child_runs",
    "cookie",
    "dangerously_allow_filesystem",
    "ls_client",
    "parent_run",
    "project_name",
    "replicas",
    "revision_id",
    "service_key",
    "tenant_id",
    "use_multipart",
}


class TracingClient(Client):
    def __init__(self, outbox: Outbox) -> None:
        super().__init__(_NOWHERE, api_key="none", auto_batch_tracing=False, info=_INFO)
        self.clock = TraceClock()
        self.outbox = outbox
        self.recorder = RunRecorder(outbox, self._finish)
        self._environment: tuple[dict[str, Any], dict[str, Any]] | None = None
        self._elsewhere = Client() if any(os.environ.get(name) == "true" for name in _SWITCHES) else None

    def begin(self, tree: Any, project: str | None) -> None:
        """Records the start of a run of LangChain's callbacks."""
        if not self.is_sampled(tree.trace_id):
            return
        self._send_elsewhere("create_run", lambda: tree_fields(tree, True, project))
        self.recorder.begin(tree, project)

    def end(self, tree: Any, project: str | None) -> None:
        if not self.is_sampled(tree.trace_id):
            return
        self._send_elsewhere("update_run", lambda: tree_fields(tree, False, project))
        self.recorder.end(tree, project)

    def create_run(self, name: str, inputs: Any, run_type: Any, **kwargs: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        project = kwargs.get("project_name") or kwargs.get("session_name")
        fields = {"name": name, "inputs": inputs, "run_type": run_type, **kwargs}
        run: SentRun = {key: value for key, value in fields.items() if _is_field(key)}
        if run.get("id") is None or not self.is_sampled(run.get("trace_id") or run["id"]):
            return
        run["session_name"] = project or library_utils.get_tracer_project()
        run["outputs"] = run.get("outputs") or None
        self._send_elsewhere("create_run", lambda: {**fields})
        self.recorder.create(_prepared(run))

    def update_run(self, run_id: Any, **kwargs: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not self.is_sampled(kwargs.get("trace_id") or run_id):
            return
        self._send_elsewhere("update_run", lambda: {"run_id": run_id, **kwargs})
        run: SentRun = {key: value for key, value in kwargs.items() if _is_field(key)}
        self.recorder.update(_prepared({**run, "id": run_id}))

    def flush(self, timeout: float | None = None) -> Any:
        """Hands over what is recorded; called by user code before a process ends."""
        self.recorder.flush(5.0 if timeout is None else timeout)

    def close_trace(self, lost: dict[str, Any]) -> None:
        """Closes a run. An update with project and start also creates the run when the platform does not know it."""
        run_id = lost["run_id"]
        inputs = lost.get("inputs")
        patch: dict[str, Any] = {
            "id": run_id,
            "trace_id": run_id,
            "name": lost["name"],
            "start_time": lost["start_time"],
            "run_type": "chain",
            "end_time": self.clock.now().isoformat().replace("+00:00", "Z"),
            "session_name": lost.get("project") or library_utils.get_tracer_project(),
            "extra": {"metadata": lost.get("metadata") or {}},
        }
        if lost.get("error") is not None:
            patch["error"] = lost["error"]
        if isinstance(inputs, dict):
            patch["inputs"] = inputs
        self.outbox.add(Batch("/runs/batch", "application/json", to_json({"post": [], "patch": [patch]})))

    def is_sampled(self, trace_id: Any) -> bool:
        """Samples as the client does: by the trace, so that all of its runs are sent or none."""
        if getattr(self, "tracing_sample_rate", None) is None:
            return True
        decide = getattr(self, "_filter_for_sampling", None)
        # LangChain's tracer has no run before the first is created, so the decision must not depend on an earlier one
        return decide is None or bool(decide([{"id": trace_id, "trace_id": trace_id}]))

    def _finish(self, run: SentRun) -> SentRun:
        """Adds the runtime and the environment's metadata, and hides what the environment asks to hide."""
        if self._environment is None:
            # within the recorder's thread, because the library asks git for the revision
            self._environment = (
                _attempt(library_env.get_runtime_environment),
                _attempt(library_env.get_langchain_env_var_metadata),
            )
        runtime, environment = self._environment
        extra: dict[str, Any] = dict(run.get("extra") or {})
        metadata: dict[str, Any] = self._hidden("_hide_run_metadata", extra.get("metadata") or {})
        run["extra"] = {
            **extra,
            "runtime": {**runtime, **(extra.get("runtime") or {})},
            "metadata": {**environment, **metadata},
        }
        for name in ("inputs", "outputs"):
            if run.get(name) is not None:
                run[name] = self._hidden(f"_hide_run_{name}", run[name])
        return run

    def _hidden(self, method: str, value: Any) -> Any:
        hide = getattr(self, method, None)
        if hide is None:
            return value
        try:
            return hide(value)
        except Exception:
            # a failing function must not reveal what it was to hide
            return {}

    def _send_elsewhere(self, method: str, fields: Callable[[], dict[str, Any]]) -> None:
        client = self._elsewhere
        if client is None or _origin(client.api_url) == _origin(self.outbox.url):
            return
        try:
            arguments = fields()
            if method == "update_run" and "run_id" not in arguments:
                arguments["run_id"] = arguments.pop("id")
            getattr(client, method)(**arguments)
        except Exception:
            # the platform's owner sees that traces are missing; the run is not affected
            return


def _is_field(name: str) -> bool:
    return name not in _OPTIONS and not name.startswith("_")


def _prepared(run: SentRun) -> SentRun:
    run["events"] = without_tokens(cast("list[dict[str, Any]] | None", run.get("events")))
    start, end = run.get("start_time"), run.get("end_time")
    if isinstance(start, datetime) and isinstance(end, datetime) and end < start:
        run["end_time"] = start
    return run


def _attempt(read: Callable[[], Any]) -> dict[str, Any]:
    try:
        return dict(read())
    except Exception:
        return {}


def _origin(url: Any) -> tuple[str, str] | None:
    if not isinstance(url, str):
        return None
    parts = urlsplit(url)
    return parts.scheme, parts.netloc

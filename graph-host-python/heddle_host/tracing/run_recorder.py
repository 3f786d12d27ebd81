"""Runs that are not sent yet.

A run that begins and ends within a batch is sent once, complete; of others the start is sent first. Values are
serialized when the batch is, in a thread of the recorder, not when they are recorded.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .outbox import Batch, Outbox
from .run_json import SentRun, run_json

# Time that a run waits for others of its batch.
_DELAY_S = 0.25
# Time between two batches under load: requests are then larger rather than more.
_INTERVAL_S = 2.0
# Runs in a batch from which on there is load.
_LOAD_RUNS = 20
# Most runs in a batch.
_MAX_RUNS = 2000
# Size at which a batch is closed.
_BATCH_BYTES = 4 * 1024 * 1024


@dataclass(slots=True)
class _Entry:
    kind: str
    """`post` or `patch`."""
    begins: bool
    """Whether the entry contains the run's start: a patch without it leaves out what the start contained."""
    tree: Any = None
    """Run of LangChain's callbacks, serialized as it is when the batch is sent."""
    project: str | None = None
    run: SentRun | None = None
    """Run of `@traceable`, as its client was given it."""


class RunRecorder:
    def __init__(self, outbox: Outbox, finish: Callable[[SentRun], SentRun]) -> None:
        """`finish` completes each run before it is sent: what the environment adds or hides."""
        self._outbox = outbox
        self._finish = finish
        self._changed = threading.Condition()
        self._entries: dict[str, _Entry] = {}
        self._since = 0.0
        self._not_before = 0.0
        self._room = _MAX_RUNS
        self._flushing = 0
        self._cutting = False
        self._retried: dict[str, Any] = {}
        self._thread: threading.Thread | None = None

    def retry(self, run_id: str, value: Any) -> None:
        """Registers a later attempt of this run.

        The start of such a root is sent as an update, because the first attempt's start was recorded; and its graph
        input may be empty, because it resumes from a checkpoint.
        """
        self._retried[run_id] = value

    def ended(self, run_id: str) -> None:
        """Drops what `retry` registered, if the run has not begun."""
        self._retried.pop(run_id, None)

    def begin(self, tree: Any, project: str | None) -> None:
        kind = "post"
        run_id = str(tree.id)
        if run_id in self._retried:
            kind = "patch"
            given = self._retried.pop(run_id)
            if isinstance(given, dict):
                tree.inputs = given
        self._add(run_id, _Entry(kind, True, tree=tree, project=project))

    def end(self, tree: Any, project: str | None) -> None:
        with self._changed:
            known = self._entries.get(str(tree.id))
            if known is not None and known.tree is tree:
                return
        self._add(str(tree.id), _Entry("patch", False, tree=tree, project=project))

    def create(self, run: SentRun) -> None:
        """Records the start of a run of `@traceable`."""
        self._add(str(run["id"]), _Entry("post", True, run=run))

    def update(self, run: SentRun) -> None:
        with self._changed:
            known = self._entries.get(str(run["id"]))
            if known is not None and known.tree is not None:
                # the run itself is up to date
                return
            if known is not None and known.run is not None:
                known.run.update((name, value) for name, value in run.items() if value is not None)
                return
        self._add(str(run["id"]), _Entry("patch", False, run=run))

    def flush(self, seconds: float) -> bool:
        """Blocks until all recorded runs are in the outbox. Returns whether they are, within the time."""
        with self._changed:
            self._flushing += 1
            self._changed.notify_all()
            try:
                return self._changed.wait_for(lambda: not self._entries and not self._cutting, seconds)
            finally:
                self._flushing -= 1

    def _add(self, run_id: str, entry: _Entry) -> None:
        with self._changed:
            if run_id in self._entries:
                # a root of two attempts in this process: the earlier one is sent separately
                self._entries[f"{run_id} {len(self._entries)}"] = self._entries.pop(run_id)
            if not self._entries:
                self._since = time.monotonic()
                wake = True
            else:
                wake = len(self._entries) + 1 >= self._room
            self._entries[run_id] = entry
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="heddle-trace-batches", daemon=True)
                self._thread.start()
            if wake:
                self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._entries))
                while not self._flushing and len(self._entries) < self._room:
                    left = max(self._since + _DELAY_S, self._not_before) - time.monotonic()
                    if left <= 0:
                        break
                    self._changed.wait(left)
                self._cutting = True
            try:
                self._send_batch()
            finally:
                with self._changed:
                    self._cutting = False
                    self._changed.notify_all()

    def _send_batch(self) -> None:
        texts: dict[str, list[bytes]] = {"post": [], "patch": []}
        size = runs = 0
        while size < _BATCH_BYTES and runs < _MAX_RUNS:
            with self._changed:
                if not self._entries:
                    break
                entry = self._entries.pop(next(iter(self._entries)))
                run = tree_fields(entry.tree, entry.begins, entry.project) if entry.run is None else entry.run
            files = run.pop("attachments", None) or {}
            text = run_json(self._finish(run))
            if files:
                masker = self._outbox.masker
                if masker is not None:
                    text, files = masker.mask_run(text), masker.mask_files(files)
                self._outbox.add(_with_files(entry.kind, str(run["id"]), text, files))
            else:
                texts[entry.kind].append(text)
                size += len(text)
            runs += 1
        with self._changed:
            self._since = time.monotonic()
            if size:
                self._room = max(1, min(_MAX_RUNS, _BATCH_BYTES * runs // size))
            if runs >= _LOAD_RUNS:
                self._not_before = time.monotonic() + _INTERVAL_S
        if texts["post"] or texts["patch"]:
            body = b'{"post":[%s],"patch":[%s]}' % (b",".join(texts["post"]), b",".join(texts["patch"]))
            self._outbox.add(Batch("/runs/batch", "application/json", body))


def tree_fields(tree: Any, begins: bool, project: str | None) -> SentRun:
    """Returns what a run of LangChain's callbacks is sent as."""
    extra: dict[str, Any] = {**(tree.extra or {})}
    # notes of LangChain for its own client
    inputs_changed = extra.pop("inputs_is_truthy", None) is False
    ended = tree.end_time is not None
    return {
        "id": tree.id,
        "trace_id": tree.trace_id,
        "dotted_order": tree.dotted_order,
        "parent_run_id": tree.parent_run_id,
        "name": tree.name,
        "run_type": tree.run_type,
        "start_time": tree.start_time,
        "end_time": tree.end_time,
        "session_name": getattr(tree, "session_name", None) or project,
        "reference_example_id": tree.reference_example_id,
        "tags": tree.tags,
        "error": tree.error,
        "extra": extra,
        "serialized": tree.serialized if begins else None,
        "events": without_tokens(tree.events),
        "inputs": tree.inputs if begins or inputs_changed else None,
        "outputs": tree.outputs if ended else None,
    }


def without_tokens(events: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Leaves out the tokens of a stream, as LangSmith's client does."""
    if not events:
        return None
    return [
        {key: value for key, value in event.items() if key != "kwargs"} if event.get("name") == "new_token" else event
        for event in events
    ]


def _with_files(kind: str, run_id: str, text: bytes, files: dict[str, Any]) -> Batch:
    """Returns a multipart request: attachments are bytes, which JSON cannot carry."""
    boundary = f"heddle-{time.monotonic_ns():x}-{run_id}"
    parts = [(f"{kind}.{run_id}", "application/json", text)]
    for name, file in files.items():
        media_type, data = file if isinstance(file, tuple) else ("application/octet-stream", file)
        if isinstance(data, bytes | bytearray):
            parts.append((f"attachment.{run_id}.{name}", str(media_type), bytes(data)))
    body = b"".join(
        b'--%s\r\nContent-Disposition: form-data; name="%s"\r\nContent-Type: %s; length=%d\r\n'
        b"Content-Length: %d\r\n\r\n%s\r\n"
        % (
            boundary.encode(),
            name.replace('"', "%22").replace("\r", "").replace("\n", "").encode(),
            media_type.encode(),
            len(data),
            len(data),
            data,
        )
        for name, media_type, data in parts
    )
    content_type = f"multipart/form-data; boundary={boundary}"
    return Batch("/runs/multipart", content_type, body + b"--%s--\r\n" % boundary.encode())

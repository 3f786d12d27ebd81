"""Batches of trace data for the trace platform: a bounded queue in memory and one sender thread.

The outbox alone deals with a platform that is unreachable, slow or full: it retries without a time limit, and evicts
the oldest batches when the queue is full, except one that is being sent, which the platform may have stored, and the
newest, which may be larger than the queue. Losses are counted and reported at most once a minute.
"""

from __future__ import annotations

import http.client
import random
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from ..frames import TraceDestination
from .masking import Masker

_LONGEST_PAUSE_S = 10.0
# Time without an accepted batch after which the platform is worth a log line.
_PATIENCE_S = 30.0
_ANSWER_S = 30.0
# Status codes after which the same request may succeed; any other 4xx is final.
_TRY_AGAIN = {401, 403, 404, 408, 425, 429}


@dataclass(slots=True)
class Batch:
    path: str
    """Such as `/runs/batch`, relative to the platform's URL."""
    content_type: str
    body: bytes


@dataclass(slots=True)
class _Answer:
    taken: bool
    final: bool = False
    problem: str = ""
    retry_after: float | None = None


class Outbox:
    def __init__(
        self,
        max_bytes: int,
        log: Callable[[str], None],
        first_pause: float = 0.25,
        report_every: float = 60.0,
        patience: float = _PATIENCE_S,
        masker: Masker | None = None,
    ) -> None:
        self._max_bytes = max_bytes
        self._log = log
        self.masker = masker
        self._first_pause = first_pause
        self._report_every = report_every
        self._patience = patience
        self._changed = threading.Condition()
        self._state = "waiting"
        self._url = ""
        self._key: str | None = None
        self._batches: deque[Batch] = deque()
        self._bytes = 0
        # the batch whose response is outstanding
        self._posted: Batch | None = None
        self._lost = 0
        self._last_problem = ""
        self._report_at = 0.0
        self._thread: threading.Thread | None = None
        self._connection: tuple[str, http.client.HTTPConnection] | None = None

    @property
    def url(self) -> str | None:
        return self._url if self._state == "on" else None

    @property
    def size(self) -> int:
        """Bytes that wait to be delivered."""
        return self._bytes

    def direct(self, destination: TraceDestination) -> None:
        with self._changed:
            self._state = destination["state"]
            self._url = str(destination.get("url") or "").rstrip("/")
            self._key = destination.get("key")
            if self._state == "off":
                self._batches.clear()
                self._bytes = 0
            self._changed.notify_all()

    def add(self, batch: Batch) -> None:
        if self.masker is not None and batch.content_type == "application/json":
            batch = replace(batch, body=self.masker.mask_batch(batch.body))
        with self._changed:
            if self._state == "off":
                return
            self._batches.append(batch)
            self._bytes += len(batch.body)
            while (oldest := self._oldest_overflow()) is not None:
                problem = self._last_problem or "they arrive faster than the trace platform accepts them"
                self._lose(oldest, problem)
            if self._thread is None:
                self._thread = threading.Thread(target=self._send, name="heddle-traces", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _oldest_overflow(self) -> Batch | None:
        """Returns the batch to evict; None while the queue has room."""
        posted = self._posted
        if self._bytes - (len(posted.body) if posted else 0) <= self._max_bytes:
            return None
        oldest = next(batch for batch in self._batches if batch is not posted)
        return None if oldest is self._batches[-1] else oldest

    def flush(self, seconds: float) -> bool:
        """Blocks until everything is delivered. Returns whether it was, within the time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._batches, max(seconds, 0))

    def _send(self) -> None:
        pause = self._first_pause
        complain_at = time.monotonic() + self._patience
        while True:
            with self._changed:
                if not self._batches:
                    complain_at = 0.0
                timeout = self._report_losses()
                ready = self._changed.wait_for(lambda: bool(self._batches) and self._state == "on", timeout)
                if not ready:
                    continue
                batch = self._batches[0]
                url, key = self._url, self._key
                self._posted = batch
            if complain_at == 0.0:
                complain_at = time.monotonic() + self._patience
            answer = self._post(url, key, batch)
            with self._changed:
                self._posted = None
                # tracing may have been switched off in the meantime
                if not self._batches or self._batches[0] is not batch:
                    continue
                if answer.taken:
                    self._remove(batch)
                    self._last_problem = ""
                    pause = self._first_pause
                    complain_at = time.monotonic() + self._patience
                    continue
                if answer.final:
                    self._lose(batch, answer.problem)
                    continue
                self._last_problem = answer.problem
                if time.monotonic() > complain_at:
                    self._log(f"Traces are queued: {answer.problem}. Runs are not affected.")
                    complain_at = float("inf")
                wait = pause * (0.75 + random.random() / 2) if answer.retry_after is None else answer.retry_after
                known = (self._state, self._url, self._key)
                self._changed.wait_for(lambda known=known: (self._state, self._url, self._key) != known, wait)
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    def _post(self, url: str, key: str | None, batch: Batch) -> _Answer:
        headers = {"Content-Type": batch.content_type}
        if key is not None:
            headers["x-api-key"] = key
        target = urlsplit(url)
        for attempt in (1, 2):
            connection, is_used = self._connect(url)
            try:
                connection.request("POST", target.path.rstrip("/") + batch.path, batch.body, headers)
                response = connection.getresponse()
                text = response.read()[:500].decode(errors="replace")
                if response.will_close:
                    self._disconnect()
                return _judge(url, response.status, response.getheader("Retry-After"), text)
            except Exception as error:
                self._disconnect()
                # an idle connection that the platform has closed
                if is_used and attempt == 1 and isinstance(error, ConnectionError | http.client.BadStatusLine):
                    continue
                return _Answer(False, problem=f"{url} does not answer ({error or type(error).__name__})")
        raise AssertionError

    def _connect(self, url: str) -> tuple[http.client.HTTPConnection, bool]:
        if self._connection is not None:
            known, connection = self._connection
            if known == url:
                return connection, True
            self._disconnect()
        target = urlsplit(url)
        host = target.hostname or "localhost"
        if target.scheme == "https":
            tls = ssl.create_default_context()
            connection = http.client.HTTPSConnection(host, target.port, timeout=_ANSWER_S, context=tls)
        else:
            connection = http.client.HTTPConnection(host, target.port, timeout=_ANSWER_S)
        self._connection = (url, connection)
        return connection, False

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection[1].close()
        self._connection = None

    def _remove(self, batch: Batch) -> None:
        self._batches.remove(batch)
        self._bytes -= len(batch.body)
        self._changed.notify_all()

    def _lose(self, batch: Batch, problem: str) -> None:
        self._remove(batch)
        self._lost += 1
        self._last_problem = problem
        self._report_losses()

    def _report_losses(self) -> float | None:
        """Reports losses, unless the last report is recent. Returns the time until the next report is due."""
        if self._lost == 0:
            return None
        wait = self._report_at - time.monotonic()
        if wait > 0:
            return wait
        batches = "A batch" if self._lost == 1 else f"{self._lost} batches"
        self._lost = 0
        self._report_at = time.monotonic() + self._report_every
        self._log(f"{batches} of traces could not be stored: {self._last_problem}. Runs are not affected.")
        return None


def _judge(url: str, status: int, retry_after: str | None, text: str) -> _Answer:
    if 200 <= status < 300:
        return _Answer(True)
    problem = f"{url} responded with {status}: {text[:300].strip()}"
    # a key may be pending or a platform starting: such rejections are not about this batch
    if status < 500 and status not in _TRY_AGAIN:
        return _Answer(False, final=True, problem=problem)
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return _Answer(False, problem=problem)
    return _Answer(False, problem=problem, retry_after=min(seconds, _LONGEST_PAUSE_S))

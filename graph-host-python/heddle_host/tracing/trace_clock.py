"""Times of traces. Differences are those of the monotonic clock, so a duration is exact and never negative."""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class TraceClock:
    def __init__(self) -> None:
        self._offset = time.time_ns() - time.perf_counter_ns()
        self._last = 0
        self._lock = threading.Lock()

    def now(self) -> datetime:
        return _to_time(max(self._last, self._micros()))

    def start(self) -> datetime:
        """Returns a time later than every other start: starts give the runs of a trace their order."""
        with self._lock:
            self._last = max(self._last + 1, self._micros())
            return _to_time(self._last)

    def _micros(self) -> int:
        return (time.perf_counter_ns() + self._offset) // 1000


def _to_time(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def to_iso(when: datetime) -> str:
    """Formats a time as ISO 8601 in UTC, with six digits of a second."""
    utc = when if when.tzinfo is None else when.astimezone(timezone.utc)
    return utc.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

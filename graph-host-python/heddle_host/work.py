"""Run or call whose code is executing, for code that cannot be passed it: logs, checkpoint ids, stray errors."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .checkpoints.clock import CheckpointClock


@dataclass(slots=True)
class Work:
    clock: CheckpointClock
    """Clock for the ids of its checkpoints."""
    run_id: str | None = None
    """None for calls."""


current_work: ContextVar[Work | None] = ContextVar("heddle_current_work", default=None)

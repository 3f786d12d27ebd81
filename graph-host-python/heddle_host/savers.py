"""Sources of checkpoint savers, one per host process; a saver is cheap and created for each use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .checkpoints.clock import CheckpointClock, process_clock
from .checkpoints.remote import RemoteCheckpoints
from .checkpoints.rows import Fence
from .checkpoints.saver import HeddleSaver
from .checkpoints.steps import Triggers, read_triggers, starts_without_user_code
from .frames import RunStart
from .work import current_work


class Savers:
    def __init__(self, checkpoints: RemoteCheckpoints) -> None:
        self._checkpoints = checkpoints
        # analysis of the project's own graphs; those that factories make come and go
        self._shapes: dict[int, tuple[Any, bool, Triggers | None]] = {}

    def for_run(
        self, start: RunStart, graph: Any, is_static: bool, on_checkpoint: Callable[[str], None] | None
    ) -> HeddleSaver:
        passive, triggers = self._shape(graph, is_static)
        thread_id: str = start["thread_id"]
        head = start.get("head")
        return HeddleSaver(
            self._checkpoints,
            fence=Fence(start["run_id"], start["attempt"]),
            fresh_thread=thread_id if start.get("fresh_thread") else None,
            head=(thread_id, head) if head else None,
            passive_start=passive,
            triggers=triggers,
            clock=_clock(),
            on_checkpoint=on_checkpoint,
        )

    def reading(self) -> HeddleSaver:
        """Returns a saver that only reads."""
        return HeddleSaver(self._checkpoints, clock=_clock())

    def unfenced(self) -> HeddleSaver:
        """Returns a saver for the first states of a thread whose row is not committed yet."""
        return HeddleSaver(self._checkpoints, clock=_clock())

    def guarded(self) -> HeddleSaver:
        """Returns a saver for a manual update: rejected once the thread has an active run or a newer checkpoint."""
        return HeddleSaver(self._checkpoints, guarded=True, clock=_clock())

    def _shape(self, graph: Any, is_static: bool) -> tuple[bool, Triggers | None]:
        if not is_static:
            return starts_without_user_code(graph), read_triggers(graph)
        known = self._shapes.get(id(graph))
        if known is None or known[0] is not graph:
            known = (graph, starts_without_user_code(graph), read_triggers(graph))
            self._shapes[id(graph)] = known
        return known[1:]


def _clock() -> CheckpointClock:
    work = current_work.get()
    return work.clock if work else process_clock

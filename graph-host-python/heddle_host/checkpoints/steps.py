"""Which checkpoints need not be waited for: those that precede or follow all user code of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_TASKS = "__pregel_tasks"
_START = "__start__"
# Channels that a checkpoint contains exactly when they are available to the nodes that wait for them.
_CONSUMED = re.compile(r"branch:to:.*|__start__", re.DOTALL)
# Writes that record a failed or interrupted task: user code has run.
_FAILURES = frozenset(("__error__", "__error_source_node__", "__interrupt__", "__scheduled__"))

Triggers = Mapping[str, Sequence[str]]


def read_triggers(graph: Any) -> Triggers | None:
    """Returns the triggers of each node of a graph; None for an object that does not look like one."""
    nodes = getattr(graph, "nodes", None)
    if not isinstance(nodes, Mapping):
        return None
    try:
        return {name: tuple(node.triggers) for name, node in nodes.items()}
    except (AttributeError, TypeError):
        return None


def nothing_follows(checkpoint: Mapping[str, Any], triggers: Triggers) -> bool:
    """True when no node can follow a checkpoint.

    No trigger of any node has changed since that node saw it, and no task was sent. Then no user code depends on the
    checkpoint being kept, and the run's end can be written with it. False where it is uncertain, which only costs a
    round trip.
    """
    versions, seen = checkpoint["channel_versions"], checkpoint["versions_seen"]
    values = checkpoint["channel_values"]
    if values.get(_TASKS) or checkpoint.get("pending_sends"):
        return False
    for node, channels in triggers.items():
        known = seen.get(node, {})
        for channel in channels:
            version = versions.get(channel)
            if version is None:
                continue
            last = known.get(channel)
            if last is not None and version <= last:
                continue
            if channel in values or not _CONSUMED.fullmatch(channel):
                return False
    return True


def starts_without_user_code(graph: Any) -> bool:
    """True when the graph is a compiled StateGraph whose entry is a plain edge: its start step only copies."""
    branches = getattr(getattr(graph, "builder", None), "branches", None)
    return branches is not None and _START in getattr(graph, "nodes", {}) and not branches.get(_START)


class StartStep:
    """Identifies the writes of a run that precede any user code of it, so that no caller needs to wait for them.

    An input's checkpoint: nothing of that graph has run. The start step, where `passive` is set: its checkpoint follows
    the input's, and no node other than `__start__` has seen new versions since.
    """

    def __init__(self, passive: bool) -> None:
        self._passive = passive
        self._input: tuple[str, dict[str, dict[str, Any]]] | None = None
        self._over = False

    def puts_early(self, ns: str, checkpoint: Mapping[str, Any], source: str | None) -> bool:
        if source == "input":
            if not ns and self._passive and not self._over:
                self._input = (checkpoint["id"], _copy_seen(checkpoint))
            return True
        started, self._input, self._over = self._input, None, True
        if not started or ns or source != "loop":
            return False
        before = started[1]
        return all(node == _START or seen == before.get(node) for node, seen in checkpoint["versions_seen"].items())

    def puts_writes_early(self, ns: str, checkpoint_id: str, channels: Sequence[str]) -> bool:
        return (
            not ns
            and self._input is not None
            and self._input[0] == checkpoint_id
            and not any(channel in _FAILURES for channel in channels)
        )


def _copy_seen(checkpoint: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {node: dict(versions) for node, versions in checkpoint["versions_seen"].items()}

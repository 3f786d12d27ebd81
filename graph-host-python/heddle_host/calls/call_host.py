"""Parts of the host that calls use."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore

AnyGraph = Pregel[Any, Any, Any, Any]
AnySaver = BaseCheckpointSaver[Any]


class CallSavers(Protocol):
    def reading(self) -> AnySaver:
        """Returns a saver that only reads."""
        ...

    def guarded(self) -> AnySaver:
        """Returns a saver whose first put requires that the thread is idle and its head unchanged."""
        ...

    def unfenced(self) -> AnySaver:
        """Returns a saver for a thread that is being created in a transaction of the server."""
        ...


class CallHost(Protocol):
    @property
    def savers(self) -> CallSavers: ...

    @property
    def store(self) -> BaseStore: ...

    def open_graph(self, graph_id: str, config: dict[str, Any], access: str) -> AbstractAsyncContextManager[AnyGraph]:
        """Opens a graph: a factory is called, a context manager is entered and left. Raises CallError.

        `access` is the access context of LangGraph's servers: `assistants.read`, `threads.read`, `threads.update` or
        `threads.create_run`.
        """
        ...
